//! What an answer may cost a model, and how long a person waits for it.

use std::time::{Duration, Instant};

use mcp::tools::entities::list_entities;
use mcp::tools::overview::overview;
use mcp::tools::print::print;
use serde_json::json;
use testkit::generated;

use crate::{World, arguments, tokens};

#[track_caller]
fn check(count: usize, rooms: usize) -> serde_json::Value {
    let world = World::new(generated(count, rooms));
    let answer = overview(&world.view());
    let cost = tokens(&print(&answer));
    assert!(cost <= 4_000, "{count} entities in {rooms} rooms cost {cost} tokens");
    assert_eq!(answer["total_entities"], json!(count));
    answer
}

#[test]
fn the_overview_of_a_house_of_any_size_costs_at_most_4000_tokens() {
    for (count, rooms) in [(0, 1), (200, 12), (5_000, 43), (5_000, 200), (5_000, 2_000)] {
        check(count, rooms);
    }
}

#[test]
fn a_large_house_becomes_an_index_that_says_where_to_look_and_what_is_left_out() {
    let answer = check(50_000, 900);
    let shown = answer["rooms"].as_array().map_or(0, Vec::len);
    assert!(shown >= 100, "only {shown} rooms");
    assert_eq!(answer["rooms_truncated"], json!(900 - shown));
    assert!(answer["note"].as_str().unwrap_or("").contains("list_entities"), "{}", answer["note"]);
    assert_eq!(answer["security"]["secure"], json!(false));
}

#[test]
fn rooms_of_a_house_of_5000_are_all_there() {
    let answer = check(5_000, 43);
    assert_eq!(answer["rooms"].as_array().map(Vec::len), Some(43));
    assert!(answer.get("rooms_truncated").is_none());
}

#[test]
fn names_as_long_as_they_may_be_do_not_break_the_budget() {
    let long = "名".repeat(400);
    let mut builder = testkit::HouseBuilder::new();
    for number in 0..400 {
        builder = builder
            .floor(&format!("floor_{number}"), &long, number)
            .area(&format!("area_{number}"), &long, &format!("floor_{number}"))
            .entity(&format!("lock.l{number}"), &long, "unlocked", |e| e.area(&format!("area_{number}")))
            .entity(&format!("alarm_control_panel.a{number}"), &long, "disarmed", |e| e);
    }
    let world = World::new(builder.build());
    let cost = tokens(&print(&overview(&world.view())));
    assert!(cost <= 4_000, "{cost} tokens");
}

#[test]
fn a_page_of_entities_costs_no_more_than_its_length() {
    let world = World::new(generated(5_000, 43));
    let answer = list_entities(&world.view(), &arguments(json!({}))).unwrap();
    assert_eq!(answer["entities"].as_array().map(Vec::len), Some(50));
    let cost = tokens(&print(&answer));
    assert!(cost <= 4_500, "{cost} tokens for 50 entities");
}

/// A generous bound for a debug build; the release figure stands in the benchmarks.
#[test]
fn a_search_in_50000_entities_answers_while_a_person_waits() {
    let world = World::new(generated(50_000, 900));
    let started = Instant::now();
    let answer = list_entities(&world.view(), &arguments(json!({"query": "device 4999"}))).unwrap();
    let spent = started.elapsed();
    assert!(answer["count"].as_u64() >= Some(1));
    assert!(spent < Duration::from_secs(3), "{spent:?}");
}
