//! Documents that are kept for a while, for a model. Start at [`document_tools`]. Invariant: what is taken
//! out comes whole, with the word that brings it back.

use std::sync::Arc;

use decide::text::{clean, clean_lines};
use sdk::{Doc, Failure, ToolScope};
use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Tool, definition, handled, say};
use super::memory::{nothing_about, rounded};
use crate::ports::Documents;

/// Limit: characters of a document that a model puts down.
pub const DOCUMENT_CHARS_MAX: usize = 100_000;
const TITLE_CHARS_MAX: usize = 200;

#[derive(Clone)]
struct Desk(Arc<dyn Documents>);

pub fn document_tools(documents: Arc<dyn Documents>) -> Vec<Tool> {
    let desk = Desk(documents);
    let mut query = definition(
        "doc_query",
        "Find documents put down earlier. What is found is taken out; doc_restore puts it back.",
        json!({
            "query": {"type": "string", "description": "What they are about"},
            "top_k": {"type": "integer", "description": "Most documents; 3 if left out", "minimum": 1, "maximum": 10},
            "consume": {"type": "boolean", "description": "false leaves them where they are"},
        }),
        &["query"],
    );
    query.untrusted = true;
    let mut commit = definition(
        "doc_commit",
        "Put down a longer text for later: notes, a plan, an intermediate result.",
        json!({
            "title": {"type": "string", "description": "What it is"},
            "content": {"type": "string", "description": "The whole text"},
        }),
        &["title", "content"],
    );
    commit.remembers = true;
    let mut restore = definition(
        "doc_restore",
        "Put back a document that doc_query took out.",
        json!({"undo": {"type": "string", "description": "As doc_query gave it"}}),
        &["undo"],
    );
    restore.remembers = true;
    vec![
        handled(query, &desk, |desk, given, scope| async move { desk.query(given, &scope).await }),
        handled(commit, &desk, |desk, given, _| async move { desk.commit(given).await }),
        handled(restore, &desk, |desk, given, _| async move { desk.restore(given).await }),
    ]
}

impl Desk {
    async fn query(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let text = arguments.needed_line("query", 500);
        let count = usize::try_from(arguments.whole("top_k", 3, 10)).unwrap_or(3);
        // A turn that must leave no trace takes nothing out.
        let consume = arguments.flag("consume", true) && !scope.no_memory;
        arguments.done()?;
        let found = self.0.query(&text, count, consume).await?;
        if found.is_empty() {
            return Ok(nothing_about(&text, scope));
        }
        let documents = found.iter().map(|hit| {
            let mut document = json!({
                "id": hit.doc.id,
                "title": clean(&hit.doc.title, TITLE_CHARS_MAX),
                "content": clean_lines(&hit.doc.content, usize::MAX),
                "score": hit.doc.score.map(rounded),
            });
            if let Some(undo) = &hit.undo {
                document["undo"] = json!(undo);
            }
            document
        });
        let mut answer = json!({"count": found.len(), "documents": documents.collect::<Vec<_>>()});
        if consume {
            answer["note"] = json!(say(
                &scope.language,
                "taken out: doc_restore with undo puts one back",
                "已取出：用 undo 调用 doc_restore 可以放回",
            ));
        }
        Ok(answer)
    }

    async fn commit(self, given: Map<String, Value>) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let title = arguments.needed_line("title", TITLE_CHARS_MAX);
        let content = arguments.needed_text("content", DOCUMENT_CHARS_MAX);
        arguments.done()?;
        let id = self.0.insert(Doc { title: title.clone(), content, ..Doc::default() }).await?;
        Ok(json!({"id": id, "title": title}))
    }

    async fn restore(self, given: Map<String, Value>) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let undo = arguments.needed_line("undo", 200);
        arguments.done()?;
        Ok(json!({"restored": self.0.restore(&undo).await?}))
    }
}

#[cfg(test)]
mod tests {
    use sdk::FailureKind;

    use super::*;
    use crate::tools::fakes::{FakeDocuments, assert_portable, call};

    fn scope(no_memory: bool) -> ToolScope {
        ToolScope { no_memory, language: "zh".into(), ..ToolScope::default() }
    }

    #[tokio::test]
    async fn a_document_comes_out_whole_and_goes_back() {
        let tools = document_tools(Arc::new(FakeDocuments::default()));
        let content = format!("# Plan\n\n{}", "一步一步。\n".repeat(9000));
        let kept =
            call(&tools, "doc_commit", json!({"title": "plan", "content": content}), &scope(false)).await.unwrap();
        let quiet = call(&tools, "doc_query", json!({"query": "plan"}), &scope(true)).await.unwrap();
        assert_eq!(quiet["documents"][0]["undo"], Value::Null);
        let found = call(&tools, "doc_query", json!({"query": "plan"}), &scope(false)).await.unwrap();
        assert_eq!(found["documents"][0]["content"], json!(content));
        assert_eq!(found["documents"][0]["id"], kept["id"]);
        let gone = call(&tools, "doc_query", json!({"query": "plan"}), &scope(false)).await.unwrap();
        assert_eq!(gone, json!({"count": 0, "note": "没有关于“plan”的任何记录"}));
        let undo = json!({"undo": found["documents"][0]["undo"]});
        assert_eq!(call(&tools, "doc_restore", undo, &scope(false)).await.unwrap()["restored"], json!(1));
        let left = json!({"query": "plan", "consume": false});
        for _ in 0..2 {
            assert_eq!(call(&tools, "doc_query", left.clone(), &scope(false)).await.unwrap()["count"], json!(1));
        }
    }

    #[tokio::test]
    async fn nothing_is_put_down_in_a_turn_that_must_not_be_remembered() {
        let tools = document_tools(Arc::new(FakeDocuments::default()));
        let note = json!({"title": "a", "content": "b"});
        let refused = call(&tools, "doc_commit", note.clone(), &scope(true)).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::Forbidden);
        let long = json!({"title": "a", "content": "b".repeat(DOCUMENT_CHARS_MAX + 1)});
        let refused = call(&tools, "doc_commit", long, &scope(false)).await.unwrap_err();
        assert!(refused.message.contains("`content`"), "{refused}");
        assert_eq!(call(&tools, "doc_query", json!({"query": "a"}), &scope(false)).await.unwrap()["count"], json!(0));
        assert_portable(&tools);
    }
}
