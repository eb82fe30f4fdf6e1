//! Long text made comparable, keeping where its words stand apart. Start at [`comparable`].
//!
//! What [`super::fold`] does for names, without its length limit and with blanks kept: for searching in
//! what people wrote. Invariant: making it comparable twice changes nothing.

use unicode_normalization::UnicodeNormalization;

use super::simplify::simplify;

/// Half-width, lower case, without accents, in simplified script. Invisible characters are left out, all
/// else stays, so that punctuation still parts words.
pub fn comparable(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    if text.chars().all(plain) {
        return text.chars().map(simple).collect();
    }
    let visible = text.chars().filter(|&c| c.is_whitespace() || !super::invisible(c));
    let plain = visible.nfkd().flat_map(char::to_lowercase).nfkd();
    plain.filter(|c| !('\u{0300}'..='\u{036F}').contains(c)).nfc().map(simplify).collect()
}

/// Nothing but its own form, its width and its script is to be made comparable: most text of this house.
fn plain(character: char) -> bool {
    matches!(character, ' '..='~' | '\n' | '\u{4E00}'..='\u{9FFF}' | '\u{3000}'..='\u{3002}' | '\u{300A}'..='\u{3011}'
        | '\u{FF01}'..='\u{FF5E}' | '\u{2018}'..='\u{201D}')
}

fn simple(character: char) -> char {
    match character {
        'A'..='Z' => character.to_ascii_lowercase(),
        '\u{4E00}'..='\u{9FFF}' => simplify(character),
        '\u{3000}' => ' ',
        '\u{FF01}'..='\u{FF5E}' => {
            let narrow = char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character);
            narrow.to_ascii_lowercase()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_case_accents_and_script_disappear_and_word_borders_stay() {
        assert_eq!(comparable("ＡＣ－１２３　Café 電話號碼"), "ac-123 cafe 电话号码");
        assert_eq!(comparable("Bob's Car"), "bob's car");
        for text in ["ＡＣ－１２３　Café 電話號碼", "ﬁn ½ Ⅳ", "がぎ 한국"] {
            assert_eq!(comparable(&comparable(text)), comparable(text));
        }
    }
}
