//! A conversation as every provider can take it. Start at [`steps`].
//!
//! Invariant: after the calls of the assistant come their results, each once and in the calls' order; a
//! call whose result is missing gets one that says so, a result without a call is left out.

use kernel::message::{CallRequest, Message};
use serde_json::Value;

pub(crate) enum Step<'a> {
    /// From us, in the middle.
    System(&'a str),
    User(&'a str),
    Assistant {
        content: &'a str,
        calls: Vec<(&'a CallRequest, Outcome<'a>)>,
        reasoning: &'a [Value],
    },
}

#[derive(Clone, Copy)]
pub(crate) struct Outcome<'a> {
    pub content: &'a str,
    pub is_error: bool,
}

const NO_RESULT: Outcome<'static> =
    Outcome { content: "no result: the turn was interrupted before the tool had answered", is_error: true };

pub(crate) fn steps(messages: &[Message]) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            Message::System { content } => steps.push(Step::System(content)),
            Message::User { content } => steps.push(Step::User(content)),
            Message::Tool { name, .. } => tracing::debug!(tool = name, "a result without its call is left out"),
            Message::Assistant { content, calls, reasoning } => {
                let results = rest.iter().take_while(|message| matches!(message, Message::Tool { .. })).count();
                let (results, after) = if calls.is_empty() { (&rest[..0], rest) } else { rest.split_at(results) };
                rest = after;
                let calls = calls.iter().map(|call| (call, outcome(call, results))).collect();
                steps.push(Step::Assistant { content, calls, reasoning });
            }
        }
    }
    steps
}

fn outcome<'a>(call: &CallRequest, results: &'a [Message]) -> Outcome<'a> {
    let found = results.iter().find_map(|message| match message {
        Message::Tool { call_id, content, is_error, .. } if *call_id == call.id => {
            Some(Outcome { content, is_error: *is_error })
        }
        _ => None,
    });
    found.unwrap_or(NO_RESULT)
}

/// A text of ours on the user's side, marked so that it is not taken for the person's words.
pub(crate) fn marked(text: &str) -> String {
    format!("<context>\n{text}\n</context>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_gets_exactly_one_result_and_a_result_without_a_call_is_left_out() {
        let call = |id: &str| CallRequest { id: id.into(), name: "n".into(), arguments: "{}".into() };
        let tool = |id: &str| Message::Tool {
            call_id: id.into(),
            name: "n".into(),
            content: format!("r{id}"),
            is_error: false,
        };
        let messages = [
            tool("0"),
            Message::User { content: "hi".into() },
            Message::Assistant { content: String::new(), calls: vec![call("1"), call("2")], reasoning: Vec::new() },
            tool("2"),
            tool("9"),
            Message::Assistant { content: "done".into(), calls: Vec::new(), reasoning: Vec::new() },
        ];
        let steps = steps(&messages);
        assert_eq!(steps.len(), 3);
        let Step::Assistant { calls, .. } = &steps[1] else { panic!("no assistant") };
        let contents: Vec<&str> = calls.iter().map(|(_, outcome)| outcome.content).collect();
        assert_eq!(contents, [NO_RESULT.content, "r2"]);
    }
}
