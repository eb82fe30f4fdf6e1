//! What the large memories are made of, and how they are kept between two runs. Start at [`kept`].
//!
//! Telling a million facts takes minutes, so what was built stays in the target directory under a digest of
//! all that decides what is in it. Invariant: the same sources give the same memory.

use std::path::{Path, PathBuf};

use kernel::ports::Fact;
use sdk::{Doc, Triple};
use sha2::{Digest, Sha256};

pub const RELATIONS: usize = 1_000_000;
pub const THINGS: usize = 200_000;
pub const DOCUMENTS: usize = 100_000;

/// Whatever decides what is told and how it is kept.
const SOURCES: &[&str] = &[
    include_str!("data.rs"),
    include_str!("../../migrations/0002_memory.sql"),
    include_str!("../../src/search/cut.rs"),
    include_str!("../../src/search/dictionary.rs"),
    include_str!("../../src/search/index.rs"),
    include_str!("../../src/graph/commit.rs"),
    include_str!("../../src/graph/rows.rs"),
    include_str!("../../src/documents/rows.rs"),
    include_str!("../../src/documents/parts.rs"),
];

/// Where a memory of this name is kept, and whether it is whole already. What is not, is built in the folder
/// that [`done`] then puts in its place.
pub fn kept(name: &str) -> (PathBuf, bool) {
    let mut digest = Sha256::new();
    SOURCES.iter().for_each(|source| digest.update(source.as_bytes()));
    let digest: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{name}-{digest}"));
    let whole = place.exists();
    (place, whole)
}

/// Where it is built; what a run that was stopped left there is gone.
pub fn building(place: &Path) -> std::io::Result<PathBuf> {
    let part = place.with_extension("part");
    if part.exists() {
        std::fs::remove_dir_all(&part)?;
    }
    Ok(part)
}

pub fn done(place: &Path) -> std::io::Result<()> {
    // Older ones are of no use to anybody.
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = name.rsplit_once('-').map_or("", |(kind, _)| kind);
    for entry in std::fs::read_dir(Path::new(env!("CARGO_TARGET_TMPDIR")))?.filter_map(Result::ok) {
        let other = entry.file_name().to_string_lossy().into_owned();
        if other.starts_with(kind) && !other.ends_with(".part") {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    std::fs::rename(place.with_extension("part"), place)
}

pub const SURNAMES: &[&str] =
    &["陈", "林", "王", "李", "张", "刘", "黄", "周", "吴", "徐", "孙", "马", "朱", "胡", "郭", "何"];
pub const GIVEN: &[&str] =
    &["伟", "静", "敏", "强", "磊", "洋", "艳", "勇", "杰", "娟", "涛", "明", "超", "霞", "平", "刚"];
pub const FIRST: &[&str] =
    &["Tom", "Ella", "Max", "Priya", "Rob", "Fiona", "George", "Ivy", "Nell", "Kasia", "Hannah", "Jack"];
pub const RELATION: &[&str] = &[
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
pub const WORDS: &[&str] = &[
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
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap_or(0)
    }

    /// Small numbers are much more common, as a few things are in most facts.
    pub fn skewed(&mut self, end: usize) -> usize {
        let share = (self.below(1 << 20) as f64) / f64::from(1 << 20);
        ((end as f64) * share.powi(3)) as usize % end
    }

    pub fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

pub fn thing(number: usize) -> String {
    let (a, b) = (number % 16, number / 16 % 16);
    if number.is_multiple_of(2) {
        format!("{}{}{}", SURNAMES[a], GIVEN[b], number / 256)
    } else {
        format!("{} {}", FIRST[number % FIRST.len()], number / 12)
    }
}

pub fn code(number: usize) -> String {
    format!("KX-{}", 10_000 + number)
}

pub fn fact(dice: &mut Dice, number: usize) -> Fact {
    let (subject, object) = (thing(dice.skewed(THINGS)), thing(dice.below(THINGS)));
    let relation = dice.of(RELATION).to_owned();
    let text = format!("{subject} {relation} {object}，{}", code(number));
    let triple = Triple { subject, relation, object };
    Fact { triple, text, told_at_ms: 1_700_000_000_000 + number as i64 * 60_000, ..Fact::default() }
}

/// About 300 characters, half of them of each language.
pub fn document(dice: &mut Dice, number: usize) -> Doc {
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
