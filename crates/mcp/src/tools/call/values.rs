//! Values in a call's data: percentages in range, temperatures converted once and checked against
//! what each device takes. Start at [`convert`] (before judging) and [`in_range`] (on the judged
//! plan). Invariant: a value out of range never reaches the house, and both units are shown.

use decide::gate::{Language, Plan};
use decide::house::Entity;
use decide::text::clean;
use serde_json::{Map, Value, json};

use crate::tools::answer::bad_request;
use crate::tools::numbers::{Scale, number_and_unit, tenths};
use crate::tools::view::View;

/// Numbers with fixed limits: domain, key, lowest, highest. A percent sign after them is understood.
const LIMITS: [(&str, &str, f64, f64); 12] = [
    ("light", "brightness_pct", 0.0, 100.0),
    ("light", "brightness_step_pct", -100.0, 100.0),
    ("light", "brightness", 0.0, 255.0),
    ("light", "brightness_step", -255.0, 255.0),
    ("fan", "percentage", 0.0, 100.0),
    ("fan", "percentage_step", 0.0, 100.0),
    ("cover", "position", 0.0, 100.0),
    ("cover", "tilt_position", 0.0, 100.0),
    ("valve", "position", 0.0, 100.0),
    ("humidifier", "humidity", 0.0, 100.0),
    ("climate", "humidity", 0.0, 100.0),
    ("media_player", "volume_level", 0.0, 1.0),
];

/// Temperatures that a set-point service takes.
const TEMPERATURES: [&str; 3] = ["temperature", "target_temp_high", "target_temp_low"];

fn sets_temperature(domain: &str) -> bool {
    matches!(domain, "climate" | "water_heater")
}

pub fn convert(view: &View<'_>, domain: &str, service: &str, data: &mut Map<String, Value>) -> Result<(), Value> {
    if domain == "light"
        && service == "turn_on"
        && data.contains_key("brightness_pct")
        && data.contains_key("brightness")
    {
        return Err(bad_request(match view.language {
            Language::English => "Give brightness_pct or brightness, not both. Nothing was done.",
            Language::Chinese => "brightness_pct 和 brightness 只能给一个。没有执行任何操作。",
        }));
    }
    for (_, key, low, high) in LIMITS.iter().filter(|(owner, ..)| *owner == domain) {
        if let Some(value) = data.get_mut(*key) {
            *value = limited(view, key, value, *low, *high)?;
        }
    }
    if sets_temperature(domain) {
        let unit = data.remove("unit").or_else(|| data.remove("temperature_unit"));
        for key in TEMPERATURES {
            if let Some(value) = data.get_mut(key) {
                *value = degrees(view, key, value, unit.as_ref())?;
            }
        }
    }
    Ok(())
}

fn limited(view: &View<'_>, key: &str, value: &Value, low: f64, high: f64) -> Result<Value, Value> {
    // A fraction written in percent, for the one key that counts to 1.
    let number = number_and_unit(value).and_then(|(number, unit)| match unit {
        "" => Some(number),
        "%" | "％" if high == 1.0 => Some(number / 100.0),
        "%" | "％" if high == 100.0 => Some(number),
        _ => None,
    });
    match number {
        Some(number) if (low..=high).contains(&number) => Ok(match value {
            Value::Number(_) => value.clone(),
            _ if number.fract() == 0.0 => json!(number as i64),
            _ => json!(number),
        }),
        _ => {
            let given = clean(&value.to_string(), 40);
            Err(bad_request(match view.language {
                Language::English => format!("{key} goes from {low} to {high}; {given} was given. Nothing was done."),
                Language::Chinese => format!("{key} 的范围是 {low} 到 {high}，给的是 {given}。没有执行任何操作。"),
            }))
        }
    }
}

/// A temperature in the house's unit: as it is without a unit, converted once with one.
fn degrees(view: &View<'_>, key: &str, value: &Value, unit: Option<&Value>) -> Result<Value, Value> {
    let house = view.house.units.temperature.as_deref().and_then(Scale::parse);
    let wrong = |what: &str| {
        let what = clean(what, 40);
        Err(bad_request(match view.language {
            Language::English => {
                format!(
                    "{key}: \"{what}\" is no temperature. Write a number, or one with its unit: 22, \"72 °F\". Nothing was done."
                )
            }
            Language::Chinese => {
                format!("{key}：“{what}”不是温度。请写数字，或带单位，例如 22、\"72 °F\"。没有执行任何操作。")
            }
        }))
    };
    let Some((number, own)) = number_and_unit(value) else { return wrong(&value.to_string()) };
    let named = match (own, unit) {
        ("", None) => return Ok(if value.is_number() { value.clone() } else { tenths(number) }),
        ("" | "°" | "度", Some(Value::String(unit))) => unit.as_str(),
        ("°" | "度", None) => return Ok(tenths(number)),
        ("", Some(other)) => return wrong(&other.to_string()),
        (own, _) => own,
    };
    match (Scale::parse(named), house) {
        (Some(scale), Some(house)) if scale == house => Ok(tenths(number)),
        (Some(scale), Some(house)) => Ok(tenths(scale.convert(number, house))),
        (Some(_), None) => wrong("unit of this house unknown"),
        (None, _) => wrong(named),
    }
}

/// Whether every temperature in the plan is one that its devices take.
pub fn in_range(view: &View<'_>, plan: &Plan) -> Result<(), Value> {
    for send in plan.sends.iter().filter(|send| sets_temperature(&send.domain)) {
        for key in TEMPERATURES {
            let Some(wanted) = send.data.get(key).and_then(Value::as_f64) else { continue };
            for id in &send.entities {
                let Some(entity) = view.house.entity(id.as_str()) else { continue };
                let (Some(low), Some(high)) = (limit(entity, "min_temp"), limit(entity, "max_temp")) else { continue };
                if !(low..=high).contains(&wanted) {
                    return Err(out_of_range(view, &view.name(id), wanted, low, high));
                }
            }
        }
    }
    Ok(())
}

fn limit(entity: &Entity, key: &str) -> Option<f64> {
    entity.attribute(key).and_then(Value::as_f64)
}

fn out_of_range(view: &View<'_>, name: &str, wanted: f64, low: f64, high: f64) -> Value {
    let Some(house) = view.house.units.temperature.as_deref().and_then(Scale::parse) else {
        return bad_request(format!("{name}: {low}–{high}"));
    };
    let other = house.other();
    let both = |number: f64| format!("{} {}", tenths(number), house.symbol());
    let range = format!("{}–{}", tenths(low), both(high));
    let converted =
        format!("{}–{} {}", tenths(house.convert(low, other)), tenths(house.convert(high, other)), other.symbol());
    let wanted = both(wanted);
    bad_request(match view.language {
        Language::English => format!(
            "\"{name}\" takes {range} ({converted}); {wanted} was asked. This house counts in {}; if another unit was meant, write it, like \"72 °F\". Nothing was done.",
            house.symbol()
        ),
        Language::Chinese => format!(
            "“{name}”的范围是 {range}（{converted}），要求的是 {wanted}。这个家用 {}；如果指的是别的单位，请写出来，例如 \"72 °F\"。没有执行任何操作。",
            house.symbol()
        ),
    })
}
