//! What a household owns, out and in again; what a model may set. Start at the first test.

use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::super::houses::{TestHouse, each};
use super::{Household, PROTOCOLS, no_key_in, source};

/// A household that has talked, remembers something, and waits for a timer.
fn lived_in() -> [Reply; 5] {
    let fact = json!({"facts": [{"subject": "Anna", "relation": "likes", "object": "green tea"}]});
    [
        Reply::call("memory_commit", fact),
        Reply::text("Noted."),
        Reply::call("timer_set", json!({"at": "tomorrow 07:00", "message": "叫醒 Anna"})),
        Reply::text("好的。"),
        Reply::text("你好"),
    ]
}

async fn live(household: &Household<'_>) {
    for text in ["Anna likes green tea", "明天七点叫醒 Anna", "你好"] {
        let said = household.chat_json(text).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.results().iter().all(|(_, did)| *did), "{said:?}");
    }
}

#[test]
fn what_is_exported_and_imported_is_exported_the_same() {
    each("what_is_exported_and_imported_is_exported_the_same", async |house: &TestHouse| {
        let model = ScriptedModel::with(lived_in()).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[1], &model, 0));
        live(&household).await;
        let file = household.path("one.jsonl");
        let said = household.run(&["export", file.to_str().unwrap()]).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        let again = household.run(&["export", file.to_str().unwrap()]).await;
        assert_eq!(again.code, Some(1), "what is there is not written over: {again:?}");
        assert!(again.aside.contains("name a new file"), "{again:?}");
        no_key_in(&household.path("data"), &said);

        let other = household.path("other");
        let other = other.to_str().unwrap();
        let said = household.run(&["import", file.to_str().unwrap(), "--data", other]).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        let said = household.run(&["export", "-", "--data", other]).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        let (first, second) = (std::fs::read_to_string(&file).unwrap(), said.out);
        assert!(first.contains("green tea") && first.contains("叫醒 Anna"), "{first}");
        same(&first, &second);
        let twice = household.run(&["import", file.to_str().unwrap(), "--data", other]).await;
        assert_eq!(twice.code, Some(1), "a household that is there is not written over: {twice:?}");
    });
}

/// Line by line, for a short report. After an import replies begin at a number that was never used.
#[track_caller]
fn same(one: &str, other: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.contains("\"table\":\"outbox\"")).map(str::to_owned).collect()
    };
    let (one, other) = (lines(one), lines(other));
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
}

#[test]
fn a_backup_of_a_running_household_is_whole() {
    each("a_backup_of_a_running_household_is_whole", async |house: &TestHouse| {
        let model = ScriptedModel::with(lived_in()).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[2], &model, 0));
        let serve = household.serve().await;
        live(&household).await;
        let folder = household.path("copy");
        let archive = household.path("copy.tar.gz");
        for target in [&folder, &archive] {
            let said = household.run(&["backup", target.to_str().unwrap()]).await;
            assert_eq!(said.code, Some(0), "{said:?}");
            let again = household.run(&["backup", target.to_str().unwrap()]).await;
            assert_eq!(again.code, Some(1), "what is there is not written over: {again:?}");
        }
        let unpacked = household.path("unpacked");
        std::fs::create_dir(&unpacked).unwrap();
        let tar = tokio::process::Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&unpacked).status();
        assert!(tar.await.unwrap().success());
        let wanted = household.run(&["export", "-"]).await;
        assert_eq!(serve.end().await, Some(0));
        let inner = std::fs::read_dir(&unpacked).unwrap().flatten().find(|entry| entry.path().is_dir());
        let unpacked = if unpacked.join("menshen.db").exists() { unpacked } else { inner.unwrap().path() };
        for copy in [folder, unpacked] {
            let said = household.run(&["export", "-", "--data", copy.to_str().unwrap()]).await;
            assert_eq!(said.code, Some(0), "{said:?}");
            same(&said.out, &wanted.out);
            // And it goes on there.
            model.then(Reply::text("Here too."));
            let said = household.run(&["chat", "--data", copy.to_str().unwrap(), "are you there"]).await;
            assert_eq!((said.code, said.out.trim()), (Some(0), "Here too."), "{said:?}");
            assert!(model.last_asked().text.contains("Anna"), "it remembers");
        }
    });
}

#[test]
fn a_model_changes_no_setting_that_decides_about_trust() {
    each("a_model_changes_no_setting_that_decides_about_trust", async |house: &TestHouse| {
        for protocol in PROTOCOLS {
            let keys = [
                "gate.speech_asks",
                "gate.grants.lock.entrance_door",
                "gate",
                "house.token",
                "llm.sources.scripted.base_url",
                "core.gate.guard",
                "GATE.pulse",
                "web.hosts",
                "agent.persona",
                "budgets.day_tokens_max",
            ];
            let mut replies: Vec<Reply> = vec![Reply::new()];
            for key in keys {
                let call = json!({"key": key, "value": "true"});
                replies[0] = replies[0].clone().and_call("settings_set", call.clone());
                replies[0] = replies[0].clone().and_call("settings_get", json!({"key": key}));
            }
            replies.push(Reply::text("Nothing of it may be set."));
            let model = ScriptedModel::with(replies).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let before = std::fs::read_to_string(household.path("menshen.toml")).unwrap();
            let said = household.chat_json("open everything up").await;
            assert_eq!(said.code, Some(2), "{protocol:?}: {said:?}");
            assert_eq!(said.results().len(), 2 * keys.len(), "{protocol:?}");
            assert!(said.results().iter().all(|(_, did)| !did), "{protocol:?}: {said:?}");
            assert_eq!(std::fs::read_to_string(household.path("menshen.toml")).unwrap(), before);
            no_key_in(&household.path("data"), &said);
        }
    });
}
