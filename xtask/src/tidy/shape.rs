//! The shape of files: length, functions, headers, and the few files that must or must not exist.
//!
//! Start at any of the rules. Invariant: a file may be long only if its first line says why.

use crate::project::Project;
use crate::rust_text::Source;

use super::Finding;

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 100;
const CODE: &[&str] = &[".rs", ".py", ".mjs", ".js", ".ts", ".sh"];

/// What decide's clippy.toml must forbid: the ways to a clock, the environment, files and the net.
const FORBIDDEN_IN_DECIDE: &[&str] = &[
    "std::time::SystemTime::now",
    "std::time::Instant::now",
    "std::env::var",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::fs::File::open",
    "std::net::TcpStream::connect",
    "std::process::Command::new",
];

pub fn long_files(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(CODE) {
        let lines = text.lines().count();
        let mut head = text.lines().filter(|line| !line.starts_with("#!"));
        let says_why = head.next().and_then(|line| line.split_once("long: ")).is_some();
        if lines > FILE_LINES_MAX && !says_why {
            let what =
                format!("{lines} lines, over {FILE_LINES_MAX}: split it, or say why on the first line, `// long: why`");
            found.push(Finding::new(path, 1, what));
        }
    }
    found
}

pub fn long_functions(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".rs"]) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (name, line, length) in Source::new(text).functions() {
            let above =
                lines[..line - 1].iter().rev().take_while(|line| line.starts_with("//") || line.starts_with("#["));
            let says_why = above.into_iter().any(|line| line.starts_with("// long: "));
            if length > FUNCTION_LINES_MAX && !says_why {
                let what = format!(
                    "fn {name} has {length} lines, over {FUNCTION_LINES_MAX}: keep the branches, move the leaves out"
                );
                found.push(Finding::new(path, line, what));
            }
        }
    }
    found
}

pub fn module_headers(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".rs"]) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("// long: "));
        if !lines.next().is_some_and(|line| line.starts_with("//!")) {
            let what = "no module header: open with `//!`, what it is for, where to start, its invariant";
            found.push(Finding::new(path, 1, what));
        }
    }
    found
}

pub fn clippy_files(project: &Project) -> Vec<Finding> {
    const DECIDE: &str = "crates/decide/clippy.toml";
    let Some(decide) = project.file(DECIDE) else {
        return vec![Finding::new(DECIDE, 1, "missing: it forbids clocks, environment, files and network in decide")];
    };
    let mut found = Vec::new();
    for path in FORBIDDEN_IN_DECIDE {
        if !decide.contains(&format!("\"{path}\"")) {
            found.push(Finding::new(DECIDE, 1, format!("does not forbid `{path}`: add it to disallowed-methods")));
        }
    }
    let root = project.file("clippy.toml").unwrap_or_default();
    let settings = root.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for line in settings {
        if !decide.lines().any(|other| other == line) {
            let what =
                format!("lacks the root's `{line}`: the nearest clippy.toml replaces the root one, so repeat the line");
            found.push(Finding::new(DECIDE, 1, what));
        }
    }
    found
}

pub fn lock_and_toolchain(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    if !project.committed.iter().any(|path| path == "Cargo.lock") {
        found.push(Finding::new(
            "Cargo.lock",
            1,
            "not committed: `git add Cargo.lock`, so that everybody builds the same",
        ));
    }
    for path in project
        .files
        .keys()
        .filter(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("rust-toolchain")))
    {
        found.push(Finding::new(path, 1, "no toolchain file here: `rust-version` in Cargo.toml says what is needed"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::project::with_files;

    #[test]
    fn a_long_file_must_say_why() {
        let long = "x\n".repeat(601);
        let why = format!("// long: a table\n{long}");
        let python = format!("#!/usr/bin/env python3\n# long: a table\n{long}");
        let project = with_files(&[
            ("a.rs", &long),
            ("b.rs", &why),
            ("c.py", &python),
            ("d.json", &long),
            ("e.rs", &"x\n".repeat(600)),
        ]);
        check(
            long_files,
            &project,
            &["a.rs:1: 601 lines, over 600: split it, or say why on the first line, `// long: why`"],
        );
    }

    #[test]
    fn a_long_function_is_found_with_its_name_unless_it_says_why() {
        let body = "a();\n".repeat(99);
        let long = format!(
            "//! x\nfn short() {{}}\nfn long() {{\n{body}}}\n// long: a table\n#[test]\nfn table() {{\n{body}}}\n"
        );
        check(
            long_functions,
            &with_files(&[("a.rs", &long)]),
            &["a.rs:3: fn long has 101 lines, over 100: keep the branches, move the leaves out"],
        );
    }

    #[test]
    fn a_module_without_header_is_found() {
        let project = with_files(&[("a.rs", "use b;\n"), ("b.rs", "\n//! B.\n"), ("c.rs", "// long: why\n//! C.\n")]);
        check(
            module_headers,
            &project,
            &["a.rs:1: no module header: open with `//!`, what it is for, where to start, its invariant"],
        );
    }

    #[test]
    fn decides_clippy_file_must_forbid_and_repeat() {
        check(
            clippy_files,
            &with_files(&[]),
            &["crates/decide/clippy.toml:1: missing: it forbids clocks, environment, files and network in decide"],
        );
        let all: String = FORBIDDEN_IN_DECIDE[1..].iter().map(|path| format!("\"{path}\"\n")).collect();
        let project = with_files(&[("crates/decide/clippy.toml", &all), ("clippy.toml", "# why\nx = 5\n")]);
        check(
            clippy_files,
            &project,
            &[
                "crates/decide/clippy.toml:1: does not forbid `std::time::SystemTime::now`: add it to disallowed-methods",
                "crates/decide/clippy.toml:1: lacks the root's `x = 5`: the nearest clippy.toml replaces the root one, so repeat the line",
            ],
        );
    }

    #[test]
    fn the_lock_file_is_committed_and_no_toolchain_file_is() {
        let mut project = with_files(&[("crates/x/rust-toolchain.toml", "")]);
        check(
            lock_and_toolchain,
            &project,
            &[
                "Cargo.lock:1: not committed: `git add Cargo.lock`, so that everybody builds the same",
                "crates/x/rust-toolchain.toml:1: no toolchain file here: `rust-version` in Cargo.toml says what is needed",
            ],
        );
        project.committed.push("Cargo.lock".to_owned());
        project.files.clear();
        check(lock_and_toolchain, &project, &[]);
    }
}
