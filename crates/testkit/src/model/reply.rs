//! What the model says. Start at [`Reply`]. Invariant: steps are done in the order in which they were
//! added, in every wire format alike.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

/// Holds a reply back until a test opens it.
#[derive(Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn opened(&self) {
        // The sender is here, so waiting cannot fail.
        let mut open = self.0.subscribe();
        let _opened = open.wait_for(|open| *open).await;
    }
}

#[derive(Clone)]
pub(super) enum Step {
    Say(String),
    Reason(String),
    Call {
        name: String,
        arguments: String,
    },
    Pause(Duration),
    Wait(Gate),
    /// Stays open and says nothing more.
    Hang,
    /// An error event of the protocol, in the middle of the stream.
    Fail(String),
    /// The socket is closed; nothing says that the answer is over.
    Cut,
}

#[derive(Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    /// Content type and body, byte for byte, instead of the steps.
    pub(super) raw: Option<(String, Vec<u8>)>,
    /// Where a raw body is cut into pieces.
    pub(super) cuts: Vec<usize>,
    pub(super) streams: bool,
    pub(super) usage: (u64, u64),
    /// Characters of text and arguments in one event.
    pub(super) piece_chars: usize,
    pub(super) cut_off: bool,
}

impl Reply {
    /// Says nothing; steps are added by the methods below.
    pub fn new() -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            steps: Vec::new(),
            raw: None,
            cuts: Vec::new(),
            streams: true,
            usage: (100, 20),
            piece_chars: 7,
            cut_off: false,
        }
    }

    pub fn text(text: &str) -> Self {
        Self::new().say(text)
    }

    pub fn call(name: &str, arguments: Value) -> Self {
        Self::new().and_call(name, arguments)
    }

    /// An HTTP error in the protocol's own form.
    pub fn error(status: u16, message: &str) -> Self {
        Self { status, steps: vec![Step::Fail(message.to_owned())], ..Self::new() }
    }

    /// Exactly these bytes.
    pub fn raw(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { raw: Some((content_type.to_owned(), body.into())), ..Self::new() }
    }

    pub fn say(self, text: &str) -> Self {
        self.step(Step::Say(text.to_owned()))
    }

    pub fn reason(self, text: &str) -> Self {
        self.step(Step::Reason(text.to_owned()))
    }

    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.and_call_text(name, &arguments.to_string())
    }

    /// A call whose arguments need be no JSON.
    pub fn and_call_text(self, name: &str, arguments: &str) -> Self {
        self.step(Step::Call { name: name.to_owned(), arguments: arguments.to_owned() })
    }

    /// Before anything was said even the answer's head is held back.
    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    pub fn fail(self, message: &str) -> Self {
        self.step(Step::Fail(message.to_owned()))
    }

    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where a raw body is cut; each piece arrives by itself.
    pub fn cuts(self, cuts: impl Into<Vec<usize>>) -> Self {
        Self { cuts: cuts.into(), ..self }
    }

    /// A raw body ends without the mark that says so.
    pub fn cut_off(self) -> Self {
        Self { cut_off: true, ..self }
    }

    /// One plain JSON body, though a stream was asked for.
    pub fn in_one_piece(self) -> Self {
        Self { streams: false, ..self }
    }

    pub fn usage(self, prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self { usage: (prompt_tokens, completion_tokens), ..self }
    }

    pub fn pieces_of(self, piece_chars: usize) -> Self {
        Self { piece_chars: piece_chars.max(1), ..self }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}
