//! `menshen serve` as a program, beside a house that accepts connections and says nothing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Well before a silent house would be given up.
const LISTENS_MAX: Duration = Duration::from_secs(5);

struct Serve {
    child: Child,
    socket: PathBuf,
    _folder: tempfile::TempDir,
    _house: TcpListener,
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Serve {
    fn start(language: &str) -> Self {
        // Connections are taken up by the system, and nobody ever reads them.
        let house = TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("menshen.toml");
        let url = format!("http://{}", house.local_addr().unwrap());
        std::fs::write(&config, format!("language = \"{language}\"\n[house]\nurl = \"{url}\"\ntoken = \"t\"\n"))
            .unwrap();
        let data = folder.path().join("household");
        let child = Command::new(env!("CARGO_BIN_EXE_menshen"))
            .arg("serve")
            .env_clear()
            .env("HOME", folder.path())
            .env("MENSHEN_CONFIG", &config)
            .env("MENSHEN_DATA", &data)
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, socket: data.join("menshen.sock"), _folder: folder, _house: house }
    }

    fn connected(&self) -> UnixStream {
        let begun = Instant::now();
        loop {
            match UnixStream::connect(&self.socket) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(LISTENS_MAX)).unwrap();
                    return stream;
                }
                Err(error) => assert!(begun.elapsed() < LISTENS_MAX, "it does not listen: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20)); // deadline: the assertion above
        }
    }
}

fn answered(mut stream: &UnixStream, request: &str) -> String {
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

fn socket_is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777 == 0o600
}

#[test]
fn it_listens_and_answers_while_the_house_says_nothing() {
    let serve = Serve::start("en");
    let stream = serve.connected();
    assert!(answered(&stream, r#"{"join":"main"}"#).starts_with(r#"{"joined":"#));
    assert!(socket_is_private(&serve.socket));
}

#[test]
fn what_it_says_to_a_client_is_in_the_household_s_language() {
    for (language, first) in [("en", "a conversation has to be joined first"), ("zh", "请先加入一个会话")] {
        let serve = Serve::start(language);
        let stream = serve.connected();
        assert_eq!(answered(&stream, r#""stop""#).trim(), format!(r#"{{"error":"{first}"}}"#));
    }
}

#[test]
fn a_client_too_many_is_told_so() {
    let serve = Serve::start("zh");
    let mut clients = vec![];
    for _ in 0..32 {
        let stream = serve.connected();
        assert!(answered(&stream, r#"{"join":"main"}"#).starts_with(r#"{"joined":"#));
        clients.push(stream);
    }
    let mut line = String::new();
    BufReader::new(serve.connected()).read_line(&mut line).unwrap();
    assert!(line.contains("同时连接的程序太多"), "{line}");
    drop(clients);
}
