//! Checks with logic: what the compiler and clippy cannot say about this project.
//!
//! Start at the match in [`run`]; each command is one module. Nothing here is part of the product.

mod bench;
mod notices;
mod project;
mod rust_text;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>
  tidy                 layout, sizes, words, arrows, and documents against the code
  test [options]       format, lints, tidy, every Rust and Python test, real houses included
    --fast             no house: live tests are left out, by name
    --keep-house       leave the houses up for the next run
    --ci               fail when anything was left out
  bench [options]      speed and memory on real houses, beside what one would run instead
    --json             the rows as JSON on standard output
    --write            the table into docs/dev/benchmarks.md
    --keep-house       leave the houses up for the next run
  notices [--check]    write THIRD-PARTY.md from what the program is built of";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<bool> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(),
        ["test", options @ ..] => test::run(&test::Options::parse(options)?),
        ["bench", options @ ..] => bench::run(&bench::Options::parse(options)?),
        ["notices"] => notices::write(),
        ["notices", "--check"] => notices::check(),
        _ => {
            eprintln!("{USAGE}");
            Ok(false)
        }
    }
}
