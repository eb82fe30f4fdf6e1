//! Which pi this is, and what it can do. Start at [`probe`]. Invariant: what a release does not have is not
//! sent to it; a version that cannot be read counts as the newest known.

use std::process::Stdio;
use std::time::Duration;

use super::Options;

/// A pi that has not told its version by then does not work.
const VERSION_MAX: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// What differs between releases and matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It says itself when all is done (`agent_settled`).
    pub settles: bool,
    pub clears_queue: bool,
    /// Its response to a prompt says what became of it.
    pub tells_disposition: bool,
}

impl Abilities {
    pub fn of(version: Option<Version>) -> Self {
        let from = |major, minor, patch| version.is_none_or(|version| version >= Version(major, minor, patch));
        Self { settles: from(0, 80, 4), clears_queue: from(0, 84, 4), tells_disposition: from(0, 99, 0) }
    }
}

/// Runs `pi --version`. The newer print it to standard output, the older to standard error.
pub async fn probe(options: &Options) -> Result<Option<Version>, String> {
    let mut command = super::process::command(options);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let done = tokio::time::timeout(VERSION_MAX, command.output()).await;
    let bin = options.bin.display();
    match done {
        Ok(Ok(output)) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            match (parse(&text), output.status.success()) {
                (Some(version), _) => Ok(Some(version)),
                (None, true) => Ok(None),
                (None, false) => {
                    let first: String = text
                        .lines()
                        .find(|line| !line.trim().is_empty())
                        .unwrap_or("no reason")
                        .chars()
                        .take(300)
                        .collect();
                    Err(format!("`{bin} --version` failed: {first}; check that pi and its Node.js fit together"))
                }
            }
        }
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Err(not_found(options)),
        Ok(Err(error)) => Err(format!("`{bin}` cannot be run: {error}; check PI_BIN and its rights")),
        Err(_) => Err(format!("`{bin} --version` did not answer within {} s", VERSION_MAX.as_secs())),
    }
}

pub fn not_found(options: &Options) -> String {
    let bin = options.bin.display();
    if !options.cwd.is_dir() {
        return format!(
            "the folder {} that pi is to work in is not there: make it, or set PI_CWD",
            options.cwd.display()
        );
    }
    format!(
        "`{bin}` is not there: install pi (npm install -g @earendil-works/pi-coding-agent), or say where it is by PI_BIN"
    )
}

/// The first thing that looks like a version.
fn parse(text: &str) -> Option<Version> {
    text.split(|letter: char| !letter.is_ascii_digit() && letter != '.').find_map(|word| {
        let mut parts = word.split('.').map(str::parse::<u32>);
        let (major, minor, patch) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
        Some(Version(major, minor, patch))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_is_printed() {
        assert_eq!(parse("1.6.0\n"), Some(Version(1, 6, 0)));
        assert_eq!(parse("(node:7) Warning: x\npi v0.74.2-beta.1"), Some(Version(0, 74, 2)));
        assert_eq!(parse("no version 1.2"), None);
    }

    #[test]
    fn what_a_release_can_do_follows_from_its_version() {
        let of = |major, minor, patch| Abilities::of(Some(Version(major, minor, patch)));
        assert!(!of(0, 74, 2).settles && of(0, 80, 4).settles && !of(0, 80, 4).clears_queue);
        assert!(of(1, 6, 0).tells_disposition && Abilities::of(None).settles);
    }
}
