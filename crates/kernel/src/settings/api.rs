//! The thirteen calls, for one caller. Start at [`Face`]. Invariant: every call passes by the caller's
//! rights first.

use sdk::{BoxFuture, ConfigDef, Failure, SettingsApi};
use serde_json::{Map, Value, json};

use super::{CORE, Caller, Settings, check, forbidden};

pub(super) struct Face {
    pub(super) settings: Settings,
    pub(super) caller: Caller,
}

impl Face {
    fn read(&self, space: &str, key: &str) -> Result<Value, Failure> {
        check::key(space, key)?;
        self.caller.may_read(space)?;
        if !self.caller.may_see(&self.settings, space, key) {
            return Err(forbidden(format!(
                "`{key}` is not shown in a conversation: a person can see it in the console"
            )));
        }
        Ok(self.settings.describe(space, key).value)
    }

    async fn write(&self, space: &str, key: &str, value: Value) -> Result<(), Failure> {
        check::key(space, key)?;
        self.caller.may_write(&self.settings, space, key, &value)?;
        self.settings.put(space, key, value).await
    }

    fn keys(&self, space: &str, prefix: &str) -> Result<Vec<String>, Failure> {
        self.caller.may_read(space)?;
        let keys = self.settings.keys(space, prefix).into_iter();
        Ok(keys.filter(|key| self.caller.may_see(&self.settings, space, key)).collect())
    }
}

/// The space of a plugin, which is never the core's.
fn of_plugin(name: &str) -> Result<&str, Failure> {
    if name == CORE {
        return Err(Failure::invalid("`core` is no plugin: use the calls for the core"));
    }
    if name.is_empty() || name.len() > 64 || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
        return Err(Failure::invalid("a plugin's name has ASCII letters, digits, _, - and dots, at most 64"));
    }
    Ok(name)
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl SettingsApi for Face {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Value, Failure>> {
        ready(self.read(self.caller.own(), key))
    }

    fn set<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.write(self.caller.own(), key, value))
    }

    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, Failure>> {
        ready(self.keys(self.caller.own(), prefix))
    }

    fn get_core<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Value, Failure>> {
        ready(self.read(CORE, key))
    }

    fn set_core<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.write(CORE, key, value))
    }

    fn list_core<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, Failure>> {
        ready(self.keys(CORE, prefix))
    }

    fn get_plugin<'a>(&'a self, plugin: &'a str, key: &'a str) -> BoxFuture<'a, Result<Value, Failure>> {
        ready(of_plugin(plugin).and_then(|plugin| self.read(plugin, key)))
    }

    fn set_plugin<'a>(&'a self, plugin: &'a str, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move { self.write(of_plugin(plugin)?, key, value).await })
    }

    fn list_plugin<'a>(&'a self, plugin: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, Failure>> {
        ready(of_plugin(plugin).and_then(|plugin| self.keys(plugin, prefix)))
    }

    fn register_def<'a>(&'a self, def: ConfigDef) -> BoxFuture<'a, Result<(), Failure>> {
        ready(match &self.caller {
            Caller::Plugin { name, .. } => of_plugin(name).and_then(|name| self.settings.define(name, def)),
            _ => Err(forbidden("only a plugin defines settings, its own; those of the core come with the program")),
        })
    }

    fn defs<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<ConfigDef>, Failure>> {
        let own = self.caller.own();
        let defs = self.settings.definitions(own, prefix).into_iter();
        ready(Ok(defs.filter(|def| self.caller.may_see(&self.settings, own, &def.key)).collect()))
    }

    fn dump(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        let readable = self.settings.spaces().into_iter().filter(|space| self.caller.may_read(space).is_ok());
        let dump = readable.map(|space| {
            let seen = self.settings.dump_of(&space, |key| self.caller.may_see(&self.settings, &space, key));
            (space, json!(seen))
        });
        ready(Ok(dump.collect()))
    }

    fn plugins(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>> {
        ready(Ok(self.settings.spaces().into_iter().filter(|space| space != CORE).collect()))
    }
}
