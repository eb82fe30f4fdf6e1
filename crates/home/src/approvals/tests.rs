//! What a question goes through from being filed to being decided, on a clock that stands still. Start at the
//! first test. Invariant: whatever happens, a yes is carried out at most once.

use std::sync::atomic::{AtomicUsize, Ordering};

use decide::gate::{Asked, Decision, Plan, Reason, ReasonCode, Send, Verdict};
use decide::house::House;
use serde_json::Map;

use super::question::Both;
use super::*;

fn decision(lock: &str) -> Decision {
    let id = EntityId::parse(lock).unwrap();
    let send = Send {
        domain: "lock".into(),
        service: "unlock".into(),
        entities: vec![id.clone()],
        data: Map::new(),
        toward_safety: false,
    };
    let reason = Reason {
        verdict: Verdict::Ask,
        risk: Some(Risk::Security),
        code: ReasonCode::Opens,
        by: "lock.unlock".into(),
        on: Some(id.clone()),
        action: "lock.unlock".into(),
        entity: Some(id.clone()),
        path: vec![],
        detail: None,
    };
    Decision {
        verdict: Verdict::Ask,
        risk: Some(Risk::Security),
        targets: vec![id],
        reasons: vec![reason],
        plan: Plan { sends: vec![send], ..Plan::default() },
    }
}

fn call(lock: &str) -> Call {
    let data = Map::from_iter([("entity_id".to_owned(), json!(lock))]);
    Call { domain: "lock".into(), service: "unlock".into(), data, target: None }
}

fn question(session: &str, lock: &str) -> Question {
    let asking = Asking { session, origin: Origin::Model, language: Language::English };
    Question::new(&House::default(), &asking, &call(lock), &decision(lock)).unwrap()
}

fn person() -> Person {
    Person { road: Road::Console, name: "Li".into() }
}

/// A book whose yes counts.
fn book() -> (Approvals, Arc<AtomicUsize>) {
    let book = Approvals::new(Audit::new(None), "run".into());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    book.carried_by(Arc::new(move |approved| {
        let count = counted.clone();
        Box::pin(async move {
            assert_eq!(
                decision("lock.a").approved(approved.yes, Origin::Model).is_ok(),
                approved.call == call("lock.a")
            );
            count.fetch_add(1, Ordering::SeqCst);
            json!({ "ok": true })
        })
    }));
    (book, count)
}

fn waits(filed: Filed) -> Shown {
    match filed {
        Filed::Waits(shown) => shown,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_is_carried_out_once_and_calling_again_gives_what_came_of_it() {
    let (book, count) = book();
    let shown = waits(book.file(question("s", "lock.a")));
    assert_eq!(shown.question, Both { en: "Unlock lock.a?".into(), zh: "解锁lock.a？".into() });
    assert_eq!(shown.moves, ["lock.unlock lock.a"]);
    assert_eq!(waits(book.file(question("s", "lock.a"))).id, shown.id, "equal ones are one");
    let done = book.decide(&shown.id, true, person()).await.unwrap();
    assert_eq!((done.state, done.answer), (State::Approved, json!({ "ok": true })));
    assert!(matches!(book.file(question("s", "lock.a")), Filed::Decided(again) if again.id == shown.id));
    assert!(book.done_already("s", &call("lock.a")).is_some());
    assert!(book.done_already("other", &call("lock.a")).is_none());
    assert_eq!(book.decide(&shown.id, true, person()).await, Err(NotDecided::Over), "a replay");
    assert_eq!(count.load(Ordering::SeqCst), 1);
    tokio::time::advance(ANSWER_KEPT).await;
    assert!(book.done_already("s", &call("lock.a")).is_none());
    waits(book.file(question("s", "lock.a")));
}

#[tokio::test(start_paused = true)]
async fn of_two_who_say_yes_at_once_one_is_too_late() {
    let (book, count) = book();
    let id = waits(book.file(question("s", "lock.a"))).id;
    let (one, two) = tokio::join!(book.decide(&id, true, person()), book.decide(&id, true, person()));
    assert_eq!([one.is_ok(), two.is_ok()].iter().filter(|ok| **ok).count(), 1);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_no_or_after_its_time_nothing_is_done_and_the_same_is_not_asked_for_a_while() {
    let (book, count) = book();
    let no = waits(book.file(question("s", "lock.a"))).id;
    assert_eq!(book.decide(&no, false, person()).await.unwrap().state, State::Denied);
    assert!(matches!(book.file(question("s", "lock.a")), Filed::CoolDown(60)));
    let late = waits(book.file(question("s", "lock.b"))).id;
    tokio::time::advance(APPROVAL_LIFE).await;
    assert_eq!(book.decide(&late, true, person()).await, Err(NotDecided::Over));
    assert_eq!(book.get(&late).unwrap().state, State::Expired);
    assert!(matches!(book.file(question("s", "lock.b")), Filed::CoolDown(_)));
    waits(book.file(question("s", "lock.a")));
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_has_three_open_questions_and_all_have_thirty() {
    let (book, _) = book();
    for lock in ["lock.a", "lock.b", "lock.c"] {
        waits(book.file(question("s", lock)));
    }
    assert!(matches!(book.file(question("s", "lock.d")), Filed::TooMany));
    for other in 0..9 {
        for lock in ["lock.a", "lock.b", "lock.c"] {
            waits(book.file(question(&format!("s{other}"), lock)));
        }
    }
    assert!(matches!(book.file(question("new", "lock.a")), Filed::TooMany));
    assert_eq!(book.list().len(), APPROVALS_MAX);
    tokio::time::advance(APPROVAL_LIFE).await;
    waits(book.file(question("s", "lock.d")));
}

#[tokio::test(start_paused = true)]
async fn a_yes_that_nobody_waits_for_any_more_is_carried_out_to_its_end() {
    let book = Approvals::new(Audit::new(None), "run".into());
    let (begun, done) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (began, counted) = (begun.clone(), done.clone());
    book.carried_by(Arc::new(move |_| {
        let (began, counted) = (began.clone(), counted.clone());
        Box::pin(async move {
            began.notify_one();
            tokio::time::sleep(Duration::from_secs(30)).await;
            counted.fetch_add(1, Ordering::SeqCst);
            json!({ "ok": true })
        })
    }));
    let id = waits(book.file(question("s", "lock.a"))).id;
    tokio::select! {
        decided = book.decide(&id, true, person()) => panic!("{decided:?}"),
        () = begun.notified() => {}
    }
    assert!(book.done_already("s", &call("lock.a")).is_some_and(|shown| shown.state == State::Executing));
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(done.load(Ordering::SeqCst), 1);
    assert_eq!(book.get(&id).unwrap().state, State::Approved);
}

#[tokio::test(start_paused = true)]
async fn an_id_of_another_run_or_an_invented_one_names_nothing() {
    let (book, count) = book();
    waits(book.file(question("s", "lock.a")));
    for id in ["old-1", "run-2", "run-1 ", "", "run-01"] {
        assert_eq!(book.decide(id, true, person()).await, Err(NotDecided::Unknown), "{id}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn where_the_audit_cannot_be_written_a_yes_does_nothing_and_a_no_holds() {
    let book = Approvals::new(Audit::new(Some(std::path::Path::new("/proc/nowhere/audit.jsonl"))), "run".into());
    book.carried_by(Arc::new(|_| Box::pin(async { panic!("nothing may be carried out") })));
    let id = waits(book.file(question("s", "lock.a"))).id;
    assert_eq!(book.decide(&id, true, person()).await, Err(NotDecided::Audit));
    assert_eq!(book.get(&id).unwrap().state, State::Denied);
    let id = waits(book.file(question("s", "lock.b"))).id;
    assert_eq!(book.decide(&id, false, person()).await.unwrap().state, State::Denied);
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_what_has_become_something_else_is_told_as_changed_and_may_be_asked_again() {
    let book = Approvals::new(Audit::new(None), "run".into());
    book.carried_by(Arc::new(|_| Box::pin(async { json!({ "ok": false, "changed": true }) })));
    let mut heard = book.subscribe();
    let id = waits(book.file(question("s", "lock.a"))).id;
    assert_eq!(book.decide(&id, true, person()).await.unwrap().state, State::Changed);
    assert!(book.done_already("s", &call("lock.a")).is_none());
    waits(book.file(question("s", "lock.a")));
    let states: Vec<State> = std::iter::from_fn(|| heard.try_recv().ok()).map(|shown| shown.state).collect();
    assert_eq!(states, [State::Waiting, State::Changed, State::Waiting]);
}

#[test]
fn a_question_has_no_word_of_the_models() {
    let mut call = call("lock.a");
    call.data.insert("message".into(), json!("<b>say yes</b>"));
    let asking = Asking { session: "s", origin: Origin::Model, language: Language::English };
    let question = Question::new(&House::default(), &asking, &call, &decision("lock.a")).unwrap();
    let shown = serde_json::to_string(&Shown::new(&question, 1, "run")).unwrap();
    assert!(!shown.contains("say yes"), "{shown}");
    let _: Asked = question.asked;
}
