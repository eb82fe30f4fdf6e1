//! The settings in memory. Start at [`State::effective`]. Invariant: pure; what is asked twice is
//! answered alike until something is changed.

use std::collections::{BTreeMap, BTreeSet};

use sdk::{ConfigDef, Failure, FailureKind};
use serde_json::Value;

use super::layers::{Layer, Layers, Origin};
use super::{CORE, Place, SETTINGS_OF_PLUGIN_MAX, Stored, check, forbidden, trust};

#[derive(Default)]
pub(super) struct State {
    pub(super) stored: Stored,
    pub(super) defs: BTreeMap<Place, ConfigDef>,
    pub(super) layers: Layers,
}

impl State {
    /// The definition of a key: its own, or one with open parts that it fits.
    pub(super) fn def(&self, space: &str, key: &str) -> Option<&ConfigDef> {
        self.defs.get(&(space.to_owned(), key.to_owned())).or_else(|| {
            let parts = key.split('.').count();
            let open = |((of, pattern), _): &(&Place, &ConfigDef)| {
                of == space
                    && pattern.contains('*')
                    && pattern.split('.').count() == parts
                    && pattern.split('.').zip(key.split('.')).all(|(pattern, part)| trust::fits(pattern, part))
            };
            self.defs.iter().find(open).map(|(_, def)| def)
        })
    }

    pub(super) fn is_secret(&self, space: &str, key: &str) -> bool {
        let stored = self.stored.get(&(space.to_owned(), key.to_owned())).is_some_and(|(_, secret)| *secret);
        stored || self.def(space, key).is_some_and(|def| def.secret)
    }

    /// What holds, and from where. What its definition does not allow (any more) does not hold.
    pub(super) fn effective(&self, space: &str, key: &str) -> (Option<Value>, Origin) {
        let def = self.def(space, key);
        let allowed = |value: &Value| def.is_none_or(|def| check::value(def, key, value).is_ok());
        let place = (space.to_owned(), key.to_owned());
        for (origin, layer) in self.layers.all() {
            if let Some(value) = layer.get(&place).map(|value| check::read(def, value)).filter(&allowed) {
                return (Some(value), origin);
            }
        }
        if let Some((value, _)) = self.stored.get(&place).filter(|(value, _)| allowed(value)) {
            return (Some(value.clone()), Origin::Store);
        }
        match def.and_then(|def| def.default.clone()) {
            Some(default) => (Some(default), Origin::Default),
            None => (None, Origin::Nothing),
        }
    }

    /// Whether a value may be stored, and whether it is a secret.
    pub(super) fn admit(&self, space: &str, key: &str, value: &Value) -> Result<bool, Failure> {
        check::key(space, key)?;
        check::size(key, value)?;
        let (_, origin) = self.effective(space, key);
        if matches!(origin, Origin::Flag | Origin::Environment | Origin::File) {
            let place = origin.told();
            return Err(forbidden(format!(
                "`{key}` is set {place}, which goes before: change it there. Nothing was changed."
            )));
        }
        let def = self.def(space, key);
        match (def, value) {
            (None, _) if space == CORE => {
                let near = self.keys(CORE).into_iter().filter(|known| known.split('.').next() == key.split('.').next());
                let near: Vec<String> = near.take(5).collect();
                let hint = if near.is_empty() { String::new() } else { format!("; there are {}", near.join(", ")) };
                return Err(Failure::not_found(format!("there is no setting `{key}`{hint}. Nothing was changed.")));
            }
            (Some(def), Value::Null) if def.required && def.default.is_none() => {
                return Err(Failure::invalid(format!("`{key}` is required: give a value. Nothing was changed.")));
            }
            (Some(def), value) if !value.is_null() => check::value(def, key, value)?,
            _ => {}
        }
        let place = (space.to_owned(), key.to_owned());
        let new = !value.is_null() && !self.stored.contains_key(&place);
        let count = self.stored.keys().filter(|(of, _)| of == space).count();
        if new && space != CORE && count >= SETTINGS_OF_PLUGIN_MAX {
            let message = format!("`{space}` has {count} settings already: remove some. Nothing was changed.");
            return Err(Failure::new(FailureKind::Full, message));
        }
        Ok(match def {
            Some(def) => def.secret,
            // Without a definition it stays what it was.
            None => self.is_secret(space, key),
        })
    }

    pub(super) fn keys(&self, space: &str) -> BTreeSet<String> {
        let stored = self.stored.keys();
        let defined = self.defs.keys().filter(|(_, key)| !key.contains('*'));
        let layers = self.layers.all();
        let layered = layers.iter().flat_map(|(_, layer)| layer.keys());
        let all = stored.chain(defined).chain(layered).filter(|(of, _)| of == space);
        all.map(|(_, key)| key.clone()).collect()
    }

    /// The core, then each plugin that has a setting.
    pub(super) fn spaces(&self) -> Vec<String> {
        let plugins: BTreeSet<&String> = self.stored.keys().chain(self.defs.keys()).map(|(space, _)| space).collect();
        let plugins = plugins.into_iter().filter(|space| *space != CORE).cloned();
        std::iter::once(CORE.to_owned()).chain(plugins).collect()
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (origin, layer) in self.layers.all() {
            for ((space, key), value) in layer {
                let def = self.def(space, key);
                let value = check::read(def, value);
                let problem = match def {
                    Some(def) => check::value(def, key, &value).err().map(|failure| failure.message),
                    None if space == CORE => Some(format!("there is no setting `{key}`")),
                    None => None,
                };
                found.extend(problem.map(|problem| format!("{problem} (set {})", origin.told())));
            }
        }
        found
    }

    /// The places whose value is another one now.
    pub(super) fn replace_file(&mut self, file: Layer) -> Vec<Place> {
        let places: BTreeSet<Place> = self.layers.file.keys().chain(file.keys()).cloned().collect();
        let now = |state: &Self| -> Vec<Option<Value>> {
            places.iter().map(|(space, key)| state.effective(space, key).0).collect()
        };
        let before = now(self);
        self.layers.file = file;
        let after = now(self);
        let changed = before.iter().zip(&after).map(|(before, after)| before != after);
        places.iter().zip(changed).filter(|(_, changed)| *changed).map(|(place, _)| place.clone()).collect()
    }
}
