//! [`kernel::ports::Outbox`] and [`kernel::ports::Events`].

use kernel::ports::{Answered, Outgoing};
use serde_json::json;

use super::{Ports, answer};

pub async fn a_reply_waits_with_its_id_until_it_is_delivered(ports: &Ports) {
    for turn in ["t1", "t2", "t3"] {
        ports.inbox.answer(answer(turn, "main", &[])).await.unwrap();
    }
    let waiting = ports.outbox.undelivered(2).await.unwrap();
    let of = |waiting: &[Outgoing]| waiting.iter().map(|reply| reply.turn.clone()).collect::<Vec<_>>();
    assert_eq!(of(&waiting), ["t1", "t2"]);
    let expected = answer("t1", "main", &[]);
    assert_eq!(
        waiting[0],
        Outgoing {
            id: waiting[0].id,
            turn: "t1".into(),
            session: "main".into(),
            principal: expected.principal,
            reply: expected.reply,
            ended: expected.ended,
            at_ms: expected.at_ms,
        }
    );
    assert!(ports.outbox.delivered(waiting[0].id).await.unwrap());
    assert!(!ports.outbox.delivered(waiting[0].id).await.unwrap());
    let rest = ports.outbox.undelivered(10).await.unwrap();
    assert_eq!((of(&rest), rest[0].id), (vec!["t2".into(), "t3".into()], waiting[1].id));
    for reply in &rest {
        assert!(ports.outbox.delivered(reply.id).await.unwrap());
    }
    ports.inbox.answer(answer("t4", "main", &[])).await.unwrap();
    let last = ports.outbox.undelivered(10).await.unwrap();
    assert!(last[0].id > rest[1].id, "an id that was delivered never comes again");
}

pub async fn an_answer_without_words_or_one_that_fails_delivers_nothing(ports: &Ports) {
    ports.inbox.answer(Answered { reply: String::new(), ..answer("t1", "main", &[]) }).await.unwrap();
    ports.inbox.answer(answer("t2", "main", &[99])).await.unwrap_err();
    assert!(ports.outbox.undelivered(10).await.unwrap().is_empty());
}

pub async fn events_are_numbered_upwards_and_read_from_a_number_on(ports: &Ports) {
    assert_eq!(ports.events.range().await.unwrap(), None);
    let mut numbers = Vec::new();
    for count in 0..5 {
        numbers.push(ports.events.append("turn_end", json!({"count": count})).await.unwrap());
    }
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    let events = ports.events.since(numbers[1], 2).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), numbers[2..4]);
    assert_eq!((events[0].kind.as_str(), &events[0].body), ("turn_end", &json!({"count": 2})));
    assert!(ports.events.since(numbers[4], 10).await.unwrap().is_empty());
    assert_eq!(ports.events.since(0, 100).await.unwrap().len(), 5);
    assert_eq!(ports.events.range().await.unwrap(), Some((numbers[0], numbers[4])));
}
