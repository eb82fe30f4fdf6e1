//! Models in all three wire formats, over real HTTP, on a real house. Start at [`CASES`].

use serde_json::{Value, json};
use testkit::{Protocol, Reply, ScriptedModel};

use super::super::houses::{TestHouse, each};
use super::{Household, PROTOCOLS, Said, Talk, no_key_in, source, until};

struct Case {
    name: &'static str,
    said: &'static str,
    replies: fn(Protocol) -> Vec<Reply>,
    code: i32,
    /// Tools and whether they did it.
    results: &'static [(&'static str, bool)],
    answer: &'static str,
    never: &'static str,
    then: &'static [(&'static str, &'static str)],
}

impl Case {
    const PLAIN: Case = Case {
        name: "",
        said: "",
        replies: |_| vec![],
        code: 0,
        results: &[],
        answer: "",
        never: "<tool_call>",
        then: &[],
    };
}

const CASES: &[Case] = &[
    Case {
        name: "a read",
        said: "客厅多少度？",
        replies: |_| vec![list("Living room air conditioner"), Reply::text("客厅现在 22.5 度。")],
        results: &[("list_entities", true)],
        answer: "客厅现在 22.5 度。",
        ..Case::PLAIN
    },
    Case {
        name: "a write",
        said: "turn on the desk lamp",
        replies: |_| vec![switch("on", json!("light.desk_lamp")), Reply::text("The desk lamp is on now.")],
        results: &[("call_service", true)],
        answer: "The desk lamp is on now.",
        never: "Correction",
        then: &[("light.desk_lamp", "on")],
        ..Case::PLAIN
    },
    Case {
        name: "reasoning, two calls in one answer",
        said: "lamp off, and how is the house",
        replies: |_| {
            let both = switch("off", json!("light.desk_lamp")).reason("The lamp first.");
            vec![both.and_call("home_overview", json!({})), Reply::text("The lamp is off; all is well.")]
        },
        results: &[("call_service", true), ("home_overview", true)],
        answer: "all is well",
        never: "The lamp first",
        then: &[("light.desk_lamp", "off")],
        ..Case::PLAIN
    },
    Case {
        name: "ambiguity",
        said: "turn on the ceiling light",
        replies: |_| vec![switch("on", json!("Curtain")), Reply::text("Which one do you mean?")],
        code: 2,
        results: &[("call_service", false)],
        answer: "Which one do you mean?",
        then: &[("light.desk_lamp", "off")],
        ..Case::PLAIN
    },
    Case {
        name: "refusal, and a model that says otherwise",
        said: "unlock the front door",
        replies: |_| {
            let call = json!({"domain": "lock", "service": "unlock", "entity_id": "lock.entrance_door"});
            vec![Reply::call("call_service", call), Reply::text("I've unlocked the front door.")]
        },
        code: 2,
        results: &[("call_service", false)],
        answer: "Correction: that is not what happened",
        then: &[("lock.entrance_door", "locked")],
        ..Case::PLAIN
    },
    Case {
        name: "a deed without a call",
        said: "锁上后门",
        replies: |_| vec![Reply::text("好的，我已经锁上后门了。")],
        answer: "没有改动任何东西",
        ..Case::PLAIN
    },
    Case {
        name: "malformed arguments, then mended",
        said: "desk lamp on please",
        replies: |_| {
            let broken = Reply::new().and_call_text("call_service", "{\"domain\": \"light\", \"service\": \"turn_");
            let unknown = Reply::call("call_servce", json!({"domain": "light"}));
            let wrong = Reply::call("call_service", json!({"domain": "light", "entity_id": 7}));
            vec![broken, unknown, wrong, switch("on", json!("light.desk_lamp")), Reply::text("It is on.")]
        },
        results: &[("call_service", false), ("call_servce", false), ("call_service", false), ("call_service", true)],
        answer: "It is on.",
        then: &[("light.desk_lamp", "on")],
        ..Case::PLAIN
    },
    Case {
        name: "a call printed as text",
        said: "lamp off",
        replies: |_| {
            let call = json!({"name": "call_service", "arguments": {"domain": "light", "service": "turn_off", "entity_id": "light.desk_lamp"}});
            vec![Reply::text(&format!("<tool_call>\n{call}\n</tool_call>")), Reply::text("Off.")]
        },
        results: &[("call_service", true)],
        answer: "Off.",
        then: &[("light.desk_lamp", "off")],
        ..Case::PLAIN
    },
    Case {
        name: "128 kB of arguments, more than the house takes, then fewer",
        said: "all of it on",
        replies: |_| {
            let many: Vec<&str> = std::iter::repeat_n("light.desk_lamp", 7_300).collect();
            assert!(json!(many).to_string().len() > 128 * 1024);
            let long = switch("on", json!(many)).pieces_of(997);
            vec![long, switch("on", json!(["light.desk_lamp"])), Reply::text("The lamp is on.")]
        },
        results: &[("call_service", false), ("call_service", true)],
        answer: "The lamp is on.",
        then: &[("light.desk_lamp", "on")],
        ..Case::PLAIN
    },
    Case {
        name: "a stream cut inside a character",
        said: "说点什么",
        replies: |protocol| vec![cut_inside_a_character(protocol), Reply::text("你好，这是完整的回答。")],
        answer: "你好，这是完整的回答。",
        never: "半句",
        ..Case::PLAIN
    },
    Case {
        name: "pieces that end inside a character",
        said: "再说一点",
        replies: |protocol| vec![in_single_bytes(protocol)],
        answer: "门神在此",
        never: "\u{fffd}",
        ..Case::PLAIN
    },
    Case {
        name: "an error in passing",
        said: "are you there",
        replies: |_| vec![Reply::error(503, "try again"), Reply::text("Here I am.")],
        answer: "Here I am.",
        ..Case::PLAIN
    },
];

fn list(query: &str) -> Reply {
    Reply::call("list_entities", json!({"query": query}))
}

fn switch(to: &str, ids: Value) -> Reply {
    Reply::call("call_service", json!({"domain": "light", "service": format!("turn_{to}"), "entity_id": ids}))
}

/// A piece of text as the protocol streams it, after what begins a stream.
fn streamed(protocol: Protocol, text: &str) -> (&'static str, String) {
    match protocol {
        Protocol::OpenAi => {
            let delta = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
            ("text/event-stream", format!("data: {delta}\n\n"))
        }
        Protocol::Anthropic => {
            let events = [
                json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            ];
            let lines = events.map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
            ("text/event-stream", lines.concat())
        }
        Protocol::Ollama => {
            let line = json!({"model": "scripted", "message": {"role": "assistant", "content": text}, "done": false});
            ("application/x-ndjson", format!("{line}\n"))
        }
    }
}

fn cut_inside_a_character(protocol: Protocol) -> Reply {
    let (kind, whole) = streamed(protocol, "半句话");
    let (_, more) = streamed(protocol, "后面没有了");
    let mut bytes = whole.into_bytes();
    let at = more.find('没').unwrap() + 1;
    bytes.extend_from_slice(&more.as_bytes()[..at]);
    Reply::raw(kind, bytes).cut_off()
}

fn in_single_bytes(protocol: Protocol) -> Reply {
    let (kind, mut text) = streamed(protocol, "门神在此");
    text.push_str(match protocol {
        Protocol::OpenAi => "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        Protocol::Anthropic => "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        Protocol::Ollama => "{\"model\":\"scripted\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
    });
    let cuts: Vec<usize> = (1..text.len()).collect();
    Reply::raw(kind, text).cuts(cuts)
}

#[track_caller]
fn check(case: &Case, protocol: Protocol, said: &Said, asked: usize) {
    let lead = format!("{} ({protocol:?})", case.name);
    assert!(said.reply().contains(case.answer), "{lead}: {said:?}");
    assert!(!said.reply().contains(case.never), "{lead}: {said:?}");
    assert_eq!(said.code, Some(case.code), "{lead}: {said:?}");
    let wanted: Vec<(String, bool)> = case.results.iter().map(|(name, did)| ((*name).to_owned(), *did)).collect();
    assert_eq!(said.results(), wanted, "{lead}: {said:?}");
    assert_eq!(asked, (case.replies)(protocol).len(), "{lead}: questions to the model; {said:?}");
}

#[test]
fn models_of_every_protocol_run_the_house_through_the_gate() {
    each("models_of_every_protocol_run_the_house_through_the_gate", async |house: &TestHouse| {
        house.reset().await;
        for protocol in PROTOCOLS {
            for case in CASES {
                let model = ScriptedModel::with((case.replies)(protocol)).await;
                let household = Household::new(house, &source("scripted", protocol, &model, 0));
                let said = household.chat_json(case.said).await;
                check(case, protocol, &said, model.asked().len());
                for (id, state) in case.then {
                    assert!(house.is(id, state).await, "{} ({protocol:?}): {id} is not {state}", case.name);
                }
                let asked = model.last_asked();
                assert_eq!(asked.protocol, protocol);
                assert!(asked.said().iter().any(|(_, text)| text.contains("Now: ")), "the time is told");
                if case.name.starts_with("128 kB") {
                    let ids = asked.text.matches("light.desk_lamp").count();
                    assert!(ids > 7_300 && asked.results()[0].contains("64 KiB"), "{protocol:?}: {ids}");
                }
                no_key_in(&household.path("data"), &said);
            }
        }
        house.reset().await;
    });
}

#[test]
fn what_a_tool_told_reaches_the_model_and_the_next_conversation_goes_on() {
    each("what_a_tool_told_reaches_the_model_and_the_next_conversation_goes_on", async |house: &TestHouse| {
        for protocol in PROTOCOLS {
            let replies = [list("Living room air conditioner"), Reply::text("22.5"), Reply::text("As I said, 22.5.")];
            let model = ScriptedModel::with(replies).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            household.chat_json("how warm is the living room").await;
            let told = model.last_asked().results();
            assert!(told.len() == 1 && told[0].contains("climate.living_room_ac"), "{protocol:?}: {told:?}");
            let said = household.chat("and once more?").await;
            assert_eq!((said.code, said.out.trim()), (Some(0), "As I said, 22.5."), "{protocol:?}: {said:?}");
            let asked = model.last_asked();
            let by_person = asked.said_by("user");
            assert!(by_person.iter().any(|text| text.contains("how warm is the living room")), "{by_person:?}");
            assert!(asked.said_by("tool").iter().any(|text| text.contains("climate.living_room_ac")), "{protocol:?}");
            // Another conversation knows nothing of it.
            model.then(Reply::text("Hello."));
            let said = household.run(&["chat", "--session", "kitchen", "hello"]).await;
            assert_eq!(said.out.trim(), "Hello.");
            assert!(!model.last_asked().text.contains("how warm"), "{protocol:?}");
        }
    });
}

#[test]
fn a_provider_that_fails_is_named_with_what_to_do_and_nothing_is_done() {
    each("a_provider_that_fails_is_named_with_what_to_do_and_nothing_is_done", async |house: &TestHouse| {
        house.reset().await;
        for protocol in PROTOCOLS {
            for (status, message, english, chinese) in [
                (401, "no such key: sk-very-hidden-key", "the key is not accepted", "密钥不被接受"),
                (402, "credit balance is too low", "no credit is left", "余额已用完"),
                (500, "internal", "overloaded or broken", "模型服务过载或出错"),
            ] {
                let model = ScriptedModel::answering(move |_| Reply::error(status, message)).await;
                let household = Household::new(house, &source("mine", protocol, &model, 0));
                for (text, cause) in [("sing me a song", english), ("唱首歌", chinese)] {
                    let said = household.chat(text).await;
                    assert_eq!(said.code, Some(2), "{protocol:?} {status}: {said:?}");
                    assert!(said.out.contains("mine") && said.out.contains(cause), "{protocol:?} {status}: {said:?}");
                    no_key_in(&household.path("data"), &said);
                }
                // What needs no model is done all the same.
                let said = household.chat("turn on the desk lamp").await;
                assert_eq!(said.code, Some(0), "{said:?}");
                assert!(house.is("light.desk_lamp", "on").await);
            }
        }
        house.reset().await;
    });
}

#[test]
fn another_model_answers_while_the_preferred_one_fails_and_no_longer() {
    each("another_model_answers_while_the_preferred_one_fails_and_no_longer", async |house: &TestHouse| {
        for (at, protocol) in PROTOCOLS.into_iter().enumerate() {
            let other = PROTOCOLS[(at + 1) % 3];
            let first = ScriptedModel::with([Reply::error(429, "slow down").header("retry-after", "6")]).await;
            let second = ScriptedModel::answering(|_| Reply::text("the second")).await;
            for _ in 0..200 {
                first.then(Reply::text("the first"));
            }
            let sources = format!("{}{}", source("one", protocol, &first, 10), source("two", other, &second, 1));
            let household = Household::new(house, &sources);
            let mut talk = Talk::start(&household);
            assert_eq!(talk.say("who is there").await["reply"], "the second");
            assert_eq!(talk.say("and now").await["reply"], "the second");
            assert_eq!(first.asked().len(), 1, "{protocol:?}: it was told to wait, and is not asked meanwhile");
            let mut answered = json!(null);
            until("the way back", async || {
                answered = talk.say("and now").await;
                answered["reply"] == "the first"
            })
            .await;
            // What the other one said is part of the conversation.
            assert!(first.last_asked().said_by("assistant").iter().any(|text| text == "the second"), "{protocol:?}");
            assert_eq!(talk.end().await, Some(0));
        }
    });
}
