//! Calls and their results stay together. Start at [`whole`].
//!
//! Invariant: what comes out begins with a `User` or `System` message, every call in it has its result
//! right after it, and every result its call: a provider refuses a conversation in which one is missing.

use kernel::message::Message;

/// Takes off a beginning that was cut in the middle, and halves that an interrupted turn left.
pub(super) fn whole(messages: impl Iterator<Item = Message>) -> Vec<Message> {
    let mut rest = messages.skip_while(|message| !begins(message)).peekable();
    let mut found = Vec::new();
    while let Some(message) = rest.next() {
        let Message::Assistant { content, calls, reasoning } = message else {
            if !matches!(message, Message::Tool { .. }) {
                found.push(message);
            }
            continue;
        };
        let mut results = Vec::new();
        while let Some(result) = rest.next_if(|next| matches!(next, Message::Tool { .. })) {
            let known = calls.iter().any(|call| Some(call.id.as_str()) == call_of(&result));
            let again = results.iter().any(|earlier| call_of(earlier) == call_of(&result));
            if known && !again {
                results.push(result);
            }
        }
        let asked = !calls.is_empty();
        let calls: Vec<_> = calls
            .into_iter()
            .filter(|call| results.iter().any(|result| call_of(result) == Some(call.id.as_str())))
            .collect();
        // Reasoning goes back with the calls that it led to, not without them.
        let reasoning = if asked && calls.is_empty() { Vec::new() } else { reasoning };
        if !(asked && calls.is_empty() && content.is_empty()) {
            found.push(Message::Assistant { content, calls, reasoning });
            found.append(&mut results);
        }
    }
    found
}

pub(super) fn begins(message: &Message) -> bool {
    matches!(message, Message::User { .. } | Message::System { .. })
}

fn call_of(message: &Message) -> Option<&str> {
    match message {
        Message::Tool { call_id, .. } => Some(call_id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kernel::message::CallRequest;
    use proptest::prelude::*;

    use super::*;

    fn user(content: &str) -> Message {
        Message::User { content: content.into() }
    }

    fn assistant(content: &str, ids: &[&str]) -> Message {
        let call = |id: &&str| CallRequest { id: (*id).into(), name: "look".into(), arguments: "{}".into() };
        Message::Assistant { content: content.into(), calls: ids.iter().map(call).collect(), reasoning: Vec::new() }
    }

    fn result(id: &str) -> Message {
        Message::Tool { call_id: id.into(), name: "look".into(), content: "seen".into(), is_error: false }
    }

    #[track_caller]
    fn check(input: &[Message], expected: &[Message]) {
        assert_eq!(whole(input.iter().cloned()), expected);
    }

    #[test]
    fn a_beginning_that_was_cut_in_a_turn_is_taken_off() {
        let kept = [user("b"), assistant("done", &[])];
        check(&[result("1"), assistant("a", &[]), kept[0].clone(), kept[1].clone()], &kept);
    }

    #[test]
    fn a_call_without_a_result_is_taken_out_and_the_others_stay() {
        check(
            &[user("a"), assistant("", &["1", "2"]), result("2"), assistant("done", &[])],
            &[user("a"), assistant("", &["2"]), result("2"), assistant("done", &[])],
        );
        check(&[user("a"), assistant("", &["1"]), user("b")], &[user("a"), user("b")]);
        check(&[user("a"), assistant("I look", &["1"])], &[user("a"), assistant("I look", &[])]);
    }

    #[test]
    fn a_result_without_a_call_or_a_second_one_is_taken_out() {
        check(&[user("a"), result("1"), assistant("b", &[])], &[user("a"), assistant("b", &[])]);
        check(
            &[user("a"), assistant("", &["1"]), result("1"), result("1"), result("9")],
            &[user("a"), assistant("", &["1"]), result("1")],
        );
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = prop::sample::select(vec!["1", "2", "3"]);
        prop_oneof![
            Just(user("u")),
            Just(Message::System { content: "s".into() }),
            (any::<bool>(), prop::collection::btree_set(id.clone(), 0..3)).prop_map(|(words, ids)| {
                assistant(if words { "w" } else { "" }, &ids.into_iter().collect::<Vec<_>>())
            }),
            id.prop_map(result),
        ]
    }

    proptest! {
        #[test]
        fn whatever_was_stored_every_call_has_its_result_and_every_result_its_call(
            messages in prop::collection::vec(any_message(), 0..30)
        ) {
            let kept = whole(messages.into_iter());
            prop_assert!(kept.first().is_none_or(begins));
            let mut open: Vec<String> = Vec::new();
            for message in &kept {
                match message {
                    Message::Tool { call_id, .. } => {
                        let place = open.iter().position(|id| id == call_id);
                        prop_assert!(place.is_some(), "a result without its call");
                        open.remove(place.unwrap());
                    }
                    other => {
                        prop_assert!(open.is_empty(), "a call without its result");
                        if let Message::Assistant { calls, .. } = other {
                            open = calls.iter().map(|call| call.id.clone()).collect();
                        }
                    }
                }
            }
            prop_assert!(open.is_empty());
            prop_assert_eq!(whole(kept.clone().into_iter()), kept);
        }
    }
}
