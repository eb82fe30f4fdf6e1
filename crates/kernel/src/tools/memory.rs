//! The graph of facts and the log of what was said, for a model. Start at [`memory_tools`]. Invariants:
//! every fact comes with who told it and when; a hard deletion is a rehearsal unless asked for twice, and after
//! text of others was read goes no further than what the person named; what is not known is said not to be known.

use std::collections::BTreeMap;
use std::sync::Arc;

use decide::text::clean;
use decide::when::Zone;
use sdk::{Failure, FailureKind, PurgeMode, ToolScope, Triple};
use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Tool, definition, handled, say};
use crate::ports::{Clock, Fact, GraphMemory, RecallQuery, RecalledFact, TextMemory, TextQuery};

/// Limit: facts in one call of `memory_commit`.
pub const COMMIT_FACTS_MAX: usize = 50;
const NAME_CHARS_MAX: usize = 200;
const SENTENCE_CHARS_MAX: usize = 500;
const DEPTH_MAX: u64 = 4;
const CRITERIA: [&str; 4] = ["subject_contains", "target_contains", "relation_type", "session_id"];

#[derive(Clone)]
pub struct MemoryDesk {
    pub graph: Arc<dyn GraphMemory>,
    pub text: Arc<dyn TextMemory>,
    pub clock: Arc<dyn Clock>,
    /// The household's zone, an IANA name.
    pub zone: Arc<dyn Fn() -> String + Send + Sync>,
}

pub fn memory_tools(desk: &MemoryDesk) -> Vec<Tool> {
    let mut tools = reading(desk);
    tools.extend(writing(desk));
    tools
}

fn reading(desk: &MemoryDesk) -> Vec<Tool> {
    let day = |what: &str| json!({"type": "string", "description": format!("{what} this day, 2026-11-30")});
    let mut recall = definition(
        "memory_recall",
        "What is remembered about somebody or something, newest first where facts contradict.",
        json!({
            "query": {"type": "string", "description": "Keywords with commas, or a whole question"},
            "depth": {"type": "integer", "description": "Steps from what is found to what it leads to; 2 if left out", "minimum": 0, "maximum": DEPTH_MAX},
            "count": {"type": "integer", "description": "Most facts; 12 if left out", "minimum": 1, "maximum": 50},
            "from": day("Told since"),
            "to": day("Told until"),
        }),
        &["query"],
    );
    (recall.read_only, recall.untrusted) = (true, true);
    let mut introspect = definition("memory_introspect", "How much is remembered, by kind.", json!({}), &[]);
    introspect.read_only = true;
    let mut search = definition(
        "text_search",
        "Search what was said in earlier conversations.",
        json!({
            "query": {"type": "string", "description": "Words to look for"},
            "count": {"type": "integer", "description": "Most messages; 8 if left out", "minimum": 1, "maximum": 30},
            "from": day("Said since"),
            "to": day("Said until"),
            "channel": {"type": "string", "description": "Only of this channel"},
        }),
        &["query"],
    );
    (search.read_only, search.untrusted) = (true, true);
    vec![
        handled(recall, desk, |desk, given, scope| async move { desk.recall(given, &scope).await }),
        handled(introspect, desk, |desk, _, _| async move { desk.graph.introspect().await.map(Value::Object) }),
        handled(search, desk, |desk, given, scope| async move { desk.search(given, &scope).await }),
    ]
}

fn writing(desk: &MemoryDesk) -> Vec<Tool> {
    let text = |what: &str| json!({"type": "string", "description": what});
    let commit = definition(
        "memory_commit",
        "Remember facts that will still matter later, as short subject, relation, object.",
        json!({"facts": {
            "type": "array",
            "maxItems": COMMIT_FACTS_MAX,
            "items": {
                "type": "object",
                "properties": {
                    "subject": text("Anna"),
                    "relation": text("likes"),
                    "object": text("green tea"),
                    "text": text("The sentence it was told in, where there is one"),
                    "single": {"type": "boolean", "description": "There is one at a time (lives in, is called): a newer one replaces it"},
                },
                "required": ["subject", "relation", "object"],
                "additionalProperties": false,
            },
        }}),
        &["facts"],
    );
    let merge = definition(
        "memory_merge",
        "Two names are the same person or thing: move all facts of source to target.",
        json!({"source": text("The name that goes"), "target": text("The name that stays")}),
        &["source", "target"],
    );
    let purge = definition(
        "memory_purge",
        "Forget facts for which all given criteria hold. soft can be undone; hard is for good.",
        json!({
            "subject_contains": text("Part of the subject"),
            "target_contains": text("Part of the object"),
            "relation_type": text("The relation, whole"),
            "session_id": text("The conversation in which it was told"),
            "mode": {"type": "string", "enum": ["soft", "hard"], "description": "soft if left out"},
            "dry_run": {"type": "boolean", "description": "Only show what would go; true if left out with hard"},
        }),
        &[],
    );
    let restore = definition(
        "memory_restore",
        "Bring back what memory_purge forgot softly.",
        json!({"undo": text("As memory_purge gave it")}),
        &["undo"],
    );
    let [commit, merge, purge, restore] = [commit, merge, purge, restore].map(|mut definition| {
        definition.remembers = true;
        definition
    });
    vec![
        handled(commit, desk, |desk, given, scope| async move { desk.commit(given, &scope).await }),
        handled(merge, desk, |desk, given, _| async move { desk.merge(given).await }),
        handled(purge, desk, |desk, given, scope| async move { desk.purge(given, &scope).await }),
        handled(restore, desk, |desk, given, _| async move {
            let mut arguments = Arguments::new(given);
            let undo = arguments.needed_line("undo", NAME_CHARS_MAX);
            arguments.done()?;
            Ok(json!({"restored": desk.graph.restore(&undo).await?}))
        }),
    ]
}

impl MemoryDesk {
    fn zone(&self) -> Zone {
        Zone::named(&(self.zone)()).unwrap_or_else(|_| Zone::utc())
    }

    async fn recall(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let words = arguments.list("query", 20);
        if words.is_empty() {
            arguments.wrong("query", "is missing or empty: give keywords or a question");
        }
        let zone = self.zone();
        let query = RecallQuery {
            depth: u32::try_from(arguments.whole("depth", 2, DEPTH_MAX)).unwrap_or(2),
            count_max: usize::try_from(arguments.whole("count", 12, 50)).unwrap_or(12),
            from_ms: arguments.day("from", &zone).map(|(first, _)| first),
            to_ms: arguments.day("to", &zone).map(|(_, last)| last),
            words: words.clone(),
        };
        arguments.done()?;
        let found = self.graph.recall(query).await?;
        if found.facts.is_empty() && found.entities.is_empty() {
            return Ok(nothing_about(&words.join(", "), scope));
        }
        let facts: Vec<Value> = found.facts.iter().map(|fact| self.told(fact)).collect();
        let entities = found.entities.iter().take(20).map(|entity| {
            json!({"name": clean(&entity.name, NAME_CHARS_MAX), "type": clean(&entity.kind, 40), "mention_count": entity.mention_count})
        });
        let mut answer = json!({"count": facts.len(), "facts": facts, "entities": entities.collect::<Vec<_>>()});
        if found.facts.is_empty() {
            answer["note"] = json!(say(
                &scope.language,
                "the names are known, but no fact about them",
                "知道这些名字，但没有关于它们的记录"
            ));
        }
        Ok(answer)
    }

    /// A fact with who told it and when.
    fn told(&self, fact: &RecalledFact) -> Value {
        let relation = &fact.relation;
        let mut told = json!({
            "id": fact.id,
            "subject": clean(&relation.source_name, NAME_CHARS_MAX),
            "relation": clean(&relation.relation_type, NAME_CHARS_MAX),
            "object": clean(&relation.target_name, NAME_CHARS_MAX),
            "told_at": if relation.told_at > 0 { json!(self.clock.written(relation.told_at * 1000)) } else { Value::Null },
            "told_by": clean(&relation.told_by, NAME_CHARS_MAX),
            "score": rounded(relation.score),
        });
        if !fact.text.is_empty() {
            told["text"] = json!(clean(&fact.text, SENTENCE_CHARS_MAX));
        }
        if relation.superseded {
            told["superseded"] = json!(true);
        }
        told
    }

    async fn commit(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let given: Vec<Map<String, Value>> = match arguments.value("facts") {
            Some(Value::Array(facts)) => {
                facts.iter().map(|fact| fact.as_object().cloned().unwrap_or_default()).collect()
            }
            _ => Vec::new(),
        };
        if given.is_empty() || given.len() > COMMIT_FACTS_MAX {
            arguments.wrong("facts", format!("must hold 1 to {COMMIT_FACTS_MAX} facts"));
        }
        let now_ms = self.clock.now_ms();
        let mut facts = Vec::new();
        for (number, fields) in given.into_iter().take(COMMIT_FACTS_MAX).enumerate() {
            let mut fields = Arguments::new(fields);
            let triple = Triple {
                subject: fields.needed_line("subject", NAME_CHARS_MAX),
                relation: fields.needed_line("relation", NAME_CHARS_MAX),
                object: fields.needed_line("object", NAME_CHARS_MAX),
            };
            let text = fields.line("text", SENTENCE_CHARS_MAX).unwrap_or_default();
            let single = fields.flag("single", false);
            if let Err(failure) = fields.done() {
                arguments.wrong(&format!("facts[{number}]"), failure.message.trim_end_matches(" Nothing was done."));
            }
            let told_by = told_by(&triple, scope);
            facts.push(Fact { triple, text, told_at_ms: now_ms, told_by, session: scope.session.clone(), single });
        }
        arguments.done()?;
        let ids = self.graph.commit(&facts).await?;
        Ok(json!({"remembered": ids.len(), "ids": ids}))
    }

    async fn merge(self, given: Map<String, Value>) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let source = arguments.needed_line("source", NAME_CHARS_MAX);
        let target = arguments.needed_line("target", NAME_CHARS_MAX);
        if source == target && !source.is_empty() {
            arguments.wrong("target", "is the same as `source`");
        }
        arguments.done()?;
        Ok(json!({"moved": self.graph.merge_entities(&source, &target).await?, "into": target}))
    }

    async fn purge(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let mut criteria = BTreeMap::new();
        for name in CRITERIA {
            if let Some(value) = arguments.line(name, NAME_CHARS_MAX) {
                criteria.insert(name.to_owned(), value);
            } else if arguments.value(name).is_some() {
                arguments.wrong(name, "is empty: leave it out or give what must hold");
            }
        }
        if criteria.is_empty() {
            arguments.wrong(
                "subject_contains",
                format!("or another of {} is needed: nothing is forgotten wholesale", CRITERIA.join(", ")),
            );
        }
        let hard = arguments.line("mode", 10).is_some_and(|mode| mode == "hard");
        let dry_run = arguments.flag("dry_run", hard);
        arguments.done()?;
        let said = scope.said.to_lowercase();
        let named = criteria.values().all(|value| said.contains(&value.to_lowercase()));
        if hard && !dry_run && scope.tainted && !named {
            return Err(Failure::new(
                FailureKind::Forbidden,
                "for good only that is deleted which the person named word for word in this message: ask for it, or use soft, which can be undone. Nothing was deleted.",
            ));
        }
        let mode = if hard { PurgeMode::Hard } else { PurgeMode::Soft };
        let purged = self.graph.purge(&criteria, mode, dry_run).await?;
        let facts: Vec<Value> = purged.facts.iter().take(10).map(|fact| self.told(fact)).collect();
        let mut answer = json!({if dry_run { "would_forget" } else { "forgotten" }: purged.count, "facts": facts});
        if purged.count == 0 {
            answer["note"] =
                json!(say(&scope.language, "nothing fits, nothing was forgotten", "没有符合的记录，什么也没有删除"));
        } else if dry_run {
            answer["note"] = json!(say(
                &scope.language,
                "nothing was forgotten yet: tell the person, then call again with dry_run false",
                "还没有删除：先告诉用户，再用 dry_run false 调用",
            ));
        }
        if !purged.undo.is_empty() {
            answer["undo"] = json!(purged.undo);
        }
        Ok(answer)
    }

    async fn search(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let zone = self.zone();
        let text = arguments.needed_line("query", SENTENCE_CHARS_MAX);
        let channel = arguments.line("channel", NAME_CHARS_MAX);
        let query = TextQuery {
            text: text.clone(),
            count_max: usize::try_from(arguments.whole("count", 8, 30)).unwrap_or(8),
            from_s: arguments.day("from", &zone).map(|(first, _)| first.div_euclid(1000)),
            to_s: arguments.day("to", &zone).map(|(_, last)| last.div_euclid(1000)),
            // What is said in the house is not for a group of other people.
            channel: if scope.group_id.is_empty() { channel } else { Some(scope.channel.clone()) },
        };
        arguments.done()?;
        let hits = self.text.search(query).await?;
        if hits.is_empty() {
            return Ok(nothing_about(&text, scope));
        }
        let messages = hits.iter().map(|hit| {
            json!({
                "role": hit.event.role,
                "content": clean(&hit.event.content, SENTENCE_CHARS_MAX),
                "at": self.clock.written(hit.event.timestamp * 1000),
                "channel": clean(&hit.event.channel, NAME_CHARS_MAX),
                "score": rounded(hit.score),
            })
        });
        Ok(json!({"count": hits.len(), "messages": messages.collect::<Vec<_>>()}))
    }
}

/// The honest answer where there is nothing.
pub(super) fn nothing_about(what: &str, scope: &ToolScope) -> Value {
    let what = clean(what, 80);
    let note = say(&scope.language, format!("nothing known about {what}"), format!("没有关于“{what}”的任何记录"));
    json!({"count": 0, "note": note})
}

/// The channel; in a turn that has read what others wrote also whether the person named what it is about.
fn told_by(triple: &Triple, scope: &ToolScope) -> String {
    let said = scope.said.to_lowercase();
    let named = |name: &str| said.contains(&name.to_lowercase());
    if !scope.tainted || named(&triple.object) || named(&triple.subject) {
        return scope.channel.clone();
    }
    format!("{}, from what was read", scope.channel)
}

pub(super) fn rounded(score: f64) -> Value {
    json!((score * 1000.0).round() / 1000.0)
}

#[cfg(test)]
mod tests;
