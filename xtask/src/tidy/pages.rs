//! Reference pages of the agent against its code: fields, calls of the SDK, the matrix, keys of trust.
//!
//! Start at any of the rules. Invariant: each is silent where the code it reads is not there, and fires
//! where the page is not.

use std::collections::BTreeSet;

use crate::project::Project;
use crate::rust_text::Source;

use super::Finding;

const SDK: &str = "docs/reference/sdk.md";
const STAGES: &str = "docs/reference/stages.md";
const SETTINGS: &str = "docs/reference/settings.md";
const CONFIGURATION: &str = "docs/reference/configuration.md";

/// File, struct, and the page that names each of its fields.
const FIELDS: &[(&str, &str, &str)] = &[
    ("crates/sdk/src/stage.rs", "StageContext", STAGES),
    ("crates/sdk/src/settings.rs", "ConfigDef", SETTINGS),
    ("crates/sdk/src/tool.rs", "ToolDef", SDK),
    ("crates/sdk/src/tool.rs", "ToolCall", SDK),
    ("crates/sdk/src/tool.rs", "ToolResult", SDK),
    ("crates/sdk/src/tool.rs", "ToolScope", SDK),
    ("crates/sdk/src/memory.rs", "Entity", SDK),
    ("crates/sdk/src/memory.rs", "Relation", SDK),
    ("crates/sdk/src/memory.rs", "Triple", SDK),
    ("crates/sdk/src/memory.rs", "TextEvent", SDK),
    ("crates/sdk/src/memory.rs", "Doc", SDK),
    ("crates/sdk/src/knowledge.rs", "Knowledge", SDK),
    ("crates/kernel/src/turn/limits.rs", "Limits", CONFIGURATION),
    ("crates/llm/src/config.rs", "Config", CONFIGURATION),
];

pub fn fields(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, name, page) in FIELDS {
        let Some(text) = project.file(path) else { continue };
        let named = named(project.file(page).unwrap_or_default());
        for (line, field) in fields_of(text, name) {
            if !named.contains(field.as_str()) {
                let what = format!("`{field}` of {name} is not on {page}: say what it is");
                found.push(Finding::new(path, line, what));
            }
        }
    }
    found
}

/// What stands in backticks on a page.
fn named(page: &str) -> BTreeSet<&str> {
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// Fields as they are written outside: under the name that serde gives them, where it gives one.
fn fields_of(text: &str, name: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut renamed = None;
    for (index, line) in item(text, &format!("pub struct {name} {{")) {
        if let Some(rest) = line.trim().strip_prefix("#[serde(rename = \"") {
            renamed = rest.split('"').next();
        } else if let Some((field, _)) = line.trim().strip_prefix("pub ").and_then(|rest| rest.split_once(':')) {
            // The context is read under its Rust names; the page has both.
            let written = renamed.take().filter(|_| name != "StageContext").unwrap_or(field);
            found.push((index + 1, written.to_owned()));
        }
    }
    found
}

/// Lines between the one that opens an item at the left edge and its closing brace.
fn item<'a>(text: &'a str, opening: &str) -> Vec<(usize, &'a str)> {
    let inside = text.lines().enumerate().skip_while(|(_, line)| *line != opening).skip(1);
    inside.take_while(|(_, line)| *line != "}").collect()
}

/// Each call of the SDK has a row in the section of its trait, and each row is about one.
pub fn sdk_calls(project: &Project) -> Vec<Finding> {
    let page = project.file(SDK).unwrap_or_default();
    let mut found = Vec::new();
    for (path, text) in project.files.iter().filter(|(path, _)| path.starts_with("crates/sdk/src/")) {
        let code = Source::new(text).code;
        for opening in code.lines().filter_map(|line| line.strip_suffix(" {")) {
            let Some(of) = owner_of_calls(opening) else { continue };
            let calls: BTreeSet<&str> =
                item(&code, &format!("{opening} {{")).into_iter().filter_map(|(_, line)| call(line, opening)).collect();
            let rows = rows(page, of);
            for call in &calls {
                if !rows.iter().any(|(_, row)| row == call) {
                    let what = format!("`{of}::{call}` has no row under ## `{of}` of {SDK}: describe it");
                    found.push(Finding::new(path, 1, what));
                }
            }
            for (line, row) in rows.iter().filter(|(_, row)| !calls.contains(row)) {
                found.push(Finding::new(SDK, *line, format!("`{of}` has no call `{row}`: take the row out")));
            }
        }
    }
    found
}

/// Traits that a plugin calls or implements, and its door. What the kernel implements is no affair of a
/// plugin's author.
fn owner_of_calls(opening: &str) -> Option<&str> {
    let name = opening.strip_prefix("pub trait ").or_else(|| opening.strip_prefix("impl "))?.split(':').next()?;
    (name == "Plugin" || name == "PluginSdk" || name.ends_with("Api")).then_some(name)
}

fn call<'a>(line: &'a str, opening: &str) -> Option<&'a str> {
    let line = line.strip_prefix("    ")?;
    let line = if opening.starts_with("impl ") { line.strip_prefix("pub ")? } else { line };
    let line = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    let name = line.split(['(', '<']).next()?;
    (name != "new").then_some(name)
}

/// The second column of the tables in a section: line, and the name before the bracket.
fn rows<'a>(page: &'a str, section: &str) -> Vec<(usize, &'a str)> {
    let heading = format!("## `{section}`");
    let inside = page.lines().enumerate().skip_while(|(_, line)| *line != heading).skip(1);
    let inside = inside.take_while(|(_, line)| !line.starts_with("## "));
    let cell = |(index, line): (usize, &'a str)| {
        let name = line.strip_prefix("| ")?.split(" | ").nth(usize::from(!line.starts_with("| |")));
        let name = name.map(|cell| cell.trim_start_matches("| "))?.strip_prefix('`')?.split('(').next()?;
        Some((index + 1, name))
    };
    inside.filter_map(cell).collect()
}

/// The page has the matrix that the SDK tells its readers, line by line, and names each stage.
pub fn matrix(project: &Project) -> Vec<Finding> {
    const CODE: &str = "crates/sdk/src/stage.rs";
    let page = project.file(STAGES).unwrap_or_default();
    let code = project.file(CODE).unwrap_or_default();
    let rows = code.lines().enumerate().filter_map(|(index, line)| Some((index + 1, line.strip_prefix("//! |")?)));
    let missing = rows.filter(|(_, row)| !page.lines().any(|line| line.strip_prefix('|') == Some(*row)));
    missing
        .map(|(line, row)| Finding::new(CODE, line, format!("{STAGES} has no row `|{row}`: bring them in step")))
        .collect()
}

/// Every pattern of trust stands on the page, and the page has no other.
pub fn trust_keys(project: &Project) -> Vec<Finding> {
    const CODE: &str = "crates/kernel/src/settings/trust.rs";
    let page = project.file(SETTINGS).unwrap_or_default();
    let code = project.file(CODE).unwrap_or_default();
    let lines: BTreeSet<usize> = code
        .lines()
        .enumerate()
        .skip_while(|(_, line)| !line.starts_with("pub const TRUST_KEYS"))
        .map(|(index, _)| index + 1)
        .collect();
    let last = code.lines().enumerate().find(|(index, line)| lines.contains(&(index + 1)) && *line == "];");
    let last = last.map_or(0, |(index, _)| index);
    let patterns: Vec<(usize, String)> =
        Source::new(code).strings.into_iter().filter(|(line, _)| lines.contains(line) && *line <= last).collect();
    let shown: Vec<&str> =
        page.split("## Keys of trust").nth(1).map(|rest| named(rest).into_iter().collect()).unwrap_or_default();
    let mut found = Vec::new();
    for (line, pattern) in &patterns {
        if !shown.contains(&pattern.as_str()) {
            found.push(Finding::new(
                CODE,
                *line,
                format!("`{pattern}` is not under Keys of trust of {SETTINGS}: add it"),
            ));
        }
    }
    for name in shown.iter().filter(|name| name.contains('*') && **name != "*") {
        if !patterns.iter().any(|(_, pattern)| pattern == name) {
            found.push(Finding::new(SETTINGS, 1, format!("`{name}` is no key of trust: take it out")));
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
    fn a_field_that_the_page_does_not_name_is_found_under_its_outer_name() {
        let code = "pub struct Entity {\n    pub name: String,\n    #[serde(rename = \"type\")]\n    pub kind: String,\n    #[serde(skip)]\n    pub score: f64,\n}\npub struct Other {\n    pub else_where: u8,\n}\n";
        check(
            fields,
            &with_files(&[("crates/sdk/src/memory.rs", code), (SDK, "`name`, `score`\n")]),
            &["crates/sdk/src/memory.rs:4: `type` of Entity is not on docs/reference/sdk.md: say what it is"],
        );
        check(fields, &with_files(&[]), &[]);
    }

    #[test]
    fn a_call_without_a_row_and_a_row_without_a_call_are_found() {
        let code = "pub trait DocMemoryApi: Send {\n    fn query<'a>(&'a self) -> u8;\n    fn stats(&self) -> u8;\n}\nimpl PluginSdk {\n    pub fn new() -> Self;\n    pub async fn inject_text(&self);\n    fn inject(&self);\n}\npub trait Host {\n    fn inject(&self);\n}\n";
        let page = "## `PluginSdk`\n| API | Rust |\n| --- | --- |\n| | `inject_text(&str)` | x |\n## `DocMemoryApi`\n| `Query(text)` | `query(&str)` | x |\n| `Gone()` | `gone()` | x |\n";
        check(
            sdk_calls,
            &with_files(&[("crates/sdk/src/memory.rs", code), (SDK, page)]),
            &[
                "crates/sdk/src/memory.rs:1: `DocMemoryApi::stats` has no row under ## `DocMemoryApi` of docs/reference/sdk.md: describe it",
                "docs/reference/sdk.md:7: `DocMemoryApi` has no call `gone`: take the row out",
            ],
        );
        check(sdk_calls, &with_files(&[]), &[]);
    }

    #[test]
    fn a_matrix_that_is_not_that_of_the_code_is_found() {
        let code = "//! | field | on_input |\n//! | `extra` | write |\n";
        check(
            matrix,
            &with_files(&[("crates/sdk/src/stage.rs", code), (STAGES, "| field | on_input |\n| `extra` | |\n")]),
            &[
                "crates/sdk/src/stage.rs:2: docs/reference/stages.md has no row `| `extra` | write |`: bring them in step",
            ],
        );
        check(matrix, &with_files(&[]), &[]);
    }

    #[test]
    fn a_key_of_trust_that_is_not_on_the_page_and_one_that_is_none_are_found() {
        let code =
            "pub const TRUST_KEYS: &[&str] = &[\n    \"gate*\",\n    \"*url\",\n];\nconst OTHER: &str = \"x*\";\n";
        let page = "`y*`\n## Keys of trust\n`*` is any text: `gate*`, `old*`\n";
        check(
            trust_keys,
            &with_files(&[("crates/kernel/src/settings/trust.rs", code), (SETTINGS, page)]),
            &[
                "crates/kernel/src/settings/trust.rs:3: `*url` is not under Keys of trust of docs/reference/settings.md: add it",
                "docs/reference/settings.md:1: `old*` is no key of trust: take it out",
            ],
        );
        check(trust_keys, &with_files(&[]), &[]);
    }
}
