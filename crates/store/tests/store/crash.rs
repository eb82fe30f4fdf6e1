//! A process that is killed with no warning while it writes on all ports at once, again and again. Start
//! at the test below; `crash/child.rs` is what is killed, `crash/ledger.rs` what must hold afterwards.
//!
//! The child is this test binary again, with a folder in its environment.

mod child;
mod ledger;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ledger::Ledger;
use tempfile::TempDir;

const FOLDER: &str = "MENSHEN_TEST_CRASH_FOLDER";
const GENERATION: &str = "MENSHEN_TEST_CRASH_GENERATION";

/// So many stores, each killed so many times: a first start is killed as well as a later one.
const STORES: u64 = 6;
const KILLS: u64 = 20;

#[test]
fn the_child_writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let generation = std::env::var(GENERATION).unwrap();
    child::write_for_ever(Path::new(&folder), &generation);
}

#[test]
fn killed_at_any_moment_the_store_keeps_what_it_accepted_exactly_once() {
    let seed = std::env::var("MENSHEN_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_130);
    let mut random = Random(seed);
    let begun = Instant::now();
    let mut acknowledged = 0;
    for store in 0..STORES {
        let folder = TempDir::new().unwrap();
        let mut ledger = Ledger::default();
        for generation in 0..KILLS {
            // A few are killed while they open the store, most while they write.
            let (after_lines, delay) = match random.below(4) {
                0 => (0, random.below(30)),
                _ => (1 + random.below(40), random.below(25)),
            };
            let name = format!("{store}-{generation}");
            let lines = run_and_kill(folder.path(), &name, after_lines, Duration::from_millis(delay));
            acknowledged += lines.len();
            ledger.note(&lines);
            ledger.check(folder.path(), &format!("seed {seed}, run {name}"));
        }
    }
    assert!(acknowledged > 2_000, "only {acknowledged} writes were under way");
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
}

/// What the child said it had done. A line that the kill cut short would be a number that is too small,
/// but the child writes each with one call, far below what a pipe takes as a whole.
fn run_and_kill(folder: &Path, generation: &str, after_lines: u64, delay: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_child_writes_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(GENERATION, generation)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (said, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reading = std::thread::spawn(move || {
        for line in output.lines() {
            let line = line.unwrap();
            if let Some(did) = line.strip_prefix("did ") {
                said.send(did.to_owned()).unwrap();
            }
        }
    });
    let mut done = Vec::new();
    while (done.len() as u64) < after_lines
        && let Ok(line) = lines.recv()
    {
        done.push(line);
    }
    // From here on early or late by chance: that is the point.
    let deadline = Instant::now() + delay;
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        done.push(line);
    }
    child.kill().unwrap();
    let ended = child.wait().unwrap();
    let words = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(ended.code(), None, "the child ended by itself: {words}");
    reading.join().unwrap();
    done.extend(lines);
    done
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
