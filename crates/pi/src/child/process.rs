//! The process of a pi child: how it is started, written to and ended. Start at [`Process::start`].
//!
//! Invariants: it gets the environment that it was given and nothing of ours; when it is gone, so is
//! everything that it started.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Options, version};
use crate::lines::{Line, Lines};

/// Limit: bytes of one record of pi; a longer one is skipped, and the log says so.
pub const PI_LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Limit: records on their way to a pi that does not read; further commands are refused.
pub const PI_UNREAD_MAX: usize = 256;
/// After SIGTERM; then SIGKILL.
const END_MAX: Duration = Duration::from_secs(3);
/// For the last words of one that has ended.
const DRAIN_MAX: Duration = Duration::from_millis(500);
/// What was started from there is known by this in its environment, whoever its parent is by now.
const MARK: &str = "MENSHEN_PI_CHILD";
/// More of a line of its standard error does not reach the log.
const STDERR_CHARS_MAX: usize = 2000;

pub struct Process {
    child: Child,
    group: Option<Pid>,
    mark: String,
    to_pi: mpsc::Sender<Value>,
    from_pi: Lines<ChildStdout>,
    exited: bool,
    /// Writing to it, and reading its standard error.
    tasks: JoinSet<()>,
}

/// With the environment and the folder, and no arguments yet.
pub fn command(options: &Options) -> Command {
    let mut command = Command::new(&options.bin);
    command.current_dir(&options.cwd).env_clear().envs(options.environment.iter().cloned());
    command
}

impl Process {
    pub fn start(options: &Options, arguments: &[String], mark: String) -> Result<Self, String> {
        let mut command = command(options);
        command.args(["--mode", "rpc"]).args(arguments).env(MARK, &mark);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => version::not_found(options),
            _ => format!("`{}` cannot be run: {error}; check PI_BIN and its rights", options.bin.display()),
        })?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("pi has no standard input or output".to_owned());
        };
        let (to_pi, records) = mpsc::channel(PI_UNREAD_MAX);
        let mut tasks = JoinSet::new();
        tasks.spawn(write(stdin, records));
        if let Some(stderr) = child.stderr.take() {
            tasks.spawn(log(stderr));
        }
        Ok(Self { child, group, mark, to_pi, from_pi: Lines::new(stdout, PI_LINE_BYTES_MAX), exited: false, tasks })
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// What it says next; None when it has ended. May be dropped: nothing is lost.
    pub async fn next(&mut self) -> Option<Line> {
        if !self.exited {
            tokio::select! {
                biased;
                line = self.from_pi.next() => return line.ok().flatten(),
                _ = self.child.wait() => self.exited = true,
            }
        }
        // What it said before its end; something that it started may hold the pipe open.
        tokio::time::timeout(DRAIN_MAX, self.from_pi.next()).await.ok()?.ok().flatten()
    }

    /// False where it does not read.
    pub fn send(&self, record: Value) -> bool {
        self.to_pi.try_send(record).is_ok()
    }

    /// Ends it with everything that it started; how it ended.
    pub async fn end(mut self) -> String {
        self.signal(Signal::TERM);
        let status = match tokio::time::timeout(END_MAX, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                self.signal(Signal::KILL);
                self.child.wait().await
            }
        };
        self.reap().await;
        self.tasks.shutdown().await;
        match status {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    fn signal(&self, signal: Signal) {
        if let (Some(group), Some(_)) = (self.group, self.child.id()) {
            // It may have ended by itself.
            let _gone = kill_process_group(group, signal);
        }
    }

    /// Its children have groups of their own and outlive it.
    async fn reap(&self) {
        let mark = format!("{MARK}={}", self.mark);
        let deadline = tokio::time::Instant::now() + END_MAX;
        let mut signal = Signal::TERM;
        loop {
            let left = marked(&mark);
            if left.is_empty() {
                return;
            }
            if tokio::time::Instant::now() > deadline {
                signal = Signal::KILL;
            }
            for pid in left {
                let _gone = kill_process(pid, signal);
            }
            if signal == Signal::KILL {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Processes with this in their environment. Where the system shows no `/proc`, none.
fn marked(mark: &str) -> Vec<Pid> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        // One of another user, or gone: not ours. One that has ended has no environment.
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    })
    .filter_map(Pid::from_raw)
    .collect()
}

async fn write(mut stdin: ChildStdin, mut records: mpsc::Receiver<Value>) {
    while let Some(record) = records.recv().await {
        let mut line = record.to_string();
        line.push('\n');
        // A pi that is gone is noticed by the end of its output.
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn log(stderr: tokio::process::ChildStderr) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let text: String = String::from_utf8_lossy(&line).trim_end().chars().take(STDERR_CHARS_MAX).collect();
        if !text.is_empty() {
            tracing::warn!(target: "pi", "{text}");
        }
    }
}
