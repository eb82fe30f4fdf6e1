//! [`kernel::ports::Schedules`].

use kernel::ports::{FailureKind, NewInput, Schedule, When};

use super::{Ports, answer, input};

pub fn timer(id: &str, at_ms: i64) -> Schedule {
    Schedule {
        id: id.into(),
        when: When::Once { at_ms },
        input: input("kitchen", "take the cake out"),
        next_at_ms: at_ms,
        created_at_ms: 1,
    }
}

/// What goes in is what whoever fires says, here that it came late.
fn late(at_ms: i64) -> NewInput {
    let client_id = Some("the request that made it".into());
    NewInput { at_ms, client_id, ..input("kitchen", "take the cake out, late") }
}

pub async fn schedules_are_listed_soonest_first_and_can_be_cancelled(ports: &Ports) {
    let daily = Schedule {
        when: When::Cron { expression: "30 7 * * 1-5".into(), zone: "Asia/Shanghai".into() },
        ..timer("daily", 500)
    };
    for schedule in [timer("late", 900), daily.clone(), timer("soon", 100)] {
        ports.schedules.add(schedule).await.unwrap();
    }
    assert_eq!(ports.schedules.list().await.unwrap(), [timer("soon", 100), daily, timer("late", 900)]);
    assert!(ports.schedules.cancel("late").await.unwrap());
    assert!(!ports.schedules.cancel("late").await.unwrap());
    assert_eq!(ports.schedules.list().await.unwrap().len(), 2);
    ports.schedules.add(timer("soon", 700)).await.unwrap();
    assert_eq!(ports.schedules.list().await.unwrap()[1], timer("soon", 700), "one of the same id is replaced");
}

pub async fn a_timer_fires_once_into_the_inbox_where_it_was_asked_for(ports: &Ports) {
    ports.schedules.add(timer("cake", 100)).await.unwrap();
    let id = ports.schedules.fire("cake", 100, None, late(105)).await.unwrap().unwrap();
    assert_eq!(ports.schedules.fire("cake", 100, None, late(106)).await.unwrap(), None);
    assert!(ports.schedules.list().await.unwrap().is_empty());
    let pending = ports.inbox.pending().await.unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].id, id);
    assert_eq!(pending[0].new, NewInput { client_id: None, ..late(105) });
}

pub async fn a_repeated_schedule_fires_at_each_of_its_times_as_a_new_input(ports: &Ports) {
    ports.schedules.add(timer("daily", 100)).await.unwrap();
    let first = ports.schedules.fire("daily", 100, Some(200), late(100)).await.unwrap().unwrap();
    ports.inbox.answer(answer("t1", "kitchen", &[first])).await.unwrap();
    assert_eq!(ports.schedules.fire("daily", 100, Some(200), late(101)).await.unwrap(), None);
    assert_eq!(ports.schedules.list().await.unwrap()[0].next_at_ms, 200);
    let second = ports.schedules.fire("daily", 200, Some(300), late(200)).await.unwrap().unwrap();
    assert!(second > first);
    assert_eq!(ports.inbox.pending().await.unwrap().len(), 1);
    let refused = ports.schedules.fire("daily", 300, Some(300), late(300)).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Invalid, "a next time that is not later would fire for ever");
    assert_eq!(ports.inbox.pending().await.unwrap().len(), 1);
}

pub async fn what_is_not_due_any_more_does_not_fire(ports: &Ports) {
    ports.schedules.add(timer("cake", 100)).await.unwrap();
    assert_eq!(ports.schedules.fire("cake", 99, None, late(105)).await.unwrap(), None);
    assert_eq!(ports.schedules.fire("pie", 100, None, late(105)).await.unwrap(), None);
    ports.schedules.cancel("cake").await.unwrap();
    assert_eq!(ports.schedules.fire("cake", 100, None, late(105)).await.unwrap(), None);
    assert!(ports.inbox.pending().await.unwrap().is_empty());
}

pub async fn of_many_who_fire_at_once_one_does(ports: &Ports) {
    ports.schedules.add(timer("cake", 100)).await.unwrap();
    let fires: Vec<_> = (0..20)
        .map(|_| {
            let schedules = ports.schedules.clone();
            tokio::spawn(async move { schedules.fire("cake", 100, Some(200), late(105)).await.unwrap() })
        })
        .collect();
    let mut fired = 0;
    for fire in fires {
        fired += usize::from(fire.await.unwrap().is_some());
    }
    assert_eq!((fired, ports.inbox.pending().await.unwrap().len()), (1, 1));
}
