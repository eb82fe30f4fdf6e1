//! pi's responses. Start at [`Dialogue::answered`]. Invariant: a response belongs to one request; one without
//! an id belongs to the oldest of its kind.

use super::{
    Dialogue, Disposition, Duration, Ended, Failure, Instant, Job, LOOK, Outcome, PI_COMMAND_MAX, Purpose, Restart,
    Sending, StreamingBehavior, Value, jobs, json, object, submitted,
};
use sdk::FailureKind;

impl Dialogue {
    pub(super) fn answered(&mut self, record: &Value, now: Instant) {
        let id = match record["id"].as_str() {
            Some(id) => id.to_owned(),
            None => match self.nameless(record) {
                Some(id) => id,
                None => return,
            },
        };
        let Some(pending) = self.pending.remove(&id) else { return };
        let success = record["success"] == true;
        match pending.purpose {
            Purpose::Prompt(sending) => self.prompted(*sending, record, now),
            Purpose::Command { id, reply } => {
                let _nobody_waits = reply.send(Ok(theirs(record, id)));
                if success {
                    self.done(&pending.kind, now);
                }
            }
            Purpose::Ready if success => {
                self.ready = true;
                self.remember(&record["data"]);
                if !self.abilities.tells_disposition {
                    self.send("get_commands", object(json!({})), Purpose::Commands, now + PI_COMMAND_MAX);
                }
            }
            Purpose::Ready => self.restart = Some(Restart::Stuck),
            Purpose::Session => self.remember(&record["data"]),
            Purpose::Commands => {
                let commands = record["data"]["commands"].as_array().into_iter().flatten();
                let own = commands.filter(|command| command["source"] == "extension");
                self.extension_commands =
                    own.filter_map(|command| command["name"].as_str().map(str::to_owned)).collect();
            }
            Purpose::Barrier => {
                // Something began before the answer: it is not over.
                if self.run.barrier.as_deref() == Some(&id) {
                    self.run.barrier = None;
                    self.settle(false);
                }
            }
            Purpose::Look => {
                let idle = record["data"]["isStreaming"] == false && !self.run.open;
                if idle && success {
                    self.jobs.never_began();
                }
            }
            Purpose::Cleared => self.cleared = record["data"].clone(),
            Purpose::Abort { id, reply } => {
                let mut response = theirs(record, id);
                // What is left there would be answered with the next prompt.
                if self.jobs.drop_waiting() && success {
                    self.restart = Some(Restart::Ghosts);
                }
                if let Some(cleared) = Some(self.cleared.take()).filter(|cleared| !cleared.is_null()) {
                    response.insert("data".into(), json!({ "cleared": cleared }));
                }
                self.held = false;
                let _nobody_waits = reply.send(Ok(response));
            }
            Purpose::BashEnded => {}
        }
        self.pump(now);
    }

    /// Older releases answer what they do not know, or cannot read, without saying which.
    fn nameless(&self, record: &Value) -> Option<String> {
        let error = record["error"].as_str()?;
        let kind = error.strip_prefix("Unknown command: ").or_else(|| record["command"].as_str())?;
        let of_kind = self.pending.iter().filter(|(_, pending)| pending.kind == kind);
        of_kind.min_by_key(|(id, _)| id[1..].parse::<u64>().unwrap_or(0)).map(|(id, _)| id.clone())
    }

    fn prompted(&mut self, sending: Sending, record: &Value, now: Instant) {
        let Sending { prompt, reply, .. } = sending;
        if record["success"] != true {
            let error = record["error"].as_str().unwrap_or("pi refused it and did not say why");
            let kind = if error.contains("already processing") { FailureKind::Invalid } else { FailureKind::Failed };
            let _nobody_waits = reply.send(Err(Failure::new(kind, error)));
            return;
        }
        let steers = prompt.behavior == Some(StreamingBehavior::Steer);
        let disposition = match record["data"]["disposition"].as_str() {
            Some("handled") => Disposition::Handled,
            Some("queued") => Disposition::Queued,
            Some(_) => Disposition::Started,
            None => self.guessed(&prompt.text, prompt.behavior.is_some()),
        };
        let (submitted, progress) = submitted(disposition);
        let job = Job { id: prompt.job, text: prompt.text, progress };
        match disposition {
            Disposition::Handled => jobs::end(job, Outcome::default()),
            Disposition::Queued => self.jobs.waits(job, steers),
            Disposition::Started => self.jobs.begins(job, now + LOOK),
        }
        let _nobody_waits = reply.send(Ok(submitted));
    }

    /// Where pi does not say what became of it: a command of an extension is done when it answers.
    fn guessed(&self, text: &str, may_wait: bool) -> Disposition {
        let command = text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
        if command.is_some_and(|name| self.extension_commands.iter().any(|known| known == name)) {
            return Disposition::Handled;
        }
        if may_wait && self.run.open && !self.run.ended { Disposition::Queued } else { Disposition::Started }
    }

    /// What a command that was carried out means for what goes on.
    fn done(&mut self, kind: &str, now: Instant) {
        match kind {
            "new_session" | "switch_session" | "fork" | "clone" => {
                // The older releases drop what runs without a word.
                let error = Some(format!("`{kind}` ended it: the conversation is another one"));
                let aborted = Outcome { ended: Ended::Aborted, error, ..Outcome::default() };
                self.jobs.drop_all(&aborted);
                if self.run.open {
                    self.run.ended = true;
                    self.settle(true);
                }
                self.send("get_state", object(json!({})), Purpose::Session, now + PI_COMMAND_MAX);
            }
            "clear_queue" => drop(self.jobs.drop_waiting()),
            _ => {}
        }
    }

    fn remember(&mut self, state: &Value) {
        // Without a file there is nothing to go on with.
        let kept = state["sessionFile"].is_string();
        self.kept_as = state["sessionId"].as_str().filter(|_| kept).map(str::to_owned);
    }

    /// Asks whether all is done, where pi does not say so.
    pub(super) fn ask_whether_settled(&mut self, now: Instant) {
        let deadline = now + PI_COMMAND_MAX + Duration::from_secs(30);
        self.run.barrier = Some(self.send("get_state", object(json!({})), Purpose::Barrier, deadline));
    }
}

/// The response as the one who asked knows it.
fn theirs(record: &Value, id: Option<Value>) -> serde_json::Map<String, Value> {
    let mut response = object(record.clone());
    response.remove("id");
    response.extend(id.map(|id| ("id".to_owned(), id)));
    response
}
