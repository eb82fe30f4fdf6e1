//! A household moves: export and import.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::{self, fill, input, open};
use kernel::ports::{Clock, Documents, Fact, GraphMemory, KnowledgeBase, RecallQuery, TextQuery};
use sdk::{Doc, PurgeMode, TextEvent, Triple};
use store::{DocumentMemory, Graph, KnowledgeFolder, Store, StoreError, import};
use tempfile::TempDir;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn export(store: &Store) -> String {
    let sink = Sink::default();
    let report = store.export(sink.clone()).await.unwrap();
    let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    assert_eq!(report.lines, text.lines().count() as u64);
    text
}

async fn filled_export() -> String {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    fill(&store).await;
    fs::write(folder.path().join("knowledge/manual.pdf"), [0xff, 0xfe, 0, 1]).unwrap();
    export(&store).await
}

#[track_caller]
fn check_refused(export: &str, line: usize, words: &str) {
    let folder = TempDir::new().unwrap();
    let refused = import(folder.path(), export.as_bytes()).unwrap_err();
    match &refused {
        StoreError::Import { line: told, problem } => {
            assert_eq!(*told, line as u64, "{refused}");
            assert!(problem.contains(words), "{refused}");
        }
        _ => panic!("{refused}"),
    }
    check_nothing_in(folder.path());
}

#[track_caller]
fn check_nothing_in(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["menshen.lock"]);
}

/// The second line and all after it, without what says how far numbers are.
fn content(export: &str) -> Vec<&str> {
    export.lines().skip(1).filter(|line| !line.starts_with("{\"sequence\"")).collect()
}

#[tokio::test]
async fn all_but_the_secrets_is_the_same_after_moving() {
    let exported = filled_export().await;
    let folder = TempDir::new().unwrap();
    let report = import(folder.path(), exported.as_bytes()).unwrap();
    assert_eq!(report.lines, exported.lines().count() as u64);
    let store = open(folder.path());
    assert_eq!(content(&export(&store).await), content(&exported));
    assert_eq!(fs::read(folder.path().join("knowledge/manual.pdf")).unwrap(), [0xff, 0xfe, 0, 1]);
    assert!(fs::read_to_string(folder.path().join("AGENTS.md")).unwrap().contains("门神"));
    assert!(!folder.path().join("import.partial").exists());
    let (id, known) = store.inbox().put(input("new")).await.unwrap();
    assert_eq!((id, known), (4, false), "numbers go on");
    let again = kernel::ports::NewInput { client_id: Some("c-1".into()), ..input("answered") };
    assert!(store.inbox().put(again).await.unwrap().1);
}

#[tokio::test]
async fn what_was_known_is_found_after_moving() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    let memories = Memories::of(&store);
    let fact = |object: &str| Fact {
        triple: Triple { subject: "宝".into(), relation: "喜欢".into(), object: object.into() },
        text: format!("宝说她喜欢{object}"),
        ..Fact::default()
    };
    memories.graph.commit(&[fact("恐龙化石"), fact("榴莲")]).await.unwrap();
    let criteria = BTreeMap::from([("target_contains".to_owned(), "榴莲".to_owned())]);
    memories.graph.purge(&criteria, PurgeMode::Soft, false).await.unwrap();
    let doc = |title: &str, content: &str| Doc { title: title.into(), content: content.into(), ..Doc::default() };
    memories.documents.insert(doc("Boiler", "The boiler is serviced by Keith.")).await.unwrap();
    memories.documents.insert(doc("Taken", "The sledge was sold.")).await.unwrap();
    memories.documents.query("sledge", 1, true).await.unwrap();
    let said =
        TextEvent { role: "user".into(), content: "the spare key hangs in the hall".into(), ..TextEvent::default() };
    store.text().append(said).await.unwrap();
    fs::create_dir_all(folder.path().join("knowledge")).unwrap();
    fs::write(folder.path().join("knowledge/pump.md"), "# Pump\n\nThe drain pump is behind the flap.\n").unwrap();
    let exported = export(&store).await;

    let folder = TempDir::new().unwrap();
    import(folder.path(), exported.as_bytes()).unwrap();
    let store = open(folder.path());
    let memories = Memories::of(&store);
    for words in ["宝喜欢什么", "what does Bao like", "恐龙"] {
        let query = RecallQuery { words: vec![words.into()], ..RecallQuery::default() };
        let facts = memories.graph.recall(query).await.unwrap().facts;
        let found: Vec<_> = facts.iter().map(|fact| fact.relation.target_name.as_str()).collect();
        assert_eq!(found, ["恐龙化石"], "{words}: what was forgotten stays so");
    }
    let hits = memories.documents.query("who services the boiler", 1, false).await.unwrap();
    assert_eq!(hits[0].doc.title, "Boiler");
    assert!(memories.documents.query("sledge", 1, false).await.unwrap().is_empty(), "what was taken out stays so");
    memories.knowledge.rescan().await.unwrap();
    assert_eq!(memories.knowledge.search("drain pump", 1).await.unwrap()[0].name, "pump.md");
    let query = TextQuery { text: "where is the spare key".into(), count_max: 1, ..TextQuery::default() };
    assert_eq!(store.text().search(query).await.unwrap()[0].event.content, "the spare key hangs in the hall");

    // What is taken out of an index that was made again leaves nothing behind.
    let criteria = BTreeMap::from([("subject_contains".to_owned(), "宝".to_owned())]);
    memories.graph.purge(&criteria, PurgeMode::Soft, false).await.unwrap();
    let query = RecallQuery { words: vec!["恐龙".into()], ..RecallQuery::default() };
    assert!(memories.graph.recall(query).await.unwrap().facts.is_empty());
}

/// Everything that searches, over one store.
struct Memories {
    graph: Graph,
    documents: DocumentMemory,
    knowledge: KnowledgeFolder,
}

impl Memories {
    fn of(store: &Store) -> Self {
        let (database, dictionary) = (store.database().clone(), store.dictionary().clone());
        Self {
            graph: Graph::new(database.clone(), dictionary.clone()),
            documents: DocumentMemory::new(database.clone(), dictionary.clone(), Arc::new(Still)),
            knowledge: KnowledgeFolder::new(&store.folder().root().join("knowledge"), database, dictionary),
        }
    }
}

struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        1_790_000_000_000
    }

    fn written(&self, at_ms: i64) -> String {
        at_ms.to_string()
    }
}

#[tokio::test]
async fn a_secret_is_in_no_export_and_both_sides_say_which_were_left_out() {
    let exported = filled_export().await;
    assert!(!exported.contains("sesame") && !exported.contains("sealed"));
    assert!(exported.contains("\"zh\\\""), "an open setting is there");
    let folder = TempDir::new().unwrap();
    let report = import(folder.path(), exported.as_bytes()).unwrap();
    assert_eq!(report.secrets_to_set, ["core/token"]);
    assert_eq!(open(folder.path()).settings().load().await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_export_that_was_cut_anywhere_is_refused_and_leaves_nothing() {
    let exported = filled_export().await;
    let lines: Vec<&str> = exported.lines().collect();
    for count in 1..lines.len() {
        check_refused(&(lines[..count].join("\n") + "\n"), count + 1, "cut short");
    }
    check_refused("", 1, "not an export");
    let without_one = [&lines[..5], &lines[6..]].concat().join("\n");
    check_refused(&without_one, lines.len() - 1, "before this one");
    check_refused(&(exported.clone() + "{}\n"), lines.len() + 1, "follows the last line");
}

#[tokio::test]
async fn a_line_that_cannot_be_taken_in_is_named_and_nothing_is_taken() {
    let exported = filled_export().await;
    let lines: Vec<&str> = exported.lines().collect();
    for (line, words) in [
        ("no json", "expected"),
        ("{\"a\":1,\"b\":2}", "exactly one name"),
        ("{\"song\":{\"name\":\"x\"}}", "does not know what \"song\" is"),
        ("{\"event\":{\"seq\":7,\"kind\":\"a\",\"body\":\"{}\",\"x); DROP TABLE turns; --\":1}}", "has no"),
        ("{\"event\":{\"seq\":7,\"kind\":\"a\"}}", "NOT NULL"),
        ("{\"event\":{\"seq\":\"seven\",\"kind\":\"a\",\"body\":\"{}\"}}", "datatype"),
        ("{\"event\":{\"seq\":7,\"kind\":true,\"body\":\"{}\"}}", "neither text"),
        ("{\"turn_event\":{\"number\":70,\"turn\":\"nobody's\",\"event\":\"{}\"}}", "FOREIGN KEY"),
        ("{\"input\":{\"id\":1,\"session\":\"a\",\"channel\":\"\",\"input\":\"{}\"}}", "UNIQUE"),
        ("{\"setting\":{\"space\":\"core\",\"key\":\"x\",\"sealed\":{\"base64\":\"AAAA\"}}}", "has no \"sealed\""),
        ("{\"sequence\":{\"table\":\"sqlite_schema\",\"last\":7}}", "no table"),
        ("{\"text\":{\"file\":\"../../x.jsonl\",\"line\":{}}}", "no name of a text file"),
        ("{\"file\":{\"name\":\"knowledge/../../x\",\"text\":\"\"}}", "no place"),
        ("{\"file\":{\"name\":\"/etc/x\",\"text\":\"\"}}", "no place"),
        ("{\"file\":{\"name\":\"menshen.db\",\"text\":\"\"}}", "no place"),
        ("{\"file\":{\"name\":\"knowledge/x\",\"base64\":\"*\"}}", "not base64"),
        ("{\"file\":{\"name\":\"knowledge/x\"}}", "exactly one content"),
    ] {
        let mut spoilt = lines.clone();
        spoilt.insert(8, line);
        check_refused(&spoilt.join("\n"), 9, words);
    }
}

#[tokio::test]
async fn an_export_of_a_newer_menshen_is_refused() {
    let exported = filled_export().await;
    for (old, new) in [("\"menshen_export\":1", "\"menshen_export\":2"), ("\"layout\":", "\"layout\":99")] {
        check_refused(&exported.replacen(old, new, 1), 1, "newer Menshen");
    }
}

#[tokio::test]
async fn an_import_is_never_mixed_with_what_is_there() {
    let exported = filled_export().await;
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    store.inbox().put(input("mine")).await.unwrap();
    let refused = import(folder.path(), exported.as_bytes()).unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    drop(store);
    let refused = import(folder.path(), exported.as_bytes()).unwrap_err();
    assert!(matches!(refused, StoreError::NotEmpty { .. }), "{refused}");
    assert_eq!(common::texts(&open(folder.path())).await, ["mine"]);

    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("knowledge")).unwrap();
    fs::write(folder.path().join("knowledge/mine.md"), "mine").unwrap();
    let refused = import(folder.path(), exported.as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("knowledge"), "{refused}");

    let folder = TempDir::new().unwrap();
    drop(open(folder.path()));
    import(folder.path(), exported.as_bytes()).unwrap();
    assert_eq!(common::texts(&open(folder.path())).await, ["a", "b"], "an empty store is no obstacle");
}

#[tokio::test]
async fn an_import_that_a_crash_stopped_is_brought_to_its_end_or_removed() {
    let exported = filled_export().await;
    let whole = TempDir::new().unwrap();
    import(whole.path(), exported.as_bytes()).unwrap();
    for (complete, moved_already) in [(true, false), (true, true), (false, false)] {
        let folder = TempDir::new().unwrap();
        let stage = folder.path().join("import.partial");
        fs::create_dir(&stage).unwrap();
        for name in ["AGENTS.md", "menshen.db", "text", "knowledge"] {
            let place = if moved_already && name == "text" { folder.path() } else { &stage };
            copy_all(&whole.path().join(name), &place.join(name));
        }
        if complete {
            fs::write(stage.join("complete"), "").unwrap();
        }
        let store = open(folder.path());
        assert!(!stage.exists());
        let expected: &[&str] = if complete { &["a", "b"] } else { &[] };
        assert_eq!(common::texts(&store).await, expected);
        assert_eq!(folder.path().join("text").exists(), complete);
        assert_eq!(folder.path().join("knowledge/heating/winter.md").exists(), complete);
    }
}

fn copy_all(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy_all(&entry.path(), &to.join(entry.file_name()));
    }
}
