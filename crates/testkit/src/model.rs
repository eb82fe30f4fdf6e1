//! A language model that says what a test tells it to, over real HTTP, in all three wire formats. Start
//! at [`ScriptedModel`] and [`Reply`].
//!
//! Invariant: a question that no reply was made for is answered with an error that says so.

mod asked;
mod reply;
mod speak;
mod talk;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use asked::{Asked, Protocol};
pub use reply::{Gate, Reply};

/// What a test waits for comes within this time, or the test fails.
const WAIT: Duration = Duration::from_secs(10);

type Answerer = Box<dyn FnMut(&Asked) -> Reply + Send>;

pub struct ScriptedModel {
    /// `http://127.0.0.1:…`; Anthropic's and Ollama's base address.
    pub url: String,
    script: Arc<Script>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Script {
    replies: Mutex<VecDeque<Reply>>,
    answerer: Mutex<Option<Answerer>>,
    asked: Mutex<Vec<Asked>>,
    /// Questions so far, and clients that left in the middle of an answer.
    seen: watch::Sender<(usize, usize)>,
}

impl Script {
    fn note(&self, asked: Asked) -> Reply {
        let reply = match (lock(&self.replies).pop_front(), lock(&self.answerer).as_mut()) {
            (Some(reply), _) => reply,
            (None, Some(answerer)) => answerer(&asked),
            (None, None) => Reply::error(500, "the script has no more replies"),
        };
        lock(&self.asked).push(asked);
        self.seen.send_modify(|seen| seen.0 += 1);
        reply
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl ScriptedModel {
    /// These replies, one a question.
    ///
    /// # Panics
    /// When this machine has no free port.
    pub async fn with(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("{error}"));
        let port = listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port();
        let script = Arc::new(Script { replies: Mutex::new(replies.into_iter().collect()), ..Script::default() });
        let talking = script.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(talk::serve(client, talking.clone()));
            }
        });
        Self { url: format!("http://127.0.0.1:{port}"), script, accepting }
    }

    /// Whatever this makes of each question, once the replies of [`ScriptedModel::then`] are used up.
    ///
    /// # Panics
    /// When this machine has no free port.
    pub async fn answering(answerer: impl FnMut(&Asked) -> Reply + Send + 'static) -> Self {
        let model = Self::with([]).await;
        *lock(&model.script.answerer) = Some(Box::new(answerer));
        model
    }

    /// One more reply at the end of the script.
    pub fn then(&self, reply: Reply) -> &Self {
        lock(&self.script.replies).push_back(reply);
        self
    }

    /// The base address that an OpenAI-compatible client is given.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url)
    }

    /// All questions so far, oldest first.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.script.asked).clone()
    }

    /// # Panics
    /// When nothing was asked yet.
    pub fn last_asked(&self) -> Asked {
        self.asked().pop().unwrap_or_else(|| panic!("nothing was asked yet"))
    }

    /// Waits for the question of this number, counted from 1.
    ///
    /// # Panics
    /// When it does not come.
    pub async fn wait_for_question(&self, number: usize) -> Asked {
        self.wait(|seen| seen.0 >= number, "questions", number).await;
        self.asked().swap_remove(number - 1)
    }

    /// How many clients have left in the middle of an answer.
    pub fn hung_up(&self) -> usize {
        self.script.seen.borrow().1
    }

    /// # Panics
    /// When they do not.
    pub async fn wait_for_hang_up(&self, count: usize) {
        self.wait(|seen| seen.1 >= count, "clients that left", count).await;
    }

    async fn wait(&self, enough: impl Fn(&(usize, usize)) -> bool, what: &str, count: usize) {
        let mut seen = self.script.seen.subscribe();
        let waited = tokio::time::timeout(WAIT, seen.wait_for(|seen| enough(seen))).await;
        assert!(waited.is_ok(), "not {count} {what} within {} s", WAIT.as_secs());
    }
}
