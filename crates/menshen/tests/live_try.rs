//! `menshen try` on real houses: what is typed moves what it says, and opens nothing.
//!
//! Start at [`what_is_typed_moves_what_it_says_and_opens_nothing`]. `MENSHEN_HOUSES` lists the
//! houses; without one the test says that it was left out. State is read over a second connection.

#![allow(clippy::unwrap_used, reason = "the lint knows test functions, but not what they call")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use home::{Endpoint, Tls, Token, Wire};
use serde_json::{Value, json};

struct TestHouse {
    url: String,
    token: String,
    name: String,
}

impl TestHouse {
    fn menshen(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_menshen"));
        command.args(["try", "--language", "en", "--url", &self.url]).env("HOME_ASSISTANT_TOKEN", &self.token);
        command.env("MENSHEN_CONFIG", "/dev/null").env_remove("HOME_ALLOWED_ENTITIES");
        command
    }

    /// One object for each sentence.
    fn tried(&self, sentences: &[&str]) -> (Vec<Value>, Option<i32>) {
        let output = self.menshen().arg("--json").args(sentences).output().unwrap();
        (lines(&output), output.status.code())
    }

    fn reset(&self) {
        let output = Command::new(env!("CARGO_BIN_EXE_menshen"))
            .args(["home", "reset", "--name", &self.name, "--json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "reset: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn state(&self, id: &str) -> Value {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let endpoint = Endpoint::parse(&self.url, Tls::SystemRoots).unwrap();
            let mut wire = Wire::open(&endpoint, &Token::new(&self.token)).await.unwrap();
            let states = wire.command("get_states", json!({})).await.unwrap();
            let all = states.as_array().unwrap();
            all.iter().find(|state| state["entity_id"] == id).cloned().unwrap_or_else(|| panic!("no {id}"))
        })
    }
}

fn houses() -> Vec<TestHouse> {
    let list = std::env::var("MENSHEN_HOUSES").unwrap_or_default();
    let read = |file: &str| {
        let json: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let text = |key: &str| json[key].as_str().unwrap().to_owned();
        TestHouse { url: text("baseUrl"), token: text("token"), name: text("name") }
    };
    list.split(':').filter(|file| !file.is_empty()).map(read).collect()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_typed_moves_what_it_says_and_opens_nothing() {
    let houses = houses();
    if houses.is_empty() {
        println!("left out: what_is_typed_moves_what_it_says_and_opens_nothing: no house");
    }
    for house in houses {
        house.reset();
        moves_what_it_says(&house);
        opens_nothing(&house);
        names_one_front_door_in_both_languages(&house);
        is_explained_by_its_name_alone(&house);
        tells_and_asks_back(&house);
        reads_a_pipe(&house);
        house.reset();
    }
}

fn moves_what_it_says(house: &TestHouse) {
    let (answers, code) = house.tried(&["把床头灯调到百分之三十", "turn on the desk lamp", "晚安"]);
    assert_eq!(code, Some(0), "{answers:?}");
    for (answer, by) in answers.iter().zip(["command", "command", "macro"]) {
        assert_eq!((&answer["ok"], &answer["by"]), (&json!(true), &json!(by)), "{answer}");
    }
    assert_eq!(answers[0]["steps"][0]["moved"][0]["outcome"], "confirmed");
    let bedside = house.state("light.bedside_lamp");
    assert_eq!((&bedside["state"], &bedside["attributes"]["brightness"]), (&json!("on"), &json!(76)));
    assert_eq!(house.state("light.desk_lamp")["state"], "on");
    assert_eq!(house.state("lock.back_door")["state"], "locked", "the bedtime scene locks");
}

fn opens_nothing(house: &TestHouse) {
    let said = ["解锁前门", "unlock the back door", "打开派对模式", "run Let the cat in", "don't lock the back door"];
    let (answers, code) = house.tried(&said);
    assert_eq!(code, Some(3));
    for answer in &answers[..4] {
        assert_eq!(answer["steps"][0]["answer"]["refused"], true, "{answer}");
        assert!(answer["steps"][0]["answer"]["reasons"][0].is_string(), "{answer}");
    }
    assert_eq!(answers[4]["understood"], false, "{}", answers[4]);
    for id in ["lock.entrance_door", "lock.back_door"] {
        assert_eq!(house.state(id)["state"], "locked", "{id}");
    }
    assert_eq!(house.state("input_boolean.party_mode")["state"], "off");
}

fn names_one_front_door_in_both_languages(house: &TestHouse) {
    let (answers, _) = house.tried(&["解锁前门", "unlock the front door"]);
    for answer in &answers {
        assert_eq!(answer["matched"][0]["entity_id"], "lock.entrance_door", "{answer}");
        assert_eq!(answer["matched"].as_array().unwrap().len(), 1, "{answer}");
    }
    let output = house.menshen().args(["unlock the back door", "解锁后门"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for named in ["unlocking “Back Door” (lock.back_door) opens", "会解锁“后门”（lock.back_door），"] {
        assert!(text.contains(named), "{named}: {text}");
    }
}

/// A disposable house needs neither address nor token, and nothing that was granted elsewhere holds in it.
fn is_explained_by_its_name_alone(house: &TestHouse) {
    let which = format!("--disposable={}", house.name);
    let asked = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_menshen"));
        command.args(words).args([&which, "--json"]).env("HOME_ALLOWED_ENTITIES", "lock.entrance_door");
        command.env_remove("HOME_ASSISTANT_URL").env_remove("HOME_ASSISTANT_TOKEN");
        let output = command.output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        (json, output.status.code())
    };
    let (explained, code) = asked(&["gate", "explain", "lock.unlock", "lock.entrance_door"]);
    assert_eq!((&explained["verdict"], code), (&json!("ask"), Some(3)), "{explained}");
    let (checked, code) = asked(&["check"]);
    assert_eq!((&checked["ok"], &checked["granted"], code), (&json!(true), &json!([]), Some(3)), "{checked}");
}

fn tells_and_asks_back(house: &TestHouse) {
    let (answers, _) = house.tried(&["is the back door locked", "客厅多少度", "打开窗帘"]);
    assert_eq!((&answers[0]["kind"], &answers[0]["facts"][0]["fits"]), (&json!("told"), &json!(true)));
    assert_eq!(answers[1]["facts"][0]["value"], 22.5);
    assert_eq!(answers[2]["kind"], "which");
    assert!(answers[2]["matched"].as_array().unwrap().len() > 1);
    assert_eq!(house.state("cover.living_room_curtain")["state"], "closed");
}

fn reads_a_pipe(house: &TestHouse) {
    let mut command = house.menshen();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("turn off the desk lamp\n\n".as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("confirmed") && !text.contains('\u{1b}'), "{text}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(house.state("light.desk_lamp")["state"], "off");
}
