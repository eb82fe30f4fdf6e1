//! `menshen serve`: joined by `menshen chat`, ended, killed, started again. Start at the first test.

use serde_json::json;
use testkit::{Gate, Reply, ScriptedModel};

use super::super::events::Events;
use super::super::houses::{TestHouse, each};
use super::{Household, PROTOCOLS, Talk, ended, signal, source, until};
use rustix::process::Signal;

fn lamp(to: &str) -> Reply {
    let call = json!({"domain": "light", "service": format!("turn_{to}"), "entity_id": "light.desk_lamp"});
    Reply::call("call_service", call)
}

#[test]
fn chat_joins_a_running_serve_and_stops_its_own_turn_only() {
    each("chat_joins_a_running_serve_and_stops_its_own_turn_only", async |house: &TestHouse| {
        house.reset().await;
        let model = ScriptedModel::with([lamp("on"), Reply::text("It is on.")]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let serve = household.serve().await;
        let said = household.chat_json("desk lamp on").await;
        assert_eq!((said.code, said.reply().as_str()), (Some(0), "It is on."), "{said:?}");
        assert_eq!(said.results(), [("call_service".to_owned(), true)]);
        assert!(house.is("light.desk_lamp", "on").await);

        // One tells a story without an end in a session of its own, the other goes on.
        model.then(Reply::text("Once upon a time").hang()).then(Reply::text("Yes?"));
        let story = household.menshen(&["chat", "--session", "kitchen", "a story"]).spawn().unwrap();
        model.wait_for_question(3).await;
        let said = household.chat("are you there").await;
        assert_eq!((said.code, said.out.trim()), (Some(0), "Yes?"), "{said:?}");
        signal(&story, Signal::INT);
        let said = ended(story).await;
        assert_eq!(said.code, Some(2));
        assert!(said.out.contains("Stopped."), "{said:?}");
        model.wait_for_hang_up(1).await;
        assert_eq!(serve.end().await, Some(0));
        house.reset().await;
    });
}

#[test]
fn a_second_serve_says_that_the_household_is_served() {
    each("a_second_serve_says_that_the_household_is_served", async |house: &TestHouse| {
        let household = Household::new(house, "");
        let serve = household.serve().await;
        let said = household.run(&["serve"]).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.aside.contains("in use"), "{said:?}");
        assert_eq!(serve.end().await, Some(0));
    });
}

#[test]
fn killed_in_the_middle_of_a_turn_it_answers_once_and_runs_nothing_twice() {
    each("killed_in_the_middle_of_a_turn_it_answers_once_and_runs_nothing_twice", async |house: &TestHouse| {
        house.reset().await;
        for protocol in PROTOCOLS {
            house.put("light.turn_off", "light.desk_lamp", json!({})).await;
            let model = ScriptedModel::with([lamp("on"), Reply::text("It is").hang()]).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let serve = household.serve().await;
            let waiting = household.menshen(&["chat", "desk lamp on"]).spawn().unwrap();
            model.wait_for_question(2).await;
            assert!(house.is("light.desk_lamp", "on").await);
            serve.kill().await;
            let said = ended(waiting).await;
            assert_eq!(said.code, Some(1), "{said:?}");
            assert!(said.aside.contains("has ended"), "{said:?}");

            // Somebody switches it off meanwhile: were the call run again, it would be on.
            house.put("light.turn_off", "light.desk_lamp", json!({})).await;
            model.then(Reply::text("It is on.")).then(Reply::text("Once."));
            let serve = household.serve().await;
            model.wait_for_question(3).await;
            assert!(model.last_asked().results()[0].contains("desk_lamp"), "the result is known");
            // What comes after it in the session has the whole turn before it, once.
            let said = household.chat("how often did you do it").await;
            assert_eq!((said.code, said.out.trim()), (Some(0), "Once."), "{protocol:?}: {said:?}");
            assert_eq!(said.aside.matches("It is on.").count(), 1, "the answer that nobody saw: {said:?}");
            let asked = model.last_asked();
            assert_eq!(asked.said_by("assistant").iter().filter(|text| *text == "It is on.").count(), 1);
            assert_eq!(asked.said_by("user").iter().filter(|text| text.contains("desk lamp on")).count(), 1);
            assert_eq!(asked.said_by("tool").len(), 1, "{protocol:?}");
            assert_eq!(model.asked().len(), 4, "{protocol:?}");
            assert!(house.is("light.desk_lamp", "off").await, "{protocol:?}: the call went out twice");
            assert_eq!(serve.end().await, Some(0));
        }
        house.reset().await;
    });
}

#[test]
fn killed_while_a_call_is_under_way_its_outcome_is_unknown_and_it_is_not_sent_again() {
    let name = "killed_while_a_call_is_under_way_its_outcome_is_unknown_and_it_is_not_sent_again";
    each(name, async |house: &TestHouse| {
        house.reset().await;
        // The garage door travels for two seconds, and closing needs nobody's word.
        house.put("cover.open_cover", "cover.family_garage_door", json!({})).await;
        until("open", async || house.is("cover.family_garage_door", "open").await).await;
        let calls = Events::calls(house).await;
        let call = json!({"domain": "cover", "service": "close_cover", "entity_id": "cover.family_garage_door"});
        let model = ScriptedModel::with([Reply::call("call_service", call)]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let serve = household.serve().await;
        let mut talk = Talk::start(&household);
        talk.tell("close the garage door").await;
        talk.until("tool_started").await;
        until("the house has the call", async || !calls.of("close_cover", "cover.family_garage_door").is_empty()).await;
        serve.kill().await;
        model.then(Reply::text("I do not know whether it closed."));
        let serve = household.serve().await;
        model.wait_for_question(2).await;
        let told = model.last_asked().results();
        assert!(told.len() == 1 && told[0].contains("outcome_unknown"), "{told:?}");
        until("closed", async || house.is("cover.family_garage_door", "closed").await).await;
        assert_eq!(calls.of("close_cover", "cover.family_garage_door").len(), 1);
        assert_eq!(serve.end().await, Some(0));
        house.reset().await;
    });
}

#[test]
fn a_timer_fires_once_into_the_conversation_it_was_set_in_over_a_crash_too() {
    each("a_timer_fires_once_into_the_conversation_it_was_set_in_over_a_crash_too", async |house: &TestHouse| {
        let set = Reply::call("timer_set", json!({"duration": "2s", "message": "take the tea out"}));
        let model = ScriptedModel::with([set, Reply::text("In two seconds.")]).await;
        model.then(Reply::text("Your tea is ready."));
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let serve = household.serve().await;
        let said = household.run(&["chat", "--session", "kitchen", "remind me of the tea"]).await;
        assert_eq!((said.code, said.out.trim()), (Some(0), "In two seconds."), "{said:?}");
        serve.kill().await;
        let serve = household.serve().await;
        let asked = model.wait_for_question(3).await;
        let heard = asked.said_by("user");
        assert!(heard.iter().any(|text| text.contains("take the tea out") && text.contains("[timer]")), "{heard:?}");
        assert!(heard.iter().any(|text| text.contains("remind me of the tea")), "the same conversation: {heard:?}");
        // And it is part of that conversation.
        model.then(Reply::text("Any time."));
        let said = household.run(&["chat", "--session", "kitchen", "thank you"]).await;
        assert_eq!(said.out.trim(), "Any time.", "{said:?}");
        assert_eq!(said.aside.matches("Your tea is ready.").count(), 1, "nobody had seen it: {said:?}");
        assert!(model.last_asked().said_by("assistant").iter().any(|text| text == "Your tea is ready."));
        assert_eq!(serve.end().await, Some(0));
        assert_eq!(model.asked().len(), 4);
    });
}

/// Who sits at the prompt sees what comes up, though nobody asked just now.
#[test]
fn a_timer_is_shown_at_the_prompt_where_it_was_set() {
    each("a_timer_is_shown_at_the_prompt_where_it_was_set", async |house: &TestHouse| {
        for served in [false, true] {
            let set = Reply::call("timer_set", json!({"duration": "1s", "message": "the tea"}));
            let model = ScriptedModel::with([set, Reply::text("In a second.")]).await;
            model.then(Reply::text("Your tea is ready."));
            let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
            let serve = if served { Some(household.serve().await) } else { None };
            let mut terminal = super::terminal::Terminal::start(household.menshen(&["chat"]));
            terminal.wait_for("> ").await;
            terminal.write("remind me of the tea\r").await;
            terminal.wait_for("In a second.").await;
            terminal.wait_for("Your tea is ready.").await;
            terminal.write("/exit\r").await;
            assert_eq!(terminal.end().await, Some(0));
            if let Some(serve) = serve {
                assert_eq!(serve.end().await, Some(0));
            }
        }
    });
}

#[test]
fn who_the_agent_is_holds_from_the_next_turn_on() {
    each("who_the_agent_is_holds_from_the_next_turn_on", async |house: &TestHouse| {
        for protocol in PROTOCOLS {
            let model = ScriptedModel::answering(|_| Reply::text("Yes.")).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let mut talk = Talk::start(&household);
            talk.say("hello").await;
            let agents = household.path("data/AGENTS.md");
            for name in ["You are called Ah Fu.", "你叫小门神。"] {
                std::fs::write(&agents, name).unwrap();
                talk.say("who are you").await;
                let system = model.last_asked().said_by("system").join("\n");
                assert!(system.contains(name), "{protocol:?}: {system}");
            }
            std::fs::remove_file(&agents).unwrap();
            talk.say("and now").await;
            assert!(!model.last_asked().text.contains("小门神"), "{protocol:?}");
            assert_eq!(talk.end().await, Some(0));
        }
    });
}

#[test]
fn what_is_said_during_a_turn_waits_for_its_own() {
    each("what_is_said_during_a_turn_waits_for_its_own", async |house: &TestHouse| {
        let gate = Gate::new();
        let model = ScriptedModel::with([Reply::text("first ").wait(&gate).say("answer"), Reply::text("second")]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[2], &model, 0));
        let serve = household.serve().await;
        let first = household.menshen(&["chat", "one"]).spawn().unwrap();
        model.wait_for_question(1).await;
        let mut second = household.menshen(&["chat", "two"]).spawn().unwrap();
        // It is accepted, and not asked before the first is answered.
        until("the inbox has it", async || {
            let said = household.run(&["export", "-"]).await;
            said.out.contains("\\\"two\\\"")
        })
        .await;
        assert_eq!(model.asked().len(), 1);
        assert!(second.try_wait().unwrap().is_none());
        gate.open();
        let (first, second) = (ended(first).await, ended(second).await);
        assert_eq!((first.out.trim(), second.out.trim()), ("first answer", "second"), "{first:?} {second:?}");
        assert_eq!(serve.end().await, Some(0));
    });
}
