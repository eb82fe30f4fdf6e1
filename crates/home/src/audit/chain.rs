//! The chain inside an audit file, as pure functions on text.
//!
//! Start at [`seal`] (one more line) and [`verify`] (are all lines as they were written). A line ends
//! in `,"hash":"…"}`; the hash is SHA-256 of the line up to there, and the line holds the hash of the
//! one before as `prev`. Invariant: what `seal` wrote, `verify` finds without a flaw.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// `prev` of the very first line.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// `,"hash":"` + 64 digits + `"}`.
const SUFFIX_BYTES: usize = 9 + 64 + 2;

pub(super) struct Line<'a> {
    pub kind: &'a str,
    pub body: &'a Value,
}

/// The end of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tail {
    pub hash: String,
    /// Number of the next line.
    pub next: u64,
    /// Bytes after the last whole line.
    pub torn_bytes: usize,
}

impl Default for Tail {
    fn default() -> Self {
        Self { hash: GENESIS.to_owned(), next: 1, torn_bytes: 0 }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    seq: u64,
    time: String,
    kind: &'a str,
    body: &'a Value,
    prev: &'a str,
}

#[derive(Deserialize)]
struct ReadBack {
    seq: u64,
    kind: String,
    prev: String,
}

/// Appends one sealed line to `text` and moves the tail on.
pub(super) fn seal(tail: &mut Tail, line: Line<'_>, text: &mut Vec<u8>) {
    let written = Written {
        seq: tail.next,
        time: jiff::Timestamp::now().to_string(),
        kind: line.kind,
        body: line.body,
        prev: &tail.hash,
    };
    // Serialising these types cannot fail; an empty object would be found by `verify`.
    let mut json = serde_json::to_string(&written).unwrap_or_else(|_| "{}".to_owned());
    json.pop();
    let hash = hash(json.as_bytes());
    text.extend_from_slice(format!("{json},\"hash\":\"{hash}\"}}\n").as_bytes());
    *tail = Tail { hash, next: tail.next + 1, torn_bytes: 0 };
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The line's own fields and hash, if it is one that nobody changed.
fn open(line: &[u8]) -> Option<(ReadBack, String)> {
    let split = line.len().checked_sub(SUFFIX_BYTES)?;
    let (json, suffix) = line.split_at(split);
    let claimed = std::str::from_utf8(suffix).ok()?.strip_prefix(",\"hash\":\"")?.strip_suffix("\"}")?;
    let fields = serde_json::from_slice(line).ok()?;
    (hash(json) == claimed).then(|| (fields, claimed.to_owned()))
}

/// The chain's end in the last part of a file, if a whole good line is in it.
pub(super) fn tail_of(text: &[u8]) -> Option<Tail> {
    let mut torn_bytes = 0;
    for line in text.rsplit_inclusive_lines() {
        if line.ends_with(b"\n")
            && let Some((fields, hash)) = open(&line[..line.len() - 1])
        {
            return Some(Tail { hash, next: fields.seq + 1, torn_bytes });
        }
        // Torn lines that an earlier start already closed with a line break do not count again.
        if !line.ends_with(b"\n") {
            torn_bytes += line.len();
        }
    }
    None
}

trait RsplitInclusive {
    fn rsplit_inclusive_lines(&self) -> impl Iterator<Item = &[u8]>;
}

impl RsplitInclusive for [u8] {
    fn rsplit_inclusive_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>().into_iter().rev()
    }
}

/// What is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// The line was changed, or is none.
    Changed { line: usize },
    /// Lines before this one are missing or in another order.
    Unchained { line: usize },
}

/// What [`verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub lines: usize,
    /// Lines torn by a crash, each told by the line after it.
    pub torn: usize,
    /// The last line has no end: a crash or a full disk, and nothing was written since.
    pub unfinished: bool,
    pub flaws: Vec<Flaw>,
    /// Hash of the last good line: the next file begins with it.
    pub last_hash: Option<String>,
}

/// Reads a whole audit file. `before` is the last hash of the file before it, where that is known.
pub fn verify(text: &[u8], before: Option<&str>) -> Checked {
    let mut checked = Checked::default();
    let mut expected = before.map(str::to_owned);
    let mut suspect: Option<usize> = None;
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let Some((fields, hash)) = open(line) else {
            checked.flaws.extend(suspect.take().map(|line| Flaw::Changed { line }));
            suspect = Some(index + 1);
            continue;
        };
        if let Some(line) = suspect.take() {
            if fields.kind == "recovered" {
                checked.torn += 1;
            } else {
                checked.flaws.push(Flaw::Changed { line });
            }
        }
        if expected.is_some_and(|expected| expected != fields.prev) {
            checked.flaws.push(Flaw::Unchained { line: index + 1 });
        }
        checked.lines += 1;
        checked.last_hash = Some(hash.clone());
        expected = Some(hash);
    }
    // Whoever cuts a line could as well cut it whole, so this hides nothing.
    checked.unfinished = suspect.is_some() && !text.ends_with(b"\n");
    checked.flaws.extend(suspect.filter(|_| !checked.unfinished).map(|line| Flaw::Changed { line }));
    checked
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn three_lines() -> String {
        let (mut tail, mut text) = (Tail::default(), Vec::new());
        for body in [json!({"n": 1}), json!({"n": 2, "text": "\",\"hash\":\""}), json!({"n": 3})] {
            seal(&mut tail, Line { kind: "test", body: &body }, &mut text);
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn an_untouched_chain_has_no_flaw() {
        let checked = verify(three_lines().as_bytes(), Some(GENESIS));
        assert_eq!((checked.lines, checked.flaws), (3, vec![]));
    }

    #[test]
    fn a_changed_line_and_a_missing_line_are_found() {
        let changed = three_lines().replace("\"n\":2", "\"n\":5");
        assert_eq!(verify(changed.as_bytes(), None).flaws[0], Flaw::Changed { line: 2 });
        let missing: String =
            three_lines().lines().enumerate().filter(|(n, _)| *n != 1).map(|(_, l)| format!("{l}\n")).collect();
        assert_eq!(verify(missing.as_bytes(), None).flaws, [Flaw::Unchained { line: 2 }]);
        let first_missing: String = three_lines().lines().skip(1).map(|l| format!("{l}\n")).collect();
        assert_eq!(verify(first_missing.as_bytes(), Some(GENESIS)).flaws, [Flaw::Unchained { line: 1 }]);
    }

    #[test]
    fn a_last_line_without_an_end_is_told_apart_from_a_changed_one() {
        let whole = three_lines();
        let checked = verify(&whole.as_bytes()[..whole.len() - 20], None);
        assert_eq!((checked.lines, checked.unfinished, checked.flaws), (2, true, vec![]));
        let ended = format!("{}\n", &whole[..whole.len() - 20]);
        let checked = verify(ended.as_bytes(), None);
        assert_eq!((checked.unfinished, checked.flaws), (false, vec![Flaw::Changed { line: 3 }]));
        assert!(!verify(whole.as_bytes(), None).unfinished);
    }

    #[test]
    fn the_end_is_found_behind_a_torn_line() {
        let text = format!("{}{{\"seq\":4,", three_lines());
        let tail = tail_of(text.as_bytes()).unwrap();
        assert_eq!((tail.next, tail.torn_bytes), (4, 9));
        assert_eq!(tail_of(b"no line"), None);
    }
}
