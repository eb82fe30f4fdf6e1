//! Search without an index: the newest files, read through. Start at [`scan`].
//!
//! Invariant: the score of a line is the share of the question's words that it holds, so 0 to 1; a line
//! with none of them is never given.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::PathBuf;

use kernel::ports::{TextHit, TextQuery};
use sdk::TextEvent;

use super::files::each_line;

/// Limit: without an index, older text than this is not read through; it stays in its files.
pub const TEXT_SCAN_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) fn scan(newest_first: &[PathBuf], query: &TextQuery) -> Vec<TextHit> {
    let words = words_of(&query.text);
    let mut bytes = 0;
    let mut hits: Vec<TextHit> = Vec::new();
    for path in newest_first {
        if bytes >= TEXT_SCAN_BYTES_MAX || words.is_empty() {
            break;
        }
        bytes += std::fs::metadata(path).map_or(0, |found| found.len());
        let read = each_line(path, 0, |_, event| {
            if fits(&event, query) {
                let score = score(&event.content, &words);
                if score > 0.0 {
                    hits.push(TextHit { event, score });
                }
            }
            true
        });
        if let Err(error) = read {
            tracing::warn!(file = %path.display(), %error, "a text file was left out of a search");
        }
        keep_best(&mut hits, query.count_max);
    }
    hits
}

fn fits(event: &TextEvent, query: &TextQuery) -> bool {
    query.from_s.is_none_or(|from| event.timestamp >= from)
        && query.to_s.is_none_or(|to| event.timestamp <= to)
        && query.channel.as_ref().is_none_or(|channel| event.channel == *channel)
}

fn keep_best(hits: &mut Vec<TextHit>, count_max: usize) {
    hits.sort_by(|one, other| {
        let by_score = other.score.partial_cmp(&one.score).unwrap_or(Ordering::Equal);
        by_score.then(other.event.timestamp.cmp(&one.event.timestamp))
    });
    hits.truncate(count_max);
}

fn score(content: &str, words: &BTreeSet<String>) -> f64 {
    let content = content.to_lowercase();
    let found = words.iter().filter(|word| content.contains(word.as_str())).count();
    found as f64 / words.len() as f64
}

/// Latin words whole; of scripts without spaces each two neighbours, or the one that stands alone.
fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for part in text.to_lowercase().split(|character: char| !character.is_alphanumeric()) {
        let mut spaced = String::new();
        let mut dense: Vec<char> = Vec::new();
        for character in part.chars() {
            if u32::from(character) < 0x2E80 {
                add_dense(&mut words, &mut dense);
                spaced.push(character);
            } else {
                if !spaced.is_empty() {
                    words.insert(std::mem::take(&mut spaced));
                }
                dense.push(character);
            }
        }
        add_dense(&mut words, &mut dense);
        if !spaced.is_empty() {
            words.insert(spaced);
        }
    }
    words
}

fn add_dense(words: &mut BTreeSet<String>, dense: &mut Vec<char>) {
    match dense.as_slice() {
        [] => {}
        [alone] => {
            words.insert(alone.to_string());
        }
        several => words.extend(several.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
    dense.clear();
}
