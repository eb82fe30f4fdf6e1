//! What a foreign tool gives back, as data. Start at [`shaped`]. Invariant: text without invisible
//! characters, capped; bytes are counted and not passed on.

use decide::text::{clean, clean_lines};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::FOREIGN_CHARS_MAX;

/// `isError` where the server says so.
pub(super) fn shaped(result: CallToolResult) -> Value {
    let mut left = FOREIGN_CHARS_MAX;
    let mut truncated = false;
    let mut parts = Vec::new();
    for block in &result.content {
        let (what, text) = described(block);
        let text = clean_lines(&text, left);
        truncated |= text.chars().count() > left;
        left = left.saturating_sub(text.chars().count());
        parts.push(if what.is_empty() { text } else { format!("[{what}] {text}").trim_end().to_owned() });
        if left == 0 {
            truncated = true;
            break;
        }
    }
    let mut answer = json!({"content": parts.join("\n")});
    // The same as structure, where the text is not only its print.
    if let Some(structure) = result.structured_content.filter(|_| parts.is_empty()) {
        let text = structure.to_string();
        let fits = text.len() <= FOREIGN_CHARS_MAX;
        truncated |= !fits;
        answer["content"] = if fits { tidy(&structure) } else { json!(clean_lines(&text, FOREIGN_CHARS_MAX)) };
    }
    if truncated {
        answer["truncated"] = json!(true);
    }
    if result.is_error == Some(true) {
        answer["isError"] = json!(true);
    }
    answer
}

/// What kind of thing it is where it is no text, and its text.
fn described(block: &ContentBlock) -> (String, String) {
    match block {
        ContentBlock::Text(text) => (String::new(), text.text.clone()),
        ContentBlock::Image(image) => {
            (format!("image {}, {} bytes", clean(&image.mime_type, 60), bytes(&image.data)), String::new())
        }
        ContentBlock::Audio(audio) => {
            (format!("audio {}, {} bytes", clean(&audio.mime_type, 60), bytes(&audio.data)), String::new())
        }
        ContentBlock::ResourceLink(link) => ("link".to_owned(), clean(&format!("{} {}", link.name, link.uri), 500)),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                (format!("from {}", clean(uri, 300)), text.clone())
            }
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                (format!("from {}, {} bytes", clean(uri, 300), bytes(blob)), String::new())
            }
            _ => ("something of an unknown kind".to_owned(), String::new()),
        },
        _ => ("something of an unknown kind".to_owned(), String::new()),
    }
}

/// How many bytes a text in base 64 stands for, about.
fn bytes(text: &str) -> usize {
    text.len() / 4 * 3
}

/// Texts inside a structure without invisible characters.
fn tidy(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(clean_lines(text, FOREIGN_CHARS_MAX)),
        Value::Array(values) => values.iter().map(tidy).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (clean(key, 100), tidy(value))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_clean_and_capped_and_bytes_do_not_come_at_all() {
        let image = ContentBlock::image("QUJD".repeat(1000), "image/png");
        let result = CallToolResult::success(vec![ContentBlock::text("a\u{202E}b\nc"), image]);
        assert_eq!(shaped(result), json!({"content": "ab\nc\n[image image/png, 3000 bytes]"}));
        let long = CallToolResult::error(vec![ContentBlock::text("x".repeat(FOREIGN_CHARS_MAX + 1))]);
        let answer = shaped(long);
        assert_eq!((&answer["isError"], &answer["truncated"]), (&json!(true), &json!(true)));
        let mut structure = CallToolResult::success(vec![]);
        structure.structured_content = Some(json!({"a\u{200B}": ["b\u{0007}", 1]}));
        assert_eq!(shaped(structure), json!({"content": {"a": ["b", 1]}}));
    }
}
