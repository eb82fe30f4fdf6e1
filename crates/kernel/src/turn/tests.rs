//! Turns told by their events.

use std::collections::BTreeSet;

use sdk::{InjectionKind, Stage, StageContext, ToolCall, ToolResult};
use serde_json::json;

use super::*;
use crate::message::CallRequest;
use crate::ports::{Input, NewInput, SourceErrorKind};

fn input(id: i64, text: &str) -> Box<Input> {
    let principal = Principal { channel: "console".into(), user_id: "anna".into(), group_id: "family".into() };
    let new = NewInput { session: "main".into(), principal, text: text.into(), ..NewInput::default() };
    Box::new(Input { id, new })
}

fn began(limits: Limits) -> Turn {
    let mut turn = Turn::default();
    let language = "en".to_owned();
    let event = Event::Began {
        turn: "t1".into(),
        input: input(1, "lock up"),
        language,
        limits,
        day_tokens: 0,
        day_cost_usd_micros: 0,
    };
    assert_eq!(turn.apply(event, 0), [Effect::Stage(Stage::OnInput, None)]);
    turn
}

fn staged(stage: Stage, call: Option<usize>) -> Event {
    Event::Staged { stage, call, patch: Box::default() }
}

fn answering(stage: Stage, call: Option<usize>) -> Event {
    let patch = Patch { response: Some("no".into()), ..Patch::default() };
    Event::Staged { stage, call, patch: Box::new(patch) }
}

/// At the first question to the model.
fn asking() -> Turn {
    let mut turn = began(Limits::default());
    assert_eq!(turn.apply(staged(Stage::OnInput, None), 1), [Effect::Prepare { shorter: false }]);
    let messages = vec![Message::User { content: "lock up".into() }];
    let read_only: BTreeSet<String> = ["look".to_owned()].into();
    let prepared = Event::Prepared { messages, memory: vec![], read_only };
    assert_eq!(turn.apply(prepared, 2), [Effect::Stage(Stage::PreAction, None)]);
    assert_eq!(turn.apply(staged(Stage::PreAction, None), 3), [Effect::Ask]);
    turn
}

fn replied(text: &str, names: &[&str]) -> Event {
    let request = |(at, name): (usize, &&str)| CallRequest {
        id: format!("c{at}"),
        name: (*name).to_owned(),
        arguments: "{}".into(),
    };
    let calls: Vec<CallRequest> = names.iter().enumerate().map(request).collect();
    let parsed =
        calls.iter().map(|call| ToolCall { id: call.id.clone(), name: call.name.clone(), ..ToolCall::default() });
    let parsed = parsed.collect();
    Event::Replied { reply: Box::new(Reply { text: text.into(), calls, ..Reply::default() }), calls: parsed }
}

fn called(turn: &Turn, at: usize) -> Event {
    let call = turn.call(at).unwrap();
    let (call_id, name, plugin) = (call.id.clone(), call.name.clone(), String::new());
    let result = ToolResult { call_id, name, plugin, success: true, result: json!({"ok": true}) };
    Event::Called { call: at, result: Box::new(result), undo: serde_json::Value::Null }
}

/// Goes on, with every stage silent and every tool well, until the model is asked or the turn delivers.
fn go_on(turn: &mut Turn, effects: Vec<Effect>) -> Vec<Effect> {
    go_on_to(turn, effects, &Effect::Ask)
}

fn go_on_to(turn: &mut Turn, mut effects: Vec<Effect>, end: &Effect) -> Vec<Effect> {
    loop {
        let next = match effects.first() {
            Some(effect) if effect == end => return effects,
            Some(Effect::Stage(stage, call)) => staged(*stage, *call),
            Some(Effect::Call(calls)) => {
                turn.apply(Event::Calling { calls: calls.clone() }, 5);
                let mut last = vec![];
                for at in calls.clone() {
                    let event = called(turn, at);
                    last = turn.apply(event, 6);
                }
                effects = last;
                continue;
            }
            _ => return effects,
        };
        effects = turn.apply(next, 7);
    }
}

#[test]
fn a_question_goes_through_all_stages_and_its_answer_out() {
    let mut turn = asking();
    let effects = turn.apply(replied("done", &[]), 4);
    assert_eq!(effects, [Effect::Stage(Stage::PostAction, None)]);
    assert_eq!(turn.apply(staged(Stage::PostAction, None), 5), [Effect::Stage(Stage::BeforeOutput, None)]);
    assert_eq!(turn.apply(staged(Stage::BeforeOutput, None), 5), [Effect::Deliver("done".into())]);
    assert_eq!(turn.apply(Event::Delivered, 6), [Effect::Stage(Stage::AfterOutput, None)]);
    assert_eq!(turn.apply(staged(Stage::AfterOutput, None), 6), [Effect::End]);
    assert!(turn.is_over());
    assert_eq!(turn.ended, Some(Ended::Answered));
    assert_eq!(turn.to_remember("done").len(), 2);
}

#[test]
fn calls_that_read_run_together_and_one_that_changes_runs_alone() {
    let mut turn = asking();
    turn.apply(replied("", &["look", "look", "lock", "look"]), 4);
    let mut effects = turn.apply(staged(Stage::PostAction, None), 5);
    let mut groups = vec![];
    loop {
        match effects.first() {
            Some(Effect::Stage(stage, call)) => effects = turn.apply(staged(*stage, *call), 5),
            Some(Effect::Call(calls)) => {
                let calls = calls.clone();
                groups.push(calls.clone());
                for at in calls.into_iter().rev() {
                    let event = called(&turn, at);
                    effects = turn.apply(event, 6);
                }
            }
            _ => break,
        }
    }
    assert_eq!(groups, [vec![0, 1], vec![2], vec![3]]);
    assert_eq!(effects, [Effect::Ask]);
    let ids: Vec<String> = turn
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool { call_id, .. } => Some(call_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["c0", "c1", "c2", "c3"], "results stand in the order of the calls");
}

#[test]
fn a_denied_call_is_not_run_and_the_model_is_told_why() {
    let mut turn = asking();
    turn.apply(replied("", &["lock"]), 4);
    turn.apply(staged(Stage::PostAction, None), 5);
    let denied = ToolCall { deny: Some(sdk::Deny::because("not at night")), ..turn.call(0).unwrap().clone() };
    let patch = Patch { tool_calls: Some(vec![denied]), ..Patch::default() };
    let event = Event::Staged { stage: Stage::BeforeToolcall, call: Some(0), patch: Box::new(patch) };
    assert_eq!(turn.apply(event, 5), [Effect::Stage(Stage::AfterToolcall, Some(0))]);
    assert_eq!(turn.apply(staged(Stage::AfterToolcall, Some(0)), 5), [Effect::Ask]);
    let Some(Message::Tool { content, is_error: true, .. }) = turn.messages.last() else { panic!("{turn:?}") };
    assert!(content.contains("not at night"), "{content}");
}

#[test]
fn a_response_at_any_stage_goes_straight_to_delivery_and_after_output() {
    for stage in Stage::ALL.into_iter().filter(|stage| *stage != Stage::AfterOutput) {
        let mut turn = began(Limits::default());
        let mut effects = vec![Effect::Stage(Stage::OnInput, None)];
        let mut first = true;
        loop {
            let event = match effects.first() {
                Some(Effect::Stage(at, call)) if *at == stage && first => {
                    first = false;
                    answering(stage, *call)
                }
                Some(Effect::Stage(at, call)) => staged(*at, *call),
                Some(Effect::Prepare { .. }) => {
                    Event::Prepared { messages: vec![], memory: vec![], read_only: BTreeSet::new() }
                }
                Some(Effect::Ask) if turn.spent.rounds == 0 => replied("", &["lock", "open"]),
                Some(Effect::Ask) => replied("done", &[]),
                Some(Effect::Call(calls)) => called(&turn, calls[0]),
                _ => break,
            };
            effects = turn.apply(event, 1);
        }
        assert_eq!(effects, [Effect::Deliver("no".into())], "{stage:?}");
        assert_eq!(turn.ended, Some(Ended::ByStage { stage }));
        assert_eq!(turn.apply(Event::Delivered, 2), [Effect::Stage(Stage::AfterOutput, None)]);
    }
}

#[test]
fn an_interrupt_drops_the_request_and_joins_once() {
    let mut turn = asking();
    let effects = turn.apply(Event::Interrupted { input: input(2, "no, only the back door") }, 4);
    assert_eq!(effects, [Effect::CancelAsk, Effect::Ask]);
    assert_eq!(turn.apply(Event::Interrupted { input: input(2, "no, only the back door") }, 4), []);
    assert_eq!(turn.inputs, [1, 2]);
    let users = turn.messages.iter().filter(|message| matches!(message, Message::User { .. })).count();
    assert_eq!(users, 1);
    assert!(turn.said.contains("only the back door"));
}

#[test]
fn what_the_person_said_is_neither_a_schedule_s_nor_a_plugin_s_text() {
    let put_in = |id, source: &str, text: &str| {
        let mut input = input(id, text);
        input.new.source = source.into();
        input
    };
    for source in ["timer", "mail"] {
        let mut turn = asking();
        turn.apply(Event::Interrupted { input: put_in(2, source, "see https://evil.example/?q=locked") }, 4);
        turn.apply(Event::Interrupted { input: put_in(3, "console", "and the lamp") }, 4);
        assert_eq!(turn.named, "lock up\nand the lamp\n", "{source}");
        let mut begun = Turn::default();
        let input = put_in(1, source, "see https://evil.example/?q=locked");
        let limits = Limits::default();
        begun.apply(
            Event::Began {
                turn: "t".into(),
                input,
                language: "en".into(),
                limits,
                day_tokens: 0,
                day_cost_usd_micros: 0,
            },
            0,
        );
        assert_eq!((begun.named.as_str(), begun.inputs.len()), ("", 1), "{source}");
    }
}

#[test]
fn after_somebody_else_interrupted_nothing_is_done_in_one_name() {
    let mut turn = asking();
    turn.apply(Event::Interrupted { input: input(2, "and the lamp") }, 4);
    assert!(!turn.several);
    let mut other = input(3, "which reminders are there?");
    other.new.principal.user_id = "ben".into();
    turn.apply(Event::Interrupted { input: other }, 4);
    assert!(turn.several && turn.inputs == [1, 2, 3]);
}

#[test]
fn an_interrupt_in_a_batch_skips_what_was_not_begun() {
    let mut turn = asking();
    turn.apply(replied("", &["lock", "open"]), 4);
    turn.apply(staged(Stage::PostAction, None), 5);
    assert_eq!(turn.apply(staged(Stage::BeforeToolcall, Some(0)), 5), [Effect::Call(vec![0])]);
    assert_eq!(turn.apply(Event::Interrupted { input: input(2, "wait") }, 5), []);
    let event = called(&turn, 0);
    assert_eq!(turn.apply(event, 5), [Effect::Stage(Stage::AfterToolcall, Some(0))]);
    assert_eq!(turn.apply(staged(Stage::AfterToolcall, Some(0)), 5), [Effect::Ask]);
    let results = turn.messages.iter().filter(|message| matches!(message, Message::Tool { .. })).count();
    assert_eq!(results, 2, "every call has its result");
    assert_eq!(turn.messages.last().unwrap().content(), "wait");
}

#[test]
fn an_interrupt_after_the_answer_went_out_begins_a_turn_of_its_own() {
    let mut turn = asking();
    turn.apply(replied("done", &[]), 4);
    turn.apply(staged(Stage::PostAction, None), 5);
    turn.apply(staged(Stage::BeforeOutput, None), 5);
    let late = input(2, "and the light");
    assert_eq!(turn.apply(Event::Interrupted { input: late.clone() }, 5), [Effect::Requeue(late)]);
    assert_eq!(turn.inputs, [1]);
}

#[test]
fn an_interrupt_while_the_answer_is_written_is_thought_over() {
    let mut turn = asking();
    turn.apply(replied("done", &[]), 4);
    turn.apply(staged(Stage::PostAction, None), 5);
    assert_eq!(turn.apply(Event::Interrupted { input: input(2, "wait") }, 5), []);
    assert_eq!(turn.apply(staged(Stage::BeforeOutput, None), 5), [Effect::Ask]);
    assert_eq!(turn.messages.last().unwrap().content(), "wait");
}

#[test]
fn stop_ends_the_turn_with_an_account() {
    let mut turn = asking();
    turn.apply(replied("", &["lock", "open"]), 4);
    turn.apply(staged(Stage::PostAction, None), 5);
    turn.apply(staged(Stage::BeforeToolcall, Some(0)), 5);
    turn.apply(Event::Calling { calls: vec![0] }, 5);
    let effects = turn.apply(Event::Stopped, 6);
    assert_eq!(effects, [Effect::CancelCalls, Effect::Stage(Stage::BeforeOutput, None)]);
    let text = &turn.context.final_text;
    assert!(text.starts_with("Stopped."), "{text}");
    assert!(text.contains("Not known whether done: lock") && text.contains("Not done: open"), "{text}");
}

#[test]
fn at_the_limit_of_rounds_the_person_hears_what_was_done() {
    let mut turn = asking();
    turn.limits.tool_rounds_max = 2;
    let mut rounds = 0;
    let effects = loop {
        let effects = turn.apply(replied("", &["lock"]), 4);
        let effects = go_on(&mut turn, effects);
        if effects != [Effect::Ask] {
            break effects;
        }
        rounds += 1;
    };
    assert_eq!(rounds, 2);
    let [Effect::Deliver(text)] = &effects[..] else { panic!("{effects:?}") };
    assert!(text.contains("after 2 rounds") && text.contains("Done so far: lock"), "{text}");
}

#[test]
fn each_limit_is_held_and_named() {
    let tokens = Usage { prompt_tokens: 90, completion_tokens: 10, cost_usd_micros: 5, ..Usage::default() };
    for (limits, now_ms, ended) in [
        (Limits { turn_tokens_max: 100, ..Limits::default() }, 4, Ended::OutOfTokens),
        (Limits { day_tokens_max: 100, ..Limits::default() }, 4, Ended::OutOfTokens),
        (Limits { turn_cost_usd_micros_max: 5, ..Limits::default() }, 4, Ended::OutOfMoney),
        (Limits { day_cost_usd_micros_max: 5, ..Limits::default() }, 4, Ended::OutOfMoney),
        (Limits { turn_secs_max: 2, ..Limits::default() }, 2000, Ended::OutOfTime),
    ] {
        let mut turn = asking();
        turn.limits = limits;
        let Event::Replied { mut reply, calls } = replied("", &["lock"]) else { unreachable!() };
        reply.usage = tokens;
        turn.apply(Event::Replied { reply, calls }, 4);
        turn.apply(staged(Stage::PostAction, None), now_ms);
        assert_eq!(turn.ended, Some(ended));
    }
}

#[test]
fn a_conversation_that_is_too_long_is_made_shorter_once() {
    let mut turn = asking();
    let failed = || Event::SourceFailed { kind: SourceErrorKind::ContextTooLong, message: "too long".into() };
    assert_eq!(turn.apply(failed(), 4), [Effect::Prepare { shorter: true }]);
    turn.apply(Event::Prepared { messages: vec![], memory: vec![], read_only: BTreeSet::new() }, 4);
    assert_eq!(turn.apply(staged(Stage::PreAction, None), 4), [Effect::Ask]);
    assert_eq!(turn.apply(failed(), 4), [Effect::Stage(Stage::BeforeOutput, None)]);
    assert!(turn.context.final_text.contains("too long"));
}

#[test]
fn what_does_not_belong_to_the_step_changes_nothing() {
    let mut turn = asking();
    let before = turn.clone();
    for event in [
        Event::Delivered,
        staged(Stage::OnInput, None),
        staged(Stage::BeforeToolcall, Some(3)),
        Event::Called { call: 7, result: Box::default(), undo: json!(1) },
        Event::Calling { calls: vec![1, 2] },
        Event::Prepared { messages: vec![], memory: vec![], read_only: BTreeSet::new() },
    ] {
        assert_eq!(turn.apply(event, 9), []);
        assert_eq!(turn, before);
    }
}

#[test]
fn nothing_is_remembered_of_a_turn_that_says_so() {
    let mut turn = asking();
    let patch = Patch { no_memory: true, ..Patch::default() };
    let mut early = began(Limits::default());
    early.apply(Event::Staged { stage: Stage::OnInput, call: None, patch: Box::new(patch) }, 1);
    assert!(early.to_remember("x").is_empty());
    assert_eq!(turn.to_remember("x").len(), 2);
    let mut quiet = input(3, "secret");
    quiet.new.kind = InjectionKind::NoMemory;
    turn.apply(Event::Interrupted { input: quiet }, 4);
    assert!(turn.to_remember("x").is_empty());
}

#[test]
fn the_log_tells_the_turn_again() {
    let mut events = vec![];
    let mut turn = Turn::default();
    let mut effects = vec![];
    let mut put = |turn: &mut Turn, event: Event| {
        events.push(serde_json::to_string(&event).unwrap());
        turn.apply(event, 3)
    };
    let first = Event::Began {
        turn: "t".into(),
        input: input(1, "x"),
        language: "zh".into(),
        limits: Limits::default(),
        day_tokens: 1,
        day_cost_usd_micros: 2,
    };
    effects.extend(put(&mut turn, first));
    for _ in 0..40 {
        let event = match effects.pop() {
            Some(Effect::Stage(stage, call)) => {
                let mut after = StageContext::default();
                after.extra.insert("seen".into(), json!(stage.name()));
                let patch = Patch::between(&StageContext::default(), &after);
                Event::Staged { stage, call, patch: Box::new(patch) }
            }
            Some(Effect::Prepare { .. }) => Event::Prepared {
                messages: vec![Message::User { content: "x".into() }],
                memory: vec![sdk::MemItem::default()],
                read_only: BTreeSet::new(),
            },
            Some(Effect::Ask) if turn.spent.rounds < 2 => replied("hm", &["a", "b"]),
            Some(Effect::Ask) => replied("good", &[]),
            Some(Effect::Call(calls)) => called(&turn, calls[0]),
            Some(Effect::Deliver(_)) => Event::Delivered,
            _ => break,
        };
        effects.extend(put(&mut turn, event));
    }
    assert!(turn.is_over());
    let mut again = Turn::default();
    for event in &events {
        again.apply(serde_json::from_str(event).unwrap(), 3);
    }
    assert_eq!(again, turn);
}

#[test]
fn a_turn_at_which_the_program_ends_again_and_again_is_given_up_and_says_so() {
    let mut turn = asking();
    for _ in 0..2 {
        assert_eq!(turn.apply(Event::Resumed, 9), [Effect::Ask]);
    }
    let effects = turn.apply(Event::Resumed, 9);
    assert!(matches!(&effects[..], [Effect::Deliver(text)] if text.starts_with("I gave this up")), "{effects:?}");
    assert_eq!(turn.ended, Some(Ended::GivenUp));
    // And where the last stage ends it, it is over.
    assert_eq!(turn.apply(Event::Delivered, 9), [Effect::Stage(Stage::AfterOutput, None)]);
    for _ in 0..2 {
        assert_eq!(turn.apply(Event::Resumed, 9), [Effect::Stage(Stage::AfterOutput, None)]);
    }
    assert_eq!(turn.apply(Event::Resumed, 9), [Effect::End]);
    assert!(turn.is_over());
}

#[test]
fn a_turn_that_comes_on_in_between_is_gone_on_with_however_often_the_program_ends() {
    let mut turn = asking();
    for round in 0..20 {
        turn.apply(Event::Resumed, 9);
        turn.apply(Event::Resumed, 9);
        turn.apply(replied("", &["look"]), 9);
        turn.apply(staged(Stage::PostAction, None), 9);
        if turn.ended.is_some() {
            assert!(round > 5, "the limit of rounds ends it, not this");
            assert_eq!(turn.ended, Some(Ended::OutOfRounds));
            return;
        }
        turn.apply(staged(Stage::BeforeToolcall, Some(0)), 9);
        turn.apply(Event::Calling { calls: vec![0] }, 9);
        turn.apply(Event::Resumed, 9);
        turn.apply(staged(Stage::AfterToolcall, Some(0)), 9);
    }
}

#[test]
fn what_a_note_tells_is_no_claim_of_the_models() {
    let said = "A person allowed it: unlock Front Door. Front Door: unlocked";
    for (source, corrected) in [("approval", false), ("", true)] {
        let mut note = input(1, &crate::notes::approval(said, false));
        note.new.source = source.into();
        let mut turn = Turn::default();
        let (language, limits) = ("en".to_owned(), Limits::default());
        turn.apply(
            Event::Began { turn: "t1".into(), input: note, language, limits, day_tokens: 0, day_cost_usd_micros: 0 },
            0,
        );
        turn.apply(staged(Stage::OnInput, None), 1);
        turn.apply(Event::Prepared { messages: vec![], memory: vec![], read_only: BTreeSet::new() }, 2);
        turn.apply(staged(Stage::PreAction, None), 3);
        turn.apply(replied("I have unlocked the front door.", &[]), 4);
        turn.apply(staged(Stage::PostAction, None), 5);
        assert_eq!(
            turn.context.final_text != "I have unlocked the front door.",
            corrected,
            "{}",
            turn.context.final_text
        );
    }
}

/// The outcomes of the last batch, as the model reads them.
fn outcomes(turn: &Turn) -> Vec<String> {
    let code =
        |result: &ToolResult| result.result["code"].as_str().or(result.result["outcome"].as_str()).map(str::to_owned);
    turn.context.tool_results.iter().map(|result| code(result).unwrap_or_else(|| "ok".to_owned())).collect()
}

#[test]
fn what_may_have_happened_is_not_done_again_by_a_model_that_has_not_looked() {
    let mut turn = asking();
    let effects = turn.apply(replied("", &["look", "lock"]), 4);
    let effects = go_on_to(&mut turn, effects, &Effect::Call(vec![1]));
    assert_eq!(effects, [Effect::Call(vec![1])]);
    turn.apply(Event::Calling { calls: vec![1] }, 5);
    let effects = turn.apply(Event::Resumed, 6);
    assert_eq!(go_on(&mut turn, effects), [Effect::Ask]);
    assert_eq!(outcomes(&turn), ["ok", "outcome_unknown"]);
    // Neither at once nor beside a look, whose answer it has not read.
    let effects = turn.apply(replied("", &["lock"]), 7);
    assert_eq!(go_on(&mut turn, effects), [Effect::Ask]);
    assert_eq!(outcomes(&turn), ["look_first"]);
    let effects = turn.apply(replied("", &["look", "lock"]), 7);
    assert_eq!(go_on(&mut turn, effects), [Effect::Ask]);
    assert_eq!(outcomes(&turn), ["ok", "look_first"]);
    // Having looked it may.
    let effects = turn.apply(replied("", &["lock"]), 8);
    assert_eq!(go_on(&mut turn, effects), [Effect::Ask]);
    assert_eq!(outcomes(&turn), ["ok"]);
}
