//! Follows an action to all that it does: through groups, macros and automations. Start at
//! [`Walk::service`].
//!
//! Invariant: every action met leaves either no reason (harmless) or one that says why not; what
//! cannot be followed asks. Each macro and automation is followed once a walk, so a walk ends.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::entity::{Guarded, Look, own_guard, relay_domain, works_a_door};

use super::table::{self, End, Kind, Row};
use super::triggers::{self, Ends};
use super::{Facts, Origin, Reason, ReasonCode, Risk, Step, Verdict, names, states};
use crate::house::{Body, Entity, EntityId, House};

mod ends;
mod messages;
pub(super) mod moves;
mod opaque;

/// An action on entities, from a call or from a body.
pub(super) struct Action<'a> {
    pub domain: &'a str,
    pub service: &'a str,
    pub data: &'a Map<String, Value>,
    /// Some value in the data is a template.
    pub templated: bool,
}

impl Action<'_> {
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.domain, self.service)
    }
}

/// What is to be done with one entity of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Send {
        toward_safety: bool,
    },
    /// Already so, or under way: sending again could harm.
    Done,
    Ignored,
}

const SEND: Fate = Fate::Send { toward_safety: false };

/// Macros and automations that lead to each other are followed so far.
const ROAD_STEPS_MAX: usize = 32;

pub(super) struct Walk<'a> {
    pub facts: &'a Facts<'a>,
    pub origin: Origin,
    pub reasons: Vec<Reason>,
    path: Vec<Step>,
    /// The outermost action, for the sentence.
    by: Option<(String, Option<EntityId>)>,
    seen: BTreeSet<EntityId>,
    /// Entities that were moved along, and whether toward safety.
    moved: BTreeSet<(EntityId, bool)>,
    /// The states of a scene go out as one: none of them can be left out.
    pub as_one: bool,
    /// The caller handed values to a macro, so its templates may hold anything.
    foreign_values: bool,
    /// One of them is more than words where a message is made of it.
    foreign_words: bool,
    /// Only counts moves toward safety; nobody reads the reasons.
    counting: bool,
    /// Moves toward safety met, for "does stopping this leave a door open".
    pub secures: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, origin: Origin) -> Self {
        Self {
            facts,
            origin,
            reasons: Vec::new(),
            path: Vec::new(),
            by: None,
            seen: BTreeSet::new(),
            moved: BTreeSet::new(),
            as_one: false,
            foreign_values: false,
            foreign_words: false,
            counting: false,
            secures: 0,
        }
    }

    pub(super) fn house(&self) -> &'a House {
        self.facts.house
    }

    /// The household wrote it, and no value of a caller's is in it.
    fn own_words(&self, action: &Action<'_>) -> bool {
        let foreign = self.foreign_values && action.templated;
        !self.path.is_empty() && !foreign
    }

    /// The call itself, whose entities can be sent or left out one by one.
    fn alone(&self) -> bool {
        self.path.is_empty() && !self.as_one
    }

    /// Leaves a reason.
    pub(super) fn note(
        &mut self,
        verdict: Verdict,
        risk: Option<Risk>,
        code: ReasonCode,
        action: &str,
        entity: Option<&EntityId>,
        detail: Option<String>,
    ) {
        // The household wrote its macros: what cannot be judged in one is a question, not a refusal.
        let verdict = if self.path.is_empty() { verdict } else { verdict.min(Verdict::Ask) };
        let (by, on) = self.by.clone().unwrap_or_else(|| (action.to_owned(), entity.cloned()));
        self.reasons.push(Reason {
            verdict,
            risk,
            code,
            by,
            on,
            action: action.to_owned(),
            entity: entity.cloned(),
            path: self.path.clone(),
            detail,
        });
    }

    fn asks(&mut self, code: ReasonCode, action: &Action<'_>, entity: Option<&EntityId>, detail: Option<String>) {
        self.note(Verdict::Ask, Some(Risk::Security), code, &action.name(), entity, detail);
    }

    fn asks_harm(&mut self, code: ReasonCode, action: &Action<'_>, entity: Option<&EntityId>, detail: Option<String>) {
        self.note(Verdict::Ask, Some(Risk::Physical), code, &action.name(), entity, detail);
    }

    /// Runs `inside` one step deeper on the road.
    pub(super) fn step<T>(
        &mut self,
        action: &str,
        entity: Option<&EntityId>,
        step: Step,
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outermost = self.by.is_none();
        if outermost {
            self.by = Some((action.to_owned(), entity.cloned()));
        }
        self.path.push(step);
        let result = inside(self);
        self.path.pop();
        if outermost {
            self.by = None;
        }
        result
    }

    /// A service without entities, or the whole of one.
    pub(super) fn service(
        &mut self,
        row: Option<Row>,
        action: &Action<'_>,
        entities: &BTreeSet<EntityId>,
    ) -> BTreeMap<EntityId, Fate> {
        let Some(row) = row else {
            opaque::unknown(self, action, entities);
            return entities.iter().map(|id| (id.clone(), SEND)).collect();
        };
        match row.kind {
            Kind::Opaque => opaque::judge(self, action, entities),
            Kind::Notify => messages::notify(self, action),
            Kind::Speech => messages::speech(self, action),
            Kind::SceneApply => states::apply(self, action),
            Kind::Blind if entities.is_empty() && !messages::own(self, action) => {
                self.asks(ReasonCode::Blinds, action, None, None)
            }
            _ => {}
        }
        let mut fates = BTreeMap::new();
        // A grant covers one road; the next entity's road to the same macro must be walked too.
        let apart = self.path.is_empty() && !self.facts.policy.grants.is_empty();
        for id in entities {
            if apart {
                self.seen.clear();
                self.moved.clear();
            }
            fates.insert(id.clone(), self.entity(row.kind, action, id));
        }
        fates
    }

    /// An event, and the automations that wait for it.
    pub(super) fn raises(&mut self, action: &Action<'_>, event: &str, on: Option<&EntityId>) {
        for automation in self.house().index.triggers.on_event(event) {
            let name = self.name(&automation);
            let step = Step::Event { event: event.to_owned(), automation: automation.clone(), name };
            let by = on.map_or_else(|| action.name(), ToString::to_string);
            self.step(&by, on, step, |walk| walk.body(action, &automation));
        }
    }

    /// One action on one entity. Comes back with what to do with it, leaving reasons.
    pub(super) fn entity(&mut self, kind: Kind, action: &Action<'_>, id: &EntityId) -> Fate {
        let entity = self.house().entity(id.as_str());
        let Some(entity) = entity else { return moves::without_state(self, kind, action, id) };
        match kind {
            Kind::Read => return SEND,
            Kind::Generic => return self.generic(action, id),
            Kind::Comfort(end) => self.plain(action, id, Look::List, end),
            Kind::Relay(end) => {
                let decided = self.facts.policy.guard.get(id) == Some(&super::Guard::Harmless);
                let hot = || {
                    entity.info.names.iter().any(|name| names::hints_at_heat(name)) || names::hints_at_heat(id.object())
                };
                if end != End::Off && !decided && hot() {
                    self.asks_harm(ReasonCode::Harm, action, Some(id), None);
                }
                self.plain(action, id, Look::Relay, end);
            }
            Kind::Button => {
                let identify = entity.classes().any(|class| class == "identify")
                    && !entity.classes().any(|class| class != "identify");
                let decided = self.facts.policy.guard.get(id) == Some(&super::Guard::Harmless);
                let guard = own_guard(self.facts, id, entity, Look::Relay);
                if !identify && !decided && guard.is_none() {
                    self.asks(ReasonCode::Button, action, Some(id), None);
                }
                self.plain(action, id, Look::Relay, End::Any);
            }
            Kind::Lock(way) => return moves::lock(self, way, action, id),
            Kind::Cover(way) => return moves::cover(self, way, action, id, entity),
            Kind::Valve(way) => return moves::valve(self, way, action, id, entity),
            Kind::Alarm(way) => return moves::alarm(self, way, action, id, entity),
            Kind::Climate => moves::climate(self, action, id, moves::CLIMATE_CELSIUS),
            Kind::WaterHeater => moves::climate(self, action, id, moves::WATER_CELSIUS),
            Kind::SceneOn | Kind::ScriptOn | Kind::ScriptOff | Kind::ScriptToggle => self.macros(kind, action, id),
            Kind::AutomationTrigger | Kind::AutomationOn | Kind::AutomationOff | Kind::AutomationToggle => {
                self.macros(kind, action, id);
            }
            Kind::Harm => {
                // A siren is part of the alarm.
                self.secures += usize::from(id.domain() == "siren");
                self.asks_harm(ReasonCode::Harm, action, Some(id), None);
                self.plain(action, id, Look::Relay, End::Any);
            }
            Kind::Blind => {
                self.asks(ReasonCode::Blinds, action, Some(id), None);
                self.plain(action, id, Look::List, End::Any);
            }
            Kind::Silence => {
                // One that is silent stays so; a script or an automation may come to it later.
                let at_once = self.path.iter().all(|step| match step {
                    Step::Runs { entity, .. } => entity.domain() == "scene",
                    Step::Moves { .. } => true,
                    Step::Triggers { .. } | Step::Event { .. } => false,
                });
                if !at_once || entity.value() != Some("off") {
                    self.asks(ReasonCode::Blinds, action, Some(id), None);
                }
                self.plain(action, id, Look::Relay, End::Off);
            }
            Kind::TimerRun => {
                self.timer(action, id);
                // Started anew while it runs, it ends later.
                if action.service == "start" && entity.value() != Some("idle") {
                    self.stops_what_follows(action, id);
                }
            }
            Kind::TimerStop => {
                self.timer(action, id);
                self.stops_what_follows(action, id);
                // What waits for it may stand where nobody can see it: in another program, in a device.
                let idle = entity.value() == Some("idle");
                if !idle && own_guard(self.facts, id, entity, Look::Relay) == Some(Guarded::Named) {
                    self.asks(ReasonCode::Stops, action, Some(id), Some(self.name(id)));
                }
            }
            Kind::Media => {
                self.plain(action, id, Look::List, End::Any);
                for key in ["media_content_id", "media"] {
                    if let Some(value) = action.data.get(key) {
                        messages::media(self, action, value);
                    }
                }
                messages::medium(self, action, action.data.get("media_content_type"));
                if action.data.contains_key("extra") {
                    self.asks(ReasonCode::Media, action, Some(id), Some("extra".to_owned()));
                }
            }
            Kind::Join => {
                self.plain(action, id, Look::List, End::Any);
                if let Some(value) = action.data.get("group_members") {
                    messages::members(self, action, value, "media_player");
                }
            }
            Kind::Notify | Kind::Speech => self.plain(action, id, Look::List, End::Any),
            Kind::Opaque | Kind::SceneApply => {}
        }
        SEND
    }

    /// A scene, script or automation runs, is stopped or enabled.
    fn macros(&mut self, kind: Kind, action: &Action<'_>, id: &EntityId) {
        match kind {
            Kind::SceneOn | Kind::ScriptOn => {
                self.plain(action, id, Look::List, End::Any);
                self.runs(action, id);
            }
            Kind::ScriptOff => {
                self.plain(action, id, Look::List, End::Any);
                self.stops(action, id);
            }
            Kind::ScriptToggle => {
                self.plain(action, id, Look::List, End::Any);
                self.runs(action, id);
                self.stops(action, id);
            }
            Kind::AutomationTrigger => {
                self.plain(action, id, Look::List, End::Same);
                self.runs(action, id);
            }
            Kind::AutomationOn => {
                self.plain(action, id, Look::List, End::On);
                self.enables(action, id);
            }
            Kind::AutomationOff => {
                self.plain(action, id, Look::List, End::Either);
                self.stops(action, id);
            }
            Kind::AutomationToggle => {
                self.plain(action, id, Look::List, End::Either);
                self.enables(action, id);
                self.stops(action, id);
            }
            _ => {}
        }
    }

    /// `homeassistant.turn_on` and the like become the entity's own service, or nothing.
    fn generic(&mut self, action: &Action<'_>, id: &EntityId) -> Fate {
        let service = action.service;
        let Some(row) = table::own(id.domain(), service) else { return Fate::Ignored };
        let listed = &self.house().services;
        if !listed.is_empty() && !listed.get(id.domain()).is_some_and(|services| services.contains_key(service)) {
            return Fate::Ignored;
        }
        self.entity(row.kind, &Action { domain: id.domain(), ..*action }, id)
    }

    /// Own guard, what it moves along, and what the change sets off.
    fn plain(&mut self, action: &Action<'_>, id: &EntityId, look: Look, end: End) {
        let Some(entity) = self.house().entity(id.as_str()) else { return };
        if let Some(guard) = own_guard(self.facts, id, entity, look) {
            let (code, detail) = match guard {
                Guarded::Listed => (ReasonCode::Listed, None),
                Guarded::Labelled => (ReasonCode::Labelled, None),
                Guarded::Relation(other) => (ReasonCode::Relation, Some(other.to_string())),
                Guarded::Named => (ReasonCode::Named, None),
            };
            self.asks(code, action, Some(id), detail);
        }
        let ends = ends::of(action, end);
        self.sets_off(action, id, &ends);
        if look == Look::Relay {
            self.holds_back(action, id, &ends);
        }
        if end != End::Same {
            self.along(action, id, entity, false);
        }
    }

    /// What moves along: members of a hub's room, the source of a helper. A move toward safety takes
    /// them along as they are meant to be, so their own guards do not count then.
    pub(super) fn along(&mut self, action: &Action<'_>, id: &EntityId, entity: &Entity, securing: bool) {
        let members: Vec<EntityId> = if id.domain() == "scene" {
            entity.info.wraps.clone()
        } else {
            entity.members().chain(entity.info.wraps.iter().cloned()).collect()
        };
        if !members.is_empty() && self.path.len() > ROAD_STEPS_MAX {
            return self.asks(ReasonCode::OpaqueBody, action, Some(id), Some("nesting".to_owned()));
        }
        for member in members {
            let Some(other) = self.house().entity(member.as_str()) else { continue };
            if !self.moved.insert((member.clone(), securing)) {
                continue;
            }
            let step = Step::Moves { entity: member.clone() };
            self.step(&action.name(), Some(id), step, |walk| match member.domain() {
                _ if securing => {
                    walk.sets_off(action, &member, &Ends::Any);
                    walk.along(action, &member, other, true);
                }
                _ if works_a_door(walk.facts, &member, other) => {
                    walk.asks(ReasonCode::Opens, action, Some(&member), None);
                    walk.sets_off(action, &member, &Ends::Any);
                }
                domain if relay_domain(domain) => walk.plain(action, &member, Look::Relay, End::Any),
                _ => walk.plain(action, &member, Look::List, End::Any),
            });
        }
    }

    /// What automations do when this entity changes, and all that contains it.
    pub(super) fn sets_off(&mut self, action: &Action<'_>, id: &EntityId, ends: &Ends) {
        let house = self.house();
        // What a door's own move brings about later is not what stopping this one would leave undone.
        if self.counting && matches!(id.domain(), "lock" | "cover" | "valve" | "alarm_control_panel") {
            return;
        }
        let fired = house.index.triggers.fired(house, id, ends);
        for automation in fired {
            let step =
                Step::Triggers { cause: id.clone(), automation: automation.clone(), name: self.name(&automation) };
            self.step(&action.name(), Some(id), step, |walk| walk.body(action, &automation));
        }
    }

    /// A macro or automation runs.
    fn runs(&mut self, action: &Action<'_>, id: &EntityId) {
        let step = Step::Runs { entity: id.clone(), name: self.name(id) };
        let before = (self.foreign_values, self.foreign_words);
        self.foreign_values |= self.path.is_empty()
            && (action.data.contains_key("variables") || (action.service == id.object() && !action.data.is_empty()));
        self.foreign_words |= self.path.is_empty() && action.data.values().any(messages::more_than_words);
        self.step(&action.name(), Some(id), step, |walk| walk.body(action, id));
        (self.foreign_values, self.foreign_words) = before;
    }

    /// What was turned off may run by itself again: by the clock, or when somebody comes home.
    fn enables(&mut self, action: &Action<'_>, id: &EntityId) {
        if self.house().entity(id.as_str()).and_then(|entity| entity.value()) != Some("on") {
            self.runs(action, id);
        }
    }

    /// A switch or a helper may be what lets an automation lock, or the time at which it does.
    fn holds_back(&mut self, action: &Action<'_>, id: &EntityId, ends: &Ends) {
        for waiting in self.house().index.triggers.held_back(id, ends) {
            self.stops(action, &waiting);
        }
        if matches!(id.domain(), "input_datetime" | "datetime" | "time" | "date") {
            self.stops_what_follows(action, id);
        }
    }

    /// Turning it off stops what it was about to lock, close or arm.
    fn stops(&mut self, action: &Action<'_>, id: &EntityId) {
        if self.counting {
            return;
        }
        let mut inner = Walk::new(self.facts, self.origin);
        inner.counting = true;
        inner.body(action, id);
        let unreadable = !matches!(self.house().bodies.of(id), Some(Body::Config(_)));
        if inner.secures > 0 || unreadable {
            self.asks(ReasonCode::Stops, action, Some(id), Some(self.name(id)));
        }
    }

    /// What a timer's service leaves it in, and the events that it raises, later ones included.
    fn timer(&mut self, action: &Action<'_>, id: &EntityId) {
        let (states, events): (&[&str], &[&str]) = match action.service {
            "cancel" => (&["idle"], &["cancelled"]),
            "pause" => (&["paused"], &["paused"]),
            "finish" => (&["idle"], &["finished"]),
            "start" => (&["active", "idle"], &["started", "restarted", "finished"]),
            "change" => (&["active", "idle"], &["changed", "finished"]),
            _ => return self.plain(action, id, Look::List, End::Any),
        };
        self.plain(action, id, Look::List, End::Same);
        let states = states.iter().map(|state| (*state).to_owned());
        let events = events.iter().map(|event| triggers::event_end(&format!("timer.{event}")));
        self.sets_off(action, id, &Ends::Known(states.chain(events).collect()));
    }

    /// Stopping a timer stops the automations that wait for it.
    fn stops_what_follows(&mut self, action: &Action<'_>, id: &EntityId) {
        let house = self.house();
        for automation in house.index.triggers.fired(house, id, &Ends::Any) {
            self.stops(action, &automation);
        }
    }

    pub(super) fn body(&mut self, action: &Action<'_>, id: &EntityId) {
        if !self.seen.insert(id.clone()) {
            return;
        }
        if self.path.len() > ROAD_STEPS_MAX {
            return self.asks(ReasonCode::OpaqueBody, action, Some(id), Some("nesting".to_owned()));
        }
        if id.domain() == "automation" {
            // Running shows in its attributes, and is an event.
            self.sets_off(action, id, &Ends::Known(Vec::new()));
        }
        match self.house().bodies.of(id) {
            Some(Body::Config(config)) if id.domain() == "scene" => states::scene(self, id, config),
            Some(Body::Config(config)) => super::body::run(self, id, config),
            Some(Body::Unreadable(_)) | None if id.domain() == "scene" => states::members_only(self, action, id),
            Some(Body::Unreadable(why)) => {
                let why = why.to_string();
                self.asks(ReasonCode::Unreadable, action, Some(id), Some(why));
            }
            None => self.asks(ReasonCode::Unreadable, action, Some(id), None),
        }
    }

    fn name(&self, id: &EntityId) -> String {
        let name = self.house().entity(id.as_str()).map_or(id.as_str(), |entity| entity.name(id));
        crate::text::clean(name, crate::text::NAME_CHARS_MAX)
    }

    /// Everything that was followed.
    pub(super) fn seen(&self) -> impl Iterator<Item = &EntityId> {
        self.seen.iter()
    }

    pub(super) fn has_foreign_values(&self) -> bool {
        self.foreign_values
    }
}

pub(super) fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

pub(super) fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => is_template(text),
        Value::Array(items) => items.iter().any(has_template),
        Value::Object(map) => map.values().any(has_template) || map.keys().any(|key| is_template(key)),
        _ => false,
    }
}
