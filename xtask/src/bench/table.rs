//! The rows as a table: on the screen, and in docs/dev/benchmarks.md between two marks.
//!
//! Start at [`Table`]. Invariant: a number and its limit stand on one line, and a miss says so.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

const BEGIN: &str = "<!-- measured: written by `cargo xtask bench --write` -->";
const END: &str = "<!-- end of what was measured -->";

#[derive(Serialize)]
pub struct Row {
    part: String,
    what: String,
    value: f64,
    unit: String,
    limit: Option<f64>,
    how: String,
}

impl Row {
    pub fn read(row: &Value) -> anyhow::Result<Self> {
        let text = |key: &str| row[key].as_str().map(str::to_owned).with_context(|| format!("a row has no `{key}`"));
        Ok(Self {
            part: text("part")?,
            what: text("what")?,
            value: row["value"].as_f64().context("a row has no value")?,
            unit: text("unit")?,
            limit: row["limit"].as_f64(),
            how: text("how")?,
        })
    }

    fn within(&self) -> bool {
        self.limit.is_none_or(|limit| self.value <= limit)
    }

    fn cells(&self) -> [String; 5] {
        let limit = self.limit.map(|limit| format!("{limit} {}", self.unit)).unwrap_or_default();
        let missed = if self.within() { "" } else { " **missed**" };
        let value = format!("{} {}{missed}", number(self.value), self.unit);
        [self.part.clone(), self.what.clone(), value, limit, self.how.clone()]
    }
}

/// Three digits that say something.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub struct Table<'a> {
    pub rows: &'a [Row],
    /// When, where and of what, a line each.
    pub about: &'a [String],
    pub left_out: &'a [String],
}

impl Table<'_> {
    pub fn within_limits(&self) -> bool {
        self.rows.iter().all(Row::within)
    }

    pub fn text(&self) -> String {
        let head = ["part", "what", "measured", "at most", "how"].map(str::to_owned);
        let mut lines = vec![head];
        lines.extend(self.rows.iter().map(Row::cells));
        let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 5] = std::array::from_fn(width);
        let rule = widths.map(|width| "-".repeat(width));
        lines.insert(1, rule);
        let line = |cells: &[String; 5]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
        };
        let mut text: String = self.about.iter().map(|line| format!("- {line}\n")).collect();
        text.push('\n');
        text.extend(lines.iter().map(line));
        if !self.left_out.is_empty() {
            text.push_str("\nLeft out:\n\n");
            text.extend(self.left_out.iter().map(|line| format!("- {}\n", line.replace('\n', " "))));
        }
        text
    }

    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let page = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let between = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        let (before, after) = between.with_context(|| format!("{} has lost its two marks", path.display()))?;
        let page = format!("{before}{BEGIN}\n\n{}\n{END}{after}", self.text());
        std::fs::write(path, page).with_context(|| format!("writing {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_over_its_limit_is_marked_and_fails_the_run() {
        let row = |value: f64| Row {
            part: "call".into(),
            what: "added".into(),
            value,
            unit: "ms".into(),
            limit: Some(1.0),
            how: String::new(),
        };
        let table = |rows: &[Row]| {
            let table = Table { rows, about: &[], left_out: &[] };
            (table.within_limits(), table.text())
        };
        let (good, text) = table(&[row(0.174)]);
        assert!(good && text.contains("| 0.17 ms  | 1 ms    |"), "{text}");
        let (good, text) = table(&[row(0.1), row(12.34)]);
        assert!(!good && text.contains("12.3 ms **missed**"), "{text}");
    }
}
