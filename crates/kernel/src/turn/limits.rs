//! How much a turn may use. Start at [`Limits`]. Invariant: at a limit the person hears what happened
//! and what was done so far; nothing just stops.

use serde::{Deserialize, Serialize};

use super::Ended;
use crate::ports::Usage;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Answers of the model that call tools.
    pub tool_rounds_max: u32,
    pub turn_secs_max: u64,
    pub turn_tokens_max: u64,
    pub day_tokens_max: u64,
    /// Millionths of a US dollar; 0 is no limit.
    pub turn_cost_usd_micros_max: u64,
    pub day_cost_usd_micros_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_rounds_max: 12,
            turn_secs_max: 300,
            turn_tokens_max: 400_000,
            day_tokens_max: 10_000_000,
            turn_cost_usd_micros_max: 1_000_000,
            day_cost_usd_micros_max: 10_000_000,
        }
    }
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    pub rounds: u32,
    pub usage: Usage,
    pub began_ms: i64,
    /// By other turns, since the day began.
    pub day_tokens: u64,
    pub day_cost_usd_micros: u64,
}

impl Spent {
    pub fn add(&mut self, usage: Usage) {
        let sum = &mut self.usage;
        sum.prompt_tokens += usage.prompt_tokens;
        sum.completion_tokens += usage.completion_tokens;
        sum.cached_tokens += usage.cached_tokens;
        sum.reasoning_tokens += usage.reasoning_tokens;
        sum.cost_usd_micros += usage.cost_usd_micros;
    }

    /// The first limit that is reached.
    pub fn over(&self, limits: &Limits, now_ms: i64) -> Option<Ended> {
        let tokens = self.usage.prompt_tokens + self.usage.completion_tokens;
        let cost = self.usage.cost_usd_micros;
        let beyond = |used: u64, max: u64| max > 0 && used >= max;
        let secs = u64::try_from((now_ms - self.began_ms) / 1000).unwrap_or(0);
        if self.rounds > limits.tool_rounds_max {
            return Some(Ended::OutOfRounds);
        }
        if beyond(secs, limits.turn_secs_max) {
            return Some(Ended::OutOfTime);
        }
        if beyond(tokens, limits.turn_tokens_max) || beyond(self.day_tokens + tokens, limits.day_tokens_max) {
            return Some(Ended::OutOfTokens);
        }
        let day = self.day_cost_usd_micros + cost;
        if beyond(cost, limits.turn_cost_usd_micros_max) || beyond(day, limits.day_cost_usd_micros_max) {
            return Some(Ended::OutOfMoney);
        }
        None
    }
}
