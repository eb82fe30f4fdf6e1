//! The lines of the text memory, found by their words. Start at [`TextIndex::find`].
//!
//! Invariants: the files are the truth and this can be thrown away; it holds where a line lies and by what
//! it is found, no text; what does not lie where the index has it is never given.

use std::path::{Path, PathBuf};

use decide::rank::Need;
use kernel::ports::{TextHit, TextQuery};
use rusqlite::{Connection, OptionalExtension, params};
use sdk::TextEvent;

use super::files::line_at;
use crate::Database;
use crate::error::StoreError;
use crate::search::{Corpus, Dictionary, Source, Strictness, Text};

/// Of the lines that have words of the question, so many are read and compared with it.
const COMPARED_MAX: usize = 80;

/// Of a question of common words only, so many are looked for.
const LITERAL_MAX: usize = 8;

/// Where a line begins. Ordered as the lines were written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    /// Name of the file in the folder.
    pub file: String,
    /// Bytes before the line.
    pub offset: u64,
}

/// What a search came to.
pub(super) struct Answer {
    /// Best first, with scores from 0 to 1.
    pub hits: Vec<TextHit>,
    /// A line is not where it was: the files were changed by another hand.
    pub is_stale: bool,
}

#[derive(Clone)]
pub(super) struct TextIndex {
    database: Database,
    dictionary: Dictionary,
}

impl TextIndex {
    pub(super) fn new(database: Database, dictionary: Dictionary) -> Self {
        Self { database, dictionary }
    }

    /// The last place of those that it holds.
    pub(super) async fn newest(&self) -> Result<Option<TextPlace>, StoreError> {
        self.database
            .read(|connection| {
                let mut select = connection
                    .prepare_cached("SELECT file, offset FROM text_lines ORDER BY file DESC, offset DESC LIMIT 1")?;
                Ok(select.query_row([], place).optional()?)
            })
            .await
    }

    /// All of them or none; one that it holds already is left as it is.
    pub(super) async fn add(&self, lines: Vec<(TextPlace, TextEvent)>) -> Result<(), StoreError> {
        let dictionary = self.dictionary.clone();
        let cut = tokio::task::spawn_blocking(move || {
            let cut = lines.into_iter().map(|(place, event)| (Text::new(&dictionary, &event.content), place, event));
            cut.collect::<Vec<_>>()
        });
        let lines = cut.await.map_err(|error| StoreError::Panicked(error.to_string()))?;
        self.database
            .write_relaxed(move |connection| {
                let mut insert = connection.prepare_cached(
                    "INSERT INTO text_lines (file, offset, at_s, channel) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (file, offset) DO NOTHING RETURNING id",
                )?;
                let mut added = Vec::new();
                for (text, place, event) in &lines {
                    let values = params![
                        place.file,
                        i64::try_from(place.offset).unwrap_or(i64::MAX),
                        event.timestamp,
                        event.channel
                    ];
                    let id: Option<i64> = insert.query_row(values, |row| row.get(0)).optional()?;
                    added.extend(id.map(|id| (id, text)));
                }
                Corpus::TextLines.put_all(connection, added)
            })
            .await
    }

    pub(super) async fn clear(&self) -> Result<(), StoreError> {
        self.database
            .write_relaxed(|connection| {
                connection.execute("DELETE FROM text_lines", [])?;
                Corpus::TextLines.clear(connection)
            })
            .await
    }

    pub(super) async fn find(&self, folder: PathBuf, query: TextQuery) -> Result<Answer, StoreError> {
        let dictionary = self.dictionary.clone();
        self.database.read(move |connection| find(connection, &dictionary, &folder, &query)).await
    }
}

fn find(
    connection: &Connection,
    dictionary: &Dictionary,
    folder: &Path,
    query: &TextQuery,
) -> Result<Answer, StoreError> {
    let mut lines: Vec<(i64, TextEvent)> = Vec::new();
    let mut is_stale = false;
    let mut asked = Corpus::TextLines.ask(connection, dictionary, &query.text, None)?;
    if asked.needs.is_empty() {
        // Words that say nothing by themselves were said too.
        let words = asked.text.words.iter().take(LITERAL_MAX);
        asked.needs = words.map(|cut| Need { word: cut.word.clone(), weight: 1.0, ..Need::default() }).collect();
    }
    let found = Corpus::TextLines.find(connection, dictionary, &asked, Strictness::Span, |ids| {
        let mut select = connection.prepare_cached(
            "SELECT file, offset FROM text_lines WHERE id = ?1 AND at_s BETWEEN ?2 AND ?3
                 AND (?4 IS NULL OR channel = ?4)",
        )?;
        let (from_s, to_s) = (query.from_s.unwrap_or(i64::MIN), query.to_s.unwrap_or(i64::MAX));
        for &id in ids {
            if lines.len() >= COMPARED_MAX {
                break;
            }
            let values = params![id, from_s, to_s, query.channel];
            let Some(place) = select.query_row(values, place).optional()? else { continue };
            match line_at(folder, &place) {
                Some(event) => lines.push((id, event)),
                None => is_stale = true,
            }
        }
        let source = |(id, event): &(i64, TextEvent)| Source {
            id: *id,
            body: event.content.clone(),
            at_ms: event.timestamp.saturating_mul(1000),
            ..Source::default()
        };
        Ok(lines.iter().map(source).collect())
    })?;
    let hit = |found: &crate::search::Found| {
        let (_, event) = lines.iter().find(|&&(id, _)| id == found.id)?;
        Some(TextHit { event: event.clone(), score: found.score })
    };
    Ok(Answer { hits: found.iter().filter_map(hit).take(query.count_max).collect(), is_stale })
}

fn place(row: &rusqlite::Row<'_>) -> rusqlite::Result<TextPlace> {
    let offset: i64 = row.get(1)?;
    Ok(TextPlace { file: row.get(0)?, offset: u64::try_from(offset).unwrap_or(0) })
}
