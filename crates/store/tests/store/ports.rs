//! The SQLite store against what the ports promise. An adapter for another database gets a file like
//! this one, with the same list.

use store::{Options, Store};
use tempfile::TempDir;

use crate::conformance::{self, Ports};

fn ports() -> (TempDir, Ports) {
    let folder = TempDir::new().unwrap();
    let store = Store::open(folder.path(), &Options::default()).unwrap();
    let ports = Ports {
        inbox: store.inbox(),
        turns: store.turns(),
        outbox: store.outbox(),
        events: store.events(),
        schedules: store.schedules(),
        settings: store.settings(),
        text: store.text(),
    };
    (folder, ports)
}

conformance::tests_over!(ports);
