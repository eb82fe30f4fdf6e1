//! The program at a terminal, by `script` of util-linux. Start at [`Terminal::start`].

use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::WAIT;

pub struct Terminal {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was shown and not yet waited for.
    shown: String,
}

impl Terminal {
    pub fn start(program: Command) -> Self {
        let program = program.as_std();
        // Not as a child of the shell, which would end by itself at a Ctrl-C.
        let mut line = format!("exec {}", program.get_program().to_str().unwrap());
        for word in program.get_args() {
            line.push_str(&format!(" '{}'", word.to_str().unwrap()));
        }
        let mut command = Command::new("script");
        command.args(["-qefc", &line, "/dev/null"]).env_clear().env("TERM", "xterm");
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().expect("`script` of util-linux");
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output, shown: String::new() }
    }

    pub async fn write(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).await.unwrap();
    }

    /// Reads until this is shown; what comes after it is waited for next.
    pub async fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let read = timeout(WAIT, self.output.read(&mut bytes)).await;
            let count = read.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.shown)).unwrap();
            assert_ne!(count, 0, "it ended without {text:?}: {:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    pub async fn end(mut self) -> Option<i32> {
        let mut rest = Vec::new();
        let (_, status) = timeout(WAIT, async { tokio::join!(self.output.read_to_end(&mut rest), self.child.wait()) })
            .await
            .expect("it does not end");
        status.unwrap().code()
    }
}
