//! One service call under way: its answer, the states it should bring, and when to stop waiting.
//!
//! Start at [`Shipment::watch`]. Invariant: `Confirmed` is said only when the state is as asked in a
//! picture that is newer than the call: after its answer, or after a change of that very state.

use std::sync::Arc;
use std::time::Duration;

use decide::gate::Send;
use decide::house::{Entity, EntityId, House, State};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use crate::error::{Cause, HouseError};
use crate::link::{Answer, Missed, Reply};
use crate::picture::Keeper;
use crate::receipt::{Outcome, OutcomeKind};
use crate::verify::{self, Expected, Progress};

/// Limit: Longest wait for the answer to a call; after that its outcome is unknown.
pub const ANSWER_MAX: Duration = Duration::from_secs(9);
/// After an error the states are watched so much longer: the house errs and moves all the same.
const ERROR_GRACE: Duration = Duration::from_millis(1500);
/// Longest wait for the first states, where a call went out before the house told any.
const BLIND_MAX: Duration = Duration::from_secs(2);
/// An alarm that is arming after this time has taken the command.
const ARMING: Duration = Duration::from_secs(2);

/// Errors with which the house says that it did not even begin.
const NEVER_BEGAN: [&str; 5] = ["invalid_format", "not_found", "unauthorized", "unknown_command", "template_error"];

/// One entity that a call should change.
pub(crate) struct Watch {
    id: EntityId,
    expected: Expected,
    before: Option<Arc<State>>,
    /// The same command was already under way, and this one was not sent again.
    riding: bool,
    outcome: Option<OutcomeKind>,
}

impl Watch {
    pub fn new(house: &House, id: &EntityId, send: &Send, riding: bool) -> Self {
        let before = house.entities.get(id);
        let expected = Expected::of(id, &send.service, &send.data, before);
        Self { id: id.clone(), expected, before: before.and_then(|entity| entity.state.clone()), riding, outcome: None }
    }
}

/// What the house has answered so far.
enum Said {
    Nothing,
    Yes,
    /// It erred, at this time; it may have moved.
    Erred(Instant),
    /// It did not begin, or was never asked.
    No,
    /// The answer is lost.
    Lost,
}

pub(crate) struct Shipment {
    watches: Vec<Watch>,
    answer: Option<oneshot::Receiver<Answer>>,
    said: Said,
    wants_response: bool,
    /// A script answers when it ends, which may take hours; it is not waited for.
    ends_late: bool,
    response: Option<Value>,
    error: Option<HouseError>,
    sent_at: Instant,
    patience: Duration,
    /// The house has not told its states: what it says is all there is.
    blind: bool,
}

impl Shipment {
    pub fn new(
        watches: Vec<Watch>,
        send: &Send,
        answer: Result<oneshot::Receiver<Answer>, Missed>,
        wants_response: bool,
    ) -> Self {
        let mut shipment = Self::already_under_way(watches, send);
        shipment.wants_response = wants_response;
        match answer {
            Ok(answer) => (shipment.answer, shipment.said) = (Some(answer), Said::Nothing),
            Err(missed) => shipment.hear(Err(missed)),
        }
        shipment
    }

    /// Nothing was sent, since the same is already under way: only the states are watched.
    pub fn already_under_way(watches: Vec<Watch>, send: &Send) -> Self {
        let patience = watches.iter().map(|watch| verify::patience(watch.id.domain(), &send.data)).max();
        Self {
            watches,
            answer: None,
            said: Said::Yes,
            wants_response: false,
            ends_late: send.domain == "script",
            response: None,
            error: None,
            sent_at: Instant::now(),
            patience: patience.unwrap_or_default(),
            blind: false,
        }
    }

    /// Waits until every entity has its outcome.
    pub async fn watch(mut self, keeper: &Keeper) -> (Vec<Outcome>, Option<Value>, Option<HouseError>) {
        let mut published = keeper.watch();
        loop {
            published.borrow_and_update();
            let house = keeper.house();
            self.settle(&house);
            if self.finished() {
                return self.outcomes(&house);
            }
            let wake_at = self.wake_at();
            // Safe to cancel: the answer stays in its channel until it is taken here.
            tokio::select! {
                answer = next_answer(&mut self.answer) => {
                    self.answer = None;
                    self.hear(answer);
                }
                changed = published.changed() => if changed.is_err() {
                    self.hear(Err(Missed::Unknown(HouseError::unreachable(Cause::Lost, "closed"))));
                },
                () = sleep_until(wake_at) => {}
            }
        }
    }

    fn hear(&mut self, answer: Answer) {
        match answer {
            Ok(reply) => {
                self.said = Said::Yes;
                self.response = if self.wants_response { response_in(&reply) } else { None };
            }
            Err(missed) => {
                self.said = match &missed {
                    Missed::NotSent(_) => Said::No,
                    Missed::Unknown(_) => Said::Lost,
                    Missed::House { code, .. } if NEVER_BEGAN.contains(&&**code) => Said::No,
                    Missed::House { .. } => Said::Erred(Instant::now()),
                };
                self.error = Some(missed.error());
            }
        }
    }

    fn finished(&self) -> bool {
        let answered = !self.must_wait_for_answer() || !matches!(self.said, Said::Nothing);
        let begun = self.ends_late && !self.watches.is_empty() && self.sent_at.elapsed() >= self.patience;
        (answered || begun || self.answer_is_late()) && self.watches.iter().all(|watch| watch.outcome.is_some())
    }

    /// A response is wanted, or there is nothing else to see it by.
    fn must_wait_for_answer(&self) -> bool {
        self.wants_response || self.watches.is_empty()
    }

    fn answer_is_late(&self) -> bool {
        self.sent_at.elapsed() >= self.patience.max(ANSWER_MAX)
    }

    fn wake_at(&self) -> Instant {
        let mut times =
            [self.patience, self.patience.max(ANSWER_MAX), ARMING, BLIND_MAX].map(|wait| self.sent_at + wait).to_vec();
        if let Said::Erred(at) = self.said {
            times.push(at + ERROR_GRACE);
        }
        let now = Instant::now();
        // A little more than nothing, so that a time just passed does not spin.
        times.into_iter().filter(|time| *time > now).min().unwrap_or(now + Duration::from_millis(50))
    }

    fn settle(&mut self, house: &House) {
        self.blind = !house.readiness.states;
        let mut watches = std::mem::take(&mut self.watches);
        for watch in watches.iter_mut().filter(|watch| watch.outcome.is_none()) {
            watch.outcome = self.judge(watch, house.entities.get(&watch.id));
        }
        self.watches = watches;
    }

    fn judge(&self, watch: &Watch, now: Option<&Entity>) -> Option<OutcomeKind> {
        let state = now.and_then(|entity| entity.state.as_ref());
        let changed = match (&watch.before, state) {
            (Some(before), Some(state)) => !Arc::ptr_eq(before, state),
            (before, state) => before.is_some() != state.is_some(),
        };
        let progress = watch.expected.progress(now);
        let heard = !matches!(self.said, Said::Nothing);
        let assumed = now.is_some_and(Entity::assumed_state);
        if matches!(self.said, Said::No) && !watch.riding {
            return Some(OutcomeKind::Failed);
        }
        if progress == Progress::Met && (changed || matches!(self.said, Said::Yes | Said::Erred(_))) {
            return Some(if assumed { OutcomeKind::Assumed } else { OutcomeKind::Confirmed });
        }
        if watch.expected == Expected::Accepted || self.blind {
            return self.judge_accepted(watch, now, changed);
        }
        let waited = self.sent_at.elapsed();
        match self.said {
            Said::Lost => Some(OutcomeKind::OutcomeUnknown),
            Said::Nothing => self.answer_is_late().then_some(OutcomeKind::OutcomeUnknown),
            _ if heard && now.is_none_or(Entity::unavailable) => Some(OutcomeKind::Unavailable),
            Said::Erred(at) if progress == Progress::Not => {
                let over = at.elapsed() >= ERROR_GRACE;
                over.then_some(if changed { OutcomeKind::NotConfirmed } else { OutcomeKind::Failed })
            }
            // A bolt that sticks tells it at once; waiting longer would tell nothing more.
            _ if jammed_since(watch, now) => Some(OutcomeKind::NotConfirmed),
            _ if arming(now, progress) && waited >= ARMING => Some(OutcomeKind::Confirmed),
            _ => (waited >= self.patience).then_some(OutcomeKind::NotConfirmed),
        }
    }

    /// Scenes, scripts, presses, a house without states: the house's word is all there is.
    fn judge_accepted(&self, watch: &Watch, now: Option<&Entity>, changed: bool) -> Option<OutcomeKind> {
        match self.said {
            Said::Yes if !self.blind && now.is_some_and(Entity::unavailable) => Some(OutcomeKind::Unavailable),
            // The states are being read; they tell more than the house's word.
            Said::Yes if self.blind && self.sent_at.elapsed() < BLIND_MAX => None,
            Said::Yes => Some(OutcomeKind::Accepted),
            Said::Erred(_) | Said::No => Some(OutcomeKind::Failed),
            // A script's own service answers only when the script has ended; that it began is seen.
            _ if changed && began(watch, now) => Some(OutcomeKind::Accepted),
            Said::Lost => Some(OutcomeKind::OutcomeUnknown),
            Said::Nothing => self.answer_is_late().then_some(OutcomeKind::OutcomeUnknown),
        }
    }

    fn outcomes(self, house: &House) -> (Vec<Outcome>, Option<Value>, Option<HouseError>) {
        let silent = matches!(self.said, Said::Nothing) && self.must_wait_for_answer() && !self.ends_late;
        let outcomes: Vec<_> = self.watches.into_iter().map(|watch| watch.outcome_in(house)).collect();
        let fine = outcomes.iter().all(|outcome| {
            !matches!(outcome.outcome, OutcomeKind::Failed | OutcomeKind::NotConfirmed | OutcomeKind::OutcomeUnknown)
        });
        let late = || HouseError::unreachable(Cause::Timeout, "no answer to a service call");
        let error = match self.error {
            Some(error) if !fine || outcomes.is_empty() => Some(error),
            None if silent || outcomes.iter().any(|o| o.outcome == OutcomeKind::OutcomeUnknown) => Some(late()),
            _ => None,
        };
        (outcomes, self.response, error)
    }
}

impl Watch {
    fn outcome_in(self, house: &House) -> Outcome {
        let state = house.entities.get(&self.id).and_then(Entity::value).map(str::to_owned);
        Outcome {
            outcome: self.outcome.unwrap_or(OutcomeKind::OutcomeUnknown),
            before: self.before.map(|state| state.value.to_string()),
            entity_id: self.id,
            state,
        }
    }
}

fn arming(now: Option<&Entity>, progress: Progress) -> bool {
    progress == Progress::Moving && matches!(now.and_then(Entity::value), Some("arming" | "pending"))
}

fn jammed_since(watch: &Watch, now: Option<&Entity>) -> bool {
    let last_changed = |state: &Arc<State>| state.last_changed;
    let state = now.and_then(|entity| entity.state.as_ref());
    state.is_some_and(|state| &*state.value == "jammed")
        && state.map(last_changed) != watch.before.as_ref().map(last_changed)
}

fn began(watch: &Watch, now: Option<&Entity>) -> bool {
    let Some(state) = now.and_then(|entity| entity.state.as_ref()) else { return false };
    let last = |state: &State| state.attributes.get("last_triggered").cloned();
    matches!(watch.id.domain(), "script" | "automation")
        && (&*state.value == "on" || watch.before.as_deref().and_then(last) != last(state))
}

fn response_in(reply: &Reply) -> Option<Value> {
    let mut result: Value = reply.value("a service call").ok()?;
    Some(result.get_mut("response")?.take())
}

async fn next_answer(answer: &mut Option<oneshot::Receiver<Answer>>) -> Answer {
    match answer {
        Some(receiver) => receiver
            .await
            .unwrap_or_else(|_| Err(Missed::Unknown(HouseError::unreachable(Cause::Lost, "the house closed it")))),
        None => std::future::pending().await,
    }
}
