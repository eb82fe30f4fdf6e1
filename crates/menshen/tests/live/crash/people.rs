//! Who talks to the program over its local socket while it is killed again and again. Start at
//! [`People::begin`]. Invariants: a message that has no answer yet is sent again under the same id; what
//! was answered once is always answered the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::super::random::Dice;

/// Longest wait for a line; the program may be away for a while in between.
const LINE_MAX: Duration = Duration::from_secs(15);
/// Between two looks for a program that is not there.
const AGAIN: Duration = Duration::from_millis(10);

/// What became of one message.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub input: Option<i64>,
    pub turn: String,
    pub reply: String,
    pub sent: u32,
}

type Book = Arc<Mutex<BTreeMap<String, Told>>>;

pub struct People {
    book: Book,
    /// What no program should have said.
    wrong: Arc<Mutex<Vec<String>>>,
    tasks: JoinSet<()>,
    end: watch::Sender<bool>,
}

struct Person {
    name: String,
    socket: PathBuf,
    dice: Dice,
    book: Book,
    wrong: Arc<Mutex<Vec<String>>>,
    end: watch::Receiver<bool>,
    /// Messages whose answers nobody waited for.
    left: Vec<Value>,
}

impl People {
    pub fn begin(socket: &Path, count: usize, seed: u64) -> Self {
        let (end, ending) = watch::channel(false);
        let (book, wrong): (Book, Arc<Mutex<Vec<String>>>) = Default::default();
        let mut tasks = JoinSet::new();
        for number in 0..count {
            let person = Person {
                name: format!("p{number}"),
                socket: socket.to_owned(),
                dice: Dice(seed.wrapping_add(number as u64 + 1)),
                book: book.clone(),
                wrong: wrong.clone(),
                end: ending.clone(),
                left: Vec::new(),
            };
            tasks.spawn(person.talk());
        }
        Self { book, wrong, tasks, end }
    }

    pub fn check(&self) {
        let wrong = self.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Everybody finishes, and asks for what they did not wait for.
    pub async fn end(mut self) -> BTreeMap<String, Told> {
        self.end.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
        self.check();
        self.book.lock().unwrap().clone()
    }
}

impl Person {
    async fn talk(mut self) {
        let mut number = 0;
        while !*self.end.borrow() {
            number += 1;
            // Now and then many at once, so that more waits than is worked on.
            let burst = if self.dice.chance(4) { 4 } else { 0 };
            for extra in 0..burst {
                let message = self.message(&format!("{}-{number}x{extra}", self.name));
                self.say(&message, false).await;
                self.left.push(message);
            }
            let message = self.message(&format!("{}-{number}", self.name));
            let waits = !self.dice.chance(15);
            self.say(&message, waits).await;
            if !waits {
                self.left.push(message);
            } else if self.dice.chance(20) {
                self.say(&message, true).await;
            }
        }
        for message in std::mem::take(&mut self.left) {
            self.say(&message, true).await;
        }
    }

    fn message(&mut self, job: &str) -> Value {
        let kind = match self.dice.below(10) {
            0 => "interrupt",
            1 => "no_memory",
            _ => "text",
        };
        json!({"session": format!("test:{}", self.name), "kind": kind, "client_id": job,
               "principal": {"channel": "chat", "user_id": self.name, "group_id": ""},
               "source": "test", "text": format!("job {job} steps {}", 1 + self.dice.below(4))})
    }

    /// Sends until it is accepted, or, where the answer is waited for, until there is one.
    async fn say(&mut self, message: &Value, waits: bool) {
        let job = message["client_id"].as_str().unwrap().to_owned();
        loop {
            self.book.lock().unwrap().entry(job.clone()).or_default().sent += 1;
            if self.once(&job, message, waits).await.unwrap_or(false) {
                return;
            }
            tokio::time::sleep(AGAIN).await; // the deadline is the caller's
        }
    }

    /// Whether it is done with; an error is a program that went away.
    async fn once(&mut self, job: &str, message: &Value, waits: bool) -> std::io::Result<bool> {
        let (mut lines, mut writing) = connect(&self.socket).await?;
        for request in [json!({ "join": message["session"] }), json!({ "say": message })] {
            writing.write_all(format!("{request}\n").as_bytes()).await?;
        }
        let stops = waits && self.dice.chance(2);
        let mut input = None;
        loop {
            let Ok(line) = tokio::time::timeout(LINE_MAX, lines.next_line()).await else {
                self.wrong.lock().unwrap().push(format!("{job}: the program says nothing more"));
                return Ok(true);
            };
            let Some(line) = line? else { return Ok(false) };
            // Half a line is one of a program that was killed.
            let Ok(said) = serde_json::from_str::<Value>(&line) else { return Ok(false) };
            if let Some(id) = said["accepted"].as_i64() {
                self.accepted(job, id);
                input = Some(id);
                if !waits {
                    return Ok(true);
                }
                if stops {
                    writing.write_all(b"\"stop\"\n").await?;
                }
            }
            let answered = &said["event"]["answered"];
            if let (Some(id), Some(inputs)) = (input, answered["inputs"].as_array())
                && inputs.contains(&json!(id))
            {
                self.answered(job, answered);
                return Ok(true);
            }
            if let Some(error) = said["error"].as_str() {
                if !error.contains("shutting down") && !error.contains("closed") {
                    self.wrong.lock().unwrap().push(format!("{job}: {error}"));
                }
                return Ok(false);
            }
        }
    }

    fn accepted(&self, job: &str, input: i64) {
        let mut book = self.book.lock().unwrap();
        let told = book.get_mut(job).unwrap();
        if told.input.is_some_and(|before| before != input) {
            self.wrong.lock().unwrap().push(format!("{job}: accepted as {input} and before {told:?}"));
        }
        told.input = Some(input);
    }

    fn answered(&self, job: &str, answered: &Value) {
        let mut book = self.book.lock().unwrap();
        let told = book.get_mut(job).unwrap();
        let text = |key: &str| answered[key].as_str().unwrap_or_default().to_owned();
        let (turn, reply) = (text("turn"), text("reply"));
        if !told.turn.is_empty() && (told.turn != turn || told.reply != reply) {
            self.wrong.lock().unwrap().push(format!("{job}: answered {answered} and before {told:?}"));
        }
        (told.turn, told.reply) = (turn, reply);
    }
}

async fn connect(socket: &Path) -> std::io::Result<(Lines<BufReader<OwnedReadHalf>>, OwnedWriteHalf)> {
    let (reading, writing) = UnixStream::connect(socket).await?.into_split();
    Ok((BufReader::new(reading).lines(), writing))
}
