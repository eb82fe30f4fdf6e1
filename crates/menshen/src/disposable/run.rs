//! Runs another program with a deadline and says what went wrong. Start at [`run`].
//!
//! Invariant: a program that is no longer waited for is ended.

use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::process::Command;
use tokio::time::timeout;

/// Lines of a failed program's output that are worth showing.
const SHOWN_LINES_MAX: usize = 12;

/// The program's standard output; its last words when it fails.
pub async fn run(command: &mut Command, seconds: u64) -> Result<String> {
    let output = output(command, seconds).await?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    bail!("{} failed ({}):\n{}", shown(command), output.status, tail(&words.concat()))
}

/// Whether the program is there and succeeds.
pub async fn succeeds(command: &mut Command, seconds: u64) -> bool {
    output(command, seconds).await.is_ok_and(|output| output.status.success())
}

async fn output(command: &mut Command, seconds: u64) -> Result<Output> {
    command.kill_on_drop(true).stdin(Stdio::null());
    timeout(Duration::from_secs(seconds), command.output())
        .await
        .with_context(|| format!("{} did not end within {seconds} s", shown(command)))?
        .with_context(|| format!("cannot run {}", shown(command)))
}

pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES_MAX)..].join("\n")
}

fn shown(command: &Command) -> String {
    let std = command.as_std();
    let words = std::iter::once(std.get_program()).chain(std.get_args().take(4));
    format!("`{}`", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_failed_program_leaves_its_last_words() {
        let error = run(Command::new("sh").args(["-c", "echo first; echo last >&2; exit 3"]), 5).await.unwrap_err();
        assert!(error.to_string().contains("last"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_given_up() {
        let error = run(Command::new("sleep").arg("60"), 0).await.unwrap_err();
        assert!(error.to_string().contains("did not end within 0 s"), "{error}");
    }
}
