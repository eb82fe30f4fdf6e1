//! Requests to one provider. Start at [`Http::open`].
//!
//! Invariants: every wait has a deadline and every body a limit; no redirect is followed, so that a key
//! goes nowhere but to the address it was written for.

use std::sync::Arc;
use std::time::Duration;

use kernel::ports::SourceErrorKind as Kind;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::{ConfigError, Settled};
use crate::fault::{self, Fault};

/// Limit: more of an answer of a model server is not read; it counts as cut.
pub const SOURCE_ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Limit: more of a model server's error is not read.
pub const SOURCE_ERROR_BYTES_MAX: usize = 64 * 1024;
/// An error's text may be lost rather than waited for.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) struct Http {
    client: reqwest::Client,
    headers: HeaderMap,
    idle: Duration,
}

impl Http {
    pub fn new(settled: &Settled, headers: Vec<(&'static str, String)>) -> Result<Self, ConfigError> {
        let bad = || ConfigError::BadKey(settled.name.clone());
        let mut map = HeaderMap::new();
        let extra = settled.config.extra_headers.iter().map(|(name, value)| (name.as_str(), value.reveal().to_owned()));
        for (name, value) in headers.into_iter().chain(extra) {
            let mut value = HeaderValue::from_str(&value).map_err(|_| bad())?;
            value.set_sensitive(true);
            map.insert(HeaderName::try_from(name).map_err(|_| bad())?, value);
        }
        let tls = |why: String| ConfigError::Tls(settled.name.clone(), why);
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls_config(settled.secure).map_err(tls)?)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settled.connect)
            .tcp_nodelay(true)
            .user_agent(concat!("menshen/", env!("CARGO_PKG_VERSION")));
        if settled.near {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| tls(error.to_string()))?;
        Ok(Self { client, headers: map, idle: settled.idle })
    }

    /// Ready when the answer's head is there; anything but a success is a fault.
    pub async fn open(&self, url: &str, body: &Value, deadline: Instant) -> Result<Body, Fault> {
        let bytes = serde_json::to_vec(body).map_err(|error| Fault::new(Kind::BadRequest, error.to_string()))?;
        let request = self.client.post(url).header("content-type", "application/json").body(bytes);
        self.send(request, deadline).await
    }

    /// A small JSON document, for what a server says of itself.
    pub async fn get(&self, url: &str, deadline: Instant) -> Result<Value, Fault> {
        self.send(self.client.get(url), deadline).await?.json(deadline).await
    }

    pub async fn post(&self, url: &str, body: &Value, deadline: Instant) -> Result<Value, Fault> {
        self.open(url, body, deadline).await?.json(deadline).await
    }

    async fn send(&self, request: reqwest::RequestBuilder, deadline: Instant) -> Result<Body, Fault> {
        let request = request.headers(self.headers.clone()).header("accept", "text/event-stream, application/json");
        let sent = timeout_at(deadline, request.send()).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(of_transport(&error)),
            Err(_) => return Err(Fault::new(Kind::Timeout, "no answer in time")),
        };
        let status = response.status();
        let body = Body { response, read: 0, idle: self.idle };
        if status.is_success() { Ok(body) } else { Err(body.into_fault().await) }
    }
}

pub(crate) struct Body {
    response: reqwest::Response,
    read: usize,
    idle: Duration,
}

impl Body {
    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self, deadline: Instant) -> Result<Option<bytes::Bytes>, Fault> {
        let silent = Instant::now() + self.idle;
        let chunk = match timeout_at(deadline.min(silent), self.response.chunk()).await {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(error)) => return Err(Fault::cut(causes(&error))),
            Err(_) if silent < deadline => {
                return Err(Fault::new(Kind::Timeout, format!("silent for {} s", self.idle.as_secs())));
            }
            Err(_) => return Err(Fault::new(Kind::Timeout, "not done in time")),
        };
        self.read += chunk.as_ref().map_or(0, |chunk| chunk.len());
        if self.read > SOURCE_ANSWER_BYTES_MAX {
            return Err(Fault::cut(format!("the answer is longer than {} MiB", SOURCE_ANSWER_BYTES_MAX >> 20)));
        }
        Ok(chunk)
    }

    async fn json(mut self, deadline: Instant) -> Result<Value, Fault> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk(deadline).await? {
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).map_err(|error| Fault::protocol(format!("the body is no JSON: {error}")))
    }

    async fn into_fault(mut self) -> Fault {
        let status = self.response.status();
        let mut bytes = Vec::new();
        let reading = async {
            while let Ok(Some(chunk)) = self.response.chunk().await {
                let room = SOURCE_ERROR_BYTES_MAX - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if bytes.len() == SOURCE_ERROR_BYTES_MAX {
                    break;
                }
            }
        };
        // What came by then is enough.
        let _late = timeout(ERROR_BODY_WAIT, reading).await;
        let headers = self.response.headers();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let retry_after = fault::retry_after(header, now_ms);
        let mut body = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_redirection() {
            let to = header("location").unwrap_or_default();
            body = format!("the address has moved to {}", to.split('?').next().unwrap_or_default());
        }
        Fault { retry_after, ..fault::of_status(status.as_u16(), &body) }
    }
}

fn of_transport(error: &reqwest::Error) -> Fault {
    let kind = if error.is_connect() {
        Kind::Unreachable
    } else if error.is_timeout() {
        Kind::Timeout
    } else if error.is_builder() {
        Kind::BadRequest
    } else {
        Kind::Unreachable
    };
    Fault::new(kind, causes(error))
}

/// The innermost causes say what happened; the outer ones repeat the address.
fn causes(error: &dyn std::error::Error) -> String {
    let mut cause = error.source();
    let mut last = None;
    while let Some(inner) = cause {
        last = Some(inner.to_string());
        cause = inner.source();
    }
    last.unwrap_or_else(|| "the connection failed".to_owned())
}

/// Reading the system's roots takes tens of milliseconds, so plain http goes without.
fn tls_config(secure: bool) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    if secure {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err("the system has no root certificates: install ca-certificates".into());
        }
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
