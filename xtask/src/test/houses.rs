//! The real Home Assistants that tests run against: one a version, booted once, taken down at the end.
//!
//! Start at [`Houses::none_because`], which boots them when a step first needs one. Invariant: a
//! house that could not be had is left out by name, and what we brought up we take down.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

use crate::project::{self, root};

use super::Options;
use super::process;
use super::summary::Summary;

/// Name of the disposable house, and the version it is of.
const VERSIONS: &[(&str, &str)] = &[("test-2024", "2024.3.3"), ("test-newest", "newest")];

/// A cold boot downloads and installs Home Assistant first.
const BOOT_MINUTES_MAX: u64 = 30;
const SHORT_MINUTES_MAX: u64 = 3;

pub struct Houses {
    fast: bool,
    keep: bool,
    tried: bool,
    up: Vec<House>,
    program: PathBuf,
    folder: PathBuf,
}

pub struct House {
    name: &'static str,
    pub base_url: String,
    pub token: String,
    path: PathBuf,
}

impl Houses {
    pub fn new(options: &Options) -> Self {
        let built = built_folder();
        Self {
            fast: options.fast,
            keep: options.keep_house,
            tried: false,
            up: Vec::new(),
            program: built.join("debug").join("menshen"),
            folder: built.join("test-houses"),
        }
    }

    /// Boots the houses on first use; says why there is none.
    pub fn none_because(&mut self, summary: &mut Summary) -> Option<String> {
        if self.fast {
            return Some("needs a house, and --fast asked for none".to_owned());
        }
        if !self.tried {
            self.tried = true;
            self.boot(summary);
        }
        self.up.is_empty().then(|| "no house could be booted".to_owned())
    }

    pub fn up(&self) -> &[House] {
        &self.up
    }

    /// The program under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Where the runner keeps what it makes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Paths of the files that describe the houses, as `MENSHEN_HOUSES` wants them.
    pub fn paths(&self) -> OsString {
        let paths: Vec<&PathBuf> = self.up.iter().map(|house| &house.path).collect();
        std::env::join_paths(paths).unwrap_or_default()
    }

    pub fn down(&mut self, summary: &mut Summary) {
        for house in std::mem::take(&mut self.up) {
            if self.keep {
                println!("house {} stays up at {}: {}", house.name, house.base_url, house.path.display());
                continue;
            }
            self.settle(&["home", "down", "--name", house.name], summary);
        }
    }

    /// A short command on a house; where it fails, that is a failure and not a gap.
    fn settle(&self, words: &[&str], summary: &mut Summary) {
        let mut command = Command::new(&self.program);
        command.args(words);
        if let Err(why) = process::capture(command, SHORT_MINUTES_MAX) {
            summary.step_failed(&words.join(" "), &reason(&why), summary.failed());
        }
    }

    fn boot(&mut self, summary: &mut Summary) {
        let mut build = Command::new(project::cargo());
        build.args(["build", "--locked", "--workspace", "--bin", "menshen"]).current_dir(root());
        process::run("build menshen", build, summary);
        for (name, version) in VERSIONS {
            println!("-- house {version}");
            match self.boot_one(name, version) {
                Ok(house) => {
                    println!("-- house {version} at {}", house.base_url);
                    self.up.push(house);
                    // It may have been up before, and moved.
                    self.settle(&["home", "reset", "--name", name], summary);
                }
                Err(error) => summary.leave_out(&format!("house {version}"), &format!("{error:#}")),
            }
        }
    }

    fn boot_one(&self, name: &'static str, version: &str) -> anyhow::Result<House> {
        let mut command = Command::new(&self.program);
        command.args(["home", "up", "--json", "--name", name, "--version", version]);
        let printed = process::capture(command, BOOT_MINUTES_MAX);
        let mut told = told(printed)?;
        let word = |key: &str| {
            let value = told[key].as_str().filter(|word| !word.is_empty()).map(str::to_owned);
            value.with_context(|| format!("`menshen home up` printed no `{key}`"))
        };
        let (base_url, token) = (word("baseUrl")?, word("token")?);
        let release = told["haVersion"].as_str().unwrap_or(version).to_owned();
        told["version"] = json!(release);
        std::fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("{name}.json"));
        write_private(&path, &told.to_string()).with_context(|| format!("writing {}", path.display()))?;
        Ok(House { name, base_url, token, path })
    }
}

/// The JSON that `home up` ends with, or the reason it gives.
pub fn told(printed: Result<String, String>) -> anyhow::Result<Value> {
    let (text, ended) = match printed {
        Ok(text) => (text, None),
        Err(why) => (why.clone(), Some(why)),
    };
    let json = text.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok().filter(Value::is_object));
    match (json, ended) {
        (Some(told), None) if told["ok"] != false => Ok(told),
        (Some(told), _) => {
            let why = told["message"].as_str().or(told["error"].as_str()).unwrap_or("it did not say why");
            anyhow::bail!("`menshen home up`: {why}")
        }
        (None, Some(why)) => anyhow::bail!("`menshen home up`: {}", reason(&why)),
        (None, None) => anyhow::bail!("`menshen home up` printed no JSON"),
    }
}

/// From all that a failed `home up` said: its error and what the error ends with, on one line.
fn reason(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.last().copied().unwrap_or("it did not say why");
    let error = lines.iter().rev().find_map(|line| line.strip_prefix("menshen: "));
    match error {
        Some(error) if !last.ends_with(error) => format!("{error} … {last}"),
        Some(error) => error.to_owned(),
        None => last.to_owned(),
    }
}

/// A token is inside: nobody else on this machine reads it.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Where cargo puts what it builds.
pub fn built_folder() -> PathBuf {
    let told = project::metadata().ok().and_then(|told| told["target_directory"].as_str().map(PathBuf::from));
    told.unwrap_or_else(|| root().join("target"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_home_up_says_last_is_taken_and_a_refusal_is_told() {
        let told = |text: &str| super::told(Ok(text.to_owned())).map_err(|error| error.to_string());
        let good = told("booting\n{\"ok\":true,\"baseUrl\":\"http://127.0.0.1:1\",\"token\":\"t\"}\n").unwrap();
        assert_eq!(good["baseUrl"], "http://127.0.0.1:1");
        assert_eq!(
            told("{\"ok\":false,\"message\":\"no Python 3.14\"}"),
            Err("`menshen home up`: no Python 3.14".to_owned())
        );
        assert_eq!(told("nothing"), Err("`menshen home up` printed no JSON".to_owned()));
        let ended = super::told(Err("booting\nmenshen: `chroot x` failed:\nE: no such suite\n".to_owned()));
        assert_eq!(ended.unwrap_err().to_string(), "`menshen home up`: `chroot x` failed: … E: no such suite");
        assert_eq!(super::reason("menshen: no Python"), "no Python");
    }
}
