//! `menshen approvals`: what waits for a person's yes, and the yes at a terminal. Start at
//! [`ApprovalsCommand::run`]; the running agent's side is [`Terminal::answer`].
//!
//! Invariants: a yes needs the secret, typed at a terminal; only its hash is kept; after some wrong ones none
//! is taken for a while; while something with a shell of its own runs under this account, this road is closed.

use std::io::{IsTerminal, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use clap::{Args, ValueEnum};
use decide::gate::Language;
use home::Approvals;
use home::approvals::{NotDecided, Person, Road};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::say;
use super::serving::{self, Place};
use super::socket::{self, Joined};
use crate::config::{Config, Options};

/// The hash of the secret, in the household's folder.
const SECRET: &str = "approvals.secret";
/// Shorter ones are guessed.
const SECRET_CHARS_MIN: usize = 6;
/// Limit: wrong secrets before none is taken for a quarter of an hour.
pub const WRONG_SECRETS_MAX: u32 = 5;
const CLOSED: Duration = Duration::from_secs(900);

/// What waits for a person's yes, and the yes or no
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen approvals                  what waits, and what was decided\n  menshen approvals secret           choose the secret that a yes at the terminal needs\n  menshen approvals yes 3f2a91c0-4\n  menshen approvals no 3f2a91c0-4\n\nA running `menshen serve` asks; nothing that a model or a program can say counts as a yes."
)]
pub struct ApprovalsCommand {
    /// What to do
    #[arg(value_enum, default_value = "list")]
    what: What,
    /// Which question, for yes and no
    id: Option<String>,
    /// As JSON, one a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// What waits, then what was decided
    List,
    /// Allow it: what was asked is done now, once
    Yes,
    /// Refuse it
    No,
    /// Choose or change the secret
    Secret,
}

/// What is asked of a running `menshen serve`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    List,
    Decide { id: String, yes: bool, secret: String },
    Secret { old: Option<String>, new: String },
}

impl ApprovalsCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let config = Config::for_house(options, &self.place.which)?;
        let (language, folder) = (config.language, serving::folder(&self.place, &config));
        let socket = socket::path_in(&folder);
        let id = || {
            self.id.clone().context(say(
                language,
                "which one? `menshen approvals` lists them",
                "哪一个？`menshen approvals` 列出它们",
            ))
        };
        let ask = match self.what {
            What::List => Ask::List,
            // It moves nothing, so anybody here may say it.
            What::No => Ask::Decide { id: id()?, yes: false, secret: String::new() },
            What::Yes => Ask::Decide { id: id()?, yes: true, secret: typed(language, &folder)? },
            What::Secret => chosen(language, &folder)?,
        };
        let setting = self.what == What::Secret;
        let rows = Joined::approvals(&socket, ask, language).await?;
        if setting {
            println!("{}", say(language, "The secret is set.", "口令已设置。"));
        } else if self.json {
            rows.iter().for_each(|row| println!("{row}"));
        } else {
            print(language, &rows);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(language: Language, rows: &[Value]) {
    if rows.is_empty() {
        println!(
            "{}",
            say(language, "Nothing waits, and nothing was decided.", "没有等待决定的事，也没有已决定的事。")
        );
    }
    let key = say(language, "en", "zh");
    for row in rows {
        let state = row["state"].as_str().unwrap_or_default();
        let left = row["seconds_left"].as_u64().filter(|left| *left > 0).map(|left| format!(", {left} s"));
        let id = row["id"].as_str().unwrap_or_default();
        println!("{id}  {}  [{state}{}]", row["question"][key].as_str().unwrap_or_default(), left.unwrap_or_default());
        for why in row["why"].as_array().into_iter().flatten().filter(|_| state == "waiting") {
            println!("    {}", why[key].as_str().unwrap_or_default());
        }
        for moves in row["moves"].as_array().into_iter().flatten().filter(|_| state == "waiting") {
            println!("    → {}", moves.as_str().unwrap_or_default());
        }
        if let Some(message) = row["answer"]["message"].as_str() {
            println!("    {message}");
        }
    }
}

/// At a terminal and nowhere else: what is piped in comes from a program.
fn typed(language: Language, folder: &Path) -> Result<String> {
    if !folder.join(SECRET).exists() {
        bail!(
            "{}",
            say(
                language,
                "no secret is chosen yet: `menshen approvals secret`",
                "还没有设置口令：`menshen approvals secret`"
            )
        );
    }
    prompt(language, say(language, "Secret: ", "口令："))
}

fn prompt(language: Language, text: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        bail!("{}", say(language, "a yes is typed at a terminal", "只能在终端里由人输入"));
    }
    rpassword::prompt_password(text).context("this terminal cannot be read")
}

fn chosen(language: Language, folder: &Path) -> Result<Ask> {
    let old = match folder.join(SECRET).exists() {
        true => Some(prompt(language, say(language, "Secret until now: ", "现在的口令："))?),
        false => None,
    };
    let new = prompt(language, say(language, "New secret: ", "新口令："))?;
    if prompt(language, say(language, "Once more: ", "再输入一次："))? != new {
        bail!("{}", say(language, "the two differ; nothing was changed", "两次输入不同，没有更改"));
    }
    Ok(Ask::Secret { old, new })
}

/// The road of the terminal, on the running agent's side.
pub struct Terminal {
    approvals: Approvals,
    secret: PathBuf,
    language: Language,
    /// Why nobody may decide here; none where they may.
    closed: Option<String>,
    wrong: Mutex<Wrong>,
}

#[derive(Default)]
struct Wrong {
    count: u32,
    until: Option<Instant>,
}

impl Terminal {
    pub fn new(approvals: Approvals, folder: &Path, language: Language, closed: Option<String>) -> Self {
        Self { approvals, secret: folder.join(SECRET), language, closed, wrong: Mutex::default() }
    }

    /// The rows that were asked for, or the one that was decided.
    pub async fn answer(&self, ask: Ask) -> Result<Vec<Value>> {
        match ask {
            Ask::List => Ok(self.approvals.list().iter().map(|shown| json!(shown)).collect()),
            Ask::Secret { old, new } => {
                if let Some(why) = &self.closed {
                    bail!("{why}");
                }
                if self.secret.exists() {
                    self.check(&old.unwrap_or_default()).await?;
                }
                self.keep(new).await?;
                Ok(vec![])
            }
            Ask::Decide { id, yes, secret } => {
                // A no needs no road that cannot be walked by others: it moves nothing.
                if yes {
                    if let Some(why) = &self.closed {
                        bail!("{why}");
                    }
                    self.check(&secret).await?;
                }
                let by = Person { road: Road::Terminal, name: String::new() };
                let decided = self.approvals.decide(&id, yes, by).await;
                decided.map(|shown| vec![json!(shown)]).map_err(|error| anyhow!("{}", self.why_not(error)))
            }
        }
    }

    fn why_not(&self, error: NotDecided) -> String {
        match (self.language, error) {
            (Language::English, error) => error.to_string(),
            (Language::Chinese, NotDecided::Unknown) => "没有这个请求，或者已经过去太久".to_owned(),
            (Language::Chinese, NotDecided::Over) => "已经决定过，或者已经过时".to_owned(),
            (Language::Chinese, NotDecided::Audit) => "审计文件无法写入，所以没有批准任何操作".to_owned(),
        }
    }

    async fn check(&self, secret: &str) -> Result<()> {
        let now = Instant::now();
        {
            // Counted before it is looked at: guesses that come side by side are guesses all the same.
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.until.is_some_and(|until| until <= now) {
                *wrong = Wrong::default();
            }
            if wrong.until.is_some() {
                bail!(
                    "{}",
                    say(
                        self.language,
                        "too many wrong secrets: none is taken for a quarter of an hour",
                        "口令错误次数太多：一刻钟内不再接受"
                    )
                );
            }
            wrong.count += 1;
            if wrong.count >= WRONG_SECRETS_MAX {
                wrong.until = Some(now + CLOSED);
            }
        }
        let kept = std::fs::read_to_string(&self.secret).context(say(
            self.language,
            "no secret is chosen yet: `menshen approvals secret`",
            "还没有设置口令：`menshen approvals secret`",
        ))?;
        let secret = secret.to_owned();
        // It takes its time on purpose.
        let fits = tokio::task::spawn_blocking(move || {
            let hash = PasswordHash::new(kept.trim()).ok();
            hash.is_some_and(|hash| Argon2::default().verify_password(secret.as_bytes(), &hash).is_ok())
        });
        if !fits.await? {
            bail!("{}", say(self.language, "that is not the secret", "口令不对"));
        }
        *self.wrong.lock().unwrap_or_else(PoisonError::into_inner) = Wrong::default();
        Ok(())
    }

    async fn keep(&self, secret: String) -> Result<()> {
        if secret.chars().count() < SECRET_CHARS_MIN {
            bail!("{}", say(self.language, "a secret has at least six characters", "口令至少六个字符"));
        }
        let hashed = tokio::task::spawn_blocking(move || {
            Argon2::default().hash_password(secret.as_bytes()).map(|hash| hash.to_string())
        });
        let hash = hashed.await?.map_err(|error| anyhow!("the secret cannot be hashed: {error}"))?;
        let next = self.secret.with_extension("new");
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&next)
            .with_context(|| format!("cannot write {}", next.display()))?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all(hash.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&next, &self.secret).with_context(|| format!("cannot write {}", self.secret.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(folder: &Path, closed: Option<String>) -> Terminal {
        let approvals = Approvals::new(home::Audit::new(None), "run".into());
        Terminal::new(approvals, folder, Language::English, closed)
    }

    fn decide(secret: &str) -> Ask {
        Ask::Decide { id: "run-1".into(), yes: true, secret: secret.into() }
    }

    async fn refusal(terminal: &Terminal, ask: Ask) -> String {
        format!("{:#}", terminal.answer(ask).await.unwrap_err())
    }

    #[tokio::test]
    async fn a_yes_needs_the_secret_and_only_its_hash_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let terminal = terminal(folder.path(), None);
        assert!(refusal(&terminal, decide("any")).await.contains("no secret is chosen yet"));
        assert!(refusal(&terminal, Ask::Secret { old: None, new: "short".into() }).await.contains("six"));
        terminal.answer(Ask::Secret { old: None, new: "芝麻开门 2026".into() }).await.unwrap();
        let file = folder.path().join(SECRET);
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(kept.starts_with("$argon2id$") && !kept.contains("芝麻"), "{kept}");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(refusal(&terminal, decide("wrong!")).await.contains("not the secret"));
        // The right one comes as far as the question, which is not there.
        assert!(refusal(&terminal, decide("芝麻开门 2026")).await.contains("no such question"));
        assert!(
            refusal(&terminal, Ask::Secret { old: None, new: "another one".into() }).await.contains("not the secret")
        );
    }

    #[tokio::test]
    async fn after_some_wrong_ones_the_right_one_is_not_taken_either() {
        let folder = tempfile::tempdir().unwrap();
        let terminal = terminal(folder.path(), None);
        terminal.answer(Ask::Secret { old: None, new: "right one".into() }).await.unwrap();
        for _ in 0..WRONG_SECRETS_MAX {
            assert!(refusal(&terminal, decide("wrong one")).await.contains("not the secret"));
        }
        assert!(refusal(&terminal, decide("right one")).await.contains("too many wrong"));
    }

    #[tokio::test]
    async fn while_a_shell_runs_under_this_account_this_road_is_closed_and_a_no_is_not() {
        let folder = tempfile::tempdir().unwrap();
        terminal(folder.path(), None).answer(Ask::Secret { old: None, new: "right one".into() }).await.unwrap();
        let closed = terminal(folder.path(), Some("pi has a shell here".into()));
        assert_eq!(refusal(&closed, decide("right one")).await, "pi has a shell here");
        let new = Ask::Secret { old: Some("right one".into()), new: "of the child".into() };
        assert_eq!(refusal(&closed, new).await, "pi has a shell here");
        let no = Ask::Decide { id: "run-1".into(), yes: false, secret: String::new() };
        assert!(refusal(&closed, no).await.contains("no such question"));
    }
}
