//! From bytes to events: server-sent events, lines of JSON, or one plain JSON body. Start at [`Frames`].
//!
//! Invariant: where the bytes are cut does not matter; text is decoded only from whole lines.

use crate::fault::Fault;

/// Limit: a longer event of a model server ends the answer with an error.
pub const SOURCE_EVENT_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    Events,
    /// One JSON value a line.
    Lines,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Event {
        name: String,
        data: String,
    },
    /// The server did not stream: this is the whole body.
    Whole(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing but white space yet.
    Unknown,
    Framed,
    Whole,
}

pub(crate) struct Frames {
    framing: Framing,
    mode: Mode,
    /// The line that is not whole yet; in [`Mode::Whole`] all there is.
    line: Vec<u8>,
    after_return: bool,
    name: String,
    data: String,
    has_data: bool,
}

impl Frames {
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            mode: Mode::Unknown,
            line: Vec::new(),
            after_return: false,
            name: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    pub fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), Fault> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.mode == Mode::Whole {
                self.line.extend_from_slice(rest);
                return self.within(self.line.len());
            }
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                self.sense(false);
                return self.within(self.line.len() + self.data.len());
            };
            self.line.extend_from_slice(&rest[..end]);
            self.within(self.line.len() + self.data.len())?;
            self.sense(true);
            if self.mode == Mode::Whole {
                rest = &rest[end..];
                continue;
            }
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = String::from_utf8_lossy(&self.line).into_owned();
            self.line.clear();
            self.whole_line(line.trim_start_matches('\u{feff}'), frames);
        }
        Ok(())
    }

    /// What is left when the bytes end: a body, or a last event that no empty line closed.
    pub fn finish(&mut self, frames: &mut Vec<Frame>) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        if self.mode == Mode::Whole {
            frames.push(Frame::Whole(line));
            return;
        }
        let line = line.trim_start_matches('\u{feff}');
        if !line.is_empty() {
            self.whole_line(line, frames);
        }
        if self.framing == Framing::Events {
            self.dispatch(frames);
        }
    }

    fn within(&self, bytes: usize) -> Result<(), Fault> {
        if bytes <= SOURCE_EVENT_BYTES_MAX {
            return Ok(());
        }
        Err(Fault::protocol(format!("one event is longer than {} MiB", SOURCE_EVENT_BYTES_MAX >> 20)))
    }

    /// No event of a stream begins with a brace, and no line of JSON is a brace alone.
    fn sense(&mut self, line_ended: bool) {
        if self.mode != Mode::Unknown {
            return;
        }
        let text = self.line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.line).trim_ascii();
        self.mode = match (self.framing, text) {
            (_, []) => Mode::Unknown,
            (_, text) if !line_ended && "\u{feff}".as_bytes().starts_with(text) => Mode::Unknown,
            (Framing::Events, [b'{', ..]) => Mode::Whole,
            (Framing::Lines, b"{") if line_ended => Mode::Whole,
            (Framing::Lines, _) if !line_ended => Mode::Unknown,
            _ => Mode::Framed,
        };
    }

    fn whole_line(&mut self, line: &str, frames: &mut Vec<Frame>) {
        if self.framing == Framing::Lines {
            if !line.trim().is_empty() {
                frames.push(Frame::Event { name: String::new(), data: line.trim().to_owned() });
            }
            return;
        }
        if line.is_empty() {
            self.dispatch(frames);
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "event" => self.name = value.to_owned(),
            // Comments have an empty field; ids and retry times mean nothing to an answer.
            _ => {}
        }
    }

    fn dispatch(&mut self, frames: &mut Vec<Frame>) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            frames.push(Frame::Event { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(framing: Framing, bytes: &[u8], cuts: &[usize]) -> Vec<Frame> {
        let mut frames = Frames::new(framing);
        let mut found = Vec::new();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            frames.push(&bytes[pair[0]..pair[1]], &mut found).expect("short");
        }
        frames.finish(&mut found);
        found
    }

    fn events(pairs: &[(&str, &str)]) -> Vec<Frame> {
        pairs.iter().map(|(name, data)| Frame::Event { name: (*name).into(), data: (*data).into() }).collect()
    }

    #[test]
    fn events_are_read_with_comments_any_line_end_and_data_of_several_lines() {
        let text =
            "\u{feff}: hello\r\n\r\nevent: a\r\ndata: 1\r\ndata: 2\r\n\r\ndata:3\n\nid: 7\rdata: 四\r\rdata: [DONE]";
        assert_eq!(
            read(Framing::Events, text.as_bytes(), &[]),
            events(&[("a", "1\n2"), ("", "3"), ("", "四"), ("", "[DONE]")])
        );
    }

    #[test]
    fn lines_of_json_are_read_one_by_one() {
        let text = "{\"a\":1}\r\n\n{\"b\":2}\n{\"c\":3}";
        assert_eq!(
            read(Framing::Lines, text.as_bytes(), &[]),
            events(&[("", "{\"a\":1}"), ("", "{\"b\":2}"), ("", "{\"c\":3}")])
        );
    }

    #[test]
    fn a_plain_json_body_is_one_frame() {
        for framing in [Framing::Events, Framing::Lines] {
            let text = "\n{\n  \"a\": 1\r\n}\n";
            let read = read(framing, text.as_bytes(), &[]);
            let [Frame::Whole(body)] = &read[..] else { panic!("{read:?}") };
            assert_eq!(serde_json::from_str::<serde_json::Value>(body).expect("JSON")["a"], 1);
        }
    }

    #[test]
    fn an_endless_line_is_an_error_and_not_a_full_memory() {
        let mut frames = Frames::new(Framing::Events);
        let chunk = vec![b'x'; 1 << 20];
        let mut found = Vec::new();
        let results: Vec<bool> = (0..9).map(|_| frames.push(&chunk, &mut found).is_ok()).collect();
        assert_eq!(results, [true, true, true, true, true, true, true, true, false]);
    }

    proptest! {
        #[test]
        fn where_bytes_are_cut_does_not_matter(
            text in "(\u{feff})?(data: [a四😀\\{ ]{0,5}(\r\n|\n|\r)|(\r\n|\n|\r)|: x\n|event: e\n|\\{\"k\":1\\}\n){0,12}(data: z)?",
            cuts in proptest::collection::vec(0usize..200, 0..12),
        ) {
            for framing in [Framing::Events, Framing::Lines] {
                prop_assert_eq!(read(framing, text.as_bytes(), &cuts), read(framing, text.as_bytes(), &[]));
            }
        }
    }
}
