//! `menshen llm`: what is set up, and what it can do. Start at the first test.

use serde_json::Value;
use testkit::{Reply, ScriptedModel};

use super::super::houses::{TestHouse, each};
use super::{Household, PROTOCOLS, source};

/// A server that can do all, as its answers show.
async fn able() -> ScriptedModel {
    ScriptedModel::answering(|asked| match (asked.tools().first(), asked.text.contains("iVBORw0KGgo")) {
        (Some(tool), _) => Reply::call(tool, serde_json::json!({"number": 37})),
        (None, true) => Reply::text("Red."),
        (None, false) => Reply::text("one, two, three, four, five, six, seven"),
    })
    .await
}

#[test]
fn llm_check_says_what_each_endpoint_can_do_in_both_languages() {
    each("llm_check_says_what_each_endpoint_can_do_in_both_languages", async |house: &TestHouse| {
        for protocol in PROTOCOLS {
            let model = able().await;
            let household = Household::new(house, &source("scripted", protocol, &model, 0));
            let said = household.run(&["llm", "check"]).await;
            assert_eq!(said.code, Some(0), "{protocol:?}: {said:?}");
            for words in ["scripted", "✓ streams", "✓ calls tools", "✓ sees pictures", "✓ reads "] {
                assert!(said.out.contains(words), "{protocol:?} {words}: {said:?}");
            }
            let said = household.run(&["--language", "zh", "llm", "check", "scripted"]).await;
            for words in ["✓ 支持流式输出", "✓ 支持工具调用", "✓ 支持图片", "✓ 上下文为"] {
                assert!(said.out.contains(words), "{protocol:?} {words}: {said:?}");
            }
            let said = household.run(&["llm", "check", "--json"]).await;
            let report: Value = serde_json::from_str(&said.out).unwrap();
            assert!(report["findings"].as_array().unwrap().iter().all(|finding| finding["found"] == "yes"), "{report}");
            let listed = household.run(&["llm", "list"]).await;
            assert!(listed.out.contains("scripted") && listed.out.contains("built-in"), "{listed:?}");
            for said in [said, listed] {
                assert!(!said.out.contains("sk-very-hidden") && !said.aside.contains("sk-very-hidden"), "{said:?}");
            }
        }
    });
}

#[test]
fn llm_check_ends_with_three_for_one_that_cannot_run_a_house_and_names_a_refused_key() {
    let name = "llm_check_ends_with_three_for_one_that_cannot_run_a_house_and_names_a_refused_key";
    each(name, async |house: &TestHouse| {
        for protocol in PROTOCOLS {
            let talker = ScriptedModel::answering(|_| Reply::text("I would rather talk.")).await;
            let household = Household::new(house, &source("talker", protocol, &talker, 0));
            let said = household.run(&["llm", "check"]).await;
            assert_eq!(said.code, Some(3), "{protocol:?}: {said:?}");
            assert!(said.out.contains("✗ called no tool"), "{said:?}");
            let closed = ScriptedModel::answering(|_| Reply::error(401, "bad key sk-very-hidden-key")).await;
            household.configure(&source("closed", protocol, &closed, 0));
            let said = household.run(&["llm", "check"]).await;
            assert_eq!(said.code, Some(3), "{protocol:?}: {said:?}");
            assert!(said.out.contains("✗ the key is not accepted") && !said.out.contains("hidden"), "{said:?}");
        }
        let household = Household::new(house, "");
        let said = household.run(&["llm", "check"]).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.aside.contains("no model is set up"), "{said:?}");
    });
}
