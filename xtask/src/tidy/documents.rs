//! Documents that drift: the map, the change log, the two READMEs, links, notices.
//!
//! Start at any of the rules. Invariant: a rule compares a document with something that is not a
//! document, or with its twin, so that it can be wrong only where it is seen.

use std::collections::BTreeSet;

use crate::project::Project;

use super::Finding;

const MAP: &str = "ARCHITECTURE.md";

/// Every member is on the map, and the map shows no crate that is not there.
pub fn members(project: &Project) -> Vec<Finding> {
    let Some(map) = project.file(MAP) else {
        return vec![Finding::new(MAP, 1, "missing: write the map of the project")];
    };
    let mut found = Vec::new();
    let shown: BTreeSet<&str> = map.split('`').filter(|word| is_crate_path(word)).collect();
    for member in &project.members {
        if !shown.contains(member.path.as_str()) {
            found.push(Finding::new(MAP, 1, format!("does not name `{}`: add it to the layout", member.path)));
        }
    }
    for path in shown {
        if !project.members.iter().any(|member| member.path == path) {
            let line = 1 + map.lines().position(|line| line.contains(&format!("`{path}`"))).unwrap_or(0);
            found.push(Finding::new(
                MAP,
                line,
                format!("names `{path}`, which is no member of the workspace: take it out"),
            ));
        }
    }
    found
}

fn is_crate_path(word: &str) -> bool {
    word == "xtask" || word.strip_prefix("crates/").is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

pub fn changelog(project: &Project) -> Vec<Finding> {
    const PATH: &str = "CHANGELOG.md";
    let text = project.file(PATH).unwrap_or_default();
    match text.lines().any(|line| line == "## [Unreleased]") {
        true => Vec::new(),
        false => vec![Finding::new(PATH, 1, "has no `## [Unreleased]`: add the section for what comes next")],
    }
}

/// Both READMEs say the same, as far as their headings and code blocks show.
pub fn readmes(project: &Project) -> Vec<Finding> {
    const ENGLISH: &str = "README.md";
    const CHINESE: &str = "README.zh-CN.md";
    let (english, chinese) = (project.file(ENGLISH).unwrap_or_default(), project.file(CHINESE).unwrap_or_default());
    let mut found = Vec::new();
    let levels = |text| headings(text).map(|(_, level, _)| level).collect::<Vec<_>>();
    if levels(english) != levels(chinese) {
        let what = format!(
            "{} headings, {ENGLISH} has {}, or other levels: bring them in step",
            levels(chinese).len(),
            levels(english).len()
        );
        found.push(Finding::new(CHINESE, 1, what));
    }
    if code_blocks(english) != code_blocks(chinese) {
        found.push(Finding::new(CHINESE, 1, format!("its code blocks are not those of {ENGLISH}: bring them in step")));
    }
    found
}

/// What a reader would copy: the blocks without the comments, which are translated.
fn code_blocks(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside && !line.trim_start().starts_with('#') {
            lines.push(line.split(" # ").next().unwrap_or_default().trim_end());
        }
    }
    lines
}

/// Headings outside code blocks: line, level, text.
fn headings(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        inside ^= line.starts_with("```");
        let level = line.chars().take_while(|c| *c == '#').count();
        let title = line.get(level..)?.strip_prefix(' ')?;
        (level > 0 && !inside).then_some((index + 1, level, title))
    })
}

pub fn links(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in project.with_ends(&[".md"]) {
        let mut inside = false;
        for (index, line) in text.lines().enumerate() {
            inside ^= line.starts_with("```");
            for target in targets(line).filter(|_| !inside) {
                if let Some(why) = broken(project, path, target) {
                    found.push(Finding::new(path, index + 1, format!("link to `{target}`: {why}, correct it")));
                }
            }
        }
    }
    found
}

fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

fn broken(project: &Project, from: &str, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { from.to_owned() } else { joined(from, file) };
    let folder = format!("{path}/");
    if !project.files.contains_key(&path) {
        let is_folder = project.files.keys().any(|known| known.starts_with(&folder));
        return (!is_folder).then_some("there is no such file");
    }
    let known = project.file(&path).is_some_and(|text| headings(text).any(|(_, _, title)| slug(title) == anchor));
    (!anchor.is_empty() && !known).then_some("there is no such heading")
}

/// A path relative to the file that holds the link.
fn joined(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchor that a heading gets where it is shown.
fn slug(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

pub fn notices(project: &Project) -> Vec<Finding> {
    const PATH: &str = "THIRD-PARTY.md";
    match &project.notices {
        Some(notices) if project.file(PATH) != Some(notices) => {
            vec![Finding::new(PATH, 1, "is not what the program is built of: run `cargo xtask notices`")]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::project::{Member, with_files};

    #[test]
    fn a_member_off_the_map_and_a_ghost_on_it_are_found() {
        let mut project =
            with_files(&[("ARCHITECTURE.md", "# A\n`crates/home` and `crates/ghost`, `crates/home/src`\n")]);
        for path in ["crates/home", "crates/decide"] {
            project.members.push(Member { path: path.to_owned(), ..Member::default() });
        }
        check(
            members,
            &project,
            &[
                "ARCHITECTURE.md:1: does not name `crates/decide`: add it to the layout",
                "ARCHITECTURE.md:2: names `crates/ghost`, which is no member of the workspace: take it out",
            ],
        );
        check(members, &with_files(&[]), &["ARCHITECTURE.md:1: missing: write the map of the project"]);
    }

    #[test]
    fn a_change_log_without_its_next_section_is_found() {
        check(changelog, &with_files(&[("CHANGELOG.md", "## [Unreleased]\n")]), &[]);
        check(
            changelog,
            &with_files(&[("CHANGELOG.md", "## 1.0\n")]),
            &["CHANGELOG.md:1: has no `## [Unreleased]`: add the section for what comes next"],
        );
    }

    #[test]
    fn readmes_out_of_step_are_found() {
        let english = "# A\n```sh\n# not a heading\nrun # it\n```\n## B\n";
        let same = "# 甲\n```sh\n# 不是\nrun # 它\n```\n## 乙\n";
        check(readmes, &with_files(&[("README.md", english), ("README.zh-CN.md", same)]), &[]);
        let other = "# 甲\n```sh\nwalk\n```\n";
        check(
            readmes,
            &with_files(&[("README.md", english), ("README.zh-CN.md", other)]),
            &[
                "README.zh-CN.md:1: 1 headings, README.md has 2, or other levels: bring them in step",
                "README.zh-CN.md:1: its code blocks are not those of README.md: bring them in step",
            ],
        );
    }

    #[test]
    fn a_link_to_nothing_is_found() {
        let text = "[a](b.md) [b](../README.md#the-way-home) [c](https://x.example/y) [d](nowhere.md)\n[e](#nowhere) [f](../README.md#no)\n[g](..)\n";
        let project = with_files(&[("docs/a.md", text), ("docs/b.md", ""), ("README.md", "## The way: home\n")]);
        check(
            links,
            &project,
            &[
                "docs/a.md:1: link to `nowhere.md`: there is no such file, correct it",
                "docs/a.md:2: link to `#nowhere`: there is no such heading, correct it",
                "docs/a.md:2: link to `../README.md#no`: there is no such heading, correct it",
                "docs/a.md:3: link to `..`: there is no such file, correct it",
            ],
        );
    }

    #[test]
    fn notices_that_lag_are_found() {
        let mut project = with_files(&[("THIRD-PARTY.md", "a 1")]);
        project.notices = Some("a 1".to_owned());
        check(notices, &project, &[]);
        project.notices = Some("a 2".to_owned());
        check(notices, &project, &["THIRD-PARTY.md:1: is not what the program is built of: run `cargo xtask notices`"]);
    }
}
