//! The human yes on a real house: asked by a running agent, decided by a person over the local socket,
//! carried out once. Start at the first test.

use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::super::changing::Editor;
use super::super::events::Events;
use super::super::houses::{TestHouse, each};
use super::super::watcher::Watcher;
use super::{Household, PROTOCOLS, WAIT, source, until};

const SECRET: &str = "open sesame";

/// One question to the running agent, as `menshen approvals` puts it.
async fn ask(household: &Household<'_>, ask: Value) -> Result<Vec<Value>, String> {
    let stream = UnixStream::connect(household.path("data/menshen.sock")).await.unwrap();
    let (reading, mut writing) = stream.into_split();
    writing.write_all(format!("{}\n", json!({ "approvals": ask })).as_bytes()).await.unwrap();
    let line = timeout(WAIT, BufReader::new(reading).lines().next_line()).await.expect("no answer").unwrap().unwrap();
    let reply: Value = serde_json::from_str(&line).unwrap();
    match reply.get("approvals") {
        Some(rows) => Ok(rows.as_array().unwrap().clone()),
        None => Err(reply["error"].as_str().unwrap().to_owned()),
    }
}

async fn list(household: &Household<'_>) -> Vec<Value> {
    ask(household, json!("list")).await.unwrap()
}

async fn decide(household: &Household<'_>, id: &str, yes: bool, secret: &str) -> Result<Value, String> {
    let asked = json!({ "decide": { "id": id, "yes": yes, "secret": secret } });
    ask(household, asked).await.map(|rows| rows[0].clone())
}

async fn choose_secret(household: &Household<'_>) {
    ask(household, json!({ "secret": { "old": null, "new": SECRET } })).await.unwrap();
}

fn unlock(lock: &str) -> Reply {
    Reply::call("call_service", json!({"domain": "lock", "service": "unlock", "entity_id": lock}))
}

fn id_of(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

#[test]
fn a_yes_moves_exactly_what_it_said_once_and_the_conversation_hears_of_it() {
    each("a_yes_moves_exactly_what_it_said_once_and_the_conversation_hears_of_it", async |house: &TestHouse| {
        house.reset().await;
        let calls = Events::calls(house).await;
        let model = ScriptedModel::with([unlock("lock.front_door"), Reply::text("It waits for you.")]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let serve = household.serve().await;
        choose_secret(&household).await;
        let said = household.chat_json("unlock the front door").await;
        assert_eq!(said.reply(), "It waits for you.", "{said:?}");
        let told = model.last_asked().results();
        assert!(told[0].contains("\"pending\":true") && told[0].contains("needs_confirmation"), "{told:?}");
        let waiting = list(&household).await;
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        let row = &waiting[0];
        assert_eq!((row["state"].as_str(), row["risk"].as_str()), (Some("waiting"), Some("security")));
        assert!(row["question"]["en"].as_str().unwrap().starts_with("Unlock Veranda Door"), "{row}");
        assert_eq!(row["moves"], json!(["lock.unlock lock.front_door"]));
        assert!(house.is("lock.front_door", "locked").await);

        // What is no person's word moves nothing.
        for (secret, why) in [("", "not the secret"), ("wrong", "not the secret")] {
            assert!(decide(&household, id_of(row), true, secret).await.unwrap_err().contains(why));
        }
        assert!(house.is("lock.front_door", "locked").await);

        model.then(Reply::text("The front door is unlocked now."));
        let watcher = Watcher::start(house).await;
        let done = decide(&household, id_of(row), true, SECRET).await.unwrap();
        assert_eq!(done["state"], "approved", "{done}");
        assert_eq!(done["answer"]["outcomes"][0]["outcome"], "confirmed", "{done}");
        assert!(house.is("lock.front_door", "unlocked").await);
        let asked = model.wait_for_question(3).await;
        let heard = asked.said_by("user");
        assert!(
            heard.iter().any(|text| text.contains("[approval] A person allowed it: Unlock Veranda Door")),
            "{heard:?}"
        );

        // The same call again, and the same yes again, move nothing more.
        house.put("lock.lock", "lock.front_door", json!({})).await;
        until("locked", async || house.is("lock.front_door", "locked").await).await;
        model.then(unlock("lock.front_door")).then(Reply::text("Done already."));
        household.chat("unlock it again").await;
        let told = model.last_asked().results();
        assert!(told.last().unwrap().contains("\"approved\":true"), "{told:?}");
        assert!(decide(&household, id_of(row), true, SECRET).await.unwrap_err().contains("decided already"));
        assert!(house.is("lock.front_door", "locked").await);
        assert_eq!(calls.of("unlock", "lock.front_door").len(), 1);
        assert!(
            watcher.openings().iter().all(|opening| opening.contains("lock.front_door")),
            "{:?}",
            watcher.openings()
        );
        assert_eq!(serve.end().await, Some(0));
        house.reset().await;
    });
}

#[test]
fn a_no_an_end_and_a_changed_house_move_nothing() {
    each("a_no_an_end_and_a_changed_house_move_nothing", async |house: &TestHouse| {
        house.reset().await;
        let calls = Events::calls(house).await;
        let model = ScriptedModel::with([unlock("lock.front_door"), Reply::text("Asked.")]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let serve = household.serve().await;
        choose_secret(&household).await;
        household.chat("unlock the front door").await;
        let id = id_of(&list(&household).await[0]).to_owned();
        model.then(Reply::text("They said no."));
        assert_eq!(decide(&household, &id, false, "").await.unwrap()["state"], "denied");
        model.wait_for_question(3).await;
        model.then(unlock("lock.front_door")).then(Reply::text("Still no."));
        household.chat("try again").await;
        let told = model.last_asked().results();
        assert!(told.last().unwrap().contains("not asked again"), "{told:?}");

        // A yes to a script that has become another one by then.
        let opener = |locks: &[&str]| {
            let step = json!({"service": "lock.unlock", "target": {"entity_id": locks}});
            json!({"alias": "Edited meanwhile", "sequence": [step]})
        };
        let editor = Editor::of(house);
        editor.write_and_see("script", &opener(&["lock.front_door"])).await;
        let script = "script.edited_meanwhile";
        let run =
            || Reply::call("call_service", json!({"domain": "script", "service": "turn_on", "entity_id": script}));
        model.then(run()).then(Reply::text("Asked."));
        household.chat("run the opener").await;
        let id = id_of(&list(&household).await[0]).to_owned();
        editor.write_and_see("script", &opener(&["lock.front_door", "lock.back_door"])).await;
        model.then(Reply::text("It had changed."));
        let done = decide(&household, &id, true, SECRET).await.unwrap();
        assert_eq!(done["state"], "changed", "{done}");

        // Of a start that is over nothing waits any more.
        model.then(run()).then(Reply::text("Asked."));
        household.chat("run the opener now").await;
        let id = id_of(&list(&household).await[0]).to_owned();
        serve.kill().await;
        let serve = household.serve().await;
        assert_eq!(list(&household).await, Vec::<Value>::new());
        assert!(decide(&household, &id, true, SECRET).await.unwrap_err().contains("no such question"));
        assert!(house.is("lock.front_door", "locked").await && house.is("lock.back_door", "locked").await);
        assert_eq!(calls.of("unlock", "lock.front_door").len() + calls.of("unlock", "lock.back_door").len(), 0);
        editor.remove("script").await;
        assert_eq!(serve.end().await, Some(0));
        house.reset().await;
    });
}
