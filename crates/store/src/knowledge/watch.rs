//! Keeping the index current. Start at [`KnowledgeFolder::watch`]. Invariant: many changes at once are one
//! rescan; what the system does not tell of is found within [`KNOWLEDGE_RESCAN`].

use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::KnowledgeFolder;

/// After a change so much quiet is waited for.
const QUIET: Duration = Duration::from_millis(400);
/// A folder that is written to without end is read this often.
const UNREST_MAX: Duration = Duration::from_secs(10);
/// Limit: a change that the system does not tell of (a network drive) is found after this time.
const KNOWLEDGE_RESCAN: Duration = Duration::from_secs(600);

/// Watches until it is dropped.
pub struct Watch {
    /// None where the system cannot watch; the folder is looked at now and then all the same.
    _watcher: Option<notify::RecommendedWatcher>,
    task: JoinHandle<()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl KnowledgeFolder {
    /// Reads the folder now, and again after each change.
    pub fn watch(&self) -> Watch {
        let (changed, changes) = mpsc::channel(1);
        let told = move |event: notify::Result<notify::Event>| {
            if !event.is_ok_and(|event| event.kind.is_access()) {
                // Full means that a rescan is due already.
                let _ = changed.try_send(());
            }
        };
        let watcher = std::fs::create_dir_all(self.root())
            .map_err(notify::Error::io)
            .and_then(|()| notify::recommended_watcher(told))
            .and_then(|mut watcher| watcher.watch(self.root(), RecursiveMode::Recursive).map(|()| watcher));
        let watcher = watcher.map_err(|error| {
            tracing::warn!(folder = %self.root().display(), %error, "changes of knowledge files are found late");
        });
        Watch { _watcher: watcher.ok(), task: tokio::spawn(keep_current(self.clone(), changes)) }
    }
}

async fn keep_current(folder: KnowledgeFolder, mut changes: mpsc::Receiver<()>) {
    loop {
        if let Err(error) = folder.rescan().await {
            tracing::warn!(%error, "the knowledge folder could not be read; it is tried again");
        }
        match timeout(KNOWLEDGE_RESCAN, changes.recv()).await {
            Ok(Some(())) => settle(&mut changes).await,
            // Without a watcher nobody sends: wait, rather than ask again at once.
            Ok(None) => sleep(KNOWLEDGE_RESCAN).await,
            Err(_) => {}
        }
    }
}

/// Until nothing was changed for a moment; a file that never rests is not waited for.
async fn settle(changes: &mut mpsc::Receiver<()>) {
    let quiet = async { while let Ok(Some(())) = timeout(QUIET, changes.recv()).await {} };
    let _ = timeout(UNREST_MAX, quiet).await;
}
