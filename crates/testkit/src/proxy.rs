//! A TCP proxy before a house, for what a house does not do on request: freeze, fall silent, die.
//! Start at [`Proxy::before`]. Invariant: what passes is passed on as it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    Pass,
    /// Nothing goes either way; all sockets stay open.
    Frozen,
    /// What the house says is lost; what is said to it arrives.
    Deaf,
    /// Every socket is cut, and new ones at once.
    Cut,
}

pub struct Proxy {
    pub url: String,
    mode: watch::Sender<Mode>,
    accepting: JoinHandle<()>,
    /// Sockets accepted so far.
    pub accepted: Arc<AtomicU8>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.mode.send_replace(Mode::Cut);
    }
}

impl Proxy {
    /// # Panics
    /// When this machine has no free port.
    pub async fn before(base_url: &str) -> Self {
        Self::on_port(0, base_url).await
    }

    /// On this port, for a house that comes only after somebody has looked for it there.
    ///
    /// # Panics
    /// When the port is taken.
    pub async fn on_port(port: u16, base_url: &str) -> Self {
        let house = address(base_url);
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap_or_else(|error| panic!("{error}"));
        let port = listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port();
        let mode = watch::Sender::new(Mode::Pass);
        let accepted = Arc::new(AtomicU8::new(0));
        let (watching, counting) = (mode.clone(), accepted.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                counting.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(join(client, house.clone(), watching.subscribe()));
            }
        });
        Self { url: format!("http://127.0.0.1:{port}"), mode, accepting, accepted }
    }

    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

/// `127.0.0.1:8123` of a house's address.
pub(crate) fn address(base_url: &str) -> String {
    base_url.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

async fn join(client: TcpStream, house: String, mode: watch::Receiver<Mode>) {
    if *mode.borrow() == Mode::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(house).await else { return };
    let _slower = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = forward(from_client, to_server, mode.clone(), false) => {}
        () = forward(from_server, to_client, mode, true) => {}
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut mode: watch::Receiver<Mode>, from_house: bool) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let now = *mode.borrow_and_update();
        match now {
            Mode::Cut => return,
            Mode::Frozen => {
                if mode.changed().await.is_err() {
                    return;
                }
                continue;
            }
            Mode::Pass | Mode::Deaf => {}
        }
        tokio::select! {
            read = from.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) if now == Mode::Deaf && from_house => {}
                Ok(bytes) => if to.write_all(&buffer[..bytes]).await.is_err() { return },
            },
            changed = mode.changed() => if changed.is_err() { return },
        }
    }
}
