//! What Home Assistant's own recogniser understood, as ordinary calls.
//!
//! Start at [`understood`]: it reads one result of `conversation/agent/homeassistant/debug`, which
//! executes nothing. Home Assistant names intents by its own lights (unlocking is `HassTurnOff`), so
//! each is mapped by what it does to the target physically. Invariants: only a full match counts;
//! targets are those that Home Assistant listed, else what our own names say, and several that fit
//! are given back to choose from; nothing is judged here.

use serde_json::Value;

use crate::house::{Entity, EntityId, House};
use crate::text::fold;
use crate::understood::effects::{Effect, Wish, call, calls, effect, object};
use crate::understood::{Ask, Question, Understood};

mod slots;
#[cfg(test)]
mod tests;
mod wish;

use slots::Slots;
use wish::Meant;

/// What the recogniser's reply to `text` asks of this house. Takes one entry of `results`, or the
/// whole reply for one sentence.
pub fn understood(house: &House, reply: &Value, text: &str) -> Option<Understood> {
    let reply = reply.get("results").and_then(|results| results.get(0)).unwrap_or(reply);
    if reply.get("match") != Some(&Value::Bool(true)) {
        return None;
    }
    let slots = Slots::new(reply)?;
    if slots.intent == "HassListAddItem" || slots.intent == "HassShoppingListAddItem" {
        return add_item(house, &slots);
    }
    match wish::meant(house, &slots)? {
        Meant::Wish(_) if asks(text) => None,
        Meant::Wish(wish) => wished(house, &slots, &wish),
        Meant::Question(ask) => asked(house, &slots, ask),
    }
}

/// A question mark behind what is no polite request: then only a question was meant.
fn asks(text: &str) -> bool {
    const POLITE: [&str; 9] = ["could you", "can you", "would you", "will you", "please", "请", "能", "可以", "帮"];
    let lower = text.trim().to_lowercase();
    lower.ends_with(['?', '？']) && !POLITE.iter().any(|word| lower.contains(word))
}

fn wished(house: &House, slots: &Slots<'_>, wish: &Wish) -> Option<Understood> {
    let able = |id: &EntityId| effect(house, id, wish).is_some();
    let ids = match slots.targets(house, &able)? {
        slots::Targets::These(ids) => ids,
        slots::Targets::Which(entities) => return Some(Understood::Which { entities }),
    };
    let named = slots.text("name").is_some();
    let effects: Vec<(EntityId, Option<Vec<Effect>>)> =
        ids.into_iter().map(|id| (id.clone(), effect(house, &id, wish))).collect();
    // A thing that was named and cannot do it makes the whole wish none; of a room's, those that can.
    if named && effects.iter().any(|(_, effects)| effects.is_none()) {
        return None;
    }
    let able: Vec<(EntityId, Vec<Effect>)> =
        effects.into_iter().filter_map(|(id, effects)| Some((id, effects?))).collect();
    (!able.is_empty()).then(|| Understood::Calls(calls(able)))
}

fn asked(house: &House, slots: &Slots<'_>, ask: Ask) -> Option<Understood> {
    let fits = |id: &EntityId| match &ask {
        Ask::Measure(measure) => house.entity(id.as_str()).is_some_and(|entity| measure.of(id, entity).is_some()),
        _ => true,
    };
    let mut entities = match slots.targets(house, &fits)? {
        slots::Targets::These(ids) | slots::Targets::Which(ids) => ids,
    };
    entities.sort();
    entities.dedup();
    (!entities.is_empty()).then_some(Understood::Question(Question { entities, ask }))
}

fn add_item(house: &House, slots: &Slots<'_>) -> Option<Understood> {
    let item = crate::text::clean(slots.text("item")?, 80);
    let wanted = slots.text("name");
    let lists: Vec<EntityId> = (house.domain("todo"))
        .filter(|(_, entity)| entity.state.is_some())
        .filter(|(id, entity)| match wanted {
            Some(name) => called(entity, name),
            // "My list" is Home Assistant's shopping list, or the one that is called so.
            None => id.object() == "shopping_list" || called(entity, "shopping list") || called(entity, "购物清单"),
        })
        .map(|(id, _)| id.clone())
        .collect();
    match lists.as_slice() {
        _ if item.is_empty() => None,
        [] => None,
        [list] => {
            let data = object(serde_json::json!({"item": item}));
            Some(Understood::Calls(vec![call("todo", "add_item", data, std::slice::from_ref(list))]))
        }
        _ => Some(Understood::Which { entities: lists }),
    }
}

/// Is this one of its names, up to folding?
fn called(entity: &Entity, name: &str) -> bool {
    let wanted = fold(name);
    !wanted.is_empty() && entity.info.names.iter().any(|name| fold(name).joined() == wanted.joined())
}
