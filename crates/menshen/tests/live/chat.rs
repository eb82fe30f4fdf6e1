//! `menshen chat` and `menshen serve` as people run them: the real program, a household of its own for each
//! test, language models that say what a test tells them to. Start at [`Household`].

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Protocol, ScriptedModel};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout};

use super::houses::{TestHouse, raw, states};

#[path = "chat/approvals.rs"]
mod approvals;
#[path = "chat/keep.rs"]
mod keep;
#[path = "chat/llm_check.rs"]
mod llm_check;
#[path = "chat/models.rs"]
mod models;
#[path = "chat/plain.rs"]
mod plain;
#[path = "chat/serve.rs"]
mod serve;
#[path = "chat/stopping.rs"]
mod stopping;
#[path = "chat/terminal.rs"]
mod terminal;
#[path = "chat/undo.rs"]
mod undo;

const WAIT: Duration = Duration::from_secs(60);
pub const PROTOCOLS: [Protocol; 3] = [Protocol::OpenAi, Protocol::Anthropic, Protocol::Ollama];

pub fn kind(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenAi => "openai",
        Protocol::Anthropic => "anthropic",
        Protocol::Ollama => "ollama",
    }
}

/// The block of the configuration for a model.
pub fn source(name: &str, protocol: Protocol, model: &ScriptedModel, priority: i32) -> String {
    let (kind, url) = (kind(protocol), &model.url);
    format!(
        "[[llm.sources]]\nname = \"{name}\"\nkind = \"{kind}\"\nbase_url = \"{url}\"\nmodel = \"scripted\"\nkey = \"sk-very-hidden-key\"\npriority = {priority}\n"
    )
}

/// A folder, a configuration and a house.
pub struct Household<'a> {
    house: &'a TestHouse,
    folder: tempfile::TempDir,
}

/// One message and what came of it.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub aside: String,
}

impl Said {
    /// The lines of `--json`.
    pub fn events(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(read).collect()
    }

    pub fn of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The answer as `--json` gives it.
    pub fn answered(&self) -> Value {
        let ended = self.of("turn_ended");
        assert_eq!(ended.len(), 1, "{self:?}");
        ended[0]["answered"].clone()
    }

    pub fn reply(&self) -> String {
        self.answered()["reply"].as_str().unwrap().to_owned()
    }

    /// Whether each call succeeded, in order.
    pub fn results(&self) -> Vec<(String, bool)> {
        let one = |event: Value| {
            let result = &event["result"];
            (result["name"].as_str().unwrap().to_owned(), result["success"] == true)
        };
        self.of("tool_ended").into_iter().map(one).collect()
    }
}

impl<'a> Household<'a> {
    pub fn new(house: &'a TestHouse, configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Self { house, folder };
        made.configure(configuration);
        made
    }

    pub fn configure(&self, configuration: &str) {
        std::fs::write(self.path("menshen.toml"), configuration).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with this household and nothing of the machine's.
    pub fn menshen(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_menshen"));
        command.args(words).env_clear().env("HOME", self.folder.path());
        command.env("XDG_STATE_HOME", self.folder.path()).env("MENSHEN_CONFIG", self.path("menshen.toml"));
        command.env("MENSHEN_DATA", self.path("data")).env("MENSHEN_LANGUAGE", "en");
        command.env("HOME_ASSISTANT_URL", &self.house.url).env("HOME_ASSISTANT_TOKEN", &self.house.token);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    pub async fn run(&self, words: &[&str]) -> Said {
        ended(self.menshen(words).spawn().unwrap()).await
    }

    pub async fn chat(&self, text: &str) -> Said {
        self.run(&["chat", text]).await
    }

    pub async fn chat_json(&self, text: &str) -> Said {
        self.run(&["chat", "--json", text]).await
    }

    pub async fn serve(&self) -> Serve {
        let mut child = self.menshen(&["serve"]).spawn().unwrap();
        let mut aside = BufReader::new(child.stderr.take().unwrap()).lines();
        loop {
            let line = timeout(WAIT, aside.next_line()).await.expect("no start").unwrap().expect("it ended");
            if line.contains("joins it") {
                break;
            }
        }
        let socket = self.path("data/menshen.sock");
        until("the socket", async || socket.exists()).await;
        // What it says further must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = aside.next_line().await {} });
        Serve { child }
    }
}

pub async fn ended(mut child: Child) -> Said {
    let (mut out, mut aside) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let all = async { tokio::join!(stdout.read_to_string(&mut out), stderr.read_to_string(&mut aside), child.wait()) };
    let (_, _, status) = timeout(WAIT, all).await.expect("the program does not end");
    Said { code: status.unwrap().code(), out, aside }
}

/// A running `menshen serve`.
pub struct Serve {
    pub child: Child,
}

impl Serve {
    /// As a power cut ends it.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub async fn end(mut self) -> Option<i32> {
        signal(&self.child, Signal::TERM);
        timeout(WAIT, self.child.wait()).await.expect("it does not end").unwrap().code()
    }
}

pub fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// `menshen chat --json` that is told one line after the other.
pub struct Talk {
    pub child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    pub fn start(household: &Household) -> Self {
        let mut command = household.menshen(&["chat", "--json"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output }
    }

    pub async fn tell(&mut self, text: &str) {
        self.input.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    pub async fn event(&mut self) -> Value {
        let line = timeout(WAIT, self.output.next_line()).await.expect("no event").unwrap().expect("it ended");
        serde_json::from_str(&line).unwrap()
    }

    /// The next event of this kind.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.event().await;
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Says it and gives the answer.
    pub async fn say(&mut self, text: &str) -> Value {
        self.tell(text).await;
        self.until("turn_ended").await["answered"].clone()
    }

    pub async fn end(mut self) -> Option<i32> {
        drop(self.input);
        timeout(WAIT, self.child.wait()).await.expect("it does not end").unwrap().code()
    }
}

/// Polls with a deadline.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + WAIT;
    while !holds().await {
        assert!(Instant::now() < deadline, "not within the deadline: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await; // deadline of the loop around it
    }
}

impl TestHouse {
    /// As the house says it, over a second connection.
    pub async fn state(&self, id: &str) -> Value {
        let mut wire = self.wire().await;
        states(&mut wire).await.remove(id).unwrap_or_else(|| panic!("no {id}"))
    }

    pub async fn is(&self, id: &str, state: &str) -> bool {
        self.state(id).await["state"] == state
    }

    /// By hand, past the gate.
    pub async fn put(&self, service: &str, id: &str, mut data: Value) {
        let (domain, service) = service.split_once('.').unwrap();
        data["entity_id"] = json!(id);
        raw(&mut self.wire().await, domain, service, data, None).await.unwrap();
    }
}

/// No key of a model is in what the program wrote or says.
pub fn no_key_in(folder: &Path, said: &Said) {
    assert!(!said.out.contains("sk-very-hidden") && !said.aside.contains("sk-very-hidden"), "{said:?}");
    for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = std::fs::read(entry.path()).unwrap();
        let found = bytes.windows(14).any(|window| window == b"sk-very-hidden");
        assert!(!found, "{}", entry.path().display());
    }
}
