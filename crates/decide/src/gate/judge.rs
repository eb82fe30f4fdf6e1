//! From a call to a decision. Start at [`judge`]. Invariant: every path to Allow goes through a row
//! of the table, a walk that left no reason (or only granted ones), and ids of this house.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::entity::{Look, own_guard, relay_domain};
use super::resolve::{self, Reading, TARGET_KEYS, Targets, in_scope};
use super::table::{self, AlarmMove, CoverMove, Kind, LockMove, Row};
use super::walk::{Action, Fate, Walk, has_template, moves};
use super::{Call, Decision, Facts, Grant, Origin, Plan, Problem, Reason, ReasonCode, Send, Step, Verdict, names};
use crate::house::{Body, Entity, EntityId, House};

/// May this call reach the house, and as what?
pub fn judge(facts: &Facts<'_>, origin: Origin, call: &Call) -> Result<Decision, Problem> {
    let (domain, service) = words(call)?;
    let script = if domain == "script" && table::row(&domain, &service).is_none() {
        Some(
            resolve::script(facts.house, &service)
                .ok_or_else(|| not_found(facts, vec![format!("script.{service}")]))?,
        )
    } else {
        None
    };
    if let Some(script) = &script
        && !in_scope(facts, script)
    {
        return Err(not_found(facts, vec![script.to_string()]));
    }
    let row = match script {
        Some(_) => Some(Row { kind: Kind::ScriptOn, keys: &[] }),
        None => table::row(&domain, &service),
    };
    let data = plain_data(call, row.filter(|_| script.is_none()))?;
    ready(facts, row, &data)?;
    let mut found = match &script {
        Some(script) => Targets { direct: BTreeSet::from([script.clone()]), ..Targets::default() },
        None => resolve::targets(facts.house, [Some(&call.data), call.target.as_ref()], Reading::Call)?,
    };
    settle(facts, &mut found, row, &domain)?;
    let (entities, ignored) = reach(facts, &found, row, (&domain, &service));
    if let Some(row) = row
        && wants_target(row.kind)
        && entities.is_empty()
    {
        let problem = if found.named { Problem::NothingThere { domain } } else { Problem::NoTarget };
        return if ignored.is_empty() { Err(problem) } else { Ok(nothing(ignored)) };
    }
    let action = Action { domain: &domain, service: &service, data: &data, templated: false };
    let mut walk = Walk::new(facts, origin);
    let fates = walk.service(row, &action, &entities);
    if facts.policy.scope.read_only && row.is_none_or(|row| row.kind != Kind::Read) {
        walk.note(Verdict::Refuse, None, ReasonCode::ReadOnly, &action.name(), None, None);
    }
    let mut plan = plan(row, &action, &fates, script.is_some());
    plan.ignored.extend(ignored);
    let foreign = data.contains_key("variables") || (script.is_some() && !data.is_empty());
    Ok(decide(facts, walk.reasons, plan, foreign))
}

/// Domain and service as Home Assistant reads them.
fn words(call: &Call) -> Result<(String, String), Problem> {
    let (domain, service) = (call.domain.trim().to_lowercase(), call.service.trim().to_lowercase());
    let word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    if word(&domain) && word(&service) {
        Ok((domain, service))
    } else {
        Err(Problem::BadService { text: crate::text::clean(&format!("{}.{}", call.domain, call.service), 120) })
    }
}

/// Service data without target keys; a key that the row does not know stops the call.
fn plain_data(call: &Call, row: Option<Row>) -> Result<Map<String, Value>, Problem> {
    let mut data = Map::new();
    for (key, value) in &call.data {
        if TARGET_KEYS.contains(&key.as_str()) {
            continue;
        }
        let name = crate::text::clean(key, 60);
        if let Some(row) = row
            && row.kind != Kind::Opaque
            && !row.keys.contains(&key.as_str())
        {
            let why = match row.keys {
                [] => "this service takes no data".to_owned(),
                keys => format!("unknown key; known are {}", keys.join(", ")),
            };
            return Err(Problem::BadData { key: name, why });
        }
        if has_template(value) {
            return Err(Problem::BadData { key: name, why: "templates are not taken in a call".to_owned() });
        }
        data.insert(key.clone(), explicit(key, value));
    }
    for key in call.target.iter().flatten().map(|(key, _)| key) {
        if !TARGET_KEYS.contains(&key.as_str()) {
            return Err(Problem::BadTarget { key: crate::text::clean(key, 60), text: String::new() });
        }
    }
    Ok(data)
}

/// Entities that hide in data go out as the ids that were judged, not as they came in.
fn explicit(key: &str, value: &Value) -> Value {
    let id = |text: &str| Value::String(EntityId::parse(text).map_or_else(|| text.to_owned(), |id| id.to_string()));
    match (key, value) {
        ("entities", Value::Object(map)) => {
            let lower = |key: &String| EntityId::parse(key).map_or_else(|| key.clone(), |id| id.to_string());
            Value::Object(map.iter().map(|(key, state)| (lower(key), state.clone())).collect())
        }
        ("media_player_entity_id" | "group_members", Value::String(text)) => {
            Value::Array(text.split(',').map(id).collect())
        }
        ("media_player_entity_id" | "group_members", Value::Array(items)) => {
            Value::Array(items.iter().map(|item| item.as_str().map_or_else(|| item.clone(), id)).collect())
        }
        _ => value.clone(),
    }
}

/// Lock, close, arm.
fn toward_safety(kind: Kind, data: &Map<String, Value>) -> bool {
    let zero = data.get("position").is_some_and(moves::zero);
    match kind {
        Kind::Lock(LockMove::Lock) | Kind::Alarm(AlarmMove::Arm(_)) => true,
        Kind::Cover(way) | Kind::Valve(way) => way == CoverMove::Close || (way == CoverMove::Position && zero),
        _ => false,
    }
}

/// Writes other than toward safety need the whole picture.
fn ready(facts: &Facts<'_>, row: Option<Row>, data: &Map<String, Value>) -> Result<(), Problem> {
    let readiness = &facts.house.readiness;
    let missing = match () {
        () if facts.policy.broken => "policy",
        () if !readiness.connected => "connection",
        () if !readiness.states => "states",
        () if !readiness.registries => "registries",
        () if !readiness.bodies => "bodies",
        () => return Ok(()),
    };
    match row {
        Some(row) if toward_safety(row.kind, data) => Ok(()),
        _ => Err(Problem::NotReady { missing: missing.to_owned() }),
    }
}

/// What is unknown, templated or too wide stops the call here.
fn settle(facts: &Facts<'_>, found: &mut Targets, row: Option<Row>, domain: &str) -> Result<(), Problem> {
    if found.templated {
        return Err(Problem::BadTarget { key: "entity_id".to_owned(), text: "template".to_owned() });
    }
    let readiness = &facts.house.readiness;
    if found.by_registry && !readiness.registries {
        return Err(Problem::NotReady { missing: "registries".to_owned() });
    }
    if found.all && (row.is_none_or(|row| row.kind == Kind::Generic) || !readiness.states) {
        return Err(Problem::BadTarget { key: "entity_id".to_owned(), text: "all".to_owned() });
    }
    if !readiness.states {
        // Without states, ids of the right domain are taken on trust; only lock and close come this far.
        let trusted = std::mem::take(&mut found.unknown);
        for text in trusted {
            match EntityId::parse(&text).filter(|id| id.domain() == domain) {
                Some(id) => _ = found.direct.insert(id),
                None => found.unknown.push(text),
            }
        }
    }
    let hidden = found.direct.iter().filter(|id| !in_scope(facts, id)).map(ToString::to_string);
    let unknown: Vec<String> = found.unknown.iter().cloned().chain(hidden).collect();
    if unknown.is_empty() { Ok(()) } else { Err(not_found(facts, unknown)) }
}

/// Unknown names that are compared with the house's, and that are named in the answer.
const NEAREST_OF_MAX: usize = 5;
const NAMED_MAX: usize = 50;

/// Names this alike are worth showing.
const NEAR_ENOUGH: f64 = 0.85;

fn not_found(facts: &Facts<'_>, ids: Vec<String>) -> Problem {
    // Comparing is slow; a flood of names, or one without end, is not worth it.
    let compared: Vec<&String> = ids.iter().filter(|id| id.len() <= 255).take(NEAREST_OF_MAX).collect();
    let mut near: Vec<(f64, &EntityId)> = Vec::new();
    for id in facts.house.entities.keys().filter(|id| in_scope(facts, id)) {
        let close = compared.iter().map(|wanted| strsim::jaro_winkler(wanted, id.as_str())).fold(0.0, f64::max);
        if close.total_cmp(&NEAR_ENOUGH).is_gt() {
            near.push((close, id));
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let ids = ids.iter().take(NAMED_MAX).map(|id| crate::text::clean(id, 120)).collect();
    Problem::NotFound { ids, nearest: near.into_iter().take(3).map(|(_, id)| id.clone()).collect() }
}

/// The entities that the service works on, and those named that it does not.
fn reach(
    facts: &Facts<'_>,
    found: &Targets,
    row: Option<Row>,
    (domain, service): (&str, &str),
) -> (BTreeSet<EntityId>, Vec<EntityId>) {
    let works_on = row.and_then(|row| row.works_on(domain, service));
    let mut entities = found.reach(facts.house, works_on.unwrap_or(domain));
    entities.retain(|id| in_scope(facts, id));
    let Some(domain) = works_on else { return (entities, Vec::new()) };
    let (fit, other): (BTreeSet<_>, BTreeSet<_>) = entities.into_iter().partition(|id| id.domain() == domain);
    (fit, other.into_iter().filter(|id| found.direct.contains(id)).collect())
}

fn wants_target(kind: Kind) -> bool {
    !matches!(kind, Kind::Opaque | Kind::Notify | Kind::Speech | Kind::SceneApply | Kind::Read | Kind::Blind)
}

fn nothing(ignored: Vec<EntityId>) -> Decision {
    let plan = Plan { ignored, ..Plan::default() };
    Decision { verdict: Verdict::Allow, risk: None, targets: Vec::new(), reasons: Vec::new(), plan }
}

fn plan(row: Option<Row>, action: &Action<'_>, fates: &BTreeMap<EntityId, Fate>, as_script: bool) -> Plan {
    let mut plan = Plan::default();
    let mut groups: BTreeMap<(&str, bool), Vec<EntityId>> = BTreeMap::new();
    let generic = row.is_some_and(|row| row.kind == Kind::Generic);
    for (id, fate) in fates {
        match fate {
            Fate::Send { toward_safety } => {
                let domain = if generic { id.domain() } else { action.domain };
                groups.entry((domain, *toward_safety)).or_default().push(id.clone());
            }
            Fate::Done => plan.done.push(id.clone()),
            Fate::Ignored => plan.ignored.push(id.clone()),
        }
    }
    for ((domain, toward_safety), entities) in groups {
        let mut data = action.data.clone();
        if generic && let Some(row) = table::row(domain, action.service) {
            data.retain(|key, _| row.keys.contains(&key.as_str()));
        }
        // `script.NAME` carries its target in its name.
        let entities = if as_script { Vec::new() } else { entities };
        plan.sends.push(Send {
            domain: domain.to_owned(),
            service: action.service.to_owned(),
            entities,
            data,
            toward_safety,
        });
    }
    if fates.is_empty() && row.is_none_or(|row| !wants_target(row.kind)) {
        let (domain, service) = (action.domain.to_owned(), action.service.to_owned());
        plan.sends.push(Send {
            domain,
            service,
            entities: Vec::new(),
            data: action.data.clone(),
            toward_safety: false,
        });
    }
    plan
}

/// Reasons to verdict, standing permissions taken into account.
fn decide(facts: &Facts<'_>, reasons: Vec<Reason>, plan: Plan, foreign: bool) -> Decision {
    let mut kept: Vec<Reason> = Vec::new();
    for reason in reasons {
        match granted(facts, &reason) {
            // What was granted was the macro as it stands, not what a caller's values make of it.
            Granted::Yes if foreign && opaque(reason.code) => kept.push(reason),
            Granted::Yes => {}
            Granted::No => kept.push(reason),
            Granted::Changed(id) => {
                kept.push(Reason {
                    code: ReasonCode::BodyChanged,
                    entity: Some(id),
                    detail: None,
                    path: Vec::new(),
                    ..reason.clone()
                });
                kept.push(reason);
            }
        }
    }
    let mut targets: Vec<EntityId> =
        kept.iter().filter_map(|reason| reason.entity.clone().or_else(|| reason.on.clone())).collect();
    targets.sort();
    targets.dedup();
    kept.sort_by_key(|reason| (std::cmp::Reverse(reason.verdict), std::cmp::Reverse(reason.risk), reason.path.len()));
    kept.dedup();
    let verdict = kept.iter().map(|reason| reason.verdict).max().unwrap_or_default();
    let risk = kept.iter().filter_map(|reason| reason.risk).max();
    Decision { verdict, risk, targets, reasons: kept, plan }
}

/// Codes that say: what would be done is not known.
fn opaque(code: ReasonCode) -> bool {
    use ReasonCode::{Heat, Media, NotifyExtra, Opaque, OpaqueBody, UnknownService, Unreadable, UnreadableScene};
    matches!(code, Heat | Media | NotifyExtra | Opaque | OpaqueBody | UnknownService | Unreadable | UnreadableScene)
}

enum Granted {
    Yes,
    No,
    Changed(EntityId),
}

/// A grant covers the granted entity's own opening, or all that a granted macro does; nothing that
/// is refused, and nothing that a write to the entity sets off.
fn granted(facts: &Facts<'_>, reason: &Reason) -> Granted {
    if reason.verdict != Verdict::Ask {
        return Granted::No;
    }
    let holds = |grant: &Grant| grant.until.is_none_or(|until| facts.now < until);
    let grant = |id: &EntityId| facts.policy.grants.get(id).filter(|grant| holds(grant));
    if let Some(Step::Runs { entity, .. }) = reason.path.first()
        && let Some(grant) = grant(entity)
    {
        let body = grant.body.as_deref();
        return match body {
            Some(body) if fingerprint(facts.house, entity).as_deref() != Some(body) => Granted::Changed(entity.clone()),
            _ => Granted::Yes,
        };
    }
    let own = reason.entity.as_ref().is_some_and(|id| !matches!(id.domain(), "scene" | "script" | "automation"));
    match &reason.entity {
        Some(id) if own && grant(id).is_some() => Granted::Yes,
        _ => Granted::No,
    }
}

/// Hash of a macro's body and of every body that it reaches, for pinning a grant to what was seen.
/// Nothing where it, or a script in it, cannot be read: what was not seen cannot be held to. A scene of
/// which only the members are known is held to its members.
pub fn fingerprint(house: &House, id: &EntityId) -> Option<String> {
    let (policy, in_flight) = (super::Policy::default(), super::InFlight::default());
    let facts = Facts { house, policy: &policy, in_flight: &in_flight, now: 0 };
    let mut walk = Walk::new(&facts, Origin::System);
    let empty = Map::new();
    walk.body(&Action { domain: "script", service: "turn_on", data: &empty, templated: false }, id);
    let mut hash = Sha256::new();
    for seen in walk.seen() {
        match (house.bodies.of(seen), seen.domain()) {
            (Some(Body::Config(config)), _) => {
                hash.update(seen.as_str());
                hash.update(config.to_string());
            }
            (_, "scene") => {
                hash.update(seen.as_str());
                let members: BTreeSet<EntityId> = house.entity(seen.as_str())?.members().collect();
                members.iter().for_each(|member| hash.update(format!(" {member}")));
            }
            (_, "script") => return None,
            _ if seen == id => return None,
            _ => hash.update(seen.as_str()),
        }
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether some plain move on this one entity would hit the gate.
pub fn may_open(facts: &Facts<'_>, id: &EntityId) -> bool {
    let service = match id.domain() {
        "lock" | "alarm_control_panel" | "valve" => return true,
        "cover" => "open_cover",
        "button" | "input_button" => "press",
        "scene" | "script" => "turn_on",
        "automation" => "trigger",
        "select" | "input_select" => "select_next",
        "siren" | "lawn_mower" | "water_heater" => return true,
        "number" | "text" | "input_number" | "input_text" => "set_value",
        "timer" => "start",
        "switch" | "light" | "fan" | "input_boolean" | "humidifier" | "remote" | "media_player" | "climate"
        | "vacuum" => "toggle",
        _ => return false,
    };
    let Some(row) = table::row(id.domain(), service) else { return false };
    let mut walk = Walk::new(facts, Origin::System);
    let data = Map::new();
    walk.entity(row.kind, &Action { domain: id.domain(), service, data: &data, templated: false }, id);
    !walk.reasons.is_empty()
}

/// Entities that may open something and that nobody has decided on, for the set-up check: those the
/// gate guards by a guess (a name, a relation, a button), and board relays beside a door.
pub fn proposals(facts: &Facts<'_>) -> Vec<(EntityId, &'static str)> {
    let mut out = Vec::new();
    let asked = |id: &EntityId| relay_domain(id.domain()) || id.domain() == "light";
    for (id, entity) in facts.house.entities.iter().filter(|(id, _)| asked(id)) {
        if facts.policy.guard.contains_key(id) || entity.info.disabled {
            continue;
        }
        let nameless = names::says_nothing(entity.info.names.first().map_or(id.object(), |name| name));
        let look = if relay_domain(id.domain()) { Look::Relay } else { Look::List };
        match own_guard(facts, id, entity, look) {
            Some(super::entity::Guarded::Relation(_)) => out.push((id.clone(), "relation")),
            Some(super::entity::Guarded::Named) => out.push((id.clone(), "name")),
            Some(_) => {}
            None if id.domain() == "button" && !entity.classes().any(|class| class == "identify") => {
                out.push((id.clone(), "button"))
            }
            None if beside_a_door(facts, entity.info.device_id.as_ref()) => out.push((id.clone(), "board")),
            None if nameless && matches!(id.domain(), "switch" | "light") => out.push((id.clone(), "nameless")),
            None if options_open(entity) => out.push((id.clone(), "options")),
            None => {}
        }
    }
    out
}

fn options_open(entity: &Entity) -> bool {
    let options = entity.attribute("options").and_then(Value::as_array);
    options.is_some_and(|options| options.iter().filter_map(Value::as_str).any(names::option_opens))
}

fn beside_a_door(facts: &Facts<'_>, device: Option<&std::sync::Arc<str>>) -> bool {
    let Some(ids) = device.and_then(|device| facts.house.index.by_device.get(device)) else { return false };
    let opens = |entity, other| super::entity::opens_house(facts, other, entity);
    ids.iter().any(|other| facts.house.entity(other.as_str()).is_some_and(|entity| opens(entity, other)))
}
