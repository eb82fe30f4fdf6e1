//! pi's events. Start at [`Dialogue::heard`]. Invariant: they are passed on in their order, with
//! `agent_settled` in either dialect and once a run.

use super::{Dialogue, Instant, Purpose, Value, json};

impl Dialogue {
    /// One record of pi's.
    pub fn heard(&mut self, mut record: Value, now: Instant) {
        let Some(kind) = record["type"].as_str().map(str::to_owned) else { return };
        if kind == "response" {
            return self.answered(&record, now);
        }
        let clearing = self
            .pending
            .values()
            .any(|pending| matches!(pending.purpose, Purpose::Cleared) || pending.kind == "clear_queue");
        self.jobs.heard(&record, clearing);
        match kind.as_str() {
            "agent_start" => {
                (self.run.open, self.run.ended, self.run.barrier) = (true, false, None);
                self.tell(record);
            }
            "agent_end" => {
                self.run.ended = true;
                self.tell(record);
                if !self.abilities.settles {
                    self.ask_whether_settled(now);
                }
            }
            "agent_settled" => {
                // One that comes right after the start is of a race, and nothing has ended.
                if self.run.open && self.run.ended {
                    self.over(record);
                    self.pump(now);
                }
            }
            "auto_retry_start" | "compaction_start" | "auto_compaction_start" => {
                self.run.barrier = None;
                self.tell(record);
            }
            "compaction_end" | "auto_compaction_end" | "auto_retry_end" => {
                self.tell(record);
                if !self.abilities.settles && self.run.open && self.run.ended {
                    self.ask_whether_settled(now);
                }
            }
            "extension_ui_request" => {
                self.dialogs.opened(&record, now);
                self.tell(record);
                let aborting = self.held || self.pending.values().any(|pending| pending.aborted);
                let closed = if aborting { self.dialogs.cancel_all("aborted") } else { self.dialogs.expired(now) };
                self.closed(closed);
            }
            "message_update" => {
                // The older releases repeat the whole message with each word.
                if let Some(update) = record.as_object_mut() {
                    update.remove("message");
                }
                if let Some(part) = record["assistantMessageEvent"].as_object_mut() {
                    part.remove("partial");
                }
                self.tell(record);
            }
            _ => self.tell(record),
        }
    }

    /// Told by us, where pi does not.
    pub(super) fn settle(&mut self, aborted: bool) {
        let aborted = aborted || self.jobs.was_aborted();
        self.over(json!({ "type": "agent_settled", "aborted": aborted }));
    }

    fn over(&mut self, record: Value) {
        self.tell(record);
        self.run = super::Run::default();
        self.jobs.settled();
    }
}
