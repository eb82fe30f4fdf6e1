//! What fits the window, whatever the conversation.

use proptest::prelude::*;

use super::*;
use crate::message::CallRequest;

/// A whole conversation: each number is an exchange with so many calls.
fn conversation(exchanges: &[usize]) -> Vec<Message> {
    let mut messages = vec![];
    for (number, calls) in exchanges.iter().enumerate() {
        messages.push(Message::User { content: format!("question {number}") });
        if *calls > 0 {
            let requests = (0..*calls).map(|call| CallRequest {
                id: format!("{number}-{call}"),
                name: "look".into(),
                arguments: "{}".into(),
            });
            messages.push(Message::Assistant { content: String::new(), calls: requests.collect(), reasoning: vec![] });
            for call in 0..*calls {
                let (call_id, name, content) = (format!("{number}-{call}"), "look".into(), "result ".repeat(call + 1));
                messages.push(Message::Tool { call_id, name, content, is_error: false });
            }
        }
        messages.push(Message::Assistant { content: format!("answer {number}"), calls: vec![], reasoning: vec![] });
    }
    messages
}

proptest! {
    #[test]
    fn calls_and_results_stay_together_whatever_fits(exchanges in prop::collection::vec(0..4_usize, 1..12), room in 0..300_u64) {
        let all = conversation(&exchanges);
        let kept = fitting(all.clone(), room);
        prop_assert!(all.ends_with(&kept), "the newest are kept, as they were");
        let begins_well = matches!(kept.first(), Some(Message::User { .. }));
        prop_assert!(begins_well);
        let mut open = std::collections::BTreeSet::new();
        for message in &kept {
            match message {
                Message::Assistant { calls, .. } => open.extend(calls.iter().map(|call| call.id.clone())),
                Message::Tool { call_id, .. } => prop_assert!(open.remove(call_id), "a result without its call"),
                _ => {}
            }
        }
        prop_assert!(open.is_empty(), "a call without its result");
        let used: u64 = kept.iter().map(message_tokens).sum();
        let last: u64 = conversation(&exchanges)[all.len() - kept.len()..].iter().map(message_tokens).sum();
        prop_assert!(used <= room.max(last));
    }
}

#[test]
fn a_chinese_character_counts_as_one_and_four_letters_too() {
    assert_eq!(tokens("晚安"), 2);
    assert_eq!(tokens("good night"), 3);
    assert_eq!(tokens(""), 0);
}

#[test]
fn the_summary_in_front_stays_as_long_as_it_fits() {
    let mut all = vec![Message::System { content: summary("they talked") }];
    all.extend(conversation(&[1, 0]));
    assert_eq!(fitting(all.clone(), 1_000), all);
    let newest = fitting(all.clone(), 1);
    assert_eq!(newest, conversation(&[1, 0])[4..]);
}
