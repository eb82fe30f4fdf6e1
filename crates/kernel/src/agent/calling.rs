//! Runs the calls of one group. Start at [`Session::call`]. Invariant: that a call goes out which may
//! change something is on the disk before it goes out; if it cannot be written down, it does not.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use sdk::{ToolResult, ToolScope};
use serde_json::{Value, json};

use super::AgentEvent;
use super::session::Session;
use super::turning::Waited;
use crate::turn::{Effect, Event, Turn};

impl Session {
    pub async fn call(&mut self, turn: &mut Turn, calls: Vec<usize>) -> Vec<Effect> {
        let agent = self.agent.clone();
        let read_only = agent.0.tools.read_only();
        let reads = calls.iter().all(|at| turn.call(*at).is_some_and(|call| read_only.contains(&call.name)));
        let event = Event::Calling { calls: calls.clone() };
        if let Err(failure) = self.recorded(&turn.id, &turn.session, &event, !reads).await
            && !reads
        {
            return self.not_recorded(turn, calls, &failure.message).await;
        }
        turn.apply(event, agent.0.ports.clock.now_ms());
        // A group of several only reads; one that may change something is alone.
        let mut running = FuturesUnordered::new();
        for at in calls {
            let Some(call) = turn.call(at).cloned() else { continue };
            let (session, id) = (turn.session.clone(), turn.id.clone());
            agent.tell(AgentEvent::ToolStarted { session, turn: id, call: call.clone() });
            let scope = scope(turn, &call.id);
            let tools = &agent.0.tools;
            running.push(async move { (at, tools.call(&call, scope).await) });
        }
        let mut last = vec![];
        loop {
            let (at, (result, undo)) = match self.hearing(turn, running.next()).await {
                Waited::Done(Some((at, done))) => (at, done),
                Waited::Done(None) => return last,
                Waited::Left(effects) => return effects,
            };
            let (session, id) = (turn.session.clone(), turn.id.clone());
            agent.tell(AgentEvent::ToolEnded { session, turn: id, result: result.clone() });
            last = self.happened(turn, Event::Called { call: at, result: Box::new(result), undo }, false).await;
        }
    }

    async fn not_recorded(&mut self, turn: &mut Turn, calls: Vec<usize>, why: &str) -> Vec<Effect> {
        let mut last = vec![];
        for at in calls {
            let Some(call) = turn.call(at).cloned() else { continue };
            let result = ToolResult {
                call_id: call.id,
                name: call.name,
                plugin: call.plugin,
                success: false,
                result: json!({ "isError": true, "code": "not_recorded", "error": format!("nothing was done: what changes something is written down first, and that failed: {why}") }),
            };
            last = self
                .happened(turn, Event::Called { call: at, result: Box::new(result), undo: Value::Null }, false)
                .await;
        }
        last
    }
}

fn scope(turn: &Turn, call_id: &str) -> ToolScope {
    ToolScope {
        session: turn.session.clone(),
        turn: turn.id.clone(),
        call_id: call_id.to_owned(),
        channel: turn.principal.channel.clone(),
        user_id: turn.principal.user_id.clone(),
        group_id: turn.principal.group_id.clone(),
        no_memory: turn.context.no_memory,
        // The index of the house and recalled memory are in front of the model from the first word on.
        tainted: true,
        said: turn.named.clone(),
        language: turn.language.clone(),
    }
}
