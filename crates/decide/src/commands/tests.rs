//! Tables of sentences, what they ask of the seeded family's house, and what must never be
//! understood. Start at [`check_all`].

use std::sync::LazyLock;

use super::read;
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

/// Every sentence with what it asks for; all rows, so that one run shows every row that is wrong.
#[track_caller]
pub fn check_all(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = (rows.iter())
        .filter_map(|(sentence, expected)| {
            let got = shown(read(sentence, &FAMILY, |_| true).as_ref());
            (got != *expected).then(|| format!("{sentence}\n     got {got}\n  wanted {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
