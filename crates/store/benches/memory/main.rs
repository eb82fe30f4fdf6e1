//! How fast memory answers when it is large: a graph of 1,000,000 relations at depth 2, and 100,000
//! documents. `cargo bench -p store --bench memory [graph|documents|import]`; the numbers and what the questions
//! are stand in docs/dev/measured/memory.md. What is told stands in `data.rs`.

#![allow(clippy::type_complexity)]

mod data;
mod times;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use data::{DOCUMENTS, Dice, FIRST, RELATION, RELATIONS, THINGS, WORDS, code, document, fact, thing};
use kernel::ports::{Clock, Documents, GraphMemory, RecallQuery};
use store::search::Dictionary;
use store::{Access, Database, DocumentMemory, Graph, Options, Store};
use times::Times;

const QUESTIONS: usize = 400;
/// Facts in one commit, and commits that wait together.
const FACTS: usize = 1_000;
const TOGETHER: usize = 16;

struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        1_790_000_000_000
    }

    fn written(&self, at_ms: i64) -> String {
        at_ms.to_string()
    }
}

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    // Among the tests nobody waits for this.
    if !asked.iter().any(|word| word == "--bench") {
        return Ok(());
    }
    let wants = |name: &str| !asked.iter().any(|word| !word.starts_with('-')) || asked.iter().any(|word| word == name);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if wants("graph") {
        runtime.block_on(graph())?;
    }
    if wants("documents") {
        runtime.block_on(documents())?;
    }
    // Only where it is asked for: it takes minutes.
    if asked.iter().any(|word| word == "import") {
        runtime.block_on(move_house())?;
    }
    Ok(())
}

async fn graph() -> Result<(), Failed> {
    let (place, whole) = data::kept("graph");
    if !whole {
        tell(&data::building(&place)?).await?;
        data::done(&place)?;
    }
    let graph = Graph::new(Database::open(&place, Access::Full)?, Dictionary::default());
    graph.learn_names().await?;
    println!("graph: {RELATIONS} relations, {}", size(&place));
    let mut dice = Dice(0x2545_f491);
    let kinds: [(&str, Box<dyn Fn(&mut Dice) -> String>); 6] = [
        ("one name", Box::new(|dice| thing(dice.below(THINGS)))),
        ("a name in 1,000s of facts", Box::new(|dice| thing(dice.below(8)))),
        (
            "name and relation",
            Box::new(|dice| format!("{}的{}是什么", thing(dice.below(THINGS) & !1), dice.of(RELATION))),
        ),
        ("a code", Box::new(|dice| code(dice.below(RELATIONS)))),
        ("common words only", Box::new(|dice| format!("who {} {}", dice.of(RELATION), dice.of(FIRST)))),
        ("nobody", Box::new(|dice| format!("what does Zebedee {} like", dice.below(1000)))),
    ];
    let query =
        |question: String| RecallQuery { words: vec![question], depth: 2, count_max: 20, ..RecallQuery::default() };
    // The dictionary is read by the first question.
    graph.recall(query(thing(1))).await?;
    let mut all = Times::default();
    for (name, question) in kinds {
        let mut times = Times::default();
        for _ in 0..QUESTIONS {
            let query = query(question(&mut dice));
            let begun = times.begin();
            let found = graph.recall(query).await?.facts;
            times.end(begun, found.iter().map(|fact| fact.id.to_string()));
        }
        println!("  {}", times.row(name));
        all.extend(times);
    }
    println!("  {}", all.row("all"));
    Ok(())
}

async fn tell(folder: &Path) -> Result<(), Failed> {
    let graph = Graph::new(Database::open(folder, Access::Full)?, Dictionary::default());
    let mut dice = Dice(0x9e37_79b9);
    let begun = Instant::now();
    for together in 0..RELATIONS / FACTS / TOGETHER + 1 {
        let first = together * TOGETHER * FACTS;
        let mut batches = Vec::new();
        for from in (first..RELATIONS.min(first + TOGETHER * FACTS)).step_by(FACTS) {
            batches.push((from..RELATIONS.min(from + FACTS)).map(|number| fact(&mut dice, number)).collect::<Vec<_>>());
        }
        futures_util::future::try_join_all(batches.iter().map(|facts| graph.commit(facts))).await?;
    }
    println!("graph: {RELATIONS} relations told in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// The large graph goes out and comes in again.
async fn move_house() -> Result<(), Failed> {
    let (place, whole) = data::kept("graph");
    if !whole {
        return Err("the graph has to be there: run this with `graph` first".into());
    }
    let store = Store::open(&place, &Options::default())?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = folder.path().join("export.jsonl");
    let begun = Instant::now();
    let lines = store.export(std::fs::File::create(&file)?).await?.lines;
    println!("import: {lines} lines out in {:.0} s", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    store::import(&folder.path().join("new"), std::io::BufReader::new(std::fs::File::open(&file)?))?;
    println!("import: {lines} lines in, ready to be searched, in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

async fn documents() -> Result<(), Failed> {
    let (place, whole) = data::kept("documents");
    if !whole {
        insert(&data::building(&place)?).await?;
        data::done(&place)?;
    }
    let documents = DocumentMemory::new(Database::open(&place, Access::Full)?, Dictionary::default(), Arc::new(Still));
    println!("documents: {DOCUMENTS}, {}", size(&place));
    let mut dice = Dice(0x6c07_8965);
    let kinds: [(&str, Box<dyn Fn(&mut Dice) -> String>); 5] = [
        ("a code", Box::new(|dice| code(dice.below(DOCUMENTS)))),
        ("a name and a word", Box::new(|dice| format!("{} {}", thing(dice.below(DOCUMENTS)), dice.of(WORDS)))),
        ("two common words", Box::new(|dice| format!("{} {}", dice.of(WORDS), dice.of(WORDS)))),
        (
            "a question of common words",
            Box::new(|dice| format!("{}的{}放在哪里", dice.of(&WORDS[..32]), dice.of(&WORDS[..32]))),
        ),
        ("nothing", Box::new(|dice| format!("zebedee {} flamingo", dice.below(1000)))),
    ];
    documents.query(&code(1), 10, false).await?;
    let mut all = Times::default();
    for (name, question) in kinds {
        let mut times = Times::default();
        for _ in 0..QUESTIONS {
            let question = question(&mut dice);
            let begun = times.begin();
            let hits = documents.query(&question, 10, false).await?;
            times.end(begun, hits.iter().map(|hit| hit.doc.title.clone()));
        }
        println!("  {}", times.row(name));
        all.extend(times);
    }
    println!("  {}", all.row("all"));
    Ok(())
}

async fn insert(folder: &Path) -> Result<(), Failed> {
    let documents = DocumentMemory::new(Database::open(folder, Access::Full)?, Dictionary::default(), Arc::new(Still));
    let mut dice = Dice(0x51ed_270b);
    let begun = Instant::now();
    for some in 0..DOCUMENTS / 64 + 1 {
        let batch = (some * 64..((some + 1) * 64).min(DOCUMENTS)).map(|number| document(&mut dice, number));
        let batch: Vec<_> = batch.collect();
        futures_util::future::try_join_all(batch.into_iter().map(|doc| documents.insert(doc))).await?;
    }
    println!("documents: {DOCUMENTS} inserted in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn size(folder: &Path) -> String {
    let bytes = std::fs::metadata(folder.join("menshen.db")).map_or(0, |file| file.len());
    format!("{} MB on disk", bytes / 1024 / 1024)
}
