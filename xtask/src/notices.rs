//! THIRD-PARTY.md: what the program is built of, from what cargo knows.
//!
//! Start at [`text`]. Invariant: the text depends on Cargo.lock alone, so that tidy can compare it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::project;

const PATH: &str = "THIRD-PARTY.md";
const PROGRAM: &str = "menshen";

const HEAD: &str = "\
# Third-party notices

Menshen is licensed under Apache-2.0 (see [LICENSE](LICENSE)). It is built of, and works with, the
work of others. Written by `cargo xtask notices`; do not edit by hand.

## Data and systems

| what | licence | how it is used |
| --- | --- | --- |
| [Home Assistant](https://github.com/home-assistant/core) | Apache-2.0 | spoken to over its public interfaces; disposable test houses install it from PyPI; nothing of it is in the program |
| [Model Context Protocol](https://github.com/modelcontextprotocol) clients for TypeScript and Python | MIT | in tests only |
| [pinyin-data](https://github.com/mozillazg/pinyin-data), inside the crate `pinyin` | MIT | readings of Chinese characters |
| [Unicode character data](https://www.unicode.org/license.txt), inside the crate `unicode-normalization` | Unicode-3.0 | normal forms of text |
| [OpenCC](https://github.com/BYVoid/OpenCC) character tables, © BYVoid and contributors, in `crates/decide/src/text/traditional.txt` | Apache-2.0 | traditional and simplified Chinese count as one; a few pairs are ours |
| [jieba](https://github.com/fxsjy/jieba) dictionary, © Sun Junyi and contributors, in `crates/store/data/jieba.txt.gz` | MIT | cuts Chinese text into words; taken from the crate `jieba-rs`, without its word classes |

## Crates in the program

The licence text of each is in its source, which cargo downloads to build.

| crate | version | licence | source |
| --- | --- | --- | --- |
";

pub fn write() -> anyhow::Result<bool> {
    std::fs::write(project::root().join(PATH), text(&project::metadata()?)?)?;
    println!("notices: wrote {PATH}");
    Ok(true)
}

pub fn check() -> anyhow::Result<bool> {
    let same = std::fs::read_to_string(project::root().join(PATH)).ok() == Some(text(&project::metadata()?)?);
    println!("notices: {PATH} {}", if same { "is current" } else { "lags: run `cargo xtask notices`" });
    Ok(same)
}

/// The whole document.
pub fn text(metadata: &Value) -> anyhow::Result<String> {
    let mut rows = String::from(HEAD);
    let packages = list(&metadata["packages"]);
    let built = built_into(metadata, PROGRAM);
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let mut sorted: Vec<&Value> = foreign.filter(|package| built.contains(word(&package["id"]))).collect();
    sorted.sort_by_key(|package| (word(&package["name"]), word(&package["version"])));
    for package in sorted {
        let licence = match word(&package["license"]) {
            "" => "see its source",
            licence => licence,
        };
        let source = match word(&package["repository"]) {
            "" => format!("https://crates.io/crates/{}", word(&package["name"])),
            repository => repository.to_owned(),
        };
        let (name, version) = (word(&package["name"]), word(&package["version"]));
        rows.push_str(&format!("| {name} | {version} | {licence} | {source} |\n"));
    }
    Ok(rows)
}

/// Ids of all packages that end up in the program: normal dependencies only, however deep.
fn built_into<'a>(metadata: &'a Value, program: &str) -> BTreeSet<&'a str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).iter().map(|node| (word(&node["id"]), node)).collect();
    let named = list(&metadata["packages"]).iter().filter(|package| word(&package["name"]) == program);
    let mut open: Vec<&str> = named.map(|package| word(&package["id"])).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let edges = nodes.get(id).map(|node| list(&node["deps"])).unwrap_or_default();
        let normal = edges.iter().filter(|edge| list(&edge["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
        open.extend(normal.map(|edge| word(&edge["pkg"])));
    }
    seen
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_notices_name_what_is_built_in_and_nothing_that_only_tests_use() {
        let package = |name: &str, source: Value| json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source});
        let edge = |to: &str, kind: Value| json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("menshen", json!(null)), package("b", json!("registry")), package("a", json!("registry")), package("only_tests", json!("registry"))],
            "resolve": {"nodes": [
                {"id": "menshen", "deps": [edge("b", json!(null)), edge("only_tests", json!("dev"))]},
                {"id": "b", "deps": [edge("a", json!(null))]},
            ]},
        });
        let written = text(&metadata).unwrap();
        let rows: Vec<&str> = written.trim_start_matches(HEAD).lines().collect();
        assert_eq!(
            rows,
            ["| a | 1.0.0 | MIT | https://crates.io/crates/a |", "| b | 1.0.0 | MIT | https://crates.io/crates/b |",]
        );
    }
}
