//! Whatever pi says, in whatever order: nothing panics, and each prompt ends once.

use proptest::prelude::*;

use super::*;

fn dialogue(abilities: Abilities, now: Instant) -> Dialogue {
    let mut dialogue = Dialogue::new("main".into(), broadcast::channel(16).0, DialogPolicy::default());
    dialogue.begin(abilities, [0; 32], now, PI_COMMAND_MAX);
    let ready = json!({ "id": "m1", "type": "response", "command": "get_state", "success": true, "data": {} });
    dialogue.heard(ready, now);
    dialogue
}

fn submit(dialogue: &mut Dialogue, text: &str, now: Instant) -> oneshot::Receiver<Result<Submitted, Failure>> {
    let (reply, answer) = oneshot::channel();
    let behavior = Some(StreamingBehavior::FollowUp);
    let prompt = Prompt { job: text.into(), text: text.into(), behavior, ..Prompt::default() };
    dialogue.submit(Sending { prompt, reply, context: [0; 32], give_up: now + PI_PROMPT_MAX }, now);
    answer
}

fn abilities(newer: bool) -> Abilities {
    Abilities { settles: newer, clears_queue: newer, tells_disposition: newer }
}

/// The id of the request of this kind that was written last.
fn written(dialogue: &Dialogue, kind: &str) -> Option<String> {
    let record = dialogue.out.iter().rev().find(|record| record["type"] == kind)?;
    record["id"].as_str().map(str::to_owned)
}

#[test]
fn one_prompt_is_on_its_way_at_a_time() {
    let now = Instant::now();
    let mut dialogue = dialogue(abilities(true), now);
    let _first = submit(&mut dialogue, "a", now);
    let _second = submit(&mut dialogue, "b", now);
    let sent = |dialogue: &Dialogue| dialogue.out.iter().filter(|record| record["type"] == "prompt").count();
    assert_eq!(sent(&dialogue), 1);
    let id = written(&dialogue, "prompt").unwrap();
    dialogue.heard(json!({ "id": id, "type": "response", "command": "prompt", "success": true, "data": { "disposition": "started" } }), now);
    assert_eq!(sent(&dialogue), 2);
}

/// Two prompts at once make the newer pi say that it is done when it has just begun.
#[test]
fn a_settled_that_comes_before_an_end_settles_nothing() {
    let now = Instant::now();
    let mut dialogue = dialogue(abilities(true), now);
    let mut answer = submit(&mut dialogue, "a", now);
    let id = written(&dialogue, "prompt").unwrap();
    dialogue.heard(json!({ "id": id, "type": "response", "command": "prompt", "success": true, "data": { "disposition": "started" } }), now);
    let submitted = answer.try_recv().unwrap().unwrap();
    for kind in ["agent_start", "agent_settled"] {
        dialogue.heard(json!({ "type": kind }), now);
    }
    let user = json!({ "role": "user", "content": [{ "type": "text", "text": "a" }] });
    dialogue.heard(json!({ "type": "message_start", "message": user }), now);
    assert_eq!(*submitted.progress.borrow(), Progress::Running);
    let said = json!({ "role": "assistant", "stopReason": "stop", "content": [{ "type": "text", "text": "b" }] });
    dialogue.heard(json!({ "type": "message_end", "message": said }), now);
    for kind in ["agent_end", "agent_settled"] {
        dialogue.heard(json!({ "type": kind }), now);
    }
    let Progress::Ended(outcome) = submitted.progress.borrow().clone() else { panic!("it has not ended") };
    assert_eq!((outcome.ended, outcome.answer.as_deref()), (Ended::Done, Some("b")));
}

#[test]
fn a_command_that_is_not_answered_fails_in_time_and_a_shell_is_ended() {
    let now = Instant::now();
    let mut dialogue = dialogue(abilities(true), now);
    let (reply, mut answer) = oneshot::channel();
    dialogue.command(object(json!({ "type": "bash", "command": "sleep 9999" })), reply, now);
    dialogue.time(now + PI_COMMAND_MAX, None);
    assert!(answer.try_recv().is_err(), "a shell takes its time");
    dialogue.time(now + PI_LONG_COMMAND_MAX, None);
    assert_eq!(answer.try_recv().unwrap().unwrap_err().kind, FailureKind::Timeout);
    assert!(written(&dialogue, "abort_bash").is_some());
}

fn record() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec!["a", "b", "c", "/d"]);
    let texts = prop::collection::vec(text.clone(), 0..4);
    let kinds = [
        "agent_start",
        "agent_end",
        "agent_settled",
        "auto_retry_start",
        "auto_retry_end",
        "compaction_end",
        "message_update",
        "turn_end",
        "new_in_2.0",
    ];
    let reason = prop::sample::select(vec!["stop", "toolUse", "error", "aborted", "length"]);
    prop_oneof![
        prop::sample::select(kinds.to_vec()).prop_map(|kind| json!({ "type": kind })),
        (texts.clone(), texts).prop_map(|(steering, follow)| json!({ "type": "queue_update", "steering": steering, "followUp": follow })),
        text.clone().prop_map(|text| json!({ "type": "message_start", "message": { "role": "user", "content": text } })),
        (text, reason).prop_map(|(text, reason)| json!({ "type": "message_end", "message": { "role": "assistant", "stopReason": reason, "content": [{ "type": "text", "text": text }] } })),
        (1..40_u64, any::<bool>(), prop::sample::select(vec!["started", "queued", "handled", "?"])).prop_map(|(id, success, what)| {
            json!({ "id": format!("m{id}"), "type": "response", "success": success, "data": { "disposition": what, "isStreaming": false } })
        }),
        Just(json!({ "type": "response", "success": false, "error": "Unknown command: abort" })),
        Just(json!({ "type": "extension_ui_request", "id": "u", "method": "confirm", "timeout": 5 })),
        Just(json!("no record")),
    ]
}

#[derive(Clone, Debug)]
enum Happens {
    Said(Value),
    Submitted(usize),
    Aborted,
    Time(u64),
    Gone,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => record().prop_map(Happens::Said),
        3 => (0..4_usize).prop_map(Happens::Submitted),
        1 => Just(Happens::Aborted),
        1 => (1..700_u64).prop_map(Happens::Time),
        1 => Just(Happens::Gone),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_each_prompt_ends_once(newer: bool, all in prop::collection::vec(happens(), 0..80)) {
        let mut now = Instant::now();
        let mut dialogue = dialogue(abilities(newer), now);
        let mut answers = vec![];
        for one in all {
            match one {
                Happens::Said(record) => dialogue.heard(record, now),
                Happens::Submitted(at) => answers.push(submit(&mut dialogue, ["a", "b", "c", "/d"][at], now)),
                Happens::Aborted => dialogue.command(object(json!({ "type": "abort" })), oneshot::channel().0, now),
                Happens::Time(secs) => {
                    now += Duration::from_secs(secs);
                    dialogue.time(now, None);
                }
                Happens::Gone => {
                    dialogue.gone("it went away", false);
                    dialogue.begin(abilities(newer), [0; 32], now, PI_COMMAND_MAX);
                    let id = written(&dialogue, "get_state").unwrap();
                    dialogue.heard(json!({ "id": id, "type": "response", "command": "get_state", "success": true, "data": {} }), now);
                }
            }
            prop_assert!(dialogue.out.iter().all(Value::is_object), "only objects are written");
        }
        dialogue.close("the end");
        for mut answer in answers {
            if let Ok(submitted) = answer.try_recv().expect("each is answered") {
                let ended = matches!(*submitted.progress.borrow(), Progress::Ended(_));
                prop_assert!(ended, "each that was accepted has ended");
            }
        }
    }
}
