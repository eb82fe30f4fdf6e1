//! Toward safety: sent at once, whatever else is broken.

use serde_json::json;

use super::client::Mcp;
use super::houses::{TestHouse, each, raw, states};

#[test]
fn a_broken_configuration_does_not_keep_a_door_from_being_locked() {
    each("a_broken_configuration_does_not_keep_a_door_from_being_locked", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        raw(&mut wire, "lock", "unlock", json!({"entity_id": "lock.back_door"}), None).await.unwrap();
        let mut mcp = Mcp::start_with(house, &[], "[gate.grants\nthis is broken").await;
        let open = mcp
            .tool("call_service", json!({"domain": "lock", "service": "unlock", "entity_id": "lock.kitchen_door"}))
            .await;
        assert_ne!(open["ok"], true, "{open:#}");
        let light = mcp
            .tool("call_service", json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_light"}))
            .await;
        assert_ne!(light["ok"], true, "{light:#}");
        let answer =
            mcp.tool("call_service", json!({"domain": "lock", "service": "lock", "entity_id": "lock.back_door"})).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert_eq!(states(&mut wire).await["lock.back_door"]["state"], "locked");
        house.reset().await;
    });
}

#[test]
fn a_full_disk_does_not_keep_a_door_from_being_locked() {
    each("a_full_disk_does_not_keep_a_door_from_being_locked", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        raw(&mut wire, "lock", "unlock", json!({"entity_id": "lock.back_door"}), None).await.unwrap();
        // Every write to this device fails as a full disk does.
        let mut mcp = Mcp::start_with(house, &[], "[audit]\npath = \"/dev/full\"\n").await;
        let light = mcp
            .tool("call_service", json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_light"}))
            .await;
        assert_ne!(light["ok"], true, "{light:#}");
        let answer =
            mcp.tool("call_service", json!({"domain": "lock", "service": "lock", "entity_id": "lock.back_door"})).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert_eq!(states(&mut wire).await["lock.back_door"]["state"], "locked");
        house.reset().await;
    });
}
