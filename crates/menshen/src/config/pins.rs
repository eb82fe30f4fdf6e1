//! Macros that are granted without a hash (`HOME_ALLOWED_ENTITIES`, or by hand in the file) are pinned
//! to the body that was there when they were first read. Start at [`pin`]. Invariant: without a pin on disk, such a grant is not in force; what
//! cannot be read is not pinned.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use decide::gate::{Policy, fingerprint};
use decide::house::{EntityId, House};

const FILE: &str = "pins.json";

/// Pins the granted macros of this house, keeping earlier pins, and puts the hashes into the policy.
/// Gives those back that could not be pinned, since they cannot be read.
pub fn pin(house: &House, policy: &mut Policy, granted: &[EntityId], folder: &Path) -> Result<Vec<EntityId>> {
    let path = folder.join(FILE);
    let mut pins = read(&path)?;
    let (before, mut unread) = (pins.len(), Vec::new());
    for id in granted.iter().filter(|id| is_macro(id)) {
        if house.bodies.of(id).is_some() {
            match fingerprint(house, id) {
                Some(seen) => _ = pins.entry(id.clone()).or_insert(seen),
                None => unread.push(id.clone()),
            }
        }
        if let Some(grant) = policy.grants.get_mut(id) {
            grant.body = Some(pins.get(id).cloned().unwrap_or_default());
        }
    }
    if pins.len() > before {
        super::edit::write_private(&path, serde_json::to_string_pretty(&pins)?.as_bytes())?;
    }
    Ok(unread)
}

/// Puts the pins that there are into the policy, for looking at it: nothing is written, and what is not
/// pinned yet would be pinned to what it does now.
pub fn known(policy: &mut Policy, granted: &[EntityId], folder: &Path) -> Result<()> {
    let pins = read(&folder.join(FILE))?;
    for id in granted {
        if let (Some(grant), Some(seen)) = (policy.grants.get_mut(id), pins.get(id)) {
            grant.body = Some(seen.clone());
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<BTreeMap<EntityId, String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("cannot understand {}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

pub fn is_macro(id: &EntityId) -> bool {
    matches!(id.domain(), "scene" | "script" | "automation")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use decide::gate::{Call, Facts, InFlight, Origin, Verdict, judge};
    use decide::house::Body;
    use serde_json::json;

    use super::*;

    fn runs(house: &House, policy: &Policy, id: &EntityId) -> Verdict {
        let data = json!({"entity_id": id}).as_object().cloned().unwrap();
        let call = Call { domain: id.domain().into(), service: "turn_on".into(), data, target: None };
        let in_flight = InFlight::default();
        judge(&Facts { house, policy, in_flight: &in_flight, now: 0 }, Origin::Model, &call).unwrap().verdict
    }

    fn with_body(id: &EntityId, body: Body) -> House {
        let mut house = testkit::family().build();
        let mut bodies = (*house.bodies).clone();
        bodies.scripts.insert(id.clone(), body);
        house.bodies = Arc::new(bodies);
        house.reindexed()
    }

    fn opening(entity: &str) -> Body {
        let step = json!({"service": "lock.unlock", "target": {"entity_id": entity}});
        Body::Config(Arc::new(json!({"sequence": [step]})))
    }

    #[test]
    fn a_granted_macro_runs_as_it_was_first_read_and_never_unread() {
        let folder = tempfile::tempdir().unwrap();
        let id = EntityId::parse("script.welcome").unwrap();
        let pinned = |house: &House, folder: &Path| {
            let mut policy = Policy::default();
            policy.grants.entry(id.clone()).or_default();
            let unread = pin(house, &mut policy, std::slice::from_ref(&id), folder).unwrap();
            (runs(house, &policy, &id), unread.len())
        };
        // Not read: neither in force nor pinned, so that reading it later pins it.
        let unread = with_body(&id, Body::Unreadable("unauthorized".into()));
        assert_eq!(pinned(&unread, folder.path()), (Verdict::Ask, 1));
        let first = with_body(&id, opening("lock.front_door"));
        assert_eq!(pinned(&first, folder.path()), (Verdict::Allow, 0));
        let other = with_body(&id, opening("lock.back_door"));
        assert_eq!(pinned(&other, folder.path()), (Verdict::Ask, 0));
        // Who only looks is told the same.
        let mut looked = Policy::default();
        looked.grants.entry(id.clone()).or_default();
        known(&mut looked, std::slice::from_ref(&id), folder.path()).unwrap();
        assert_eq!((runs(&first, &looked, &id), runs(&other, &looked, &id)), (Verdict::Allow, Verdict::Ask));
        assert_eq!(pinned(&unread, folder.path()).0, Verdict::Ask);
        assert_eq!(pinned(&first, folder.path()), (Verdict::Allow, 0));
        // A pin of nothing, as earlier versions wrote it.
        let nothing = tempfile::tempdir().unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        std::fs::write(nothing.path().join("pins.json"), json!({"script.welcome": empty}).to_string()).unwrap();
        assert_eq!(pinned(&unread, nothing.path()).0, Verdict::Ask);
        assert_eq!(pinned(&other, nothing.path()).0, Verdict::Ask);
    }
}
