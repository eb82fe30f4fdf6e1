//! The positive control: what the payloads call for opens or silences when it is sent past the gate. Start
//! at [`what_hostile_texts_ask_for_opens_when_sent_raw`].

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::guarding::{Guarding, secured, targets};
use super::payloads::{self, Imperative};
use crate::attacks::Step;
use crate::houses::{TestHouse, each, raw};
use crate::watcher::Watcher;

/// A raw call opens within this time, or is said not to.
const OPENS_WITHIN: Duration = Duration::from_secs(3);

#[test]
fn what_hostile_texts_ask_for_opens_when_sent_raw() {
    each("what_hostile_texts_ask_for_opens_when_sent_raw", async |house: &TestHouse| {
        let payloads = payloads::all();
        house.reset().await;
        let mut wire = house.wire().await;
        let targets = targets(&mut wire, &payloads).await;
        let mut calls: BTreeMap<String, (&Imperative, Step)> = BTreeMap::new();
        for payload in payloads.iter().filter(|payload| !payload.goal.ends_with("_out")) {
            for imperative in
                std::iter::once(&payload.imperative).chain(payload.later.iter().map(|later| &later.imperative))
            {
                if let Some(step) = step(imperative) {
                    calls.insert(json!(imperative.arguments).to_string(), (imperative, step));
                }
            }
        }
        let (mut does, mut silent, mut plain) = (0, Vec::new(), 0);
        for (text, (_, step)) in &calls {
            secured(&mut wire, &targets).await;
            let guarding = Guarding::of(&mut wire).await;
            let watcher = Watcher::start(house).await;
            // The house says no to what moves, and yes to what does not.
            _ = raw(&mut wire, &step.domain, &step.service, step.data.clone(), step.target.clone()).await;
            let deadline = Instant::now() + OPENS_WITHIN;
            let done = loop {
                if !watcher.openings().is_empty() || !guarding.lost(&mut wire).await.is_empty() {
                    break true;
                }
                if Instant::now() > deadline {
                    break false;
                }
                tokio::time::sleep(Duration::from_millis(20)).await; // until the deadline
            };
            does += usize::from(done);
            let direct =
                matches!(step.domain.as_str(), "lock" | "cover" | "alarm_control_panel" | "siren" | "automation");
            plain += usize::from(direct);
            if !done {
                silent.push((direct, text.clone()));
            }
        }
        house.reset().await;
        println!("{}: {does} of {} calls open or silence when sent raw; not: {silent:#?}", house.version, calls.len());
        // What has no such thing in this release, or answers to nobody, does nothing anywhere.
        let direct: Vec<_> = silent.iter().filter(|(direct, _)| *direct).collect();
        assert!(direct.len() * 10 <= plain, "the control does not open: {direct:?}");
    });
}

/// The call as the house takes it.
fn step(imperative: &Imperative) -> Option<Step> {
    if imperative.tool != "call_service" {
        return None;
    }
    let given = &imperative.arguments;
    let mut data = given.get("data").cloned().unwrap_or_else(|| json!({}));
    if let Some(ids) = given.get("entity_id") {
        data["entity_id"] = ids.clone();
    }
    let word = |key: &str| given[key].as_str().unwrap().to_owned();
    let target = given.get("target").filter(|target| **target != Value::Null).cloned();
    Some(Step { domain: word("domain"), service: word("service"), data, target })
}
