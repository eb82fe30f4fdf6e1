//! Tables of sentences, what they ask of the seeded family's house, and what must never be
//! understood. Start at [`check_all`].

use std::sync::LazyLock;

use super::{Prepared, read};
use crate::house::House;
use crate::understood::Understood;

mod english;
pub mod house;
mod mandarin;
mod never;
mod properties;
mod questions;

pub static FAMILY: LazyLock<House> = LazyLock::new(house::family);

/// In one line: calls joined by `; `, or `which a b`, or `ask is(on) a b`, or `nothing`.
pub fn shown(understood: Option<&Understood>) -> String {
    match understood {
        None => "nothing".to_owned(),
        Some(Understood::Calls(calls)) => house::written(calls).join("; "),
        Some(Understood::Which { entities }) => {
            let ids: Vec<String> = entities.iter().map(ToString::to_string).collect();
            format!("which {}", ids.join(" "))
        }
        Some(Understood::Question(question)) => {
            let ids: Vec<String> = question.entities.iter().map(ToString::to_string).collect();
            format!("ask {:?}: {}", question.ask, ids.join(" "))
        }
    }
}

/// A word that denies, put anywhere into a sentence that moves something, and nothing moves.
#[track_caller]
fn denied(rows: &[(&str, &str)]) {
    let scope = |_: &crate::house::EntityId| true;
    let prepared = Prepared::new(&FAMILY, &scope);
    // What goes on a list is a person's own words.
    for (sentence, _) in rows.iter().filter(|(_, expected)| !expected.starts_with("todo.")) {
        let chinese = !sentence.is_ascii();
        let denials: &[&str] = if chinese { &["不", "别", "不要"] } else { &[" not ", " never ", " don't "] };
        let starts = sentence.char_indices().map(|(at, _)| at);
        for at in starts.filter(|&at| chinese || at == 0 || sentence[..at].ends_with(' ')) {
            // 别的 is "other".
            let other = |denial: &str| denial == "别" && sentence[at..].starts_with('的');
            for denial in denials.iter().filter(|denial| !other(denial)) {
                let denied = format!("{}{denial}{}", &sentence[..at], &sentence[at..]);
                let got = prepared.read(&denied);
                assert!(!matches!(got, Some(Understood::Calls(_))), "{denied}: {}", shown(got.as_ref()));
            }
        }
    }
}

/// Every sentence with what it asks for; all rows, so that one run shows every row that is wrong.
#[track_caller]
pub fn check_all(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = (rows.iter())
        .filter_map(|(sentence, expected)| {
            let got = shown(read(sentence, &FAMILY, |_| true).as_ref());
            (got != *expected).then(|| format!("{sentence}\n     got {got}\n  wanted {expected}"))
        })
        .collect();
    denied(rows);
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
