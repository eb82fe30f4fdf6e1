//! Carries out what a turn wants done, while the conversation goes on around it. Start at
//! [`Session::turn`].
//!
//! Invariant: whatever is awaited, a stop, an interrupt and the end of the turn's time are heard; what is
//! dropped then is really dropped, down to the request on the wire.

use std::time::Duration;

use sdk::{MemItem, Stage, TextEvent};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::AgentEvent;
use super::keeping::{Whose, not_written};
use super::session::{Command, Session};
use crate::context::message_tokens;
use crate::message::Message;
use crate::ports::{Answered, RecallQuery, place};
use crate::turn::{Effect, Ended, Event, Patch, Turn};

/// Limit: messages of a session that are looked at for one question.
pub const HISTORY_MAX: usize = 200;
/// Recalling may not keep a person waiting: without an answer by then, a turn goes on without memory.
pub const RECALL_MAX: Duration = Duration::from_millis(1500);
const RECALLED_MAX: usize = 8;

/// What came of waiting for something.
pub(super) enum Waited<T> {
    Done(T),
    /// The turn has moved on; what was awaited is dropped.
    Left(Vec<Effect>),
}

impl Session {
    pub async fn turn(&mut self, mut turn: Turn, effects: Vec<Effect>) {
        let (session, id) = (turn.session.clone(), turn.id.clone());
        let (channel, text) = (turn.principal.channel.clone(), turn.context.raw_message.clone());
        let inputs = turn.inputs.clone();
        self.agent.tell(AgentEvent::TurnStarted { session, turn: id, inputs, channel, text });
        let mut effects: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = effects.pop_front() {
            let next = match effect {
                Effect::Stage(stage, call) => self.stage(&mut turn, stage, call).await,
                Effect::Prepare { shorter } => self.prepare(&mut turn, shorter).await,
                Effect::Ask => self.ask(&mut turn).await,
                Effect::Call(calls) => self.call(&mut turn, calls).await,
                Effect::Deliver(text) => self.deliver(&mut turn, text).await,
                Effect::Requeue(input) => {
                    self.waiting.push_back(input);
                    vec![]
                }
                // What was awaited has been dropped already.
                Effect::CancelAsk | Effect::CancelCalls => vec![],
                Effect::End => break,
            };
            effects.extend(next);
        }
        self.compact(&turn).await;
    }

    /// Writes the event down and applies it. An event that must be on the disk first is not applied
    /// otherwise: the caller sees no effects and an `Err` by [`Session::recorded`].
    pub async fn happened(&mut self, turn: &mut Turn, event: Event, sync: bool) -> Vec<Effect> {
        let (id, session) = match &event {
            Event::Began { turn, input, .. } => (turn.clone(), input.new.session.clone()),
            _ => (turn.id.clone(), turn.session.clone()),
        };
        let recorded = self.recorded(&id, &session, &event, sync).await;
        // The first that finds no way to the disk tells of it for all that wait behind it.
        if let Err(failure) = recorded
            && self.unwritten.len() == 1
        {
            self.problem(turn, "store", None, not_written(turn.chinese(), &failure));
        }
        let now = self.agent.0.ports.clock.now_ms();
        turn.apply(event, now)
    }

    /// Writes it down behind all that came before it: a log with a gap would tell another turn, in which a
    /// call that was made is made again.
    pub async fn recorded(&mut self, turn: &str, session: &str, event: &Event, sync: bool) -> Result<(), sdk::Failure> {
        let value = || serde_json::to_value(event).map_err(|error| sdk::Failure::failed(error.to_string()));
        let written = self.written(turn, session, value()?, sync).await;
        if written.is_err() {
            self.unwritten.push_back(value()?);
        }
        written
    }

    async fn written(
        &mut self,
        turn: &str,
        session: &str,
        event: serde_json::Value,
        sync: bool,
    ) -> Result<(), sdk::Failure> {
        let log = self.agent.0.ports.turns.clone();
        while let Some(earlier) = self.unwritten.front() {
            log.append(turn, session, earlier.clone(), sync).await?;
            self.unwritten.pop_front();
        }
        log.append(turn, session, event, sync).await
    }

    pub fn problem(&self, turn: &Turn, owner: &str, stage: Option<Stage>, message: String) {
        tracing::warn!(owner, stage = stage.map(Stage::name), "{message}");
        let (session, turn) = (turn.session.clone(), turn.id.clone());
        self.agent.tell(AgentEvent::Problem { session, turn, owner: owner.to_owned(), stage, message });
    }

    /// Awaits, and hears what comes in meanwhile.
    pub async fn hearing<T>(&mut self, turn: &mut Turn, work: impl Future<Output = T>) -> Waited<T> {
        tokio::pin!(work);
        let limit = turn.limits.turn_secs_max;
        let spent = self.agent.0.ports.clock.now_ms() - turn.spent.began_ms;
        let left = limit.saturating_mul(1000).saturating_sub(u64::try_from(spent).unwrap_or(0));
        let ends_at = Instant::now() + Duration::from_millis(if limit == 0 { u64::from(u32::MAX) } else { left });
        let mut timed_out = false;
        loop {
            // Each branch may be dropped: the work goes on in the next round, a command was taken or was not.
            let event = tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Stop) => Event::Stopped,
                    Some(Command::Input(input)) if input.new.kind == sdk::InjectionKind::Interrupt => {
                        Event::Interrupted { input }
                    }
                    Some(Command::Input(input)) => {
                        self.waiting.push_back(input);
                        continue;
                    }
                    Some(command @ Command::Withdraw(..)) => {
                        self.take(command);
                        continue;
                    }
                    Some(Command::Resume(turn)) => {
                        self.cut_off.push_back(turn);
                        continue;
                    }
                    // The agent is closing; the task is about to be dropped.
                    None => std::future::pending().await,
                },
                done = &mut work => return Waited::Done(done),
                () = tokio::time::sleep_until(ends_at), if !timed_out => {
                    timed_out = true;
                    Event::OutOfTime
                }
            };
            if let Event::Interrupted { input } = &event {
                let (session, id, text) = (turn.session.clone(), turn.id.clone(), input.new.text.clone());
                self.agent.tell(AgentEvent::Interrupted { session, turn: id, text });
            }
            let mut effects = self.happened(turn, event, false).await;
            effects.retain(|effect| match effect {
                Effect::Requeue(input) => {
                    self.waiting.push_back(input.clone());
                    false
                }
                _ => true,
            });
            if !effects.is_empty() {
                return Waited::Left(effects);
            }
        }
    }

    async fn stage(&mut self, turn: &mut Turn, stage: Stage, call: Option<usize>) -> Vec<Effect> {
        let agent = self.agent.clone();
        if agent.0.stages.is_empty(stage) {
            let patch = Box::default();
            return self.happened(turn, Event::Staged { stage, call, patch }, false).await;
        }
        let before = turn.context_for(stage, call);
        let owner = call.and_then(|at| turn.call(at)).map(|call| call.plugin.clone()).unwrap_or_default();
        let (after, problems) = match self.hearing(turn, agent.0.stages.run(before.clone(), &owner)).await {
            Waited::Done(done) => done,
            Waited::Left(effects) => return effects,
        };
        for problem in problems {
            self.problem(turn, &problem.owner, Some(problem.stage), problem.message);
        }
        let patch = Box::new(Patch::between(&before, &after));
        self.happened(turn, Event::Staged { stage, call, patch }, false).await
    }

    async fn prepare(&mut self, turn: &mut Turn, shorter: bool) -> Vec<Effect> {
        let agent = self.agent.clone();
        let ports = &agent.0.ports;
        let count = if shorter { HISTORY_MAX / 8 } else { HISTORY_MAX };
        let (session, text) = (turn.session.clone(), turn.context.raw_message.clone());
        let gather = async {
            let query =
                RecallQuery { words: vec![text.clone()], depth: 1, count_max: RECALLED_MAX, ..RecallQuery::default() };
            let recall = tokio::time::timeout(RECALL_MAX, ports.graph.recall(query));
            tokio::join!(ports.turns.history(&session, count), recall)
        };
        let (history, recall) = match self.hearing(turn, gather).await {
            Waited::Done(done) => done,
            Waited::Left(effects) => return effects,
        };
        let mut messages = history.unwrap_or_else(|failure| {
            self.problem(turn, "store", None, format!("the history of this conversation cannot be read: {failure}"));
            vec![]
        });
        // Of a part of it nothing follows for the whole.
        self.history = (!shorter).then(|| (messages.len(), messages.iter().map(message_tokens).sum()));
        messages.push(Message::User { content: turn.context.raw_message.clone() });
        let memory = match recall {
            Ok(Ok(recall)) => recall.facts.iter().map(remembered).collect(),
            Ok(Err(failure)) => {
                self.problem(turn, "store", None, format!("memory cannot be read: {failure}"));
                vec![]
            }
            Err(_) => vec![],
        };
        let read_only = agent.0.tools.read_only();
        self.happened(turn, Event::Prepared { messages, memory, read_only }, false).await
    }

    async fn deliver(&mut self, turn: &mut Turn, reply: String) -> Vec<Effect> {
        let agent = self.agent.clone();
        let ports = &agent.0.ports;
        let at_ms = ports.clock.now_ms();
        // Also where a plugin wrote it.
        let reply = decide::text::without_pictures(&reply);
        let answered = Answered {
            turn: turn.id.clone(),
            session: turn.session.clone(),
            inputs: turn.inputs.clone(),
            principal: turn.principal.clone(),
            ended: ended_name(turn.ended.as_ref()),
            messages: turn.to_remember(&reply),
            changes: if turn.changes.is_empty() { Value::Null } else { json!(turn.changes) },
            usage: json!(turn.usage()),
            reply: reply.clone(),
            at_ms,
        };
        let whose = Whose { turn: turn.id.clone(), inputs: turn.inputs.clone(), chinese: turn.chinese() };
        let kept = self
            .until_kept(&whose, || {
                let (inbox, answered) = (ports.inbox.clone(), answered.clone());
                async move { inbox.answer(answered).await }
            })
            .await;
        if let Err(failure) = kept {
            let message = if turn.chinese() {
                format!("这个回答没能写到磁盘上，可能会再来一次：{failure}")
            } else {
                format!("the answer could not be kept and may come again: {failure}")
            };
            self.problem(turn, "store", None, message);
        }
        if !turn.context.no_memory {
            let role = if turn.named.is_empty() { "system" } else { "user" };
            let asked = (role, turn.said.clone());
            for (role, content) in [asked, ("assistant", reply)] {
                let event = TextEvent {
                    role: role.into(),
                    content,
                    timestamp: at_ms / 1000,
                    channel: place(&turn.principal.channel, &turn.principal.group_id),
                };
                if let Err(failure) = ports.text.append(event).await {
                    let message = if turn.chinese() {
                        format!("这段对话的文字没能写到磁盘上：{failure}")
                    } else {
                        format!("the text of this conversation could not be kept: {failure}")
                    };
                    self.problem(turn, "store", None, message);
                }
            }
        }
        let (session, id) = (turn.session.clone(), turn.id.clone());
        agent.tell(AgentEvent::TurnEnded { session, turn: id, answered: Box::new(answered) });
        // The log of the turn is closed: what follows is not written there.
        turn.apply(Event::Delivered, at_ms);
        let before = turn.context_for(Stage::AfterOutput, None);
        let (_, problems) = agent.0.stages.run(before, "").await;
        for problem in problems {
            self.problem(turn, &problem.owner, Some(problem.stage), problem.message);
        }
        turn.apply(Event::Staged { stage: Stage::AfterOutput, call: None, patch: Box::default() }, at_ms)
    }
}

fn remembered(fact: &crate::ports::RecalledFact) -> MemItem {
    let relation = &fact.relation;
    let triple = format!("{} {} {}", relation.source_name, relation.relation_type, relation.target_name);
    let text = if fact.text.is_empty() { triple } else { fact.text.clone() };
    let old = if relation.superseded { " (superseded by a newer fact)" } else { "" };
    MemItem { role: "system".into(), content: format!("{text}{old}"), score: relation.score }
}

/// `answered`, `stopped`, `out_of_rounds` …
fn ended_name(ended: Option<&Ended>) -> String {
    let value = serde_json::to_value(ended.unwrap_or(&Ended::Answered)).unwrap_or_default();
    value["ended"].as_str().unwrap_or("answered").to_owned()
}
