//! The household's folder of files, for a model. Start at [`knowledge_tools`]. Invariant: every part says
//! which file it is from and where in it; a long file is read in pieces, none of it out of reach; what was
//! read writes over no file.

use std::sync::Arc;

use decide::text::{clean, clean_lines};
use sdk::{Failure, FailureKind, ToolScope};
use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Tool, definition, handled, say};
use super::memory::{nothing_about, rounded, said};
use crate::ports::KnowledgeBase;

/// Limit: characters of a file that a model writes.
pub const KNOWLEDGE_CHARS_MAX: usize = 100_000;
/// Of a file at once.
const PIECE_CHARS_MAX: usize = 8000;
const PART_CHARS_MAX: usize = 3000;
const NAME_CHARS_MAX: usize = 300;
const LISTED_MAX: usize = 200;

#[derive(Clone)]
struct Desk(Arc<dyn KnowledgeBase>);

pub fn knowledge_tools(knowledge: Arc<dyn KnowledgeBase>) -> Vec<Tool> {
    let desk = Desk(knowledge);
    let name = json!({"type": "string", "description": "File, as knowledge_list gives it: manuals/boiler.md"});
    let mut search = definition(
        "knowledge_search",
        "Search the household's files: manuals, recipes, rules, notes. Gives the parts that fit.",
        json!({
            "query": {"type": "string", "description": "What to look for"},
            "top_k": {"type": "integer", "description": "Most parts; 5 if left out", "minimum": 1, "maximum": 20},
        }),
        &["query"],
    );
    (search.read_only, search.untrusted) = (true, true);
    let mut list = definition("knowledge_list", "List the household's files.", json!({}), &[]);
    list.read_only = true;
    let mut read = definition(
        "knowledge_read",
        "Read a file of the household, in pieces.",
        json!({"name": name, "offset": {"type": "integer", "description": "next_offset of the piece before", "minimum": 0}}),
        &["name"],
    );
    (read.read_only, read.untrusted) = (true, true);
    let mut create = definition(
        "knowledge_create",
        "Write a file of the household: Markdown that people can read and change too.",
        json!({"name": name, "content": {"type": "string", "description": "The whole file"}}),
        &["name", "content"],
    );
    create.remembers = true;
    vec![
        handled(search, &desk, |desk, given, scope| async move { desk.search(given, &scope).await }),
        handled(list, &desk, |desk, _, scope| async move { desk.list(&scope).await }),
        handled(read, &desk, |desk, given, _| async move { desk.read(given).await }),
        handled(create, &desk, |desk, given, scope| async move { desk.create(given, &scope).await }),
    ]
}

impl Desk {
    async fn search(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let query = arguments.needed_line("query", 500);
        let count = usize::try_from(arguments.whole("top_k", 5, 20)).unwrap_or(5);
        arguments.done()?;
        let found = self.0.search(&query, count).await?;
        if found.is_empty() {
            return Ok(nothing_about(&query, scope));
        }
        let parts = found.iter().map(|part| {
            let mut shown = json!({
                "name": clean(&part.name, NAME_CHARS_MAX),
                "content": clean_lines(&part.content, PART_CHARS_MAX),
                "score": rounded(part.score),
            });
            if !part.place.is_empty() {
                shown["place"] = json!(clean(&part.place, NAME_CHARS_MAX));
            }
            shown
        });
        Ok(json!({"count": found.len(), "parts": parts.collect::<Vec<_>>()}))
    }

    async fn list(self, scope: &ToolScope) -> Result<Value, Failure> {
        let names = self.0.list().await?;
        if names.is_empty() {
            return Ok(json!({"count": 0, "note": say(&scope.language, "there are no files yet", "还没有任何文件")}));
        }
        let shown: Vec<String> = names.iter().take(LISTED_MAX).map(|name| clean(name, NAME_CHARS_MAX)).collect();
        let mut answer = json!({"count": names.len(), "names": shown});
        if names.len() > LISTED_MAX {
            answer["note"] = json!(format!("{} more: use knowledge_search", names.len() - LISTED_MAX));
        }
        Ok(answer)
    }

    async fn read(self, given: Map<String, Value>) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let name = arguments.needed_line("name", NAME_CHARS_MAX);
        let offset = usize::try_from(arguments.whole("offset", 0, u64::from(u32::MAX))).unwrap_or(0);
        arguments.done()?;
        let (content, more) = self.0.read(&name, offset, PIECE_CHARS_MAX).await?;
        let count = content.chars().count();
        let mut answer = json!({"name": name, "offset": offset, "content": clean_lines(&content, usize::MAX)});
        if more {
            answer["next_offset"] = json!(offset + count);
        }
        Ok(answer)
    }

    async fn create(self, given: Map<String, Value>, scope: &ToolScope) -> Result<Value, Failure> {
        let mut arguments = Arguments::new(given);
        let name = arguments.needed_line("name", NAME_CHARS_MAX);
        let content = arguments.needed_text("content", KNOWLEDGE_CHARS_MAX);
        if name.starts_with('/') || name.contains('\\') || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            arguments.wrong("name", "must be a path inside the folder, without . and ..");
        }
        arguments.done()?;
        if scope.tainted && self.there(&name).await? && !named(scope, &name) {
            let message = format!(
                "there is a file {name} already, and the person did not name it: choose another name, or ask whether it should be written over. Nothing was written."
            );
            return Err(Failure::new(FailureKind::Duplicate, message));
        }
        self.0.add(&name, &content).await?;
        Ok(json!({"written": name, "characters": content.chars().count()}))
    }
}

impl Desk {
    /// Without an ending it is Markdown.
    async fn there(&self, name: &str) -> Result<bool, Failure> {
        let known = self.0.list().await?;
        let markdown = format!("{name}.md");
        Ok(known.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(&markdown)))
    }
}

/// Whether the person wrote the file's name, its ending and folder left aside.
fn named(scope: &ToolScope, name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    said(scope, file.split('.').next().unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::fakes::{FakeKnowledge, assert_portable, call};

    #[tokio::test]
    async fn a_long_file_is_read_in_pieces_and_found_by_its_parts() {
        let tools = knowledge_tools(Arc::new(FakeKnowledge::default()));
        let scope = ToolScope { language: "en".into(), ..ToolScope::default() };
        let none = call(&tools, "knowledge_list", json!({}), &scope).await.unwrap();
        assert_eq!(none, json!({"count": 0, "note": "there are no files yet"}));
        let content = format!("# Boiler\n{}", "暖气 ".repeat(6000));
        let write = json!({"name": "manuals/boiler.md", "content": content});
        call(&tools, "knowledge_create", write, &scope).await.unwrap();
        let mut whole = String::new();
        let mut at = json!(0);
        while at.is_number() {
            let read = json!({"name": "manuals/boiler.md", "offset": at});
            let piece = call(&tools, "knowledge_read", read, &scope).await.unwrap();
            whole.push_str(piece["content"].as_str().unwrap());
            at = piece["next_offset"].clone();
        }
        assert_eq!(whole, content);
        let found = call(&tools, "knowledge_search", json!({"query": "boiler"}), &scope).await.unwrap();
        assert_eq!(
            (&found["parts"][0]["name"], &found["parts"][0]["place"]),
            (&json!("manuals/boiler.md"), &json!("Boiler"))
        );
        let none = call(&tools, "knowledge_search", json!({"query": "submarine"}), &scope).await.unwrap();
        assert_eq!(none["note"], json!("nothing known about submarine"));
        assert_portable(&tools);
    }

    #[tokio::test]
    async fn what_was_read_writes_over_no_file() {
        let tools = knowledge_tools(Arc::new(FakeKnowledge::default()));
        let write = |name: &str, content: &str| json!({ "name": name, "content": content });
        call(&tools, "knowledge_create", write("manuals/boiler.md", "28 degrees"), &ToolScope::default())
            .await
            .unwrap();
        let scope = |said: &str| ToolScope { tainted: true, said: said.into(), ..ToolScope::default() };
        for name in ["manuals/boiler.md", "manuals/boiler", "manuals/Boiler.MD"] {
            let refused = call(&tools, "knowledge_create", write(name, "90 degrees"), &scope("how warm is it?")).await;
            assert_eq!(refused.unwrap_err().kind, FailureKind::Duplicate, "{name}");
        }
        let read = json!({"name": "manuals/boiler.md"});
        let kept = call(&tools, "knowledge_read", read.clone(), &scope("")).await.unwrap();
        assert_eq!(kept["content"], json!("28 degrees"));
        call(&tools, "knowledge_create", write("manuals/pump.md", "new"), &scope("")).await.unwrap();
        let asked = scope("write 30 degrees into the boiler file");
        call(&tools, "knowledge_create", write("manuals/boiler.md", "30 degrees"), &asked).await.unwrap();
        assert_eq!(call(&tools, "knowledge_read", read, &asked).await.unwrap()["content"], json!("30 degrees"));
    }

    #[tokio::test]
    async fn a_name_that_leads_out_of_the_folder_is_refused() {
        let tools = knowledge_tools(Arc::new(FakeKnowledge::default()));
        for name in ["../x.md", "/etc/x", "a/../../b", "a//b", "..\\x", "./a"] {
            let write = json!({"name": name, "content": "x"});
            let refused = call(&tools, "knowledge_create", write, &ToolScope::default()).await.unwrap_err();
            assert!(refused.message.contains("`name`"), "{name}: {refused}");
        }
    }
}
