//! `check` against servers that can and cannot.

use llm::{Found, Kind, What, check};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::common::{KINDS, source};

fn found(report: &llm::Report, what: What) -> Found {
    report.findings.iter().find(|finding| finding.what == what).map(|finding| finding.found).expect("a finding")
}

#[tokio::test]
async fn a_server_that_can_do_all_is_reported_so() {
    for kind in KINDS {
        let model = ScriptedModel::answering(|asked| {
            let picture = asked.text.contains("iVBORw0KGgo");
            match (asked.tools().first(), picture) {
                (Some(tool), _) => Reply::call(tool, json!({"number": 37})),
                (None, true) => Reply::text("Red."),
                (None, false) => Reply::text("one, two, three, four, five"),
            }
        })
        .await;
        let report = check(&source(&model, kind)).await;
        assert!(report.is_usable());
        for what in [What::Reachable, What::Streams, What::Usage, What::Tools, What::Vision, What::Context] {
            assert_eq!(found(&report, what), Found::Yes, "{kind:?} {report:#?}");
        }
        assert!(report.findings.iter().all(|finding| !finding.en.is_empty() && !finding.zh.is_empty()));
    }
}

#[tokio::test]
async fn a_server_that_can_do_little_is_reported_so() {
    let model = ScriptedModel::answering(|asked| match asked.text.contains("image_url") {
        true => Reply::error(400, "no images"),
        false => Reply::text("I would rather talk.").in_one_piece(),
    })
    .await;
    let report = check(&source(&model, Kind::OpenAi)).await;
    assert!(!report.is_usable());
    assert_eq!(found(&report, What::Streams), Found::No);
    assert_eq!(found(&report, What::Tools), Found::No);
    assert_eq!(found(&report, What::Vision), Found::No);
}

#[tokio::test]
async fn a_refused_key_ends_the_check_with_its_cure_in_both_languages() {
    let model = ScriptedModel::with([Reply::error(401, "no")]).await;
    let report = check(&source(&model, Kind::Anthropic)).await;
    let [finding] = &report.findings[..] else { panic!("{report:#?}") };
    assert!(finding.en.contains("key") && finding.zh.contains("密钥"), "{finding:?}");
}
