//! `menshen home` for real: what it makes listens on loopback alone, and `down` leaves nothing.
//!
//! Start at [`a_house_comes_listens_on_loopback_alone_and_goes`]. `MENSHEN_HOUSES` says which
//! releases this machine has; each is brought up once more in a folder of its own. Without one the
//! test says that it was left out.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Port state of a TCP socket that listens.
const LISTEN: &str = "0A";

struct House<'a> {
    state: &'a Path,
    version: String,
}

impl House<'_> {
    fn menshen(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_menshen"));
        command.arg("home").args(words).args(["--json", "--name", "proof"]).env("MENSHEN_HOME", self.state);
        command.output().unwrap()
    }

    fn answer(&self, words: &[&str]) -> Value {
        let output = self.menshen(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn a_house_comes_listens_on_loopback_alone_and_goes() {
    let versions = versions();
    if versions.is_empty() {
        println!("left out: a_house_comes_listens_on_loopback_alone_and_goes: no house");
    }
    for version in versions {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        comes_and_goes(&House { state: &state, version });
        assert!(!state.exists(), "down left {:?}", fs::read_dir(&state).unwrap().collect::<Vec<_>>());
    }
}

fn comes_and_goes(house: &House) {
    let first = house.answer(&["up", "--version", &house.version]);
    for (key, value) in [("ok", Value::Bool(true)), ("seeded", Value::Bool(true)), ("action", "up".into())] {
        assert_eq!(first[key], value, "{key}");
    }
    let file = house.state.join("houses/proof/house.json");
    assert_eq!(mode(&file), 0o600, "the file with the token");
    assert_eq!(mode(file.parent().unwrap()), 0o700, "its folder");

    let pids = ["pid", "launcherPid"].map(|key| first[key].as_u64());
    match (first["container"].as_str(), first["isolation"].as_str(), pids) {
        (None, Some(_), [Some(child), Some(launcher)]) => {
            assert_eq!(interfaces(child), BTreeSet::from(["lo".to_owned()]), "the house sees no network");
            assert_eq!(reachable(launcher), BTreeSet::new(), "the launcher listens on loopback alone");
            assert!(!listening(launcher).is_empty(), "the launcher listens at all");
        }
        (None, None, [Some(child), _]) => {
            println!("left out: mDNS of house {}: this machine allows no network namespace", house.version);
            let tcp = reachable(child).into_iter().filter(|socket| socket.starts_with("tcp")).collect::<Vec<_>>();
            assert!(tcp.is_empty(), "{tcp:?}");
        }
        _ => println!("left out: sockets of house {}: it runs in a container", house.version),
    }

    assert_eq!(house.answer(&["up"]), first, "a second `up` changes nothing");
    assert_eq!(house.answer(&["reset"])["calls"], 0, "a fresh house is as it was seeded");
    let status = house.answer(&["status"]);
    assert_eq!(status["running"], true);
    assert!(!status.to_string().contains(first["token"].as_str().unwrap()), "status keeps the token to itself");

    assert_eq!(house.answer(&["down"])["wasThere"], true);
    assert_eq!(house.answer(&["down"])["wasThere"], false);
    for pid in pids.into_iter().flatten() {
        assert!(!lives(pid), "process {pid} is left");
    }
    assert_eq!(house.menshen(&["status"]).status.code(), Some(3));
}

/// Releases of the houses that tests run against.
fn versions() -> BTreeSet<String> {
    let list = std::env::var("MENSHEN_HOUSES").unwrap_or_default();
    let files = list.split(':').filter(|file| !file.is_empty());
    let version = |file| {
        let house: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        house["haVersion"].as_str().unwrap().to_owned()
    };
    files.map(version).collect()
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A process that has ended but was not waited for has no command line.
fn lives(pid: u64) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| !words.is_empty())
}

/// Network interfaces that the process sees.
fn interfaces(pid: u64) -> BTreeSet<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/net/dev")).unwrap();
    let name = |line: &str| line.split_once(':').map(|(name, _)| name.trim().to_owned());
    text.lines().filter_map(name).collect()
}

/// Sockets of the process, in the machine's own network, that something other than this machine
/// could reach.
fn reachable(pid: u64) -> BTreeSet<String> {
    listening(pid).into_iter().filter(|socket| !socket.ends_with("loopback")).collect()
}

/// Sockets of the process, in the machine's own network, that take what comes.
fn listening(pid: u64) -> BTreeSet<String> {
    let inodes = inodes(pid);
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (columns[1], columns[3], columns[9]);
            let takes = state == LISTEN || table.starts_with("udp");
            if takes && inodes.contains(inode) {
                found.insert(format!("{table} {local} {}", if loopback(local) { "loopback" } else { "open" }));
            }
        }
    }
    found
}

/// `0100007F:1F90` is 127.0.0.1:8080, as the kernel of a little-endian machine writes it.
fn loopback(local: &str) -> bool {
    let address = local.split(':').next().unwrap();
    let four = address.len() == 8 && address.ends_with("7F");
    let six = address == "00000000000000000000000001000000";
    let mapped = address.starts_with("0000000000000000FFFF0000") && address.ends_with("7F");
    four || six || mapped
}

fn inodes(pid: u64) -> BTreeSet<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let inode =
        |target: std::path::PathBuf| Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned());
    files.filter_map(|file| inode(fs::read_link(file.path()).ok()?)).collect()
}

#[test]
fn loopback_is_told_from_every_other_address() {
    assert!(loopback("0100007F:1F90"));
    assert!(loopback("00000000000000000000000001000000:1F90"));
    assert!(loopback("0000000000000000FFFF00000100007F:1F90"));
    for open in ["00000000:14E9", "00000000000000000000000000000000:14E9", "0A00020A:1F90"] {
        assert!(!loopback(open), "{open}");
    }
}
