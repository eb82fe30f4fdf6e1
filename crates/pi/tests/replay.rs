//! Recorded conversations with pi, played again through a child that speaks the recorded lines, and a child
//! that does what no pi should. The child is this test binary once more, see [`play`]; no Node.js is needed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the lints know test functions, but not what they call")]

use std::io::{BufRead, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use kernel::ports::*;
use pi::{ChildOptions, PiChild};
use serde_json::{Map, Value, json};

mod captures;

const STEER: Option<StreamingBehavior> = Some(StreamingBehavior::Steer);
const FOLLOW: Option<StreamingBehavior> = Some(StreamingBehavior::FollowUp);
const MAX: Duration = Duration::from_secs(30);

/// Not a test by itself: the child. It does nothing where no capture is named.
#[test]
fn the_child() {
    let Ok(capture) = std::env::var("PI_CAPTURE") else { return };
    // The test runner has begun a line of its own.
    println!();
    match capture.as_str() {
        "odd" => odd(),
        name => play(name),
    }
    std::process::exit(0);
}

/// Speaks the recorded lines: after each recorded command, once its like has come, what pi said to it.
fn play(name: &str) {
    let text = std::fs::read_to_string(captures::path(name)).unwrap();
    let mut lines = std::io::stdin().lock().lines();
    let mut ids: Map<String, Value> = Map::new();
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let record = &line["rec"];
        match line["dir"].as_str().unwrap() {
            "in" if asked_for(record) => {
                let Some(came) = next_like(&mut lines, record) else { return };
                ids.insert(record["id"].as_str().unwrap_or_default().to_owned(), came["id"].clone());
            }
            "out" if record["type"] == "response" => {
                if let Some(id) = record["id"].as_str().and_then(|id| ids.get(id)) {
                    let mut record = record.clone();
                    record["id"] = id.clone();
                    say(&record);
                }
            }
            "out" => say(record),
            "exit" if line["how"] != "eof" => return,
            _ => {}
        }
    }
    while next_like(&mut lines, &json!({"type": "nothing"})).is_some() {}
}

/// The test's own commands; the others of the record are left out.
fn asked_for(record: &Value) -> bool {
    let kind = record["type"].as_str().unwrap_or_default();
    let asked = ["prompt", "steer", "follow_up", "abort", "new_session", "abort_retry", "set_auto_retry"];
    asked.contains(&kind)
}

/// The next command of this kind; what else comes is answered as an idle pi does.
fn next_like(lines: &mut impl Iterator<Item = std::io::Result<String>>, like: &Value) -> Option<Value> {
    let kind = like["type"].as_str().unwrap_or_default();
    let prompts = ["prompt", "steer", "follow_up"];
    for line in lines {
        let command: Value = serde_json::from_str(&line.ok()?).unwrap();
        assert!(command.is_object(), "only objects are written");
        let came = command["type"].as_str().unwrap_or_default();
        if came == kind || prompts.contains(&came) && prompts.contains(&kind) {
            return Some(command);
        }
        let data = match came {
            "get_state" => json!({ "isStreaming": false, "pendingMessageCount": 0, "sessionId": "s" }),
            "get_commands" => json!({ "commands": [] }),
            "clear_queue" => {
                say(&json!({ "type": "queue_update", "steering": [], "followUp": [] }));
                json!({ "steering": [], "followUp": [] })
            }
            _ => Value::Null,
        };
        say(&json!({ "id": command["id"], "type": "response", "command": came, "success": true, "data": data }));
    }
    None
}

/// What no pi should do: words that are no records, a record without end, silence.
fn odd() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let command: Value = serde_json::from_str(&line).unwrap();
        let id = &command["id"];
        match command["type"].as_str().unwrap_or_default() {
            "get_state" => {
                println!("null\n[]\n\"words\"\n{{broken\n{{\"no\":\"type\"}}\n");
                say(
                    &json!({ "id": id, "type": "response", "command": "get_state", "success": true, "data": { "isStreaming": false } }),
                );
            }
            "get_tree" => say(
                &json!({ "type": "response", "command": "get_tree", "success": false, "error": "Unknown command: get_tree" }),
            ),
            "get_messages" => (0..20_000).for_each(|at| say(&json!({ "type": "new_in_2.0", "at": at }))),
            "get_commands" => say(
                &json!({ "id": id, "type": "response", "command": "get_commands", "success": true, "data": { "commands": [] } }),
            ),
            "prompt" if command["message"] == "die" => std::process::exit(3),
            "prompt" => say(&json!({ "id": id, "type": "response", "command": "prompt", "success": true })),
            _ => {}
        }
    }
}

fn say(record: &Value) {
    let mut out = std::io::stdout().lock();
    let _nobody_reads = writeln!(out, "{record}").and_then(|()| out.flush());
}

/// A program that is this binary, playing.
fn bin(folder: &Path, version: &str) -> std::path::PathBuf {
    let bin = folder.join("pi");
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo {version} >&2; exit 0; fi\nexec '{}' --exact the_child --nocapture --test-threads=1\n",
        exe.display()
    );
    // Written beside and moved: a file that is open for writing cannot be run.
    let beside = folder.join("pi.new");
    std::fs::write(&beside, script).unwrap();
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&beside, &bin).unwrap();
    bin
}

struct Played {
    child: PiChild,
    _folder: tempfile::TempDir,
}

fn options(folder: &Path, capture: &str) -> ChildOptions {
    let version = if capture.starts_with("v1.6.0") { "1.6.0" } else { "0.74.2" };
    let path = std::env::var("PATH").unwrap();
    ChildOptions {
        bin: bin(folder, version),
        cwd: folder.to_owned(),
        environment: vec![("PI_CAPTURE".into(), capture.into()), ("PATH".into(), path)],
        backoff: Duration::from_millis(100),
        ..ChildOptions::default()
    }
}

impl Played {
    fn new(capture: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { child: PiChild::start(options(folder.path(), capture)), _folder: folder }
    }

    async fn submit(&self, text: &str, behavior: Option<StreamingBehavior>) -> Submitted {
        self.child.submit(prompt(text, behavior)).await.unwrap()
    }

    async fn command(&self, kind: &str) -> Result<Map<String, Value>, Failure> {
        let command = serde_json::from_value(json!({ "type": kind, "id": "mine" })).unwrap();
        tokio::time::timeout(MAX, self.child.command("main", command)).await.expect("it answers")
    }
}

fn prompt(text: &str, behavior: Option<StreamingBehavior>) -> Prompt {
    Prompt { job: text.into(), text: text.into(), behavior, ..Prompt::default() }
}

async fn ended(mut submitted: Submitted) -> Outcome {
    let waited = submitted.progress.wait_for(|progress| matches!(progress, Progress::Ended(_)));
    match tokio::time::timeout(MAX, waited).await.expect("it ends").unwrap().clone() {
        Progress::Ended(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// In both dialects: these prompts, one after the other as soon as the one before was accepted, end so.
async fn check(number: &str, prompts: &[(&str, Option<StreamingBehavior>, Ended, &str)]) {
    for version in ["v0.74.2", "v1.6.0"] {
        let capture = format!("{version}-{number}");
        let played = Played::new(&capture);
        let mut events = played.child.events();
        let mut waiting = vec![];
        for (text, behavior, ..) in prompts {
            waiting.push(played.submit(text, *behavior).await);
        }
        for (submitted, (text, _, wanted, answer)) in waiting.into_iter().zip(prompts) {
            let outcome = ended(submitted).await;
            assert_eq!(outcome.ended, *wanted, "{capture}: {text}: {outcome:?}");
            let said = outcome.answer.unwrap_or_default();
            assert!(said.starts_with(answer), "{capture}: {text}: {said}");
        }
        let mut settled = 0;
        while let Ok(event) = events.try_recv() {
            settled += usize::from(event.record["type"] == "agent_settled");
        }
        assert_eq!(settled, 1, "{capture}: a run is settled once, in either dialect");
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_the_answer() {
    check("01-prompt-text", &[("hello pi", None, Ended::Done, "Mock reply to: hello pi")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_after_a_tool_is_the_answer() {
    check("02-prompt-tool-text", &[("please TOOL now", None, Ended::Done, "Mock reply to: please TOOL now")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_answered_in_its_order_each_with_its_own() {
    let prompts = [
        ("SLOW first", None, Ended::Done, "w0 w1"),
        ("second as followUp", FOLLOW, Ended::Done, "Mock reply to: second as followUp"),
        ("third as steer", STEER, Ended::Done, "Mock reply to: third as steer"),
        ("fourth via follow_up", FOLLOW, Ended::Done, "Mock reply to: fourth via follow_up"),
    ];
    // The record has a prompt in it that pi refused.
    for version in ["v0.74.2", "v1.6.0"] {
        let played = Played::new(&format!("{version}-04-queue-followup-steer"));
        let first = played.submit(prompts[0].0, prompts[0].1).await;
        let refused = played.child.submit(prompt("second without behaviour", None)).await.err().unwrap();
        assert!(refused.message.contains("already processing"));
        let mut waiting = vec![first];
        for (text, behavior, ..) in &prompts[1..] {
            waiting.push(played.submit(text, *behavior).await);
        }
        for (submitted, (text, _, _, answer)) in waiting.into_iter().zip(&prompts) {
            assert!(ended(submitted).await.answer.unwrap().starts_with(answer), "{text}");
        }
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thought_is_not_the_answer() {
    for version in ["v0.74.2", "v1.6.0"] {
        let played = Played::new(&format!("{version}-12-thinking-models"));
        let outcome = ended(played.submit("THINK hard", None).await).await;
        assert_eq!(outcome.answer.as_deref(), Some("Mock reply to: THINK hard"));
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_steer_in_a_tool_is_answered_together_with_what_it_joined() {
    let answer = "Mock reply to: steer in tool";
    check(
        "19-steer-in-tool",
        &[("SLOWTOOL TOOL", None, Ended::Done, answer), ("steer in tool", STEER, Ended::Done, answer)],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_that_all_fail_are_one_failure() {
    check("23-retry-exhausted", &[("ERR500 again", None, Ended::Failed, "")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_between_two_attempts_is_an_abort() {
    for version in ["v0.74.2", "v1.6.0"] {
        let played = Played::new(&format!("{version}-17-drop-retry"));
        let dropped = played.submit("DROP it", None).await;
        assert_eq!(played.command("abort").await.unwrap()["success"], true);
        assert_eq!(ended(dropped).await.ended, Ended::Aborted);
        assert_eq!(played.command("set_auto_retry").await.unwrap()["id"], "mine");
        let outcome = ended(played.submit("ERR503 x", None).await).await;
        assert_eq!(outcome.ended, Ended::Failed);
        assert!(outcome.error.unwrap().contains("503"));
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_leaves_what_was_said_by_then() {
    for version in ["v0.74.2", "v1.6.0"] {
        let played = Played::new(&format!("{version}-03-abort"));
        let running = played.submit("SLOW story", None).await;
        played.command("abort").await.unwrap();
        let outcome = ended(running).await;
        assert_eq!((outcome.ended, outcome.answer.as_deref()), (Ended::Aborted, Some("w0 w1 w2 w3 ")));
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_conversation_ends_what_ran_in_either_dialect() {
    for version in ["v0.74.2", "v1.6.0"] {
        let played = Played::new(&format!("{version}-16-new_session-midstream"));
        let running = played.submit("SLOW newsession", None).await;
        played.command("new_session").await.unwrap();
        assert_eq!(ended(running).await.ended, Ended::Aborted);
        let fresh = ended(played.submit("fresh", None).await).await;
        assert_eq!(fresh.answer.as_deref(), Some("Mock reply to: fresh"));
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pi_that_dies_loses_its_prompt_and_is_started_again() {
    for version in ["v0.74.2", "v1.6.0"] {
        let played = Played::new(&format!("{version}-07-crash-sigkill"));
        let outcome = ended(played.submit("SLOW doomed", None).await).await;
        assert_eq!(outcome.ended, Ended::Lost);
        let again = ended(played.submit("SLOW doomed once more", None).await).await;
        assert_eq!(again.ended, Ended::Lost, "it plays the same again");
        played.child.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pi_that_is_not_there_is_named_with_the_cure_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), "v1.6.0-01-prompt-text");
    let (there, away) = (options.bin.clone(), folder.path().join("elsewhere"));
    std::fs::rename(&there, &away).unwrap();
    let child = PiChild::start(options);
    let deadline = Instant::now() + MAX;
    while child.status().error.is_none() {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(10)).await; // deadline above
    }
    let status = child.status();
    assert!(!status.running && !status.ready);
    assert!(status.error.unwrap().contains("npm install"));
    let state = serde_json::from_value(json!({ "type": "get_state" })).unwrap();
    let refused = child.command("main", state).await.err().unwrap();
    assert!(refused.message.contains("is not there"), "at once, not after a wait: {}", refused.message);
    let waits = child.submit(prompt("hello pi", None));
    let comes = async {
        tokio::task::yield_now().await;
        std::fs::rename(&away, &there).unwrap();
    };
    let (submitted, ()) = tokio::join!(waits, comes);
    assert_eq!(ended(submitted.unwrap()).await.answer.as_deref(), Some("Mock reply to: hello pi"));
    child.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_word_of_a_child_ends_us_and_a_slow_listener_holds_nothing_up() {
    let played = Played::new("odd");
    // Never read from: it only lags.
    let mut slow = played.child.events();
    let tree = played.command("get_tree").await.unwrap();
    assert_eq!((&tree["success"], &tree["id"]), (&json!(false), &json!("mine")), "older releases answer without an id");
    let child = &played.child;
    let flood = child.command("main", serde_json::from_value(json!({ "type": "get_messages" })).unwrap());
    let after = async {
        let mut seen = child.events();
        loop {
            match tokio::time::timeout(MAX, seen.recv()).await.expect("it comes") {
                Ok(event) if event.record["at"] == 19_999 => break,
                Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
    tokio::select! {
        _ = flood => panic!("it is never answered"),
        () = after => {}
    }
    assert!(matches!(slow.try_recv(), Err(tokio::sync::broadcast::error::TryRecvError::Lagged(_))));
    let accepted = played.submit("hello", FOLLOW).await;
    let died = played.child.submit(prompt("die", FOLLOW)).await.err().unwrap();
    assert!(died.message.contains("pi ended"), "{}", died.message);
    assert_eq!(ended(accepted).await.ended, Ended::Lost);
    played.child.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pi_took_and_never_began_is_lost_and_said_to_be() {
    let played = Played::new("odd");
    let outcome = ended(played.submit("hello", FOLLOW).await).await;
    assert_eq!(outcome.ended, Ended::Lost);
    assert!(outcome.error.unwrap().contains("did nothing"));
    let handled = ended(played.submit("/reload", FOLLOW).await).await;
    assert_eq!((handled.ended, handled.answer), (Ended::Done, None), "a slash command that says nothing is done");
    played.child.close().await;
}
