//! Covers that were sent a command and have not answered yet.
//!
//! Start at [`Flights::begin`]. A garage door's sensor lags behind its motor: a second pulse within
//! that lag would open a door that is closing. Invariant: of two equal commands to such a cover, the
//! second is never sent while the first is under way.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use decide::gate::{InFlight, Send};
use decide::house::{Entity, EntityId, House};
use serde_json::{Map, Value};
use tokio::time::Instant;

/// Limit: After this time a cover counts as having answered.
pub const FLIGHT_MAX: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct Flights(Mutex<BTreeMap<EntityId, Flight>>);

struct Flight {
    service: String,
    data: Map<String, Value>,
    closing: bool,
    until: Instant,
    /// State and time of its last change when the command went out.
    before: Option<(std::sync::Arc<str>, f64)>,
}

fn mark(house: &House, id: &EntityId) -> Option<(std::sync::Arc<str>, f64)> {
    let state = house.entities.get(id)?.state.as_ref()?;
    Some((state.value.clone(), state.last_changed))
}

impl Flights {
    /// Notes that this goes out to this cover. False when the same is already under way and a second one
    /// could turn the door around; then it must not be sent. A close is the same in either spelling.
    pub fn begin(&self, house: &House, id: &EntityId, send: &Send) -> bool {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget_landed(&mut flights, house);
        let same = flights.get(id).is_some_and(|flight| {
            let equal = flight.service == send.service && flight.data == send.data;
            equal || (flight.closing && closes(send))
        });
        if same && !house.entities.get(id).is_some_and(is_soft) {
            return false;
        }
        let until = Instant::now() + FLIGHT_MAX;
        let (service, data) = (send.service.clone(), send.data.clone());
        let flight = Flight { service, data, closing: closes(send), until, before: mark(house, id) };
        flights.insert(id.clone(), flight);
        true
    }

    pub fn now(&self, house: &House) -> InFlight {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget_landed(&mut flights, house);
        let ids = |closing: bool| {
            let those = flights.iter().filter(move |(_, flight)| flight.closing == closing);
            those.map(|(id, _)| id.clone()).collect()
        };
        InFlight { closing: ids(true), otherwise: ids(false) }
    }

    /// It was not sent after all, or has arrived.
    pub fn cancel(&self, id: &EntityId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// A close that a person said yes to is one too, though it may turn the door around.
fn closes(send: &Send) -> bool {
    send.toward_safety || send.service == "close_cover"
}

fn forget_landed(flights: &mut BTreeMap<EntityId, Flight>, house: &House) {
    let now = Instant::now();
    flights.retain(|id, flight| now < flight.until && mark(house, id) == flight.before);
}

/// Blinds and the like: a second command does no harm.
fn is_soft(entity: &Entity) -> bool {
    let mut classes = entity.classes().peekable();
    classes.peek().is_some() && classes.all(|class| matches!(class, "blind" | "curtain" | "shade" | "awning"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use decide::house::State;
    use serde_json::json;
    use std::sync::Arc;

    fn house(class: &str, value: &str, last_changed: f64) -> (House, EntityId) {
        let id = EntityId::parse("cover.a").unwrap();
        let attributes = json!({ "device_class": class }).as_object().cloned().unwrap();
        let state = State { value: value.into(), attributes, last_changed, last_updated: last_changed };
        let mut house = House::default();
        house.entities.insert(id.clone(), Entity { state: Some(Arc::new(state)), ..Entity::default() });
        (house, id)
    }

    fn command(service: &str, data: Value, toward_safety: bool) -> Send {
        let data = data.as_object().cloned().unwrap();
        Send { domain: "cover".into(), service: service.into(), entities: vec![], data, toward_safety }
    }

    fn close() -> Send {
        command("close_cover", json!({}), true)
    }

    #[test]
    fn only_a_repetition_waits_and_a_close_after_an_opening_does_not() {
        let (house, id) = house("garage", "closed", 1.0);
        let position = |to: u8| command("set_cover_position", json!({ "position": to }), to == 0);
        let flights = Flights::default();
        assert!(flights.begin(&house, &id, &position(40)));
        assert!(!flights.begin(&house, &id, &position(40)));
        assert!(flights.now(&house).otherwise.contains(&id) && flights.now(&house).closing.is_empty());
        assert!(flights.begin(&house, &id, &position(0)), "to zero is another command");
        assert!(flights.now(&house).closing.contains(&id) && flights.now(&house).otherwise.is_empty());
        assert!(!flights.begin(&house, &id, &close()), "the same in another spelling");
        assert!(flights.begin(&house, &id, &command("open_cover", json!({}), false)));
        assert!(flights.begin(&house, &id, &close()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_equal_command_waits_until_the_door_answers_or_a_minute_passes() {
        let flights = Flights::default();
        let (closed, id) = house("garage", "open", 1.0);
        assert!(flights.begin(&closed, &id, &close()));
        assert!(!flights.begin(&closed, &id, &close()));
        assert!(flights.now(&closed).closing.contains(&id));
        let (moving, _) = house("garage", "closing", 2.0);
        assert!(flights.now(&moving).closing.is_empty());
        assert!(flights.begin(&moving, &id, &close()));
        tokio::time::advance(FLIGHT_MAX).await;
        assert!(flights.now(&moving).closing.is_empty());
    }

    #[test]
    fn a_blind_takes_as_many_commands_as_one_likes() {
        let flights = Flights::default();
        let (house, id) = house("blind", "open", 1.0);
        assert!(flights.begin(&house, &id, &close()));
        assert!(flights.begin(&house, &id, &close()));
    }
}
