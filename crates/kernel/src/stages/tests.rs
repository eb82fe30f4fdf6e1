//! Order, matrix and containment, with random handler sets beside a plain model of them.

use std::sync::Mutex;

use proptest::prelude::*;
use sdk::{Deny, Failure, ToolCall, ToolResult, stage_handler};
use serde_json::json;

use super::*;

fn context(stage: Stage) -> StageContext {
    StageContext {
        phase: stage,
        raw_message: "hello".into(),
        tool_calls: vec![ToolCall { id: "c".into(), name: "lock".into(), ..ToolCall::default() }],
        tool_results: vec![ToolResult { call_id: "c".into(), ..ToolResult::default() }],
        ..StageContext::default()
    }
}

/// Every write that a handler can try, by number.
const WRITES: usize = 18;

fn write(at: usize, context: &mut StageContext, mark: &str) {
    let text = || mark.to_owned();
    match at {
        0 => context.raw_message = text(),
        1 => context.context_msgs.push(json!({"role": "system", "content": mark}).as_object().unwrap().clone()),
        2 => context.llm_text = text(),
        3 => context.tool_calls.iter_mut().for_each(|call| call.name = text()),
        4 => context.tool_calls.iter_mut().for_each(|call| call.deny = Some(Deny::because(mark))),
        5 => context.tool_results.iter_mut().for_each(|result| result.result = json!({"by": mark})),
        6 => context.final_text = text(),
        7 => context.response = Some(text()),
        8 => context.no_memory = true,
        9 => drop(context.extra.insert(text(), json!(true))),
        10 => context.user_id = text(),
        11 => context.group_id = text(),
        12 => context.reasoning_content = text(),
        13 => drop(context.token_usage.insert(text(), 1)),
        14 => context.phase = Stage::AfterOutput,
        15 => context.memory.clear(),
        16 => context.channel = text(),
        _ => context.tool_calls.clear(),
    }
}

/// The seed's table, written down once more and apart from the code.
fn allowed(at: usize, stage: Stage) -> bool {
    let row: [bool; 7] = match at {
        0 => [true, false, false, false, false, false, false],
        1 => [false, true, false, false, false, false, false],
        2 => [false, false, true, false, false, false, false],
        3 => [false, false, true, true, false, false, false],
        4 => [false, false, false, true, false, false, false],
        5 => [false, false, false, false, true, false, false],
        6 => [false, false, false, false, false, true, false],
        7 => [true, true, true, true, true, true, false],
        8 => [true, true, false, false, false, false, false],
        9 => [true; 7],
        // Calls may be taken out after the answer; at a tool its call stays.
        17 => [false, false, true, false, false, false, false],
        _ => [false; 7],
    };
    row[Stage::ALL.iter().position(|one| *one == stage).unwrap()]
}

#[test]
fn each_stage_takes_over_what_the_table_permits_and_reports_the_rest() {
    for stage in Stage::ALL {
        for at in 0..WRITES {
            let before = context(stage);
            let mut after = before.clone();
            write(at, &mut after, "x");
            let changes = after != before;
            let (kept, violations) = permitted(stage, &before, after.clone());
            if allowed(at, stage) {
                assert_eq!((kept, violations), (after, vec![]), "{stage:?} {at}");
            } else if changes {
                assert_eq!(kept, before, "{stage:?} {at}");
                assert_eq!(violations.len(), 1, "{stage:?} {at}");
            }
        }
    }
}

#[tokio::test]
async fn nothing_lowers_no_memory() {
    for stage in Stage::ALL {
        let before = StageContext { no_memory: true, ..context(stage) };
        let after = StageContext { no_memory: false, ..before.clone() };
        let (kept, violations) = permitted(stage, &before, after);
        assert!(kept.no_memory);
        assert_eq!(violations[0].field, "NoMemory");
    }
}

#[tokio::test]
async fn a_handler_that_fails_or_panics_changes_nothing_and_is_named() {
    let stages = Stages::default();
    stages.register(
        "weather",
        Stage::OnInput,
        false,
        stage_handler(|context| {
            context.raw_message = "half".into();
            Err(Failure::failed("no network"))
        }),
    );
    stages.register("qq", Stage::OnInput, false, stage_handler(|_| panic!("bug")));
    stages.register(
        "last",
        Stage::OnInput,
        false,
        stage_handler(|context| {
            context.raw_message.push('!');
            Ok(())
        }),
    );
    let (after, problems) = stages.run(context(Stage::OnInput), "").await;
    assert_eq!(after.raw_message, "hello!");
    let owners: Vec<&str> = problems.iter().map(|problem| problem.owner.as_str()).collect();
    assert_eq!(owners, ["weather", "qq"]);
    assert!(problems[0].message.contains("no network"));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_outlives_its_deadline_is_stopped() {
    let stages = Stages::default();
    let handler: StageHandler = Arc::new(|context| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(3600)).await; // cut off by the deadline
            context.raw_message = "late".into();
            Ok(())
        })
    });
    stages.register("slow", Stage::OnInput, false, handler);
    let (after, problems) = stages.run(context(Stage::OnInput), "").await;
    assert_eq!(after.raw_message, "hello");
    assert!(problems[0].message.contains("5 s"));
}

#[tokio::test]
async fn own_tools_only_hears_no_other_tool_and_elsewhere_everything() {
    let stages = Stages::default();
    let seen = Arc::new(Mutex::new(vec![]));
    for stage in [Stage::BeforeToolcall, Stage::OnInput] {
        let seen = seen.clone();
        let handler = stage_handler(move |context: &mut StageContext| {
            seen.lock().unwrap().push(context.phase);
            Ok(())
        });
        stages.register("qq", stage, true, handler);
    }
    stages.run(context(Stage::BeforeToolcall), "web").await;
    assert!(seen.lock().unwrap().is_empty());
    stages.run(context(Stage::BeforeToolcall), "qq").await;
    stages.run(context(Stage::OnInput), "").await;
    assert_eq!(*seen.lock().unwrap(), [Stage::BeforeToolcall, Stage::OnInput]);
}

#[tokio::test]
async fn what_an_owner_registered_leaves_with_it() {
    let stages = Stages::default();
    for owner in ["a", "b", "a"] {
        let handler = stage_handler(move |context: &mut StageContext| {
            context.raw_message.push_str(owner);
            Ok(())
        });
        stages.register(owner, Stage::OnInput, false, handler);
    }
    stages.remove("a");
    let (after, _) = stages.run(context(Stage::OnInput), "").await;
    assert_eq!(after.raw_message, "hellob");
}

/// What one random handler does.
#[derive(Clone, Debug)]
enum Act {
    Write(Vec<usize>),
    Fail(Vec<usize>),
    Panic,
}

fn acts() -> impl Strategy<Value = Vec<(usize, Act)>> {
    let writes = || prop::collection::vec(0..WRITES, 1..4);
    let act = prop_oneof![6 => writes().prop_map(Act::Write), 1 => writes().prop_map(Act::Fail), 1 => Just(Act::Panic)];
    prop::collection::vec((0..7_usize, act), 0..8)
}

/// What must come out: written apart, handler by handler, with the table above.
fn expected(stage: Stage, handlers: &[(usize, Act)]) -> (StageContext, Vec<String>) {
    let mut context = context(stage);
    let mut order = vec![];
    for (number, (at, act)) in handlers.iter().enumerate() {
        if Stage::ALL[*at] != stage {
            continue;
        }
        order.push(number.to_string());
        if let Act::Write(writes) = act {
            // A write is judged by what is changed in the end, so all of one handler's are done first.
            let mut after = context.clone();
            writes.iter().for_each(|one| write(*one, &mut after, &number.to_string()));
            context = permitted(stage, &context, after).0;
        }
        if context.response.is_some() && stage != Stage::AfterOutput {
            break;
        }
    }
    (context, order)
}

#[test]
fn ten_thousand_random_sets_of_handlers_run_in_order_and_within_the_table() {
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 10_000, ..Default::default() });
    let done = runner.run(&(acts(), 0..7_usize), |(handlers, stage)| {
        let stage = Stage::ALL[stage];
        let stages = Stages::default();
        let ran = Arc::new(Mutex::new(vec![]));
        for (number, (at, act)) in handlers.iter().enumerate() {
            let (act, ran) = (act.clone(), ran.clone());
            let handler = stage_handler(move |context: &mut StageContext| {
                ran.lock().unwrap().push(number.to_string());
                match &act {
                    Act::Write(writes) => writes.iter().for_each(|one| write(*one, context, &number.to_string())),
                    Act::Fail(writes) => {
                        writes.iter().for_each(|one| write(*one, context, "lost"));
                        return Err(Failure::failed("on purpose"));
                    }
                    Act::Panic => panic!("on purpose"),
                }
                Ok(())
            });
            stages.register(&number.to_string(), Stage::ALL[*at], false, handler);
        }
        let (after, _) = runtime.block_on(stages.run(context(stage), ""));
        let (wanted, order) = expected(stage, &handlers);
        prop_assert_eq!(&after, &wanted);
        prop_assert_eq!(&*ran.lock().unwrap(), &order);
        // Whatever the handlers did, nothing that the table forbids has changed.
        let before = context(stage);
        for at in [0, 2, 6, 10, 11, 12, 16] {
            if !allowed(at, stage) {
                let field = |context: &StageContext| match at {
                    0 => context.raw_message.clone(),
                    2 => context.llm_text.clone(),
                    6 => context.final_text.clone(),
                    10 => context.user_id.clone(),
                    11 => context.group_id.clone(),
                    12 => context.reasoning_content.clone(),
                    _ => context.channel.clone(),
                };
                prop_assert_eq!(field(&after), field(&before));
            }
        }
        Ok(())
    });
    drop(std::panic::take_hook());
    done.unwrap();
}
