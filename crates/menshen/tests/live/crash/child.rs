//! The real `menshen serve` as a child, over a folder that outlives it. Start at [`Place`] and [`Serve`].
//! Invariant: a child that ends by itself without having been asked to is a failure, with its own words.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::super::houses::TestHouse;

/// A start, also with much to go on with, and an end take no longer.
const READY_MAX: Duration = Duration::from_secs(20);
/// Lines of the child that are kept for a failure.
const WORDS_MAX: usize = 40;

pub struct Place {
    folder: tempfile::TempDir,
    environment: Vec<(&'static str, String)>,
}

impl Place {
    pub fn new(house: &TestHouse, model: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        // A window that fills now and then, so that summing up is killed as well.
        let configuration = format!(
            "[[llm.sources]]\nname = \"scripted\"\nkind = \"openai\"\nbase_url = \"{model}\"\nmodel = \"scripted\"\n\
             key = \"none\"\ncontext_tokens = 24000\n\n[budgets]\nday_tokens_max = 0\nturn_tokens_max = 0\n\
             day_cost_usd_micros_max = 0\nturn_cost_usd_micros_max = 0\n"
        );
        std::fs::write(folder.path().join("menshen.toml"), configuration).unwrap();
        let environment = vec![
            ("HOME_ASSISTANT_URL", house.url.clone()),
            ("HOME_ASSISTANT_TOKEN", house.token.clone()),
            ("HOME", path("home")),
            ("XDG_STATE_HOME", path("state")),
            ("MENSHEN_DATA", path("data")),
            ("MENSHEN_LOG", "warn".to_owned()),
        ];
        Self { folder, environment }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn socket(&self) -> PathBuf {
        self.data().join("menshen.sock")
    }

    pub fn audit(&self) -> PathBuf {
        self.folder.path().join("state/menshen/audit.jsonl")
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_menshen"));
        command.args(words).arg("--config").arg(self.folder.path().join("menshen.toml"));
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Waits until no message waits for its answer and no timer for its time; beside the running program.
    pub async fn until_nothing_waits(&self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        loop {
            let waiting = super::kept::waiting(&self.data()).await;
            if waiting == (0, 0) {
                return;
            }
            assert!(Instant::now() < deadline, "messages and timers that still wait: {waiting:?}");
            tokio::time::sleep(Duration::from_millis(50)).await; // until the deadline
        }
    }
}

pub struct Serve {
    child: Child,
    ready: watch::Receiver<bool>,
    words: Arc<Mutex<Vec<String>>>,
}

impl Serve {
    pub fn start(place: &Place) -> Self {
        let mut command = place.command(&["serve"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (tell, ready) = watch::channel(false);
        let words: Arc<Mutex<Vec<String>>> = Arc::default();
        let keep = words.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains("Serving the household") {
                    tell.send_replace(true);
                }
                let mut words = keep.lock().unwrap();
                if words.len() < WORDS_MAX {
                    words.push(line);
                }
            }
        });
        Self { child, ready, words }
    }

    pub async fn ready(&mut self, run: &str) {
        let waits = tokio::time::timeout(READY_MAX, self.ready.wait_for(|ready| *ready));
        let stands = matches!(waits.await, Ok(Ok(_)));
        assert!(stands, "{run}: it did not start: {}", self.words());
    }

    pub fn ask_to_end(&self) {
        let id = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).unwrap()));
        kill_process(id.unwrap(), Signal::TERM).unwrap();
    }

    pub async fn kill(mut self, run: &str, was_asked: bool) {
        let _ended_already = self.child.start_kill();
        let ended = self.child.wait().await.unwrap();
        let fine = ended.code().is_none() || was_asked && ended.success();
        assert!(fine, "{run}: it ended by itself with {ended}: {}", self.words());
        self.no_panic(run);
    }

    pub async fn end(mut self) {
        self.ask_to_end();
        let ended = tokio::time::timeout(READY_MAX, self.child.wait()).await.expect("it does not end").unwrap();
        assert!(ended.success(), "{ended}: {}", self.words());
        self.no_panic("the end");
    }

    fn no_panic(&self, run: &str) {
        assert!(!self.words().contains("panicked"), "{run}: {}", self.words());
    }

    fn words(&self) -> String {
        self.words.lock().unwrap().join("\n")
    }
}
