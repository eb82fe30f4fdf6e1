//! Timers and schedules for a model. Start at [`time_tools`]. Invariants: a reminder comes back to the
//! session and channel where it was asked for; who asks sees and cancels only what was asked for there or
//! by the same person.

use std::sync::Arc;

use decide::when::{Cron, Zone, read_duration, read_moment};
use sdk::{Failure, FailureKind, InjectionKind, ToolScope};
use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Tool, definition, handled, say};
use super::due::next_after;
use crate::ports::{Clock, NewInput, Principal, Schedule, Schedules, When};

/// Limit: timers and schedules of one conversation.
pub const SCHEDULES_OF_SESSION_MAX: usize = 100;
/// Characters of what is said when the time has come.
const MESSAGE_CHARS_MAX: usize = 500;
/// As many are listed at once.
const LISTED_MAX: usize = 50;
/// The name under which reminders come in.
pub const SOURCE: &str = "timer";

/// What the tools of time need.
#[derive(Clone)]
pub struct TimeDesk {
    pub schedules: Arc<dyn Schedules>,
    pub clock: Arc<dyn Clock>,
    /// The household's zone, an IANA name.
    pub zone: Arc<dyn Fn() -> String + Send + Sync>,
}

pub fn time_tools(desk: &TimeDesk) -> Vec<Tool> {
    let message =
        json!({"type": "string", "description": "What to say or do then; it comes back to this conversation"});
    let zone = json!({"type": "string", "description": "IANA time zone; the household's if left out"});
    let at = "Local time: 2026-11-30 18:30, 18:30 (the next time it is that late), tomorrow 07:00";
    let timer = definition(
        "timer_set",
        "Set a timer or a reminder for once: give duration or at. It comes back to this conversation.",
        json!({
            "duration": {"type": "string", "description": "From now: 10m, 1h30m, 90s, 2 days"},
            "at": {"type": "string", "description": at},
            "zone": zone,
            "message": message,
        }),
        &["message"],
    );
    let schedule = definition(
        "schedule_create",
        "Repeat something at set times (cron), or do it once (at). It comes back to this conversation.",
        json!({
            "cron": {"type": "string", "description": "Five fields, minute hour day-of-month month day-of-week: 30 7 * * mon-fri"},
            "at": {"type": "string", "description": at},
            "zone": zone,
            "message": message,
        }),
        &["message"],
    );
    let mut list =
        definition("schedule_list", "List the timers and schedules of this conversation and person.", json!({}), &[]);
    list.read_only = true;
    let cancel = definition(
        "schedule_cancel",
        "Cancel a timer or a schedule.",
        json!({"id": {"type": "string", "description": "As schedule_list gives it"}}),
        &["id"],
    );
    vec![
        handled(timer, desk, |desk, arguments, scope| async move { desk.set(arguments, scope, false).await }),
        handled(schedule, desk, |desk, arguments, scope| async move { desk.set(arguments, scope, true).await }),
        handled(list, desk, |desk, _, scope| async move { desk.list(&scope).await }),
        handled(cancel, desk, |desk, arguments, scope| async move { desk.cancel(arguments, &scope).await }),
    ]
}

/// What was asked for, read.
struct Wanted {
    when: When,
    next_at_ms: i64,
    zone: Zone,
    skipped: bool,
}

impl TimeDesk {
    async fn set(self, given: Map<String, Value>, scope: ToolScope, repeats: bool) -> Result<Value, Failure> {
        let now_ms = self.clock.now_ms();
        let mut arguments = Arguments::new(given);
        let message = arguments.needed_line("message", MESSAGE_CHARS_MAX);
        let wanted = self.wanted(&mut arguments, now_ms, repeats);
        arguments.done()?;
        let wanted = wanted.ok_or_else(|| Failure::failed("the time could not be read: give it another way"))?;
        let mine = self.visible(&scope).await?.len();
        if mine >= SCHEDULES_OF_SESSION_MAX {
            let full = format!("there are {mine} timers and schedules already: cancel some with schedule_cancel first");
            return Err(Failure::new(FailureKind::Full, full));
        }
        let schedule = schedule(&scope, &wanted, message, now_ms);
        let mut answer = self.described(&schedule, &scope);
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("in_seconds".to_owned(), json!((wanted.next_at_ms - now_ms + 500) / 1000));
            if wanted.skipped {
                answer.insert(
                    "note".to_owned(),
                    json!("the clocks skip that time on that day; this is the moment at which they jump"),
                );
            }
            if let When::Cron { .. } = schedule.when {
                answer.insert("next".to_owned(), json!(self.coming(&schedule, &wanted.zone)));
            }
        }
        self.schedules.add(schedule).await?;
        Ok(answer)
    }

    /// Exactly one of the ways to say when; what is wrong goes to the arguments.
    fn wanted(&self, arguments: &mut Arguments, now_ms: i64, repeats: bool) -> Option<Wanted> {
        let zone_name = arguments.line("zone", 60);
        let zone = match Zone::named(&zone_name.unwrap_or_else(|| (self.zone)())) {
            Ok(zone) => zone,
            Err(problem) if arguments.value("zone").is_some() => {
                arguments.wrong("zone", problem);
                return None;
            }
            Err(_) => Zone::utc(),
        };
        let other = if repeats { "cron" } else { "duration" };
        let first = arguments.line(other, 200);
        let at = arguments.line("at", 100);
        match (first, at) {
            (Some(_), Some(_)) | (None, None) => {
                arguments.wrong(other, "or `at`: give exactly one of the two");
                None
            }
            (None, Some(text)) => match read_moment(&text, &zone, now_ms) {
                Ok(moment) => {
                    let when = When::Once { at_ms: moment.at_ms };
                    Some(Wanted { when, next_at_ms: moment.at_ms, zone, skipped: moment.skipped })
                }
                Err(problem) => {
                    arguments.wrong("at", problem);
                    None
                }
            },
            (Some(text), None) if repeats => match Cron::parse(&text) {
                Ok(cron) => {
                    let next_at_ms = cron.next_after(&zone, now_ms)?;
                    let when = When::Cron { expression: text, zone: zone.name().to_owned() };
                    Some(Wanted { when, next_at_ms, zone, skipped: false })
                }
                Err(problem) => {
                    arguments.wrong("cron", problem);
                    None
                }
            },
            (Some(text), None) => match read_duration(&text) {
                Ok(duration) => {
                    let at_ms = now_ms + duration;
                    Some(Wanted { when: When::Once { at_ms }, next_at_ms: at_ms, zone, skipped: false })
                }
                Err(problem) => {
                    arguments.wrong("duration", problem);
                    None
                }
            },
        }
    }

    /// The next three times of a repeated one.
    fn coming(&self, schedule: &Schedule, zone: &Zone) -> Vec<String> {
        let times = std::iter::successors(Some(schedule.next_at_ms), |at| next_after(&schedule.when, *at));
        times.take(3).map(|at| format!("{} {}", zone.written(at), zone.weekday(at))).collect()
    }

    async fn list(self, scope: &ToolScope) -> Result<Value, Failure> {
        let found = self.visible(scope).await?;
        let shown: Vec<Value> = found.iter().take(LISTED_MAX).map(|schedule| self.described(schedule, scope)).collect();
        let mut answer = json!({"count": found.len(), "schedules": shown});
        if found.is_empty() {
            answer = json!({"count": 0, "note": say(&scope.language, "no timer and no schedule is set here", "这里没有定时器或日程")});
        } else if found.len() > LISTED_MAX {
            answer["note"] = json!(format!("{} more come after these", found.len() - LISTED_MAX));
        }
        Ok(answer)
    }

    async fn cancel(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let id = arguments.needed_line("id", 100);
        arguments.done()?;
        let gone =
            || Failure::not_found(format!("there is no timer or schedule \"{id}\" here: schedule_list shows them"));
        let found = self.visible(scope).await?.into_iter().find(|schedule| schedule.id == id).ok_or_else(gone)?;
        if !self.schedules.cancel(&id).await? {
            return Err(gone());
        }
        Ok(json!({"cancelled": id, "message": found.input.text}))
    }

    /// Those of this conversation, and those that the same person set elsewhere on this channel.
    async fn visible(&self, scope: &ToolScope) -> Result<Vec<Schedule>, Failure> {
        let mut all = self.schedules.list().await?;
        all.retain(|schedule| {
            let by = &schedule.input.principal;
            let same_person = !scope.user_id.is_empty() && by.user_id == scope.user_id && by.channel == scope.channel;
            schedule.input.source == SOURCE && (schedule.input.session == scope.session || same_person)
        });
        Ok(all)
    }

    fn described(&self, schedule: &Schedule, scope: &ToolScope) -> Value {
        let household = || Zone::named(&(self.zone)()).unwrap_or_else(|_| Zone::utc());
        let (zone, cron) = match &schedule.when {
            When::Once { .. } => (household(), None),
            When::Cron { expression, zone } => (Zone::named(zone).unwrap_or_else(|_| household()), Some(expression)),
        };
        let at = schedule.next_at_ms;
        let mut about = json!({
            "id": schedule.id,
            "at": format!("{} {}", zone.written(at), zone.weekday(at)),
            "zone": zone.name(),
            "message": schedule.input.text,
        });
        if let Some(cron) = cron {
            about["cron"] = json!(cron);
        }
        if schedule.input.session != scope.session {
            about["session"] = json!(schedule.input.session);
        }
        about
    }
}

fn schedule(scope: &ToolScope, wanted: &Wanted, message: String, now_ms: i64) -> Schedule {
    let kind = match wanted.when {
        When::Once { .. } => "timer",
        When::Cron { .. } => "schedule",
    };
    let seed =
        [scope.session.as_str(), &scope.turn, &scope.call_id, &message, &format!("{now_ms} {}", wanted.next_at_ms)];
    Schedule {
        id: format!("{kind}-{}", short_name(&seed)),
        when: wanted.when.clone(),
        input: NewInput {
            session: scope.session.clone(),
            kind: InjectionKind::Interrupt,
            principal: Principal {
                channel: scope.channel.clone(),
                user_id: scope.user_id.clone(),
                group_id: scope.group_id.clone(),
            },
            source: SOURCE.to_owned(),
            text: message,
            client_id: None,
            at_ms: now_ms,
        },
        next_at_ms: wanted.next_at_ms,
        created_at_ms: now_ms,
    }
}

/// Ten letters and digits that depend on all the parts (FNV-1a): the kernel has no source of chance.
fn short_name(parts: &[&str]) -> String {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let mut hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut name = String::new();
    for _ in 0..10 {
        name.extend(char::from_digit(u32::try_from(hash % 36).unwrap_or(0), 36));
        hash /= 36;
    }
    name
}

#[cfg(test)]
mod tests;
