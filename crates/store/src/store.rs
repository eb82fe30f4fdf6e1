//! One data folder, opened. Start at [`Store::open`]. Invariant: all that is handed out here shares one
//! file, one writer and one lock; they end with the last of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::ports::{Events, Inbox, Outbox, Schedules, SettingsStore, TextMemory, TurnLog};

use crate::database::{Access, Database, Folder};
use crate::error::StoreError;
use crate::search::Dictionary;
use crate::settings::SealedSettings;
use crate::text::{TextFiles, TextLimits};

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub access: Access,
    /// The key for secrets; `secret.key` in the data folder where none is named.
    pub key_file: Option<PathBuf>,
    pub text: TextLimits,
    /// The words that all in this store is searched by; read when they are first needed.
    pub dictionary: Dictionary,
}

#[derive(Clone)]
pub struct Store {
    database: Database,
    settings: SealedSettings,
    text: TextFiles,
    key_file: PathBuf,
    dictionary: Dictionary,
}

impl Store {
    /// Makes the folder where there is none; see [`Database::open`].
    pub fn open(folder: &Path, options: &Options) -> Result<Self, StoreError> {
        let database = Database::open(folder, options.access)?;
        let folder = database.folder();
        let key_file = options.key_file.clone().unwrap_or_else(|| folder.key());
        let settings = SealedSettings::new(database.clone(), &key_file);
        let dictionary = options.dictionary.clone();
        let text = TextFiles::new(&folder.text(), options.text, database.clone(), dictionary.clone());
        Ok(Self { database, settings, text, key_file, dictionary })
    }

    pub fn inbox(&self) -> Arc<dyn Inbox> {
        Arc::new(self.database.clone())
    }

    pub fn turns(&self) -> Arc<dyn TurnLog> {
        Arc::new(self.database.clone())
    }

    pub fn outbox(&self) -> Arc<dyn Outbox> {
        Arc::new(self.database.clone())
    }

    pub fn events(&self) -> Arc<dyn Events> {
        Arc::new(self.database.clone())
    }

    pub fn schedules(&self) -> Arc<dyn Schedules> {
        Arc::new(self.database.clone())
    }

    pub fn settings(&self) -> Arc<dyn SettingsStore> {
        Arc::new(self.settings.clone())
    }

    pub fn text(&self) -> Arc<dyn TextMemory> {
        Arc::new(self.text.clone())
    }

    /// The words of the household, for all that searches in this store.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// For its numbers.
    pub fn text_files(&self) -> &TextFiles {
        &self.text
    }

    pub fn database(&self) -> &Database {
        &self.database
    }

    pub fn folder(&self) -> &Folder {
        self.database.folder()
    }

    pub fn key_file(&self) -> &Path {
        &self.key_file
    }
}
