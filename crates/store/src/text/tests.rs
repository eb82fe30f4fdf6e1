//! Lines written, cut, put aside, found.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use tempfile::TempDir;

use super::*;

fn said(content: &str, timestamp: i64) -> TextEvent {
    TextEvent { role: "user".into(), content: content.into(), timestamp, channel: "web".into() }
}

fn ask(text: &str) -> TextQuery {
    TextQuery { text: text.into(), count_max: 10, ..TextQuery::default() }
}

fn contents(hits: &[TextHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.event.content.as_str()).collect()
}

fn names(folder: &TempDir) -> Vec<String> {
    let mut names = files::names_in(folder.path()).unwrap();
    names.sort();
    names
}

#[tokio::test]
async fn lines_are_found_in_both_languages_and_after_opening_again() {
    let folder = TempDir::new().unwrap();
    let text = TextFiles::new(folder.path(), TextLimits::default());
    text.append(said("把客厅的空调打开", 1_000)).await.unwrap();
    text.append(said("Where are the spare keys?", 1_001)).await.unwrap();
    let text = TextFiles::new(folder.path(), TextLimits::default());
    text.append(said("the keys hang in the hall", 1_002)).await.unwrap();
    assert_eq!(contents(&text.search(ask("客厅空调")).await.unwrap()), ["把客厅的空调打开"]);
    let hits = text.search(ask("spare KEYS")).await.unwrap();
    assert_eq!(contents(&hits), ["Where are the spare keys?", "the keys hang in the hall"]);
    assert_eq!(hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [1.0, 0.5]);
    assert!(text.search(ask("garage")).await.unwrap().is_empty());
    assert_eq!(names(&folder), ["1970-01-01T00-16-40Z-0001.jsonl"]);
}

#[tokio::test]
async fn a_search_keeps_to_its_channel_and_its_times() {
    let folder = TempDir::new().unwrap();
    let text = TextFiles::new(folder.path(), TextLimits::default());
    for timestamp in [10, 20, 30] {
        text.append(said(&format!("tea at {timestamp}"), timestamp)).await.unwrap();
    }
    let query = TextQuery { from_s: Some(15), to_s: Some(25), ..ask("tea") };
    assert_eq!(contents(&text.search(query).await.unwrap()), ["tea at 20"]);
    let query = TextQuery { channel: Some("phone".into()), ..ask("tea") };
    assert!(text.search(query).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_full_or_old_file_is_put_aside_and_none_is_deleted() {
    let folder = TempDir::new().unwrap();
    let limits = TextLimits { file_bytes_max: 200, file_age_secs: 100, files_usual: 2 };
    let text = TextFiles::new(folder.path(), limits);
    text.append(said("first", 1_000)).await.unwrap();
    text.append(said("second", 1_099)).await.unwrap();
    assert_eq!(names(&folder).len(), 1);
    text.append(said("a day later", 1_100)).await.unwrap();
    assert_eq!(names(&folder).len(), 2);
    text.append(said(&"long ".repeat(60), 1_101)).await.unwrap();
    text.append(said("the clock was set back", 5)).await.unwrap();
    let names = names(&folder);
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(fs::read_to_string(folder.path().join(&names[3])).unwrap().contains("set back"));
    let stats = text.stats().await.unwrap();
    assert_eq!((stats.files, stats.files_beyond), (4, 2));
    assert_eq!(contents(&text.search(ask("second")).await.unwrap()), ["second"]);
}

#[tokio::test]
async fn a_line_that_was_cut_costs_no_other_line() {
    let folder = TempDir::new().unwrap();
    let text = TextFiles::new(folder.path(), TextLimits::default());
    text.append(said("before", 1_000)).await.unwrap();
    drop(text);
    let path = folder.path().join(&names(&folder)[0]);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all("{\"role\":\"user\",\"content\":\"torn 空".as_bytes().split_last().unwrap().1).unwrap();
    let text = TextFiles::new(folder.path(), TextLimits::default());
    assert_eq!(contents(&text.search(ask("before torn")).await.unwrap()), ["before"]);
    text.append(said("after", 1_001)).await.unwrap();
    assert_eq!(contents(&text.search(ask("before after torn")).await.unwrap()), ["after", "before"]);
}

/// An index that knows lines by the words in them.
#[derive(Default)]
struct Words {
    lines: Mutex<BTreeMap<TextPlace, String>>,
}

impl TextIndex for Words {
    fn newest(&self) -> BoxFuture<'_, Result<Option<TextPlace>, Failure>> {
        let newest = self.lines.lock().unwrap().keys().next_back().cloned();
        Box::pin(async move { Ok(newest) })
    }

    fn add(&self, lines: Vec<(TextPlace, TextEvent)>) -> BoxFuture<'_, Result<(), Failure>> {
        let lines = lines.into_iter().map(|(place, event)| (place, event.content));
        self.lines.lock().unwrap().extend(lines);
        Box::pin(async { Ok(()) })
    }

    fn find(&self, query: TextQuery) -> BoxFuture<'_, Result<Vec<(TextPlace, f64)>, Failure>> {
        let lines = self.lines.lock().unwrap();
        let found = lines.iter().filter(|(_, content)| content.contains(&query.text));
        let found = found.map(|(place, _)| (place.clone(), 0.9)).collect();
        Box::pin(async move { Ok(found) })
    }
}

#[tokio::test]
async fn an_index_is_given_each_line_once_over_several_files_and_answers_searches() {
    let folder = TempDir::new().unwrap();
    let limits = TextLimits { file_bytes_max: 2_000, ..TextLimits::default() };
    let text = TextFiles::new(folder.path(), limits);
    for number in 0..1_200 {
        text.append(said(&format!("line <{number}>"), 1_000)).await.unwrap();
    }
    assert!(names(&folder).len() > 10);
    let index = Arc::new(Words::default());
    text.set_index(index.clone());
    assert_eq!(text.catch_up().await.unwrap(), 1_200);
    assert_eq!(text.catch_up().await.unwrap(), 0);
    assert_eq!(contents(&text.search(ask("<777>")).await.unwrap()), ["line <777>"]);
    text.append(said("line <new>", 1_001)).await.unwrap();
    let hits = text.search(ask("<new>")).await.unwrap();
    assert_eq!((contents(&hits), hits[0].score), (vec!["line <new>"], 0.9));
    assert_eq!(index.lines.lock().unwrap().len(), 1_201);
}
