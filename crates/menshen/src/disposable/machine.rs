//! What this machine could run, and which of it a house gets. Start at [`Machine::choose`].
//!
//! Invariant: looking changes nothing, and choosing is a pure function of what was seen.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use decide::gate::Language;
use serde_json::{Value, json};
use tokio::process::Command;

use super::engine;
use super::run;

/// A frozen set of packages: one Home Assistant release for one Python.
#[derive(Debug)]
pub struct Set {
    pub release: &'static str,
    pub python: (u32, u32),
    /// The least patch with which the release starts.
    pub patch: u32,
    /// It was installed and booted with this very set.
    pub tried: bool,
    pub requirements: &'static str,
}

/// Oldest first.
pub const SETS: [Set; 4] = [
    Set {
        release: "2024.3.3",
        python: (3, 11),
        patch: 0,
        tried: true,
        requirements: include_str!("../../house/requirements/2024.3.3.txt"),
    },
    Set {
        release: "2025.1.4",
        python: (3, 12),
        patch: 0,
        tried: true,
        requirements: include_str!("../../house/requirements/2025.1.4.txt"),
    },
    Set {
        release: "2026.2.3",
        python: (3, 13),
        patch: 2,
        tried: true,
        requirements: include_str!("../../house/requirements/2026.2.3.txt"),
    },
    Set {
        release: "2026.11.0",
        python: (3, 14),
        patch: 2,
        tried: true,
        requirements: include_str!("../../house/requirements/2026.11.0.txt"),
    },
];

#[derive(Clone, Debug, PartialEq)]
pub struct Python {
    pub program: PathBuf,
    pub version: (u32, u32, u32),
}

#[derive(Debug, Default)]
pub struct Machine {
    /// `docker` or `podman`, if its daemon answers.
    pub engine: Option<String>,
    /// Every Python 3 on the path, once a version.
    pub pythons: Vec<Python>,
    pub uv: Option<PathBuf>,
    pub root: bool,
    pub debootstrap: bool,
}

/// How a house is run.
#[derive(Debug, PartialEq)]
pub enum Choice<'a> {
    Engine {
        program: &'a str,
        tag: String,
    },
    Python {
        python: &'a Python,
        set: &'static Set,
    },
    /// The newest release in a Debian folder with a Python of its own.
    Debian {
        set: &'static Set,
    },
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        self.release == other.release
    }
}

impl Set {
    pub fn suits(&self, python: &Python) -> bool {
        let (major, minor, patch) = python.version;
        (major, minor) == self.python && patch >= self.patch
    }

    fn python_text(&self) -> String {
        format!("{}.{}.{}", self.python.0, self.python.1, self.patch)
    }
}

impl Machine {
    pub async fn look() -> Self {
        let mut pythons: Vec<Python> = Vec::new();
        let names = std::iter::once("python3".into()).chain((6..=20).map(|minor| format!("python3.{minor}")));
        for program in names.filter_map(|name: String| on_path(&name)) {
            if let Some(python) = ask(&program).await
                && pythons.iter().all(|known| known.version != python.version)
            {
                pythons.push(python);
            }
        }
        let root = run::run(Command::new("id").arg("-u"), 5).await.is_ok_and(|id| id.trim() == "0");
        Self {
            engine: engine::find().await,
            pythons,
            uv: on_path("uv"),
            root,
            debootstrap: on_path("debootstrap").is_some() || (root && on_path("apt-get").is_some()),
        }
    }

    /// The house for a wish: a release, `newest`, or the newest that runs here without more.
    pub fn choose(&self, wish: Option<&str>) -> Result<Choice<'_>> {
        let newest = &SETS[SETS.len() - 1];
        if let Some(program) = &self.engine {
            let tag = match wish {
                None | Some("newest") => "stable".to_owned(),
                Some(release) => release.to_owned(),
            };
            return Ok(Choice::Engine { program, tag });
        }
        let release = wish.map(|wish| if wish == "newest" { newest.release } else { wish });
        if let Some(release) = release
            && SETS.iter().all(|set| set.release != release)
        {
            let known = SETS.map(|set| set.release).join(", ");
            bail!(
                "no package set for Home Assistant {release}; there are {known}, and any release where docker or podman runs"
            );
        }
        let mut wanted = SETS.iter().rev().filter(|set| release.is_none_or(|release| set.release == release));
        for set in wanted.clone() {
            if let Some(python) = self.pythons.iter().find(|python| set.suits(python)) {
                return Ok(Choice::Python { python, set });
            }
        }
        if release == Some(newest.release) && self.root && self.debootstrap && !self.pythons.is_empty() {
            return Ok(Choice::Debian { set: newest });
        }
        bail!("{}", self.nothing_fits(wanted.next_back(), release == Some(newest.release)));
    }

    fn nothing_fits(&self, set: Option<&Set>, newest: bool) -> String {
        if self.pythons.is_empty() {
            return "this machine has neither a container engine that answers nor Python: install the package `python3-venv` (Debian, Ubuntu: sudo apt install python3-venv)".into();
        }
        let set = set.unwrap_or(&SETS[0]);
        let (major, minor) = set.python;
        let mut text = format!(
            "Home Assistant {} needs Python {} or a later {major}.{minor}, and this machine has {}",
            set.release,
            set.python_text(),
            self.python_list()
        );
        if newest {
            text.push_str("; the Debian folder that would do without needs root and debootstrap");
        } else {
            text.push_str(&format!("; install `python{major}.{minor}-venv`, or docker"));
        }
        text
    }

    fn python_list(&self) -> String {
        let list = self.pythons.iter().map(|python| {
            let (major, minor, patch) = python.version;
            format!("{major}.{minor}.{patch}")
        });
        list.collect::<Vec<_>>().join(", ")
    }

    pub fn answer(&self) -> Value {
        let sets = SETS.iter().map(|set| {
            let runs = self.pythons.iter().any(|python| set.suits(python));
            json!({"release": set.release, "python": set.python_text(), "tried": set.tried, "runsHere": runs})
        });
        json!({"engine": self.engine, "pythons": self.python_list(), "uv": self.uv.is_some(), "root": self.root, "sets": sets.collect::<Vec<_>>()})
    }

    pub fn summary(&self, language: Language) -> String {
        let say = |english: &'static str, chinese: &'static str| match language {
            Language::English => english,
            Language::Chinese => chinese,
        };
        let engine = self.engine.as_deref().unwrap_or(say("none that answers", "没有响应的"));
        let mut lines = vec![format!("{}{engine}", say("container engine: ", "容器引擎："))];
        for set in &SETS {
            let here = match self.pythons.iter().any(|python| set.suits(python)) {
                true => say("runs here", "可以运行"),
                false => say("no such Python here", "这台机器没有这样的 Python"),
            };
            let untried = if set.tried { "" } else { say(", set untried", "，组合未试过") };
            let (release, python) = (set.release, set.python_text());
            lines.push(match language {
                Language::English => format!("Home Assistant {release} (Python {python} or later): {here}{untried}"),
                Language::Chinese => format!("Home Assistant {release}（Python {python} 或更新）：{here}{untried}"),
            });
        }
        lines.join("\n")
    }
}

async fn ask(program: &Path) -> Option<Python> {
    let code = "import sys; print(*sys.version_info[:3])";
    let text = run::run(Command::new(program).args(["-c", code]), 10).await.ok()?;
    let mut parts = text.split_whitespace().map(str::parse);
    let version = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    Some(Python { program: program.to_owned(), version })
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(versions: &[(u32, u32, u32)]) -> Machine {
        let pythons = versions.iter().map(|&version| Python { program: "python3".into(), version });
        Machine { pythons: pythons.collect(), ..Machine::default() }
    }

    #[track_caller]
    fn check(machine: &Machine, wish: Option<&str>, expected: &str) {
        let found = match machine.choose(wish) {
            Ok(Choice::Engine { program, tag }) => format!("{program} {tag}"),
            Ok(Choice::Python { set, .. }) => format!("python {}", set.release),
            Ok(Choice::Debian { set }) => format!("debian {}", set.release),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn the_newest_release_that_python_can_run_is_taken() {
        check(&machine(&[(3, 11, 2)]), None, "python 2024.3.3");
        check(&machine(&[(3, 11, 2), (3, 14, 2)]), None, "python 2026.11.0");
        check(&machine(&[(3, 11, 2), (3, 14, 1)]), None, "python 2024.3.3");
        check(&machine(&[(3, 13, 1), (3, 12, 3)]), None, "python 2025.1.4");
    }

    #[test]
    fn an_engine_that_answers_comes_first() {
        let machine = Machine { engine: Some("podman".into()), ..machine(&[(3, 11, 2)]) };
        check(&machine, None, "podman stable");
        check(&machine, Some("2024.3.3"), "podman 2024.3.3");
    }

    #[test]
    fn the_debian_folder_comes_only_when_asked_for() {
        let machine = Machine { root: true, debootstrap: true, ..machine(&[(3, 10, 2)]) };
        check(&machine, Some("newest"), "debian 2026.11.0");
        check(&machine, None, "needs Python 3.11.0");
    }

    #[test]
    fn where_nothing_runs_one_sentence_names_the_package() {
        check(&machine(&[]), None, "install the package `python3-venv`");
        check(&machine(&[(3, 9, 2)]), None, "needs Python 3.11.0 or a later 3.11, and this machine has 3.9.2");
        check(&machine(&[(3, 11, 2)]), Some("newest"), "needs root and debootstrap");
        check(&machine(&[(3, 11, 2)]), Some("2020.1"), "no package set for Home Assistant 2020.1");
    }
}
