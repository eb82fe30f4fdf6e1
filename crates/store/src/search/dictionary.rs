//! The dictionary that Chinese text is cut into words with. Start at [`Dictionary::cut`].
//!
//! It is read when it is first needed, on the thread that needs it (about 0.1 s and 35 MB), so that a
//! household that never searches does not pay. Invariant: names of the household are always in it.

use std::io::BufReader;
use std::sync::{Arc, PoisonError, RwLock};

use decide::text::{comparable, is_unspaced};
use flate2::read::GzDecoder;
use jieba_rs::Jieba;

/// Words and how common they are, from the `jieba` project (MIT); see `data/README.md`.
const WORDS: &[u8] = include_bytes!("../../data/jieba.txt.gz");
/// Words of a home that the list does not have.
const HOUSE_WORDS: &[&str] = &[
    "主卧",
    "次卧",
    "吸顶灯",
    "扫地机器人",
    "扫地机",
    "扫拖",
    "地暖",
    "壁挂炉",
    "净水器",
    "净化器",
    "路由器",
    "光猫",
    "投影仪",
    "床头灯",
    "灯带",
    "氛围灯",
    "智能锁",
    "门锁",
    "密码锁",
    "摄像头",
    "燃气表",
    "水表",
    "电表",
    "滤芯",
    "猫砂",
    "猫粮",
    "狗粮",
    "尿不湿",
    "学区房",
    "班主任",
    "物业费",
    "车牌号",
    "手机号",
    "微信号",
    "身份证号",
    "银行卡号",
    "房产证",
    "户口本",
    "疫苗本",
    "医保卡",
];
/// The commonest surnames of one character, in comparable form.
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程苏魏吕丁任卢姚沈钟姜崔谭陆汪范金石廖贾夏韦付方邹熊白孟秦邱江尹薛阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔汤";
/// How common question words are taken to be, so that 哪天上课 is not cut into 哪, 天上, 课.
const ASKING: usize = 60_000;
/// Longer names are cut like any text.
const NAME_CHARS_MAX: usize = 12;

/// A handle: clones share one dictionary.
#[derive(Clone, Default)]
pub struct Dictionary {
    shared: Arc<RwLock<State>>,
}

#[derive(Default)]
struct State {
    /// None until it is first needed.
    words: Option<Jieba>,
    /// Names that came before the words were read.
    names: Vec<String>,
}

impl std::fmt::Debug for Dictionary {
    /// Nobody wants to read 350,000 words.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Dictionary")
    }
}

impl Dictionary {
    /// The household's own names: rooms, things, people. What is cut from now on keeps them whole.
    pub fn add<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let names = names
            .into_iter()
            .map(comparable)
            // 林静的 is no name but the end of a sentence: it would hide 林静.
            .filter(|name| !name.ends_with('的'))
            .filter(|name| (2..=NAME_CHARS_MAX).contains(&name.chars().count()) && name.chars().all(is_unspaced));
        let mut state = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        let with_given = names.flat_map(|name| {
            let given = given_name(&name).map(str::to_owned);
            std::iter::once(name).chain(given)
        });
        for name in with_given {
            match &mut state.words {
                Some(words) if words.has_word(&name) => {}
                Some(words) => {
                    words.add_word(&name, None, None);
                }
                None => state.names.push(name),
            }
        }
    }

    /// Cuts comparable text. `inside` is given for each word with the shorter words in it.
    pub(super) fn cut(&self, text: &str) -> Vec<(String, Vec<String>)> {
        if text.is_empty() {
            return Vec::new();
        }
        {
            let state = self.shared.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(words) = &state.words {
                return cut_with(words, text);
            }
        }
        self.load();
        let state = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        state.words.as_ref().map(|words| cut_with(words, text)).unwrap_or_default()
    }

    /// Reads the dictionary now, for those who want to wait for it at a better moment.
    pub fn load(&self) {
        let mut state = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        if state.words.is_some() {
            return;
        }
        let mut words = Jieba::empty();
        let mut lines = BufReader::with_capacity(64 * 1024, GzDecoder::new(WORDS));
        if let Err(error) = words.load_dict(&mut lines) {
            // Without it every character is a word of its own: search finds less, and nothing else is lost.
            tracing::error!(%error, "the built-in dictionary cannot be read");
        }
        let names = std::mem::take(&mut state.names);
        let table = decide::rank::concepts();
        let known = table.unspaced_words().map(|(word, asks)| (word, asks.then_some(ASKING)));
        let own = HOUSE_WORDS.iter().copied().chain(names.iter().map(String::as_str)).map(|word| (word, None));
        for (word, common) in known.chain(own) {
            if common.is_some() || !words.has_word(word) {
                words.add_word(word, common, None);
            }
        }
        state.words = Some(words);
    }
}

/// What somebody is called at home: 柏翰 of 黄柏翰. Uncut it would be two characters that say nothing.
fn given_name(name: &str) -> Option<&str> {
    let mut letters = name.char_indices();
    let (_, surname) = letters.next()?;
    let (at, _) = letters.next()?;
    (SURNAMES.contains(surname) && letters.count() == 1).then(|| &name[at..])
}

fn cut_with(words: &Jieba, text: &str) -> Vec<(String, Vec<String>)> {
    // With its statistical model on, it joins words that no one looks for (说主卧).
    words.cut(text, false).into_iter().map(|token| (token.word.to_owned(), inside(words, token.word))).collect()
}

/// The known words inside a longer one: 手机 and 号码 in 手机号码.
fn inside(words: &Jieba, word: &str) -> Vec<String> {
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut found = Vec::new();
    if characters.len() < 3 {
        return found;
    }
    for length in 2..characters.len() {
        for at in 0..=characters.len() - length {
            let end = characters.get(at + length).map_or(word.len(), |&(end, _)| end);
            let part = &word[characters[at].0..end];
            if words.has_word(part) {
                found.push(part.to_owned());
            }
        }
    }
    found
}
