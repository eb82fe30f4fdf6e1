//! Many wordings, looked up where they start or end in a text. Invariant: whole words only.

use std::collections::HashMap;

use crate::text::{Folded, fold};

/// Wordings with what each means, by their first and last words.
pub(super) struct Wordings<T> {
    all: Vec<(Folded, T)>,
    by_first: HashMap<String, Vec<usize>>,
    by_last: HashMap<String, Vec<usize>>,
}

impl<T> FromIterator<(Folded, T)> for Wordings<T> {
    fn from_iter<I: IntoIterator<Item = (Folded, T)>>(wordings: I) -> Self {
        let mut this = Self { all: Vec::new(), by_first: HashMap::new(), by_last: HashMap::new() };
        for (text, meaning) in wordings {
            let last = text.len().saturating_sub(1);
            this.by_first.entry(text.word(0).to_owned()).or_default().push(this.all.len());
            this.by_last.entry(text.word(last).to_owned()).or_default().push(this.all.len());
            this.all.push((text, meaning));
        }
        this
    }
}

impl<T> Wordings<T> {
    /// Those that stand in the text from this word on.
    pub fn at<'a>(&'a self, text: &'a Folded, at: usize) -> impl Iterator<Item = (&'a Folded, &'a T)> {
        let numbers = self.by_first.get(text.word(at)).into_iter().flatten();
        numbers
            .map(|&number| &self.all[number])
            .filter(move |(it, _)| text.has_at(at, it))
            .map(|(it, meaning)| (it, meaning))
    }

    /// Those that end right before this word of the text.
    pub fn before<'a>(&'a self, text: &'a Folded, end: usize) -> impl Iterator<Item = (&'a Folded, &'a T)> {
        let last = end.checked_sub(1).map_or("", |last| text.word(last));
        let numbers = self.by_last.get(last).into_iter().flatten().map(|&number| &self.all[number]);
        numbers
            .filter(move |(it, _)| it.len() <= end && text.has_at(end - it.len(), it))
            .map(|(it, meaning)| (it, meaning))
    }

    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &(Folded, T)> {
        self.all.iter()
    }
}

/// A list of wordings, parted by commas.
pub(super) fn list(texts: &str) -> impl Iterator<Item = Folded> + '_ {
    texts.split(',').map(fold).filter(|text| !text.is_empty())
}
