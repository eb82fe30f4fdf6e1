//! Where a search engine comes in. Start at [`TextIndex`].

use kernel::ports::{BoxFuture, Failure, TextQuery};
use sdk::TextEvent;

/// Where a line begins. Ordered as the lines were written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    /// Name of the file in the folder.
    pub file: String,
    /// Bytes before the line.
    pub offset: u64,
}

/// An index over the lines of the text memory. It can be thrown away at any time: without a newest
/// place all lines are given to it again.
pub trait TextIndex: Send + Sync {
    /// The last place of those that it holds.
    fn newest(&self) -> BoxFuture<'_, Result<Option<TextPlace>, Failure>>;
    /// All of them or none; in order; one that it holds already is left as it is.
    fn add(&self, lines: Vec<(TextPlace, TextEvent)>) -> BoxFuture<'_, Result<(), Failure>>;
    /// Best first, with scores from 0 to 1.
    fn find(&self, query: TextQuery) -> BoxFuture<'_, Result<Vec<(TextPlace, f64)>, Failure>>;
}
