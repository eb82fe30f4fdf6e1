//! One answer as it is read: what a wire format finds goes in, deltas come out. Start at [`Answer`].
//!
//! Invariants: calls come out once the answer is over, each with an id that is its own in the whole
//! conversation; a printed call counts only where the provider made none itself.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use kernel::message::{CallRequest, Message};
use kernel::ports::{Delta, EndReason, SourceRequest, Usage};
use serde_json::{Value, json};

use crate::calls::{Call, finished_arguments};
use crate::config::{Prices, Settled};
use crate::names::Names;
use crate::printed::{Piece, Spoken};

/// What a provider counted; `written` are prompt tokens that it put into a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    pub usage: Usage,
    pub written_tokens: u64,
    /// What the provider itself says that it costs, in US dollars.
    pub cost_usd: Option<f64>,
}

/// How an answer came, for `check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    pub made_calls: usize,
    pub printed_calls: usize,
    pub text_pieces: usize,
    pub in_one_piece: bool,
    pub usage: bool,
}

pub(crate) struct Answer {
    names: Arc<Names>,
    spoken: Spoken,
    deltas: VecDeque<Delta>,
    made: Vec<Call>,
    printed: Vec<Call>,
    /// Ids of the conversation so far, and of this answer.
    ids: HashSet<String>,
    next_id: usize,
    prices: Option<Prices>,
    /// Whose reasoning it is: only its own maker gets it back.
    maker: String,
    begun: bool,
    ended: bool,
    pub observed: Observed,
}

impl Answer {
    pub fn new(settled: &Settled, names: Arc<Names>, request: Arc<SourceRequest>) -> Self {
        Self {
            spoken: Spoken::new(names.clone(), request.clone()),
            names,
            deltas: VecDeque::new(),
            made: Vec::new(),
            printed: Vec::new(),
            ids: request.messages.iter().flat_map(ids_in).map(str::to_owned).collect(),
            next_id: request.messages.len(),
            prices: settled.config.prices,
            maker: maker(settled),
            begun: false,
            ended: false,
            observed: Observed::default(),
        }
    }

    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.begun = true;
        self.observed.text_pieces += 1;
        let pieces = self.spoken.push(text);
        self.take(pieces);
    }

    pub fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.begun = true;
            self.deltas.push_back(Delta::Reasoning(text.to_owned()));
        }
    }

    /// To be sent back unchanged to whoever made it.
    pub fn reasoning_block(&mut self, block: Value) {
        self.begun = true;
        self.deltas.push_back(Delta::ReasoningBlock(json!({"maker": self.maker, "block": block})));
    }

    pub fn call(&mut self, call: Call) {
        self.begun = true;
        self.made.push(call);
    }

    /// The model has begun, though there may be nothing to show yet.
    pub fn begin(&mut self) {
        self.begun = true;
    }

    pub fn usage(&mut self, counted: Counted) {
        let mut usage = counted.usage;
        let given = counted.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0).map(|cost| cost * 1e6);
        let cost = self.prices.map(|prices| cost_micros(&counted, prices)).or(given);
        usage.cost_usd_micros = cost.unwrap_or(0.0).round() as u64;
        self.observed.usage = true;
        self.deltas.push_back(Delta::Usage(usage));
    }

    pub fn end(&mut self, reason: EndReason) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let rest = self.spoken.finish();
        self.take(rest);
        self.observed.made_calls = self.made.len();
        self.observed.printed_calls = self.printed.len();
        // Some servers print a call and make it as well.
        let calls =
            if self.made.is_empty() { std::mem::take(&mut self.printed) } else { std::mem::take(&mut self.made) };
        let reason = match (reason, calls.is_empty()) {
            (EndReason::Stop, false) => EndReason::ToolCalls,
            (EndReason::ToolCalls, true) => EndReason::Stop,
            (reason, _) => reason,
        };
        for call in calls {
            let call = self.finished(call);
            self.deltas.push_back(Delta::Call(call));
        }
        self.deltas.push_back(Delta::End(reason));
    }

    pub fn has_begun(&self) -> bool {
        self.begun
    }

    pub fn has_ended(&self) -> bool {
        self.ended
    }

    pub fn next(&mut self) -> Option<Delta> {
        self.deltas.pop_front()
    }

    fn take(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.deltas.push_back(Delta::Text(text)),
                Piece::Reasoning(text) => self.reasoning(&text),
                Piece::Calls(calls) => self.printed.extend(calls),
            }
        }
    }

    fn finished(&mut self, call: Call) -> CallRequest {
        let mut id = call.id;
        // Nine letters and digits: the narrowest form that a provider asks for.
        while id.trim().is_empty() || self.ids.contains(&id) {
            id = format!("call{:05}", self.next_id % 100_000);
            self.next_id += 1;
        }
        self.ids.insert(id.clone());
        CallRequest { id, name: self.names.own_name(&call.name), arguments: finished_arguments(&call.arguments) }
    }
}

fn ids_in(message: &Message) -> Vec<&str> {
    match message {
        Message::Assistant { calls, .. } => calls.iter().map(|call| call.id.as_str()).collect(),
        Message::Tool { call_id, .. } => vec![call_id.as_str()],
        _ => Vec::new(),
    }
}

pub(crate) fn maker(settled: &Settled) -> String {
    format!("{}/{}", settled.name, settled.config.model)
}

/// The blocks of these that this source made itself.
pub(crate) fn own_blocks<'a>(reasoning: &'a [Value], settled: &Settled) -> impl Iterator<Item = &'a Value> {
    let maker = maker(settled);
    reasoning.iter().filter(move |block| block["maker"] == maker.as_str()).map(|block| &block["block"])
}

/// A price per million tokens in dollars is a price per token in millionths of a dollar.
fn cost_micros(counted: &Counted, prices: Prices) -> f64 {
    /// What Anthropic takes for putting a token into its cache, against reading it plainly.
    const WRITING: f64 = 1.25;
    let usage = &counted.usage;
    let cached = usage.cached_tokens.min(usage.prompt_tokens);
    let written = counted.written_tokens.min(usage.prompt_tokens - cached);
    let plain = usage.prompt_tokens - cached - written;
    plain as f64 * prices.prompt
        + written as f64 * prices.prompt * WRITING
        + cached as f64 * prices.cached.unwrap_or(prices.prompt)
        + usage.completion_tokens as f64 * prices.completion
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_counts_cached_and_written_tokens_at_their_own_prices() {
        let usage = Usage { prompt_tokens: 1000, cached_tokens: 600, completion_tokens: 100, ..Usage::default() };
        let prices = Prices { prompt: 3.0, cached: Some(0.3), completion: 15.0 };
        let cost = |written_tokens| cost_micros(&Counted { usage, written_tokens, cost_usd: None }, prices);
        assert_eq!(cost(0), 400.0 * 3.0 + 600.0 * 0.3 + 100.0 * 15.0);
        assert_eq!(cost(400), 400.0 * 3.75 + 600.0 * 0.3 + 100.0 * 15.0);
        let uncached = cost_micros(&Counted { usage, ..Counted::default() }, Prices { cached: None, ..prices });
        assert_eq!(uncached, 1000.0 * 3.0 + 100.0 * 15.0);
    }
}
