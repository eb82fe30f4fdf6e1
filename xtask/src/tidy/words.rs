//! Words that do not belong in what is committed.
//!
//! Start at any of the rules. Invariant: a word is matched whole, in code without its comments and
//! literals where the rule is about code, so that prose may name what code may not do.

use crate::project::Project;
use crate::rust_text::{Source, line_of};

use super::Finding;

/// Text that people write; recorded data is not searched.
const WRITTEN: &[&str] = &[".rs", ".py", ".mjs", ".js", ".ts", ".sh", ".md", ".toml", ".yml", ".yaml", ".ci/run"];

/// Written in two halves, so that this file holds none of them.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/op", "t/")];
/// What may follow such a path: it is no path of this machine.
const ELSEWHERE: &[(&str, &str)] = &[("home-assistant\"", "inside the Debian folder that `home up` makes")];
const UNFINISHED_CODE: &[&str] = &["dbg!", "todo!", "unimplemented!", "#[ignore"];
const EMPTY_NAMES: &[&str] = &["Manager", "Helper", "Util", "Utils"];

pub fn unfinished(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(WRITTEN) {
        for (line, mark) in lines_with(text, MARKS) {
            found.push(Finding::new(path, line, format!("`{mark}`: do it, or open an issue and leave no mark")));
        }
    }
    for (path, text) in project.with_ends(&[".rs"]) {
        for (line, word) in lines_with(&Source::new(text).code, UNFINISHED_CODE) {
            found.push(Finding::new(path, line, format!("`{word}` in code: finish it, or take it out")));
        }
    }
    found
}

pub fn machine_paths(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(WRITTEN) {
        for (index, line) in text.lines().enumerate() {
            for machine in MACHINE_PATHS {
                let absolute = line.match_indices(machine).any(|(at, _)| {
                    let (before, after) = (line[..at].chars().next_back(), &line[at + machine.len()..]);
                    let elsewhere = ELSEWHERE.iter().any(|(path, _)| after.starts_with(path));
                    !elsewhere && before.is_none_or(|c| !(c.is_alphanumeric() || "._-~}$*".contains(c)))
                });
                if absolute {
                    let what =
                        format!("`{machine}` is a path of one machine: take it from an argument or the environment");
                    found.push(Finding::new(path, index + 1, what));
                }
            }
        }
    }
    found
}

pub fn type_names(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".rs"]) {
        let code = Source::new(text).code;
        for (index, line) in code.lines().enumerate() {
            let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            for pair in words.windows(2) {
                let names_type = ["struct", "enum", "trait", "type", "mod"].contains(&pair[0]);
                let empty = EMPTY_NAMES.iter().find(|name| pair[1].ends_with(**name) || pair[1] == name.to_lowercase());
                if let Some(empty) = empty.filter(|_| names_type) {
                    let what = format!("`{}`: {empty} says nothing, name it after what it is", pair[1]);
                    found.push(Finding::new(path, index + 1, what));
                }
            }
        }
    }
    found
}

pub fn sleeping_tests(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".rs", ".py", ".mjs"]) {
        let rust = path.ends_with(".rs").then(|| Source::new(text));
        let all_test = path.contains("/tests/") || path.contains("/test_") || path.contains("/clients/");
        let regions = rust.as_ref().map(Source::test_lines).unwrap_or_default();
        let code = rust.map_or_else(|| text.to_owned(), |source| source.code);
        for ((index, line), written) in code.lines().enumerate().zip(text.lines()) {
            let tested = all_test || regions.iter().any(|region| region.contains(&(index + 1)));
            if tested && line.contains("sleep(") && !written.contains("deadline") {
                let what = "a test sleeps: poll with a deadline and say `deadline` on that line, or use paused time";
                found.push(Finding::new(path, index + 1, what));
            }
        }
    }
    found
}

/// Lines (from 1) that hold one of the words, not as part of a longer word.
fn lines_with<'a>(text: &'a str, words: &'a [&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
    words.iter().flat_map(move |word| {
        let whole = text.match_indices(word).filter(move |(at, _)| {
            let joins = |c: char| c.is_alphanumeric() || c == '_';
            !text[..*at].ends_with(joins) && !text[at + word.len()..].starts_with(joins)
        });
        whole.map(move |(at, _)| (line_of(text, at), *word))
    })
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::project::with_files;

    #[test]
    fn a_mark_is_found_in_prose_and_code() {
        let text = format!("//! x\n// {}: later\n// {}S are fine\n", MARKS[0], MARKS[0]);
        check(
            unfinished,
            &with_files(&[("a.rs", &text), ("data.json", &text)]),
            &[&format!("a.rs:2: `{}`: do it, or open an issue and leave no mark", MARKS[0])],
        );
    }

    #[test]
    fn unfinished_code_is_found_in_code_only() {
        let text = "//! `dbg!` is banned.\nfn a() { dbg!(1); }\n#[ignore = \"slow\"]\nfn b() { \"todo!\"; todo!() }\n";
        check(
            unfinished,
            &with_files(&[("a.rs", text)]),
            &[
                "a.rs:2: `dbg!` in code: finish it, or take it out",
                "a.rs:4: `todo!` in code: finish it, or take it out",
                "a.rs:3: `#[ignore` in code: finish it, or take it out",
            ],
        );
    }

    #[test]
    fn a_path_of_one_machine_is_found_and_a_relative_one_is_not() {
        let machine = MACHINE_PATHS[2];
        let text = format!(
            "cd {machine}x\ncd $HOME{machine}x \"{machine}home-assistant\"\nhttps://a.example{machine}\n\"{machine}\"\n"
        );
        let what = format!("`{machine}` is a path of one machine: take it from an argument or the environment");
        check(
            machine_paths,
            &with_files(&[("a.sh", &text)]),
            &[&format!("a.sh:1: {what}"), &format!("a.sh:4: {what}")],
        );
    }

    #[test]
    fn a_name_that_says_nothing_is_found() {
        let text = "pub struct HouseManager;\nenum Managerial {}\nmod util;\nfn helper() {}\n";
        check(
            type_names,
            &with_files(&[("a.rs", text)]),
            &[
                "a.rs:1: `HouseManager`: Manager says nothing, name it after what it is",
                "a.rs:3: `util`: Util says nothing, name it after what it is",
            ],
        );
    }

    #[test]
    fn a_sleeping_test_is_found_and_product_code_may_wait() {
        let text = "fn a() { sleep(1); }\n#[cfg(test)]\nmod tests {\n fn b() { sleep(1); }\n fn c() { sleep(1); } // until the deadline\n}\n";
        let what = "a test sleeps: poll with a deadline and say `deadline` on that line, or use paused time";
        check(
            sleeping_tests,
            &with_files(&[("crates/a/src/a.rs", text), ("crates/a/tests/b.rs", "sleep(2)")]),
            &[&format!("crates/a/src/a.rs:4: {what}"), &format!("crates/a/tests/b.rs:1: {what}")],
        );
    }
}
