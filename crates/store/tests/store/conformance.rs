//! What every adapter of the kernel's storage ports has to hold, one function a promise, each over a
//! fresh and empty store. Start at [`Ports`]; `tests_over!` makes the tests of one adapter.

pub mod deliveries;
pub mod inputs;
pub mod places;
pub mod timers;
pub mod turns;

use std::sync::Arc;

use kernel::message::{CallRequest, Message};
use kernel::ports::{
    Answered, Events, Inbox, NewInput, Outbox, Principal, Schedules, SettingsStore, TextMemory, TurnLog,
};
use serde_json::Value;

pub struct Ports {
    pub inbox: Arc<dyn Inbox>,
    pub turns: Arc<dyn TurnLog>,
    pub outbox: Arc<dyn Outbox>,
    pub events: Arc<dyn Events>,
    pub schedules: Arc<dyn Schedules>,
    pub settings: Arc<dyn SettingsStore>,
    pub text: Arc<dyn TextMemory>,
}

/// `$ports` makes a fresh store: something to keep alive, and its ports.
macro_rules! tests_over {
    ($ports:ident) => {
        $crate::conformance::tests_over!(
            $ports, inputs:
            an_input_is_pending_until_it_is_answered_and_its_answer_can_be_asked_for,
            a_client_that_sends_again_is_accepted_once_in_its_session_and_channel,
            an_input_is_answered_once_and_a_second_answer_changes_nothing,
            a_turn_ends_once,
            an_answer_to_an_input_that_nobody_put_changes_nothing,
            inputs_that_come_side_by_side_are_each_there_once
        );
        $crate::conformance::tests_over!(
            $ports, turns:
            a_turn_is_open_with_its_steps_in_order_until_it_is_answered,
            a_history_is_the_newest_messages_oldest_first_and_of_its_session_only,
            a_history_never_shows_half_of_a_call,
            a_turn_that_may_not_be_remembered_leaves_no_history,
            a_summary_takes_the_place_of_the_beginning,
            a_summary_never_cuts_into_a_turn_and_may_keep_all,
            the_last_changes_are_those_of_the_newest_turn_that_was_not_undone,
            what_was_spent_counts_from_a_time_on,
            sessions_are_listed_with_the_newest_first
        );
        $crate::conformance::tests_over!(
            $ports, deliveries:
            a_reply_waits_with_its_id_until_it_is_delivered,
            an_answer_without_words_or_one_that_fails_delivers_nothing,
            events_are_numbered_upwards_and_read_from_a_number_on
        );
        $crate::conformance::tests_over!(
            $ports, timers:
            schedules_are_listed_soonest_first_and_can_be_cancelled,
            a_timer_fires_once_into_the_inbox_where_it_was_asked_for,
            a_repeated_schedule_fires_at_each_of_its_times_as_a_new_input,
            what_is_not_due_any_more_does_not_fire,
            of_many_who_fire_at_once_one_does
        );
        $crate::conformance::tests_over!(
            $ports, places:
            settings_keep_their_types_and_their_spaces,
            a_setting_is_replaced_and_removed,
            text_is_found_by_its_words_and_nothing_else_is
        );
    };
    ($ports:ident, $part:ident: $($promise:ident),+) => {
        mod $part {
            $(
                #[tokio::test]
                async fn $promise() {
                    let (_kept, ports) = super::$ports();
                    $crate::conformance::$part::$promise(&ports).await;
                }
            )+
        }
    };
}
pub(crate) use tests_over;

pub fn input(session: &str, text: &str) -> NewInput {
    NewInput {
        session: session.into(),
        principal: Principal { channel: "web".into(), user_id: "anna".into(), group_id: "family".into() },
        source: "web".into(),
        text: text.into(),
        at_ms: 1_796_071_272_123,
        ..NewInput::default()
    }
}

pub fn answer(turn: &str, session: &str, inputs: &[i64]) -> Answered {
    Answered {
        turn: turn.into(),
        session: session.into(),
        inputs: inputs.to_vec(),
        principal: input(session, "").principal,
        reply: format!("reply of {turn}"),
        ended: "done".into(),
        messages: vec![user(&format!("question of {turn}")), says(&format!("reply of {turn}"))],
        changes: Value::Null,
        usage: Value::Null,
        at_ms: 1_000,
    }
}

pub fn user(content: &str) -> Message {
    Message::User { content: content.into() }
}

pub fn says(content: &str) -> Message {
    Message::Assistant { content: content.into(), calls: Vec::new(), reasoning: Vec::new() }
}

pub fn calls(ids: &[&str]) -> Message {
    let call = |id: &&str| CallRequest { id: (*id).into(), name: "look".into(), arguments: "{\"a\":\"空\"}".into() };
    Message::Assistant { content: String::new(), calls: ids.iter().map(call).collect(), reasoning: Vec::new() }
}

pub fn result(id: &str) -> Message {
    Message::Tool { call_id: id.into(), name: "look".into(), content: "seen".into(), is_error: false }
}
