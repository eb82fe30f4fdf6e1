//! What a family asks after two years: 2,000 facts, 1,096 questions, each kind apart, beside what the
//! seed's own memory would answer. `tests/data/memory/README.md` tells what the kinds mean.
//!
//! The half that is called sealed is only ever counted: nobody looks at its failures, so that its numbers
//! say what a household will see. Of the open half `MEMORY_QUESTIONS_SHOW=paraphrase` prints the failures.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "memory/asked.rs"]
mod asked;
#[path = "memory/household.rs"]
mod household;
#[path = "memory/seed.rs"]
mod seed;

use asked::{Counts, Kind};

/// What is reached, so that it is never lost again. The aim is 0.95 for exact, unknown and forgotten in
/// both halves, and paraphrases better than either method of the seed's also within five: not reached yet.
struct Floors {
    exact: f64,
    nothing: f64,
    paraphrase: f64,
}

fn floors(ours: &Counts, seed: &[(&str, Counts)], floors: &Floors) {
    let held = [
        (Kind::Exact, floors.exact),
        (Kind::Paraphrase, floors.paraphrase),
        (Kind::Unknown, floors.nothing),
        (Kind::Deletion, floors.nothing),
    ];
    for (kind, least) in held {
        assert!(ours.first(kind) >= least, "{kind:?}: {:.3}, and {least} was reached before", ours.first(kind));
    }
    for (name, theirs) in seed {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Paraphrase) {
            assert!(ours.first(kind) > theirs.first(kind), "{kind:?}: not better than the seed's {name}");
        }
    }
}

async fn run(file: &str, show: Option<&str>, least: &Floors) {
    let household = household::told().await;
    let questions = asked::read(file);
    let mut ours = Counts::default();
    for question in &questions {
        let found = household.recall(question).await;
        ours.add(question, &found);
        if show.is_some_and(|kind| question.kind.name() == kind) && !question.is_right(&found) {
            println!("{}", household.explain(question, &found));
        }
    }
    let mut methods = vec![];
    for (name, method) in seed::methods(&household.alive()) {
        let mut counts = Counts::default();
        for question in &questions {
            counts.add(question, &method.find(&question.question));
        }
        methods.push((name, counts));
    }
    println!("{}", asked::table(file, &ours, &methods));
    floors(&ours, &methods, least);
}

#[tokio::test]
async fn the_open_half_is_answered_as_well_as_before() {
    run(
        "questions-open.jsonl",
        std::env::var("MEMORY_QUESTIONS_SHOW").ok().as_deref(),
        &Floors { exact: 0.95, nothing: 0.85, paraphrase: 0.15 },
    )
    .await;
}

#[tokio::test]
async fn the_sealed_half_is_answered_as_well_as_before() {
    run("questions-sealed.jsonl", None, &Floors { exact: 0.88, nothing: 0.65, paraphrase: 0.14 }).await;
}
