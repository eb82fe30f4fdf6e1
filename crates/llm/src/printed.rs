//! What a model says as text, told apart: words for the person, thinking, and calls that were printed
//! instead of made. Start at [`Spoken::push`].
//!
//! Invariants: text that may begin a call is held back until it is known to be none; a printed call is
//! a call only if its name is a tool of the request and it does not stand word for word in something
//! that the model was given: repeating what a page says is quoting, not calling.

mod forms;
mod values;

use std::sync::{Arc, OnceLock};

use kernel::message::Message;
use kernel::ports::SourceRequest;

use crate::calls::Call;
use crate::names::Names;
use forms::{FORMS, Form, Parsed};

/// Limit: text that began like a printed call and is longer than this is spoken as it stands.
pub const PRINTED_BYTES_MAX: usize = 512 * 1024;

/// Below this a call is too short to be known as a quotation: it may be a bare name.
const QUOTED_BYTES_MIN: usize = 20;

const THOUGHTS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
];

/// What follows the fence where a model puts a call into one.
const FENCE_WORDS: &[&str] = &["", "json", "tool_call", "tool_calls", "tool", "tool_code", "function", "function_call"];
const FENCE: &str = "```";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Reasoning(String),
    Calls(Vec<Call>),
}

#[derive(Clone, Copy, Debug)]
enum State {
    Text,
    /// Until this mark.
    Thinking(&'static str),
    /// What is pending begins with the form's opening mark.
    Form(&'static Form),
    /// It begins with a fence that may hold a call.
    Fence,
    /// It begins with a brace or bracket, and is all of the answer so far.
    Bare,
}

pub(crate) struct Spoken {
    names: Arc<Names>,
    request: Arc<SourceRequest>,
    /// Everything the model was given, without white space and escapes.
    given: OnceLock<String>,
    state: State,
    pending: String,
    /// How much of `pending` was searched for an end in vain.
    searched: usize,
    /// Nothing was said yet.
    at_start: bool,
    /// White space is dropped: at the start, and after thinking or a call.
    trim: bool,
    /// Only blanks since the last line break.
    line_blank: bool,
    in_code: bool,
    pieces: Vec<Piece>,
}

impl Spoken {
    pub fn new(names: Arc<Names>, request: Arc<SourceRequest>) -> Self {
        Self {
            names,
            request,
            given: OnceLock::new(),
            state: State::Text,
            pending: String::new(),
            searched: 0,
            at_start: true,
            trim: true,
            line_blank: true,
            in_code: false,
            pieces: Vec::new(),
        }
    }

    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.pending.push_str(text);
        while self.step(false) {}
        std::mem::take(&mut self.pieces)
    }

    /// The answer is over: whatever is held is a call or is spoken.
    pub fn finish(&mut self) -> Vec<Piece> {
        while !self.pending.is_empty() && self.step(true) {}
        std::mem::take(&mut self.pieces)
    }

    /// Whether there may be more to do.
    fn step(&mut self, last: bool) -> bool {
        match self.state {
            State::Text => self.step_text(last),
            State::Thinking(close) => self.step_thinking(close, last),
            State::Form(form) => self.step_form(form, last),
            State::Fence => self.step_fence(last),
            State::Bare => self.step_bare(last),
        }
    }

    fn step_text(&mut self, last: bool) -> bool {
        if self.trim {
            let blank = self.pending.len() - self.pending.trim_start().len();
            self.pending.drain(..blank);
            if self.pending.is_empty() {
                return false;
            }
        }
        let marks = self.pending.char_indices().filter(|(_, c)| matches!(c, '<' | '[' | '{' | '`' | '✿'));
        for (at, _) in marks.collect::<Vec<_>>() {
            match self.mark(at, last) {
                Mark::None => {}
                Mark::Maybe => {
                    self.say(at);
                    return false;
                }
                Mark::Thought(open, close) => {
                    self.say(at);
                    self.pending.drain(..open.len());
                    self.enter(State::Thinking(close));
                    return true;
                }
                Mark::Opens(state) => {
                    self.say(at);
                    self.enter(state);
                    return true;
                }
                Mark::Code(length) => {
                    self.say(at + length);
                    self.in_code = !self.in_code;
                    return true;
                }
            }
        }
        self.say(self.pending.len());
        false
    }

    /// What begins at this place.
    fn mark(&self, at: usize, last: bool) -> Mark {
        let rest = &self.pending[at..];
        let line_start = self.is_line_start(at);
        let maybe = |mark: &str| !last && rest.len() < mark.len() && mark.starts_with(rest);
        if line_start {
            for (open, close) in THOUGHTS {
                if rest.starts_with(open) {
                    return Mark::Thought(open, close);
                }
            }
        }
        let open_forms = if self.names.is_empty() { &[][..] } else { FORMS };
        if let Some(form) = open_forms.iter().find(|form| rest.starts_with(form.open)) {
            return Mark::Opens(State::Form(form));
        }
        if (line_start && THOUGHTS.iter().any(|(open, _)| maybe(open)))
            || open_forms.iter().any(|form| maybe(form.open))
        {
            return Mark::Maybe;
        }
        if self.at_start && at == 0 && rest.starts_with(['{', '[']) && !self.names.is_empty() {
            return Mark::Opens(State::Bare);
        }
        if line_start { self.fence(rest, last) } else { Mark::None }
    }

    fn fence(&self, rest: &str, last: bool) -> Mark {
        const WORD_MAX: usize = 40;
        if !rest.starts_with(FENCE) {
            return if !last && FENCE.starts_with(rest) { Mark::Maybe } else { Mark::None };
        }
        let Some(end) = rest.find('\n') else {
            return if last || rest.len() > WORD_MAX { Mark::Code(rest.len()) } else { Mark::Maybe };
        };
        let word = rest[FENCE.len()..end].trim();
        let callable = !self.in_code && !self.names.is_empty() && FENCE_WORDS.contains(&word);
        if callable { Mark::Opens(State::Fence) } else { Mark::Code(end + 1) }
    }

    fn step_thinking(&mut self, close: &str, last: bool) -> bool {
        if let Some(at) = self.pending.find(close) {
            self.think(at);
            self.pending.drain(..close.len());
            self.trim = true;
            self.line_blank = true;
            self.enter(State::Text);
            return true;
        }
        let keep = if last { 0 } else { partial_end(&self.pending, close) };
        self.think(self.pending.len() - keep);
        false
    }

    fn step_form(&mut self, form: &'static Form, last: bool) -> bool {
        let start = if form.whole { 0 } else { form.open.len() };
        let mut from = self.searched.max(form.open.len());
        let mut first_end = None;
        while let Some((at, close)) = earliest(&self.pending, from, form.close) {
            let body = &self.pending[start..at];
            let end = at + close.len();
            match self.judged(body) {
                Parsed::Calls(calls) => return self.call(calls, end),
                Parsed::Incomplete => {}
                Parsed::Not => return self.mend_or_release(form, start, first_end.unwrap_or((at, end))),
            }
            first_end = first_end.or(Some((at, end)));
            from = end;
        }
        if last {
            let length = self.pending.len();
            let body = &self.pending[start..];
            return match (first_end, self.judged(body)) {
                (None, Parsed::Calls(calls)) => self.call(calls, length),
                (first, _) => self.mend_or_release(form, start, first.unwrap_or((length, length))),
            };
        }
        if self.pending.len() > PRINTED_BYTES_MAX {
            return self.release(form.open.len());
        }
        if first_end.is_none() {
            let longest = form.close.iter().map(|close| close.len()).max().unwrap_or(0);
            self.searched = floor_boundary(&self.pending, self.pending.len().saturating_sub(longest));
        }
        false
    }

    /// The mark is a call's, so broken JSON in it is a broken call and not something to say.
    fn mend_or_release(&mut self, form: &'static Form, start: usize, (body_end, end): (usize, usize)) -> bool {
        let body = &self.pending[start..body_end];
        match values::broken(body, &self.names).filter(|_| !self.is_quoted(body)) {
            Some(call) => self.call(vec![call], end),
            None => self.release(form.open.len()),
        }
    }

    /// A fence is a call only if nothing but further fences follows: an example that is talked about is none.
    fn step_fence(&mut self, last: bool) -> bool {
        let Some(line) = self.pending.find('\n') else { return self.release(self.pending.len()) };
        let (start, content) = (line + 1, &self.pending[line + 1..]);
        if content.trim_start().starts_with(|c: char| c != '{' && c != '[') || self.pending.len() > PRINTED_BYTES_MAX {
            self.in_code = true;
            return self.release(start);
        }
        let from = floor_boundary(&self.pending, self.searched.max(line));
        let closing = self.pending[from..].find("\n```").map(|at| from + at);
        let Some(closing) = closing else {
            if !last {
                self.searched = floor_boundary(&self.pending, self.pending.len().saturating_sub(4));
                return false;
            }
            return match self.judged_bare(&self.pending[start..]) {
                Parsed::Calls(calls) => self.call(calls, self.pending.len()),
                _ => {
                    self.in_code = true;
                    self.release(start)
                }
            };
        };
        let end = closing + "\n```".len();
        let tail = self.pending[end..].trim_start();
        let goes_on = tail.is_empty() || tail.starts_with(FENCE) || FENCE.starts_with(tail);
        if !goes_on {
            return self.release(end);
        }
        if !last {
            return false;
        }
        match self.judged_bare(&self.pending[start..closing]) {
            Parsed::Calls(calls) => self.call(calls, end),
            _ => self.release(end),
        }
    }

    fn step_bare(&mut self, last: bool) -> bool {
        let opening = self.pending.chars().next().unwrap_or_default();
        let next = self.pending[1..].trim_start().chars().next();
        let possible = match next {
            None => true,
            Some(next) => {
                if opening == '[' {
                    next == '{'
                } else {
                    next == '"'
                }
            }
        };
        if !possible || self.pending.len() > PRINTED_BYTES_MAX {
            return self.release(1);
        }
        if !last {
            return false;
        }
        match self.judged_bare(&self.pending) {
            Parsed::Calls(calls) => self.call(calls, self.pending.len()),
            _ => self.release(1),
        }
    }

    fn judged(&self, body: &str) -> Parsed {
        match forms::parse(body, &self.names) {
            Parsed::Calls(_) if self.is_quoted(body) => Parsed::Not,
            parsed => parsed,
        }
    }

    fn judged_bare(&self, body: &str) -> Parsed {
        match values::calls(body, true, &self.names) {
            Parsed::Calls(_) if self.is_quoted(body) => Parsed::Not,
            parsed => parsed,
        }
    }

    fn is_quoted(&self, body: &str) -> bool {
        let body = squeezed(body);
        body.len() >= QUOTED_BYTES_MIN && self.given.get_or_init(|| given(&self.request)).contains(&body)
    }

    fn call(&mut self, calls: Vec<Call>, end: usize) -> bool {
        self.pieces.push(Piece::Calls(calls));
        self.pending.drain(..end);
        self.at_start = false;
        self.trim = true;
        self.line_blank = true;
        self.enter(State::Text);
        true
    }

    /// It is no call: so much is spoken, and the rest looked at anew.
    fn release(&mut self, length: usize) -> bool {
        self.enter(State::Text);
        self.say(length);
        true
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.searched = 0;
    }

    fn say(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let text: String = self.pending.drain(..length).collect();
        self.line_blank = match text.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => self.line_blank && text.trim().is_empty(),
        };
        self.at_start = false;
        self.trim = false;
        self.pieces.push(Piece::Text(text));
    }

    fn think(&mut self, length: usize) {
        if length > 0 {
            let text = self.pending.drain(..length).collect();
            self.pieces.push(Piece::Reasoning(text));
        }
    }

    fn is_line_start(&self, at: usize) -> bool {
        match self.pending[..at].rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => self.line_blank && self.pending[..at].trim().is_empty(),
        }
    }
}

enum Mark {
    None,
    /// More is needed to know.
    Maybe,
    Thought(&'static str, &'static str),
    Opens(State),
    /// A line of so many bytes that opens or closes a block of code.
    Code(usize),
}

/// The first of these marks from here on.
fn earliest<'a>(text: &str, from: usize, marks: &[&'a str]) -> Option<(usize, &'a str)> {
    let from = floor_boundary(text, from);
    let found = marks.iter().filter_map(|mark| text[from..].find(mark).map(|at| (from + at, *mark)));
    found.min_by_key(|(at, _)| *at)
}

/// How many bytes at the end may be the beginning of the mark.
fn partial_end(text: &str, mark: &str) -> usize {
    let lengths = mark.char_indices().map(|(at, _)| at).skip(1);
    lengths.filter(|length| text.ends_with(&mark[..*length])).max().unwrap_or(0)
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Without what differs between a quotation and its source: white space, and escapes of JSON in JSON.
fn squeezed(text: &str) -> String {
    let text = text.replace("\\n", "");
    text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
}

fn given(request: &SourceRequest) -> String {
    let said = request.messages.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
    let mut all = squeezed(&request.system);
    for text in said.map(Message::content).chain([request.tail.as_str()]) {
        all.push('\n');
        all.push_str(&squeezed(text));
    }
    all
}

#[cfg(test)]
mod tests;
