//! What a client asked. Start at [`Asked`]. Invariant: nothing is interpreted when it is recorded.

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    OpenAi,
    Anthropic,
    Ollama,
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub protocol: Protocol,
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// The body as it came, byte for byte.
    pub text: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Names of the tools that the model is offered.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let name = |tool: &Value| tool["function"]["name"].as_str().or(tool["name"].as_str()).map(str::to_owned);
        tools.filter_map(name).collect()
    }

    /// Role and text of each message in order, in one form for all protocols: system texts have the role
    /// `system`, results of tools `tool`, calls are left out.
    pub fn said(&self) -> Vec<(String, String)> {
        let mut said = Vec::new();
        // Anthropic's stands beside the messages.
        if !self.body["system"].is_null() {
            said.push(("system".to_owned(), text_of(&self.body["system"])));
        }
        for message in self.body["messages"].as_array().into_iter().flatten() {
            let role = message["role"].as_str().unwrap_or_default();
            let results =
                message["content"].as_array().into_iter().flatten().filter(|part| part["type"] == "tool_result");
            said.extend(results.map(|result| ("tool".to_owned(), text_of(&result["content"]))));
            let text = text_of(&message["content"]);
            if !text.is_empty() {
                said.push((role.to_owned(), text));
            }
        }
        said
    }

    /// The texts of one role.
    pub fn said_by(&self, role: &str) -> Vec<String> {
        self.said().into_iter().filter(|(by, _)| by == role).map(|(_, text)| text).collect()
    }

    /// The results of tools since the last words of the person.
    pub fn results(&self) -> Vec<String> {
        let said = self.said();
        let spoke = said.iter().rposition(|(role, text)| role == "user" && !text.starts_with("<context>"));
        let since = said.into_iter().skip(spoke.map_or(0, |at| at + 1));
        since.filter(|(role, _)| role == "tool").map(|(_, text)| text).collect()
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
