//! Follows an action to all that it does: through groups, macros and automations. Start at
//! [`Walk::service`].
//!
//! Invariant: every action met leaves either no reason (harmless) or one that says why not; what
//! cannot be followed asks. Each macro and automation is followed once a walk, so a walk ends.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::entity::{Guarded, Look, own_guard};
use super::resolve::{self, Reading};
use super::table::{self, End, Kind, Row};
use super::triggers::{Change, Ends};
use super::{Facts, Origin, Reason, ReasonCode, Risk, Step, Verdict, states};
use crate::house::{Body, EntityId, House};

mod moves;

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

pub(super) struct Walk<'a> {
    pub facts: &'a Facts<'a>,
    pub origin: Origin,
    pub reasons: Vec<Reason>,
    path: Vec<Step>,
    /// The outermost action, for the sentence.
    by: Option<(String, Option<EntityId>)>,
    seen: BTreeSet<EntityId>,
    /// Macros and automations that are being asked what stopping them leaves undone.
    stopping: BTreeSet<EntityId>,
    /// The caller handed values to a macro, so its templates may hold anything.
    foreign_values: bool,
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
            stopping: BTreeSet::new(),
            foreign_values: false,
            secures: 0,
        }
    }

    pub(super) fn house(&self) -> &'a House {
        self.facts.house
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
            self.unknown(action, entities);
            return entities.iter().map(|id| (id.clone(), SEND)).collect();
        };
        match row.kind {
            Kind::Opaque => self.opaque(action),
            Kind::Notify => self.notify(action),
            Kind::Speech => self.speech(action),
            Kind::SceneApply => states::apply(self, action),
            Kind::Blind if entities.is_empty() => self.asks(ReasonCode::Blinds, action, None, None),
            _ => {}
        }
        let mut fates = BTreeMap::new();
        for id in entities {
            fates.insert(id.clone(), self.entity(row.kind, action, id));
        }
        fates
    }

    fn unknown(&mut self, action: &Action<'_>, entities: &BTreeSet<EntityId>) {
        if self.listed(action) {
            return;
        }
        let harmless = !entities.is_empty() && entities.iter().all(|id| table::harmless_domain(id.domain()));
        let verdict = if harmless { Verdict::Ask } else { Verdict::Refuse };
        self.note(verdict, Some(Risk::Security), ReasonCode::UnknownService, &action.name(), None, None);
        if harmless {
            for id in entities {
                self.sets_off(action, id, &Ends::Any);
            }
        }
    }

    fn opaque(&mut self, action: &Action<'_>) {
        if !self.listed(action) {
            self.note(Verdict::Refuse, Some(Risk::Security), ReasonCode::Opaque, &action.name(), None, None);
        }
    }

    /// Whether the operator listed this very service (leaving the reason that goes with it).
    fn listed(&mut self, action: &Action<'_>) -> bool {
        let name = action.name();
        let Some(rule) = self.facts.policy.services.get(&name) else { return false };
        if rule.verdict == Verdict::Refuse
            || (!rule.data.is_empty() && !rule.data.iter().any(|data| data == action.data))
        {
            return false;
        }
        if rule.verdict == Verdict::Ask {
            self.note(Verdict::Ask, Some(Risk::Security), ReasonCode::ListedAsks, &name, None, None);
        }
        true
    }

    fn notify(&mut self, action: &Action<'_>) {
        if let Some(key) = action.data.keys().find(|key| !matches!(key.as_str(), "message" | "title")) {
            self.asks(ReasonCode::NotifyExtra, action, None, Some(key.clone()));
        }
    }

    fn speech(&mut self, action: &Action<'_>) {
        if self.facts.policy.speech_asks {
            self.asks(ReasonCode::Speech, action, None, None);
        }
        for key in ["media_id", "preannounce_media_id"] {
            if let Some(value) = action.data.get(key) {
                self.media(action, value);
            }
        }
        if let Some(value) = action.data.get("media_player_entity_id") {
            self.members(action, value, "media_player");
        }
    }

    fn media(&mut self, action: &Action<'_>, value: &Value) {
        match value {
            Value::String(text) if is_template(text) => {
                self.asks(ReasonCode::Media, action, None, Some("template".to_owned()))
            }
            Value::String(text) => {
                let verdict = super::media::judge_media(text, &self.facts.policy.media.hosts);
                if verdict != Verdict::Allow {
                    self.note(verdict, Some(Risk::Security), ReasonCode::Media, &action.name(), None, None);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.media(action, item)),
            Value::Object(map) => map.iter().for_each(|(key, item)| match key.as_str() {
                "media_content_id" => self.media(action, item),
                "media_content_type" => {}
                _ => self.asks(ReasonCode::Media, action, None, Some(crate::text::clean(key, 40))),
            }),
            _ => {}
        }
    }

    /// Entities that hide in a data key: each must be of the domain that belongs there.
    fn members(&mut self, action: &Action<'_>, value: &Value, domain: &str) {
        let map = Map::from_iter([("entity_id".to_owned(), value.clone())]);
        match resolve::targets(self.house(), [Some(&map), None], Reading::Call) {
            Ok(found) if !found.templated && found.unknown.is_empty() && !found.all => {
                for id in found.direct {
                    if id.domain() == domain {
                        self.entity(Kind::Comfort(End::Any), action, &id);
                    } else {
                        self.note(
                            Verdict::Refuse,
                            Some(Risk::Security),
                            ReasonCode::WrongMember,
                            &action.name(),
                            Some(&id),
                            None,
                        );
                    }
                }
            }
            _ => self.note(Verdict::Refuse, Some(Risk::Security), ReasonCode::WrongMember, &action.name(), None, None),
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
            Kind::Relay(end) => self.plain(action, id, Look::Relay, end),
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
            Kind::AutomationOn => self.plain(action, id, Look::List, End::On),
            Kind::AutomationOff | Kind::AutomationToggle => {
                self.plain(action, id, Look::List, End::Either);
                self.stops(action, id);
            }
            Kind::Harm => {
                self.asks_harm(ReasonCode::Harm, action, Some(id), None);
                self.plain(action, id, Look::Relay, End::Any);
            }
            Kind::Blind => {
                self.asks(ReasonCode::Blinds, action, Some(id), None);
                self.plain(action, id, Look::List, End::Any);
            }
            Kind::TimerRun => self.plain(action, id, Look::List, End::Any),
            Kind::TimerStop => {
                self.plain(action, id, Look::List, End::Any);
                self.stops_what_follows(action, id);
            }
            Kind::Media => {
                self.plain(action, id, Look::List, End::Any);
                for key in ["media_content_id", "media"] {
                    if let Some(value) = action.data.get(key) {
                        self.media(action, value);
                    }
                }
                if action.data.contains_key("extra") {
                    self.asks(ReasonCode::Media, action, Some(id), Some("extra".to_owned()));
                }
            }
            Kind::Join => {
                self.plain(action, id, Look::List, End::Any);
                if let Some(value) = action.data.get("group_members") {
                    self.members(action, value, "media_player");
                }
            }
            Kind::Opaque | Kind::Notify | Kind::Speech | Kind::SceneApply => {}
        }
        SEND
    }

    /// `homeassistant.turn_on` and the like become the entity's own service, or nothing.
    fn generic(&mut self, action: &Action<'_>, id: &EntityId) -> Fate {
        let Some(service) = table::concrete(id.domain(), action.service) else { return Fate::Ignored };
        let Some(row) = table::row(id.domain(), service) else { return Fate::Ignored };
        self.entity(row.kind, &Action { domain: id.domain(), service, ..*action }, id)
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
        if end == End::Same {
            return;
        }
        let ends = self.ends(action, end);
        self.sets_off(action, id, &ends);
        let along: Vec<EntityId> = if id.domain() == "scene" {
            entity.info.wraps.clone()
        } else {
            entity.members().chain(entity.info.wraps.iter().cloned()).collect()
        };
        for member in along {
            if self.seen.insert(member.clone()) {
                let step = Step::Moves { entity: member.clone() };
                self.step(&action.name(), Some(id), step, |walk| {
                    let look = if super::entity::relay_domain(member.domain()) { Look::Relay } else { Look::List };
                    walk.plain(action, &member, look, End::Any);
                });
            }
        }
    }

    fn ends(&self, action: &Action<'_>, end: End) -> Ends {
        let one = |text: &str| {
            let mut ends = vec![text.to_owned()];
            // Helpers show numbers with a fraction: 55 becomes "55.0".
            if let Ok(number) = text.trim().parse::<f64>() {
                ends.push(format!("{number:?}"));
                ends.push(number.to_string());
            }
            Ends::Known(ends)
        };
        match end {
            End::On => one("on"),
            End::Off => one("off"),
            End::Either => Ends::Known(vec!["on".to_owned(), "off".to_owned()]),
            End::Key(key) => match action.data.get(key) {
                Some(Value::String(text)) if !is_template(text) => one(text),
                Some(Value::Number(number)) => one(&number.to_string()),
                _ => Ends::Any,
            },
            End::Any | End::Same => Ends::Any,
        }
    }

    /// What automations do when this entity changes, and all that contains it.
    pub(super) fn sets_off(&mut self, action: &Action<'_>, id: &EntityId, ends: &Ends) {
        let house = self.house();
        let current = house.entity(id.as_str()).and_then(|entity| entity.value());
        let fired = house.index.triggers.fired(house, id, &Change { ends, current });
        for automation in fired {
            let step =
                Step::Triggers { cause: id.clone(), automation: automation.clone(), name: self.name(&automation) };
            self.step(&action.name(), Some(id), step, |walk| walk.body(action, &automation));
        }
    }

    /// A macro or automation runs.
    fn runs(&mut self, action: &Action<'_>, id: &EntityId) {
        let step = Step::Runs { entity: id.clone(), name: self.name(id) };
        let before = self.foreign_values;
        self.foreign_values |=
            self.path.is_empty() && (action.data.contains_key("variables") || action.service == id.object());
        self.step(&action.name(), Some(id), step, |walk| walk.body(action, id));
        self.foreign_values = before;
    }

    /// Turning it off stops what it was about to lock, close or arm.
    fn stops(&mut self, action: &Action<'_>, id: &EntityId) {
        if !self.stopping.insert(id.clone()) {
            return;
        }
        let mut inner = Walk::new(self.facts, self.origin);
        inner.stopping = self.stopping.clone();
        inner.body(action, id);
        let unreadable = !matches!(self.house().bodies.of(id), Some(Body::Config(_)));
        if inner.secures > 0 || unreadable {
            self.asks(ReasonCode::Stops, action, Some(id), Some(self.name(id)));
        }
    }

    /// Stopping a timer stops the automations that wait for it.
    fn stops_what_follows(&mut self, action: &Action<'_>, id: &EntityId) {
        let house = self.house();
        for automation in house.index.triggers.fired(house, id, &Change { ends: &Ends::Any, current: None }) {
            self.stops(action, &automation);
        }
    }

    pub(super) fn body(&mut self, action: &Action<'_>, id: &EntityId) {
        if !self.seen.insert(id.clone()) {
            return;
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
    text.contains("{{") || text.contains("{%")
}

pub(super) fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => is_template(text),
        Value::Array(items) => items.iter().any(has_template),
        Value::Object(map) => map.values().any(has_template) || map.keys().any(|key| is_template(key)),
        _ => false,
    }
}
