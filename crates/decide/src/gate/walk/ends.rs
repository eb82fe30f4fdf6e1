//! Which states an action can leave its entity in. Start at [`of`]. Invariant: a state that may
//! follow by itself (a lamp dimmed to nothing, a relay that springs back) is among them.

use serde_json::Value;

use super::{Action, is_template};
use crate::gate::table::End;
use crate::gate::triggers::Ends;

pub(super) fn of(action: &Action<'_>, end: End) -> Ends {
    match end {
        End::On if may_end_off(action) => either(),
        End::On => Ends::Known(vec!["on".to_owned()]),
        End::Off => Ends::Known(vec!["off".to_owned()]),
        End::Either => either(),
        End::Key(key) => match action.data.get(key) {
            Some(Value::String(text)) if !is_template(text) => value(action.domain, text),
            Some(Value::Number(number)) => value(action.domain, &number.to_string()),
            _ => Ends::Any,
        },
        End::Same => Ends::Known(Vec::new()),
        End::Any => Ends::Any,
    }
}

fn either() -> Ends {
    Ends::Known(vec!["on".to_owned(), "off".to_owned()])
}

/// A lamp turned on at no brightness, or a fan at no speed, is off in the end.
fn may_end_off(action: &Action<'_>) -> bool {
    action.data.iter().any(|(key, value)| match key.as_str() {
        "brightness" | "brightness_pct" | "white" | "percentage" => !at_least_one(value),
        "brightness_step" | "brightness_step_pct" | "flash" | "profile" => true,
        _ => false,
    })
}

fn at_least_one(value: &Value) -> bool {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.is_some_and(|number| number >= 1.0)
}

fn value(domain: &str, text: &str) -> Ends {
    let mut ends = vec![text.to_owned()];
    match text.trim().parse::<f64>() {
        // Helpers show numbers with a fraction: 55 becomes "55.0".
        Ok(number) if plain(number) => ends.extend([format!("{number:?}"), number.to_string()]),
        // Python reads more spellings of a number ("5_5") than we do, and writes some differently.
        _ if domain == "input_number" => return Ends::Any,
        _ => {}
    }
    Ends::Known(ends)
}

/// Written the same way by Python and by us.
fn plain(number: f64) -> bool {
    number == 0.0 || (1e-4..1e15).contains(&number.abs())
}
