//! Two names for one thing become one. Start at [`merge`]. Invariant: no fact is lost, but those that said
//! something of the two names together.

use decide::text::clean;
use kernel::ports::Failure;
use rusqlite::{Connection, params};

use super::forget::leave_alone;
use super::rows::{Row, any, entity};
use crate::StoreError;
use crate::search::{Corpus, Dictionary};

/// How many facts were moved.
pub(super) fn merge(
    connection: &Connection,
    dictionary: &Dictionary,
    source: &str,
    target: &str,
) -> Result<u64, StoreError> {
    let find = |name: &str| -> Result<i64, StoreError> {
        let missing =
            || Failure::not_found(format!("nothing is known of {}: recall shows the names", clean(name, 120)));
        Ok(entity(connection, name)?.ok_or_else(missing)?)
    };
    let (from, to) = (find(source)?, find(target)?);
    if from == to {
        return Err(Failure::invalid("both names are of one thing already").into());
    }
    let mut select = connection.prepare_cached(
        "SELECT id FROM memory_facts WHERE source = ?1 UNION SELECT id FROM memory_facts WHERE target = ?1",
    )?;
    let ids = select.query_map([from], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut moved = 0;
    for id in ids {
        let Some(row) = any(connection, id)? else { continue };
        moved += u64::from(move_one(connection, dictionary, &row, from, to)?);
    }
    connection.execute(
        "UPDATE memory_entities SET mentions = mentions + (SELECT mentions FROM memory_entities WHERE id = ?1) WHERE id = ?2",
        [from, to],
    )?;
    leave_alone(connection, from)?;
    Ok(moved)
}

fn move_one(
    connection: &Connection,
    dictionary: &Dictionary,
    row: &Row,
    from: i64,
    to: i64,
) -> Result<bool, StoreError> {
    let forgotten: bool =
        connection
            .query_row("SELECT forgotten IS NOT NULL FROM memory_facts WHERE id = ?1", [row.id], |row| row.get(0))?;
    if !forgotten {
        Corpus::Facts.take_out(connection, row.id, &row.cut(dictionary))?;
    }
    let source = if row.source == from { to } else { row.source };
    let target = if row.target == from { to } else { row.target };
    let same: Option<i64> = connection
        .prepare_cached(
            "SELECT other.id FROM memory_facts AS other JOIN memory_facts AS this ON this.id = ?3
             WHERE other.source = ?1 AND other.target = ?2 AND other.relation_key = this.relation_key",
        )?
        .query_map(params![source, target, row.id], |row| row.get(0))?
        .next()
        .transpose()?;
    if source == target || same.is_some() {
        // Known of the other name already: that one keeps the newer time.
        if let Some(same) = same.filter(|_| !forgotten) {
            connection.execute(
                "UPDATE memory_facts SET told_at_ms = max(told_at_ms, ?1) WHERE id = ?2",
                [row.told_at_ms, same],
            )?;
        }
        connection.execute("DELETE FROM memory_facts WHERE id = ?1", [row.id])?;
        return Ok(same.is_some() && !forgotten);
    }
    connection.execute("UPDATE memory_facts SET source = ?1, target = ?2 WHERE id = ?3", [source, target, row.id])?;
    if let Some(row) = any(connection, row.id)?.filter(|_| !forgotten) {
        Corpus::Facts.put(connection, row.id, &row.cut(dictionary))?;
    }
    Ok(!forgotten)
}
