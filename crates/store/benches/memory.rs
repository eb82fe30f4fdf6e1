//! How fast memory answers when it is large: a graph of 1,000,000 relations at depth 2, and 100,000
//! documents. `cargo bench -p store --bench memory [graph|documents]`; the numbers and what the questions
//! are stand in docs/dev/measured/memory.md.

#![allow(clippy::type_complexity)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use kernel::ports::{Clock, Documents, Fact, GraphMemory, RecallQuery};
use sdk::{Doc, Triple};
use store::search::Dictionary;
use store::{Access, Database, DocumentMemory, Graph};

const RELATIONS: usize = 1_000_000;
const THINGS: usize = 200_000;
const DOCUMENTS: usize = 100_000;
const QUESTIONS: usize = 400;

const SURNAMES: &[&str] =
    &["陈", "林", "王", "李", "张", "刘", "黄", "周", "吴", "徐", "孙", "马", "朱", "胡", "郭", "何"];
const GIVEN: &[&str] =
    &["伟", "静", "敏", "强", "磊", "洋", "艳", "勇", "杰", "娟", "涛", "明", "超", "霞", "平", "刚"];
const FIRST: &[&str] =
    &["Tom", "Ella", "Max", "Priya", "Rob", "Fiona", "George", "Ivy", "Nell", "Kasia", "Hannah", "Jack"];
const RELATION: &[&str] = &[
    "住在",
    "喜欢",
    "不吃",
    "电话",
    "生日",
    "同事",
    "朋友",
    "过敏",
    "品牌",
    "放在",
    "likes",
    "lives in",
    "works at",
    "knows",
    "phone",
    "allergic to",
    "bought",
    "keeps",
    "visited",
    "repaired",
];
const WORDS: &[&str] = &[
    "空调",
    "洗衣机",
    "冰箱",
    "热水器",
    "扫地机器人",
    "客厅",
    "卧室",
    "厨房",
    "阳台",
    "书房",
    "保修",
    "滤芯",
    "说明书",
    "密码",
    "钥匙",
    "快递",
    "物业",
    "水费",
    "电费",
    "燃气",
    "疫苗",
    "体检",
    "学校",
    "家长会",
    "钢琴",
    "游泳",
    "生日",
    "礼物",
    "旅行",
    "机票",
    "酒店",
    "菜谱",
    "boiler",
    "heating",
    "kitchen",
    "garden",
    "insurance",
    "school",
    "dentist",
    "holiday",
    "recipe",
    "passport",
    "bicycle",
    "printer",
    "router",
    "warranty",
    "filter",
    "battery",
    "window",
    "ladder",
    "paint",
    "invoice",
    "meeting",
    "birthday",
    "train",
    "ticket",
];

/// Always the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap_or(0)
    }

    /// Small numbers are much more common, as a few things are in most facts.
    fn skewed(&mut self, end: usize) -> usize {
        let share = (self.below(1 << 20) as f64) / f64::from(1 << 20);
        ((end as f64) * share.powi(3)) as usize % end
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
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

fn thing(number: usize) -> String {
    let (a, b) = (number % 16, number / 16 % 16);
    if number.is_multiple_of(2) {
        format!("{}{}{}", SURNAMES[a], GIVEN[b], number / 256)
    } else {
        format!("{} {}", FIRST[number % FIRST.len()], number / 12)
    }
}

fn code(number: usize) -> String {
    format!("KX-{}", 10_000 + number)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
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
    Ok(())
}

async fn graph() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let database = Database::open(folder.path(), Access::Full)?;
    let graph = Graph::new(database, Dictionary::default());
    let mut dice = Dice(0x9e37_79b9);
    let begun = Instant::now();
    let mut batch = Vec::new();
    for number in 0..RELATIONS {
        let (subject, object) = (thing(dice.skewed(THINGS)), thing(dice.below(THINGS)));
        let relation = dice.of(RELATION).to_owned();
        let text = format!("{subject} {relation} {object}，{}", code(number));
        let triple = Triple { subject, relation, object };
        batch.push(Fact { triple, text, told_at_ms: 1_700_000_000_000 + number as i64 * 60_000, ..Fact::default() });
        if batch.len() == 1_000 {
            graph.commit(&batch).await?;
            batch.clear();
        }
    }
    println!("graph: {RELATIONS} relations told in {:.0} s, {}", begun.elapsed().as_secs_f64(), size(folder.path()));
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
    let mut all = Vec::new();
    for (name, question) in kinds {
        let mut times = Vec::new();
        let mut facts = 0;
        for _ in 0..QUESTIONS {
            let query =
                RecallQuery { words: vec![question(&mut dice)], depth: 2, count_max: 20, ..RecallQuery::default() };
            let begun = Instant::now();
            facts += graph.recall(query).await?.facts.len();
            times.push(begun.elapsed());
        }
        println!("  {}", row(name, &mut times, facts));
        all.extend(times);
    }
    println!("  {}", row("all", &mut all, 0));
    Ok(())
}

async fn documents() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let database = Database::open(folder.path(), Access::Full)?;
    let documents = DocumentMemory::new(database, Dictionary::default(), Arc::new(Still));
    let mut dice = Dice(0x51ed_270b);
    let begun = Instant::now();
    for some in 0..DOCUMENTS / 64 + 1 {
        let batch = (some * 64..((some + 1) * 64).min(DOCUMENTS)).map(|number| document(&mut dice, number));
        let batch: Vec<Doc> = batch.collect();
        futures_util::future::try_join_all(batch.into_iter().map(|doc| documents.insert(doc))).await?;
    }
    println!("documents: {DOCUMENTS} inserted in {:.0} s, {}", begun.elapsed().as_secs_f64(), size(folder.path()));
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
    let mut all = Vec::new();
    for (name, question) in kinds {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..QUESTIONS {
            let question = question(&mut dice);
            let begun = Instant::now();
            hits += documents.query(&question, 10, false).await?.len();
            times.push(begun.elapsed());
        }
        println!("  {}", row(name, &mut times, hits));
        all.extend(times);
    }
    println!("  {}", row("all", &mut all, 0));
    Ok(())
}

/// About 300 characters, half of them of each language.
fn document(dice: &mut Dice, number: usize) -> Doc {
    let mut content = format!("{} {}\n", thing(number), code(number));
    for _ in 0..12 {
        let sentence = format!(
            "{}和{}的{}，the {} near the {}. ",
            dice.of(WORDS),
            dice.of(WORDS),
            dice.of(WORDS),
            dice.of(WORDS),
            dice.of(WORDS)
        );
        content.push_str(&sentence);
    }
    Doc { id: String::new(), title: format!("{} {number}", dice.of(WORDS)), content, score: None }
}

fn row(name: &str, times: &mut [Duration], found: usize) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    format!("{name:28} median {:6.2} ms   p95 {:6.2} ms   worst {:6.2} ms   found {found}", at(0.5), at(0.95), at(1.0))
}

fn size(folder: &std::path::Path) -> String {
    let bytes = std::fs::metadata(folder.join("menshen.db")).map_or(0, |file| file.len());
    format!("{} MB on disk", bytes / 1024 / 1024)
}
