//! The tools of time as a model calls them.

use std::sync::atomic::{AtomicI64, Ordering};

use super::super::due::due;
use super::super::fakes::{FakeClock, FakeSchedules, assert_portable, call};
use super::*;

/// Monday 2026-11-30 20:41 in Berlin.
const NOW: i64 = 1_796_067_660_000;

struct Desk {
    schedules: Arc<FakeSchedules>,
    clock: Arc<FakeClock>,
    tools: Vec<Tool>,
}

fn desk() -> Desk {
    let schedules = Arc::new(FakeSchedules::default());
    let clock = Arc::new(FakeClock(AtomicI64::new(NOW)));
    let zone = Arc::new(|| "Europe/Berlin".to_owned());
    let tools = time_tools(&TimeDesk { schedules: schedules.clone(), clock: clock.clone(), zone });
    Desk { schedules, clock, tools }
}

fn scope(session: &str, user_id: &str, call_id: &str) -> ToolScope {
    ToolScope {
        session: session.into(),
        turn: "t1".into(),
        call_id: call_id.into(),
        channel: "console".into(),
        user_id: user_id.into(),
        language: "en".into(),
        ..ToolScope::default()
    }
}

#[tokio::test]
async fn a_timer_comes_back_to_where_it_was_asked_for() {
    let desk = desk();
    let asked = scope("console:kitchen", "anna", "c1");
    let answer =
        call(&desk.tools, "timer_set", json!({"duration": "10 minutes", "message": "take the\ncake out"}), &asked)
            .await
            .unwrap();
    assert_eq!(answer["at"], "2026-11-30 20:51 Monday");
    assert_eq!(answer["in_seconds"], 600);
    assert_eq!(answer["zone"], "Europe/Berlin");
    desk.clock.0.store(NOW + 600_000, Ordering::Relaxed);
    let all = desk.schedules.list().await.unwrap();
    let due = due(&all, desk.clock.now_ms(), |at| desk.clock.written(at));
    assert_eq!(due.len(), 1);
    let input = &due[0].input;
    assert_eq!((input.session.as_str(), input.principal.channel.as_str()), ("console:kitchen", "console"));
    assert_eq!((input.principal.user_id.as_str(), input.source.as_str()), ("anna", "timer"));
    assert_eq!(input.kind, InjectionKind::Interrupt);
    assert_eq!(input.text, "[timer] It is time: take the cake out");
    let fired = desk.schedules.fire(&due[0].id, due[0].due_at_ms, due[0].next_at_ms, input.clone()).await.unwrap();
    assert!(fired.is_some() && desk.schedules.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_schedule_says_when_it_comes_next() {
    let desk = desk();
    let arguments = json!({"cron": "30 7 * * mon-fri", "message": "wake up", "zone": "asia/shanghai"});
    let answer = call(&desk.tools, "schedule_create", arguments, &scope("main", "", "c1")).await.unwrap();
    assert_eq!(
        answer["next"],
        json!(["2026-12-01 07:30 Tuesday", "2026-12-02 07:30 Wednesday", "2026-12-03 07:30 Thursday"])
    );
    assert_eq!(answer["zone"], "Asia/Shanghai");
    let once = json!({"at": "tomorrow 07:00", "message": "once"});
    let answer = call(&desk.tools, "schedule_create", once, &scope("main", "", "c2")).await.unwrap();
    assert_eq!(answer["at"], "2026-12-01 07:00 Tuesday");
    let skipped = json!({"at": "2027-03-28 02:30", "message": "early"});
    let answer = call(&desk.tools, "timer_set", skipped, &scope("main", "", "c3")).await.unwrap();
    assert_eq!(answer["at"], "2027-03-28 03:00 Sunday");
    assert!(answer["note"].as_str().unwrap().contains("skip"));
}

#[tokio::test]
async fn every_wrong_field_is_named_and_nothing_is_set() {
    let desk = desk();
    let scope = scope("main", "", "c1");
    for (tool, arguments, words) in [
        ("timer_set", json!({"duration": "-5m", "message": ""}), vec!["`duration`", "negative", "`message`"]),
        ("timer_set", json!({"duration": "0s", "message": "x"}), vec!["`duration`", "zero"]),
        ("timer_set", json!({"at": "2026-11-30 20:40", "message": "x"}), vec!["`at`", "past"]),
        ("timer_set", json!({"duration": "5000 days", "message": "x"}), vec!["`duration`", "ten years"]),
        ("timer_set", json!({"at": "2050-01-01 00:00", "message": "x"}), vec!["`at`", "ten years"]),
        ("timer_set", json!({"duration": "later", "message": "x"}), vec!["`duration`", "10m"]),
        ("timer_set", json!({"message": "x"}), vec!["`duration`", "`at`", "exactly one"]),
        ("timer_set", json!({"duration": "5m", "at": "21:00", "message": "x"}), vec!["exactly one"]),
        ("timer_set", json!({"at": "21:00", "zone": "Berlin", "message": "x"}), vec!["`zone`", "IANA"]),
        ("timer_set", json!({"duration": "5m", "message": "x".repeat(501)}), vec!["`message`", "500"]),
        ("schedule_create", json!({"cron": "0 30 7 * * *", "message": "x"}), vec!["`cron`", "five"]),
        ("schedule_create", json!({"cron": "30 25 * * *", "message": "x"}), vec!["`cron`", "hour", "25"]),
        ("schedule_create", json!({"cron": "0 0 30 2 *", "message": "x"}), vec!["`cron`", "never"]),
    ] {
        let failure = call(&desk.tools, tool, arguments.clone(), &scope).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{arguments}");
        for word in words {
            assert!(failure.message.contains(word), "{arguments}: {failure}");
        }
    }
    assert!(desk.schedules.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn others_neither_see_nor_cancel_what_somebody_set() {
    let desk = desk();
    let anna = scope("console:kitchen", "anna", "c1");
    let set = call(&desk.tools, "timer_set", json!({"duration": "1h", "message": "secret"}), &anna).await.unwrap();
    let id = set["id"].as_str().unwrap();
    let stranger = scope("group:chat", "", "c2");
    let chinese = ToolScope { language: "zh".into(), ..stranger.clone() };
    let listed = call(&desk.tools, "schedule_list", json!({}), &chinese).await.unwrap();
    assert_eq!(listed, json!({"count": 0, "note": "这里没有定时器或日程"}));
    let refused = call(&desk.tools, "schedule_cancel", json!({"id": id}), &stranger).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::NotFound);
    // The same person, in another conversation.
    let elsewhere = scope("console:study", "anna", "c3");
    let listed = call(&desk.tools, "schedule_list", json!({}), &elsewhere).await.unwrap();
    assert_eq!(listed["schedules"][0]["session"], "console:kitchen");
    let cancelled = call(&desk.tools, "schedule_cancel", json!({"id": id}), &elsewhere).await.unwrap();
    assert_eq!(cancelled, json!({"cancelled": id, "message": "secret"}));
    let again = call(&desk.tools, "schedule_cancel", json!({"id": id}), &anna).await.unwrap_err();
    assert_eq!(again.kind, FailureKind::NotFound);
}

#[tokio::test]
async fn two_timers_of_one_turn_are_two_and_too_many_are_refused() {
    let desk = desk();
    // An adapter may use the same id for the calls of two answers.
    let same = scope("main", "", "call_0");
    for number in 0..SCHEDULES_OF_SESSION_MAX {
        let arguments = json!({"duration": "1h", "message": format!("number {number}")});
        call(&desk.tools, "timer_set", arguments, &same).await.unwrap();
    }
    assert_eq!(desk.schedules.list().await.unwrap().len(), SCHEDULES_OF_SESSION_MAX);
    let listed = call(&desk.tools, "schedule_list", json!({}), &same).await.unwrap();
    assert_eq!((listed["count"].as_u64(), listed["note"].as_str()), (Some(100), Some("50 more come after these")));
    let failure = call(&desk.tools, "timer_set", json!({"duration": "1h", "message": "x"}), &same).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Full);
}

#[test]
fn any_provider_takes_the_definitions() {
    assert_portable(&desk().tools);
}
