//! Dials, keeps one connected period going until it breaks, and dials again, for ever.
//!
//! Start at [`run`]. Invariant: the picture says "connected" only while the sockets are open, and the
//! time between two attempts never exceeds [`RETRY_MAX`].

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::audit::left_open;
use crate::connection::Shared;
use crate::endpoint::Endpoint;
use crate::error::{Cause, ErrorCode, HouseError};
use crate::links::Links;
use crate::load;

/// Limit: Longest pause between two attempts.
pub const RETRY_MAX: Duration = Duration::from_secs(30);
/// Shortest pause, and how soon somebody waiting may have it tried again.
const RETRY_MIN: Duration = Duration::from_millis(250);

pub(crate) async fn run(shared: Arc<Shared>) {
    let endpoint = match configured(&shared) {
        Ok(endpoint) => endpoint,
        Err(error) => return failed(&shared, error),
    };
    take_over(&shared).await;
    let mut failures = 0;
    loop {
        shared.status.send_modify(|status| status.attempt += 1);
        let (stood, error) = connected_period(&shared, &endpoint).await;
        shared.links.store(None);
        shared.keeper.draw(|picture| picture.disconnected());
        tracing::warn!(%error, "no connection to the house");
        let refused = error.code == ErrorCode::Auth;
        failed(&shared, error);
        failures = if stood { 0 } else { failures + 1 };
        // Each wrong token counts toward a ban, so that is tried seldom whoever waits.
        let pause = if refused { RETRY_MAX } else { pause(failures, jitter()) };
        let earliest = if refused { pause } else { RETRY_MIN };
        let now = Instant::now();
        sleep_until(now + earliest).await;
        shared.nudged_or(now + pause).await;
    }
}

/// Calls that an earlier run sent and ended before their outcome: they are read back as well.
async fn take_over(shared: &Shared) {
    let Some(path) = shared.settings.audit_path.clone() else { return };
    if let Ok(left) = tokio::task::spawn_blocking(move || left_open(&path)).await {
        shared.unresolved.take_over(left);
    }
}

fn configured(shared: &Shared) -> Result<Endpoint, HouseError> {
    let settings = &shared.settings;
    let endpoint = Endpoint::parse(settings.url.as_deref().unwrap_or_default(), settings.tls.clone())?;
    if settings.token.as_ref().is_none_or(crate::Token::is_empty) {
        return Err(HouseError::new(ErrorCode::Auth, Cause::Missing, ""));
    }
    Ok(endpoint)
}

fn failed(shared: &Shared, error: HouseError) {
    shared.status.send_modify(|status| {
        status.failed = Some(error);
        status.failed_attempt = status.attempt;
    });
}

/// Whether a connection stood, and why it ended.
async fn connected_period(shared: &Arc<Shared>, endpoint: &Endpoint) -> (bool, HouseError) {
    let Some(token) = &shared.settings.token else {
        return (false, HouseError::new(ErrorCode::Auth, Cause::Missing, ""));
    };
    let reading = shared.settings.reading_token.as_ref();
    let links = match Links::open(endpoint, token, reading, &shared.keeper).await {
        Ok(links) => Arc::new(links),
        Err(error) => return (false, error),
    };
    // From here on moves toward safety can go out, though nothing has been read yet.
    shared.keeper.draw(|picture| picture.connected(links.acting.version().clone()));
    shared.links.store(Some(links.clone()));
    shared.status.send_modify(|status| status.failed = None);
    let error = tokio::select! {
        error = links.closed() => error,
        error = read_house(shared, &links) => error,
    };
    (true, error)
}

/// Reads all, then what changes. A list that fails is read again; the picture stays not ready until then.
async fn read_house(shared: &Arc<Shared>, links: &Arc<Links>) -> HouseError {
    let keeper = &shared.keeper;
    let mut failures = 0;
    while let Err(error) = load::all(links, keeper).await {
        tracing::warn!(%error, "the house could not be read as a whole; trying again");
        failed(shared, error);
        failures += 1;
        sleep_until(Instant::now() + pause(failures, jitter())).await;
    }
    shared.status.send_modify(|status| status.failed = None);
    tokio::select! {
        error = load::keep_fresh(links, keeper) => error,
        error = read_back(shared) => error,
    }
}

/// What became of calls whose answer was lost.
async fn read_back(shared: &Shared) -> HouseError {
    loop {
        shared.unresolved.read_back(&shared.keeper.house(), &shared.audit);
        sleep_until(Instant::now() + Duration::from_secs(5)).await;
    }
}

/// 0.25 s, doubled with each failure up to 30 s, each between half and whole.
fn pause(failures: u32, jitter: f64) -> Duration {
    let whole = RETRY_MIN.saturating_mul(1 << failures.min(10)).min(RETRY_MAX);
    whole.mul_f64(0.5 + jitter / 2.0)
}

/// Between 0 and 1, different in each process.
fn jitter() -> f64 {
    f64::from(RandomState::new().hash_one(0) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_a_minute_and_never_beyond() {
        assert_eq!(pause(0, 1.0), Duration::from_millis(250));
        assert_eq!(pause(3, 1.0), Duration::from_secs(2));
        assert_eq!(pause(1000, 1.0), RETRY_MAX);
        assert!(pause(1000, 0.0) >= RETRY_MAX / 2);
        assert!((0.0..=1.0).contains(&jitter()));
    }
}
