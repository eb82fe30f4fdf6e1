//! Forgetting, and bringing back. Start at [`Criteria`]. Invariant: every criterion must hold, and what
//! nobody named is never deleted: no criterion, an empty one or an unknown one is an error.

use std::collections::BTreeMap;

use kernel::ports::{Failure, Purged};
use rusqlite::{Connection, params};
use sdk::PurgeMode;

use super::new_undo;
use super::rows::{any, key};
use crate::StoreError;
use crate::search::{Corpus, Dictionary};

/// So many of the deleted are shown.
const SHOWN_MAX: usize = 20;

#[derive(Clone, Debug, Default)]
pub(super) struct Criteria {
    subject: Option<String>,
    target: Option<String>,
    relation: Option<String>,
    session: Option<String>,
}

impl Criteria {
    pub(super) fn read(given: &BTreeMap<String, String>) -> Result<Self, Failure> {
        const KNOWN: &str = "subject_contains, target_contains, relation_type, session_id";
        let mut criteria = Self::default();
        for (name, value) in given {
            let compared = if name == "session_id" { value.clone() } else { key(value) };
            if compared.is_empty() {
                return Err(Failure::invalid(format!(
                    "the criterion {name} is empty and would fit everything: give it a value"
                )));
            }
            let place = match name.as_str() {
                "subject_contains" => &mut criteria.subject,
                "target_contains" => &mut criteria.target,
                "relation_type" => &mut criteria.relation,
                "session_id" => &mut criteria.session,
                _ => return Err(Failure::invalid(format!("there is no criterion {name}: use {KNOWN}"))),
            };
            *place = Some(compared);
        }
        if given.is_empty() {
            return Err(Failure::invalid(format!("say what to forget, nothing was deleted: use {KNOWN}")));
        }
        Ok(criteria)
    }

    /// Ids of the facts that all criteria fit. For good goes also what was forgotten before.
    fn matching(&self, connection: &Connection, mode: PurgeMode) -> Result<Vec<i64>, StoreError> {
        let mut select = connection.prepare_cached(
            "SELECT fact.id FROM memory_facts AS fact
             JOIN memory_entities AS a ON a.id = fact.source JOIN memory_entities AS b ON b.id = fact.target
             WHERE (?1 IS NULL OR instr(a.key, ?1) > 0) AND (?2 IS NULL OR instr(b.key, ?2) > 0)
                 AND (?3 IS NULL OR fact.relation_key = ?3) AND (?4 IS NULL OR fact.session = ?4)
                 AND (?5 OR fact.forgotten IS NULL) ORDER BY fact.told_at_ms DESC",
        )?;
        let hard = mode == PurgeMode::Hard;
        let found = select
            .query_map(params![self.subject, self.target, self.relation, self.session, hard], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    pub(super) fn preview(&self, connection: &Connection, mode: PurgeMode) -> Result<Purged, StoreError> {
        let ids = self.matching(connection, mode)?;
        shown(connection, &ids)
    }

    pub(super) fn forget(
        &self,
        connection: &Connection,
        dictionary: &Dictionary,
        mode: PurgeMode,
    ) -> Result<Purged, StoreError> {
        let ids = self.matching(connection, mode)?;
        let mut purged = shown(connection, &ids)?;
        if ids.is_empty() {
            return Ok(purged);
        }
        let undo = new_undo(connection)?;
        for &id in &ids {
            let Some(row) = any(connection, id)? else { continue };
            Corpus::Facts.take_out(connection, id, &row.cut(dictionary))?;
            if mode == PurgeMode::Hard {
                connection.prepare_cached("DELETE FROM memory_facts WHERE id = ?1")?.execute([id])?;
                leave_alone(connection, row.source)?;
                leave_alone(connection, row.target)?;
            } else {
                connection
                    .prepare_cached("UPDATE memory_facts SET forgotten = ?1 WHERE id = ?2")?
                    .execute(params![undo, id])?;
            }
        }
        if mode == PurgeMode::Soft {
            purged.undo = undo;
        }
        Ok(purged)
    }
}

/// Takes out an entity that no fact names any more.
pub(super) fn leave_alone(connection: &Connection, entity: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "DELETE FROM memory_entities WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM memory_facts WHERE source = ?1)
                 AND NOT EXISTS (SELECT 1 FROM memory_facts WHERE target = ?1)",
        )?
        .execute([entity])?;
    Ok(())
}

fn shown(connection: &Connection, ids: &[i64]) -> Result<Purged, StoreError> {
    let mut facts = Vec::new();
    for &id in ids.iter().take(SHOWN_MAX) {
        facts.extend(any(connection, id)?.map(|row| row.recalled(0.0)));
    }
    Ok(Purged { count: u64::try_from(ids.len()).unwrap_or(u64::MAX), facts, undo: String::new() })
}

/// Brings back what was forgotten under this name; how many facts that were.
pub(super) fn restore(connection: &Connection, dictionary: &Dictionary, undo: &str) -> Result<u64, StoreError> {
    let mut select = connection.prepare_cached("SELECT id FROM memory_facts WHERE forgotten = ?1")?;
    let ids = select.query_map([undo], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    if ids.is_empty() {
        return Err(Failure::not_found(
            "nothing can be brought back under this name: it was restored already, learned again, or deleted for good",
        )
        .into());
    }
    for &id in &ids {
        connection.prepare_cached("UPDATE memory_facts SET forgotten = NULL WHERE id = ?1")?.execute([id])?;
        if let Some(row) = any(connection, id)? {
            Corpus::Facts.put(connection, id, &row.cut(dictionary))?;
        }
    }
    Ok(u64::try_from(ids.len()).unwrap_or(u64::MAX))
}
