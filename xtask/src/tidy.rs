//! `cargo xtask tidy`: what a reviewer would have to say twice.
//!
//! Start at [`findings`]; a rule is a function from the project to findings, and each has a test in
//! which it fires. Invariant: a finding is one line that says where, what, and what to do.

mod arrows;
mod documents;
mod limits;
mod pages;
mod reference;
mod shape;
mod words;

use std::fmt;

use crate::project::Project;

/// Crates in which every decision is a pure function.
pub const PURE: &[&str] = &["decide", "kernel"];

/// Where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub path: String,
    pub line: usize,
    pub text: String,
}

impl Finding {
    pub fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

type Rule = fn(&Project) -> Vec<Finding>;

const RULES: &[Rule] = &[
    arrows::allowed,
    arrows::bans,
    arrows::fences,
    arrows::said_in_one,
    arrows::sockets,
    shape::long_files,
    shape::long_functions,
    shape::module_headers,
    shape::clippy_files,
    shape::lock_and_toolchain,
    words::unfinished,
    words::machine_paths,
    words::type_names,
    words::sleeping_tests,
    limits::table,
    documents::members,
    documents::changelog,
    documents::readmes,
    documents::links,
    documents::notices,
    reference::environment,
    reference::tools,
    pages::fields,
    pages::sdk_calls,
    pages::matrix,
    pages::trust_keys,
    reference::xtask_commands,
];

/// Prints the findings; true when there are none.
pub fn run() -> anyhow::Result<bool> {
    let project = Project::read()?;
    let found = findings(&project);
    for finding in &found {
        println!("{finding}");
    }
    match found.len() {
        0 => println!("tidy: {} rules, {} files, nothing to say", RULES.len(), project.files.len()),
        count => println!("tidy: {count} findings"),
    }
    Ok(found.is_empty())
}

fn findings(project: &Project) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(project)).collect();
    found.sort();
    found
}

/// One check for the tests of all rules: the findings as lines.
#[cfg(test)]
#[track_caller]
fn check(rule: Rule, project: &Project, expected: &[&str]) {
    let found: Vec<String> = rule(project).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}
