//! What the client makes of a house that is starting, old, broken, lying or behind TLS.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use home::{Cause, Connection, Endpoint, ErrorCode, OutcomeKind, Settings, Tls};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio_rustls::TlsAcceptor;

use crate::fake::{FakeHouse, Script};
use crate::houses::{SOON, a_send, execute, id, only, permit, until};

#[tokio::test]
async fn a_house_that_is_starting_says_so_and_is_ready_when_it_runs() {
    let house = FakeHouse::start(Script { running: false, ..Script::default() }, None).await;
    let connection = Connection::start(house.settings());
    let error = connection.ready(Duration::from_millis(500)).await.unwrap_err();
    assert_eq!((error.code, error.cause), (ErrorCode::Unreachable, Some(Cause::Starting)));
    house.script.lock().unwrap().running = true;
    connection.ready(SOON).await.unwrap();
}

#[tokio::test]
async fn an_old_release_without_floors_and_labels_is_read_and_they_are_named() {
    let unknown = vec!["config/floor_registry/list", "config/label_registry/list"];
    let house = FakeHouse::start(Script { unknown, ..Script::default() }, None).await;
    let connection = Connection::start(house.settings());
    let picture = connection.ready(SOON).await.unwrap();
    assert!(picture.floors.is_empty());
    let unreadable: Vec<_> = connection.unreadable().into_iter().map(|(what, _)| what).collect();
    assert_eq!(unreadable, ["config/floor_registry/list", "config/label_registry/list"]);
}

#[tokio::test]
async fn a_list_that_fails_is_never_taken_for_an_empty_house() {
    let script = Script { broken: vec!["config/entity_registry/list"], ..Script::default() };
    let house = FakeHouse::start(script, None).await;
    let connection = Connection::start(house.settings());
    let error = connection.ready(Duration::from_secs(1)).await.unwrap_err();
    assert!(error.is(Cause::House), "{error}");
    assert!(!connection.house().readiness.registries);
    // The states are there for moves toward safety.
    assert!(connection.house().readiness.states);
    house.script.lock().unwrap().broken.clear();
    connection.ready(SOON).await.unwrap();
}

#[tokio::test]
async fn a_token_that_is_revoked_is_an_auth_error_at_the_next_connection() {
    let house = FakeHouse::start(Script::default(), None).await;
    let connection = Connection::start(house.settings());
    connection.ready(SOON).await.unwrap();
    house.script.lock().unwrap().token_is_good = false;
    house.hang_up();
    until(&connection, "the end", |house| !house.readiness.connected).await;
    let error = connection.ready(SOON).await.unwrap_err();
    assert_eq!((error.code, error.cause), (ErrorCode::Auth, Some(Cause::InvalidToken)));
}

#[tokio::test]
async fn an_error_of_the_house_does_not_hide_that_it_moved() {
    let change = json!({ "c": { "light.a": { "+": { "s": "on", "lc": 2.0 } } } });
    let house = FakeHouse::start(Script { on_call: Some((change, true)), ..Script::default() }, None).await;
    let connection = Connection::start(house.settings());
    connection.ready(SOON).await.unwrap();
    let receipt = execute(&connection, "light.turn_on", &["light.a"], json!({})).await;
    assert_eq!(only(&receipt).outcome, OutcomeKind::Confirmed, "{receipt:?}");
    assert_eq!(receipt.error, None);
    // The other way round: it answers well, and nothing moves.
    house.script.lock().unwrap().on_call = None;
    let receipt = execute(&connection, "light.turn_off", &["light.a"], json!({})).await;
    assert_eq!(only(&receipt).outcome, OutcomeKind::NotConfirmed, "{receipt:?}");
    assert_eq!(only(&receipt).state.as_deref(), Some("on"));
    // And it errs, and nothing moves.
    house.script.lock().unwrap().on_call = Some((json!({}), true));
    let receipt = execute(&connection, "light.turn_off", &["light.a"], json!({})).await;
    assert_eq!(only(&receipt).outcome, OutcomeKind::Failed, "{receipt:?}");
    assert!(receipt.error.is_some());
}

#[tokio::test]
async fn an_unavailable_and_an_assumed_entity_are_answered_as_such() {
    let states = json!({
        "light.a": { "s": "unavailable", "a": {}, "lc": 1.0 },
        "switch.rf": { "s": "off", "a": { "assumed_state": true }, "lc": 1.0 },
    });
    let change = json!({ "c": { "switch.rf": { "+": { "s": "on", "lc": 2.0 } } } });
    let house = FakeHouse::start(Script { states, on_call: Some((change, false)), ..Script::default() }, None).await;
    let connection = Connection::start(house.settings());
    connection.ready(SOON).await.unwrap();
    let started = Instant::now();
    let receipt = execute(&connection, "homeassistant.turn_on", &["light.a", "switch.rf"], json!({})).await;
    let kinds: Vec<_> = receipt.outcomes.iter().map(|outcome| outcome.outcome).collect();
    assert_eq!(kinds, [OutcomeKind::Unavailable, OutcomeKind::Assumed]);
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn two_equal_commands_to_a_garage_are_sent_once_while_its_sensor_lags() {
    let states = json!({ "cover.garage": { "s": "open", "a": { "device_class": "garage" }, "lc": 1.0 } });
    let house = FakeHouse::start(Script { states, ..Script::default() }, None).await;
    let connection = Connection::start(house.settings());
    connection.ready(SOON).await.unwrap();
    let close = || permit(vec![a_send("cover.close_cover", &["cover.garage"], json!({}))]);
    let closed = async {
        until(&connection, "the command", |_| house.script.lock().unwrap().count("call_service") > 0).await;
        assert!(connection.in_flight().closing.contains(&id("cover.garage")));
        house.push(
            r#"{"id":ID,"type":"event","event":{"c":{"cover.garage":{"+":{"s":"closed","lc":2.0}}}}}"#.to_owned(),
        );
    };
    let (one, two, ()) = tokio::join!(connection.execute(close()), connection.execute(close()), closed);
    assert_eq!((only(&one).outcome, only(&two).outcome), (OutcomeKind::Confirmed, OutcomeKind::Confirmed));
    assert_eq!(house.script.lock().unwrap().count("call_service"), 1);
    let left = connection.in_flight();
    assert!(left.closing.is_empty() && left.otherwise.is_empty());
}

#[tokio::test]
async fn a_message_larger_than_any_usual_limit_is_read() {
    let house = FakeHouse::start(Script::default(), None).await;
    let connection = Connection::start(house.settings());
    connection.ready(SOON).await.unwrap();
    let long = "x".repeat(70 << 20);
    house.push(format!(
        r#"{{"id":ID,"type":"event","event":{{"c":{{"light.a":{{"+":{{"a":{{"long":"{long}"}},"lu":2.0}}}}}}}}}}"#
    ));
    until(&connection, "the long attribute", |house| house.entity("light.a").unwrap().attribute("long").is_some())
        .await;
}

#[tokio::test]
async fn an_entity_is_registered_renamed_and_removed() {
    let entry = |id: &str| json!({ "entity_id": id, "unique_id": "1", "name": "Lamp", "aliases": ["灯"] });
    let house = FakeHouse::start(Script { entries: vec![entry("light.a")], ..Script::default() }, None).await;
    let connection = Connection::start(house.settings());
    let picture = connection.ready(SOON).await.unwrap();
    let names: Vec<_> = picture.entity("light.a").unwrap().info.names.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Lamp", "A", "灯"]);
    let subscription = {
        let script = house.script.lock().unwrap();
        let found = script.received.iter().find(|command| command["event_type"] == "entity_registry_updated");
        found.unwrap()["id"].clone()
    };
    let renamed = json!({ "id": subscription, "type": "event", "event": { "data":
        { "action": "update", "entity_id": "light.b", "old_entity_id": "light.a" } } });
    house.script.lock().unwrap().entries = vec![entry("light.b")];
    house.push(renamed.to_string());
    until(&connection, "the new id", |house| {
        house.entity("light.b").is_some_and(|entity| entity.state.is_none() && !entity.info.names.is_empty())
            && house.entity("light.a").unwrap().info.unique_id.is_none()
    })
    .await;
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/live/tls").join(name)
}

/// The key in `tls/` is for tests alone and opens nothing.
fn acceptor() -> TlsAcceptor {
    let chain: Vec<_> = CertificateDer::pem_file_iter(file("house.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(file("house.key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap()))
}

#[tokio::test]
async fn a_certificate_is_trusted_by_its_ca_file_or_not_at_all_by_socket_and_rest_alike() {
    let house = FakeHouse::start(Script::default(), Some(acceptor())).await;
    for (tls, trusted) in [(Tls::CaFile(file("ca.pem")), true), (Tls::Insecure, true), (Tls::SystemRoots, false)] {
        let connection = Connection::start(Settings { tls: tls.clone(), ..house.settings() });
        let ready = connection.ready(SOON).await;
        let endpoint = Endpoint::parse(&house.url, tls.clone()).unwrap();
        let rest = endpoint.http_client().unwrap().get(endpoint.http_url("/api/")).send().await;
        assert_eq!(rest.is_ok(), trusted, "{tls:?} {rest:?}");
        match ready {
            Ok(_) => assert!(trusted, "{tls:?}"),
            Err(error) => assert!(!trusted && error.is(Cause::Tls), "{tls:?} {error}"),
        }
    }
}
