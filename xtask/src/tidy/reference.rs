//! Reference pages against the code: environment variables, tools, our own commands.
//!
//! Start at any of the rules. Invariant: each compares both ways, and is silent only while neither
//! side has anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::Project;
use crate::rust_text::Source;

use super::Finding;

const ENVIRONMENT: &str = "docs/reference/environment.md";
const TOOLS: &str = "docs/reference/tools.md";
const CATALOGUE: &str = "crates/mcp/src/tools/catalogue.rs";

pub fn environment(project: &Project) -> Vec<Finding> {
    let mut used: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for (path, text) in project.with_ends(&[".rs"]).filter(|(path, _)| !path.contains("/tests/")) {
        let source = Source::new(text);
        let tests = source.test_lines();
        let strings = source.strings.iter().filter(|(line, _)| !tests.iter().any(|test| test.contains(line)));
        for (line, string) in strings.filter(|(_, string)| is_variable(string)) {
            used.entry(string.clone()).or_insert((path.to_owned(), *line));
        }
    }
    let page = project.file(ENVIRONMENT).unwrap_or_default();
    let listed = table_names(page, is_variable);
    let mut found = Vec::new();
    for (name, (path, line)) in &used {
        if !listed.contains_key(name.as_str()) {
            found.push(Finding::new(
                path,
                *line,
                format!("`{name}` is not in a table of {ENVIRONMENT}: add a row that says what it does"),
            ));
        }
    }
    for (name, line) in listed {
        if !used.contains_key(name) {
            found.push(Finding::new(ENVIRONMENT, line, format!("`{name}` is read nowhere: take the row out")));
        }
    }
    found
}

fn is_variable(word: &str) -> bool {
    let ours = word.strip_prefix("MENSHEN_").or_else(|| word.strip_prefix("HOME_"));
    ours.is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

/// Names in backticks that open a table row, with their lines.
fn table_names(page: &str, accepted: fn(&str) -> bool) -> BTreeMap<&str, usize> {
    let rows = page.lines().enumerate().filter_map(|(index, line)| {
        let name = line.trim().strip_prefix("| `")?.split('`').next()?;
        Some((name, index + 1))
    });
    rows.filter(|(name, _)| accepted(name)).collect()
}

/// The tools are the names in the catalogue of `mcp`; each has a heading on the page.
pub fn tools(project: &Project) -> Vec<Finding> {
    let offered = tool_names(project.file(CATALOGUE).unwrap_or_default());
    let page = project.file(TOOLS).unwrap_or_default();
    let described: BTreeMap<&str, usize> = page
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((line.strip_prefix("## `")?.strip_suffix('`')?, index + 1)))
        .collect();
    let mut found = Vec::new();
    for name in &offered {
        if !described.contains_key(name.as_str()) {
            found.push(Finding::new(TOOLS, 1, format!("tool `{name}` has no heading ## `{name}`: describe it")));
        }
    }
    for (name, line) in described {
        if !offered.contains(name) {
            found.push(Finding::new(TOOLS, line, format!("`{name}` is not in {CATALOGUE}: take the heading out")));
        }
    }
    found
}

/// The texts that stand after `name:`.
fn tool_names(text: &str) -> BTreeSet<String> {
    let source = Source::new(text);
    let named: Vec<bool> = source.code.lines().map(|line| line.trim_start().starts_with("name: \"")).collect();
    let strings = source.strings.into_iter().filter(|(line, _)| named.get(line - 1) == Some(&true));
    strings.map(|(_, name)| name).collect()
}

/// Whatever a document tells a reader to run with `cargo xtask` is a command of ours.
pub fn xtask_commands(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".md", ".ci/run", ".rs"]) {
        for (index, line) in text.lines().enumerate() {
            for rest in line.split("cargo xtask ").skip(1) {
                let word: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
                let known = crate::USAGE.lines().any(|usage| usage.starts_with(&format!("  {word} ")));
                if !word.is_empty() && !known {
                    found.push(Finding::new(
                        path,
                        index + 1,
                        format!("there is no `cargo xtask {word}`: correct the name"),
                    ));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::project::with_files;

    #[test]
    fn a_variable_that_is_not_on_the_page_and_one_that_is_read_nowhere_are_found() {
        let code = "//! x\nconst A: &str = \"HOME_A\"; // \"HOME_C\"\nconst B: &str = \"MENSHEN_B\";\n#[cfg(test)]\nmod tests { const T: &str = \"HOME_T\"; }\n";
        let page = "| name | what |\n| `MENSHEN_B` | b |\n| `MENSHEN_GONE` | g |\n";
        check(
            environment,
            &with_files(&[("crates/a/src/a.rs", code), (ENVIRONMENT, page)]),
            &[
                "crates/a/src/a.rs:2: `HOME_A` is not in a table of docs/reference/environment.md: add a row that says what it does",
                "docs/reference/environment.md:3: `MENSHEN_GONE` is read nowhere: take the row out",
            ],
        );
        check(environment, &with_files(&[]), &[]);
    }

    #[test]
    fn a_tool_that_is_not_described_and_one_that_is_not_offered_are_found() {
        let code = "Tool {\n    name: \"one\",\n},\nTool {\n    name: \"two\",\n    text: \"three\",\n}\n";
        let page = "# Tools\n## `two`\n## `four`\n";
        check(
            tools,
            &with_files(&[(CATALOGUE, code), (TOOLS, page)]),
            &[
                "docs/reference/tools.md:1: tool `one` has no heading ## `one`: describe it",
                "docs/reference/tools.md:3: `four` is not in crates/mcp/src/tools/catalogue.rs: take the heading out",
            ],
        );
        check(tools, &with_files(&[]), &[]);
    }

    #[test]
    fn a_command_of_ours_that_does_not_exist_is_found() {
        let wrong = ["`cargo xtask ", "tidy` and `cargo xtask ", "gossip`\n"].concat();
        check(
            xtask_commands,
            &with_files(&[("README.md", &wrong)]),
            &[&["README.md:1: there is no `cargo xtask ", "gossip`: correct the name"].concat()],
        );
    }
}
