//! "Undo" on a real house: back as it was, through the gate. Start at [`CASES`].

use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::super::houses::{TestHouse, each};
use super::{Household, PROTOCOLS, source};

struct Case {
    /// By hand before.
    before: &'static [(&'static str, &'static str, &'static str)],
    said: &'static str,
    /// Domain and service, data.
    call: (&'static str, &'static str, &'static str),
    undo: &'static str,
    id: &'static str,
    /// What is looked at: `state`, or an attribute; and what it is before.
    looked_at: &'static str,
    was: &'static str,
    becomes: &'static str,
    code: i32,
    answer: &'static str,
}

const CASES: &[Case] = &[
    Case {
        before: &[("light.turn_on", "light.bedside_lamp", "{\"brightness\":200}")],
        said: "bedside lamp darker",
        call: ("light", "turn_on", "{\"entity_id\":\"light.bedside_lamp\",\"data\":{\"brightness_pct\":40}}"),
        undo: "undo",
        id: "light.bedside_lamp",
        looked_at: "brightness",
        was: "200",
        becomes: "102",
        code: 0,
        answer: "床头灯: on",
    },
    Case {
        before: &[("light.turn_off", "light.desk_lamp", "{}")],
        said: "打开台灯",
        call: ("light", "turn_on", "{\"entity_id\":\"light.desk_lamp\"}"),
        undo: "撤销",
        id: "light.desk_lamp",
        looked_at: "state",
        was: "off",
        becomes: "on",
        code: 0,
        answer: "台灯：关",
    },
    Case {
        before: &[
            ("climate.set_hvac_mode", "climate.bedroom_ac", "{\"hvac_mode\":\"cool\"}"),
            ("climate.set_temperature", "climate.bedroom_ac", "{\"temperature\":26}"),
        ],
        said: "bedroom to 22 degrees",
        call: ("climate", "set_temperature", "{\"entity_id\":\"climate.bedroom_ac\",\"data\":{\"temperature\":22}}"),
        undo: "undo that",
        id: "climate.bedroom_ac",
        looked_at: "temperature",
        was: "26",
        becomes: "22",
        code: 0,
        answer: "cool",
    },
    Case {
        before: &[("cover.close_cover", "cover.living_room_curtain", "{}")],
        said: "打开客厅窗帘",
        call: ("cover", "open_cover", "{\"entity_id\":\"cover.living_room_curtain\"}"),
        undo: "撤销",
        id: "cover.living_room_curtain",
        looked_at: "state",
        was: "closed",
        becomes: "open",
        code: 0,
        answer: "客厅窗帘",
    },
    Case {
        before: &[("lock.unlock", "lock.back_door", "{}")],
        said: "lock the back door",
        call: ("lock", "lock", "{\"entity_id\":\"lock.back_door\"}"),
        undo: "undo",
        id: "lock.back_door",
        looked_at: "state",
        was: "unlocked",
        becomes: "locked",
        code: 2,
        answer: "opens",
    },
];

impl TestHouse {
    async fn look(&self, case: &Case) -> String {
        let state = self.state(case.id).await;
        let value = if case.looked_at == "state" { &state["state"] } else { &state["attributes"][case.looked_at] };
        match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64().unwrap().to_string(),
            other => other.to_string(),
        }
    }

    async fn is_as(&self, case: &Case, wanted: &str) {
        super::until(&format!("{} {wanted}", case.id), async || self.look(case).await == wanted).await;
    }

    async fn before(&self, case: &Case) {
        for (service, id, data) in case.before {
            self.put(service, id, serde_json::from_str(data).unwrap()).await;
        }
        self.is_as(case, case.was).await;
    }
}

#[test]
fn undo_puts_back_what_the_last_turn_changed_and_a_lock_asks() {
    each("undo_puts_back_what_the_last_turn_changed_and_a_lock_asks", async |house: &TestHouse| {
        house.reset().await;
        for (at, case) in CASES.iter().enumerate() {
            let protocol = PROTOCOLS[at % 3];
            house.before(case).await;
            let (domain, service, more) = case.call;
            let mut call: Value = serde_json::from_str(more).unwrap();
            (call["domain"], call["service"]) = (json!(domain), json!(service));
            let replies = [Reply::call("call_service", call), Reply::text("Done.")];
            let model = ScriptedModel::with(replies).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let said = household.chat_json(case.said).await;
            assert_eq!(said.code, Some(0), "{}: {said:?}", case.said);
            house.is_as(case, case.becomes).await;

            model.then(Reply::call("undo", json!({}))).then(Reply::text("It is as before."));
            let said = household.chat_json(case.undo).await;
            assert_eq!(said.code, Some(case.code), "{}: {said:?}", case.said);
            let back = if case.code == 0 { case.was } else { case.becomes };
            house.is_as(case, back).await;

            // The same way back is not gone twice.
            model.then(Reply::call("undo", json!({}))).then(Reply::text("There is nothing."));
            let said = household.chat_json(case.undo).await;
            assert_eq!(said.code, Some(0), "{}: {said:?}", case.said);
            house.is_as(case, back).await;
        }
        house.reset().await;
    });
}

#[test]
fn undo_needs_no_model_and_says_what_it_did() {
    each("undo_needs_no_model_and_says_what_it_did", async |house: &TestHouse| {
        house.reset().await;
        for case in CASES {
            house.before(case).await;
            // By the words of a person, where the built-in understanding has them.
            let household = Household::new(house, "");
            let said = household.chat(spoken(case)).await;
            assert_eq!(said.code, Some(0), "{}: {said:?}", case.said);
            house.is_as(case, case.becomes).await;
            let said = household.chat(case.undo).await;
            assert!(said.out.contains(case.answer), "{}: {said:?}", case.said);
            assert_eq!(said.code, Some(case.code), "{}: {said:?}", case.said);
            house.is_as(case, if case.code == 0 { case.was } else { case.becomes }).await;
        }
        house.reset().await;
    });
}

fn spoken(case: &Case) -> &'static str {
    match case.id {
        "light.bedside_lamp" => "set the bedside lamp to 40%",
        "climate.bedroom_ac" => "set the bedroom air conditioner to 22 degrees",
        _ => case.said,
    }
}
