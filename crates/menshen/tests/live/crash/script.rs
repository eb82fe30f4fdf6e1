//! What the model says. Start at [`reply`] and [`moves`]. Invariants: what it calls follows from the job's
//! name alone, so that a job that is asked for again is the same job; what it says at the end is what the
//! results said, so that the answers in the store can be held against the house.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Asked, Reply};

/// `job p0-12 steps 3`, or `tick p0-12.1` out of a timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub name: String,
    pub steps: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// Has no name of its own at the house: counted as a whole.
    Increment,
    /// To a number that no other call has.
    Set(u64),
    /// A note with the name of this move.
    Note,
    Light,
    Timer,
    Look,
}

/// The last one, where several messages became one.
pub fn job_in(text: &str) -> Option<Job> {
    text.lines().rev().find_map(job_in_line)
}

fn job_in_line(text: &str) -> Option<Job> {
    if let Some((_, rest)) = text.split_once("tick ") {
        return Some(Job { name: format!("tick-{}", rest.split_whitespace().next()?), steps: 1 });
    }
    let mut words = text.strip_prefix("job ")?.split(' ');
    let (name, _, steps) = (words.next()?, words.next()?, words.next()?);
    Some(Job { name: name.to_owned(), steps: steps.parse().ok()? })
}

/// What the step of this number does.
pub fn move_of(job: &Job, step: usize) -> Move {
    let chance = hash(&format!("{}.{step}", job.name));
    match chance % 10 {
        // A timer of a timer would go on for ever.
        _ if job.name.starts_with("tick-") => Move::Increment,
        0..=2 => Move::Increment,
        // Below what JavaScript and YAML can hold exactly.
        3..=4 => Move::Set(chance >> 12),
        5..=6 => Move::Note,
        7 => Move::Light,
        8 => Move::Timer,
        _ => Move::Look,
    }
}

/// FNV-1a: the same on every machine.
pub fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mixed = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    mixed ^ (mixed >> 29)
}

fn call(job: &Job, step: usize) -> (&'static str, Value) {
    let at = format!("{}.{step}", job.name);
    let counter = "counter.visitors";
    match move_of(job, step) {
        Move::Increment => ("call_service", json!({"domain": "counter", "service": "increment", "entity_id": counter})),
        Move::Set(number) => (
            "call_service",
            json!({"domain": "counter", "service": "set_value", "entity_id": counter, "data": {"value": number}}),
        ),
        Move::Note => (
            "call_service",
            json!({"domain": "persistent_notification", "service": "create",
                   "data": {"message": format!("note {at}")}}),
        ),
        Move::Light => {
            ("call_service", json!({"domain": "light", "service": "toggle", "entity_id": "light.bed_light"}))
        }
        Move::Timer => {
            ("timer_set", json!({"duration": format!("{}s", 1 + hash(&at) % 3), "message": format!("tick {at}")}))
        }
        Move::Look => ("list_entities", json!({"query": counter, "include_hidden": true})),
    }
}

pub fn reply(asked: &Asked) -> Reply {
    if asked.tools().is_empty() {
        return Reply::text("Summary: jobs were done.").pause(Duration::from_millis(30));
    }
    let none = Vec::new();
    let messages = asked.body["messages"].as_array().unwrap_or(&none);
    let job_of = |message: &Value| {
        if message["role"] == "user" { job_in(message["content"].as_str()?) } else { None }
    };
    let Some((at, job)) = messages.iter().enumerate().rev().find_map(|(at, message)| Some((at, job_of(message)?)))
    else {
        return Reply::text("There is no job.");
    };
    let since = &messages[at..];
    let called: usize = since.iter().filter_map(|message| Some(message["tool_calls"].as_array()?.len())).sum();
    let chance = hash(&format!("{}/{called}", job.name));
    let reply = Reply::new().pause(Duration::from_millis(chance % 60));
    if called < job.steps {
        let together = (1 + usize::from(chance.is_multiple_of(4))).min(job.steps - called);
        return (called..called + together).fold(reply, |reply, step| {
            let (name, arguments) = call(&job, step);
            reply.and_call(name, arguments)
        });
    }
    let results = since.iter().filter(|message| message["role"] == "tool");
    let told = results.enumerate().map(|(step, result)| {
        format!("{}.{step}={}", job.name, outcome(result["content"].as_str().unwrap_or_default()))
    });
    let told: Vec<String> = told.collect();
    // Some answers are spoken slowly.
    let slow = Duration::from_millis(if chance.is_multiple_of(3) { 250 } else { 0 });
    reply.say(&format!("told {} ", job.name)).pause(slow).say(&told.join(" ")).pause(slow).say(" over")
}

/// `done`, `unknown`, `not`: what a result says of its call.
fn outcome(result: &str) -> &'static str {
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    if result.contains("outcome_unknown") {
        return "unknown";
    }
    let failed = value["isError"] == true || value["ok"] == false || value["skipped"].is_string();
    let done = value["ok"] == true || value["id"].is_string();
    if done && !failed { "done" } else { "not" }
}
