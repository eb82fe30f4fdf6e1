//! One line of the table, and what is made of many samples. Start at [`Row`].

use std::time::Duration;

use serde::Serialize;

/// One measured number.
#[derive(Serialize)]
pub struct Row {
    pub part: &'static str,
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    /// It must not be more.
    pub limit: Option<f64>,
    /// How many samples, how far they spread.
    pub how: String,
}

impl Row {
    pub fn new(part: &'static str, what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { part, what: what.into(), value, unit, limit: None, how: String::new() }
    }

    pub fn at_most(self, limit: f64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    pub fn how(self, how: impl Into<String>) -> Self {
        Self { how: how.into(), ..self }
    }

    /// Median of times, in milliseconds.
    pub fn times(part: &'static str, what: impl Into<String>, samples: &Samples) -> Self {
        Self::new(part, what, samples.median(), "ms").how(samples.spread())
    }
}

/// Times in milliseconds, sorted.
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn new(times: &[Duration]) -> Self {
        let mut sorted: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    fn at(&self, part: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
    }

    pub fn spread(&self) -> String {
        format!("median of {}; 90 % below {:.2} ms", self.0.len(), self.at(0.9))
    }
}
