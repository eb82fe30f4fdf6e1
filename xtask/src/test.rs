//! `cargo xtask test`: everything that this machine can run, and by name what it could not.
//!
//! Start at [`run`]; what is run stands in [`steps::STEPS`], a line each. Invariant: a step either
//! runs, or is counted as left out with its reason; nothing is skipped in silence, and the last line
//! is `N passed, N failed`.

pub mod houses;
pub mod process;
mod steps;
mod summary;

use std::time::Instant;

use anyhow::bail;

use houses::Houses;
use steps::{STEPS, Step};
use summary::Summary;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// No house.
    pub fast: bool,
    /// Leave the houses up.
    pub keep_house: bool,
    /// Something left out is a failure.
    pub ci: bool,
}

impl Options {
    pub fn parse(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        for word in words {
            match *word {
                "--fast" => options.fast = true,
                "--keep-house" => options.keep_house = true,
                "--ci" => options.ci = true,
                other => bail!("`{other}` is no option of `cargo xtask test`: --fast, --keep-house, --ci"),
            }
        }
        Ok(options)
    }
}

/// Runs every step; true when nothing failed and, with `--ci`, nothing was left out.
pub fn run(options: &Options) -> anyhow::Result<bool> {
    let mut summary = Summary::default();
    let mut houses = Houses::new(options);
    for step in STEPS {
        run_step(step, &mut houses, &mut summary);
    }
    houses.down(&mut summary);
    Ok(summary.close(options.ci))
}

fn run_step(step: &Step, houses: &mut Houses, summary: &mut Summary) {
    println!("\n== {} ==", step.name);
    let begun = Instant::now();
    match steps::missing(step, houses, summary) {
        Some(why) => summary.leave_out(step.name, &why),
        None => {
            match steps::commands(step, houses) {
                Ok(commands) if commands.is_empty() => {
                    println!("nothing of the kind in the project")
                }
                Ok(commands) => {
                    for command in commands {
                        process::run(step.name, command, summary);
                    }
                }
                Err(error) => summary.step_failed(step.name, &format!("{error:#}"), summary.failed()),
            }
            println!("== {}: {} s ==", step.name, begun.elapsed().as_secs());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_an_unknown_one_is_an_error() {
        let all = Options::parse(&["--fast", "--keep-house", "--ci"]).unwrap();
        assert_eq!(all, Options { fast: true, keep_house: true, ci: true });
        assert!(Options::parse(&["--quick"]).unwrap_err().to_string().contains("--quick"));
    }
}
