//! What must hold at the end: the people's book, the store, the audit and the house's own events are held
//! against each other. Start at [`check`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::events::Events;
use super::child::Place;
use super::kept::{Kept, KeptTurn, files_in, text_lines};
use super::people::Told;
use super::script::{Job, Move, job_in, move_of};

/// Numbers for people.
#[derive(Default)]
pub struct Found {
    messages: usize,
    turns: usize,
    ticks: usize,
    calls: usize,
    /// Told as done, as unknown, as not done.
    told: [usize; 3],
    text_lines: usize,
    lines_lost: usize,
    torn: usize,
}

impl fmt::Display for Found {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, turns, ticks, calls, told: [done, unknown, not], text_lines, lines_lost, torn } = self;
        write!(
            to,
            "{messages} messages and {ticks} timers in {turns} turns; {calls} calls at the house; told {done} as done, \
             {unknown} as unknown, {not} as not done; {text_lines} lines of text, {lines_lost} lost, {torn} torn"
        )
    }
}

pub async fn check(place: &Place, events: &Events, told: &BTreeMap<String, Told>) -> Found {
    let kept = Kept::read(&place.data()).await;
    let mut found = Found { messages: told.len(), turns: kept.turns.len(), ..Found::default() };
    answered_once(&kept, told);
    let house = House::seen(events);
    found.calls = house.calls;
    let audit = audit(place).await;
    let claims = claims(&kept);
    happened_at_most_once(&kept, &house, &audit, &claims);
    for outcome in claims.values() {
        found.told[["done", "unknown", "not"].iter().position(|name| name == outcome).unwrap()] += 1;
    }
    found.ticks = timers_fired_once(&kept, &claims);
    text_is_whole(place, &kept, &mut found);
    nothing_is_left_lying(place);
    assert!(found.told[0] > found.told[2], "hardly anything was done: {found}");
    found
}

fn answered_once(kept: &Kept, told: &BTreeMap<String, Told>) {
    let mut answers: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (name, turn) in &kept.turns {
        assert!(turn.answered, "{name} is still open");
        turn.inputs.iter().for_each(|input| answers.entry(*input).or_default().push(name));
    }
    for (id, input) in &kept.inputs {
        assert_eq!(
            answers.get(id).map(Vec::as_slice),
            Some(&[input.turn.as_deref().unwrap_or("none")][..]),
            "{input:?}"
        );
    }
    assert_eq!(kept.schedules, 0);
    let outbox: BTreeSet<&String> = kept.outbox_turns.iter().collect();
    assert_eq!(outbox.len(), kept.outbox_turns.len(), "a reply is on its way twice");
    let ids: BTreeMap<&str, i64> =
        kept.inputs.iter().filter_map(|(id, input)| Some((input.client_id.as_deref()?, *id))).collect();
    for (job, told) in told {
        assert_eq!(ids.get(job.as_str()).copied(), told.input, "{job}: {told:?}");
        assert_eq!(kept.turns[&told.turn].reply, told.reply, "{job}");
        assert_eq!(kept.inputs[&told.input.unwrap()].turn.as_ref(), Some(&told.turn), "{job}");
    }
}

/// What the house has carried out.
#[derive(Default)]
struct House {
    increments: usize,
    lights: usize,
    named: BTreeMap<String, usize>,
    calls: usize,
}

impl House {
    fn seen(events: &Events) -> Self {
        let mut house = Self::default();
        for call in events.all() {
            house.note(&call["domain"], &call["service"], &call["service_data"]);
        }
        house
    }

    fn note(&mut self, domain: &Value, service: &Value, data: &Value) {
        self.calls += 1;
        match (domain.as_str().unwrap_or_default(), service.as_str().unwrap_or_default()) {
            ("counter", "increment") => self.increments += 1,
            ("light", _) => self.lights += 1,
            ("counter", _) => *self.named.entry(data["value"].to_string()).or_default() += 1,
            ("persistent_notification", _) => {
                *self.named.entry(data["message"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
            }
            _ => self.calls -= 1,
        }
    }
}

/// The calls that the audit says were meant; its chain is whole, and nothing is left without an outcome.
async fn audit(place: &Place) -> House {
    let verified = place.command(&["audit", "verify"]).output().await.unwrap();
    let words = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.status.success(), "{words}");
    let (meant, open) = read_audit(place);
    assert!(open.is_empty(), "never read back after a crash: {open:?}");
    meant
}

/// Waits until what the kills cut off has been read back.
pub async fn until_read_back(place: &Place, at_most: Duration) {
    let deadline = Instant::now() + at_most;
    while !read_audit(place).1.is_empty() {
        assert!(Instant::now() < deadline, "never read back: {:?}", read_audit(place).1);
        tokio::time::sleep(Duration::from_millis(200)).await; // until the deadline
    }
}

/// What was meant, and the numbers of what has no outcome yet.
fn read_audit(place: &Place) -> (House, BTreeSet<u64>) {
    let (mut meant, mut open) = (House::default(), BTreeSet::new());
    for line in String::from_utf8_lossy(&std::fs::read(place.audit()).unwrap()).lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        match line["kind"].as_str().unwrap_or_default() {
            "intent" => {
                open.insert(line["seq"].as_u64().unwrap());
                for send in line["body"]["sends"].as_array().into_iter().flatten() {
                    meant.note(&send["domain"], &send["service"], &send["data"]);
                }
            }
            "result" | "read_back" => {
                open.remove(&line["body"]["intent"].as_u64().unwrap());
            }
            _ => {}
        }
    }
    (meant, open)
}

/// What the answers say of each call: `p0-12.1` to `done`.
fn claims(kept: &Kept) -> BTreeMap<String, String> {
    let mut claims = BTreeMap::new();
    let mut by: BTreeMap<&str, &KeptTurn> = BTreeMap::new();
    for turn in kept.turns.values().filter(|turn| turn.reply.contains("told ")) {
        for (call, outcome) in turn.reply.split_whitespace().filter_map(|word| word.split_once('=')) {
            let before = by.insert(call, turn);
            let asked: Vec<_> = turn.inputs.iter().map(|input| &kept.inputs[input].text).collect();
            assert!(before.is_none(), "{call} is told twice, by {before:?} and {turn:?}: {asked:?}");
            claims.insert(call.to_owned(), outcome.to_owned());
        }
    }
    claims
}

fn all_moves(kept: &Kept) -> impl Iterator<Item = (String, Move)> {
    let jobs = kept.inputs.values().filter_map(|input| job_in(&input.text));
    jobs.flat_map(|job: Job| {
        (0..job.steps).map(move |step| (format!("{}.{step}", job.name), move_of(&job, step))).collect::<Vec<_>>()
    })
}

fn happened_at_most_once(kept: &Kept, house: &House, audit: &House, claims: &BTreeMap<String, String>) {
    let twice: Vec<_> = house.named.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "happened more than once: {twice:?}");
    for name in house.named.keys() {
        assert!(audit.named.contains_key(name), "{name} happened and is not in the audit");
    }
    assert!(house.increments <= audit.increments, "{} of {}", house.increments, audit.increments);
    assert!(house.lights <= audit.lights, "{} of {}", house.lights, audit.lights);
    let (mut done, mut possible) = (0, 0);
    for (call, kind) in all_moves(kept) {
        let told = claims.get(&call).map(String::as_str);
        let name = match kind {
            Move::Increment => {
                done += usize::from(told == Some("done"));
                possible += usize::from(told != Some("not"));
                continue;
            }
            Move::Set(number) => number.to_string(),
            Move::Note => format!("note {call}"),
            Move::Light | Move::Timer | Move::Look => continue,
        };
        let happened = house.named.contains_key(&name);
        assert!(happened || told != Some("done"), "{call} ({name}) is told as done and never happened");
        assert!(!happened || told != Some("not"), "{call} ({name}) is told as not done and happened");
    }
    let counted = house.increments;
    assert!((done..=possible).contains(&counted), "{counted} increments, {done} told as done, {possible} possible");
}

fn timers_fired_once(kept: &Kept, claims: &BTreeMap<String, String>) -> usize {
    let mut fired: BTreeMap<&str, usize> = BTreeMap::new();
    for input in kept.inputs.values() {
        if let Some((_, timer)) = input.text.split_once("tick ") {
            *fired.entry(timer).or_default() += 1;
        }
    }
    for (timer, count) in &fired {
        assert_eq!(*count, 1, "{timer} fired {count} times");
    }
    for (call, kind) in all_moves(kept) {
        let (told, fired) = (claims.get(&call).map(String::as_str), fired.contains_key(call.as_str()));
        if kind == Move::Timer {
            assert!(fired || told != Some("done"), "{call} is told as set and never fired");
            assert!(!fired || told != Some("not"), "{call} is told as not set and fired");
        }
    }
    fired.len()
}

/// A line may be lost where the kill came between the answer and its text; none is there twice.
fn text_is_whole(place: &Place, kept: &Kept, found: &mut Found) {
    let (lines, torn) = text_lines(&place.data().join("text"));
    (found.text_lines, found.torn) = (lines.len(), torn);
    let mut replies: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["role"] == "assistant") {
        *replies.entry(line["content"].as_str().unwrap()).or_default() += 1;
    }
    for (name, turn) in kept.turns.iter().filter(|(_, turn)| turn.reply.starts_with("told ")) {
        if turn.inputs.iter().any(|input| kept.inputs[input].kind == "no_memory") {
            continue;
        }
        let count = replies.get(turn.reply.as_str()).copied().unwrap_or(0);
        assert!(count <= 1, "{name} is in the text memory {count} times: {}", turn.reply);
        found.lines_lost += 1 - count;
    }
}

fn nothing_is_left_lying(place: &Place) {
    let data = place.data();
    let known = |name: &str| {
        ["menshen.db", "menshen.lock", "secret.key"].contains(&name)
            || name.starts_with("text/") && name.ends_with(".jsonl")
    };
    let names: Vec<String> =
        files_in(&data).iter().map(|path| path.strip_prefix(&data).unwrap().display().to_string()).collect();
    let left: Vec<_> = names.iter().filter(|name| !known(name)).collect();
    assert!(left.is_empty(), "left lying: {left:?}");
    assert!(names.len() < 10, "{names:?}");
    assert!(!place.socket().exists(), "the socket is left lying");
}
