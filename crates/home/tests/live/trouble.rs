//! A house that dies, freezes, goes deaf or was never one.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use home::{Cause, Connection, ErrorCode, OutcomeKind, Settings};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::houses::{SOON, call, each_house, execute, moving, only, state, until};
use testkit::{Mode, Proxy};

#[tokio::test]
async fn a_frozen_house_is_noticed_within_ten_seconds_and_is_there_again_when_it_thaws() {
    for real in each_house("a_frozen_house_is_noticed_within_ten_seconds_and_is_there_again_when_it_thaws") {
        let proxy = Proxy::before(&real.base_url).await;
        let connection = Connection::start(Settings { url: Some(proxy.url.clone()), ..real.settings() });
        connection.ready(SOON).await.unwrap();
        proxy.set(Mode::Frozen);
        let started = Instant::now();
        until(&connection, "the house is gone", |house| !house.readiness.connected).await;
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        assert_eq!(connection.last_error().unwrap().cause, Some(Cause::Timeout));
        // What was known is still there, and marked.
        assert!(connection.house().entity("light.bed_light").is_some());
        proxy.set(Mode::Pass);
        connection.ready(SOON).await.unwrap();
    }
}

#[tokio::test]
async fn a_call_whose_answer_is_lost_is_unknown_and_never_sent_twice() {
    for real in each_house("a_call_whose_answer_is_lost_is_unknown_and_never_sent_twice") {
        let _turn = moving().await;
        let mut wire = real.wire().await;
        let proxy = Proxy::before(&real.base_url).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let settings = Settings { url: Some(proxy.url.clone()), audit_path: Some(path.clone()), ..real.settings() };
        let connection = Connection::start(settings);
        let house = connection.ready(SOON).await.unwrap();
        let (number, _) = house.domain("input_number").next().unwrap();
        let number = number.to_string();
        call(
            &mut wire,
            "input_number.set_value",
            &number,
            json!({ "value": house.entity(&number).unwrap().attribute("min") }),
        )
        .await;
        let before: f64 = state(&mut wire, &number).await.0.parse().unwrap();
        proxy.set(Mode::Deaf);
        let started = Instant::now();
        let receipt = execute(&connection, "input_number.increment", &[&number], json!({})).await;
        assert!(started.elapsed() < Duration::from_millis(10_500), "{:?}", started.elapsed());
        assert_eq!(only(&receipt).outcome, OutcomeKind::OutcomeUnknown, "{receipt:?}");
        assert!(receipt.error.is_some());
        proxy.set(Mode::Pass);
        connection.ready(SOON).await.unwrap();
        let step = house.entity(&number).unwrap().attribute("step").and_then(|step| step.as_f64()).unwrap();
        let after: f64 = state(&mut wire, &number).await.0.parse().unwrap();
        assert_eq!(after, before + step, "moved exactly once");
        let deadline = Instant::now() + SOON * 2;
        while !std::fs::read_to_string(&path).unwrap().contains("read_back") {
            assert!(Instant::now() < deadline, "never read back");
            tokio::time::sleep(Duration::from_millis(50)).await; // until the deadline
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_comes_back_with_what_changed_meanwhile() {
    for real in each_house("a_connection_that_is_cut_comes_back_with_what_changed_meanwhile") {
        let _turn = moving().await;
        let mut wire = real.wire().await;
        call(&mut wire, "light.turn_on", "light.ceiling_lights", json!({})).await;
        let proxy = Proxy::before(&real.base_url).await;
        let connection = Connection::start(Settings { url: Some(proxy.url.clone()), ..real.settings() });
        connection.ready(SOON).await.unwrap();
        proxy.set(Mode::Cut);
        until(&connection, "the cut", |house| !house.readiness.connected).await;
        let receipt = execute(&connection, "light.turn_on", &["light.ceiling_lights"], json!({})).await;
        assert_eq!(only(&receipt).outcome, OutcomeKind::Failed);
        assert_eq!(receipt.error.unwrap().code, ErrorCode::Unreachable);
        assert_eq!(connection.ready(SOON).await.unwrap_err().code, ErrorCode::Unreachable);
        call(&mut wire, "light.turn_off", "light.ceiling_lights", json!({})).await;
        proxy.set(Mode::Pass);
        let house = connection.ready(SOON).await.unwrap();
        assert_eq!(house.entity("light.ceiling_lights").unwrap().value(), Some("off"));
        assert!(proxy.accepted.load(Ordering::Relaxed) >= 2);
        call(&mut wire, "light.turn_on", "light.ceiling_lights", json!({})).await;
        until(&connection, "pushes after the cut", |house| {
            house.entity("light.ceiling_lights").unwrap().value() == Some("on")
        })
        .await;
    }
}

#[tokio::test]
async fn a_socket_that_only_accepts_is_a_timeout_within_ten_seconds() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let token = Some(home::Token::new("x"));
    let connection = Connection::start(Settings { url: Some(url), token, ..Settings::default() });
    let started = Instant::now();
    let error = connection.ready(Duration::from_secs(20)).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!((error.code, error.cause), (ErrorCode::Unreachable, Some(Cause::Timeout)));
}

#[tokio::test]
async fn what_is_not_home_assistant_is_named_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _gone = socket.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await;
        }
    });
    let token = Some(home::Token::new("x"));
    let connection = Connection::start(Settings { url: Some(url.clone()), token, ..Settings::default() });
    let error = connection.ready(SOON).await.unwrap_err();
    assert_eq!(error.cause, Some(Cause::NotHomeAssistant));
    assert!(error.message.contains("404"), "{error}");
    let secure = url.replace("http:", "https:");
    let connection =
        Connection::start(Settings { url: Some(secure), token: Some(home::Token::new("x")), ..Settings::default() });
    assert_eq!(connection.ready(SOON).await.unwrap_err().cause, Some(Cause::Tls));
}

#[tokio::test]
async fn a_missing_address_a_missing_token_and_an_unknown_name_say_what_to_do() {
    let ready = async |settings: Settings| Connection::start(settings).ready(SOON).await.unwrap_err();
    let error = ready(Settings::default()).await;
    assert_eq!((error.code, error.cause), (ErrorCode::BadUrl, Some(Cause::Missing)));
    let url = Some("http://127.0.0.1:9".to_owned());
    let error = ready(Settings { url, ..Settings::default() }).await;
    assert_eq!((error.code, error.cause), (ErrorCode::Auth, Some(Cause::Missing)));
    let url = Some("http://no-such-house.invalid:8123".to_owned());
    let error = ready(Settings { url, token: Some(home::Token::new("x")), ..Settings::default() }).await;
    assert_eq!((error.code, error.cause), (ErrorCode::Unreachable, Some(Cause::Dns)));
}
