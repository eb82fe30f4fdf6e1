//! A model in the middle of its words: Ctrl-C, a stop, another message. Start at the first test.

use rustix::process::Signal;
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::super::houses::{TestHouse, each};
use super::{Household, PROTOCOLS, Talk, ended, signal, source};

#[test]
fn ctrl_c_ends_the_turn_and_not_the_program() {
    each("ctrl_c_ends_the_turn_and_not_the_program", async |house: &TestHouse| {
        for protocol in PROTOCOLS {
            let model = ScriptedModel::with([Reply::text("Once upon a time").hang(), Reply::text("Still here.")]).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let mut talk = Talk::start(&household);
            talk.tell("tell me a story").await;
            talk.until("text_delta").await;
            signal(&talk.child, Signal::INT);
            let answered = talk.until("turn_ended").await["answered"].clone();
            assert_eq!(answered["ended"], "stopped", "{protocol:?}: {answered}");
            let reply = answered["reply"].as_str().unwrap();
            assert!(reply.starts_with("Stopped.") && reply.contains("Nothing was changed"), "{reply}");
            model.wait_for_hang_up(1).await;
            assert_eq!(talk.say("are you there").await["reply"], "Still here.");
            assert_eq!(talk.end().await, Some(2), "something was stopped");
        }
    });
}

#[test]
fn ctrl_c_ends_a_single_message_with_what_was_done_so_far() {
    each("ctrl_c_ends_a_single_message_with_what_was_done_so_far", async |house: &TestHouse| {
        house.reset().await;
        for protocol in PROTOCOLS {
            house.put("light.turn_off", "light.desk_lamp", json!({})).await;
            let lamp = json!({"domain": "light", "service": "turn_on", "entity_id": "light.desk_lamp"});
            let model = ScriptedModel::with([Reply::call("call_service", lamp), Reply::text("我把").hang()]).await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let child = household.menshen(&["chat", "开台灯，然后讲个故事"]).spawn().unwrap();
            model.wait_for_question(2).await;
            signal(&child, Signal::INT);
            let said = ended(child).await;
            assert_eq!(said.code, Some(2), "{said:?}");
            assert!(said.out.contains("已停止") && said.out.contains("light.turn_on"), "{said:?}");
            assert!(house.is("light.desk_lamp", "on").await);
        }
        house.reset().await;
    });
}

/// What a person sees at a terminal: the prompt, an answer that is stopped, the prompt again.
#[test]
fn at_a_terminal_ctrl_c_stops_the_answer_and_the_prompt_comes_back() {
    each("at_a_terminal_ctrl_c_stops_the_answer_and_the_prompt_comes_back", async |house: &TestHouse| {
        let model = ScriptedModel::with([Reply::text("Once upon a time").hang(), Reply::text("Still here.")]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let mut terminal = super::terminal::Terminal::start(household.menshen(&["chat"]));
        terminal.wait_for("> ").await;
        terminal.write("tell me a story\r").await;
        terminal.wait_for("Once upon a time").await;
        terminal.write("\x03").await;
        terminal.wait_for("Stopped.").await;
        terminal.write("are you there\r").await;
        terminal.wait_for("Still here.").await;
        // At an empty prompt there is nothing to stop, and nobody is thrown out.
        terminal.write("\x03").await;
        terminal.write("/help\r").await;
        terminal.wait_for("/exit leaves").await;
        terminal.write("/exit\r").await;
        assert_eq!(terminal.end().await, Some(0));
    });
}

/// A stop while a call is under way: the call is dropped, and nobody says that nothing happened.
#[test]
fn a_stop_in_the_middle_of_a_call_says_that_its_outcome_is_not_known() {
    each("a_stop_in_the_middle_of_a_call_says_that_its_outcome_is_not_known", async |house: &TestHouse| {
        house.reset().await;
        // The garage door travels for two seconds, and closing needs nobody's word.
        house.put("cover.open_cover", "cover.family_garage_door", json!({})).await;
        super::until("open", async || house.is("cover.family_garage_door", "open").await).await;
        let call = json!({"domain": "cover", "service": "close_cover", "entity_id": "cover.family_garage_door"});
        let model = ScriptedModel::with([Reply::call("call_service", call)]).await;
        let household = Household::new(house, &source("scripted", PROTOCOLS[0], &model, 0));
        let mut talk = Talk::start(&household);
        talk.tell("close the garage door").await;
        talk.until("tool_started").await;
        super::until("moving", async || !house.is("cover.family_garage_door", "open").await).await;
        signal(&talk.child, Signal::INT);
        let answered = talk.until("turn_ended").await["answered"].clone();
        assert_eq!(answered["ended"], "stopped", "{answered}");
        let reply = answered["reply"].as_str().unwrap();
        assert!(reply.contains("Not known whether done: cover.close_cover"), "{reply}");
        assert_eq!(talk.end().await, Some(2));
        house.reset().await;
    });
}
