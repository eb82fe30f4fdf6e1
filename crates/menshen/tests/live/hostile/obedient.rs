//! A model that does whatever the last imperative it read says, and lies about it. Start at [`Obedient`].
//! Invariant: it never gives up because the program told it something; it only stops when it has called
//! everything that it was told to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use futures_util::stream;
use kernel::message::{CallRequest, Message};
use kernel::ports::{
    Abilities, BoxFuture, Delta, DeltaStream, EndReason, Failure, LlmSource, SourceError, SourceRequest,
};
use sdk::LlmApi;
use serde_json::Value;

use super::payloads::bare;

/// What it does in one session.
#[derive(Clone, Default)]
pub struct Orders {
    /// Brings the hostile text before it.
    pub reads: VecDeque<(String, Value)>,
    /// Each try is a batch of calls.
    pub tries: VecDeque<Vec<(String, Value)>>,
    pub says: String,
    /// By which it knows the hostile text.
    pub needle: String,
    /// Where it saw it.
    pub seen: Option<Place>,
}

/// Where in a request a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    ToolDescription,
    ToolResult,
    /// Recalled memory, after all messages.
    Tail,
    House,
    Person,
    /// In a place where it would be an instruction.
    System,
}

#[derive(Default)]
struct Kept {
    orders: BTreeMap<String, Orders>,
    /// What must never stand in a request.
    secrets: Vec<String>,
    wrong: Vec<String>,
    calls: usize,
}

#[derive(Clone, Default)]
pub struct Obedient(Arc<Mutex<Kept>>);

impl Obedient {
    pub fn new(secrets: &[&str]) -> Self {
        let secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        Self(Arc::new(Mutex::new(Kept { secrets, ..Kept::default() })))
    }

    pub fn order(&self, session: &str, orders: Orders) {
        self.0.lock().unwrap().orders.insert(session.to_owned(), orders);
    }

    pub fn seen(&self, session: &str) -> Option<Place> {
        self.0.lock().unwrap().orders.get(session)?.seen
    }

    /// Secrets, and characters that nobody sees, that stood before it.
    pub fn wrong(&self) -> Vec<String> {
        self.0.lock().unwrap().wrong.clone()
    }

    pub fn calls(&self) -> usize {
        self.0.lock().unwrap().calls
    }
}

impl LlmApi for Obedient {
    fn list_sources(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn set_source(&self, name: &str) -> Result<(), Failure> {
        if name == self.name() { Ok(()) } else { Err(Failure::not_found("no such source")) }
    }

    fn current_source(&self) -> String {
        self.name()
    }
}

impl LlmSource for Obedient {
    fn name(&self) -> String {
        "obedient".to_owned()
    }

    fn abilities(&self) -> Abilities {
        Abilities { context_tokens: 1_000_000, tools: true, vision: true, streaming: true }
    }

    fn ask(&self, request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>> {
        let deltas = self.0.lock().unwrap().answer(&request);
        Box::pin(async move { Ok(Box::pin(stream::iter(deltas.into_iter().map(Ok))) as DeltaStream) })
    }
}

impl Kept {
    fn answer(&mut self, request: &SourceRequest) -> Vec<Delta> {
        self.look_for_what_is_wrong(request);
        let Some(orders) = self.orders.get_mut(&request.cache_key) else {
            return vec![Delta::Text("Nothing to sum up.".into()), Delta::End(EndReason::Stop)];
        };
        orders.seen = orders.seen.max(place(request, &orders.needle));
        let next = match orders.reads.pop_front() {
            Some(read) => Some(vec![read]),
            None => orders.tries.pop_front(),
        };
        let Some(calls) = next else {
            return vec![Delta::Text(orders.says.clone()), Delta::End(EndReason::Stop)];
        };
        self.calls += calls.len();
        let mut deltas: Vec<Delta> = calls.into_iter().enumerate().map(call).collect();
        deltas.push(Delta::End(EndReason::ToolCalls));
        deltas
    }

    fn look_for_what_is_wrong(&mut self, request: &SourceRequest) {
        let session = &request.cache_key;
        let mut texts = vec![("system", request.system.to_string()), ("tail", request.tail.clone())];
        texts.extend(request.tools.iter().map(|tool| ("tool", format!("{} {}", tool.description, tool.parameters))));
        texts.extend(request.messages.iter().map(|message| match message {
            Message::Tool { content, .. } => ("result", content.clone()),
            Message::System { content } => ("note", content.clone()),
            // What a person or the model wrote is passed on as it is.
            other => ("message", other.content().replace(decide::text::invisible, "")),
        }));
        for (place, text) in texts {
            let hidden = text.chars().find(|letter| !matches!(letter, '\n' | '\t') && decide::text::invisible(*letter));
            if let Some(letter) = hidden {
                self.wrong.push(format!("{session}: {:?} in {place}", letter.escape_unicode().to_string()));
            }
            for secret in self.secrets.iter().filter(|secret| text.contains(secret.as_str())) {
                self.wrong.push(format!("{session}: {secret} in {place}"));
            }
        }
    }
}

fn call((at, (name, arguments)): (usize, (String, Value))) -> Delta {
    Delta::Call(CallRequest { id: format!("call_{at}"), name, arguments: arguments.to_string() })
}

/// The most dangerous place where the text stands.
fn place(request: &SourceRequest, needle: &str) -> Option<Place> {
    let holds = |text: &str| !needle.is_empty() && bare(text).contains(needle);
    let (rules, house) = request.system.split_once("# The house (data)").unwrap_or((&request.system, ""));
    let mut places = vec![
        (Place::System, holds(rules)),
        (Place::House, holds(house)),
        (Place::Tail, holds(&request.tail)),
        (Place::ToolDescription, request.tools.iter().any(|tool| holds(&tool.description))),
    ];
    places.extend(request.messages.iter().filter_map(|message| match message {
        Message::System { content } => Some((Place::System, holds(content))),
        Message::User { content } => Some((Place::Person, holds(content))),
        Message::Tool { content, .. } => Some((Place::ToolResult, holds(content))),
        // Its own words.
        Message::Assistant { .. } => None,
    }));
    places.into_iter().filter(|(_, holds)| *holds).map(|(place, _)| place).max()
}
