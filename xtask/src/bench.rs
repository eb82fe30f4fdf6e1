//! `cargo xtask bench`: one run, one table of what the program costs beside what one would run instead.
//!
//! Start at [`run`]. It builds for release, boots a family's house and the same with 50,000 further
//! entities, and has `benches/measure` measure on them. Invariant: a number over its limit fails the
//! run, and what could not be measured is named.

mod library;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};

use crate::project::{self, root};
use crate::test::houses::{built_folder, told, write_private};
use crate::test::process::capture;

const BUILD_MINUTES_MAX: u64 = 60;
const HOUSE_MINUTES_MAX: u64 = 30;
const MEASURE_MINUTES_MAX: u64 = 30;
const SHORT_MINUTES_MAX: u64 = 3;

const FAMILY: &str = "bench-family";
const LARGE: &str = "bench-large";
const LARGE_ENTITIES: &str = "50000";

/// More than any person calls in a minute: what is measured is the call and not the pace.
const CONFIGURATION: &str = "[gate]\nwrites_per_minute = 100000\n";

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    json: bool,
    write: bool,
    keep_house: bool,
}

impl Options {
    pub fn parse(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        for word in words {
            match *word {
                "--json" => options.json = true,
                "--write" => options.write = true,
                "--keep-house" => options.keep_house = true,
                other => bail!("`{other}` is no option of `cargo xtask bench`: --json, --write, --keep-house"),
            }
        }
        Ok(options)
    }
}

/// True when every number is within its limit.
pub fn run(options: &Options) -> anyhow::Result<bool> {
    let cargo = |words: &[&str]| said(Command::new(project::cargo()).args(words), BUILD_MINUTES_MAX);
    cargo(&["build", "--locked", "--release", "--package", "menshen"])?;
    cargo(&["bench", "--locked", "--no-run", "--package", "xtask", "--bench", "measure"])?;
    let bench = Bench { program: built_folder().join("release").join("menshen"), folder: built_folder().join("bench") };
    let measured = bench.measure();
    if !options.keep_house {
        for name in [FAMILY, LARGE] {
            let down = said(Command::new(&bench.program).args(["home", "down", "--name", name]), SHORT_MINUTES_MAX);
            down.with_context(|| format!("taking {name} down"))?;
        }
    }
    let (rows, left_out) = measured?;
    let about = about(&rows.houses)?;
    let table = table::Table { rows: &rows.rows, about: &about, left_out: &left_out };
    if options.json {
        println!("{}", json!({"about": about, "left_out": left_out, "rows": rows.rows}));
    } else {
        println!("{}", table.text());
    }
    if options.write {
        table.write(&root().join("docs/dev/benchmarks.md"))?;
    }
    Ok(table.within_limits())
}

struct Bench {
    /// The program, built for release.
    program: PathBuf,
    /// What it writes meanwhile.
    folder: PathBuf,
}

struct Measured {
    rows: Vec<table::Row>,
    /// Releases of Home Assistant that it was measured on.
    houses: Vec<String>,
}

impl Bench {
    /// The rows, and what was left out and why.
    fn measure(&self) -> anyhow::Result<(Measured, Vec<String>)> {
        std::fs::create_dir_all(&self.folder)?;
        std::fs::write(self.folder.join("menshen.toml"), CONFIGURATION)?;
        let mut left_out = Vec::new();
        let family = self.house(FAMILY, "0", &mut left_out)?;
        let large = match self.house(LARGE, LARGE_ENTITIES, &mut left_out) {
            Ok(house) => Some(house),
            Err(error) => {
                left_out.push(format!("50,000 entities: {error:#}"));
                None
            }
        };
        let node = match library::node() {
            Ok(node) => Some(node),
            Err(error) => {
                left_out.push(format!("home-bridge (npm): {error:#}"));
                None
            }
        };
        let houses = [Some(&family), large.as_ref()].into_iter().flatten();
        let houses = houses.filter_map(|house| house["haVersion"].as_str().map(str::to_owned)).collect();
        let plan = json!({
            "menshen": self.program, "folder": self.folder, "family": family, "large": large,
            "node": node.map(|program| json!({"program": program, "script": library::script()})),
        });
        let path = self.folder.join("plan.json");
        write_private(&path, &plan.to_string())?;
        Ok((Measured { rows: measured(&path)?, houses }, left_out))
    }

    /// The newest release, which is what most people have; where it does not run, what does.
    fn house(&self, name: &str, further: &str, left_out: &mut Vec<String>) -> anyhow::Result<Value> {
        let up = |more: &[&str]| {
            let mut command = Command::new(&self.program);
            command.args(["home", "up", "--json", "--name", name, "--bulk", further]).args(more);
            told(capture(command, HOUSE_MINUTES_MAX))
        };
        up(&["--version", "newest"]).or_else(|error| {
            left_out.push(format!("{name} on the newest release: {error:#}"));
            up(&[])
        })
    }
}

fn measured(plan: &Path) -> anyhow::Result<Vec<table::Row>> {
    let mut command = Command::new(project::cargo());
    command.args(["bench", "--locked", "--package", "xtask", "--bench", "measure", "--"]).arg(plan);
    let printed = said(&mut command, MEASURE_MINUTES_MAX)?;
    let rows = printed.lines().find_map(|line| serde_json::from_str::<Vec<Value>>(line).ok());
    rows.context("the measurement printed no rows")?.iter().map(table::Row::read).collect()
}

fn said(command: &mut Command, minutes_max: u64) -> anyhow::Result<String> {
    let mut whole = Command::new(command.get_program());
    whole.args(command.get_args()).current_dir(root());
    capture(whole, minutes_max).map_err(|why| anyhow!("{why}"))
}

/// When, where and of what.
fn about(houses: &[String]) -> anyhow::Result<Vec<String>> {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let node = library::node().ok().and_then(|node| project::output(&node, &["--version"]).ok());
    let mut lines = vec![
        format!("Date: {}", project::output("date", &["-u", "+%Y-%m-%d"])?.trim()),
        format!("Machine: {cores} cores, {}; load {}", model.trim_matches([':', '\t', ' ']), load.join(" ")),
        format!("Home Assistant: {}, on the same machine", houses.join(" and ")),
        format!("Compiler: {}", project::output("rustc", &["--version"])?.trim()),
    ];
    lines.extend(node.map(|version| format!("Node {}, @three-ws/home-bridge 0.1.0", version.trim())));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_an_error() {
        assert_eq!(Options::parse(&["--json"]).unwrap(), Options { json: true, ..Options::default() });
        assert!(Options::parse(&["--fast"]).unwrap_err().to_string().contains("--fast"));
    }
}
