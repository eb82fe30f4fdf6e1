//! A house that dies, freezes, falls silent or was never one: a typed answer within ten seconds, the
//! next call works, nothing stale is shown as fresh, nothing is sent twice.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Interceptor, Mode, Pick, Proxy};

use super::client::Mcp;
use super::events::Events;
use super::houses::{TestHouse, each, raw, states};
use super::process::{Process, start_again};

/// The longest that any call may take, whatever happens.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// The longest wait for what a house does by itself.
const SOON: Duration = Duration::from_secs(20);
/// The demo's lock takes two seconds: time to break something in the middle of it.
const SLOW_LOCK: &str = "lock.kitchen_door";

fn lock(id: &str) -> Value {
    json!({"domain": "lock", "service": "lock", "entity_id": id})
}

fn look(id: &str) -> Value {
    json!({"query": id, "include_hidden": true})
}

/// The same house as seen through something that stands before it.
fn through(house: &TestHouse, url: &str) -> TestHouse {
    TestHouse { url: url.to_owned(), ..house.clone() }
}

/// One call, which must answer in time.
async fn told(mcp: &mut Mcp, tool: &str, arguments: Value) -> Value {
    let begun = Instant::now();
    let answer = mcp.tool(tool, arguments).await;
    assert!(begun.elapsed() < ANSWER_MAX, "{:?}: {answer:#}", begun.elapsed());
    answer
}

/// It failed, and says as what, from what cause, and what to do.
#[track_caller]
fn fails(answer: &Value, code: &str, causes: &[&str], advice: &str) {
    assert_eq!(answer["ok"], false, "{answer:#}");
    assert_eq!(answer["error"], code, "{answer:#}");
    assert!(causes.contains(&answer["cause"].as_str().unwrap_or_default()), "{causes:?}: {answer:#}");
    assert!(answer["message"].as_str().unwrap().contains(advice), "{advice}: {answer:#}");
}

/// What was sent and whose answer is lost, and nothing else is said of it.
#[track_caller]
fn unknown(answer: &Value) {
    assert_eq!(answer["ok"], false, "{answer:#}");
    assert_eq!(answer["outcomes"][0]["outcome"], "outcome_unknown", "{answer:#}");
    assert!(answer["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer:#}");
}

/// Reading while the house is away: the last picture, and marked as such.
async fn stale(mcp: &mut Mcp) {
    // A silence is noticed within ten seconds; a call that waited nine may have ended a moment before.
    let deadline = Instant::now() + Duration::from_secs(3);
    while told(mcp, "list_entities", look(SLOW_LOCK)).await["connected"] == true && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(100)).await; // until the deadline
    }
    for (tool, arguments) in [("list_entities", look(SLOW_LOCK)), ("home_overview", json!({}))] {
        let answer = told(mcp, tool, arguments).await;
        assert_eq!((&answer["connected"], &answer["stale"]), (&json!(false), &json!(true)), "{tool}: {answer:#}");
        assert!(answer["stale_note"].is_string(), "{answer:#}");
    }
}

/// Reads until the house is there again; every answer before that must be marked as stale or fail.
async fn fresh(mcp: &mut Mcp, id: &str) -> Value {
    let deadline = Instant::now() + SOON;
    loop {
        let answer = told(mcp, "list_entities", look(id)).await;
        if answer["ok"] == true && answer["stale"] == false {
            return answer["entities"][0]["state"].clone();
        }
        assert!(answer["ok"] == false || answer["stale"] == true, "{answer:#}");
        assert!(Instant::now() < deadline, "never there again: {answer:#}");
        tokio::time::sleep(Duration::from_millis(100)).await; // until the deadline
    }
}

/// Waits until the house has begun to carry it out.
async fn begun(events: &Events, service: &str, id: &str, since: Instant) {
    assert!(events.first(service, id, since, SOON).await.is_some(), "{service} {id} never reached the house");
}

async fn unlocked(house: &TestHouse) {
    let mut wire = house.wire().await;
    raw(&mut wire, "lock", "unlock", json!({"entity_id": SLOW_LOCK}), None).await.unwrap();
    assert_eq!(states(&mut wire).await[SLOW_LOCK]["state"], "unlocked");
}

/// Waits for the state at the house itself.
async fn settles(house: &TestHouse, id: &str, wanted: &str) {
    let mut wire = house.wire().await;
    let deadline = Instant::now() + SOON;
    loop {
        let now = states(&mut wire).await[id]["state"].clone();
        if now == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "{id} is {now}");
        tokio::time::sleep(Duration::from_millis(50)).await; // until the deadline
    }
}

#[test]
fn a_call_cut_off_is_unknown_and_never_sent_twice() {
    each("a_call_cut_off_is_unknown_and_never_sent_twice", async |house: &TestHouse| {
        house.reset().await;
        unlocked(house).await;
        let (proxy, events) = (Proxy::before(&house.url).await, Events::calls(house).await);
        let mut mcp = Mcp::start(&through(house, &proxy.url)).await;
        assert_eq!(fresh(&mut mcp, SLOW_LOCK).await, "unlocked");
        let sent = Instant::now();
        let cut = async {
            begun(&events, "lock", SLOW_LOCK, sent).await;
            proxy.set(Mode::Cut);
        };
        let (answer, ()) = tokio::join!(told(&mut mcp, "call_service", lock(SLOW_LOCK)), cut);
        unknown(&answer);
        stale(&mut mcp).await;
        let light = json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_light"});
        fails(
            &told(&mut mcp, "call_service", light.clone()).await,
            "unreachable",
            &["lost", "refused"],
            "read the state",
        );
        settles(house, SLOW_LOCK, "locked").await;
        proxy.set(Mode::Pass);
        assert_eq!(fresh(&mut mcp, SLOW_LOCK).await, "locked");
        assert_eq!(told(&mut mcp, "call_service", light).await["ok"], true);
        assert_eq!(events.of("lock", SLOW_LOCK).len(), 1, "sent twice");
        assert_eq!(events.of("turn_on", "light.bed_light").len(), 1, "what failed was sent later");
    });
}

#[test]
fn a_socket_that_swallows_is_a_typed_answer_and_the_call_ran_once() {
    each("a_socket_that_swallows_is_a_typed_answer_and_the_call_ran_once", async |house: &TestHouse| {
        house.reset().await;
        unlocked(house).await;
        let (proxy, events) = (Proxy::before(&house.url).await, Events::calls(house).await);
        let mut mcp = Mcp::start(&through(house, &proxy.url)).await;
        fresh(&mut mcp, SLOW_LOCK).await;
        // What is said to the house arrives; what it says is lost.
        proxy.set(Mode::Deaf);
        unknown(&told(&mut mcp, "call_service", lock(SLOW_LOCK)).await);
        stale(&mut mcp).await;
        let light = json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_light"});
        fails(&told(&mut mcp, "call_service", light).await, "unreachable", &["timeout"], "Check the network");
        proxy.set(Mode::Pass);
        assert_eq!(fresh(&mut mcp, SLOW_LOCK).await, "locked");
        assert_eq!(told(&mut mcp, "call_service", lock("lock.back_door")).await["ok"], true);
        assert_eq!(events.of("lock", SLOW_LOCK).len(), 1, "sent twice");
        assert!(events.of("turn_on", "light.bed_light").is_empty(), "what failed was sent later");
    });
}

#[test]
fn a_house_killed_in_the_middle_is_found_when_it_is_started_again() {
    each("a_house_killed_in_the_middle_is_found_when_it_is_started_again", async |house: &TestHouse| {
        let Some(process) = Process::of(house).await else {
            println!("left out: a house killed in the middle: {} runs in a container", house.version);
            return;
        };
        house.reset().await;
        unlocked(house).await;
        let events = Events::calls(house).await;
        let between = Interceptor::before(&house.url, |_| Pick::Pass).await;
        let mut mcp = Mcp::start(&through(house, &between.url)).await;
        fresh(&mut mcp, SLOW_LOCK).await;
        let sent = Instant::now();
        let kill = async {
            begun(&events, "lock", SLOW_LOCK, sent).await;
            process.kill();
        };
        let (answer, ()) = tokio::join!(told(&mut mcp, "call_service", lock(SLOW_LOCK)), kill);
        unknown(&answer);
        drop(process);
        stale(&mut mcp).await;
        let light = json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_light"});
        let dead = ["lost", "refused", "starting", "not_home_assistant"];
        fails(&told(&mut mcp, "call_service", light.clone()).await, "unreachable", &dead, "");
        start_again(house).await;
        fresh(&mut mcp, SLOW_LOCK).await;
        let answer = told(&mut mcp, "call_service", light).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        let services: Vec<_> =
            between.passed("call_service").iter().map(|passed| passed.command["service"].clone()).collect();
        assert_eq!(services, ["lock", "turn_on"], "what was sent, and in which order");
        house.reset().await;
    });
}

#[test]
fn a_house_that_is_started_again_while_nobody_calls_is_seen_as_it_now_is() {
    each("a_house_that_is_started_again_while_nobody_calls_is_seen_as_it_now_is", async |house: &TestHouse| {
        house.reset().await;
        let proxy = Proxy::before(&house.url).await;
        let mut mcp = Mcp::start(&through(house, &proxy.url)).await;
        assert_eq!(fresh(&mut mcp, "light.bed_light").await, "off");
        proxy.set(Mode::Cut);
        let mut wire = house.wire().await;
        raw(&mut wire, "light", "turn_on", json!({"entity_id": "light.bed_light"}), None).await.unwrap();
        proxy.set(Mode::Pass);
        assert_eq!(fresh(&mut mcp, "light.bed_light").await, "on", "an old state was shown as fresh");
        house.reset().await;
    });
}

#[test]
fn a_frozen_house_is_noticed_and_what_was_sent_to_it_runs_once() {
    each("a_frozen_house_is_noticed_and_what_was_sent_to_it_runs_once", async |house: &TestHouse| {
        let Some(process) = Process::of(house).await else {
            println!("left out: a frozen house: {} runs in a container", house.version);
            return;
        };
        house.reset().await;
        unlocked(house).await;
        let events = Events::calls(house).await;
        let mut mcp = Mcp::start(house).await;
        fresh(&mut mcp, SLOW_LOCK).await;
        process.freeze();
        unknown(&told(&mut mcp, "call_service", lock(SLOW_LOCK)).await);
        stale(&mut mcp).await;
        let light = json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_light"});
        fails(&told(&mut mcp, "call_service", light).await, "unreachable", &["timeout", "lost"], "");
        process.thaw();
        settles(house, SLOW_LOCK, "locked").await;
        assert_eq!(fresh(&mut mcp, SLOW_LOCK).await, "locked");
        assert_eq!(told(&mut mcp, "call_service", lock("lock.back_door")).await["ok"], true);
        assert_eq!(events.of("lock", SLOW_LOCK).len(), 1, "ran twice");
        assert!(events.of("turn_on", "light.bed_light").is_empty(), "what failed was sent later");
    });
}

/// A token that can be taken back.
async fn token(wire: &mut home::Wire, name: &str) -> String {
    let wanted = json!({"client_name": name, "lifespan": 1});
    wire.command("auth/long_lived_access_token", wanted).await.unwrap().as_str().unwrap().to_owned()
}

async fn take_back(wire: &mut home::Wire, name: &str) {
    let list = wire.command("auth/refresh_tokens", Value::Null).await.unwrap();
    for row in list.as_array().unwrap().iter().filter(|row| row["client_name"] == name) {
        wire.command("auth/delete_refresh_token", json!({"refresh_token_id": row["id"]})).await.unwrap();
    }
}

#[test]
fn a_token_taken_back_says_so_and_asks_for_a_new_one() {
    each("a_token_taken_back_says_so_and_asks_for_a_new_one", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        take_back(&mut wire, "short").await;
        let lent = TestHouse { token: token(&mut wire, "short").await, ..house.clone() };
        let mut mcp = Mcp::start(&lent).await;
        fresh(&mut mcp, SLOW_LOCK).await;
        take_back(&mut wire, "short").await;
        let deadline = Instant::now() + SOON;
        while told(&mut mcp, "list_entities", look(SLOW_LOCK)).await["stale"] != true {
            assert!(Instant::now() < deadline, "never noticed");
            tokio::time::sleep(Duration::from_millis(50)).await; // until the deadline
        }
        stale(&mut mcp).await;
        let answer = told(&mut mcp, "call_service", lock(SLOW_LOCK)).await;
        fails(&answer, "auth", &["invalid_token"], "long-lived access token");
        assert!(!answer.to_string().contains(&lent.token), "the token is in the answer");
        assert_eq!(told(&mut mcp, "call_service", lock(SLOW_LOCK)).await["error"], "auth");
    });
}

/// What may stand at an address before the house does.
enum Before {
    Nothing,
    Silence,
    SomethingElse,
}

async fn stand(before: &Before, port: u16) -> Option<tokio::task::JoinHandle<()>> {
    use tokio::io::AsyncWriteExt;
    let silent = matches!(before, Before::Silence);
    if matches!(before, Before::Nothing) {
        return None;
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    Some(tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut socket, _)) = listener.accept().await {
            if !silent {
                let page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                let _gone = socket.write_all(page).await;
            }
            held.push(socket);
        }
    }))
}

#[test]
fn a_wrong_address_is_named_and_a_house_that_comes_later_is_found() {
    each("a_wrong_address_is_named_and_a_house_that_comes_later_is_found", async |house: &TestHouse| {
        house.reset().await;
        for (before, cause, advice) in [
            (Before::Nothing, "refused", "port is right"),
            (Before::SomethingElse, "not_home_assistant", "Check address, port"),
            (Before::Silence, "timeout", "Check the network"),
        ] {
            let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
            let standing = stand(&before, port).await;
            let mut mcp = Mcp::start(&through(house, &format!("http://127.0.0.1:{port}"))).await;
            for (tool, arguments) in [("home_overview", json!({})), ("call_service", lock("lock.back_door"))] {
                fails(&told(&mut mcp, tool, arguments).await, "unreachable", &[cause], advice);
            }
            if let Some(standing) = standing {
                standing.abort();
                let _ended = standing.await;
            }
            let _proxy = Proxy::on_port(port, &house.url).await;
            fresh(&mut mcp, SLOW_LOCK).await;
            assert_eq!(told(&mut mcp, "call_service", lock("lock.back_door")).await["ok"], true);
        }
    });
}

#[test]
fn a_name_nobody_knows_and_a_house_without_tls_are_told_apart() {
    each("a_name_nobody_knows_and_a_house_without_tls_are_told_apart", async |house: &TestHouse| {
        let secure = house.url.replacen("http:", "https:", 1);
        for (url, cause, advice) in
            [("http://no-such-house.invalid:8123", "dns", "Check the spelling"), (&*secure, "tls", "http://")]
        {
            let mut mcp = Mcp::start(&through(house, url)).await;
            for (tool, arguments) in [("list_entities", json!({})), ("call_service", lock("lock.back_door"))] {
                fails(&told(&mut mcp, tool, arguments).await, "unreachable", &[cause], advice);
            }
        }
    });
}
