//! What guards one entity by itself: its class, the operator's word, a label, a relation, its name.
//! Start at [`own_guard`]. Invariant: each test can only add a guard; the one that takes a guard
//! away is the person's own word in the policy.

use std::collections::BTreeSet;

use super::resolve::plain_group;
use super::{CoverClass, Facts, Guard, names};
use crate::house::{Entity, EntityId, House};

/// Relays on a device with a lock up to which all of them are taken to work it.
const RELAYS_MAX: usize = 3;

/// Why an entity is guarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guarded {
    /// The operator's list, or the guard label.
    Listed,
    Labelled,
    /// It is the source of this entity, or shares a device with it.
    Relation(EntityId),
    Named,
}

/// How far to look for a guard.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// List and label only: lights, scenes, scripts, comfort.
    List,
    /// Relation and name too: switches, buttons, helpers.
    Relay,
}

/// The entity's own guard, if it has one.
pub(super) fn own_guard(facts: &Facts<'_>, id: &EntityId, entity: &Entity, look: Look) -> Option<Guarded> {
    match facts.policy.guard.get(id) {
        Some(Guard::Opens) => return Some(Guarded::Listed),
        Some(Guard::Harmless) => return None,
        None => {}
    }
    if labelled(facts, entity) {
        return Some(Guarded::Labelled);
    }
    if look == Look::List {
        return None;
    }
    if let Some(other) = relation(facts, id, entity) {
        return Some(Guarded::Relation(other));
    }
    let named = entity.info.names.iter().any(|name| names::hints_at_door(name)) || names::hints_at_door(id.object());
    named.then_some(Guarded::Named)
}

fn labelled(facts: &Facts<'_>, entity: &Entity) -> bool {
    let wanted = facts.policy.guard_label.as_deref().unwrap_or("guard");
    facts.house.labels_of(entity).any(|label| {
        label.eq_ignore_ascii_case(wanted)
            || facts.house.labels.get(label).is_some_and(|label| label.name.eq_ignore_ascii_case(wanted))
    })
}

/// A door that this entity works: one that wraps it, or one on the same small device.
fn relation(facts: &Facts<'_>, id: &EntityId, entity: &Entity) -> Option<EntityId> {
    let house = facts.house;
    if let Some(other) = wrapping_door(facts, id) {
        return Some(other.clone());
    }
    let door = |other: &&EntityId| house.entity(other.as_str()).is_some_and(|entity| opens_house(facts, other, entity));
    let device = house.index.by_device.get(entity.info.device_id.as_ref()?)?;
    // A lock's own settings make no board of it.
    let relays = device.iter().filter(|other| house.entity(other.as_str()).is_some_and(|entity| relay(other, entity)));
    if relays.count() > RELAYS_MAX {
        return None;
    }
    device.iter().find(door).cloned()
}

/// A channel of a board: something switches there.
fn relay(id: &EntityId, entity: &Entity) -> bool {
    id.domain() == "switch" && !entity.info.disabled && entity.info.category.is_none()
}

/// What opens and stands in front of this entity, helpers and groups in between looked through.
fn wrapping_door<'a>(facts: &Facts<'a>, id: &'a EntityId) -> Option<&'a EntityId> {
    let house = facts.house;
    let (mut seen, mut open) = (BTreeSet::new(), vec![id]);
    while let Some(inner) = open.pop() {
        for outer in house.index.contained_in.get(inner).into_iter().flatten() {
            let Some(entity) = house.entity(outer.as_str()) else { continue };
            let wraps = entity.info.wraps.contains(inner);
            if wraps && works_a_door(facts, outer, entity) {
                return Some(outer);
            }
            if (wraps || plain_group(outer, entity)) && seen.insert(outer) {
                open.push(outer);
            }
        }
    }
    None
}

/// Moving it blindly can let somebody in, blind the alarm, let gas or water run, or hurt.
pub(super) fn works_a_door(facts: &Facts<'_>, id: &EntityId, entity: &Entity) -> bool {
    matches!(id.domain(), "valve" | "siren" | "alarm_control_panel" | "lawn_mower") || opens_house(facts, id, entity)
}

pub(super) fn relay_domain(domain: &str) -> bool {
    matches!(
        domain,
        "switch"
            | "button"
            | "select"
            | "number"
            | "text"
            | "siren"
            | "input_boolean"
            | "input_button"
            | "input_select"
            | "input_number"
            | "input_text"
    )
}

/// Locks, and covers that let somebody in.
pub(super) fn opens_house(facts: &Facts<'_>, id: &EntityId, entity: &Entity) -> bool {
    match id.domain() {
        "lock" => true,
        "cover" => guarded_cover(facts, id, entity),
        _ => false,
    }
}

/// A cover lets somebody in unless everything that names its class says comfort. The strictest
/// class counts; no class counts as a door; the person's own word decides.
pub(super) fn guarded_cover(facts: &Facts<'_>, id: &EntityId, entity: &Entity) -> bool {
    if labelled(facts, entity) || facts.policy.guard.get(id) == Some(&Guard::Opens) {
        return true;
    }
    if let Some(class) = facts.policy.covers.get(id) {
        return !matches!(
            class,
            CoverClass::Awning | CoverClass::Blind | CoverClass::Curtain | CoverClass::Shade | CoverClass::Damper
        );
    }
    let comfort = |class: &str| matches!(class, "awning" | "blind" | "curtain" | "shade");
    let classes: BTreeSet<&str> = entity.classes().collect();
    if !classes.is_empty() && classes.iter().all(|class| comfort(class)) {
        return false;
    }
    let soft = classes.iter().all(|class| comfort(class) || *class == "shutter");
    !(soft && on_comfort_floor(facts.house, facts, entity))
}

fn on_comfort_floor(house: &House, facts: &Facts<'_>, entity: &Entity) -> bool {
    let floor = house.area_of(entity).and_then(|(_, area)| area.floor_id.as_ref());
    floor.is_some_and(|floor| {
        let floors = &facts.policy.comfort_floors;
        floors.contains(&**floor) || house.floors.get(floor).is_some_and(|floor| floors.contains(&*floor.name))
    })
}

/// The gas class of a valve, by anything that claims it.
pub(super) fn gas(entity: &Entity) -> bool {
    entity.classes().any(|class| class == "gas")
}
