//! What `cargo xtask bench` measures: start, memory, calls, judging, a very large house, and beside
//! them what a person would run instead.
//!
//! Start at [`run`]; each part is one module and gives back rows. The plan comes as a JSON file, the
//! rows go to standard output as JSON. Invariant: a number that has a limit is measured in the same
//! run as what it is compared with, turn about, on the same house.

mod bare;
mod calls;
mod judging;
mod large;
mod mcp;
mod node;
mod row;
mod serve;
mod start;

use std::process::ExitCode;

use anyhow::Context;
use serde::Deserialize;

use row::Row;

/// What to measure, on which houses.
#[derive(Deserialize)]
pub struct Plan {
    /// The program, built as for a release.
    pub menshen: String,
    /// Where it keeps its audit and configuration meanwhile.
    pub folder: String,
    /// The seeded house of a family.
    pub family: House,
    /// The same with very many further entities.
    pub large: Option<House>,
    pub node: Option<Node>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct House {
    pub base_url: String,
    pub token: String,
    pub ha_version: String,
}

/// A Node of at least version 22 and the script that runs the npm library.
#[derive(Deserialize)]
pub struct Node {
    pub program: String,
    pub script: String,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measure: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    // Cargo adds `--bench`.
    let path = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let path = path.context("usage: measure PLAN.json (`cargo xtask bench` writes one)")?;
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let plan: Plan = serde_json::from_str(&text).with_context(|| format!("understanding {path}"))?;
    let mut rows: Vec<Row> = Vec::new();
    let mut part = |name: &str, measured: anyhow::Result<Vec<Row>>| {
        let measured = measured.with_context(|| name.to_owned())?;
        for row in &measured {
            eprintln!("{name}: {}: {:.2} {}", row.what, row.value, row.unit);
        }
        rows.extend(measured);
        anyhow::Ok(())
    };
    part("judging", judging::measure())?;
    part("start", start::measure(&plan))?;
    part("serve", serve::measure(&plan))?;
    part("calls", calls::measure(&plan))?;
    if let Some(house) = &plan.large {
        part("the large house", large::measure(&plan, house))?;
    }
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}
