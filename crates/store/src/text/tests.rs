//! Lines written, cut, put aside, found.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::Access;
use crate::search::test_dictionary;

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
    let mut names = files::names_in(&texts(folder)).unwrap();
    names.sort();
    names
}

/// The text files in a folder, with the database that they are found by.
fn files_in(folder: &TempDir, limits: TextLimits) -> TextFiles {
    let database = Database::open(folder.path(), Access::Full).unwrap();
    TextFiles::new(&texts(folder), limits, database, test_dictionary())
}

fn texts(folder: &TempDir) -> PathBuf {
    folder.path().join("text")
}

#[tokio::test]
async fn lines_are_found_in_both_languages_and_after_opening_again() {
    let folder = TempDir::new().unwrap();
    let text = files_in(&folder, TextLimits::default());
    text.append(said("把客厅的空调打开", 1_000)).await.unwrap();
    text.append(said("Where are the spare keys?", 1_001)).await.unwrap();
    drop(text);
    let text = files_in(&folder, TextLimits::default());
    text.append(said("the keys hang in the hall", 1_002)).await.unwrap();
    assert_eq!(contents(&text.search(ask("客厅空调")).await.unwrap()), ["把客厅的空调打开"]);
    let hits = text.search(ask("spare KEYS")).await.unwrap();
    assert_eq!(contents(&hits), ["Where are the spare keys?", "the keys hang in the hall"]);
    assert!(hits[0].score <= 1.0 && hits[0].score > hits[1].score && hits[1].score > 0.0);
    assert!(text.search(ask("garage")).await.unwrap().is_empty());
    assert_eq!(names(&folder), ["1970-01-01T00-16-40Z-0001.jsonl"]);
}

#[tokio::test]
async fn a_search_keeps_to_its_channel_and_its_times() {
    let folder = TempDir::new().unwrap();
    let text = files_in(&folder, TextLimits::default());
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
    let text = files_in(&folder, limits);
    text.append(said("first", 1_000)).await.unwrap();
    text.append(said("second", 1_099)).await.unwrap();
    assert_eq!(names(&folder).len(), 1);
    text.append(said("a day later", 1_100)).await.unwrap();
    assert_eq!(names(&folder).len(), 2);
    text.append(said(&"long ".repeat(60), 1_101)).await.unwrap();
    text.append(said("the clock was set back", 5)).await.unwrap();
    let names = names(&folder);
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(fs::read_to_string(texts(&folder).join(&names[3])).unwrap().contains("set back"));
    let stats = text.stats().await.unwrap();
    assert_eq!((stats.files, stats.files_beyond), (4, 2));
    assert_eq!(contents(&text.search(ask("second")).await.unwrap()), ["second"]);
}

#[tokio::test]
async fn a_line_that_was_cut_costs_no_other_line() {
    let folder = TempDir::new().unwrap();
    let text = files_in(&folder, TextLimits::default());
    text.append(said("kettle", 1_000)).await.unwrap();
    drop(text);
    let path = texts(&folder).join(&names(&folder)[0]);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all("{\"role\":\"user\",\"content\":\"torn 空".as_bytes().split_last().unwrap().1).unwrap();
    let text = files_in(&folder, TextLimits::default());
    assert_eq!(contents(&text.search(ask("kettle torn")).await.unwrap()), ["kettle"]);
    text.append(said("curtain", 1_001)).await.unwrap();
    assert_eq!(contents(&text.search(ask("kettle curtain torn")).await.unwrap()), ["curtain", "kettle"]);
}

#[tokio::test]
async fn a_line_is_found_however_old_it_is_and_with_the_same_words_as_everything_else() {
    let folder = TempDir::new().unwrap();
    let limits = TextLimits { file_bytes_max: 2_000, ..TextLimits::default() };
    let text = files_in(&folder, limits);
    text.append(said("電話機的說明書在書房的抽屜裡", 999)).await.unwrap();
    for number in 0..1_200 {
        text.append(said(&format!("the lamp number {number} is on"), 1_000)).await.unwrap();
    }
    drop(text);
    let text = files_in(&folder, limits);
    text.catch_up().await.unwrap();
    assert_eq!(text.catch_up().await.unwrap(), 0);
    assert_eq!(contents(&text.search(ask("电话机说明书在哪")).await.unwrap()), ["電話機的說明書在書房的抽屜裡"]);
    assert_eq!(contents(&text.search(ask("lamp 777")).await.unwrap())[0], "the lamp number 777 is on");
    assert!(text.search(ask("garage")).await.unwrap().is_empty());
    text.append(said("we are at home again", 1_001)).await.unwrap();
    assert_eq!(contents(&text.search(ask("home again")).await.unwrap()), ["we are at home again"]);
    text.append(said("the garages are open", 1_001)).await.unwrap();
    let hits = text.search(ask("is the garage open?")).await.unwrap();
    assert_eq!(contents(&hits), ["the garages are open"]);
    assert!((0.0..=1.0).contains(&hits[0].score));
}

#[tokio::test]
async fn a_search_by_the_index_keeps_to_its_channel_its_times_and_its_count() {
    let folder = TempDir::new().unwrap();
    let text = files_in(&folder, TextLimits::default());
    for timestamp in [10, 20, 30] {
        text.append(said(&format!("tea at {timestamp}"), timestamp)).await.unwrap();
    }
    let query = TextQuery { from_s: Some(15), to_s: Some(25), ..ask("tea") };
    assert_eq!(contents(&text.search(query).await.unwrap()), ["tea at 20"]);
    let query = TextQuery { channel: Some("phone".into()), ..ask("tea") };
    assert!(text.search(query).await.unwrap().is_empty());
    let query = TextQuery { count_max: 2, ..ask("tea") };
    assert_eq!(contents(&text.search(query).await.unwrap()), ["tea at 30", "tea at 20"]);
}

#[tokio::test]
async fn lines_go_into_the_index_as_they_are_written() {
    let folder = TempDir::new().unwrap();
    let text = files_in(&folder, TextLimits::default());
    for number in 0..INDEX_BEHIND_MAX + 1 {
        text.append(said(&format!("line {number}"), 1_000)).await.unwrap();
    }
    assert_eq!(text.catch_up().await.unwrap(), 1, "all but the last are there without a search");
}

#[tokio::test]
async fn an_index_that_is_missing_or_of_other_files_is_made_again() {
    let folder = TempDir::new().unwrap();
    let limits = TextLimits { file_bytes_max: 300, ..TextLimits::default() };
    let text = files_in(&folder, limits);
    for thing in ["a red kite", "a blue boat", "a green train", "a yellow bicycle", "a white sledge"] {
        text.append(said(&format!("in the attic there is {thing}"), 1_000)).await.unwrap();
    }
    assert_eq!(contents(&text.search(ask("green train")).await.unwrap()), ["in the attic there is a green train"]);
    drop(text);

    for file in ["menshen.db", "menshen.db-wal", "menshen.db-shm"] {
        let _ = fs::remove_file(folder.path().join(file));
    }
    let text = files_in(&folder, limits);
    assert_eq!(contents(&text.search(ask("green train")).await.unwrap()), ["in the attic there is a green train"]);

    // Somebody takes out the first line by hand: all lines of the first file lie elsewhere.
    let first = texts(&folder).join(&names(&folder)[0]);
    let lines = fs::read_to_string(&first).unwrap();
    let (_, others) = lines.split_once('\n').unwrap();
    assert!(others.contains("boat"));
    fs::write(&first, others).unwrap();
    assert!(text.search(ask("red kite")).await.unwrap().is_empty());
    assert_eq!(contents(&text.search(ask("blue boat")).await.unwrap()), ["in the attic there is a blue boat"]);

    // The newest file goes altogether.
    let last = texts(&folder).join(names(&folder).pop().unwrap());
    fs::remove_file(last).unwrap();
    assert_eq!(contents(&text.search(ask("blue boat")).await.unwrap()), ["in the attic there is a blue boat"]);
    assert!(text.search(ask("white sledge")).await.unwrap().is_empty());
}

#[tokio::test]
async fn beside_the_process_that_writes_another_one_can_search() {
    let folder = TempDir::new().unwrap();
    let text = files_in(&folder, TextLimits::default());
    text.append(said("the ladder is in the shed", 1_000)).await.unwrap();
    text.catch_up().await.unwrap();
    let database = Database::open(folder.path(), Access::ReadOnly).unwrap();
    let beside = TextFiles::new(&texts(&folder), TextLimits::default(), database, test_dictionary());
    assert_eq!(contents(&beside.search(ask("ladder")).await.unwrap()), ["the ladder is in the shed"]);
    assert!(beside.append(said("the ladder is gone", 1_001)).await.is_err());
}
