//! Numbers with their units: temperatures into the house's unit, once, and percentages in range.
//! Start at [`Scale`]. Invariant: a number is never clamped in silence; what does not fit is said.

use serde_json::{Number, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Celsius,
    Fahrenheit,
    Kelvin,
}

impl Scale {
    /// `°C`, `c`, `Fahrenheit`, `摄氏度`, ...
    pub fn parse(unit: &str) -> Option<Self> {
        // As houses write it; a large one has thousands.
        match unit {
            "°C" => return Some(Self::Celsius),
            "°F" => return Some(Self::Fahrenheit),
            _ => {}
        }
        let unit: String = unit.to_lowercase().chars().filter(|c| !matches!(c, '°' | 'º' | '˚' | ' ')).collect();
        match unit.as_str() {
            "c" | "℃" | "celsius" | "degc" | "摄氏" | "摄氏度" => Some(Self::Celsius),
            "f" | "℉" | "fahrenheit" | "degf" | "华氏" | "华氏度" => Some(Self::Fahrenheit),
            "k" | "kelvin" | "开尔文" => Some(Self::Kelvin),
            _ => None,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Celsius => "°C",
            Self::Fahrenheit => "°F",
            Self::Kelvin => "K",
        }
    }

    pub fn convert(self, degrees: f64, to: Self) -> f64 {
        if self == to {
            return degrees;
        }
        let celsius = match self {
            Self::Celsius => degrees,
            Self::Fahrenheit => (degrees - 32.0) / 1.8,
            Self::Kelvin => degrees - 273.15,
        };
        match to {
            Self::Celsius => celsius,
            Self::Fahrenheit => celsius * 1.8 + 32.0,
            Self::Kelvin => celsius + 273.15,
        }
    }

    /// The other unit that a household may mean.
    pub fn other(self) -> Self {
        match self {
            Self::Fahrenheit => Self::Celsius,
            Self::Celsius | Self::Kelvin => Self::Fahrenheit,
        }
    }
}

/// Rounded to one decimal; whole numbers stay whole.
pub fn tenths(number: f64) -> Value {
    let rounded = (number * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return Value::from(rounded as i64);
    }
    Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}

/// A number as models write it: `50`, `"50"`, `"50 %"`, `"72 °F"`, `"22.5摄氏度"`; the rest is its unit.
pub fn number_and_unit(value: &Value) -> Option<(f64, &str)> {
    match value {
        Value::Number(number) => Some((number.as_f64()?, "")),
        Value::String(text) => {
            let text = text.trim();
            let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
            let number: f64 = text[..end].parse().ok()?;
            number.is_finite().then(|| (number, text[end..].trim()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_with_their_units() {
        for (given, expected) in [
            (json!(50), Some((50.0, ""))),
            (json!("50 %"), Some((50.0, "%"))),
            (json!(" 72 °F"), Some((72.0, "°F"))),
            (json!("22.5摄氏度"), Some((22.5, "摄氏度"))),
            (json!("-3.5C"), Some((-3.5, "C"))),
            (json!("warm"), None),
            (json!("{{ 3 }}"), None),
            (json!([1]), None),
        ] {
            assert_eq!(number_and_unit(&given), expected, "{given}");
        }
    }

    #[test]
    fn degrees_convert_both_ways() {
        assert_eq!(tenths(Scale::Fahrenheit.convert(72.0, Scale::Celsius)), json!(22.2));
        assert_eq!(tenths(Scale::Celsius.convert(22.2, Scale::Fahrenheit)), json!(72));
        assert_eq!(tenths(Scale::Kelvin.convert(293.15, Scale::Celsius)), json!(20));
        assert_eq!(Scale::parse("degrees"), None);
    }
}
