//! What every tool call needs: the house connection, the operator's policy, the household's
//! language. Start at [`Desk`]. Invariant: a call waits for the house at most [`READY_WAIT`], however
//! often it has to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use decide::gate::{Call, Decision, Language, Origin, Policy};
use decide::house::House;
use home::audit::recorded;
use home::{Approvals, Connection, HouseError};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::pace::{CALLS_AT_ONCE_MAX, CALLS_WAITING_MAX, Pace};
use crate::tools::answer::house_error;
use crate::tools::approve;
use crate::tools::view::View;

/// Limit: longest wait of one call for a house that is not there yet. With what follows it stays under ten seconds.
pub const READY_WAIT: Duration = Duration::from_secs(8);

/// Limit: refused calls recorded one by one in a minute; further ones are counted in the next line.
pub const REFUSALS_RECORDED_MAX: u32 = 300;
/// Of one refused call.
const REASONS_RECORDED_MAX: usize = 50;
const TARGETS_RECORDED_MAX: usize = 200;

/// How many refusals were recorded in the last minute, and how many were not since.
#[derive(Default)]
struct Refusals {
    pace: Pace,
    left_out: AtomicU64,
}

/// The operator's policy, exchanged as a whole when the operator changes it.
#[derive(Clone, Default)]
pub struct SharedPolicy(Arc<ArcSwap<Policy>>);

impl SharedPolicy {
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(policy)))
    }

    pub fn get(&self) -> Arc<Policy> {
        self.0.load_full()
    }

    pub fn set(&self, policy: Policy) {
        self.0.store(Arc::new(policy));
    }
}

/// Everything that the tools work with. Cheap to clone.
#[derive(Clone)]
pub struct Desk {
    pub connection: Connection,
    pub(crate) policy: Arc<Policy>,
    shared: SharedPolicy,
    /// Until when this call waits for the house.
    until: Instant,
    pub(crate) pace: Arc<Pace>,
    refusals: Arc<Refusals>,
    pub(crate) room: Arc<Semaphore>,
    pub(crate) waiting: Arc<Semaphore>,
    pub language: Language,
    /// Who wants what comes in at this desk.
    pub origin: Origin,
    /// Of the program, for `serverInfo`.
    pub version: &'static str,
    /// Where a person is asked; without it, what asks is refused.
    pub(crate) approvals: Option<Approvals>,
    /// The conversation, or the client, whose calls come in at this desk.
    pub session: Arc<str>,
    /// Facts that a start line and an overview should tell, `the grants file cannot be read`.
    pub notes: Arc<[String]>,
}

impl Desk {
    pub fn new(
        connection: Connection,
        shared: SharedPolicy,
        language: Language,
        version: &'static str,
        notes: Arc<[String]>,
    ) -> Self {
        Self {
            connection,
            policy: shared.get(),
            shared,
            until: Instant::now() + READY_WAIT,
            pace: Arc::default(),
            refusals: Arc::default(),
            room: Arc::new(Semaphore::new(CALLS_AT_ONCE_MAX)),
            waiting: Arc::new(Semaphore::new(CALLS_WAITING_MAX)),
            language,
            origin: Origin::Model,
            version,
            approvals: None,
            session: Arc::from(""),
            notes,
        }
    }

    /// The same desk, where a person is asked what may not go by itself.
    pub fn asking(self, approvals: &Approvals) -> Self {
        let desk = self.clone();
        approvals.carried_by(Arc::new(move |approved| {
            let desk = desk.clone();
            Box::pin(async move { approve::carried(&desk, approved).await })
        }));
        Self { approvals: Some(approvals.clone()), ..self }
    }

    pub fn approvals(&self) -> Option<&Approvals> {
        self.approvals.as_ref()
    }

    /// The policy of now.
    pub fn policy(&self) -> Arc<Policy> {
        self.shared.get()
    }

    /// The same desk for one call: with the policy of now, which then holds for all of it, and with its
    /// time to wait.
    pub fn settled(&self) -> Self {
        Self { policy: self.shared.get(), until: Instant::now() + READY_WAIT, ..self.clone() }
    }

    async fn ready(&self) -> Result<Arc<House>, HouseError> {
        self.connection.ready(self.until.saturating_duration_since(Instant::now())).await
    }

    /// What holds for the next call.
    pub fn policy_now(&self) -> Arc<Policy> {
        self.shared.get()
    }

    /// The part of this house that a model may see.
    pub fn view<'a>(&'a self, house: &'a House) -> View<'a> {
        View { house, policy: &self.policy, language: self.language, now: now() }
    }

    /// A house to read from: fresh, else the last one known, else why there is none.
    pub async fn house_to_read(&self) -> Result<Arc<House>, Value> {
        let house = self.connection.house();
        if loaded(&house) || (house.readiness.states && !house.readiness.connected) {
            return Ok(house);
        }
        match self.ready().await {
            Ok(house) => Ok(house),
            Err(error) => {
                // Without its states there is no picture, and an empty one would be a lie.
                let house = self.connection.house();
                if house.readiness.states { Ok(house) } else { Err(self.house_error(&error)) }
            }
        }
    }

    /// A connected house to act on, loaded or not: moves toward safety wait for nothing more.
    pub async fn house_to_write(&self) -> Result<Arc<House>, Value> {
        let house = self.connection.house();
        if house.readiness.connected {
            return Ok(house);
        }
        match self.ready().await {
            Ok(house) => Ok(house),
            Err(error) => {
                let house = self.connection.house();
                if house.readiness.connected { Ok(house) } else { Err(self.house_error(&error)) }
            }
        }
    }

    /// The same house once it is wholly loaded, or as far as it is loaded in time.
    pub async fn house_loaded(&self) -> Arc<House> {
        match self.ready().await {
            Ok(house) => house,
            Err(_) => self.connection.house(),
        }
    }

    /// Leave a trace of what was refused. What is executed is recorded by the connection.
    pub fn record_refusal(&self, call: &Call, decision: &Decision) {
        let reasons = decision.reasons.get(..REASONS_RECORDED_MAX).unwrap_or(&decision.reasons);
        let targets = decision.targets.get(..TARGETS_RECORDED_MAX).unwrap_or(&decision.targets);
        let body = json!({
            "origin": self.origin, "call": recorded(&json!(call)), "verdict": decision.verdict, "risk": decision.risk,
            "targets": targets, "targets_count": decision.targets.len(), "reasons": reasons,
        });
        self.record("refused", body);
    }

    /// Leave a trace of what was allowed and held back all the same.
    pub fn record_held(&self, call: &Call, answer: &Value) {
        self.record("held", json!({"origin": self.origin, "call": recorded(&json!(call)), "answer": answer}));
    }

    /// Who asks for refusals without end would otherwise push out of the files what was done before.
    fn record(&self, kind: &str, mut body: Value) {
        let Refusals { pace, left_out } = &*self.refusals;
        if pace.take(Some(REFUSALS_RECORDED_MAX)).is_err() {
            if left_out.fetch_add(1, Ordering::Relaxed) == 0 {
                self.connection.audit().note("refusals_left_out", json!({"per_minute_max": REFUSALS_RECORDED_MAX}));
            }
            return;
        }
        match left_out.swap(0, Ordering::Relaxed) {
            0 => {}
            count => body["left_out_before"] = json!(count),
        }
        self.connection.audit().note(kind, body);
    }

    /// A failure of the house's as an answer.
    pub fn house_error(&self, error: &HouseError) -> Value {
        house_error(self.language, error)
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

/// All that a decision looks at is there.
pub fn loaded(house: &House) -> bool {
    let readiness = &house.readiness;
    readiness.connected && readiness.states && readiness.registries && readiness.bodies
}
