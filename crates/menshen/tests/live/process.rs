//! The process of a house: killed, frozen, started again. Start at [`Process::of`]. Invariant: what
//! was frozen goes on when this is dropped.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::houses::TestHouse;

pub struct Process(Pid);

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = kill_process(self.0, Signal::CONT);
    }
}

impl Process {
    /// Home Assistant itself, not the launcher before it. None where it runs in a container.
    pub async fn of(house: &TestHouse) -> Option<Self> {
        let answer = home(&["status"], house).await;
        Some(Self(Pid::from_raw(i32::try_from(answer["house"]["pid"].as_i64()?).ok()?)?))
    }

    pub fn freeze(&self) {
        kill_process(self.0, Signal::STOP).unwrap();
    }

    pub fn thaw(&self) {
        kill_process(self.0, Signal::CONT).unwrap();
    }

    pub fn kill(&self) {
        kill_process(self.0, Signal::KILL).unwrap();
    }
}

/// Starts the house again where it was, with what it had.
pub async fn start_again(house: &TestHouse) {
    let answer = home(&["up"], house).await;
    assert_eq!(answer["baseUrl"], house.url, "it came up elsewhere");
}

async fn home(words: &[&str], house: &TestHouse) -> Value {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_menshen"));
    command.arg("home").args(words).args(["--name", &house.name, "--json"]);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
