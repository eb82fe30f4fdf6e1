//! What people type for names, compared with the names of a house. Start at [`Query`]. Invariant:
//! folding is for finding only; what is sent to the house is always an id.

use decide::house::EntityId;
use decide::text::{Folded, score_folded};

/// From here on a score says that it is the same name.
const SAME: f64 = 0.9;

/// The text without what does not tell names apart.
pub fn fold(text: &str) -> String {
    decide::text::fold(text).joined().to_owned()
}

/// A search text, folded once.
pub struct Query {
    folded: Folded,
    /// As it would stand in an id.
    in_id: String,
    latin: bool,
}

impl Query {
    pub fn new(text: &str) -> Self {
        let folded = decide::text::fold(text);
        let in_id = text.trim().to_lowercase().replace([' ', '-'], "_");
        Self { latin: !folded.has_han(), folded, in_id }
    }

    /// Exactly this name, up to folding.
    pub fn is(&self, name: &str) -> bool {
        !self.folded.is_empty() && decide::text::fold(name).joined() == self.joined()
    }

    /// This name written differently: in pinyin, with numerals as words, the halves swapped.
    pub fn means(&self, name: &str) -> bool {
        self.score(name) >= SAME
    }

    /// A part of this name, or the whole in pinyin.
    pub fn within(&self, name: &str) -> bool {
        let name = decide::text::fold(name);
        !self.folded.is_empty()
            && (name.joined().contains(self.joined())
                || (self.may_spell(&name) && score_folded(&self.folded, &name) >= SAME))
    }

    /// A part of this id.
    pub fn within_id(&self, id: &EntityId) -> bool {
        !self.folded.is_empty() && id.as_str().contains(&self.in_id)
    }

    /// Whether trying pinyin is worth its cost: what is Latin in a Chinese name was said too.
    fn may_spell(&self, name: &Folded) -> bool {
        self.latin && name.has_han() && {
            let latin: String = name.joined().chars().filter(char::is_ascii_alphanumeric).collect();
            self.joined().contains(&latin)
        }
    }

    pub fn score(&self, name: &str) -> f64 {
        score_folded(&self.folded, &decide::text::fold(name))
    }

    pub fn joined(&self) -> &str {
        self.folded.joined()
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.folded.words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_parts_of_names_and_whole_names_in_pinyin() {
        assert!(Query::new("吊灯").within("客厅 吊灯"));
        assert!(Query::new("diao deng").within("吊灯"));
        assert!(Query::new("diaodeng 2").within("吊灯2"));
        assert!(Query::new("KITCH").within("Kitchen Lights"));
        assert!(!Query::new("。").within("吊灯"));
    }
}
