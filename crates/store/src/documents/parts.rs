//! Long text in parts that can be searched and shown. Start at [`parts`]. Invariant: the parts, put
//! together, are the text.

/// About so many characters make a part.
const PART_CHARS: usize = 1_200;
/// Limit: what follows so many parts of one text is kept, but not searched.
pub(crate) const DOCUMENT_PARTS_MAX: usize = 2_000;

/// Cuts at empty lines, else at lines, else after a sentence, else anywhere.
pub fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && parts.len() < DOCUMENT_PARTS_MAX {
        let (part, after) = rest.split_at(end_of_part(rest));
        parts.push(part);
        rest = after;
    }
    parts
}

/// Where the first part of this text ends, in bytes.
fn end_of_part(text: &str) -> usize {
    let Some((limit, _)) = text.char_indices().nth(PART_CHARS) else { return text.len() };
    let window = &text[..limit];
    // Not so early that parts become crumbs.
    let least = limit / 3;
    let after = |end: Option<usize>| end.filter(|&end| end > least);
    let sentence = |text: &str| {
        let ends = text.char_indices().filter(|(_, c)| matches!(c, '。' | '！' | '？' | '；'));
        let ascii = text.match_indices(". ").map(|(at, mark)| at + mark.len());
        ends.map(|(at, c)| at + c.len_utf8()).chain(ascii).max()
    };
    after(window.rfind("\n\n").map(|at| at + 2))
        .or_else(|| after(window.rfind('\n').map(|at| at + 1)))
        .or_else(|| after(sentence(window)))
        .or_else(|| after(window.rfind(' ').map(|at| at + 1)))
        .unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_is_cut_where_paragraphs_end() {
        let paragraph = "说明书第一段。".repeat(100);
        let text = format!("{paragraph}\n\n{paragraph}\n\nend");
        let parts = parts(&text);
        assert_eq!(parts.len(), 2);
        assert!(parts[0].ends_with("\n\n"));
        assert!(super::parts("").is_empty());
    }

    proptest! {
        #[test]
        fn the_parts_of_any_text_are_the_text(text in "(?s).{0,5000}") {
            prop_assert_eq!(parts(&text).concat(), text);
        }
    }
}
