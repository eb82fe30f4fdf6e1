//! From what answers to what is near it. Start at [`walk`]. Invariant: a step looks at no more than
//! [`RECALL_FRONTIER_MAX`] things and, of each, at its newest [`RECALL_EDGES_MAX`] facts in either direction.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::rows::Span;
use crate::StoreError;

/// Limit: recall follows so many things at each step, those that were reached best first.
const RECALL_FRONTIER_MAX: usize = 24;
/// Limit: and so many facts of each, the newest, in either direction.
const RECALL_EDGES_MAX: i64 = 12;
/// Limit: more steps than these lead nowhere that a question meant.
const RECALL_DEPTH_MAX: u32 = 4;
/// What is one step further counts for so much.
const STEP: f64 = 0.5;

/// A fact that was come by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub id: i64,
    pub score: f64,
}

/// Facts around these things, nearest first and newest first among them, none twice.
pub(super) fn walk(
    connection: &Connection,
    start: &[(i64, f64)],
    depth: u32,
    span: Span,
) -> Result<Vec<Passed>, StoreError> {
    let mut seen_entities: HashSet<i64> = start.iter().map(|&(id, _)| id).collect();
    let mut seen_facts = HashSet::new();
    let mut passed = Vec::new();
    let mut frontier: Vec<(i64, f64)> = start.iter().copied().take(RECALL_FRONTIER_MAX).collect();
    for _ in 0..depth.min(RECALL_DEPTH_MAX) {
        let mut next = Vec::new();
        for &(entity, score) in &frontier {
            let score = score * STEP;
            for (id, other, told_at_ms) in edges(connection, entity)? {
                if span.holds(told_at_ms) && seen_facts.insert(id) {
                    passed.push(Passed { id, score });
                }
                if seen_entities.insert(other) {
                    next.push((other, score));
                }
            }
        }
        next.truncate(RECALL_FRONTIER_MAX);
        frontier = next;
    }
    Ok(passed)
}

/// Fact, the thing at its other end, when it was told.
fn edges(connection: &Connection, entity: i64) -> Result<Vec<(i64, i64, i64)>, StoreError> {
    let mut found = Vec::new();
    for sql in [
        "SELECT id, target, told_at_ms FROM memory_facts WHERE source = ?1 AND forgotten IS NULL ORDER BY told_at_ms DESC LIMIT ?2",
        "SELECT id, source, told_at_ms FROM memory_facts WHERE target = ?1 AND forgotten IS NULL ORDER BY told_at_ms DESC LIMIT ?2",
    ] {
        let mut select = connection.prepare_cached(sql)?;
        let rows =
            select.query_map(params![entity, RECALL_EDGES_MAX], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for edge in rows {
            found.push(edge?);
        }
    }
    Ok(found)
}
