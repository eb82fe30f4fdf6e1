//! The one way to change the house: a permit is logged, sent, and watched until the states show it.
//!
//! Start at [`execute`]. Invariants: the intent is in the audit before anything goes out (but for moves
//! toward safety, which nothing may stop); what changed between judging and sending is not sent but
//! judged again; nothing is ever sent twice; what the house answers does not decide the outcome, its
//! states do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use decide::gate::{Permit, Send};
use decide::house::{EntityId, House, Response};
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use crate::audit::recorded;
use crate::connection::Shared;
use crate::endpoint::Token;
use crate::error::{Cause, ErrorCode, HouseError};
use crate::link::{Link, Missed, body};
use crate::links::Topic;
use crate::receipt::{Outcome, OutcomeKind, Receipt};
use crate::watching::{Shipment, Watch};

/// Limit: How long a move toward safety waits for the audit line before it goes out without.
const SAFETY_AUDIT: Duration = Duration::from_millis(50);
/// For these a lost line after a power cut is no loss: the line is in the file before the call goes
/// out and synced beside it. All others wait for the disk.
const COMFORT: [&str; 5] = ["light", "fan", "climate", "humidifier", "media_player"];
/// Limit: How long a move toward safety waits for a connection that is being made.
const SAFETY_LINK: Duration = Duration::from_secs(5);

pub(crate) async fn execute(shared: &Arc<Shared>, permit: Permit) -> Receipt {
    let plan = permit.plan();
    let before = shared.keeper.house();
    let mut receipt = Receipt::default();
    for (ids, outcome) in [(&plan.done, OutcomeKind::Done), (&plan.ignored, OutcomeKind::Ignored)] {
        receipt.outcomes.extend(ids.iter().map(|id| unsent(&before, id, outcome)));
    }
    let count = shared.keeper.changes.count();
    let intent = log_intent(shared, &permit).await;
    // The disk took its time: what was judged must still be what is there.
    let still = count == shared.keeper.changes.count() && shared.keeper.changes.is_settled();
    let number = intent.as_ref().copied().unwrap_or_default();
    let intent = intent.and_then(|_| if still { Ok(()) } else { Err(changed()) });
    let mut sends: Vec<&Send> = plan.sends.iter().collect();
    if let Err(error) = &intent {
        sends.retain(|send| send.toward_safety);
        let refused = plan.sends.iter().filter(|send| !send.toward_safety).flat_map(|send| &send.entities);
        receipt.outcomes.extend(refused.map(|id| unsent(&before, id, OutcomeKind::Failed)));
        if sends.len() < plan.sends.len() {
            receipt.error = Some(error.clone());
        }
    }
    if !sends.is_empty() {
        carry_out(shared, &sends, number, &mut receipt).await;
    }
    let result = json!({ "intent": number, "outcomes": receipt.outcomes, "error": receipt.error });
    shared.audit.note("result", result);
    receipt
}

/// A script, a scene, an automation or a registry is another one than was judged.
pub(crate) fn changed() -> HouseError {
    HouseError::new(ErrorCode::CallFailed, Cause::Changed, "a script, scene, automation, label or area")
}

/// Sends all, in order, then watches all at once.
async fn carry_out(shared: &Arc<Shared>, sends: &[&Send], intent: u64, receipt: &mut Receipt) {
    let safety = sends.iter().any(|send| send.toward_safety);
    let link = match link(shared, safety).await {
        Ok(link) => link,
        Err(error) => {
            let before = shared.keeper.house();
            let ids = sends.iter().flat_map(|send| &send.entities);
            receipt.outcomes.extend(ids.map(|id| unsent(&before, id, OutcomeKind::Failed)));
            receipt.error = Some(error);
            return;
        }
    };
    let mut unfinished = Unfinished { shared: shared.clone(), intent, ids: Vec::new() };
    let mut shipments = Vec::new();
    for send in sends {
        for (code, entities) in by_code(send, &shared.settings.codes) {
            unfinished.ids.extend(entities.iter().cloned());
            shipments.push(ship(shared, &link, send, entities, code).await);
        }
    }
    let watching = shipments.into_iter().map(|shipment| shipment.watch(&shared.keeper));
    for (outcomes, response, error) in futures_util::future::join_all(watching).await {
        receipt.outcomes.extend(outcomes);
        receipt.responses.extend(response);
        receipt.error = receipt.error.take().or(error);
    }
    // What has arrived is under way no more.
    for outcome in receipt.outcomes.iter().filter(|outcome| outcome.outcome == OutcomeKind::Confirmed) {
        shared.flights.cancel(&outcome.entity_id);
    }
    let unknown = receipt.outcomes.iter().filter(|outcome| outcome.outcome == OutcomeKind::OutcomeUnknown);
    unfinished.ids = unknown.map(|outcome| outcome.entity_id.clone()).collect();
}

/// When the caller goes away in the middle, or the answer is lost, what was sent is read back later.
struct Unfinished {
    shared: Arc<Shared>,
    intent: u64,
    ids: Vec<EntityId>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.ids.is_empty() {
            self.shared.unresolved.add(self.intent, std::mem::take(&mut self.ids));
        }
    }
}

async fn link(shared: &Shared, safety: bool) -> Result<Arc<Link<Topic>>, HouseError> {
    if let Some(links) = shared.links.load_full() {
        return Ok(links.acting.clone());
    }
    if safety {
        shared.nudge.notify_one();
        let mut status = shared.status.subscribe();
        let deadline = sleep(SAFETY_LINK);
        tokio::pin!(deadline);
        loop {
            if let Some(links) = shared.links.load_full() {
                return Ok(links.acting.clone());
            }
            tokio::select! {
                changed = status.changed() => if changed.is_err() { break },
                () = &mut deadline => break,
            }
        }
    }
    Err(shared.why_down())
}

/// Puts one service call on its way.
async fn ship(
    shared: &Shared,
    link: &Link<Topic>,
    send: &Send,
    entities: Vec<EntityId>,
    code: Option<Token>,
) -> Shipment {
    let house = shared.keeper.house();
    let (mut outgoing, mut riding) = (Vec::new(), Vec::new());
    for id in &entities {
        let fresh = id.domain() != "cover" || shared.flights.begin(&house, id, send);
        if fresh { &mut outgoing } else { &mut riding }.push(id.clone());
    }
    let mut data = send.data.clone();
    if let Some(code) = code {
        data.entry("code").or_insert_with(|| code.reveal().into());
    }
    let wants_response = response(&house, send) != Response::None;
    let watched = watched(send, &entities);
    let watches = watched.iter().map(|id| Watch::new(&house, id, send, riding.contains(id))).collect();
    if outgoing.is_empty() && !entities.is_empty() {
        return Shipment::already_under_way(watches, send);
    }
    let answer = link.send(call(send, &outgoing, data, wants_response), None).await;
    if let Err(Missed::NotSent(_)) = &answer {
        outgoing.iter().for_each(|id| shared.flights.cancel(id));
    }
    Shipment::new(watches, send, answer, wants_response)
}

/// A script may be called by its own service, without naming the entity.
fn watched(send: &Send, entities: &[EntityId]) -> Vec<EntityId> {
    let own_service =
        send.domain == "script" && !matches!(&*send.service, "turn_on" | "turn_off" | "toggle" | "reload");
    match EntityId::parse(&format!("script.{}", send.service)) {
        Some(id) if own_service && entities.is_empty() => vec![id],
        _ => entities.to_vec(),
    }
}

fn response(house: &House, send: &Send) -> Response {
    let service = house.services.get(&send.domain).and_then(|services| services.get(&send.service));
    service.map(|service| service.response).unwrap_or_default()
}

fn call(send: &Send, entities: &[EntityId], data: Map<String, Value>, wants_response: bool) -> String {
    let mut fields = json!({ "domain": send.domain, "service": send.service, "service_data": data });
    if !entities.is_empty() {
        fields["target"] = json!({ "entity_id": entities });
    }
    if wants_response {
        fields["return_response"] = true.into();
    }
    body("call_service", fields)
}

/// Entities with different codes are sent apart: each panel learns its own code only.
fn by_code(send: &Send, codes: &BTreeMap<EntityId, Token>) -> Vec<(Option<Token>, Vec<EntityId>)> {
    let takes_code = match &*send.domain {
        "lock" => matches!(&*send.service, "lock" | "unlock" | "open"),
        "alarm_control_panel" => true,
        _ => false,
    };
    if !takes_code || codes.is_empty() || send.data.contains_key("code") {
        return vec![(None, send.entities.clone())];
    }
    let mut groups: Vec<(Option<Token>, Vec<EntityId>)> = Vec::new();
    for id in &send.entities {
        let code = codes.get(id);
        match groups.iter_mut().find(|(known, _)| known.as_ref() == code) {
            Some((_, ids)) => ids.push(id.clone()),
            None => groups.push((code.cloned(), vec![id.clone()])),
        }
    }
    groups
}

/// The intent, in the file before anything else happens.
async fn log_intent(shared: &Shared, permit: &Permit) -> Result<u64, HouseError> {
    let plan = permit.plan();
    let mut sends = json!(plan.sends);
    for send in sends.as_array_mut().into_iter().flatten() {
        if let Some(data) = send.get_mut("data") {
            *data = recorded(data);
        }
    }
    let line = json!({ "origin": permit.origin(), "sends": sends, "done": plan.done, "ignored": plan.ignored });
    let comfort = plan.sends.iter().all(|send| COMFORT.contains(&&*send.domain));
    if comfort {
        return shared.audit.append_written("intent", line).await;
    }
    let append = shared.audit.append("intent", line);
    if !plan.sends.iter().any(|send| send.toward_safety) {
        return append.await;
    }
    // What cannot wait does not wait for a disk that hangs; the line is still written when it can.
    match timeout(SAFETY_AUDIT, append).await {
        Ok(result) => result,
        Err(_) => Err(HouseError::new(ErrorCode::CallFailed, Cause::Audit, "the disk is slow")),
    }
}

fn unsent(house: &House, id: &EntityId, outcome: OutcomeKind) -> Outcome {
    let state = house.entities.get(id).and_then(|entity| entity.value()).map(str::to_owned);
    Outcome { entity_id: id.clone(), outcome, before: state.clone(), state }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> EntityId {
        EntityId::parse(text).unwrap()
    }

    #[test]
    fn entities_with_different_codes_are_sent_apart() {
        let send = Send {
            domain: "lock".into(),
            service: "unlock".into(),
            entities: vec![id("lock.a"), id("lock.b"), id("lock.c"), id("lock.d")],
            data: Map::new(),
            toward_safety: false,
        };
        let codes = BTreeMap::from([
            (id("lock.a"), Token::new("1")),
            (id("lock.b"), Token::new("2")),
            (id("lock.d"), Token::new("1")),
        ]);
        let groups: Vec<_> = by_code(&send, &codes)
            .into_iter()
            .map(|(code, ids)| (code.map(|code| code.reveal().to_owned()), ids.len()))
            .collect();
        assert_eq!(groups, [(Some("1".into()), 2), (Some("2".into()), 1), (None, 1)]);
        let light = Send { domain: "light".into(), ..send };
        assert_eq!(by_code(&light, &codes).len(), 1);
    }
}
