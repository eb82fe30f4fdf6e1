//! What the other side may write in one line. Start at [`bounded`]. Invariants: never more of a line is
//! held than [`LINE_BYTES_MAX`]; a request in a line that is too long or too deep is answered by its id,
//! where it has one, and never carried out; an answer in such a line becomes an error of the same id.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;

/// Limit: bytes in one line of the protocol.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Limit: objects and lists within each other in one line.
pub const LINE_DEPTH_MAX: usize = 64;

const CHUNK_BYTES: usize = 64 * 1024;
/// Longest id that is given back.
const ID_BYTES_MAX: usize = 100;
/// What the protocol's answer to a line that was not taken says.
const NOT_TAKEN: &str = "this message is longer than 1 MiB or nested more than 64 levels deep; it was not read";

/// What the other side writes, for the most part.
#[derive(Clone, Copy, Debug)]
pub enum From {
    Client,
    Server,
}

/// The lines of `read` that may be read, and the task that reads them; it ends with `read`.
pub fn bounded(read: impl AsyncRead + Send + Unpin + 'static, from: From) -> (DuplexStream, JoinHandle<()>) {
    let (write, lines) = tokio::io::duplex(CHUNK_BYTES);
    (lines, tokio::spawn(pass(read, write, from)))
}

async fn pass(mut read: impl AsyncRead + Unpin, mut write: DuplexStream, from: From) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut line = Line::default();
    while let Ok(count @ 1..) = read.read(&mut chunk).await {
        for part in chunk.get(..count).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            line.take(part);
            if part.ends_with(b"\n") && write.write_all(&std::mem::take(&mut line).taken(from)).await.is_err() {
                return; // nobody reads any more
            }
        }
    }
}

#[derive(Default)]
struct Line {
    kept: Vec<u8>,
    not_taken: bool,
    scan: Scan,
}

impl Line {
    fn take(&mut self, part: &[u8]) {
        part.iter().for_each(|byte| self.scan.take(*byte));
        self.not_taken |= self.kept.len() + part.len() > LINE_BYTES_MAX || self.scan.deepest > LINE_DEPTH_MAX;
        if self.not_taken {
            self.kept = Vec::new();
        } else {
            self.kept.extend_from_slice(part);
        }
    }

    /// The line itself; or a request that nobody knows, so that its answer says why; or an error for an answer.
    fn taken(self, from: From) -> Vec<u8> {
        if !self.not_taken {
            return self.kept;
        }
        let id = std::str::from_utf8(&self.scan.id).ok().map(str::trim).filter(|id| self.scan.id_ended && is_id(id));
        let why = match from {
            From::Client => format!("\"method\":\"{NOT_TAKEN}\""),
            From::Server => format!("\"error\":{{\"code\":-32000,\"message\":\"{NOT_TAKEN}\"}}"),
        };
        id.map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{why}}}\n").into_bytes()).unwrap_or_default()
    }
}

fn is_id(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(serde_json::Value::Number(_) | serde_json::Value::String(_)))
}

/// Follows a line byte by byte, as far as is needed to find the id of its request.
#[derive(Default)]
struct Scan {
    depth: usize,
    deepest: usize,
    in_string: bool,
    escaped: bool,
    /// The key at the outermost level that is being read or was read last.
    key: Vec<u8>,
    in_value: bool,
    id: Vec<u8>,
    id_ended: bool,
}

impl Scan {
    fn take(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => {
                self.end_value();
            }
            b':' if self.depth == 1 => self.in_value = true,
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            _ => self.keep(byte),
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            self.id_ended |= self.in_value && self.key == b"\"id\"";
            self.in_value = false;
            self.key.clear();
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 || (byte.is_ascii_whitespace() && !self.in_string) {
            return;
        }
        match self.in_value {
            false if self.key.len() < ID_BYTES_MAX => self.key.push(byte),
            true if self.key == b"\"id\"" && !self.id_ended && self.id.len() < ID_BYTES_MAX => self.id.push(byte),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn through(input: &str) -> String {
        let (mut lines, task) = bounded(std::io::Cursor::new(input.as_bytes().to_vec()), From::Client);
        let mut output = String::new();
        lines.read_to_string(&mut output).await.unwrap();
        task.await.unwrap();
        output
    }

    #[tokio::test]
    async fn lines_of_any_size_that_may_be_read_pass_as_they_are() {
        let big = format!("{{\"id\":1,\"a\":\"{}\"}}\n", "门\\\"".repeat(150_000));
        let all = format!("{{\"id\":0}}\n\n{big}no json\n{{\"id\":\"x\"}}\r\n");
        assert_eq!(through(&all).await, all);
        assert_eq!(through("{\"id\":1}\nno end").await, "{\"id\":1}\n");
    }

    #[tokio::test]
    async fn an_answer_that_is_too_long_becomes_an_error() {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"{}\"}}\n", "x".repeat(LINE_BYTES_MAX));
        let (mut lines, task) = bounded(std::io::Cursor::new(line.into_bytes()), From::Server);
        let mut output = String::new();
        lines.read_to_string(&mut output).await.unwrap();
        task.await.unwrap();
        let answer: serde_json::Value = serde_json::from_str(&output).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["message"]), (&7.into(), &NOT_TAKEN.into()));
    }

    #[tokio::test]
    async fn what_is_too_long_or_too_deep_is_answered_by_its_id_wherever_it_stands() {
        let (long, deep) = ("x".repeat(2 * LINE_BYTES_MAX), format!("{}{}", "[".repeat(100), "]".repeat(100)));
        let trap = r#"{"id":666,"k":["\"id\":667,",{"id":668}]}"#;
        for (line, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"params":{{"a":"{long}"}}}}"#), Some("7")),
            (format!(r#"{{"params":{{"t":{trap},"a":"{long}"}}, "id" : "a\"b" , "method":"x"}}"#), Some(r#""a\"b""#)),
            (format!(r#"{{"params":{{"t":{trap},"a":{deep}}},"id":8}}"#), Some("8")),
            (format!(r#"{{"method":"id","params":{{"t":{trap},"a":"{long}"}}}}"#), None),
            (format!(r#"{{"params":"{long}","id":[{trap}]}}"#), None),
            (format!(r#"{{"params":"{long}","id":"{long}"}}"#), None),
            (format!(r#"[{{"id":9,"params":"{long}"}}]"#), None),
            (long.clone(), None),
        ] {
            let output = through(&format!("{line}\n{{\"id\":1}}\n")).await;
            let told = id.map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{NOT_TAKEN}\"}}\n"));
            assert_eq!(output, format!("{}{{\"id\":1}}\n", told.unwrap_or_default()), "{}", &line[..40]);
        }
    }
}
