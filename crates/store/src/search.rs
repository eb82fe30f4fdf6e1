//! One search under all memories. Start at [`Corpus`]: a set of short texts that are put in, taken out and
//! found. The order of what is found is decided in `decide::rank`; here is only what needs the disk.
//!
//! A text is cut into words ([`Text`]) and kept in an FTS5 index; a question becomes the things it asks
//! for, the rarest of which bring the candidates, and the candidates are compared with the whole question.
//! Invariants: what one search looks at is bounded, however many texts there are; an index holds no text.

mod cut;
mod dictionary;
mod embed;
mod find;
mod index;
mod meaning;

pub use cut::Text;
pub use dictionary::Dictionary;
pub use embed::{Embedder, Embedding};
pub use find::{Asked, Found, Source, Strictness, compare};
pub(crate) use index::spell_name;
pub use meaning::{MEANING_WAIT, Meaning, Meant};

/// A set of texts with an index of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    Facts,
    DocumentParts,
    KnowledgeParts,
    TextLines,
}

impl Corpus {
    pub const ALL: [Self; 4] = [Self::Facts, Self::DocumentParts, Self::KnowledgeParts, Self::TextLines];

    fn number(self) -> i64 {
        match self {
            Self::Facts => 1,
            Self::DocumentParts => 2,
            Self::KnowledgeParts => 3,
            Self::TextLines => 4,
        }
    }

    fn table(self) -> &'static str {
        match self {
            Self::Facts => "memory_facts_words",
            Self::DocumentParts => "memory_document_parts_words",
            Self::KnowledgeParts => "knowledge_parts_words",
            Self::TextLines => "text_lines_words",
        }
    }
}

/// Reading the dictionary takes a moment: all tests of the crate share one.
#[cfg(test)]
pub(crate) fn test_dictionary() -> Dictionary {
    static SHARED: std::sync::OnceLock<Dictionary> = std::sync::OnceLock::new();
    SHARED.get_or_init(Dictionary::default).clone()
}
