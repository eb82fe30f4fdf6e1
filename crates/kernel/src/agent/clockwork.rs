//! Fires schedules when they are due. Start at [`run`]. Invariant: that one fired and that its message is
//! in the inbox are one transaction of the store; here it is only told when.

use std::time::Duration;

use super::Agent;
use super::session::Command;
use crate::ports::{Input, Schedule};
use crate::tools::due::{Due, due, soonest};

/// Longest sleep: a clock that is set forward is noticed within this time.
const LOOK: Duration = Duration::from_secs(30);
/// After a store that failed.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) async fn run(agent: &Agent) {
    let ports = &agent.0.ports;
    loop {
        let wait = match ports.schedules.list().await {
            Ok(schedules) => {
                let now = ports.clock.now_ms();
                for due in due(&schedules, now, |at| ports.clock.written(at)) {
                    fire(agent, due).await;
                }
                let later: Vec<Schedule> = schedules.into_iter().filter(|one| one.next_at_ms > now).collect();
                soonest(&later).map_or(LOOK, |at| Duration::from_millis(u64::try_from(at - now).unwrap_or(0)).min(LOOK))
            }
            Err(failure) => {
                tracing::warn!("schedules cannot be read: {failure}");
                AGAIN
            }
        };
        // Either may be dropped: the list is read anew.
        tokio::select! {
            () = ports.rescheduled.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

async fn fire(agent: &Agent, due: Due) {
    let new = due.input.clone();
    match agent.0.ports.schedules.fire(&due.id, due.due_at_ms, due.next_at_ms, due.input).await {
        Ok(Some(id)) => {
            let session = new.session.clone();
            agent.send(&session, Command::Input(Box::new(Input { id, new })));
        }
        Ok(None) => {}
        Err(failure) => tracing::warn!("schedule {} could not fire: {failure}", due.id),
    }
}
