//! The straight way of a turn, and what may cross it. Start at [`Turn::apply`]. Invariant: an event that
//! does not belong to the present step changes nothing, so that a late answer cannot confuse a turn.

use sdk::{Stage, ToolCall};
use serde_json::{Value, json};

use super::batch::{Batched, Progress};
use super::event::{Effect, Event, Patch, Reply};
use super::{Ended, Step, Turn};
use crate::message::Message;
use crate::ports::{Input, NewInput, SourceErrorKind};
use crate::receipts::mended;

/// How often an answer that was cut off is asked for again.
const CUT_MAX: u32 = 2;
/// Limit: how often the program may end at the same step of a turn; then the turn is given up.
pub const RESUMED_MAX: u32 = 3;

impl Turn {
    /// What to do next, after this happened at this time.
    pub fn apply(&mut self, event: Event, now_ms: i64) -> Vec<Effect> {
        self.resumed = if event == Event::Resumed { self.resumed + 1 } else { 0 };
        match (event, self.step) {
            (Event::Began { turn, input, language, limits, day_tokens, day_cost_usd_micros }, Step::New) => {
                self.begin(turn, *input, language, now_ms);
                self.limits = limits;
                (self.spent.day_tokens, self.spent.day_cost_usd_micros) = (day_tokens, day_cost_usd_micros);
                vec![Effect::Stage(Stage::OnInput, None)]
            }
            (Event::Staged { stage, call, patch }, step) if stage_of(step) == Some((stage, call)) => {
                self.staged(stage, call, *patch, now_ms)
            }
            (Event::Prepared { messages, memory, read_only }, Step::Preparing) => {
                let as_map = |message| match serde_json::to_value(message) {
                    Ok(Value::Object(map)) => Some(map),
                    _ => None,
                };
                self.context.context_msgs = messages.into_iter().filter_map(as_map).collect();
                self.context.memory = memory;
                self.read_only = read_only;
                self.enter(Step::PreAction)
            }
            (Event::Replied { reply, calls }, Step::Asking) => self.replied(*reply, calls),
            (Event::SourceFailed { kind, message }, Step::Asking) => self.source_failed(kind, message),
            (Event::Calling { calls }, Step::Calling(from, to)) => {
                for at in calls.into_iter().filter(|at| (from..to).contains(at)) {
                    if let Some(batched) = self.batch.get_mut(at)
                        && batched.progress == Progress::Waiting
                    {
                        batched.progress = Progress::Started;
                    }
                }
                vec![]
            }
            (Event::Called { call, result, undo }, Step::Calling(from, to)) if (from..to).contains(&call) => {
                if !undo.is_null() {
                    self.changes.push(undo);
                }
                self.batch[call].result = Some(*result);
                self.batch[call].progress = Progress::Finished;
                let all = self.batch[from..to].iter().all(|batched| batched.progress == Progress::Finished);
                if all { self.enter(Step::After(from, to)) } else { vec![] }
            }
            (Event::Interrupted { input }, step) => self.interrupted(input, step),
            (Event::Stopped, step) if !ending(step) => self.finish(Ended::Stopped),
            (Event::OutOfTime, step) if !ending(step) => self.finish(Ended::OutOfTime),
            (Event::Resumed, step) if self.resumed >= RESUMED_MAX => self.give_up(step),
            (Event::Resumed, _) => self.resume(),
            (Event::Delivered, Step::Delivering) => self.enter(Step::AfterOutput),
            _ => vec![],
        }
    }

    /// Goes on where the log ends. What was under way when it ended has an unknown outcome and is never
    /// run again.
    fn resume(&mut self) -> Vec<Effect> {
        let (why, advice) = if self.chinese() {
            ("运行中断", "可能已经执行：先读取当前状态，再决定是否重做")
        } else {
            ("the program ended in the middle", "it may have happened: read the state before doing it again")
        };
        for batched in &mut self.batch {
            if batched.progress == Progress::Started {
                let unknown = json!({ "isError": true, "outcome": "outcome_unknown", "cause": why, "advice": advice });
                batched.finish(false, unknown);
            }
        }
        match self.step {
            Step::New | Step::Over => vec![],
            Step::OnInput => vec![Effect::Stage(Stage::OnInput, None)],
            step => self.enter(step),
        }
    }

    /// What ends the program is not done once more: the person hears of it, and no stage runs before that.
    fn give_up(&mut self, step: Step) -> Vec<Effect> {
        match step {
            Step::New | Step::Over => vec![],
            Step::AfterOutput => {
                self.step = Step::Over;
                vec![Effect::End]
            }
            Step::BeforeOutput | Step::Delivering => self.wind_up(),
            _ => {
                self.skip_rest(if self.chinese() { "本轮已结束" } else { "the turn ended" });
                self.close_batch();
                self.context.final_text = self.closing(&Ended::GivenUp);
                self.ended = Some(Ended::GivenUp);
                self.wind_up()
            }
        }
    }

    fn begin(&mut self, turn: String, input: Input, language: String, now_ms: i64) {
        let new = input.new;
        self.id = turn;
        self.session = new.session.clone();
        self.inputs = vec![input.id];
        self.language = language;
        self.said = new.text.clone();
        self.hear(&new);
        self.spent.began_ms = now_ms;
        self.context.raw_message = new.text;
        self.context.user_id = new.principal.user_id.clone();
        self.context.group_id = new.principal.group_id.clone();
        self.context.channel = new.principal.channel.clone();
        self.context.session = new.session;
        self.context.no_memory = new.kind == sdk::InjectionKind::NoMemory;
        self.principal = new.principal;
        self.step = Step::OnInput;
    }

    /// Goes to a step and says what it needs.
    fn enter(&mut self, step: Step) -> Vec<Effect> {
        self.step = step;
        match step {
            Step::Preparing => vec![Effect::Prepare { shorter: self.shortened }],
            Step::PreAction => vec![Effect::Stage(Stage::PreAction, None)],
            Step::Asking => {
                self.join_waiting();
                vec![Effect::Ask]
            }
            Step::PostAction => vec![Effect::Stage(Stage::PostAction, None)],
            Step::Before(_, at, _) => vec![Effect::Stage(Stage::BeforeToolcall, Some(at))],
            Step::Calling(from, to) => {
                let run = |at: &usize| self.batch[*at].progress == Progress::Waiting;
                let calls: Vec<usize> = (from..to).filter(run).collect();
                if calls.is_empty() { self.enter(Step::After(from, to)) } else { vec![Effect::Call(calls)] }
            }
            Step::After(at, _) => vec![Effect::Stage(Stage::AfterToolcall, Some(at))],
            Step::BeforeOutput => vec![Effect::Stage(Stage::BeforeOutput, None)],
            Step::Delivering => vec![Effect::Deliver(self.context.final_text.clone())],
            Step::AfterOutput => vec![Effect::Stage(Stage::AfterOutput, None)],
            Step::New | Step::OnInput | Step::Over => vec![],
        }
    }

    fn staged(&mut self, stage: Stage, call: Option<usize>, patch: Patch, now_ms: i64) -> Vec<Effect> {
        let response = patch.response.clone();
        self.take_over(call, patch);
        if let Some(text) = response
            && stage != Stage::AfterOutput
        {
            self.context.response = Some(text.clone());
            self.context.final_text = text;
            self.ended = Some(Ended::ByStage { stage });
            return self.wind_up();
        }
        match self.step {
            Step::OnInput => self.enter(Step::Preparing),
            Step::PreAction => self.ask_again(now_ms),
            Step::PostAction => self.after_reply(now_ms),
            Step::Before(from, at, to) => self.after_before(from, at, to),
            Step::After(at, to) if at + 1 < to => self.enter(Step::After(at + 1, to)),
            Step::After(_, to) => self.next_group(to, now_ms),
            Step::BeforeOutput if !self.waiting.is_empty() => self.take_back_answer(now_ms),
            Step::BeforeOutput => self.enter(Step::Delivering),
            _ => {
                self.step = Step::Over;
                vec![Effect::End]
            }
        }
    }

    fn take_over(&mut self, call: Option<usize>, patch: Patch) {
        let context = &mut self.context;
        if let Some(text) = patch.raw_message {
            context.raw_message = text;
        }
        if let Some(messages) = patch.context_msgs {
            context.context_msgs = messages;
        }
        if let Some(text) = patch.llm_text {
            context.llm_text = text;
        }
        if let Some(text) = patch.final_text {
            context.final_text = text;
        }
        if let Some(extra) = patch.extra {
            context.extra = extra;
        }
        context.no_memory |= patch.no_memory;
        match (call.and_then(|at| self.batch.get_mut(at)), patch.tool_calls) {
            (Some(batched), Some(mut calls)) if !calls.is_empty() => batched.call = calls.remove(0),
            (None, Some(calls)) => context.tool_calls = calls,
            _ => {}
        }
        if let (Some(batched), Some(mut results)) = (call.and_then(|at| self.batch.get_mut(at)), patch.tool_results)
            && !results.is_empty()
        {
            batched.result = Some(results.remove(0));
        }
    }

    /// Ask the model, if no limit forbids.
    fn ask_again(&mut self, now_ms: i64) -> Vec<Effect> {
        match self.spent.over(&self.limits, now_ms) {
            Some(ended) => self.finish(ended),
            None => self.enter(Step::Asking),
        }
    }

    fn replied(&mut self, reply: Reply, calls: Vec<ToolCall>) -> Vec<Effect> {
        self.spent.add(reply.usage);
        let usage = self.spent.usage;
        let counts = [
            ("prompt_tokens", usage.prompt_tokens),
            ("completion_tokens", usage.completion_tokens),
            ("total_tokens", usage.prompt_tokens + usage.completion_tokens),
        ];
        self.context.token_usage = counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), i64::try_from(*count).unwrap_or(i64::MAX)))
            .collect();
        self.context.llm_text = reply.text.clone();
        self.context.reasoning_content = reply.reasoning.clone();
        self.context.tool_calls = calls;
        self.context.tool_results.clear();
        self.messages.push(Message::Assistant { content: reply.text, calls: reply.calls, reasoning: reply.blocks });
        self.enter(Step::PostAction)
    }

    /// The answer stands, as the handlers left it: its calls run, or it goes out.
    fn after_reply(&mut self, now_ms: i64) -> Vec<Effect> {
        let calls = self.context.tool_calls.clone();
        self.rewrite_answer(&calls);
        if calls.is_empty() {
            if !self.waiting.is_empty() {
                return self.ask_again(now_ms);
            }
            // The last answer is remembered as it was delivered.
            self.messages.pop();
            self.context.final_text = self.receipt();
            self.ended = Some(Ended::Answered);
            return self.enter(Step::BeforeOutput);
        }
        self.spent.rounds += 1;
        self.batch = calls.into_iter().map(Batched::new).collect();
        self.look_first();
        if let Some(ended) = self.spent.over(&self.limits, now_ms) {
            return self.finish(ended);
        }
        self.enter(Step::Before(0, 0, self.group_from(0)))
    }

    /// The answer, with what was really done where it claims otherwise.
    fn receipt(&self) -> String {
        // What a note tells was done elsewhere, by a person's yes or at an earlier time.
        if crate::notes::note(&self.context.raw_message).is_some() && !self.by_person {
            return self.context.llm_text.clone();
        }
        let called = self.messages.iter().any(|message| matches!(message, Message::Tool { .. }));
        mended(&self.context.llm_text, &self.done, called, &self.account(), self.chinese())
    }

    /// What the model is shown later is what was made of its answer, not what it wrote.
    fn rewrite_answer(&mut self, calls: &[ToolCall]) {
        let text = self.context.llm_text.clone();
        let Some(Message::Assistant { content, calls: asked, .. }) = self.messages.last_mut() else { return };
        *content = text;
        asked.retain(|asked| calls.iter().any(|call| call.id == asked.id));
        for call in calls {
            let arguments = Value::Object(call.arguments.clone());
            match asked.iter_mut().find(|asked| asked.id == call.id) {
                Some(asked) if asked.name != call.name => asked.name.clone_from(&call.name),
                Some(_) => {}
                None => asked.push(crate::message::CallRequest {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: arguments.to_string(),
                }),
            }
        }
    }

    fn after_before(&mut self, from: usize, at: usize, to: usize) -> Vec<Effect> {
        if let Some(batched) = self.batch.get_mut(at)
            && let Some(deny) = batched.call.deny.clone()
        {
            batched.finish(false, json!({ "isError": true, "denied": true, "reason": deny.reason }));
        }
        if at + 1 < to { self.enter(Step::Before(from, at + 1, to)) } else { self.enter(Step::Calling(from, to)) }
    }

    fn next_group(&mut self, from: usize, now_ms: i64) -> Vec<Effect> {
        if !self.waiting.is_empty() {
            let why = if self.chinese() { "有人插话，未执行" } else { "interrupted by the person; not run" };
            self.skip_rest(why);
        }
        if self.batch[from.min(self.batch.len())..].iter().any(|batched| batched.progress == Progress::Waiting) {
            return self.enter(Step::Before(from, from, self.group_from(from)));
        }
        self.close_batch();
        self.ask_again(now_ms)
    }

    fn source_failed(&mut self, kind: SourceErrorKind, message: String) -> Vec<Effect> {
        if kind == SourceErrorKind::ContextTooLong && !self.shortened {
            self.shortened = true;
            return self.enter(Step::Preparing);
        }
        if kind == SourceErrorKind::Cut && self.cut < CUT_MAX {
            self.cut += 1;
            return self.enter(Step::Asking);
        }
        // There is no request on the wire any more.
        self.step = Step::PostAction;
        self.finish(Ended::SourceFailed { message })
    }

    fn hear(&mut self, input: &NewInput) {
        if input.by_person() {
            self.by_person = true;
            self.named.push_str(&input.text);
            self.named.push('\n');
        }
    }

    /// An interrupt joins here, or begins a turn of its own: never both.
    fn interrupted(&mut self, input: Box<Input>, step: Step) -> Vec<Effect> {
        if matches!(step, Step::Delivering | Step::AfterOutput | Step::Over | Step::New)
            || self.inputs.contains(&input.id)
        {
            return if self.inputs.contains(&input.id) { vec![] } else { vec![Effect::Requeue(input)] };
        }
        if matches!(self.ended, Some(Ended::ByStage { .. } | Ended::Stopped)) {
            return vec![Effect::Requeue(input)];
        }
        self.inputs.push(input.id);
        self.several |= input.new.principal != self.principal;
        self.said = format!("{}\n{}", self.said, input.new.text);
        self.hear(&input.new);
        self.waiting.push(input.new.text);
        self.context.no_memory |= input.new.kind == sdk::InjectionKind::NoMemory;
        if step == Step::Asking {
            let mut effects = vec![Effect::CancelAsk];
            effects.extend(self.enter(Step::Asking));
            return effects;
        }
        vec![]
    }

    fn join_waiting(&mut self) {
        for text in std::mem::take(&mut self.waiting) {
            self.messages.push(Message::User { content: text });
        }
    }

    /// Something was said while the answer was on its way out: it is thought over.
    fn take_back_answer(&mut self, now_ms: i64) -> Vec<Effect> {
        self.ended = None;
        let content = std::mem::take(&mut self.context.final_text);
        self.messages.push(Message::Assistant { content, calls: vec![], reasoning: vec![] });
        self.ask_again(now_ms)
    }

    /// Ends now, with an account of what was done.
    fn finish(&mut self, ended: Ended) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.step == Step::Asking {
            effects.push(Effect::CancelAsk);
        }
        if self.running() {
            effects.push(Effect::CancelCalls);
        }
        let why = if self.chinese() { "本轮已结束" } else { "the turn ended" };
        self.skip_rest(why);
        self.close_batch();
        self.context.final_text = self.closing(&ended);
        self.ended = Some(ended);
        effects.extend(self.enter(Step::BeforeOutput));
        effects
    }

    /// A stage gave the response: everything up to `after_output` is skipped.
    fn wind_up(&mut self) -> Vec<Effect> {
        self.skip_rest("the turn ended");
        self.close_batch();
        self.enter(Step::Delivering)
    }
}

fn stage_of(step: Step) -> Option<(Stage, Option<usize>)> {
    Some(match step {
        Step::OnInput => (Stage::OnInput, None),
        Step::PreAction => (Stage::PreAction, None),
        Step::PostAction => (Stage::PostAction, None),
        Step::Before(_, at, _) => (Stage::BeforeToolcall, Some(at)),
        Step::After(at, _) => (Stage::AfterToolcall, Some(at)),
        Step::BeforeOutput => (Stage::BeforeOutput, None),
        Step::AfterOutput => (Stage::AfterOutput, None),
        _ => return None,
    })
}

/// The answer is decided: nothing ends it a second time.
fn ending(step: Step) -> bool {
    matches!(step, Step::BeforeOutput | Step::Delivering | Step::AfterOutput | Step::Over | Step::New)
}
