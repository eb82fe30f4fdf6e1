//! The list of what is run.
//!
//! Start at [`STEPS`]: to add a step is to add a line. Invariant: what a step needs is written in
//! its line and looked for before it runs, so that a gap has a name.

use std::collections::BTreeSet;
use std::process::Command;

use crate::project::{self, root};

use super::houses::Houses;
use super::summary::Summary;

pub struct Step {
    pub name: &'static str,
    /// The command, in words without spaces; see [`STEPS`] for the words in braces.
    run: &'static str,
    needs: &'static [Need],
}

enum Need {
    /// A program on the path.
    Program(&'static str),
    /// A file or folder from the root, and what makes it.
    Path(&'static str, &'static str),
    /// pi in this version, which `.ci/run` installs.
    Pi(&'static str),
    /// A Python module for the interpreter of the client checks.
    Module(&'static str),
    /// At least one house: the command runs once, with all of them in `MENSHEN_HOUSES`.
    AllHouses,
    /// The command runs once a house, with that house's address and token.
    EachHouse,
}

use Need::{AllHouses, EachHouse, Module, Path, Pi, Program};

const fn step(name: &'static str, run: &'static str, needs: &'static [Need]) -> Step {
    Step { name, run, needs }
}

const PYTHON: Need = Program("python3");
const OLDER_PI: Need = Pi("0.74.2");
const NEWER_PI: Need = Pi("1.6.0");
const NODE_CLIENTS: Need = Path("xtask/clients/node_modules", "`npm ci` in xtask/clients");

/// `{cargo}`, `{python}` and `{menshen}` are programs; `{pi}` is the folder with pi by version; `{python-files}` are all of ours;
/// `{tests}` and `{live-tests}` are test binaries, live those whose names begin so: they need a
/// house, move things in it, and therefore run one at a time. A command with
/// `{python-test-folder}` runs once a folder.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    step("format", "{cargo} fmt --all -- --check -l", &[]),
    step("clippy", "{cargo} clippy --locked --workspace --all-targets -- -D warnings", &[]),
    step("tidy", "{cargo} xtask tidy", &[]),
    step("tests", "{cargo} test --locked --workspace --no-fail-fast --lib --bins {tests}", &[]),
    step("documentation tests", "{cargo} test --locked --workspace --no-fail-fast --doc", &[]),
    step("real pi", "{cargo} test --locked -p pi --test real_pi -- --nocapture --test-threads=2", &[Program("node"), OLDER_PI, NEWER_PI]),
    step("client pi 0.74.2", "node xtask/clients/pi.mjs {menshen} {pi} 0.74.2", &[Program("node"), OLDER_PI]),
    step("client pi 1.6.0", "node xtask/clients/pi.mjs {menshen} {pi} 1.6.0", &[Program("node"), NEWER_PI]),
    step("python compiles", "python3 -m py_compile {python-files}", &[PYTHON]),
    step("python tests", "python3 -m unittest discover -s {python-test-folder}", &[PYTHON]),
    step("mutants of what changed", "{python} xtask/mutants/all.py --changed", &[PYTHON]),
    step("licences and bans", "cargo-deny --locked check bans licenses sources", &[Program("cargo-deny")]),
    step("live tests", "{cargo} test --locked --workspace --no-fail-fast {live-tests} -- --test-threads=1 --nocapture", &[AllHouses]),
    step("client sdk-typescript", "node xtask/clients/typescript.mjs {menshen}", &[Program("node"), NODE_CLIENTS, EachHouse]),
    step("client inspector", "node xtask/clients/inspector.mjs {menshen}", &[Program("node"), NODE_CLIENTS, EachHouse]),
    step("client sdk-python", "{python} xtask/clients/python_sdk.py {menshen}", &[Module("mcp"), EachHouse]),
];

/// Why a step cannot run here; none when it can.
pub fn missing(step: &Step, houses: &mut Houses, summary: &mut Summary) -> Option<String> {
    step.needs.iter().find_map(|need| match need {
        Program(name) => (!on_path(name)).then(|| format!("`{name}` is not installed")),
        Path(path, maker) => {
            (!root().join(path).exists()).then(|| format!("{path} is missing, {maker} makes it"))
        }
        Pi(version) => {
            let path = project::pi_folder().join(version).join("node_modules");
            (!path.exists()).then(|| format!("{} is missing, `.ci/run` makes it", path.display()))
        }
        Module(name) => (!has_module(name)).then(|| {
            let python = python();
            format!("`{python}` has no module `{name}`: `pip install -r xtask/clients/requirements.txt` into a venv, and set MENSHEN_CLIENT_PYTHON to its python")
        }),
        AllHouses | EachHouse => houses.none_because(summary),
    })
}

/// What the line stands for: a command, or one a house or folder; none where there is nothing to do.
pub fn commands(step: &Step, houses: &Houses) -> anyhow::Result<Vec<Command>> {
    let many: Option<(&str, Vec<String>)> = match step.run {
        run if run.contains("{python-files}") => Some(("{python-files}", python_files(false)?)),
        run if run.contains("{tests}") => Some(("{tests}", test_binaries(false)?)),
        run if run.contains("{live-tests}") => Some(("{live-tests}", test_binaries(true)?)),
        _ => None,
    };
    if step.run.contains("{python-test-folder}") {
        let folders: BTreeSet<String> = python_files(true)?.iter().map(|path| folder_of(path)).collect();
        let each = folders.into_iter();
        return Ok(each.map(|folder| command(step, houses, "{python-test-folder}", &[folder])).collect());
    }
    // `{tests}` stands beside other targets, so it may stand for nothing.
    if many.as_ref().is_some_and(|(word, files)| files.is_empty() && *word != "{tests}") {
        return Ok(Vec::new());
    }
    let (word, files) = many.unwrap_or_default();
    let mut whole = command(step, houses, word, &files);
    if step.needs.iter().any(|need| matches!(need, AllHouses)) {
        whole.env("MENSHEN_HOUSES", houses.paths());
    }
    if !step.needs.iter().any(|need| matches!(need, EachHouse)) {
        return Ok(vec![whole]);
    }
    let each = houses.up().iter().map(|house| {
        let mut command = command(step, houses, word, &files);
        command.env("HOME_ASSISTANT_URL", &house.base_url).env("HOME_ASSISTANT_TOKEN", &house.token);
        command
    });
    Ok(each.collect())
}

fn command(step: &Step, houses: &Houses, list: &str, files: &[String]) -> Command {
    let mut words: Vec<String> = Vec::new();
    for word in step.run.split(' ') {
        match word {
            "{cargo}" => words.push(project::cargo()),
            "{python}" => words.push(python()),
            "{pi}" => words.push(project::pi_folder().display().to_string()),
            "{menshen}" => words.push(houses.program().display().to_string()),
            word if word == list => words.extend_from_slice(files),
            word => words.push(word.to_owned()),
        }
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(root());
    // What Python compiles goes beside what cargo builds, not into the source folders.
    command.env("PYTHONPYCACHEPREFIX", houses.folder().join("pycache"));
    command
}

/// Our Python files; of tests only those that are named `test_*.py`.
fn python_files(tests_only: bool) -> anyhow::Result<Vec<String>> {
    let listed = project::output("git", &["ls-files", "--cached", "--others", "--exclude-standard", "*.py"])?;
    let is_test = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with("test_"));
    Ok(listed.lines().filter(|path| !tests_only || is_test(path)).map(str::to_owned).collect())
}

/// `--test NAME` for each integration test binary that needs, or does not need, a house.
fn test_binaries(live: bool) -> anyhow::Result<Vec<String>> {
    let names: BTreeSet<String> = project::test_targets(&project::metadata()?).into_iter().collect();
    // Those that need something else have a step of their own.
    let own = |name: &String| {
        STEPS
            .iter()
            .any(|step| step.run.ends_with(&format!("--test {name}")) || step.run.contains(&format!("--test {name} ")))
    };
    let wanted = names.into_iter().filter(|name| name.starts_with("live") == live && !own(name));
    Ok(wanted.flat_map(|name| ["--test".to_owned(), name]).collect())
}

fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned()
}

/// The interpreter that has the client library, where somebody made one.
fn python() -> String {
    std::env::var("MENSHEN_CLIENT_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn has_module(name: &str) -> bool {
    let look = Command::new(python()).args(["-c", &format!("import {name}")]).output();
    look.is_ok_and(|done| done.status.success())
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;

    #[test]
    fn a_missing_program_is_named() {
        let step = step("x", "x", &[Program("no-such-program-anywhere")]);
        let why = missing(&step, &mut Houses::new(&Options::default()), &mut Summary::default());
        assert_eq!(why.as_deref(), Some("`no-such-program-anywhere` is not installed"));
    }

    #[test]
    fn without_a_house_the_steps_that_need_one_are_left_out_and_say_why() {
        let mut houses = Houses::new(&Options { fast: true, ..Options::default() });
        let live = STEPS.iter().find(|step| step.name == "live tests").unwrap();
        let why = missing(live, &mut houses, &mut Summary::default()).unwrap();
        assert!(why.contains("--fast"), "{why}");
    }

    #[test]
    fn every_word_in_braces_is_replaced() {
        let houses = Houses::new(&Options { fast: true, ..Options::default() });
        for step in STEPS {
            for command in commands(step, &houses).unwrap() {
                let whole = format!("{command:?}");
                assert!(!whole.contains('{'), "{}: {whole}", step.name);
            }
        }
    }

    #[test]
    fn a_live_test_binary_never_runs_among_the_others() {
        let houses = Houses::new(&Options { fast: true, ..Options::default() });
        let tests = STEPS.iter().find(|step| step.name == "tests").unwrap();
        let whole = format!("{:?}", commands(tests, &houses).unwrap());
        assert!(!whole.contains("\"live"), "{whole}");
    }
}
