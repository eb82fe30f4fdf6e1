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

/// The tools are the names in the catalogue of `mcp` and in the definitions of the agent's own tools; each
/// has a heading on the page.
pub fn tools(project: &Project) -> Vec<Finding> {
    let mut offered: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in project.with_ends(&[".rs"]).filter(|(path, text)| defines_tools(path, text)) {
        offered.extend(tool_names(text).into_iter().map(|name| (name, path)));
    }
    let page = project.file(TOOLS).unwrap_or_default();
    let headings = page.lines().enumerate().filter_map(|(index, line)| {
        let name = line.trim_start_matches('#').strip_prefix(" `")?.strip_suffix('`')?;
        line.starts_with("##").then_some((name, index + 1))
    });
    let described: BTreeMap<&str, usize> = headings.collect();
    let mut found = Vec::new();
    for (name, path) in &offered {
        if !described.contains_key(name.as_str()) {
            let what = format!("tool `{name}` of {path} has no heading ## `{name}`: describe it");
            found.push(Finding::new(TOOLS, 1, what));
        }
    }
    for (name, line) in described {
        if !offered.contains_key(name) {
            found.push(Finding::new(TOOLS, line, format!("no tool is called `{name}`: take the heading out")));
        }
    }
    found
}

/// Files of the program in which tools are defined that are always there.
fn defines_tools(path: &str, text: &str) -> bool {
    let of_the_agent = ["crates/kernel/src/", "crates/menshen/src/"].iter().any(|folder| path.starts_with(folder));
    let test = ["tests.rs", "/tests/", "fakes"].iter().any(|part| path.contains(part));
    path == CATALOGUE || of_the_agent && !test && (text.contains("ToolDef {") || text.contains("definition("))
}

/// The texts that stand after `name:`, and those that `definition` is called with first.
fn tool_names(text: &str) -> BTreeSet<String> {
    let source = Source::new(text);
    let tests = source.test_lines();
    let mut names = BTreeSet::new();
    for (index, line) in source.code.lines().enumerate() {
        let number = index + 1;
        let line = line.trim_start();
        let called = line.contains("definition(") && !line.contains("fn definition(");
        if tests.iter().any(|test| test.contains(&number)) || !(called || line.starts_with("name: \"")) {
            continue;
        }
        // The name stands on this line, or on the next where the call is broken there.
        let first = source.strings.iter().find(|(at, _)| (number..=number + 1).contains(at));
        names.extend(first.map(|(_, name)| name.clone()).filter(|name| is_tool_name(name)));
    }
    names
}

fn is_tool_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
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
        let kernel = "fn definition(name: &str) {}\nlet five = definition(\n    \"five\",\n    \"Five of it.\",\n);\nlet a = definition(\"six\", \"Six.\");\n#[cfg(test)]\nmod tests { fn f() { definition(\"seven\"); } }\n";
        let page = "# Tools\n## `two`\n### `six`\n## `four`\n";
        check(
            tools,
            &with_files(&[(CATALOGUE, code), ("crates/kernel/src/tools/a.rs", kernel), (TOOLS, page)]),
            &[
                "docs/reference/tools.md:1: tool `five` of crates/kernel/src/tools/a.rs has no heading ## `five`: describe it",
                "docs/reference/tools.md:1: tool `one` of crates/mcp/src/tools/catalogue.rs has no heading ## `one`: describe it",
                "docs/reference/tools.md:4: no tool is called `four`: take the heading out",
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
