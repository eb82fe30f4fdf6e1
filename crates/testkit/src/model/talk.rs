//! One connection: a request is read, its reply sent, the connection closed. Start at [`serve`].
//! Invariant: a client that leaves before the reply is over is counted.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::Script;
use super::asked::{Asked, Protocol};
use super::reply::{Reply, Step};
use super::speak::{Speaker, failure_body, whole};

/// More than any test sends.
const REQUEST_BYTES_MAX: usize = 64 << 20;

pub(super) async fn serve(client: TcpStream, script: Arc<Script>) {
    let _slower = client.set_nodelay(true);
    let (mut from, mut to) = client.into_split();
    let Some(request) = read_request(&mut from).await else { return };
    let protocol = match request.path.as_str() {
        path if path.ends_with("/chat/completions") => Protocol::OpenAi,
        path if path.ends_with("/messages") => Protocol::Anthropic,
        path if path.ends_with("/api/chat") => Protocol::Ollama,
        _ => {
            let (status, body) = about(&request);
            let _client_left = plain(&mut to, status, &[], "application/json", body.to_string().as_bytes()).await;
            return;
        }
    };
    let body: Value = serde_json::from_str(&request.text).unwrap_or_default();
    let asked = Asked { protocol, path: request.path, headers: request.headers, body, text: request.text };
    let reply = script.note(asked);
    let mut gone = [0u8; 1];
    let stayed = tokio::select! {
        biased;
        done = answer(&mut to, protocol, &reply) => done.is_some(),
        // A client says nothing more before it has its answer: whatever ends this read is its leaving.
        _left = from.read(&mut gone) => false,
    };
    if !stayed {
        script.seen.send_modify(|seen| seen.1 += 1);
    }
}

struct Request {
    path: String,
    headers: Vec<(String, String)>,
    text: String,
}

async fn read_request(from: &mut OwnedReadHalf) -> Option<Request> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let read = from.read_buf(&mut bytes).await.ok()?;
        if read == 0 || bytes.len() > REQUEST_BYTES_MAX {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let end = head_end + length.unwrap_or(0);
    while bytes.len() < end.min(REQUEST_BYTES_MAX) {
        if from.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let text = String::from_utf8_lossy(bytes.get(head_end..end)?).into_owned();
    Some(Request { path, headers, text })
}

/// `None` where the client left. A cut on purpose is no leaving.
async fn answer(to: &mut OwnedWriteHalf, protocol: Protocol, reply: &Reply) -> Option<()> {
    if let Some((content_type, body)) = &reply.raw {
        wait_first(reply).await;
        return raw(to, reply, content_type, body).await;
    }
    if !(200..300).contains(&reply.status) {
        let message = reply.steps.iter().find_map(|step| match step {
            Step::Fail(message) | Step::Say(message) => Some(message.as_str()),
            _ => None,
        });
        let body = failure_body(protocol, reply.status, message.unwrap_or_default()).to_string();
        wait_first(reply).await;
        return plain(to, reply.status, &reply.headers, "application/json", body.as_bytes()).await;
    }
    if !reply.streams {
        wait_first(reply).await;
        let body = whole(protocol, reply).to_string();
        return plain(to, reply.status, &reply.headers, "application/json", body.as_bytes()).await;
    }
    stream(to, protocol, reply).await
}

/// Pauses that stand before the first word hold the whole answer back.
async fn wait_first(reply: &Reply) {
    for step in &reply.steps {
        match step {
            Step::Pause(_) | Step::Wait(_) | Step::Hang => wait(step).await,
            _ => return,
        }
    }
}

async fn wait(step: &Step) {
    match step {
        Step::Pause(time) => tokio::time::sleep(*time).await,
        Step::Wait(gate) => gate.opened().await,
        Step::Hang => std::future::pending().await,
        _ => {}
    }
}

async fn stream(to: &mut OwnedWriteHalf, protocol: Protocol, reply: &Reply) -> Option<()> {
    let mut speaker = Speaker::new(protocol, reply);
    let mut begun = false;
    for step in &reply.steps {
        if matches!(step, Step::Pause(_) | Step::Wait(_) | Step::Hang) {
            wait(step).await;
            continue;
        }
        if !std::mem::replace(&mut begun, true) {
            head(to, reply, speaker.content_type()).await?;
            chunks(to, speaker.begin()).await?;
        }
        chunks(to, speaker.step(step)).await?;
        match step {
            Step::Cut => return Some(()),
            Step::Fail(_) => return end(to).await,
            _ => {}
        }
    }
    if !begun {
        head(to, reply, speaker.content_type()).await?;
        chunks(to, speaker.begin()).await?;
    }
    chunks(to, speaker.end()).await?;
    end(to).await
}

async fn raw(to: &mut OwnedWriteHalf, reply: &Reply, content_type: &str, body: &[u8]) -> Option<()> {
    head(to, reply, content_type).await?;
    let mut cuts: Vec<usize> = reply.cuts.iter().map(|cut| (*cut).min(body.len())).collect();
    cuts.extend([0, body.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    for pair in cuts.windows(2) {
        chunk(to, &body[pair[0]..pair[1]]).await?;
    }
    for step in &reply.steps {
        wait(step).await;
    }
    if reply.cut_off { Some(()) } else { end(to).await }
}

async fn head(to: &mut OwnedWriteHalf, reply: &Reply, content_type: &str) -> Option<()> {
    let extra: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {} Scripted\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n{extra}\r\n",
        reply.status
    );
    to.write_all(head.as_bytes()).await.ok()
}

async fn chunks(to: &mut OwnedWriteHalf, pieces: Vec<String>) -> Option<()> {
    for piece in pieces {
        chunk(to, piece.as_bytes()).await?;
    }
    Some(())
}

async fn chunk(to: &mut OwnedWriteHalf, bytes: &[u8]) -> Option<()> {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    to.write_all(&framed).await.ok()
}

async fn end(to: &mut OwnedWriteHalf) -> Option<()> {
    // A client that has read the last event may leave before this, and has its answer.
    let _left = (to.write_all(b"0\r\n\r\n").await, to.shutdown().await);
    Some(())
}

async fn plain(
    to: &mut OwnedWriteHalf,
    status: u16,
    headers: &[(String, String)],
    content_type: &str,
    body: &[u8],
) -> Option<()> {
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n{extra}\r\n",
        body.len()
    );
    to.write_all(head.as_bytes()).await.ok()?;
    to.write_all(body).await.ok()?;
    to.shutdown().await.ok()
}

/// What a server says of itself and its models, and embeddings that are a function of the text.
fn about(request: &Request) -> (u16, Value) {
    let path = request.path.split('?').next().unwrap_or_default();
    let body: Value = serde_json::from_str(&request.text).unwrap_or_default();
    let texts = match &body["input"] {
        Value::Array(list) => list.iter().map(|text| text.as_str().unwrap_or_default()).collect(),
        text => vec![text.as_str().unwrap_or_default()],
    };
    match path {
        "/v1/models" => {
            let model = json!({"id": "scripted", "object": "model", "max_model_len": 40_960});
            (200, json!({"object": "list", "data": [model]}))
        }
        path if path.starts_with("/v1/models/") => {
            (200, json!({"type": "model", "id": "scripted", "max_input_tokens": 200_000}))
        }
        "/api/show" => {
            let about = json!({"general.architecture": "scripted", "scripted.context_length": 40_960});
            (200, json!({"model_info": about, "capabilities": ["completion", "tools"]}))
        }
        "/v1/embeddings" => {
            let data =
                texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": embedded(text)}));
            // The order is nobody's promise.
            (200, json!({"object": "list", "data": data.rev().collect::<Vec<_>>()}))
        }
        "/api/embed" => (200, json!({"embeddings": texts.iter().map(|text| embedded(text)).collect::<Vec<_>>()})),
        _ => (404, json!({"error": {"message": "no such path"}})),
    }
}

/// Texts with common pairs of letters are near each other.
fn embedded(text: &str) -> Vec<f32> {
    let mut vector = [0.1f32; 32];
    let letters: Vec<u32> = text.chars().map(u32::from).collect();
    for pair in letters.windows(2) {
        vector[(pair[0].wrapping_mul(31).wrapping_add(pair[1]) % 32) as usize] += 1.0;
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}
