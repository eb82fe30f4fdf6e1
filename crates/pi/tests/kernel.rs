//! The kernel as a brain: its answers, and what it tells in pi's events. The world is the kernel's own of its
//! tests: a store and a model in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the lints know test functions, but not what they call")]

use std::sync::Arc;
use std::time::Duration;

// The world says `crate::…`, as in the kernel.
use kernel::ports::*;
pub use kernel::{agent, message, ports, turn};
use pi::KernelBrain;
use sdk::{ToolDef, tool_handler};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::broadcast;

mod captures;
#[path = "../../kernel/src/agent/tests/world.rs"]
#[allow(dead_code)]
mod world;

use world::{Memory, Say, World};

impl Outbox for Memory {
    fn undelivered(&self, _count: usize) -> BoxFuture<'_, Result<Vec<Outgoing>, Failure>> {
        let undone = self.0.lock().unwrap().undone.clone();
        let kept = self.0.lock().unwrap();
        let waiting = kept.answers.iter().enumerate().map(|(at, answered)| Outgoing {
            id: at as i64,
            turn: answered.turn.clone(),
            ..Outgoing::default()
        });
        let waiting = waiting.filter(|reply| !undone.contains(&format!("delivered {}", reply.id))).collect();
        Box::pin(std::future::ready(Ok(waiting)))
    }

    fn delivered(&self, id: i64) -> BoxFuture<'_, Result<bool, Failure>> {
        self.0.lock().unwrap().undone.push(format!("delivered {id}"));
        Box::pin(std::future::ready(Ok(true)))
    }
}

/// A brain over a world, with what it told so far.
struct Told {
    world: World,
    brain: KernelBrain,
    events: broadcast::Receiver<BrainEvent>,
}

impl Told {
    async fn saying(says: &[Say]) -> Self {
        Self::over(Memory::default(), says).await
    }

    async fn over(memory: Memory, says: &[Say]) -> Self {
        let world = World::over(memory, says);
        let brain = KernelBrain::new(world.agent.clone(), Arc::new(world.memory.clone()));
        let events = brain.events();
        world.agent.run().await.unwrap();
        Self { world, brain, events }
    }

    async fn submit(&self, job: &str, text: &str, behavior: Option<StreamingBehavior>) -> Submitted {
        self.brain.submit(prompt(job, text, behavior)).await.unwrap()
    }

    async fn say(&self, job: &str, text: &str) -> Outcome {
        ended(self.submit(job, text, None).await).await
    }

    async fn command(&self, command: Value) -> Map<String, Value> {
        let Value::Object(command) = command else { panic!("not an object") };
        self.brain.command("main", command).await.unwrap()
    }

    /// All records up to `agent_settled`.
    async fn until_settled(&mut self) -> Vec<Arc<Value>> {
        let mut records = vec![];
        loop {
            let event = tokio::time::timeout(Duration::from_secs(60), self.events.recv()).await;
            let record = event.expect("it settles").unwrap().record;
            records.push(record.clone());
            if record["type"] == "agent_settled" {
                return records;
            }
        }
    }
}

fn prompt(job: &str, text: &str, behavior: Option<StreamingBehavior>) -> Prompt {
    let principal = Principal { channel: "http".into(), ..Principal::default() };
    Prompt { job: job.into(), text: text.into(), behavior, principal, ..Prompt::default() }
}

async fn ended(mut submitted: Submitted) -> Outcome {
    let waited = submitted.progress.wait_for(|progress| matches!(progress, Progress::Ended(_)));
    match tokio::time::timeout(Duration::from_secs(60), waited).await.expect("it ends").unwrap().clone() {
        Progress::Ended(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

const STEER: Option<StreamingBehavior> = Some(StreamingBehavior::Steer);
const FOLLOW: Option<StreamingBehavior> = Some(StreamingBehavior::FollowUp);

fn lock_tool(world: &World) {
    let def = ToolDef { name: "lock".into(), ..ToolDef::default() };
    world.agent.tools().register("house", def, tool_handler(|_, _| async { Ok(json!({ "locked": true })) })).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_plain_answer_is_told_in_the_order_and_with_the_fields_of_pi() {
    let mut told = Told::saying(&[Say::Text("Mock reply to: hello pi")]).await;
    let outcome = told.say("j1", "hello pi").await;
    assert_eq!((outcome.ended, outcome.answer.as_deref()), (Ended::Done, Some("Mock reply to: hello pi")));
    assert_eq!(outcome.usage["totalTokens"], 110);
    let records = told.until_settled().await;
    captures::same_shape(&records, "v1.6.0-01-prompt-text", &[]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_told_in_the_order_and_with_the_fields_of_pi() {
    let mut told = Told::saying(&[Say::Calls(vec![("lock", json!({"id": "front"}))]), Say::Text("locked")]).await;
    lock_tool(&told.world);
    assert_eq!(told.say("j1", "lock").await.answer.as_deref(), Some("locked"));
    let records = told.until_settled().await;
    // Its model says a word before the call, ours does not.
    captures::same_shape(&records, "v1.6.0-02-prompt-tool-text", &["text_"]);
    let call = records.iter().find(|record| record["type"] == "tool_execution_start").unwrap();
    assert_eq!((&call["toolName"], &call["args"]), (&json!("lock"), &json!({"id": "front"})));
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_answered_in_order_in_one_run_and_each_prompt_gets_its_own_answer() {
    let mut told = Told::saying(&[Say::Hang("I"), Say::Text("steered"), Say::Text("two"), Say::Text("three")]).await;
    let first = told.submit("j1", "first", None).await;
    assert_eq!(first.disposition, Disposition::Started);
    told.world.until(|world| world.requests().len() == 1).await;
    let second = told.submit("j2", "second", FOLLOW).await;
    assert_eq!(second.disposition, Disposition::Queued);
    let third = told.submit("j3", "third", FOLLOW).await;
    assert_eq!(told.command(json!({"type": "get_state"})).await["data"]["pendingMessageCount"], 2);
    let steer = told.submit("j4", "no, the back door", STEER).await;
    let answers = [ended(first).await, ended(steer).await, ended(second).await, ended(third).await];
    let answers: Vec<_> = answers.into_iter().map(|outcome| outcome.answer.unwrap()).collect();
    assert_eq!(answers, ["steered", "steered", "two", "three"], "who joined a turn is answered with it");
    let records = told.until_settled().await;
    let count = |kind: &str| records.iter().filter(|record| record["type"] == kind).count();
    assert_eq!((count("agent_start"), count("agent_end"), count("agent_settled")), (1, 1, 1));
    let users: Vec<&Value> = records
        .iter()
        .filter(|record| record["type"] == "message_start" && record["message"]["role"] == "user")
        .map(|record| &record["message"]["content"][0]["text"])
        .collect();
    assert_eq!(users, ["first", "no, the back door", "second", "third"]);
    captures::paired(&records);
}

#[tokio::test(start_paused = true)]
async fn abort_takes_back_what_waits_and_ends_what_runs() {
    let mut told = Told::saying(&[Say::Hang("long"), Say::Text("after")]).await;
    let running = told.submit("j1", "think long", None).await;
    told.world.until(|world| world.requests().len() == 1).await;
    let waits = told.submit("j2", "and then", FOLLOW).await;
    let response = told.command(json!({"type": "abort", "id": 7})).await;
    assert_eq!((&response["success"], &response["id"]), (&json!(true), &json!(7)));
    assert_eq!(response["data"]["cleared"]["followUp"], json!(["and then"]));
    let (running, waits) = (ended(running).await, ended(waits).await);
    assert_eq!((running.ended, waits.ended), (Ended::Aborted, Ended::Aborted));
    assert!(waits.error.unwrap().contains("before its turn"));
    let records = told.until_settled().await;
    assert_eq!(records.last().unwrap()["aborted"], true);
    captures::paired(&records);
    assert_eq!(told.say("j3", "hello").await.answer.as_deref(), Some("after"), "nothing of the queue was left");
    assert_eq!(told.world.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_same_job_finds_the_same_answer_over_a_restart() {
    let told = Told::saying(&[Say::Text("once")]).await;
    assert_eq!(told.say("j1", "do it").await.answer.as_deref(), Some("once"));
    assert!(told.world.memory.undelivered(9).await.unwrap().is_empty(), "the reply is not delivered a second time");
    told.brain.close().await;
    told.world.agent.close().await;
    let later = Told::over(told.world.memory.clone(), &[Say::Text("twice")]).await;
    let again = later.brain.resume(prompt("j1", "do it", None)).await.unwrap();
    assert_eq!(ended(again).await.answer.as_deref(), Some("once"));
    assert!(later.world.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_a_crash_cut_off_is_gone_on_with_and_its_job_ends() {
    let told = Told::saying(&[Say::Hang("I was")]).await;
    let lost = told.submit("j1", "do it", None).await;
    told.world.until(|world| world.requests().len() == 1).await;
    told.world.agent.close().await;
    drop(lost);
    let later = Told::over(told.world.memory.clone(), &[Say::Text("done after all")]).await;
    let again = later.brain.resume(prompt("j1", "do it", None)).await.unwrap();
    assert_eq!(ended(again).await.answer.as_deref(), Some("done after all"));
}

#[tokio::test(start_paused = true)]
async fn what_it_cannot_take_is_refused_and_nothing_is_accepted() {
    let told = Told::saying(&[Say::Hang("long")]).await;
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let with_image = Prompt { images: vec![image], ..prompt("j0", "look", None) };
    assert!(told.brain.submit(with_image).await.err().unwrap().message.contains("images"));
    assert!(told.brain.submit(prompt("j0", "  ", None)).await.is_err());
    let _running = told.submit("j1", "think", None).await;
    let refused = told.brain.submit(prompt("j2", "second", None)).await.err().unwrap();
    assert!(refused.message.starts_with("Agent is already processing"), "{}", refused.message);
    assert_eq!(told.world.memory.0.lock().unwrap().inputs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_ends_the_job_as_failed_with_the_cause() {
    let mut told = Told::saying(&[Say::Fail(SourceErrorKind::Auth)]).await;
    let outcome = told.say("j1", "hello").await;
    assert_eq!(outcome.ended, Ended::Failed);
    assert!(outcome.error.unwrap().contains("on purpose"));
    let records = told.until_settled().await;
    let end = records.iter().rev().find(|record| record["type"] == "message_end").unwrap();
    assert_eq!(end["message"]["stopReason"], "error");
    captures::paired(&records);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_cut_off_is_taken_back_and_given_again() {
    let mut told = Told::saying(&[Say::Cut("I wi"), Say::Text("I will")]).await;
    assert_eq!(told.say("j1", "hello").await.answer.as_deref(), Some("I will"));
    let records = told.until_settled().await;
    let reasons: Vec<_> = records
        .iter()
        .filter(|record| record["type"] == "message_end" && record["message"]["role"] == "assistant")
        .map(|record| (record["message"]["stopReason"].clone(), record["message"]["content"][0]["text"].clone()))
        .collect();
    assert_eq!(reasons, [(json!("aborted"), json!("I wi")), (json!("stop"), json!("I will"))]);
    captures::paired(&records);
}

/// Every command of pi 1.6.0.
const COMMANDS: &[&str] = &[
    "abort",
    "clear_queue",
    "new_session",
    "get_state",
    "get_messages",
    "get_last_assistant_text",
    "set_model",
    "cycle_model",
    "get_available_models",
    "set_thinking_level",
    "cycle_thinking_level",
    "get_available_thinking_levels",
    "set_steering_mode",
    "set_follow_up_mode",
    "compact",
    "set_auto_compaction",
    "set_auto_retry",
    "abort_retry",
    "bash",
    "abort_bash",
    "get_session_stats",
    "export_html",
    "switch_session",
    "fork",
    "clone",
    "get_fork_messages",
    "get_entries",
    "get_tree",
    "set_session_name",
    "get_commands",
];

#[tokio::test(start_paused = true)]
async fn every_command_of_pi_is_done_or_refused_as_not_supported() {
    let told = Told::saying(&[Say::Text("hello")]).await;
    told.say("j1", "hi").await;
    let page = include_str!("../../../docs/reference/pi.md");
    for name in COMMANDS {
        let response = told.command(json!({
            "type": name, "provider": "menshen", "modelId": "other", "level": "high", "mode": "all",
            "enabled": true, "name": "kitchen", "command": "ls"
        }));
        let response = response.await;
        let not_supported = response.get("code") == Some(&json!(pi::NOT_SUPPORTED));
        // A short conversation cannot be summed up, and `all` is not how messages wait here.
        let refused_here = matches!(*name, "compact" | "set_follow_up_mode");
        assert!(response["success"] == true || not_supported || refused_here, "{response:?}");
        assert_eq!(response["command"], *name);
        assert!(page.contains(&format!("`{name}`")), "docs/reference/pi.md says nothing of {name}");
    }
    let unknown = told.command(json!({"type": "dance", "id": "x"})).await;
    assert_eq!(
        Value::Object(unknown),
        json!({"id": "x", "type": "response", "command": "dance", "success": false, "error": "Unknown command: dance"})
    );
}

#[tokio::test(start_paused = true)]
async fn the_conversation_can_be_read_summed_up_and_begun_anew() {
    let says: Vec<Say> = ["a", "b", "c", "d", "the summary", "fresh"].map(Say::Text).to_vec();
    let told = Told::saying(&says).await;
    for (at, text) in ["1", "2", "3", "4"].into_iter().enumerate() {
        told.say(&format!("j{at}"), text).await;
    }
    let text = told.command(json!({"type": "get_last_assistant_text"})).await;
    assert_eq!(text["data"]["text"], "d");
    let stats = told.command(json!({"type": "get_session_stats"})).await;
    assert_eq!((&stats["data"]["userMessages"], &stats["data"]["tokens"]["total"]), (&json!(4), &json!(440)));
    let entries = told.command(json!({"type": "get_entries"})).await;
    let entries = entries["data"]["entries"].as_array().unwrap().clone();
    let since = told.command(json!({"type": "get_entries", "since": entries[5]["id"]})).await;
    assert_eq!(since["data"]["entries"].as_array().unwrap(), &entries[6..]);
    let compacted = told.command(json!({"type": "compact"})).await;
    assert!(compacted["data"]["summary"].as_str().unwrap().contains("the summary"), "{compacted:?}");
    let messages = told.command(json!({"type": "get_messages"})).await;
    assert_eq!(messages["data"]["messages"].as_array().unwrap().len(), 5);
    told.command(json!({"type": "new_session"})).await;
    let state = told.command(json!({"type": "get_state"})).await;
    assert_eq!(state["data"]["messageCount"], 0);
    assert_eq!(told.command(json!({"type": "get_last_assistant_text"})).await["data"], json!({}));
    assert_eq!(told.say("j9", "hi").await.answer.as_deref(), Some("fresh"));
    let shown = told.world.requests().pop().unwrap().messages;
    assert!(!shown.iter().any(|message| message.content() == "4"), "{shown:?}");
}

#[tokio::test(start_paused = true)]
async fn on_standard_input_each_command_is_answered_and_no_line_ends_it() {
    let told = Told::saying(&[Say::Text("one"), Say::Text("two")]).await;
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    let principal = Principal { channel: "rpc".into(), ..Principal::default() };
    let caller = pi::rpc::Caller { principal, session: "main".into(), run: "r".into() };
    let served = tokio::spawn(pi::rpc::serve(Arc::new(told.brain), caller, input, output));
    let (read, mut write) = tokio::io::split(ours);
    let mut lines = tokio::io::BufReader::new(read).lines();
    let mut next = async || {
        let line = tokio::time::timeout(Duration::from_secs(60), lines.next_line()).await.expect("it answers");
        line.unwrap().map(|line| serde_json::from_str::<Value>(&line).unwrap())
    };
    write.write_all(b"{\"id\":1,\"type\":\"prompt\",\"message\":\"hi\"}\r\n").await.unwrap();
    let response = next().await.unwrap();
    assert_eq!(
        response,
        json!({"id": 1, "type": "response", "command": "prompt", "success": true, "data": {"disposition": "started"}})
    );
    assert_eq!(next().await.unwrap()["type"], "agent_start", "the response comes before what it sets off");
    while next().await.unwrap()["type"] != "agent_settled" {}
    let broken: [(&[u8], &str); 5] = [
        (b"null\n", "Unknown command: undefined"),
        (b"[]\n", "Unknown command: undefined"),
        (b"no json\n", "Failed to parse command"),
        (b"{\"id\":\"x\"}\n", "Unknown command: undefined"),
        (b"{\"type\":\"prompt\"}\n", "`message` (string) is required"),
    ];
    for (line, error) in broken {
        write.write_all(line).await.unwrap();
        let response = next().await.unwrap();
        assert!(response["success"] == false && response["error"].as_str().unwrap().starts_with(error), "{response}");
    }
    // The last line without its end, and then the end of the input.
    write.write_all(b"{\"type\":\"get_last_assistant_text\",\"id\":\"last\"}").await.unwrap();
    write.shutdown().await.unwrap();
    assert_eq!(next().await.unwrap()["data"]["text"], "one");
    served.await.unwrap().unwrap();
}
