//! Settings: what holds, where it comes from, and who may change it. Start at [`Settings`] and, for
//! what a caller may do, at [`Caller`].
//!
//! Invariants: a value is checked against its definition before it is stored, and a wrong one changes
//! nothing; the value of a secret leaves only by [`Settings::secret`], which no caller's face offers; keys
//! that decide whom to trust ([`is_trust_key`]) are written by the operator alone. A flag goes before the
//! environment, then the file, then what was stored, then the default.

mod access;
mod api;
mod check;
mod layers;
mod state;
mod trust;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use sdk::{ConfigDef, Failure, FailureKind, SettingsApi};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, broadcast};

use crate::ports::{SettingsStore, StoredSetting};

pub use access::{Caller, Capabilities};
pub use layers::{Layer, Layers, Origin};
pub use trust::{TRUST_KEYS, is_trust_key};

use state::State;

/// The space of the program itself.
pub const CORE: &str = "core";
/// Limit: bytes of one setting as JSON.
pub const SETTING_BYTES_MAX: usize = 16 * 1024;
/// Limit: stored settings of one plugin.
pub const SETTINGS_OF_PLUGIN_MAX: usize = 1000;
/// Changes that a slow listener may be behind; then it is told that it missed some, and reads again.
const CHANGES_WAITING_MAX: usize = 256;

/// That a setting holds another value now. The value itself is not told: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub space: String,
    pub key: String,
}

/// A setting as the console shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    pub def: Option<ConfigDef>,
    /// For a secret only whether it is set.
    pub value: Value,
    pub origin: Origin,
    pub trust: bool,
}

/// All settings of one household; a clone is the same settings.
#[derive(Clone)]
pub struct Settings {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn SettingsStore>,
    state: RwLock<State>,
    /// One write at a time, so that memory and disk agree on which came last.
    writing: Mutex<()>,
    changes: broadcast::Sender<Changed>,
}

impl Settings {
    /// With what is stored, what flags, environment and file say, and the definitions of the core's own
    /// settings; a `*` in the key of one stands for any one part: `llm.sources.*.model`.
    pub async fn open(store: Arc<dyn SettingsStore>, layers: Layers, core: Vec<ConfigDef>) -> Result<Self, Failure> {
        let mut state = State { layers, ..State::default() };
        for def in core {
            check::definition(CORE, &def)?;
            state.defs.insert((CORE.to_owned(), def.key.clone()), def);
        }
        for setting in store.load().await? {
            state.stored.insert((setting.space, setting.key), (setting.value, setting.secret));
        }
        let (changes, _) = broadcast::channel(CHANGES_WAITING_MAX);
        Ok(Self { inner: Arc::new(Inner { store, state: RwLock::new(state), writing: Mutex::new(()), changes }) })
    }

    /// The settings as one caller may see and change them.
    pub fn for_caller(&self, caller: Caller) -> Arc<dyn SettingsApi> {
        Arc::new(api::Face { settings: self.clone(), caller })
    }

    /// Each change from now on. A listener that lags is told so and should read all it needs again.
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.inner.changes.subscribe()
    }

    /// What holds in the core, secrets masked; null where nothing does.
    pub fn core(&self, key: &str) -> Value {
        self.describe(CORE, key).value
    }

    pub fn describe(&self, space: &str, key: &str) -> Described {
        self.read(|state| {
            let (value, origin) = state.effective(space, key);
            let secret = state.is_secret(space, key);
            Described {
                def: state.def(space, key).cloned(),
                value: if secret { check::masked(value.is_some()) } else { value.unwrap_or(Value::Null) },
                origin,
                trust: is_trust_key(space, key),
            }
        })
    }

    /// The value of a secret, for the part of the program that uses it. Never for a caller.
    pub fn secret(&self, space: &str, key: &str) -> Option<String> {
        let value = self.read(|state| state.effective(space, key).0);
        value.as_ref().and_then(Value::as_str).map(str::to_owned)
    }

    /// Values of flags, environment and file that their definitions do not allow, for the start to refuse.
    pub fn problems(&self) -> Vec<String> {
        self.read(State::problems)
    }

    /// The file was read again.
    pub fn set_file(&self, file: Layer) {
        let changed = self.write(|state| state.replace_file(file));
        changed.into_iter().for_each(|(space, key)| self.tell(space, key));
    }

    /// A plugin stopped: its definitions leave with it; what was stored stays for its return.
    pub fn forget_plugin(&self, plugin: &str) {
        self.write(|state| state.defs.retain(|(space, _), _| space != plugin || space == CORE));
    }

    /// Text as the definition of this key means it: `5` is a number where a number is wanted.
    pub fn typed(&self, space: &str, key: &str, text: String) -> Value {
        self.read(|state| check::read(state.def(space, key), &Value::String(text)))
    }

    fn define(&self, space: &str, def: ConfigDef) -> Result<(), Failure> {
        check::definition(space, &def)?;
        self.write(|state| state.defs.insert((space.to_owned(), def.key.clone()), def));
        Ok(())
    }

    /// Checks, stores, then lets it hold; all of it or nothing, even if nobody waits for it any more.
    async fn put(&self, space: &str, key: &str, value: Value) -> Result<(), Failure> {
        let (settings, space, key) = (self.clone(), space.to_owned(), key.to_owned());
        let writing = tokio::spawn(async move { settings.put_now(space, key, value).await });
        writing.await.unwrap_or_else(|error| Err(Failure::failed(format!("the setting was not stored: {error}"))))
    }

    async fn put_now(&self, space: String, key: String, value: Value) -> Result<(), Failure> {
        let _one_at_a_time = self.inner.writing.lock().await;
        let secret = self.read(|state| state.admit(&space, &key, &value))?;
        let before = self.describe(&space, &key);
        if value.is_null() {
            self.inner.store.remove(&space, &key).await?;
        } else {
            let setting = StoredSetting { space: space.clone(), key: key.clone(), value: value.clone(), secret };
            self.inner.store.put(setting).await?;
        }
        let place = (space.clone(), key.clone());
        self.write(|state| match value {
            Value::Null => state.stored.remove(&place),
            value => state.stored.insert(place, (value, secret)),
        });
        // A secret looks the same before and after.
        if secret || self.describe(&space, &key) != before {
            self.tell(space, key);
        }
        Ok(())
    }

    fn tell(&self, space: String, key: String) {
        // Nobody listens: nobody needs to know.
        let _ = self.inner.changes.send(Changed { space, key });
    }

    fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.inner.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.inner.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keys of a space that have a value or a definition.
    fn keys(&self, space: &str, prefix: &str) -> Vec<String> {
        self.read(|state| state.keys(space)).into_iter().filter(|key| key.starts_with(prefix)).collect()
    }

    fn spaces(&self) -> Vec<String> {
        self.read(State::spaces)
    }

    fn definitions(&self, space: &str, prefix: &str) -> Vec<ConfigDef> {
        self.read(|state| {
            let of_space = state.defs.iter().filter(|((of, key), _)| of == space && key.starts_with(prefix));
            of_space.map(|(_, def)| def.clone()).collect()
        })
    }

    fn dump_of(&self, space: &str, may_see: impl Fn(&str) -> bool) -> Map<String, Value> {
        let keys = self.keys(space, "").into_iter().filter(|key| may_see(key));
        keys.map(|key| (key.clone(), self.describe(space, &key).value)).collect()
    }
}

type Place = (String, String);
type Stored = BTreeMap<Place, (Value, bool)>;

fn forbidden(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Forbidden, message)
}
