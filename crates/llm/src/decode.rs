//! From the bytes of one answer to its deltas, without any I/O. Start at [`Decoder`].
//!
//! Invariant: the same bytes give the same deltas, wherever they are cut, and an answer that did not come
//! to its end gives an error.

use kernel::ports::Delta;
use serde_json::Value;

use crate::answer::{Answer, Observed};
use crate::fault::{self, Fault};
use crate::frames::{Frame, Frames, Framing};

/// What one wire format makes of its events.
pub(crate) trait Reader: Send {
    fn framing(&self) -> Framing;
    fn event(&mut self, event: &Value, answer: &mut Answer) -> Result<(), Fault>;
    /// The server answered with one plain body.
    fn whole(&mut self, body: &Value, answer: &mut Answer) -> Result<(), Fault>;
    /// The bytes are over, or (`marked`) a closing mark came; an answer that is not complete is an error.
    fn finish(&mut self, marked: bool, answer: &mut Answer) -> Result<(), Fault>;
}

pub(crate) struct Decoder {
    frames: Frames,
    reader: Box<dyn Reader>,
    answer: Answer,
    seen: bool,
}

impl Decoder {
    pub fn new(reader: Box<dyn Reader>, answer: Answer) -> Self {
        Self { frames: Frames::new(reader.framing()), reader, answer, seen: false }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut frames = Vec::new();
        let pushed = self.frames.push(bytes, &mut frames);
        self.read(frames, false)?;
        if self.answer.has_ended() { Ok(()) } else { pushed }
    }

    /// The server closed.
    pub fn finish(&mut self) -> Result<(), Fault> {
        if self.answer.has_ended() {
            return Ok(());
        }
        let mut frames = Vec::new();
        self.frames.finish(&mut frames);
        self.read(frames, true)?;
        if self.answer.has_ended() {
            return Ok(());
        }
        if !self.seen {
            return Err(Fault::protocol("the server closed without an answer"));
        }
        self.reader.finish(false, &mut self.answer)
    }

    fn read(&mut self, frames: Vec<Frame>, last: bool) -> Result<(), Fault> {
        for frame in frames {
            if self.answer.has_ended() {
                return Ok(());
            }
            match frame {
                Frame::Event { name, data } => self.event(&name, &data, last)?,
                Frame::Whole(body) => self.whole(&body)?,
            }
        }
        Ok(())
    }

    fn event(&mut self, name: &str, data: &str, last: bool) -> Result<(), Fault> {
        let data = data.trim();
        if data == "[DONE]" {
            return self.reader.finish(true, &mut self.answer);
        }
        if data.is_empty() {
            return Ok(());
        }
        let event: Value = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(_) if name == "error" => return Err(fault::of_event(&Value::String(data.to_owned()))),
            Err(error) if last && self.seen && error.is_eof() => {
                return Err(Fault::cut("the stream ended inside an event"));
            }
            Err(error) => {
                return Err(Fault::protocol(format!("an event is no JSON: {error}; it begins {}", head(data))));
            }
        };
        if name == "error" || has_error(&event) {
            return Err(fault::of_event(&event));
        }
        self.seen = true;
        self.reader.event(&event, &mut self.answer)
    }

    fn whole(&mut self, body: &str) -> Result<(), Fault> {
        let body: Value = match serde_json::from_str(body.trim().trim_start_matches('\u{feff}')) {
            Ok(body) => body,
            Err(error) if error.is_eof() => return Err(Fault::cut("the body ended too early")),
            Err(error) => {
                return Err(Fault::protocol(format!("the body is no JSON: {error}; it begins {}", head(body))));
            }
        };
        if has_error(&body) {
            return Err(fault::of_event(&body));
        }
        self.answer.observed.in_one_piece = true;
        self.reader.whole(&body, &mut self.answer)
    }

    pub fn next(&mut self) -> Option<Delta> {
        self.answer.next()
    }

    /// The model has begun to answer, though all of it may still be held back.
    pub fn has_begun(&self) -> bool {
        self.answer.has_begun()
    }

    pub fn has_ended(&self) -> bool {
        self.answer.has_ended()
    }

    pub fn observed(&self) -> Observed {
        self.answer.observed
    }
}

/// Errors stand under `error` everywhere, or have no other field that an answer would have.
fn has_error(event: &Value) -> bool {
    let error = &event["error"];
    let bare =
        event["object"] == "error" || (event["detail"].is_string() && event.as_object().is_some_and(|o| o.len() == 1));
    bare || !(error.is_null() || error == false || error == "")
}

fn head(text: &str) -> String {
    text.chars().take(80).collect()
}
