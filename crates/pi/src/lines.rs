//! JSON records one a line, as pi frames them: ended by LF alone, a CR before it tolerated. Start at
//! [`Lines::next`]. Invariant: a line longer than allowed is skipped whole and said to be; nothing is lost when
//! a read is dropped in the middle.

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};

pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    bytes_max: usize,
    too_long: bool,
}

#[derive(Debug, PartialEq)]
pub enum Line {
    Record(Value),
    /// Not JSON; the reason.
    Broken(String),
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R, bytes_max: usize) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), bytes_max, too_long: false }
    }

    /// None at the end. A last line without its LF counts; empty ones do not.
    pub async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let ended = self.fill().await?;
            let line = std::mem::take(&mut self.line);
            let text = line.trim_ascii();
            if std::mem::take(&mut self.too_long) {
                return Ok(Some(Line::TooLong));
            }
            if !text.is_empty() {
                return Ok(Some(match serde_json::from_slice(text) {
                    Ok(record) => Line::Record(record),
                    Err(error) => Line::Broken(error.to_string()),
                }));
            }
            if ended {
                return Ok(None);
            }
        }
    }

    /// Up to an LF, which is taken too, or to the end: then true. May be dropped: what was read stays.
    async fn fill(&mut self) -> std::io::Result<bool> {
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() {
                return Ok(true);
            }
            let at = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..at.unwrap_or(buffer.len())];
            if self.line.len() + part.len() > self.bytes_max {
                self.too_long = true;
                self.line.clear();
            } else if !self.too_long {
                self.line.extend_from_slice(part);
            }
            let taken = at.map_or(buffer.len(), |at| at + 1);
            std::pin::Pin::new(&mut self.reader).consume(taken);
            if at.is_some() {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(text, 40);
        let mut read = vec![];
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        read
    }

    #[tokio::test]
    async fn lines_end_with_lf_alone() {
        let text = "{\"a\":\"x\u{2028}y\"}\r\n\n[]\nnull\n{\"last\":1}".as_bytes();
        let records = [
            serde_json::json!({"a": "x\u{2028}y"}),
            serde_json::json!([]),
            Value::Null,
            serde_json::json!({"last": 1}),
        ];
        assert_eq!(read(text).await, records.map(Line::Record));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let text = format!("{}\n1\n", "x".repeat(10_000));
        assert_eq!(read(text.as_bytes()).await, [Line::TooLong, Line::Record(1.into())]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_read_to_its_end(bytes: Vec<u8>) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let broken = runtime.block_on(read(&bytes));
            proptest::prop_assert!(broken.len() <= bytes.iter().filter(|byte| **byte == b'\n').count() + 1);
        }
    }
}
