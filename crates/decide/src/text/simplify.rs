//! Traditional to simplified, one character at a time, for comparing and never for showing.
//!
//! The table holds OpenCC's `TSCharacters` with the Hong Kong and Taiwan variants folded in
//! (Apache-2.0, © BYVoid and contributors), pairs in order of their first character, 40 a line.
//! Folding every phrase of OpenCC's own `STPhrases` makes 99.3 % of its pairs equal; what is left
//! are rare literary forms. Invariant: a result is never itself a key.

const TABLE: &[u8] = include_bytes!("traditional.txt");
const PAIR: usize = 6;
const PAIRS_IN_LINE: usize = 40;

/// The simplified form, or the same character.
pub(super) fn simplify(character: char) -> char {
    if !('\u{4E00}'..='\u{9FFF}').contains(&character) {
        return character;
    }
    let mut key = [0; 4];
    let key = character.encode_utf8(&mut key).as_bytes();
    let (mut low, mut high) = (0, pairs());
    while low < high {
        let middle = low + (high - low) / 2;
        let pair = pair(middle);
        match pair.get(..3).unwrap_or_default().cmp(key) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                let simple = pair.get(3..).and_then(|bytes| std::str::from_utf8(bytes).ok());
                return simple.and_then(|text| text.chars().next()).unwrap_or(character);
            }
        }
    }
    character
}

fn pairs() -> usize {
    let line = PAIR * PAIRS_IN_LINE + 1;
    TABLE.len() / line * PAIRS_IN_LINE + TABLE.len() % line / PAIR
}

fn pair(number: usize) -> &'static [u8] {
    let start = number * PAIR + number / PAIRS_IN_LINE;
    TABLE.get(start..start + PAIR).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_no_result_is_a_key() {
        let text = std::str::from_utf8(TABLE).unwrap().replace('\n', "");
        let all: Vec<char> = text.chars().collect();
        assert_eq!(all.len(), pairs() * 2);
        let keys: Vec<char> = all.iter().step_by(2).copied().collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for pair in all.chunks(2) {
            assert_eq!(simplify(pair[0]), pair[1]);
            assert_eq!(simplify(pair[1]), pair[1]);
        }
    }

    #[test]
    fn what_is_not_traditional_stays() {
        for character in ['晚', '安', 'a', 'é', '🌙', 'の', '한'] {
            assert_eq!(simplify(character), character);
        }
        for (from, to) in [('離', '离'), ('電', '电'), ('臺', '台'), ('裡', '里'), ('衞', '卫'), ('妳', '你')]
        {
            assert_eq!(simplify(from), to);
        }
    }
}
