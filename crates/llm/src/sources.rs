//! Several sources as one: asked in order, with retries, rest for those that fail, and a way back to the
//! preferred one. Start at [`Sources::ask`](LlmSource::ask).
//!
//! Invariants: another source is asked only while nothing of an answer was given; listing and choosing
//! wait for nobody; the preferred source is asked again as soon as its rest is over.

mod health;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::{StreamExt, stream};
use kernel::ports::{
    Abilities, BoxFuture, Delta, DeltaStream, LlmSource, SourceError, SourceErrorKind as Kind, SourceRequest,
};
use sdk::{Failure, LlmApi};

use health::Health;
pub use health::{SOURCE_REST, SOURCE_REST_MAX, State};

/// Limit: a source that fails in passing is asked so often before the next one is.
pub const SOURCE_ATTEMPTS_MAX: u32 = 2;
/// Limit: a provider that asks for a longer wait than this is left for the next source.
pub const SOURCE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Before the second attempt; half of it to one and a half times, by chance.
const PAUSE: Duration = Duration::from_millis(500);

/// Where time and chance come from.
#[derive(Clone)]
pub struct Pace {
    /// Milliseconds since 1970.
    pub now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// 0 to 1, so that households do not come back all at once.
    pub chance: Arc<dyn Fn() -> f64 + Send + Sync>,
}

/// How one source is doing, for people.
#[derive(Clone, Debug)]
pub struct Status {
    pub name: String,
    pub preferred: bool,
    pub state: State,
    pub abilities: Abilities,
    pub last_error: Option<SourceError>,
    pub answers: u64,
    pub failures: u64,
}

#[derive(Clone)]
pub struct Sources {
    shared: Arc<Shared>,
}

struct Shared {
    entries: ArcSwap<Vec<Arc<Entry>>>,
    /// What was chosen last; the first of the list while that is not in it.
    preferred: ArcSwap<String>,
    pace: Pace,
}

struct Entry {
    name: String,
    source: Arc<dyn LlmSource>,
    health: Mutex<Health>,
}

impl Entry {
    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sources {
    /// In the order in which they are asked.
    pub fn new(sources: Vec<Arc<dyn LlmSource>>, pace: Pace) -> Self {
        let shared = Shared { entries: ArcSwap::default(), preferred: ArcSwap::default(), pace };
        let made = Self { shared: Arc::new(shared) };
        made.replace(sources);
        made
    }

    /// After the settings have changed: every source begins anew, and answers under way go on.
    pub fn replace(&self, sources: Vec<Arc<dyn LlmSource>>) {
        let entry =
            |source: Arc<dyn LlmSource>| Arc::new(Entry { name: source.name(), source, health: Mutex::default() });
        self.shared.entries.store(Arc::new(sources.into_iter().map(entry).collect()));
    }

    pub fn status(&self) -> Vec<Status> {
        let (now_ms, preferred) = (self.shared.now_ms(), self.current_source());
        let entries = self.shared.entries.load();
        let status = entries.iter().map(|entry| {
            let health = entry.health().clone();
            Status {
                name: entry.name.clone(),
                preferred: entry.name == preferred,
                state: health.state(now_ms),
                abilities: entry.source.abilities(),
                last_error: health.last_error,
                answers: health.answers,
                failures: health.failed,
            }
        });
        status.collect()
    }
}

impl LlmApi for Sources {
    fn list_sources(&self) -> Vec<String> {
        self.shared.entries.load().iter().map(|entry| entry.name.clone()).collect()
    }

    /// Holds from the next request on.
    fn set_source(&self, name: &str) -> Result<(), Failure> {
        let names = self.list_sources();
        if !names.iter().any(|known| known == name) {
            let list = names.join(", ");
            return Err(Failure::not_found(format!("there is no model source `{name}`; there are: {list}")));
        }
        self.shared.preferred.store(Arc::new(name.to_owned()));
        Ok(())
    }

    /// The preferred one, also while another answers in its place.
    fn current_source(&self) -> String {
        self.shared.in_order().first().map(|entry| entry.name.clone()).unwrap_or_default()
    }
}

impl LlmSource for Sources {
    fn name(&self) -> String {
        self.shared.next_up().map(|entry| entry.name.clone()).unwrap_or_default()
    }

    /// Of the one that would be asked now.
    fn abilities(&self) -> Abilities {
        self.shared.next_up().map(|entry| entry.source.abilities()).unwrap_or_default()
    }

    fn ask(&self, request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>> {
        let shared = self.shared.clone();
        Box::pin(async move { shared.ask(request).await })
    }
}

impl Shared {
    fn now_ms(&self) -> i64 {
        (self.pace.now_ms)()
    }

    fn in_order(&self) -> Vec<Arc<Entry>> {
        let preferred = self.preferred.load();
        let mut entries: Vec<Arc<Entry>> = self.entries.load().iter().cloned().collect();
        if let Some(at) = entries.iter().position(|entry| entry.name == **preferred) {
            entries[..=at].rotate_right(1);
        }
        entries
    }

    /// Those that are ready; where none is, those that nobody asked to be left alone, soonest first.
    fn candidates(&self) -> Vec<Arc<Entry>> {
        let now_ms = self.now_ms();
        let all = self.in_order();
        let ready: Vec<_> = all.iter().filter(|e| e.health().state(now_ms) == State::Ready).cloned().collect();
        if !ready.is_empty() {
            return ready;
        }
        let mut rest: Vec<_> = all.into_iter().filter(|entry| entry.health().in_need(now_ms)).collect();
        rest.sort_by_key(|entry| match entry.health().state(now_ms) {
            State::Resting { until_ms } => until_ms,
            _ => 0,
        });
        rest
    }

    fn next_up(&self) -> Option<Arc<Entry>> {
        self.candidates().into_iter().next().or_else(|| self.in_order().into_iter().next())
    }

    async fn ask(&self, request: SourceRequest) -> Result<DeltaStream, SourceError> {
        let mut failed: Vec<SourceError> = Vec::new();
        let candidates = self.candidates();
        let resting = candidates.first().is_some_and(|entry| entry.health().state(self.now_ms()) != State::Ready);
        for entry in candidates {
            match self.ask_one(&entry, &request, resting).await {
                Ok(stream) => return Ok(stream),
                // A shorter conversation is the kernel's to make.
                Err(error) if error.kind == Kind::ContextTooLong => return Err(error),
                Err(error) => {
                    tracing::warn!(source = entry.name, kind = ?error.kind, %error, "a model source failed");
                    failed.push(error);
                }
            }
        }
        Err(self.all_failed(failed, &request.language))
    }

    async fn ask_one(
        &self,
        entry: &Arc<Entry>,
        request: &SourceRequest,
        resting: bool,
    ) -> Result<DeltaStream, SourceError> {
        let attempts = if resting { 1 } else { SOURCE_ATTEMPTS_MAX };
        let mut attempt = 1;
        loop {
            let asked = match entry.source.ask(request.clone()).await {
                Ok(stream) => begun(stream, entry.clone(), self.pace.now_ms.clone()).await,
                Err(error) => Err(error),
            };
            let error = match asked {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let wait = self.pause(&error).filter(|_| attempt < attempts);
            let Some(wait) = wait else {
                entry.health().failed(&error, self.now_ms());
                return Err(error);
            };
            attempt += 1;
            tokio::time::sleep(wait).await;
        }
    }

    /// How long to wait before the same source is asked once more, where that may help.
    fn pause(&self, error: &SourceError) -> Option<Duration> {
        match error.kind {
            Kind::RateLimited | Kind::Overloaded | Kind::Unreachable | Kind::Cut => {}
            // What was waited for once in vain is not waited for twice, and the rest will not get better.
            _ => return None,
        }
        match error.retry_after {
            Some(told) => (told <= SOURCE_WAIT_MAX).then_some(told),
            None => Some(PAUSE.mul_f64(0.5 + (self.pace.chance)().clamp(0.0, 1.0))),
        }
    }

    /// The first error counts: it is the preferred source's. The others are named.
    fn all_failed(&self, failed: Vec<SourceError>, language: &str) -> SourceError {
        let zh = language.starts_with("zh");
        let mut failed = failed.into_iter();
        let Some(mut first) = failed.next() else { return self.nobody(zh) };
        let others: Vec<String> = failed.map(|error| error.to_string()).collect();
        if !others.is_empty() {
            let also = if zh { "；其他模型源也失败了：" } else { "; other sources failed too: " };
            first.message = format!("{}{also}{}", first.message, others.join("; "));
        }
        first
    }

    /// Nobody was asked: there is no source, or all are disabled or told to wait.
    fn nobody(&self, zh: bool) -> SourceError {
        let now_ms = self.now_ms();
        let entries = self.in_order();
        let Some(entry) = entries.first() else {
            let message =
                if zh { "没有配置模型源：请添加一个" } else { "no model source is configured: add one" };
            return SourceError {
                kind: Kind::Unreachable,
                source_name: String::new(),
                message: message.into(),
                retry_after: None,
            };
        };
        let soonest = entries.iter().filter_map(|entry| match entry.health().state(now_ms) {
            State::Resting { until_ms } => Some((until_ms, entry.clone())),
            _ => None,
        });
        let (entry, wait_ms) = soonest
            .min_by_key(|(until_ms, _)| *until_ms)
            .map_or((entry.clone(), None), |(until_ms, entry)| (entry, Some(until_ms - now_ms)));
        let last = entry.health().last_error.clone();
        let retry_after = wait_ms.and_then(|wait| u64::try_from(wait).ok()).map(Duration::from_millis);
        match last {
            Some(error) => SourceError { retry_after, ..error },
            None => SourceError {
                kind: Kind::Unreachable,
                source_name: entry.name.clone(),
                message: if zh { "模型源暂不可用" } else { "the source rests after failures: try again later" }.into(),
                retry_after,
            },
        }
    }
}

/// Waits for the first piece of the answer itself, so that a failure before it is not yet the answer's.
async fn begun(
    mut stream: DeltaStream,
    entry: Arc<Entry>,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
) -> Result<DeltaStream, SourceError> {
    let mut first = Vec::new();
    loop {
        match stream.next().await {
            Some(Ok(delta)) => {
                let is_answer = !matches!(delta, Delta::Usage(_));
                if matches!(delta, Delta::End(_)) {
                    entry.health().succeeded();
                }
                first.push(Ok(delta));
                if is_answer {
                    break;
                }
            }
            Some(Err(error)) => return Err(error),
            None => return Err(cut(&entry.name, "the answer ended before it began")),
        }
    }
    let watched = stream.map(move |item| watched(item, &entry, &now_ms));
    Ok(Box::pin(stream::iter(first).chain(watched)))
}

/// Whatever ends an answer in the middle is a cut; what it was stands in the message.
fn watched(
    item: Result<Delta, SourceError>,
    entry: &Entry,
    now_ms: &Arc<dyn Fn() -> i64 + Send + Sync>,
) -> Result<Delta, SourceError> {
    match &item {
        Ok(Delta::End(_)) => entry.health().succeeded(),
        Err(error) => {
            let error = SourceError { kind: Kind::Cut, ..error.clone() };
            entry.health().failed(&error, now_ms());
            return Err(error);
        }
        Ok(_) => {}
    }
    item
}

fn cut(name: &str, message: &str) -> SourceError {
    SourceError { kind: Kind::Cut, source_name: name.to_owned(), message: message.to_owned(), retry_after: None }
}

#[cfg(test)]
mod tests;
