//! The limits table of ARCHITECTURE.md against the constants.
//!
//! Start at [`table`]. A constant is a limit when a line of its doc comment starts with `Limit:`;
//! then the table has a row with its name in backticks, its value, and what happens there. The
//! reverse holds too: a row names a constant that is in the code.

use crate::project::Project;
use crate::rust_text::Source;

use super::Finding;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// A constant as the code has it.
struct Limit<'a> {
    path: &'a str,
    line: usize,
    name: String,
    /// In milliseconds for times, else as it is; none where it cannot be worked out.
    value: Option<u64>,
}

struct Row<'a> {
    line: usize,
    name: &'a str,
    value: Option<u64>,
    meaning: &'a str,
}

pub fn table(project: &Project) -> Vec<Finding> {
    let limits: Vec<Limit<'_>> = project.with_ends(&[".rs"]).flat_map(|(path, text)| limits_in(path, text)).collect();
    let Some(document) = project.file(DOCUMENT) else {
        return Vec::new(); // `documents::members` says that it is missing
    };
    let rows = rows(document);
    let mut found = Vec::new();
    for limit in &limits {
        let name = &limit.name;
        let what = match (limit.value, rows.iter().find(|row| row.name == name)) {
            (None, _) => {
                Some(format!("limit `{name}` is no plain value: write a number, a product or Duration::from_*"))
            }
            (_, None) => Some(format!(
                "limit `{name}` is not in the limits table of {DOCUMENT}: add a row, `{name}`, value, what the user sees"
            )),
            (value, Some(row)) if value != row.value => {
                Some(format!("limit `{name}` differs from line {} of {DOCUMENT}: correct one of them", row.line))
            }
            _ => None,
        };
        found.extend(what.map(|what| Finding::new(limit.path, limit.line, what)));
    }
    for (index, row) in rows.iter().enumerate() {
        if rows[..index].iter().any(|earlier| earlier.name == row.name) {
            found.push(Finding::new(
                DOCUMENT,
                row.line,
                format!("`{}` stands in the table twice: remove a row", row.name),
            ));
        }
        if !limits.iter().any(|limit| limit.name == row.name) {
            let what = format!(
                "no constant `{}` has a `Limit:` line in its doc comment: remove the row or mark the constant",
                row.name
            );
            found.push(Finding::new(DOCUMENT, row.line, what));
        }
        if row.meaning.split_whitespace().count() < 3 {
            found.push(Finding::new(
                DOCUMENT,
                row.line,
                format!("`{}` does not say what happens there: add a sentence", row.name),
            ));
        }
    }
    found
}

fn limits_in<'a>(path: &'a str, text: &'a str) -> Vec<Limit<'a>> {
    let mut found = Vec::new();
    let mut marked = false;
    // A constant that stands in a literal is none, and in the code literals are blank.
    let code = Source::new(text).code;
    for (index, (line, code)) in text.lines().zip(code.lines()).enumerate() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("///") {
            marked |= comment.trim_start().starts_with("Limit:");
        } else if let Some((name, value)) = constant(code.trim()).filter(|_| marked) {
            found.push(Limit { path, line: index + 1, name, value });
            marked = false;
        } else if !line.starts_with("#[") {
            marked = false;
        }
    }
    found
}

/// Name and value of `const NAME: type = value;`, of any visibility.
fn constant(line: &str) -> Option<(String, Option<u64>)> {
    let (before, rest) = line.split_once("const ")?;
    let (name, rest) = rest.split_once(':')?;
    let (_, value) = rest.split_once('=')?;
    let plain = before.is_empty() || before.starts_with("pub");
    plain.then(|| (name.trim().to_owned(), code_value(name.trim(), value.trim().trim_end_matches(';'))))
}

fn code_value(name: &str, value: &str) -> Option<u64> {
    let from = value.strip_prefix("std::time::").unwrap_or(value).strip_prefix("Duration::from_");
    if let Some((unit, amount)) = from.and_then(|from| from.split_once('(')) {
        let factor = match unit {
            "millis" => 1,
            "secs" => 1000,
            "mins" => 60_000,
            "hours" => 3_600_000,
            _ => return None,
        };
        return Some(product(amount.strip_suffix(')')?)? * factor);
    }
    let factor = if name.ends_with("_SECS") { 1000 } else { 1 };
    Some(product(value)? * factor)
}

fn product(text: &str) -> Option<u64> {
    text.split('*').map(|factor| factor.trim().replace('_', "").parse::<u64>().ok()).product()
}

/// Rows of the table under the heading `Limits`.
fn rows(document: &str) -> Vec<Row<'_>> {
    let mut inside = false;
    let mut found = Vec::new();
    for (index, line) in document.lines().enumerate() {
        if line.starts_with("## ") {
            inside = line == "## Limits";
        }
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if let [name, value, meaning] = cells.as_slice()
            && let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'))
            && inside
        {
            found.push(Row { line: index + 1, name, value: written_value(value), meaning });
        }
    }
    found
}

/// `10 s`, `500 ms`, `64 KiB`, `1,000 entities`.
fn written_value(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '_')).unwrap_or(text.len());
    let amount: u64 = text[..end].replace([',', '_'], "").parse().ok()?;
    let factor = match text[end..].split_whitespace().next().unwrap_or_default() {
        "s" => 1000,
        "min" => 60_000,
        "h" => 3_600_000,
        "KiB" => 1024,
        "MiB" => 1024 * 1024,
        _ => 1,
    };
    Some(amount * factor)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::project::with_files;

    const CODE: &str = "\
/// How long a command may take.
/// Limit: the call answers `timeout`.
pub const COMMAND_DEADLINE: Duration = Duration::from_secs(10);
/// Limit: cut.
#[allow(unused)]
pub(crate) const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Limit: dropped.
const PING_SECS: u64 = 5;
/// No limit.
const OTHER_MAX: u64 = 7;
";

    fn project(table: &str) -> Project {
        let document = format!("# A\n## Limits\n| name | value | there |\n|---|---|---|\n{table}");
        with_files(&[("crates/a/src/lib.rs", CODE), ("ARCHITECTURE.md", &document)])
    }

    #[test]
    fn a_table_that_agrees_is_silent() {
        let table = "| `COMMAND_DEADLINE` | 10 s | it says so |\n| `TEXT_BYTES_MAX` | 16 KiB | it is cut |\n| `PING_SECS` | 5 s | it is dropped |\n";
        check(super::table, &project(table), &[]);
    }

    #[test]
    fn a_missing_a_wrong_and_an_idle_row_are_found() {
        let table = "| `COMMAND_DEADLINE` | 11 s | it says so |\n| `TEXT_BYTES_MAX` | 16,384 bytes | cut |\n| `OTHER_MAX` | 7 | it is cut |\n";
        check(
            super::table,
            &project(table),
            &[
                "crates/a/src/lib.rs:3: limit `COMMAND_DEADLINE` differs from line 5 of ARCHITECTURE.md: correct one of them",
                "crates/a/src/lib.rs:8: limit `PING_SECS` is not in the limits table of ARCHITECTURE.md: add a row, `PING_SECS`, value, what the user sees",
                "ARCHITECTURE.md:6: `TEXT_BYTES_MAX` does not say what happens there: add a sentence",
                "ARCHITECTURE.md:7: no constant `OTHER_MAX` has a `Limit:` line in its doc comment: remove the row or mark the constant",
            ],
        );
    }

    #[test]
    fn a_row_that_stands_twice_is_found() {
        let row = "| `A` | 3 | it is cut there |\n";
        let document = format!("## Limits\n{row}{row}");
        let project = with_files(&[("a.rs", "/// Limit: x\nconst A: usize = 3;\n"), ("ARCHITECTURE.md", &document)]);
        check(super::table, &project, &["ARCHITECTURE.md:3: `A` stands in the table twice: remove a row"]);
    }

    #[test]
    fn a_limit_that_cannot_be_worked_out_is_found() {
        let project = with_files(&[
            ("a.rs", "/// Limit: x\nconst A: usize = B + 1;\n"),
            ("ARCHITECTURE.md", "## Limits\n| `A` | 3 | it is cut |\n"),
        ]);
        check(
            super::table,
            &project,
            &["a.rs:2: limit `A` is no plain value: write a number, a product or Duration::from_*"],
        );
    }
}
