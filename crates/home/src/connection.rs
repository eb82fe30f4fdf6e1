//! The long-lived connection: dialled in the background, for ever, and read without waiting.
//!
//! Start at [`Connection::start`]; [`supervise`] is the loop behind it. Invariants: readers wait for
//! nobody; [`Connection::execute`] is the only function that can change the house; a house that is not
//! there is never shown as fresh.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use decide::gate::{InFlight, Permit};
use decide::house::{EntityId, House};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::audit::Audit;
use crate::endpoint::{Tls, Token};
use crate::error::{Cause, ErrorCode, HouseError};
use crate::flights::Flights;
use crate::links::Links;
use crate::picture::Keeper;
use crate::receipt::Receipt;
use crate::unresolved::Unresolved;
use crate::{bodies, execute, reads, supervise};

#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub url: Option<String>,
    /// Acts, and reads where there is no other.
    pub token: Option<Token>,
    /// An administrator's, for looking inside macros.
    pub reading_token: Option<Token>,
    pub tls: Tls,
    /// Nothing is kept without it.
    pub audit_path: Option<PathBuf>,
    /// Codes of locks and alarm panels, put in when a call goes out.
    pub codes: BTreeMap<EntityId, Token>,
}

/// Handle on the one connection; the last one dropped ends it.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

pub(crate) struct Shared {
    pub settings: Settings,
    pub keeper: Arc<Keeper>,
    /// There while the sockets are open and authenticated.
    pub links: ArcSwapOption<Links>,
    pub status: watch::Sender<Status>,
    /// Somebody waits: dial now.
    pub nudge: Notify,
    pub audit: Audit,
    pub flights: Flights,
    pub unresolved: Unresolved,
}

/// How dialling goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    /// Counts attempts that began.
    pub attempt: u64,
    /// Why the last attempt or connection ended, until the next one stands.
    pub failed: Option<HouseError>,
    /// Which attempt that was.
    pub failed_attempt: u64,
}

struct Owner {
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}

impl Connection {
    /// Returns at once and dials in the background. Needs a tokio runtime around it.
    pub fn start(settings: Settings) -> Self {
        let shared = Arc::new(Shared {
            audit: Audit::new(settings.audit_path.as_deref()),
            settings,
            keeper: Arc::default(),
            links: ArcSwapOption::empty(),
            status: watch::Sender::default(),
            nudge: Notify::new(),
            flights: Flights::default(),
            unresolved: Unresolved::default(),
        });
        let task = tokio::spawn(supervise::run(shared.clone()));
        Self { shared, _owner: Arc::new(Owner { task: Mutex::new(Some(task)) }) }
    }

    /// The newest picture, without waiting. May be stale: see its `readiness`.
    pub fn house(&self) -> Arc<House> {
        self.shared.keeper.house()
    }

    /// Tells when there is a newer picture.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.keeper.watch()
    }

    pub fn last_error(&self) -> Option<HouseError> {
        self.shared.status.borrow().failed.clone()
    }

    /// What the tokens were not allowed to read, or this release does not have.
    pub fn unreadable(&self) -> Vec<(String, HouseError)> {
        let links = self.shared.links.load_full();
        links.map(|links| links.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// The house, connected and read as a whole, or why not.
    pub async fn ready(&self, deadline: Duration) -> Result<Arc<House>, HouseError> {
        let until = Instant::now() + deadline;
        let mut published = self.shared.keeper.watch();
        let mut status = self.shared.status.subscribe();
        let first = status.borrow().attempt;
        self.shared.nudge.notify_one();
        loop {
            let house = self.house();
            let readiness = &house.readiness;
            let whole = readiness.states && readiness.registries && readiness.bodies;
            if readiness.connected && readiness.running && whole {
                return Ok(house);
            }
            {
                let status = status.borrow_and_update();
                if let Some(error) = &status.failed
                    && (status.failed_attempt > first || is_final(error))
                {
                    return Err(error.clone());
                }
            }
            let changed = async {
                tokio::select! {
                    changed = published.changed() => changed,
                    changed = status.changed() => changed,
                }
            };
            match timeout_at(until, changed).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(closed()),
                Err(_) => return Err(self.shared.why_not_ready()),
            }
        }
    }

    /// Waits, at most so long, until all that the house said so far is in the picture: what it sends is
    /// in order, so its next answer stands behind every earlier change.
    pub async fn caught_up(&self, at_most: Duration) -> Arc<House> {
        if let Some(links) = self.shared.links.load_full() {
            let heard = |link: Arc<crate::link::Link<crate::links::Topic>>| async move {
                link.command("auth/current_user", Value::Null).await.map(drop)
            };
            // States come by the one, registries and reloads by the other, where there are two.
            let both = async {
                match Arc::ptr_eq(&links.acting, &links.reading) {
                    true => heard(links.acting.clone()).await,
                    false => tokio::try_join!(heard(links.acting.clone()), heard(links.reading.clone())).map(drop),
                }
            };
            let _late = tokio::time::timeout(at_most, both).await;
        }
        self.house()
    }

    /// Waits until every change of bodies, registries and relays that was heard of is in the picture.
    /// Usually there is none, and this returns at once.
    pub async fn settled(&self, deadline: Duration) -> Result<Arc<House>, HouseError> {
        let changes = &self.shared.keeper.changes;
        if !changes.is_settled() && tokio::time::timeout(deadline, changes.settled()).await.is_err() {
            return Err(execute::changed());
        }
        Ok(self.house())
    }

    pub fn is_settled(&self) -> bool {
        self.shared.keeper.changes.is_settled()
    }

    /// Guarded covers that were sent a command and have not answered yet.
    pub fn in_flight(&self) -> InFlight {
        self.shared.flights.now(&self.house())
    }

    /// Reads these macros' bodies anew, now.
    pub async fn refresh_bodies(&self, ids: &[EntityId]) -> Result<Arc<House>, HouseError> {
        let links = self.links()?;
        bodies::refresh(&links, &self.shared.keeper, ids.iter().cloned().collect()).await;
        // Bodies that could not be read stand as unreadable; that is an answer too.
        Ok(self.house())
    }

    /// Does what was permitted, and says for each entity what came of it.
    pub async fn execute(&self, permit: Permit) -> Receipt {
        execute::execute(&self.shared, permit).await
    }

    /// What the house's own recogniser makes of a sentence; executes nothing. Null: not understood.
    pub async fn recognise(&self, text: &str, language: &str) -> Result<Value, HouseError> {
        let fields = json!({ "sentences": [text], "language": language });
        let mut answer = self.command(reads::RECOGNISE, fields).await?;
        Ok(answer.pointer_mut("/results/0").map(Value::take).unwrap_or_default())
    }

    /// A command that reads. Any other is refused here, whatever the token may do.
    pub async fn command(&self, kind: &str, body: Value) -> Result<Value, HouseError> {
        if !reads::is_read(kind) {
            return Err(HouseError::new(ErrorCode::BadRequest, Cause::NotARead, kind));
        }
        let reply = self.links()?.reading.command(kind, body).await?;
        reply.value(kind)
    }

    /// Where refusals are recorded as well.
    pub fn audit(&self) -> &Audit {
        &self.shared.audit
    }

    /// Ends the connection and writes what waits for the disk.
    pub async fn close(&self) {
        let task = self._owner.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
            let _cancelled = task.await;
        }
        self.shared.links.store(None);
        self.shared.keeper.draw(|picture| picture.disconnected());
        self.shared.status.send_modify(|status| status.failed = Some(closed()));
        self.shared.audit.flush().await;
    }

    fn links(&self) -> Result<Arc<Links>, HouseError> {
        self.shared.links.load_full().ok_or_else(|| self.shared.why_down())
    }
}

fn closed() -> HouseError {
    HouseError::new(ErrorCode::NotConnected, Cause::Lost, "it was ended")
}

/// Dialling again would not help, or would get this machine banned.
fn is_final(error: &HouseError) -> bool {
    matches!(error.code, ErrorCode::BadUrl | ErrorCode::Auth | ErrorCode::NotConnected)
}

impl Shared {
    /// Why there is no socket.
    pub fn why_down(&self) -> HouseError {
        let failed = self.status.borrow().failed.clone();
        failed.unwrap_or_else(|| HouseError::unreachable(Cause::Timeout, "still connecting"))
    }

    fn why_not_ready(&self) -> HouseError {
        let house = self.keeper.house();
        let readiness = &house.readiness;
        let configured = !house.version.is_empty();
        match &self.status.borrow().failed {
            Some(error) => error.clone(),
            None if readiness.connected && configured && !readiness.running => {
                HouseError::unreachable(Cause::Starting, "it has not finished")
            }
            None if readiness.connected => HouseError::unreachable(Cause::Timeout, "the house is still being read"),
            None => HouseError::unreachable(Cause::Timeout, "still connecting"),
        }
    }

    /// Waits until `time`, or until somebody needs the house.
    pub async fn nudged_or(&self, time: Instant) {
        tokio::select! {
            () = self.nudge.notified() => {}
            () = sleep_until(time) => {}
        }
    }
}
