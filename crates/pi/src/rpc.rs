//! A brain on standard input and output, as `pi --mode rpc` is. Start at [`serve`].
//!
//! Invariants: each command is answered once, with its `id`; the response to a prompt is written before what
//! the prompt sets off; no line ends it but the end of the input.

use std::sync::Arc;

use kernel::ports::{Brain, BrainEvent, Disposition, Principal, Prompt, StreamingBehavior};
use sdk::Failure;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;

use crate::lines::{Line, Lines};
use crate::records::{object, ok, refused};

/// Limit: bytes of one command; a longer one is answered with an error.
pub const RPC_LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Limit: commands under way at once; further ones are read when one of these is answered.
pub const RPC_COMMANDS_MAX: usize = 64;

/// Who speaks, and in which conversation.
pub struct Caller {
    pub principal: Principal,
    pub session: String,
    /// Unlike that of any other run: jobs are named after it.
    pub run: String,
}

/// Until the input ends, or nobody reads the output.
pub async fn serve<R, W>(brain: Arc<dyn Brain>, caller: Caller, input: R, output: W) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = Lines::new(input, RPC_LINE_BYTES_MAX);
    let mut events = brain.events();
    let mut output = output;
    let mut commands: JoinSet<Map<String, Value>> = JoinSet::new();
    let mut jobs = 0_u64;
    let mut ended = false;
    while !ended || !commands.is_empty() {
        // Each may be dropped: a line, an event and an answer are taken or not.
        let record = tokio::select! {
            biased;
            Some(done) = commands.join_next() => match done {
                Ok(response) => response,
                Err(error) => refused("", format!("the command broke off: {error}")),
            },
            event = events.recv() => match event {
                Ok(event) if event.session == caller.session => written(&event),
                Ok(_) => continue,
                Err(RecvError::Lagged(count)) => object(json!({ "type": "events_missed", "count": count })),
                Err(RecvError::Closed) => return Ok(()),
            },
            line = lines.next(), if !ended && commands.len() < RPC_COMMANDS_MAX => match line? {
                None => {
                    ended = true;
                    continue;
                }
                Some(Line::Broken(error)) => refused("parse", format!("Failed to parse command: {error}")),
                Some(Line::TooLong) => refused("parse", format!("the command is longer than {RPC_LINE_BYTES_MAX} bytes")),
                Some(Line::Record(Value::Object(command))) => {
                    jobs += 1;
                    match prompt(&command, &caller, jobs) {
                        // Awaited here: prompts keep their order, and their response comes first.
                        Some(prompt) => prompted(&*brain, prompt, &command).await,
                        None => {
                            let (brain, session) = (brain.clone(), caller.session.clone());
                            commands.spawn(async move { commanded(&*brain, &session, command).await });
                            continue;
                        }
                    }
                }
                Some(Line::Record(_)) => refused("", "Unknown command: undefined"),
            },
        };
        let mut text = Value::Object(record).to_string();
        text.push('\n');
        output.write_all(text.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

fn written(event: &BrainEvent) -> Map<String, Value> {
    object(Value::clone(&event.record))
}

fn prompt(command: &Map<String, Value>, caller: &Caller, number: u64) -> Option<Result<Prompt, String>> {
    let behavior = match command.get("type")?.as_str()? {
        "prompt" => match command.get("streamingBehavior").and_then(Value::as_str) {
            None => None,
            Some("steer") => Some(StreamingBehavior::Steer),
            Some("followUp") => Some(StreamingBehavior::FollowUp),
            Some(_) => return Some(Err("`streamingBehavior` is `steer` or `followUp`".to_owned())),
        },
        "steer" => Some(StreamingBehavior::Steer),
        "follow_up" => Some(StreamingBehavior::FollowUp),
        _ => return None,
    };
    let Some(text) = command.get("message").and_then(Value::as_str) else {
        return Some(Err("`message` (string) is required".to_owned()));
    };
    let images = command.get("images").and_then(Value::as_array).cloned().unwrap_or_default();
    Some(Ok(Prompt {
        job: format!("{}-{number}", caller.run),
        session: caller.session.clone(),
        principal: caller.principal.clone(),
        text: text.to_owned(),
        images,
        behavior,
    }))
}

async fn prompted(
    brain: &dyn Brain,
    prompt: Result<Prompt, String>,
    command: &Map<String, Value>,
) -> Map<String, Value> {
    let kind = command.get("type").and_then(Value::as_str).unwrap_or_default();
    let submitted = match prompt {
        Ok(prompt) => brain.submit(prompt).await.map_err(|failure| failure.message),
        Err(error) => Err(error),
    };
    let response = match submitted {
        Ok(submitted) => {
            let disposition = match submitted.disposition {
                Disposition::Started => "started",
                Disposition::Queued => "queued",
                Disposition::Handled => "handled",
            };
            ok(kind, json!({ "disposition": disposition }))
        }
        Err(error) => refused(kind, error),
    };
    with_id(response, command.get("id"))
}

async fn commanded(brain: &dyn Brain, session: &str, command: Map<String, Value>) -> Map<String, Value> {
    let id = command.get("id").cloned();
    let kind = command.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let response = match brain.command(session, command).await {
        Ok(response) => response,
        Err(Failure { message, .. }) => refused(&kind, message),
    };
    with_id(response, id.as_ref())
}

fn with_id(mut response: Map<String, Value>, id: Option<&Value>) -> Map<String, Value> {
    if let Some(id) = id {
        response.insert("id".into(), id.clone());
    }
    response
}
