//! The npm library `@three-ws/home-bridge`, which a person would use instead, in a Node of its own.
//!
//! Start at [`Library::start`]; the other side is `xtask/clients/bench/home_bridge.mjs`. Invariant: it
//! is given the same house and asked for the same things.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::mcp::Memory;
use crate::{House, Node};

impl Node {
    pub const LIBRARY: &str = "home-bridge (npm)";
}

pub struct Library {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// From the start of the process to its modules being loaded.
    pub imported: Duration,
    /// From the start of the process to `connect()` having resolved.
    pub ready: Duration,
}

impl Library {
    pub fn start(node: &Node, house: &House) -> anyhow::Result<Self> {
        let mut command = Command::new(&node.program);
        command.arg(&node.script).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env("HOME_ASSISTANT_URL", &house.base_url).env("HOME_ASSISTANT_TOKEN", &house.token);
        let begun = Instant::now();
        let mut child = command.spawn().with_context(|| format!("starting {}", node.program))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut library = Self { child, input, output, imported: Duration::ZERO, ready: Duration::ZERO };
        library.expect("imported")?;
        library.imported = begun.elapsed();
        library.expect("ready")?;
        library.ready = begun.elapsed();
        Ok(library)
    }

    /// One call to its end, timed inside Node.
    pub fn call(&mut self, service: &str, entity_id: &str) -> anyhow::Result<Duration> {
        self.input.write_all(format!("{service} {entity_id}\n").as_bytes())?;
        let line = self.line()?;
        let ms: f64 = line.parse().with_context(|| format!("the library said {line:?}"))?;
        Ok(Duration::from_secs_f64(ms / 1000.0))
    }

    pub fn memory(&self) -> anyhow::Result<Memory> {
        Memory::of(self.child.id())
    }

    fn expect(&mut self, word: &str) -> anyhow::Result<()> {
        let line = self.line()?;
        ensure!(line == word, "the library said {line:?} where `{word}` was to come");
        Ok(())
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}
