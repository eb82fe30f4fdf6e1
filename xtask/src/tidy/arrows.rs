//! Which crate of ours may know which, and which foreign crates are fenced in.
//!
//! Start at [`ARROWS`]. Invariant: a member without a row is a finding, so a crate cannot come in
//! without saying what it may know.

use crate::project::Project;
use crate::rust_text::{Source, line_of};

use super::{Finding, PURE};

/// Each crate with the crates of ours that it may know. `testkit` is for tests only, everywhere.
const ARROWS: &[(&str, &[&str])] = &[
    ("decide", &[]),
    ("sdk", &[]),
    ("kernel", &["decide", "sdk"]),
    ("home", &["decide"]),
    ("llm", &["kernel", "sdk"]),
    ("pi", &["kernel", "sdk"]),
    ("store", &["decide", "kernel", "sdk"]),
    ("mcp", &["home", "decide", "sdk"]),
    ("plugins", &["kernel", "sdk", "mcp"]),
    ("server", &["kernel", "home", "sdk"]),
    ("menshen", &["decide", "sdk", "kernel", "home", "llm", "store", "mcp", "pi", "plugins", "server"]),
    ("testkit", &["decide", "home"]),
    ("xtask", &["decide", "home", "testkit"]),
];

/// Not below a pure crate, however deep: each brings I/O, a clock or chance.
const IMPURE: &[&str] = &[
    "axum",
    "getrandom",
    "hyper",
    "mio",
    "rand",
    "reqwest",
    "rmcp",
    "rusqlite",
    "rustls",
    "socket2",
    "tokio",
    "tokio-tungstenite",
    "tungstenite",
];

/// What a pure crate may have below it all the same: the kernel runs tasks with deadlines, and what checks
/// JSON Schemas seeds its hash maps.
const EXCEPTED: &[(&str, &str)] = &[("kernel", "tokio"), ("kernel", "getrandom")];

/// Foreign crates that one crate (or few) of ours fences in.
const FENCES: &[(&str, &[&str])] = &[
    ("rmcp", &["mcp"]),
    ("axum", &["server"]),
    ("rusqlite", &["store"]),
    ("tokio-tungstenite", &["home", "testkit"]),
    ("reqwest", &["home", "menshen", "llm"]),
    ("hyper", &["server"]),
    ("mdns-sd", &["menshen"]),
];

/// Words that mean a socket, and the crates that may say them.
const SOCKET_WORDS: &[&str] = &["TcpStream", "TcpListener", "UdpSocket", "UnixStream", "UnixListener"];
const SOCKET_CRATES: &[&str] = &["home", "menshen", "llm", "server", "testkit"];

pub fn allowed(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    let ours: Vec<&str> = project.members.iter().map(|member| member.name.as_str()).collect();
    for member in &project.members {
        let manifest = format!("{}/Cargo.toml", member.path);
        let Some((_, row)) = ARROWS.iter().find(|(name, _)| *name == member.name) else {
            let what = format!(
                "crate `{}` has no row in ARROWS of xtask/src/tidy/arrows.rs: add what it may know",
                member.name
            );
            found.push(Finding::new(&manifest, 1, what));
            continue;
        };
        for dependency in &member.dependencies {
            let known = row.contains(&dependency.name.as_str()) || (dependency.dev && dependency.name == "testkit");
            if ours.contains(&dependency.name.as_str()) && !known {
                let line = line_naming(project, &manifest, &dependency.name);
                let what = format!(
                    "`{}` may not know `{}`: pass what it needs as an argument, or change ARCHITECTURE.md and ARROWS together",
                    member.name, dependency.name
                );
                found.push(Finding::new(&manifest, line, what));
            }
        }
    }
    found
}

pub fn bans(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in project.members.iter().filter(|member| PURE.contains(&member.name.as_str())) {
        let below = project.below.get(&member.name).map(Vec::as_slice).unwrap_or_default();
        let excepted = |name: &str| EXCEPTED.contains(&(member.name.as_str(), name));
        let banned = |name: &str| IMPURE.contains(&name) && !excepted(name);
        for banned in below.iter().filter(|name| banned(name)) {
            let what = format!(
                "`{banned}` is below `{}`, which does no I/O: `cargo tree -p {} -e normal,build -i {banned}` shows by which way",
                member.name, member.name
            );
            found.push(Finding::new(&format!("{}/Cargo.toml", member.path), 1, what));
        }
    }
    found
}

pub fn fences(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in &project.members {
        for dependency in member.dependencies.iter().filter(|dependency| !dependency.dev) {
            let fence = FENCES.iter().find(|(name, _)| *name == dependency.name);
            if let Some((name, inside)) = fence
                && !inside.contains(&member.name.as_str())
            {
                let manifest = format!("{}/Cargo.toml", member.path);
                let line = line_naming(project, &manifest, name);
                let what = format!("only {} may know `{name}`: use what that crate offers", inside.join(", "));
                found.push(Finding::new(&manifest, line, what));
            }
        }
    }
    found
}

/// Words that only one file may say, outside of tests: whoever could say them could give away what they guard.
const SAID_IN_ONE: &[(&str, &str, &str)] =
    &[("Yes::of_a_person", "crates/home/src/approvals.rs", "only a question that was claimed makes a person's yes")];

pub fn said_in_one(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".rs"]).filter(|(path, _)| !path.contains("/tests")) {
        let source = Source::new(text);
        let code = source.code.split("#[cfg(test)]").next().unwrap_or_default();
        for (word, home, why) in SAID_IN_ONE.iter().filter(|(_, home, _)| *home != path) {
            if let Some(at) = code.find(word) {
                found.push(Finding::new(path, line_of(code, at), format!("`{word}` outside {home}: {why}")));
            }
        }
    }
    found
}

pub fn sockets(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".rs"]) {
        let owner = path.strip_prefix("crates/").and_then(|rest| rest.split('/').next());
        if owner.is_none_or(|name| SOCKET_CRATES.contains(&name)) {
            continue;
        }
        let source = Source::new(text);
        for word in SOCKET_WORDS {
            if let Some(at) = source.code.find(word) {
                let what = format!("`{word}` outside {}: sockets live there", SOCKET_CRATES.join(", "));
                found.push(Finding::new(path, line_of(&source.code, at), what));
            }
        }
    }
    found
}

fn line_naming(project: &Project, path: &str, name: &str) -> usize {
    let lines = project.file(path).unwrap_or_default().lines();
    lines.enumerate().find(|(_, line)| line.starts_with(name)).map_or(1, |(index, _)| index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::project::{Dependency, Member, with_files};

    fn project(members: &[(&str, &[(&str, bool)])]) -> Project {
        let members = members.iter().map(|(name, dependencies)| Member {
            name: (*name).to_owned(),
            path: format!("crates/{name}"),
            dependencies: dependencies
                .iter()
                .map(|(name, dev)| Dependency { name: (*name).to_owned(), dev: *dev })
                .collect(),
        });
        Project { members: members.collect(), ..Project::default() }
    }

    #[test]
    fn a_persons_yes_is_made_in_one_file() {
        let said = "fn f() {\n    Yes::of_a_person(asked);\n}\n";
        let project = with_files(&[
            ("crates/home/src/approvals.rs", said),
            ("crates/home/src/other.rs", said),
            (
                "crates/mcp/src/a.rs",
                "// Yes::of_a_person\nconst A: &str = \"Yes::of_a_person\";\n#[cfg(test)]\nmod t { fn f() { Yes::of_a_person(x); } }\n",
            ),
        ]);
        check(
            super::said_in_one,
            &project,
            &[
                "crates/home/src/other.rs:2: `Yes::of_a_person` outside crates/home/src/approvals.rs: only a question that was claimed makes a person's yes",
            ],
        );
    }

    #[test]
    fn a_wrong_arrow_is_found_and_a_right_one_is_not() {
        let right = project(&[
            ("decide", &[]),
            ("home", &[("decide", false), ("testkit", true)]),
            ("testkit", &[("home", false)]),
        ]);
        check(allowed, &right, &[]);
        let mut wrong = project(&[("decide", &[("home", false)]), ("home", &[("testkit", false)]), ("testkit", &[])]);
        wrong.files.insert("crates/decide/Cargo.toml".to_owned(), "[package]\n\nhome.workspace = true\n".to_owned());
        check(
            allowed,
            &wrong,
            &[
                "crates/decide/Cargo.toml:3: `decide` may not know `home`: pass what it needs as an argument, or change ARCHITECTURE.md and ARROWS together",
                "crates/home/Cargo.toml:1: `home` may not know `testkit`: pass what it needs as an argument, or change ARCHITECTURE.md and ARROWS together",
            ],
        );
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        check(
            allowed,
            &project(&[("novel", &[])]),
            &[
                "crates/novel/Cargo.toml:1: crate `novel` has no row in ARROWS of xtask/src/tidy/arrows.rs: add what it may know",
            ],
        );
    }

    #[test]
    fn io_below_decide_is_found_and_below_home_is_not() {
        let mut project = project(&[("decide", &[]), ("home", &[])]);
        for name in ["decide", "home"] {
            project.below.insert(name.to_owned(), vec!["serde".to_owned(), "tokio".to_owned()]);
        }
        check(
            bans,
            &project,
            &[
                "crates/decide/Cargo.toml:1: `tokio` is below `decide`, which does no I/O: `cargo tree -p decide -e normal,build -i tokio` shows by which way",
            ],
        );
    }

    #[test]
    fn a_fenced_crate_outside_its_fence_is_found() {
        check(fences, &project(&[("mcp", &[("rmcp", false)]), ("home", &[("rmcp", true)])]), &[]);
        check(
            fences,
            &project(&[("home", &[("rmcp", false)])]),
            &["crates/home/Cargo.toml:1: only mcp may know `rmcp`: use what that crate offers"],
        );
    }

    #[test]
    fn a_socket_outside_home_is_found_in_code_and_not_in_prose() {
        let text = "//! Not a TcpStream.\nuse tokio::net::TcpStream;\n";
        check(sockets, &with_files(&[("crates/home/src/lib.rs", text)]), &[]);
        check(
            sockets,
            &with_files(&[("crates/mcp/src/lib.rs", text)]),
            &["crates/mcp/src/lib.rs:2: `TcpStream` outside home, menshen, llm, server, testkit: sockets live there"],
        );
    }
}
