//! Against real houses, named by `MENSHEN_HOUSES`. Without one, each test says what it left out.

mod houses;

use std::time::Duration;

use decide::house::Body;
use home::{Cause, Connection, Endpoint, ErrorCode, Tls, Token, Wire};
use houses::each_house;
use serde_json::json;

#[tokio::test]
async fn a_plain_wire_opens_and_answers() {
    for house in each_house("a_plain_wire_opens_and_answers") {
        let mut wire = Wire::open(&house.endpoint(), &house.token).await.unwrap();
        assert_eq!(wire.version(), house.version);
        let states = wire.command("get_states", json!({})).await.unwrap();
        assert!(states.as_array().unwrap().len() > 50);
        let error = wire.command("no/such/command", json!({})).await.unwrap_err();
        assert!(error.is(Cause::UnknownCommand), "{error}");
    }
}

#[tokio::test]
async fn a_bad_token_is_an_auth_error_and_a_closed_port_is_refused() {
    for house in each_house("a_bad_token_is_an_auth_error_and_a_closed_port_is_refused") {
        let error = Wire::open(&house.endpoint(), &Token::new("nonsense")).await.err().unwrap();
        assert_eq!((error.code, error.cause), (ErrorCode::Auth, Some(Cause::InvalidToken)));
        let closed = Endpoint::parse("http://127.0.0.1:9", Tls::SystemRoots).unwrap();
        let error = Wire::open(&closed, &house.token).await.err().unwrap();
        assert_eq!((error.code, error.cause), (ErrorCode::Unreachable, Some(Cause::Refused)));
    }
}

#[tokio::test]
async fn a_house_is_read_as_a_whole() {
    for real in each_house("a_house_is_read_as_a_whole") {
        let connection = Connection::start(real.settings());
        let started = std::time::Instant::now();
        let house = connection.ready(Duration::from_secs(20)).await.unwrap();
        println!("{} ready in {:?}; unreadable {:?}", real.version, started.elapsed(), connection.unreadable());
        assert_eq!(&*house.version, real.version);
        assert_eq!(house.units.temperature.as_deref(), Some("°C"));
        let (_, lock) = house.entities.get_key_value("lock.back_door").unwrap();
        assert_eq!(lock.info.platform.as_deref(), Some("template"));
        assert_eq!(house.area_of(lock).unwrap().1.name.as_ref(), "Entrance");
        let scene = house.bodies.scenes.get("scene.wan_an").unwrap();
        assert!(matches!(scene, Body::Config(_)), "{scene:?}");
        connection.close().await;
        assert!(!connection.house().readiness.connected);
    }
}
