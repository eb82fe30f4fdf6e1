//! `menshen setup`: find the house, check the token, decide once what opens. Start at
//! [`SetupCommand::run`]. Invariant: nothing is written before the last question is answered.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use decide::gate::{Guard, InFlight, Language, proposals};
use decide::house::{EntityId, House};
use home::{Connection, Endpoint, Tls, Token};
use toml_edit::Item;

use super::check::because;
use super::say;
use crate::config::{Change, Config, Options, change, text};

mod account;
mod discover;

/// Connect your own house: answers a few questions and writes menshen.toml.
#[derive(Args)]
#[command(
    after_help = "Without a terminal, or with --yes, nothing is asked: give --url (or HOME_ASSISTANT_URL) and\nHOME_ASSISTANT_TOKEN; what looks like an opener is then guarded and the rest is left for later."
)]
pub struct SetupCommand {
    /// Take the safe answer to every question
    #[arg(long)]
    yes: bool,
    /// Make a lesser user for acting and keep this token for reading only
    #[arg(long)]
    two_tokens: bool,
}

/// Asks on the terminal, or takes the default where nobody is there to ask.
struct Person {
    language: Language,
    silent: bool,
}

impl Person {
    fn ask(&self, question: &str, default: &str) -> Result<String> {
        if self.silent {
            return Ok(default.to_owned());
        }
        eprint!("{question}{} ", if default.is_empty() { String::new() } else { format!(" [{default}]") });
        std::io::stderr().flush()?;
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line)? == 0 {
            bail!("{}", say(self.language, "input ended; nothing was written", "输入结束；什么都没有写入"));
        }
        if !std::io::stdin().is_terminal() {
            // Nobody typed the end of the line.
            eprintln!();
        }
        let line = line.trim();
        Ok(if line.is_empty() { default.to_owned() } else { line.to_owned() })
    }

    fn yes(&self, question: &str, default: bool) -> Result<bool> {
        let answer = self.ask(question, if default { "y" } else { "n" })?.to_lowercase();
        Ok(matches!(answer.as_str(), "y" | "yes" | "是" | "好" | "对" | "要"))
    }

    fn tell(&self, english: &str, chinese: &str) {
        eprintln!("{}", say(self.language, english, chinese));
    }
}

/// The house that answered, and what opened it.
struct Reached {
    url: String,
    token: Token,
    connection: Connection,
    house: Arc<House>,
}

/// How often an address and a token are asked for.
const TRIES: u32 = 5;

impl SetupCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let config = Config::load_or_new(options);
        if let Some(error) = &config.broken {
            bail!("{error}");
        }
        let silent = self.yes || !std::io::stdin().is_terminal() && !interactive_by_pipe();
        let person = Person { language: config.language, silent };
        let Reached { url, token, connection, house } = self.reached(&config, &person).await?;
        let words = say(config.language, "entities", "个实体");
        eprintln!(
            "✓ Home Assistant {} “{}”, {} {words}",
            house.version,
            decide::text::clean(&house.location_name, 60),
            house.entities.len()
        );
        let endpoint = Endpoint::parse(&url, config.settings.tls.clone())?;
        let tokens = self.tokens(&connection, &endpoint, token, &person).await?;
        let decided = decide_openers(&config, &house, &person)?;
        connection.close().await;
        write(&config, &url, tokens, decided)?;
        finish(&config, &person);
        Ok(ExitCode::SUCCESS)
    }

    /// The house that answers. Whoever typed an address or a token wrongly is asked again.
    async fn reached(&self, config: &Config, person: &Person) -> Result<Reached> {
        let mut given = config.settings.clone();
        for left in (0..TRIES).rev() {
            let url = match &given.url {
                Some(url) => url.clone(),
                None => self.url(person).await?,
            };
            let token = match &given.token {
                Some(token) => token.clone(),
                None => token(person)?,
            };
            let settings = home::Settings { url: Some(url.clone()), token: Some(token.clone()), ..given.clone() };
            let connection = Connection::start(settings);
            let error = match connection.ready(Duration::from_secs(30)).await {
                Ok(house) => return Ok(Reached { url, token, connection, house }),
                Err(error) => error,
            };
            connection.close().await;
            let message = error.message(config.language);
            let wrong_token = error.code == home::ErrorCode::Auth;
            let configured = if wrong_token { config.settings.token.is_some() } else { config.settings.url.is_some() };
            if left == 0 || person.silent || configured {
                bail!("{message}");
            }
            eprintln!("{message}");
            // What was right is not asked for again.
            given.url = wrong_token.then_some(url);
            given.token = if wrong_token { None } else { Some(token) };
        }
        bail!("{}", say(person.language, "no house was reached", "没有连上"))
    }

    async fn url(&self, person: &Person) -> Result<String> {
        person.tell("Looking for Home Assistant on this network…", "正在局域网里寻找 Home Assistant……");
        let found = tokio::task::spawn_blocking(discover::houses).await?;
        for (index, house) in found.iter().enumerate() {
            eprintln!("  {}. {} {}", index + 1, house.name, house.url);
        }
        let first = found.first().map(|house| house.url.clone()).unwrap_or_default();
        let answer = person.ask(say(person.language, "Address (or its number):", "地址（或序号）："), &first)?;
        let numbered = answer.parse::<usize>().ok().and_then(|number| found.get(number.checked_sub(1)?));
        let url = numbered.map_or(answer, |house| house.url.clone());
        if url.is_empty() {
            bail!(
                "{}",
                say(
                    person.language,
                    "no house was found and no address given; pass --url http://ADDRESS:8123",
                    "没有找到，也没有给出地址；请加上 --url http://地址:8123"
                )
            );
        }
        Ok(url)
    }

    /// The acting token, and the reading one where there are two.
    async fn tokens(
        &self,
        connection: &Connection,
        endpoint: &Endpoint,
        token: Token,
        person: &Person,
    ) -> Result<(Token, Option<Token>)> {
        let user = connection.command("auth/current_user", serde_json::Value::Null).await?;
        if user["is_admin"] != true {
            person.tell(
                "  This token is no administrator's: scenes, scripts and automations cannot be read, so they will ask before they run.",
                "  这不是管理员的令牌：读不到场景、脚本和自动化的内容，运行它们之前会先询问。",
            );
            return Ok((token, None));
        }
        let question = say(
            person.language,
            "Make a lesser user “Menshen” for acting, and keep the administrator's token for reading only?",
            "要不要新建一个普通用户“Menshen”来执行操作，管理员令牌只用来读取？",
        );
        if !self.two_tokens && !person.yes(question, false)? {
            return Ok((token, None));
        }
        let acting = account::lesser_user(endpoint, &token).await.context(say(
            person.language,
            "the lesser user could not be made",
            "无法新建普通用户",
        ))?;
        person.tell("✓ user “Menshen” made", "✓ 已新建用户“Menshen”");
        Ok((acting, Some(token)))
    }
}

/// Answers from a pipe count as a person's where the variable says so: for scripts and tests.
fn interactive_by_pipe() -> bool {
    std::env::var_os("MENSHEN_SETUP_ANSWERS").is_some()
}

fn token(person: &Person) -> Result<Token> {
    person.tell(
        "A long-lived access token: in Home Assistant open your profile, Security, Long-lived access tokens, Create token.",
        "长期访问令牌：在 Home Assistant 里打开个人资料、安全、长期访问令牌、创建令牌。",
    );
    let prompt = say(person.language, "Token (not shown):", "令牌（不显示）：");
    let text = if std::io::stdin().is_terminal() {
        rpassword::prompt_password(format!("{prompt} "))?
    } else {
        person.ask(prompt, "")?
    };
    if text.trim().is_empty() {
        bail!(
            "{}",
            say(
                person.language,
                "no token was given; set HOME_ASSISTANT_TOKEN",
                "没有给出令牌；请设置 HOME_ASSISTANT_TOKEN"
            )
        );
    }
    Ok(Token::new(text.trim()))
}

/// Asks about everything that the gate guards by a guess.
fn decide_openers(config: &Config, house: &House, person: &Person) -> Result<Vec<(EntityId, Guard)>> {
    let in_flight = InFlight::default();
    let open = proposals(&super::facts(house, &config.policy, &in_flight));
    let mut decided = Vec::new();
    if !open.is_empty() && person.silent {
        person.tell(
            "What looks like an opener is guarded; the rest is left for `menshen check`:",
            "看起来会打开什么的都已看守，其余留给 `menshen check`：",
        );
    } else if !open.is_empty() {
        person.tell(
            "Do these open something (a door, a gate, a lock)? y, n, or s to decide later.",
            "这些会打开什么吗（门、大门、锁）？y 会，n 不会，s 以后再说。",
        );
    }
    for (id, why) in open {
        let name = house.entity(id.as_str()).map_or(id.as_str(), |entity| entity.name(&id));
        let guess = if matches!(why, "relation" | "name") { "y" } else { "s" };
        let question = format!("  {id} “{}” ({})", decide::text::clean(name, 60), because(person.language, why));
        if person.silent {
            let later = say(person.language, "later", "以后再说");
            eprintln!("{question}: {}", if guess == "y" { "opens" } else { later });
        }
        match person.ask(&question, guess)?.to_lowercase().as_str() {
            "y" | "yes" | "是" | "会" => decided.push((id, Guard::Opens)),
            "n" | "no" | "否" | "不会" => decided.push((id, Guard::Harmless)),
            _ => {}
        }
    }
    Ok(decided)
}

fn write(
    config: &Config,
    url: &str,
    (token, reading): (Token, Option<Token>),
    decided: Vec<(EntityId, Guard)>,
) -> Result<()> {
    let house = |key, value: Option<Item>| Change { table: &["house"], key, value };
    let mut changes = vec![house("url", Some(text(url))), house("token", Some(text(token.reveal())))];
    changes.push(house("reading_token", reading.as_ref().map(|token| text(token.reveal()))));
    match &config.settings.tls {
        Tls::SystemRoots => {}
        Tls::CaFile(file) => changes.push(house("ca_file", Some(text(&file.display().to_string())))),
        Tls::Insecure => changes.push(house("insecure", Some(toml_edit::value(true)))),
    }
    for (id, guard) in &decided {
        let word = match guard {
            Guard::Opens => "opens",
            Guard::Harmless => "harmless",
        };
        changes.push(Change { table: &["gate", "guard"], key: id.as_str(), value: Some(text(word)) });
    }
    change(&config.path, changes)
}

fn finish(config: &Config, person: &Person) {
    eprintln!("✓ {}", config.path.display());
    person.tell(
        "Next: `menshen check` shows what is guarded and why. In your assistant's client add:",
        "下一步：`menshen check` 会说明守护了什么、为什么。在助手的客户端里加入：",
    );
    println!(r#"{{"mcpServers": {{"home": {{"command": "menshen", "args": ["mcp"]}}}}}}"#);
}
