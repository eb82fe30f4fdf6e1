//! Macros that `HOME_ALLOWED_ENTITIES` names are pinned to the body that was there when they were
//! first read. Start at [`pin`]. Invariant: without a pin on disk, such a grant is not in force.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use decide::gate::{Policy, fingerprint};
use decide::house::{EntityId, House};

/// Pins the granted macros of this house, keeping earlier pins, and puts the hashes into the policy.
pub fn pin(house: &House, policy: &mut Policy, granted: &[EntityId], folder: &Path) -> Result<()> {
    let path = folder.join("pins.json");
    let mut pins: BTreeMap<EntityId, String> = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("cannot understand {}", path.display()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let before = pins.len();
    for id in granted.iter().filter(|id| is_macro(id)) {
        if house.bodies.of(id).is_some() {
            pins.entry(id.clone()).or_insert_with(|| fingerprint(house, id));
        }
        if let Some(grant) = policy.grants.get_mut(id) {
            grant.body = Some(pins.get(id).cloned().unwrap_or_default());
        }
    }
    if pins.len() > before {
        super::edit::write_private(&path, serde_json::to_string_pretty(&pins)?.as_bytes())?;
    }
    Ok(())
}

pub fn is_macro(id: &EntityId) -> bool {
    matches!(id.domain(), "scene" | "script" | "automation")
}
