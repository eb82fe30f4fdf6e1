//! `menshen serve` is killed with no warning at random moments of a busy run: while it starts, works and
//! ends. Start at the test below; `crash/script.rs` is what the model says, `crash/people.rs` who talks to
//! it, `crash/ledger.rs` what must hold at the end.
//!
//! How often and from which seed comes by `MENSHEN_CRASH_KILLS` and `MENSHEN_CRASH_SEED`.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::ScriptedModel;

use super::events::Events;
use super::houses::{TestHouse, each, raw};
use super::random::{Dice, number};

#[path = "crash/child.rs"]
mod child;
#[path = "crash/kept.rs"]
mod kept;
#[path = "crash/ledger.rs"]
mod ledger;
#[path = "crash/people.rs"]
mod people;
#[path = "crash/script.rs"]
mod script;

use child::{Place, Serve};
use people::People;

/// So many people talk at once, each in a conversation of their own.
const PEOPLE: usize = 4;
/// A slice of the 200 that a release is tried with.
const KILLS: u64 = 40;
/// Until all that is open is answered, once nobody is killed any more.
const SETTLED_MAX: Duration = Duration::from_secs(60);

#[test]
fn killed_at_any_moment_each_message_is_answered_once_and_nothing_happens_twice() {
    each("killed_at_any_moment_each_message_is_answered_once_and_nothing_happens_twice", async |house: &TestHouse| {
        let (kills, seed) = (number("MENSHEN_CRASH_KILLS", KILLS), number("MENSHEN_CRASH_SEED", 20_261_130));
        let begun = Instant::now();
        let events = Events::calls(house).await;
        let model = ScriptedModel::answering(script::reply).await;
        let place = Place::new(house, &model.openai_url());
        let people = People::begin(&place.socket(), PEOPLE, seed);
        let mut dice = Dice(seed);
        let mut counts = [0_u64; 3];
        for kill in 0..kills {
            people.check();
            counts[run_and_kill(&place, &mut dice, &format!("seed {seed}, kill {kill}")).await] += 1;
            if kill % 10 == 9 {
                kept::check_copy(&place.data(), dice.next());
            }
        }
        let mut serve = Serve::start(&place);
        serve.ready("the last start").await;
        let told = tokio::time::timeout(SETTLED_MAX, people.end()).await.expect("somebody still waits");
        place.until_nothing_waits(SETTLED_MAX).await;
        ledger::until_read_back(&place, SETTLED_MAX).await;
        serve.end().await;
        let found = ledger::check(&place, &events, &told).await;
        let mut wire = house.wire().await;
        raw(&mut wire, "persistent_notification", "dismiss_all", json!({}), None).await.unwrap();
        house.reset().await;
        println!(
            "house {}, seed {seed}: {kills} kills ({} at the start, {} at work, {} at the end) in {:.0} s: {found}",
            house.version,
            counts[0],
            counts[1],
            counts[2],
            begun.elapsed().as_secs_f64()
        );
    });
}

/// Where it was killed: at the start, at work, at the end.
async fn run_and_kill(place: &Place, dice: &mut Dice, run: &str) -> usize {
    let mut wait = async |below_ms: usize| {
        let time = Duration::from_millis(dice.below(below_ms) as u64);
        tokio::time::sleep(time).await; // early or late by chance is the point; the deadline is the kill
        dice.below(10)
    };
    let mut serve = Serve::start(place);
    // The first number that comes decides where, the waits of the other places are short.
    let at = match wait(1).await {
        0 | 1 => {
            wait(400).await;
            0
        }
        2 => {
            serve.ready(run).await;
            wait(600).await;
            serve.ask_to_end();
            wait(60).await;
            2
        }
        _ => {
            serve.ready(run).await;
            wait(900).await;
            1
        }
    };
    serve.kill(run, at == 2).await;
    at
}
