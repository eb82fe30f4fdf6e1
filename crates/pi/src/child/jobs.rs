//! Which prompt pi is answering, told from its events. Start at [`Jobs::heard`].
//!
//! Invariants: a job ends once; its answer is what pi said after this very prompt, never an earlier one; a
//! message of pi's queue belongs to the job that stood at its place there.

use std::collections::VecDeque;

use kernel::ports::{Ended, Outcome, Progress};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

/// A prompt that pi accepted.
pub struct Job {
    pub id: String,
    pub text: String,
    pub progress: watch::Sender<Progress>,
}

/// One place in a queue of pi's; without a job where somebody else put it there.
struct Place {
    text: String,
    job: Option<Job>,
}

#[derive(Default)]
pub struct Jobs {
    steering: VecDeque<Place>,
    following: VecDeque<Place>,
    /// Left pi's queue, and their messages have not come yet.
    taken: VecDeque<Place>,
    /// Began by itself; with the number of runs before it and when to look whether it did.
    started: Vec<(Job, u64, Instant)>,
    /// Being answered: several where one joined another.
    answering: Vec<Job>,
    /// The last word of the model to these.
    said: Option<Said>,
    usage: Usage,
    runs: u64,
    aborted: bool,
}

struct Said {
    text: String,
    stop_reason: String,
    error: Option<String>,
}

/// As pi counts it.
#[derive(Clone, Copy, Default)]
struct Usage {
    counts: [u64; 5],
    cost: f64,
    counted: bool,
}

const COUNTS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

impl Usage {
    fn add(&mut self, usage: &Value) {
        self.counted |= usage.is_object();
        for (count, name) in self.counts.iter_mut().zip(COUNTS) {
            *count = count.saturating_add(usage[name].as_u64().unwrap_or(0));
        }
        self.cost += usage["cost"]["total"].as_f64().unwrap_or(0.0);
    }

    fn told(&self) -> Value {
        if !self.counted {
            return Value::Null;
        }
        let mut told = json!({ "cost": { "total": self.cost } });
        for (count, name) in self.counts.iter().zip(COUNTS) {
            told[name] = (*count).into();
        }
        told
    }
}

impl Jobs {
    /// pi said that it begins.
    pub fn begins(&mut self, job: Job, look_at: Instant) {
        self.started.push((job, self.runs, look_at));
    }

    /// pi said that it waits; its place was told before.
    pub fn waits(&mut self, job: Job, steers: bool) {
        let queue = if steers { &mut self.steering } else { &mut self.following };
        // The newest place that nobody has: a template stands there in other words.
        match queue.iter_mut().rev().find(|place| place.job.is_none()) {
            Some(place) => place.job = Some(job),
            // It was taken before its response came.
            None => match self.taken.iter_mut().rev().find(|place| place.job.is_none()) {
                Some(place) => place.job = Some(job),
                None => queue.push_back(Place { text: job.text.clone(), job: Some(job) }),
            },
        }
    }

    /// One of pi's events. `clearing`: what leaves the queue now was taken back and not begun.
    pub fn heard(&mut self, record: &Value, clearing: bool) {
        match record["type"].as_str().unwrap_or_default() {
            "agent_start" => self.runs += 1,
            "queue_update" => {
                let steering = changed(&mut self.steering, &texts(&record["steering"]));
                let following = changed(&mut self.following, &texts(&record["followUp"]));
                let left = steering.into_iter().chain(following);
                if clearing {
                    left.filter_map(|place| place.job).for_each(|job| end(job, taken_back()));
                } else {
                    self.taken.extend(left);
                }
            }
            "message_start" if record["message"]["role"] == "user" => {
                self.user(&text_of(&record["message"]["content"]));
            }
            "message_end" if record["message"]["role"] == "assistant" => self.assistant(&record["message"]),
            _ => {}
        }
    }

    /// Whose prompt is being answered.
    pub fn current(&self) -> Option<&str> {
        self.answering.last().map(|job| job.id.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.answering.is_empty() && self.started.is_empty() && self.waiting() == 0
    }

    pub fn waiting(&self) -> usize {
        let places = self.steering.iter().chain(&self.following).chain(&self.taken);
        places.filter(|place| place.job.is_some()).count()
    }

    /// pi is done with all of it. Those that it was to begin with and did not are lost.
    pub fn settled(&mut self) {
        self.answered();
        let runs = self.runs;
        for (job, _, _) in self.started.extract_if(.., |(_, before, _)| runs > *before) {
            end(job, lost("pi accepted it and did nothing with it; send it again"));
        }
        self.taken.clear();
        self.aborted = false;
    }

    /// Somebody had it stopped: what is being answered ends as that.
    pub fn abort(&mut self) {
        self.aborted = true;
    }

    pub fn was_aborted(&self) -> bool {
        self.aborted || self.said.as_ref().is_some_and(|said| said.stop_reason == "aborted")
    }

    /// All that waits in pi's queue ends as taken back.
    pub fn drop_waiting(&mut self) -> bool {
        let places = self.steering.drain(..).chain(self.following.drain(..)).chain(self.taken.drain(..));
        let jobs: Vec<Job> = places.filter_map(|place| place.job).collect();
        let any = !jobs.is_empty();
        jobs.into_iter().for_each(|job| end(job, taken_back()));
        any
    }

    /// The conversation is another one now.
    pub fn drop_all(&mut self, outcome: &Outcome) {
        let started = self.started.drain(..).map(|(job, _, _)| job);
        let jobs: Vec<Job> = self.answering.drain(..).chain(started).collect();
        for job in jobs {
            let answer = self.said.as_ref().map(|said| said.text.clone()).filter(|text| !text.is_empty());
            end(job, Outcome { answer, ..outcome.clone() });
        }
        self.drop_waiting_as(outcome);
        (self.said, self.usage, self.aborted) = (None, Usage::default(), false);
    }

    fn drop_waiting_as(&mut self, outcome: &Outcome) {
        let places = self.steering.drain(..).chain(self.following.drain(..)).chain(self.taken.drain(..));
        let jobs: Vec<Job> = places.filter_map(|place| place.job).collect();
        jobs.into_iter().for_each(|job| end(job, outcome.clone()));
    }

    pub fn next_look(&self) -> Option<Instant> {
        self.started.iter().map(|(_, _, at)| *at).min()
    }

    /// Began and nothing came of it for a while: to be looked at once more, later.
    pub fn looked_at(&mut self, now: Instant, again: Instant) -> bool {
        let mut any = false;
        for (_, _, at) in self.started.iter_mut().filter(|(_, _, at)| *at <= now) {
            *at = again;
            any = true;
        }
        any
    }

    /// pi is idle, and these never began: commands of extensions are done, others are lost.
    pub fn never_began(&mut self) {
        self.aborted = false;
        for (job, _, _) in self.started.drain(..) {
            let outcome = match job.text.starts_with('/') {
                true => Outcome::default(),
                false => lost("pi accepted it and did nothing with it; send it again"),
            };
            end(job, outcome);
        }
    }

    /// A message of a person comes: whose it is, by its text, by its place, or as the one that began.
    fn user(&mut self, text: &str) {
        let started = self.started.iter().position(|(job, _, _)| job.text.trim() == text.trim());
        let taken = self.taken.iter().position(|place| place.text.trim() == text.trim());
        let job = match (started, taken) {
            (Some(at), _) => Some(self.started.remove(at).0),
            (None, Some(at)) => self.taken.remove(at).and_then(|place| place.job),
            (None, None) if !self.taken.is_empty() => self.taken.pop_front().and_then(|place| place.job),
            (None, None) if !self.started.is_empty() => Some(self.started.remove(0).0),
            (None, None) => None,
        };
        // Without a last word they go on together with this one.
        if self.said.as_ref().is_some_and(|said| said.stop_reason != "toolUse") {
            self.answered();
        }
        if let Some(job) = job {
            let _nobody_waits = job.progress.send(Progress::Running);
            self.answering.push(job);
        }
    }

    fn assistant(&mut self, message: &Value) {
        self.usage.add(&message["usage"]);
        self.said = Some(Said {
            text: text_of(&message["content"]),
            stop_reason: message["stopReason"].as_str().unwrap_or("stop").to_owned(),
            error: message["errorMessage"].as_str().map(str::to_owned),
        });
    }

    /// Those that are being answered have their answer.
    fn answered(&mut self) {
        let said = self.said.take();
        let usage = std::mem::take(&mut self.usage).told();
        let text = said.as_ref().map(|said| said.text.clone()).filter(|text| !text.is_empty());
        let reason = said.as_ref().map_or("", |said| said.stop_reason.as_str());
        let error = said.as_ref().and_then(|said| said.error.clone());
        let (ended, error) = match reason {
            "aborted" => (Ended::Aborted, Some("somebody stopped it".to_owned())),
            // Stopped between two attempts.
            "error" if self.aborted => (Ended::Aborted, Some("somebody stopped it".to_owned())),
            "error" => (Ended::Failed, Some(error.unwrap_or_else(|| "the language model failed".to_owned()))),
            "" | "toolUse" if self.aborted => (Ended::Aborted, Some("somebody stopped it".to_owned())),
            "" | "toolUse" => (Ended::Failed, Some("pi ended without an answer; its log says more".to_owned())),
            _ => (Ended::Done, None),
        };
        for job in self.answering.drain(..) {
            end(job, Outcome { ended, answer: text.clone(), error: error.clone(), usage: usage.clone() });
        }
    }
}

pub fn end(job: Job, outcome: Outcome) {
    let _nobody_waits = job.progress.send(Progress::Ended(outcome));
}

pub fn lost(why: &str) -> Outcome {
    Outcome { ended: Ended::Lost, error: Some(why.to_owned()), ..Outcome::default() }
}

fn taken_back() -> Outcome {
    let error = Some("somebody took it back before its turn came".to_owned());
    Outcome { ended: Ended::Aborted, error, ..Outcome::default() }
}

/// Makes the queue what pi says it is; what left it. The smallest number of places that can have left from the
/// front is taken to have.
fn changed(queue: &mut VecDeque<Place>, now: &[String]) -> Vec<Place> {
    let fits = |left: usize| {
        let rest = queue.len() - left;
        rest <= now.len() && queue.iter().skip(left).zip(now).all(|(place, text)| place.text == *text)
    };
    let left = (0..=queue.len()).find(|left| fits(*left)).unwrap_or(queue.len());
    let gone: Vec<Place> = queue.drain(..left).collect();
    let kept = queue.len();
    queue.extend(now.iter().skip(kept).map(|text| Place { text: text.clone(), job: None }));
    gone
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// The text of a message, whether a string or blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => {
            let blocks = blocks.as_array().into_iter().flatten();
            blocks.filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect()
        }
    }
}
