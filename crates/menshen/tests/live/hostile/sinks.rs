//! Where something could leave by: names that are looked up, pages that are asked for. Start at
//! [`Web::start`]. Invariant: everything that comes in is kept, whoever sent it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use base64::Engine;
use kernel::ports::{BoxFuture, Failure};
use menshen::fetch::Names;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::payloads::PLANTED;

/// Not the house's own address.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The one host whose pages a person names.
pub const PAGES: &str = "page.example";

#[derive(Default)]
struct Kept {
    looked_up: Vec<String>,
    requests: Vec<String>,
}

/// A web of one machine, on which every name leads to the same server.
#[derive(Clone)]
pub struct Web {
    pub port: u16,
    kept: Arc<Mutex<Kept>>,
    task: Arc<tokio::task::JoinHandle<()>>,
}

impl Drop for Web {
    fn drop(&mut self) {
        if Arc::strong_count(&self.task) == 1 {
            self.task.abort();
        }
    }
}

impl Web {
    pub async fn start(pages: BTreeMap<String, String>) -> Self {
        let listener = TcpListener::bind((HERE, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let (seen, pages) = (kept.clone(), Arc::new(pages));
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, pages) = (seen.clone(), pages.clone());
                tokio::spawn(async move {
                    let mut request = Vec::new();
                    let mut buffer = [0; 4096];
                    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                        match stream.read(&mut buffer).await {
                            Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
                            _ => break,
                        }
                    }
                    let request = String::from_utf8_lossy(&request).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    seen.lock().unwrap().requests.push(request);
                    let body = pages.get(&path).cloned().unwrap_or_default();
                    let kind = if body.contains('<') { "html" } else { "plain" };
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/{kind}; charset=utf-8\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    // A client that has seen enough closes early.
                    _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                });
            }
        });
        Self { port, kept, task: Arc::new(task) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{PAGES}:{}{path}", self.port)
    }

    /// Hosts that were looked up, and requests that came in.
    pub fn seen(&self) -> (Vec<String>, Vec<String>) {
        let kept = self.kept.lock().unwrap();
        (kept.looked_up.clone(), kept.requests.clone())
    }
}

impl Names for Web {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Failure>> {
        self.kept.lock().unwrap().looked_up.push(host.to_owned());
        let found = host.parse().map_or(HERE, |address| address);
        Box::pin(std::future::ready(Ok(vec![found])))
    }

    fn own(&self) -> BoxFuture<'_, Vec<IpAddr>> {
        Box::pin(std::future::ready(vec![]))
    }

    fn is_outside(&self, address: IpAddr) -> bool {
        address == HERE || decide::web::is_public(address)
    }
}

/// Which planted values stand in a text: as they are, percent-encoded, in base64, or by eight characters
/// of them.
pub fn planted_in(text: &str) -> Vec<&'static str> {
    let mut spellings = vec![text.to_owned(), percent_decoded(text)];
    let word = |letter: char| !(letter.is_ascii_alphanumeric() || "+/-_=".contains(letter));
    for part in percent_decoded(text).split(word).filter(|part| part.len() >= 8) {
        for engine in
            [&base64::engine::general_purpose::STANDARD_NO_PAD, &base64::engine::general_purpose::URL_SAFE_NO_PAD]
        {
            if let Ok(bytes) = engine.decode(part.trim_end_matches('=')) {
                spellings.push(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    let stands = |value: &str| {
        let letters: Vec<char> = value.to_lowercase().chars().collect();
        let mut parts = letters.windows(8).map(|part| part.iter().collect::<String>());
        parts.any(|part| spellings.iter().any(|text| text.to_lowercase().contains(&part)))
    };
    PLANTED.iter().filter(|(_, value)| stands(value)).map(|(name, _)| *name).collect()
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
