//! [`kernel::ports::Inbox`].

use kernel::ports::{FailureKind, Input, NewInput, Principal};
use sdk::InjectionKind;
use serde_json::json;

use super::{Ports, answer, calls, input, result, says, user};

pub async fn an_input_is_pending_until_it_is_answered_and_its_answer_can_be_asked_for(ports: &Ports) {
    let first = NewInput { kind: InjectionKind::Interrupt, ..input("main", "把灯打开\n\"please\"") };
    let (a, known) = ports.inbox.put(first.clone()).await.unwrap();
    let (b, _) = ports.inbox.put(input("kitchen", "b")).await.unwrap();
    assert!(!known && b > a);
    let pending = ports.inbox.pending().await.unwrap();
    assert_eq!(pending, [Input { id: a, new: first }, Input { id: b, new: input("kitchen", "b") }]);
    assert_eq!(ports.inbox.answer_of(a).await.unwrap(), None);

    let mut answered = answer("t1", "main", &[a]);
    answered.messages = vec![user("q"), calls(&["1"]), result("1"), says("done")];
    answered.changes = json!([{"entity": "light.kitchen", "was": "off"}]);
    answered.usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "cost_usd_micros": 7});
    ports.inbox.answer(answered.clone()).await.unwrap();
    assert_eq!(ports.inbox.pending().await.unwrap().iter().map(|input| input.id).collect::<Vec<_>>(), [b]);
    assert_eq!(ports.inbox.answer_of(a).await.unwrap(), Some(answered));
    assert_eq!(ports.inbox.answer_of(b).await.unwrap(), None);
    assert_eq!(ports.inbox.answer_of(b + 100).await.unwrap(), None);
}

pub async fn a_client_that_sends_again_is_accepted_once_in_its_session_and_channel(ports: &Ports) {
    let sent = |session: &str, channel: &str| NewInput {
        client_id: Some("c-1".into()),
        principal: Principal { channel: channel.into(), ..Principal::default() },
        ..input(session, "hello")
    };
    let (id, _) = ports.inbox.put(sent("main", "web")).await.unwrap();
    assert_eq!(ports.inbox.put(sent("main", "web")).await.unwrap(), (id, true));
    assert!(!ports.inbox.put(sent("kitchen", "web")).await.unwrap().1);
    assert!(!ports.inbox.put(sent("main", "phone")).await.unwrap().1);
    ports.inbox.answer(answer("t1", "main", &[id])).await.unwrap();
    assert_eq!(ports.inbox.put(sent("main", "web")).await.unwrap(), (id, true), "also once it was answered");
    assert!(!ports.inbox.put(input("main", "hello")).await.unwrap().1);
    assert!(!ports.inbox.put(input("main", "hello")).await.unwrap().1, "without an id each is one of its own");
}

pub async fn an_input_is_answered_once_and_a_second_answer_changes_nothing(ports: &Ports) {
    let (a, _) = ports.inbox.put(input("main", "a")).await.unwrap();
    let (b, _) = ports.inbox.put(input("main", "b")).await.unwrap();
    ports.inbox.answer(answer("t1", "main", &[a])).await.unwrap();
    let refused = ports.inbox.answer(answer("t2", "main", &[b, a])).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Duplicate, "{refused}");
    assert_eq!(ports.inbox.pending().await.unwrap().len(), 1, "b is not answered either");
    assert_eq!(ports.inbox.answer_of(a).await.unwrap().unwrap().turn, "t1");
    assert_eq!(ports.turns.history("main", 100).await.unwrap(), answer("t1", "main", &[]).messages);
    assert_eq!(ports.outbox.undelivered(100).await.unwrap().len(), 1);
}

pub async fn a_turn_ends_once(ports: &Ports) {
    let (a, _) = ports.inbox.put(input("main", "a")).await.unwrap();
    ports.inbox.answer(answer("t1", "main", &[])).await.unwrap();
    let refused = ports.inbox.answer(answer("t1", "main", &[a])).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Duplicate, "{refused}");
    assert_eq!(ports.inbox.pending().await.unwrap().len(), 1);
    assert_eq!(ports.outbox.undelivered(100).await.unwrap().len(), 1);
}

pub async fn an_answer_to_an_input_that_nobody_put_changes_nothing(ports: &Ports) {
    let refused = ports.inbox.answer(answer("t1", "main", &[41])).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::NotFound, "{refused}");
    assert!(ports.turns.history("main", 10).await.unwrap().is_empty());
    assert!(ports.outbox.undelivered(10).await.unwrap().is_empty());
}

pub async fn inputs_that_come_side_by_side_are_each_there_once(ports: &Ports) {
    let puts: Vec<_> = (0..100)
        .map(|number| {
            let inbox = ports.inbox.clone();
            let client_id = Some(format!("c-{}", number / 2));
            tokio::spawn(async move { inbox.put(NewInput { client_id, ..input("main", "a") }).await.unwrap() })
        })
        .collect();
    let mut known = 0;
    for put in puts {
        known += usize::from(put.await.unwrap().1);
    }
    assert_eq!(known, 50);
    let mut ids: Vec<_> = ports.inbox.pending().await.unwrap().into_iter().map(|input| input.id).collect();
    ids.dedup();
    assert!(ids.len() == 50 && ids.is_sorted(), "{ids:?}");
}
