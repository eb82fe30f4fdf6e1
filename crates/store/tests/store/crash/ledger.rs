//! What was acknowledged so far, and whether the store still knows all of it. Start at [`Ledger::check`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::Connection;
use store::{Database, Options, Store};

#[derive(Default)]
pub struct Ledger {
    /// Client's id to the input's.
    puts: BTreeMap<String, i64>,
    answered: BTreeSet<i64>,
    delivered: BTreeSet<i64>,
    added: BTreeSet<String>,
    fired: BTreeSet<String>,
    daily: BTreeSet<i64>,
    events: BTreeSet<i64>,
    lines: BTreeSet<String>,
}

/// Each input's text with how often it is there.
struct Found {
    inputs: BTreeMap<String, (i64, u64)>,
    answered: BTreeSet<i64>,
    waiting: BTreeSet<i64>,
    scheduled: BTreeMap<String, i64>,
}

impl Ledger {
    pub fn note(&mut self, lines: &[String]) {
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let number = || words[1].parse::<i64>().unwrap();
            let fresh = match words[0] {
                "put" => self.puts.insert(words[2].into(), number()).is_none(),
                "answered" => self.answered.insert(number()),
                "delivered" => self.delivered.insert(number()),
                "added" => self.added.insert(words[1].into()),
                "fired" => self.fired.insert(words[1].into()),
                "daily" => self.daily.insert(number()),
                "event" => self.events.last().is_none_or(|last| number() > *last) && self.events.insert(number()),
                "text" => self.lines.insert(words[1].into()),
                other => panic!("the child says {other}"),
            };
            assert!(fresh, "{line}: that was acknowledged before");
        }
    }

    pub fn check(&self, folder: &Path, run: &str) {
        if !folder.join("menshen.db").exists() {
            assert!(self.puts.is_empty(), "{run}: the file is gone");
            return;
        }
        let store = Store::open(folder, &Options::default()).unwrap_or_else(|error| panic!("{run}: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(store.database().read(|connection| Ok(Found::read(connection)))).unwrap();
        self.check_inputs(&found, run);
        self.check_schedules(&found, run);
        let delivered_again: Vec<_> = self.delivered.intersection(&found.waiting).collect();
        assert!(delivered_again.is_empty(), "{run}: delivered and still waiting: {delivered_again:?}");
        self.check_text(folder, run);
        runtime.block_on(check_answers(store.database(), run));
    }

    fn check_inputs(&self, found: &Found, run: &str) {
        for (client, id) in &self.puts {
            assert_eq!(found.inputs.get(client), Some(&(*id, 1)), "{run}: {client} was accepted as {id}");
        }
        let forgotten: Vec<_> = self.answered.difference(&found.answered).collect();
        assert!(forgotten.is_empty(), "{run}: answered and not answered any more: {forgotten:?}");
    }

    fn check_schedules(&self, found: &Found, run: &str) {
        for (text, (_, count)) in &found.inputs {
            assert!(*count == 1 || text == "daily", "{run}: {text} came {count} times");
        }
        for id in &self.added {
            let (waits, fired) = (found.scheduled.contains_key(id), found.inputs.contains_key(id));
            assert!(waits != fired, "{run}: {id} waits: {waits}, fired: {fired}");
            assert!(fired || !self.fired.contains(id), "{run}: {id} fired and came back");
        }
        let fired = found.inputs.get("daily").map_or(0, |(_, count)| *count);
        let next = found.scheduled.get("daily").copied().unwrap_or(1);
        assert_eq!(fired, u64::try_from(next - 1).unwrap(), "{run}: one input for each time that passed");
        assert!(self.daily.last().is_none_or(|last| *last < next), "{run}: a time that fired is due again");
    }

    fn check_text(&self, folder: &Path, run: &str) {
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        let files = std::fs::read_dir(folder.join("text")).into_iter().flatten();
        for file in files {
            for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
                let event: Option<sdk::TextEvent> = serde_json::from_str(line).ok();
                *lines.entry(event.map(|event| event.content).unwrap_or_default()).or_default() += 1;
            }
        }
        for line in &self.lines {
            assert_eq!(lines.get(line), Some(&1), "{run}: {line}");
        }
    }
}

impl Found {
    fn read(connection: &Connection) -> Self {
        let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
        let mut inputs: BTreeMap<String, (i64, u64)> = BTreeMap::new();
        for (text, id) in pairs(connection, "SELECT input ->> 'text', id FROM inputs ORDER BY id") {
            inputs.entry(text).or_insert((id, 0)).1 += 1;
        }
        let ids = |sql| pairs(connection, sql).into_iter().map(|(_, id)| id).collect();
        Self {
            inputs,
            answered: ids("SELECT '', id FROM inputs WHERE turn IS NOT NULL"),
            waiting: ids("SELECT '', id FROM outbox"),
            scheduled: pairs(connection, "SELECT id, next_at_ms FROM schedules").into_iter().collect(),
        }
    }
}

fn pairs(connection: &Connection, sql: &str) -> Vec<(String, i64)> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// An input has an answer exactly when the turn, its two messages and its reply are there.
async fn check_answers(database: &Database, run: &str) {
    let halves = database.read(|connection| {
        Ok(pairs(
            connection,
            "SELECT 'turn and messages', number FROM turns
                WHERE (answered_at_ms IS NOT NULL) <> ((SELECT count(*) FROM messages WHERE messages.turn = turns.turn) = 2)
             UNION ALL SELECT 'input and turn', id FROM inputs
                WHERE turn IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.turn = inputs.turn AND answered_at_ms IS NOT NULL)
             UNION ALL SELECT 'turn and input', number FROM turns
                WHERE answered_at_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM inputs WHERE inputs.turn = turns.turn)",
        ))
    });
    let halves = halves.await.unwrap();
    assert!(halves.is_empty(), "{run}: half an answer: {halves:?}");
}
