//! What each of Home Assistant's intents means, apart from whom it is for. Start at [`meant`].
//! Invariant: an intent or a slot that is not known here means nothing.

use super::slots::Slots;
use crate::house::{EntityId, House};
use crate::understood::effects::{Quantity, Verb, Wish};
use crate::understood::{Ask, Condition, Measure};

pub(super) enum Meant {
    Wish(Wish),
    Question(Ask),
}

/// Slots that only say whom it is for.
const WHOM: [&str; 8] =
    ["name", "area", "floor", "domain", "device_class", "preferred_area_id", "preferred_floor_id", "name_with_area"];

pub(super) fn meant(house: &House, slots: &Slots<'_>) -> Option<Meant> {
    let plain = |verb: Verb| slots.only(&WHOM).then_some(Meant::Wish(Wish { verb, value: None, absolute: true }));
    let set = |key: &str, quantity: fn(f64) -> Quantity| {
        let known: Vec<&str> = WHOM.iter().copied().chain([key]).collect();
        let value = slots.only(&known).then(|| slots.number(key))??;
        Some(Meant::Wish(Wish { verb: Verb::Set, value: Some(quantity(value)), absolute: true }))
    };
    match slots.intent {
        // On a lock they are "lock" and "unlock", on a cover "open" and "close": by what it is.
        "HassTurnOn" => turned(house, slots, true).and_then(plain),
        "HassTurnOff" => turned(house, slots, false).and_then(plain),
        "HassToggle" => plain(Verb::Toggle),
        "HassOpenCover" => plain(Verb::Open),
        "HassCloseCover" => plain(Verb::Close),
        "HassStopMoving" => plain(Verb::Stop),
        "HassSetPosition" => set("position", Quantity::Percent),
        "HassLightSet" => light(slots),
        "HassClimateSetTemperature" => set("temperature", Quantity::Degrees),
        "HassHumidifierSetpoint" => set("humidity", Quantity::Percent),
        "HassFanSetSpeed" => set("percentage", Quantity::Percent),
        "HassSetVolume" => set("volume_level", Quantity::Percent),
        "HassSetVolumeRelative" => volume(slots),
        "HassMediaPause" => plain(Verb::Pause),
        "HassMediaUnpause" => plain(Verb::Play),
        "HassMediaNext" => plain(Verb::Next),
        "HassMediaPrevious" => plain(Verb::Previous),
        "HassMediaPlayerMute" => plain(Verb::Mute),
        "HassMediaPlayerUnmute" => plain(Verb::Unmute),
        "HassVacuumStart" | "HassLawnMowerStartMowing" => plain(Verb::Start),
        "HassVacuumReturnToBase" | "HassLawnMowerDock" => plain(Verb::Dock),
        "HassHumidifierMode" | "HassFanSetPresetMode" => preset(slots),
        "HassGetState" => state(slots),
        "HassGetWeather" => slots.only(&WHOM).then_some(Meant::Question(Ask::State)),
        "HassClimateGetTemperature" | "HassGetTemperature" => {
            slots.only(&WHOM).then_some(Meant::Question(Ask::Measure(Measure::Temperature)))
        }
        _ => None,
    }
}

/// The verb of `HassTurnOn` and `HassTurnOff` by what the targets are: on a lock, on is locked.
fn turned(house: &House, slots: &Slots<'_>, on: bool) -> Option<Verb> {
    let lockish = |id: &EntityId| id.domain() == "lock";
    let any = |_: &EntityId| true;
    let ids = match slots.targets(house, &any)? {
        super::slots::Targets::These(ids) | super::slots::Targets::Which(ids) => ids,
    };
    let locks = ids.iter().filter(|id| lockish(id)).count();
    Some(match (locks, on) {
        (0, true) => Verb::OnOrOpen,
        (0, false) => Verb::OffOrClose,
        (some, true) if some == ids.len() => Verb::Lock,
        (some, false) if some == ids.len() => Verb::Unlock,
        // Home Assistant would lock some and switch others on: two meanings, so none.
        _ => return None,
    })
}

fn light(slots: &Slots<'_>) -> Option<Meant> {
    let known: Vec<&str> = WHOM.iter().copied().chain(["brightness", "color", "temperature"]).collect();
    let said = ["brightness", "color", "temperature"].into_iter().filter(|key| slots.has(key)).count();
    if !slots.only(&known) || said != 1 {
        return None;
    }
    let value = if slots.has("brightness") {
        Quantity::Percent(slots.number("brightness")?)
    } else if slots.has("temperature") {
        #[allow(clippy::cast_possible_truncation)]
        Quantity::Kelvin(slots.number("temperature")? as i64)
    } else {
        Quantity::Colour(colour(slots.text("color")?)?)
    };
    Some(Meant::Wish(Wish { verb: Verb::Set, value: Some(value), absolute: true }))
}

/// Home Assistant's own colour names.
fn colour(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 18] = [
        "red",
        "green",
        "blue",
        "yellow",
        "orange",
        "purple",
        "pink",
        "white",
        "cyan",
        "magenta",
        "gold",
        "brown",
        "turquoise",
        "violet",
        "teal",
        "lime",
        "indigo",
        "coral",
    ];
    NAMES.into_iter().find(|known| *known == name)
}

fn volume(slots: &Slots<'_>) -> Option<Meant> {
    let known: Vec<&str> = WHOM.iter().copied().chain(["volume_step"]).collect();
    if !slots.only(&known) {
        return None;
    }
    let (verb, by) = match slots.text("volume_step") {
        Some("up") => (Verb::Louder, None),
        Some("down") => (Verb::Quieter, None),
        _ => {
            let step = slots.number("volume_step")?;
            let verb = if step < 0.0 { Verb::Quieter } else { Verb::Louder };
            (verb, Some(Quantity::Percent(step.abs())))
        }
    };
    Some(Meant::Wish(Wish { verb, value: by, absolute: false }))
}

fn preset(slots: &Slots<'_>) -> Option<Meant> {
    let known: Vec<&str> = WHOM.iter().copied().chain(["mode", "preset_mode"]).collect();
    let (service, key, value) = match slots.text("mode") {
        Some(mode) => ("set_mode", "mode", mode),
        None => ("set_preset_mode", "preset_mode", slots.text("preset_mode")?),
    };
    let value = Quantity::Option { service, key, value: value.to_owned() };
    slots.only(&known).then_some(Meant::Wish(Wish { verb: Verb::Set, value: Some(value), absolute: true }))
}

fn state(slots: &Slots<'_>) -> Option<Meant> {
    let known: Vec<&str> = WHOM.iter().copied().chain(["state"]).collect();
    if !slots.only(&known) {
        return None;
    }
    Some(Meant::Question(match slots.text("state") {
        None => Ask::State,
        Some("on") => Ask::Is(Condition::State("on".to_owned())),
        Some("locked") => Ask::Is(Condition::Locked),
        Some("unlocked") => Ask::Is(Condition::Unlocked),
        Some("open") => Ask::Is(Condition::Open),
        Some("closed") => Ask::Is(Condition::Closed),
        Some(state) => Ask::Is(Condition::State(state.to_owned())),
    }))
}
