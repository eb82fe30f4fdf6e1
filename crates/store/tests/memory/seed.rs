//! What the seed's own memory does with the same facts: cosine of TF-IDF over the words of at least two
//! characters that jieba cuts, and names that contain a word of the question with what is one or two
//! steps around them.

use std::collections::{HashMap, HashSet};
use std::io::BufReader;

use flate2::read::GzDecoder;
use jieba_rs::Jieba;

use crate::asked::Method;
use crate::household::Told;

/// Below this similarity the seed's search gives nothing back.
const COSINE_MIN: f64 = 0.05;
const DEPTH: usize = 2;

pub fn methods(facts: &[Told]) -> Vec<(&'static str, Box<dyn Method>)> {
    vec![("TF-IDF", Box::new(TfIdf::new(facts))), ("LIKE + BFS", Box::new(Walk::new(facts)))]
}

fn jieba() -> Jieba {
    let words = GzDecoder::new(&include_bytes!("../../data/jieba.txt.gz")[..]);
    Jieba::with_dict(&mut BufReader::new(words)).unwrap()
}

fn words(jieba: &Jieba, text: &str) -> HashSet<String> {
    let text = text.to_lowercase();
    let words = jieba.cut(&text, true).into_iter().map(|token| token.word.trim().to_owned());
    words.filter(|word| word.chars().count() >= 2 && word.chars().any(char::is_alphanumeric)).collect()
}

struct TfIdf {
    jieba: Jieba,
    weights: HashMap<String, f64>,
    facts: Vec<(String, HashSet<String>, f64)>,
}

impl TfIdf {
    fn new(facts: &[Told]) -> Self {
        let jieba = jieba();
        let cut: Vec<(String, HashSet<String>)> = facts
            .iter()
            .map(|told| {
                let text = format!("{} {} {} {}", told.subject, told.relation, told.object, told.text);
                (told.id.clone(), words(&jieba, &text))
            })
            .collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for word in cut.iter().flat_map(|(_, words)| words) {
            *counts.entry(word.clone()).or_default() += 1;
        }
        let all = facts.len() as f64;
        let weights: HashMap<String, f64> =
            counts.into_iter().map(|(word, count)| (word, ((all + 1.0) / (count as f64 + 1.0)).ln())).collect();
        let length = |words: &HashSet<String>| words.iter().map(|word| weights[word].powi(2)).sum::<f64>().sqrt();
        let facts = cut.into_iter().map(|(id, words)| (id, length(&words), words)).collect::<Vec<_>>();
        Self { jieba, facts: facts.into_iter().map(|(id, length, words)| (id, words, length)).collect(), weights }
    }
}

impl Method for TfIdf {
    fn find(&self, question: &str) -> Vec<String> {
        let asked = words(&self.jieba, question);
        let weight = |word: &String| self.weights.get(word).copied().unwrap_or(0.0);
        let length = asked.iter().map(|word| weight(word).powi(2)).sum::<f64>().sqrt();
        let mut found: Vec<(f64, &String)> = self
            .facts
            .iter()
            .filter_map(|(id, words, own)| {
                let shared = asked.intersection(words).map(|word| weight(word).powi(2)).sum::<f64>();
                let cosine = shared / (length * own);
                (cosine >= COSINE_MIN).then_some((cosine, id))
            })
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

struct Walk {
    jieba: Jieba,
    facts: Vec<Told>,
}

impl Walk {
    fn new(facts: &[Told]) -> Self {
        Self { jieba: jieba(), facts: facts.to_vec() }
    }
}

impl Method for Walk {
    fn find(&self, question: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        let asked = words(&self.jieba, question);
        let mut asked: Vec<&String> = asked.iter().collect();
        asked.sort();
        for word in asked {
            let named = |name: &String| name.to_lowercase().contains(word.as_str());
            let names = self.facts.iter().flat_map(|told| [&told.subject, &told.object]);
            let mut frontier: HashSet<&String> = names.filter(|name| named(name)).collect();
            for _ in 0..DEPTH {
                let mut next = HashSet::new();
                for told in &self.facts {
                    if frontier.contains(&told.subject) || frontier.contains(&told.object) {
                        if seen.insert(&told.id) {
                            found.push(told.id.clone());
                        }
                        next.extend([&told.subject, &told.object]);
                    }
                }
                frontier = next;
            }
        }
        found
    }
}
