//! Messages that nobody speaks: a timer's, or what came of a question to a person. Start at [`note`].
//! Invariant: such a message tells; whoever reads it does nothing because of it that it was not told before.

/// How they begin, each with who reads it in which language.
const MARKS: [&str; 4] = ["[timer]", "[定时]", "[approval]", "[批准]"];

/// What such a message says, without its mark; none where a person speaks.
pub fn note(text: &str) -> Option<&str> {
    MARKS.iter().find_map(|mark| text.strip_prefix(mark)).map(str::trim)
}

/// What came of a question that a person was asked, for the conversation it came from.
pub fn approval(said: &str, chinese: bool) -> String {
    format!("{} {said}", if chinese { "[批准]" } else { "[approval]" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_known_by_its_mark_alone() {
        assert_eq!(note("[timer] It is time: tea"), Some("It is time: tea"));
        assert_eq!(note(&approval("已允许", true)), Some("已允许"));
        assert_eq!(note(&approval("allowed", false)), Some("allowed"));
        for text in ["timer", "it says [timer] x", "", "[Timer] x"] {
            assert_eq!(note(text), None);
        }
    }
}
