//! What a permit does to a real house, seen again over a second connection.

use std::time::{Duration, Instant};

use decide::gate::{self, Call, Facts, Origin, Policy};
use home::{Cause, Connection, OutcomeKind, Settings, Token};
use serde_json::{Value, json};

use crate::houses::{a_send, call, each_house, execute, id, moving, only, permit, state};

#[tokio::test]
async fn a_light_is_lit_as_asked_and_the_reader_sees_it_at_once() {
    for real in each_house("a_light_is_lit_as_asked_and_the_reader_sees_it_at_once") {
        let _turn = moving().await;
        let connection = real.connect().await;
        let mut wire = real.wire().await;
        call(&mut wire, "light.turn_off", "light.bed_light", json!({})).await;
        let receipt =
            execute(&connection, "light.turn_on", &["light.bed_light"], json!({ "brightness_pct": 40 })).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
        assert_eq!(connection.house().entity("light.bed_light").unwrap().value(), Some("on"));
        let (value, attributes) = state(&mut wire, "light.bed_light").await;
        assert_eq!((value.as_str(), attributes["brightness"].as_f64()), ("on", Some(102.0)));
        // Asked again, nothing changes, and that is confirmed too.
        let started = Instant::now();
        let receipt =
            execute(&connection, "light.turn_on", &["light.bed_light"], json!({ "brightness_pct": 40 })).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test]
async fn what_the_gate_allows_goes_through_and_a_lock_is_locked() {
    for real in each_house("what_the_gate_allows_goes_through_and_a_lock_is_locked") {
        let _turn = moving().await;
        let connection = real.connect().await;
        let mut wire = real.wire().await;
        call(&mut wire, "lock.unlock", "lock.back_door", json!({})).await;
        crate::houses::until(&connection, "the open lock", |house| {
            house.entity("lock.back_door").unwrap().value() == Some("unlocked")
        })
        .await;
        let house = connection.house();
        let policy = Policy::default();
        let in_flight = connection.in_flight();
        let facts = Facts { house: &house, policy: &policy, in_flight: &in_flight, now: 0 };
        let lock = |service: &str| Call {
            domain: "lock".into(),
            service: service.into(),
            data: json!({ "entity_id": "lock.back_door" }).as_object().cloned().unwrap(),
            target: None,
        };
        let refused = gate::judge(&facts, Origin::Model, &lock("unlock")).unwrap().permit(Origin::Model);
        assert!(refused.is_err());
        let permit = gate::judge(&facts, Origin::Model, &lock("lock")).unwrap().permit(Origin::Model).unwrap();
        let receipt = connection.execute(permit).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
        assert_eq!(state(&mut wire, "lock.back_door").await.0, "locked");
    }
}

#[tokio::test]
async fn what_has_no_state_is_accepted_and_what_the_house_refuses_has_failed() {
    for real in each_house("what_has_no_state_is_accepted_and_what_the_house_refuses_has_failed") {
        let _turn = moving().await;
        let connection = real.connect().await;
        for (service, entity) in [("scene.turn_on", "scene.movie_time"), ("script.turn_on", "script.movie_time")] {
            let receipt = execute(&connection, service, &[entity], json!({})).await;
            assert_eq!(only(&receipt).outcome, OutcomeKind::Accepted, "{receipt:?}");
            assert_eq!(receipt.error, None);
        }
        let receipt = execute(&connection, "script.movie_time", &[], json!({})).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Accepted, "{receipt:?}");
        let started = Instant::now();
        let receipt =
            execute(&connection, "light.turn_on", &["light.bed_light"], json!({ "brightness_pct": 4000 })).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Failed, "{receipt:?}");
        assert!(receipt.error.unwrap().is(Cause::House));
        let receipt = execute(&connection, "no_such.service", &["light.bed_light"], json!({})).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Failed, "{receipt:?}");
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test]
async fn numbers_covers_and_targets_are_confirmed_by_their_attributes() {
    for real in each_house("numbers_covers_and_targets_are_confirmed_by_their_attributes") {
        let _turn = moving().await;
        let connection = real.connect().await;
        let cases = [
            ("climate.set_temperature", "climate.heatpump", json!({ "temperature": 21 })),
            ("fan.set_percentage", "fan.living_room_fan", json!({ "percentage": 33 })),
            ("media_player.volume_set", "media_player.walkman", json!({ "volume_level": 0.4 })),
            ("cover.set_cover_position", "cover.hall_window", json!({ "position": 20 })),
            ("cover.close_cover", "cover.living_room_window", json!({})),
        ];
        for (service, entity, data) in cases {
            let receipt = execute(&connection, service, &[entity], data).await;
            assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{service} {receipt:?}");
        }
        let left = connection.in_flight();
        assert!(left.closing.is_empty() && left.otherwise.is_empty());
    }
}

#[tokio::test]
async fn a_service_that_answers_gives_its_answer() {
    for real in each_house("a_service_that_answers_gives_its_answer") {
        let connection = real.connect().await;
        let weather = connection.house().domain("weather").next().map(|(id, _)| id.to_string()).unwrap();
        let receipt = execute(&connection, "weather.get_forecasts", &[&weather], json!({ "type": "daily" })).await;
        assert!(receipt.responses[0][&weather]["forecast"].is_array(), "{receipt:?}");
        assert_eq!(only(&receipt).outcome, OutcomeKind::Accepted);
    }
}

#[tokio::test]
async fn a_code_is_put_in_when_the_call_goes_out_and_stands_in_no_log() {
    for real in each_house("a_code_is_put_in_when_the_call_goes_out_and_stands_in_no_log") {
        let _turn = moving().await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut settings = real.settings();
        settings.audit_path = Some(path.clone());
        settings.codes.insert(id("alarm_control_panel.coded_alarm"), Token::new("4321"));
        let connection = Connection::start(settings);
        connection.ready(crate::houses::SOON).await.unwrap();
        let panel = "alarm_control_panel.coded_alarm";
        let armed = execute(&connection, "alarm_control_panel.alarm_arm_away", &[panel], json!({})).await;
        assert_eq!(only(&armed).outcome, OutcomeKind::Confirmed, "{armed:?}");
        let receipt = execute(&connection, "alarm_control_panel.alarm_disarm", &[panel], json!({})).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
        connection.close().await;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("4321"), "{text}");
        let checked = home::audit::verify(text.as_bytes(), None);
        assert_eq!((checked.lines, checked.flaws.len()), (4, 0), "{text}");
        let kinds: Vec<_> =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone()).collect();
        assert_eq!(kinds, ["intent", "result", "intent", "result"]);
    }
}

#[tokio::test]
async fn with_a_full_disk_only_moves_toward_safety_go_out() {
    for real in each_house("with_a_full_disk_only_moves_toward_safety_go_out") {
        let _turn = moving().await;
        let settings = Settings { audit_path: Some("/dev/full/audit.jsonl".into()), ..real.settings() };
        let connection = Connection::start(settings);
        connection.ready(crate::houses::SOON).await.unwrap();
        let mut wire = real.wire().await;
        call(&mut wire, "lock.unlock", "lock.back_door", json!({})).await;
        call(&mut wire, "light.turn_off", "light.bed_light", json!({})).await;
        let mut lock = a_send("lock.lock", &["lock.back_door"], json!({}));
        lock.toward_safety = true;
        let receipt =
            connection.execute(permit(vec![a_send("light.turn_on", &["light.bed_light"], json!({})), lock])).await;
        let outcome = |entity: &str| receipt.outcomes.iter().find(|o| o.entity_id == id(entity)).unwrap().outcome;
        assert_eq!(outcome("light.bed_light"), OutcomeKind::Failed);
        assert_eq!(outcome("lock.back_door"), OutcomeKind::Confirmed, "{receipt:?}");
        assert!(receipt.error.unwrap().is(Cause::Audit));
        assert_eq!(state(&mut wire, "lock.back_door").await.0, "locked");
        assert_eq!(state(&mut wire, "light.bed_light").await.0, "off");
    }
}

#[tokio::test]
async fn a_lock_is_locked_before_anything_has_been_read() {
    for real in each_house("a_lock_is_locked_before_anything_has_been_read") {
        let _turn = moving().await;
        let mut wire = real.wire().await;
        call(&mut wire, "lock.unlock", "lock.back_door", json!({})).await;
        let connection = Connection::start(real.settings());
        let mut lock = a_send("lock.lock", &["lock.back_door"], json!({}));
        lock.toward_safety = true;
        let receipt = connection.execute(permit(vec![lock])).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
        assert_eq!(state(&mut wire, "lock.back_door").await.0, "locked");
    }
}

#[tokio::test]
async fn a_script_that_takes_long_is_accepted_without_waiting_for_its_end() {
    for real in each_house("a_script_that_takes_long_is_accepted_without_waiting_for_its_end") {
        let _turn = moving().await;
        let connection = real.connect().await;
        let slow = json!({ "alias": "Slow test", "sequence": [{ "delay": 30 }] });
        real.rest("POST", "/api/config/script/config/slow_test", slow).await;
        crate::houses::until(&connection, "the script", |house| house.bodies.scripts.contains_key("script.slow_test"))
            .await;
        let started = Instant::now();
        let receipt = execute(&connection, "script.slow_test", &[], json!({})).await;
        assert_eq!((only(&receipt).outcome, &receipt.error), (OutcomeKind::Accepted, &None), "{receipt:?}");
        assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
        let receipt = execute(&connection, "script.turn_off", &["script.slow_test"], json!({})).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
        real.rest("DELETE", "/api/config/script/config/slow_test", Value::Null).await;
    }
}
