//! pi's commands, as the kernel carries them out. Start at [`Shared::command`]; the table for people is
//! docs/reference/pi.md. Invariant: each command of pi 1.6.0 is done, or refused with the code
//! `not_supported`; none is answered as done that was not.

use std::time::Duration;

use kernel::message::Message;
use kernel::ports::{Ended, Outcome, Progress};
use sdk::{Failure, FailureKind};
use serde_json::{Map, Value, json};

use super::{Job, Shared, entries};
use crate::records::{self, kept, not_supported, ok, refused};

type Response = Map<String, Value>;

/// Messages of a conversation that are looked at.
const HISTORY_MAX: usize = 200;
/// A turn that is stopped has ended by then.
const STOP_MAX: Duration = Duration::from_secs(30);
/// Stands where a conversation was begun anew.
const BEGAN_ANEW: &str = "A new conversation begins here; what was said before is put away.";
/// Messages that stay as they are when somebody has the conversation summed up.
const KEPT_MESSAGES: usize = 4;
const LEVELS: [&str; 7] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

impl Shared {
    pub(super) async fn command(&self, session: &str, command: &Map<String, Value>) -> Result<Response, Failure> {
        let word = |name: &str| command.get(name).and_then(Value::as_str);
        let Some(kind) = word("type") else {
            return Ok(refused("", "Unknown command: undefined"));
        };
        Ok(match kind {
            "get_state" => ok(kind, self.get_state(session).await?),
            "get_messages" => ok(kind, json!({ "messages": self.messages(session).await? })),
            "get_last_assistant_text" => ok(kind, last_text(&self.history(session).await?)),
            "get_session_stats" => ok(kind, self.stats(session).await?),
            "get_entries" => self.get_entries(kind, session, word("since")).await?,
            "get_tree" => {
                let entries = entries::entries(&self.messages(session).await?);
                let leaf = entries::leaf(&entries);
                ok(kind, json!({ "tree": entries::tree(entries), "leafId": leaf }))
            }
            "get_commands" => ok(kind, json!({ "commands": [] })),
            "get_available_models" => ok(kind, json!({ "models": self.models() })),
            "set_model" => self.set_model(kind, word("provider"), word("modelId")),
            "cycle_model" => self.cycle_model(kind),
            "get_available_thinking_levels" => ok(kind, json!({ "levels": ["off"] })),
            "set_thinking_level" => match word("level") {
                // As pi does with a model that has one level.
                Some(level) if LEVELS.contains(&level) => ok(kind, Value::Null),
                _ => refused(kind, format!("`level` is one of {}", LEVELS.join(", "))),
            },
            "cycle_thinking_level" => null(kind),
            "set_steering_mode" => only(kind, word("mode"), "all", "what is said meanwhile joins together"),
            "set_follow_up_mode" => only(kind, word("mode"), "one-at-a-time", "each message has a turn of its own"),
            "set_auto_compaction" | "set_auto_retry" => match command.get("enabled") {
                Some(Value::Bool(true)) => ok(kind, Value::Null),
                _ => not_supported(kind, "it is always on"),
            },
            "abort_retry" | "abort_bash" => ok(kind, Value::Null),
            "abort" => self.abort(kind, session).await?,
            "clear_queue" => ok(kind, self.clear_queue(session).await?),
            "new_session" => self.new_session(kind, session).await?,
            "compact" => self.compact(kind, session, word("customInstructions")).await?,
            "set_session_name" => self.set_name(kind, session, word("name")),
            "bash" => not_supported(kind, "the kernel has no shell"),
            "export_html" => not_supported(kind, "read the conversation by get_messages"),
            "switch_session" => not_supported(kind, "a conversation is chosen by its name, with each prompt"),
            "fork" | "clone" | "get_fork_messages" => not_supported(kind, "a conversation has one branch"),
            "extension_ui_response" => not_supported(kind, "it opens no dialogs"),
            "prompt" | "steer" | "follow_up" => refused(kind, "a prompt is submitted, not passed as a command"),
            _ => refused(kind, format!("Unknown command: {kind}")),
        })
    }

    async fn history(&self, session: &str) -> Result<Vec<Message>, Failure> {
        let mut history = self.agent.ports().turns.history(session, HISTORY_MAX).await?;
        history.retain(|message| message.content() != BEGAN_ANEW);
        Ok(history)
    }

    async fn messages(&self, session: &str) -> Result<Vec<Value>, Failure> {
        let model = self.model();
        Ok(self.history(session).await?.iter().map(|message| kept(message, &model)).collect())
    }

    async fn get_state(&self, session: &str) -> Result<Value, Failure> {
        let count = self.history(session).await?.len();
        let model = self.record(&self.model());
        let state = self.state();
        let conversation = state.conversations.get(session);
        let mut data = json!({
            "model": model,
            "thinkingLevel": "off",
            "isStreaming": conversation.is_some_and(|conversation| conversation.telling.running()),
            "isCompacting": false,
            "steeringMode": "all",
            "followUpMode": "one-at-a-time",
            "sessionId": session,
            "autoCompactionEnabled": true,
            "messageCount": count,
            "pendingMessageCount": state.waiting(session).count()
        });
        if let Some(name) = conversation.and_then(|conversation| conversation.name.as_deref()) {
            data["sessionName"] = name.into();
        }
        Ok(data)
    }

    async fn stats(&self, session: &str) -> Result<Value, Failure> {
        let history = self.history(session).await?;
        let count = |role: fn(&Message) -> bool| history.iter().filter(|message| role(message)).count();
        let calls = |message: &Message| match message {
            Message::Assistant { calls, .. } => calls.len(),
            _ => 0,
        };
        let held: u64 = history.iter().map(kernel::context::message_tokens).sum();
        let window = self.agent.ports().source.abilities().context_tokens;
        let percent = if window == 0 { Value::Null } else { json!(held as f64 * 100.0 / window as f64) };
        let spent = self.state().conversations.get(session).map(|conversation| conversation.spent).unwrap_or_default();
        let usage = records::usage(&spent);
        Ok(json!({
            "sessionId": session,
            "userMessages": count(|message| matches!(message, Message::User { .. })),
            "assistantMessages": count(|message| matches!(message, Message::Assistant { .. })),
            "toolCalls": history.iter().map(calls).sum::<usize>(),
            "toolResults": count(|message| matches!(message, Message::Tool { .. })),
            "totalMessages": history.len(),
            "tokens": {
                "input": usage["input"], "output": usage["output"], "cacheRead": usage["cacheRead"],
                "cacheWrite": 0, "total": usage["totalTokens"]
            },
            "cost": records::dollars(spent.cost_usd_micros),
            "contextUsage": { "tokens": held, "contextWindow": window, "percent": percent }
        }))
    }

    async fn get_entries(&self, kind: &str, session: &str, since: Option<&str>) -> Result<Response, Failure> {
        let all = entries::entries(&self.messages(session).await?);
        let leaf = entries::leaf(&all);
        let entries = match since {
            None => Some(all),
            Some(id) => entries::since(all, id),
        };
        Ok(match entries {
            Some(entries) => ok(kind, json!({ "entries": entries, "leafId": leaf })),
            None => refused(kind, format!("Entry not found: {}", since.unwrap_or_default())),
        })
    }

    fn record(&self, name: &str) -> Value {
        let window = self.agent.ports().source.abilities().context_tokens;
        json!({
            "id": name, "name": name, "api": "menshen", "provider": "menshen", "baseUrl": "", "reasoning": false,
            "input": ["text"], "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
            "contextWindow": window, "maxTokens": 0
        })
    }

    fn models(&self) -> Vec<Value> {
        let mut names = self.agent.ports().llm.list_sources();
        if names.is_empty() {
            names.push(self.model());
        }
        names.iter().map(|name| self.record(name)).collect()
    }

    fn set_model(&self, kind: &str, provider: Option<&str>, model: Option<&str>) -> Response {
        let (provider, model) = (provider.unwrap_or_default(), model.unwrap_or_default());
        if provider != "menshen" || !self.models().iter().any(|known| known["id"] == model) {
            return refused(kind, format!("Model not found: {provider}/{model}"));
        }
        let llm = &self.agent.ports().llm;
        // The built-in source alone is not in the list, and is what answers already.
        if llm.list_sources().iter().any(|known| known == model)
            && let Err(failure) = llm.set_source(model)
        {
            return refused(kind, failure.message);
        }
        ok(kind, self.record(model))
    }

    /// As pi: nothing where there is no other.
    fn cycle_model(&self, kind: &str) -> Response {
        let names = self.agent.ports().llm.list_sources();
        if names.len() < 2 {
            return null(kind);
        }
        let current = self.model();
        let at = names.iter().position(|name| *name == current).map_or(0, |at| (at + 1) % names.len());
        match self.agent.ports().llm.set_source(&names[at]) {
            Ok(()) => ok(kind, json!({ "model": self.record(&names[at]), "thinkingLevel": "off", "isScoped": false })),
            Err(failure) => refused(kind, failure.message),
        }
    }

    /// Takes back what waits, durably; what pi calls its texts.
    async fn clear_queue(&self, session: &str) -> Result<Value, Failure> {
        let waiting: Vec<i64> = self.state().waiting(session).map(|(input, _)| *input).collect();
        let mut taken: Vec<Job> = Vec::new();
        for input in waiting {
            // False: its turn has begun meanwhile, and it is answered there.
            if self.agent.withdraw(session, input).await? {
                taken.extend(self.state().jobs.remove(&input));
            }
        }
        let record = self.state().queue(session);
        self.tell(session, None, vec![record]);
        let texts = |steers: bool| -> Vec<&str> {
            taken.iter().filter(|job| job.steers == steers).map(|job| job.text.as_str()).collect()
        };
        let data = json!({ "steering": texts(true), "followUp": texts(false) });
        for job in taken {
            let error = Some("somebody took it back before its turn came".to_owned());
            let outcome = Outcome { ended: Ended::Aborted, error, ..Outcome::default() };
            let _nobody_waits = job.progress.send(Progress::Ended(outcome));
        }
        self.settle(session);
        Ok(data)
    }

    /// A run that stayed open for what was taken back ends now.
    fn settle(&self, session: &str) {
        let mut state = self.state();
        if state.jobs.values().any(|job| job.session == session) {
            return;
        }
        let mut records = Vec::new();
        if let Some(conversation) = state.conversations.get_mut(session) {
            conversation.telling.settle(&mut records);
        }
        self.tell(session, None, records);
    }

    /// Ends all that goes on in this conversation: what waits first, or it would run next.
    async fn stop_all(&self, session: &str) -> Result<Option<Value>, Failure> {
        let cleared = self.clear_queue(session).await?;
        let mut turns = self.turns_ended.subscribe();
        let here = self.going_on(session);
        let waited = tokio::time::timeout(STOP_MAX, async {
            // What begins later is another matter.
            while self.going_on(session).iter().any(|input| here.contains(input)) {
                self.agent.stop(session);
                // Told by us, who are alive.
                let _changed = tokio::time::timeout(Duration::from_millis(200), turns.changed()).await;
            }
        });
        Ok(waited.await.is_ok().then_some(cleared))
    }

    /// What this conversation is at, and our own that are about to begin.
    fn going_on(&self, session: &str) -> Vec<i64> {
        let state = self.state();
        let ours = state.jobs.iter().filter(|(_, job)| job.session == session).map(|(input, _)| *input);
        let running = state.conversations.get(session).map(|conversation| conversation.inputs.clone());
        ours.chain(running.unwrap_or_default()).collect()
    }

    async fn abort(&self, kind: &str, session: &str) -> Result<Response, Failure> {
        Ok(match self.stop_all(session).await? {
            // pi gives no data; what was taken back is worth knowing.
            Some(cleared) => ok(kind, json!({ "cleared": cleared })),
            None => refused(kind, "what goes on does not stop; it ends by the limits of a turn"),
        })
    }

    async fn new_session(&self, kind: &str, session: &str) -> Result<Response, Failure> {
        if self.stop_all(session).await?.is_none() {
            return Ok(refused(kind, "what goes on does not stop, so no new conversation was begun"));
        }
        let anew = Message::System { content: BEGAN_ANEW.into() };
        self.agent.ports().turns.compact(session, 0, anew).await?;
        if let Some(conversation) = self.state().conversations.get_mut(session) {
            conversation.name = None;
            conversation.spent = kernel::ports::Usage::default();
        }
        Ok(ok(kind, json!({ "cancelled": false })))
    }

    async fn compact(&self, kind: &str, session: &str, instructions: Option<&str>) -> Result<Response, Failure> {
        if instructions.is_some_and(|text| !text.trim().is_empty()) {
            return Ok(not_supported(kind, "`customInstructions` are not taken; leave them out"));
        }
        if self.busy(session) {
            return Ok(refused(kind, "something goes on in this conversation: wait, or abort it first"));
        }
        let before: u64 = self.history(session).await?.iter().map(kernel::context::message_tokens).sum();
        self.tell(session, None, vec![json!({ "type": "compaction_start", "reason": "manual" })]);
        let done = self.agent.compact(session, KEPT_MESSAGES).await;
        let (response, result, error) = match done {
            Ok(Some(summary)) => {
                let all = entries::entries(&self.messages(session).await?);
                let first = all.get(1).map_or(Value::Null, |entry| entry["id"].clone());
                let after: u64 = self.history(session).await?.iter().map(kernel::context::message_tokens).sum();
                let data = json!({ "summary": summary, "firstKeptEntryId": first, "tokensBefore": before, "estimatedTokensAfter": after });
                (ok(kind, data.clone()), data, None)
            }
            Ok(None) => {
                let why = "Nothing to compact (session too small)";
                (refused(kind, why), Value::Null, Some(why.to_owned()))
            }
            Err(failure) if failure.kind == FailureKind::Unavailable => {
                (refused(kind, failure.message.clone()), Value::Null, Some(failure.message))
            }
            Err(failure) => return Err(failure),
        };
        let mut end = json!({ "type": "compaction_end", "reason": "manual", "aborted": false, "willRetry": false });
        if !result.is_null() {
            end["result"] = result;
        }
        if let Some(error) = error {
            end["errorMessage"] = error.into();
        }
        self.tell(session, None, vec![end]);
        Ok(response)
    }

    /// For those who look, while this process runs.
    fn set_name(&self, kind: &str, session: &str, name: Option<&str>) -> Response {
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
            return refused(kind, "Session name cannot be empty");
        };
        let name: String = name.chars().take(200).collect();
        self.state().conversations.entry(session.to_owned()).or_default().name = Some(name.clone());
        self.tell(session, None, vec![json!({ "type": "session_info_changed", "name": name })]);
        ok(kind, Value::Null)
    }
}

/// Data that is there and null, as pi has it.
fn null(kind: &str) -> Response {
    let mut response = ok(kind, Value::Null);
    response.insert("data".into(), Value::Null);
    response
}

fn only(kind: &str, mode: Option<&str>, there: &str, why: &str) -> Response {
    match mode {
        Some(mode) if mode == there => ok(kind, Value::Null),
        Some("all" | "one-at-a-time") => not_supported(kind, why),
        _ => refused(kind, "`mode` is `all` or `one-at-a-time`"),
    }
}

/// The key is missing where there is none, as with pi.
fn last_text(history: &[Message]) -> Value {
    let said = history.iter().rev().find_map(|message| match message {
        Message::Assistant { content, .. } if !content.trim().is_empty() => Some(content.trim()),
        _ => None,
    });
    match said {
        Some(text) => json!({ "text": text }),
        None => json!({}),
    }
}
