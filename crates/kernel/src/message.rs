//! What goes to a model and comes back. Start at [`Message`]. Invariant: a `Tool` message follows the
//! `Assistant` message that holds its call; the pair is never split.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// From a plugin or from us, in the middle of a conversation.
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallRequest>,
        /// Blocks that the provider wants back unchanged, with the calls they led to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<Value>,
    },
    Tool {
        call_id: String,
        name: String,
        content: String,
        #[serde(default)]
        is_error: bool,
    },
}

/// A call as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRequest {
    /// Never empty, and unique within one answer: made up by the source's adapter where the provider gives none.
    pub id: String,
    pub name: String,
    /// JSON text; may be broken or cut.
    pub arguments: String,
}

impl Message {
    pub fn content(&self) -> &str {
        match self {
            Message::System { content }
            | Message::User { content }
            | Message::Assistant { content, .. }
            | Message::Tool { content, .. } => content,
        }
    }
}
