//! The project as the checks see it: its files as text and what cargo says of its crates.
//!
//! Start at [`Project::read`]. Invariant: only files that git has, or would take, are seen, so a
//! check never depends on what lies about on one machine. Tests build a [`Project`] by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

/// One platform for everybody, so that the checks say the same on every machine.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Everything a rule may look at.
#[derive(Default)]
pub struct Project {
    /// Path from the root, with `/`, and text; files that are not UTF-8 are left out.
    pub files: BTreeMap<String, String>,
    /// Paths that git has in its index.
    pub committed: Vec<String>,
    /// Members of the workspace.
    pub members: Vec<Member>,
    /// Crates below each pure member over normal and build dependencies, by name.
    pub below: BTreeMap<String, Vec<String>>,
    /// What THIRD-PARTY.md should say; none where a test does not care.
    pub notices: Option<String>,
}

/// A crate of ours.
#[derive(Clone, Debug, Default)]
pub struct Member {
    pub name: String,
    /// Folder from the root.
    pub path: String,
    pub dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug)]
pub struct Dependency {
    pub name: String,
    /// Only tests, benches and examples see it.
    pub dev: bool,
}

/// The folder that holds the workspace.
/// Where the real pi is, by version.
pub fn pi_folder() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    variable("MENSHEN_PI").or_else(|| Some(cache()?.join("menshen/pi"))).unwrap_or_default()
}

pub fn root() -> PathBuf {
    // `cargo run` sets it; what was true at build time may lie in another clone.
    let told = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let here = PathBuf::from(told);
    here.parent().map_or(here.clone(), PathBuf::from)
}

/// What a program prints; an error that names it where it fails.
pub fn output(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let told = format!("{program} {}", arguments.join(" "));
    let done = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .with_context(|| format!("cannot start `{told}`"))?;
    if !done.status.success() {
        bail!("`{told}` failed: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The cargo that runs us, so that a wrapper or a toolchain choice holds below too.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

pub fn metadata() -> anyhow::Result<Value> {
    let text = output(&cargo(), &["metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM])?;
    serde_json::from_str(&text).context("cargo metadata printed no JSON")
}

impl Project {
    pub fn read() -> anyhow::Result<Self> {
        let metadata = metadata()?;
        let members = members(&metadata);
        let mut below = BTreeMap::new();
        for member in members.iter().filter(|member| crate::tidy::PURE.contains(&member.name.as_str())) {
            below.insert(member.name.clone(), below_of(&member.name)?);
        }
        let committed: Vec<String> =
            output("git", &["ls-files", "-z"])?.split_terminator('\0').map(str::to_owned).collect();
        let seen = output("git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let files = seen
            .split_terminator('\0')
            .filter_map(|path| Some((path.to_owned(), std::fs::read_to_string(root().join(path)).ok()?)))
            .collect();
        let notices = Some(crate::notices::text(&metadata)?);
        Ok(Self { files, committed, members, below, notices })
    }

    /// Files whose names end in one of these.
    pub fn with_ends(&self, ends: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let ends: Vec<String> = ends.iter().map(|end| (*end).to_owned()).collect();
        self.files
            .iter()
            .filter(move |(path, _)| ends.iter().any(|end| path.ends_with(end.as_str())))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }
}

fn members(metadata: &Value) -> Vec<Member> {
    let workspace: Vec<&str> = strings(&metadata["workspace_members"]);
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| workspace.contains(&id)))
        .map(|package| {
            let manifest = package["manifest_path"].as_str().unwrap_or_default();
            let path = manifest.trim_start_matches(root).trim_end_matches("Cargo.toml").trim_matches('/');
            let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
            Member {
                name: package["name"].as_str().unwrap_or_default().to_owned(),
                path: path.to_owned(),
                dependencies: dependencies
                    .iter()
                    .map(|dependency| Dependency {
                        name: dependency["name"].as_str().unwrap_or_default().to_owned(),
                        dev: dependency["kind"].as_str() == Some("dev"),
                    })
                    .collect(),
            }
        })
        .collect()
}

/// Names of the integration test binaries of our members.
pub fn test_targets(metadata: &Value) -> Vec<String> {
    let workspace = strings(&metadata["workspace_members"]);
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = packages.iter().filter(|package| package["id"].as_str().is_some_and(|id| workspace.contains(&id)));
    let targets = ours.flat_map(|package| package["targets"].as_array().map(Vec::as_slice).unwrap_or_default());
    targets
        .filter(|target| strings(&target["kind"]).contains(&"test"))
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

/// `cargo tree` rather than metadata: metadata unites the features of the whole workspace, tests
/// included, and so shows crates below a member that its own build never sees.
fn below_of(name: &str) -> anyhow::Result<Vec<String>> {
    let tree = output(
        &cargo(),
        &["tree", "--locked", "-p", name, "-e", "normal,build", "--prefix", "none", "--target", PLATFORM],
    )?;
    let names = tree.lines().filter_map(|line| line.split_whitespace().next());
    let mut below: Vec<String> = names.filter(|found| *found != name).map(str::to_owned).collect();
    below.sort();
    below.dedup();
    Ok(below)
}

/// A [`Project`] for the tests of one rule.
#[cfg(test)]
pub fn with_files(files: &[(&str, &str)]) -> Project {
    Project {
        files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        ..Project::default()
    }
}
