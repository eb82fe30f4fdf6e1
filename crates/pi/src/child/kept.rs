//! Which of our conversations is which of pi's, over a restart of ours. Start at [`Kept::load`]. Invariant: the
//! file is whole, old or new.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub struct Kept {
    path: Option<PathBuf>,
    names: Mutex<BTreeMap<String, String>>,
}

impl Kept {
    pub fn load(path: Option<PathBuf>) -> Self {
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let names = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { path, names: Mutex::new(names) }
    }

    pub fn of(&self, session: &str) -> Option<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    pub fn set(&self, session: &str, name: Option<&str>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.get(session).map(String::as_str) == name {
            return;
        }
        match name {
            Some(name) => names.insert(session.to_owned(), name.to_owned()),
            None => names.remove(session),
        };
        let Some(path) = &self.path else { return };
        let beside = path.with_extension("new");
        let text = serde_json::json!(*names).to_string();
        let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
        if let Err(error) = written {
            tracing::warn!(target: "pi", "which conversation is which cannot be kept in {}: {error}", path.display());
        }
    }
}
