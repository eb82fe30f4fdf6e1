//! From an address to an authenticated websocket, each way of failing told apart.
//!
//! Start at [`dial`]. Invariant: it ends within [`DIAL_MAX`], whatever the other side does.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use rustls_pki_types::ServerName;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::endpoint::{Endpoint, Token};
use crate::error::{Cause, ErrorCode, HouseError};

/// Limit: From the first packet to `auth_ok`; after that the attempt counts as failed.
pub const DIAL_MAX: Duration = Duration::from_secs(8);
/// Limit: Largest message that is read. A house of 50,000 entities sends about 40 MB.
pub const MESSAGE_BYTES_MAX: usize = 512 * 1024 * 1024;

pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

pub(crate) type Socket = WebSocketStream<Counted>;

/// A stream that counts what it reads, so that a long message counts as a sign of life.
pub(crate) struct Counted {
    stream: Box<dyn Io>,
    traffic: Traffic,
}

/// Bytes read so far.
#[derive(Clone, Default)]
pub(crate) struct Traffic(Arc<AtomicU64>);

impl Traffic {
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An open, authenticated socket and the version that the house gave.
pub(crate) async fn dial(endpoint: &Endpoint, token: &Token) -> Result<(Socket, Arc<str>), HouseError> {
    if token.is_empty() {
        return Err(HouseError::new(ErrorCode::Auth, Cause::Missing, ""));
    }
    match timeout(DIAL_MAX, attempt(endpoint, token)).await {
        Ok(result) => result,
        Err(_) => Err(HouseError::unreachable(Cause::Timeout, endpoint.origin())),
    }
}

async fn attempt(endpoint: &Endpoint, token: &Token) -> Result<(Socket, Arc<str>), HouseError> {
    let tcp = connect(endpoint).await?;
    let stream: Box<dyn Io> = if endpoint.secure() { Box::new(secure(endpoint, tcp).await?) } else { Box::new(tcp) };
    let stream = Counted { stream, traffic: Traffic::default() };
    let config =
        WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX)).max_frame_size(Some(MESSAGE_BYTES_MAX));
    let (mut socket, _) = client_async_with_config(endpoint.websocket_url(), stream, Some(config))
        .await
        .map_err(|error| handshake_error(endpoint, error))?;
    let version = authenticate(&mut socket, endpoint, token).await?;
    Ok((socket, version.into()))
}

async fn connect(endpoint: &Endpoint) -> Result<TcpStream, HouseError> {
    let (host, port) = (endpoint.host(), endpoint.port());
    let addresses: Vec<_> = match tokio::net::lookup_host((host, port)).await {
        Ok(addresses) => addresses.collect(),
        Err(_) => Vec::new(),
    };
    if addresses.is_empty() {
        return Err(HouseError::unreachable(Cause::Dns, host));
    }
    let tcp = TcpStream::connect(&*addresses).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => HouseError::unreachable(Cause::Refused, endpoint.origin()),
        std::io::ErrorKind::TimedOut => HouseError::unreachable(Cause::Timeout, endpoint.origin()),
        _ => HouseError::unreachable(Cause::Lost, format!("{} ({error})", endpoint.origin())),
    })?;
    // A call is one small packet; waiting to fill it would cost 40 ms.
    if let Err(error) = tcp.set_nodelay(true) {
        tracing::debug!(%error, "cannot switch off Nagle's algorithm");
    }
    Ok(tcp)
}

async fn secure(endpoint: &Endpoint, tcp: TcpStream) -> Result<impl Io + use<>, HouseError> {
    let bad = |why: String| HouseError::unreachable(Cause::Tls, format!("{} ({why})", endpoint.origin()));
    let name = ServerName::try_from(endpoint.host().to_owned()).map_err(|error| bad(error.to_string()))?;
    TlsConnector::from(endpoint.tls()).connect(name, tcp).await.map_err(|error| bad(error.to_string()))
}

fn handshake_error(endpoint: &Endpoint, error: tungstenite::Error) -> HouseError {
    let url = endpoint.websocket_url();
    match error {
        tungstenite::Error::Http(response) => match response.status().as_u16() {
            401 | 403 => {
                HouseError::new(ErrorCode::Auth, Cause::Banned, format!("{url} answers {}", response.status()))
            }
            502..=504 => HouseError::unreachable(Cause::Starting, format!("{url} answers {}", response.status())),
            _ => HouseError::unreachable(Cause::NotHomeAssistant, format!("{url} answers {}", response.status())),
        },
        tungstenite::Error::Protocol(ProtocolError::HandshakeIncomplete) => {
            HouseError::unreachable(Cause::Lost, format!("{url} (closed while connecting)"))
        }
        tungstenite::Error::Io(error) => HouseError::unreachable(Cause::Lost, format!("{url} ({error})")),
        other => HouseError::unreachable(Cause::NotHomeAssistant, format!("{url} ({other})")),
    }
}

#[derive(Deserialize)]
struct Greeting {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    ha_version: String,
    #[serde(default)]
    message: String,
}

async fn authenticate(socket: &mut Socket, endpoint: &Endpoint, token: &Token) -> Result<String, HouseError> {
    let hello = greeting(socket, endpoint).await?;
    if hello.kind != "auth_required" {
        return Err(HouseError::unreachable(Cause::NotHomeAssistant, endpoint.origin()));
    }
    let auth = serde_json::json!({ "type": "auth", "access_token": token.reveal() });
    send(socket, auth.to_string()).await?;
    let answer = greeting(socket, endpoint).await?;
    match answer.kind.as_str() {
        "auth_ok" => Ok(answer.ha_version),
        "auth_invalid" => Err(HouseError::new(ErrorCode::Auth, Cause::InvalidToken, answer.message)),
        other => Err(HouseError::bad_answer("authentication", other)),
    }
}

async fn greeting(socket: &mut Socket, endpoint: &Endpoint) -> Result<Greeting, HouseError> {
    let text = receive(socket).await?;
    serde_json::from_str(&text).map_err(|_| HouseError::unreachable(Cause::NotHomeAssistant, endpoint.websocket_url()))
}

pub(crate) async fn send(socket: &mut Socket, text: String) -> Result<(), HouseError> {
    socket.send(Message::text(text)).await.map_err(|error| HouseError::unreachable(Cause::Lost, error.to_string()))
}

/// The next text message; pings and pongs of the websocket itself are none.
pub(crate) async fn receive(socket: &mut Socket) -> Result<Utf8Bytes, HouseError> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text),
            Some(Ok(Message::Close(_))) | None => {
                return Err(HouseError::unreachable(Cause::Lost, "the house closed it"));
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                return Err(HouseError::unreachable(Cause::Lost, error.to_string()));
            }
        }
    }
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.traffic.0.fetch_add((buf.filled().len() - before) as u64, Ordering::Relaxed);
        result
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Counted {
    pub fn traffic(&self) -> Traffic {
        self.traffic.clone()
    }
}
