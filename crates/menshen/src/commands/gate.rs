//! `menshen gate`: explain a call, record a house, decide on entities. Start at [`GateCommand::run`].
//! Invariant: explaining changes nothing in the house.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use decide::gate::{Call, Decision, InFlight, Language, Origin, Problem, Verdict, judge};
use decide::house::{EntityId, House};
use serde_json::{Map, Value, json};

use super::say;
use crate::config::{Change, Config, Disposable, Options, change, known, state_folder, text};

/// What the gate would say, and what you decided.
#[derive(Args)]
pub struct GateCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Explain one call on the live house or a recorded one: verdict, reasons and road; nothing is sent
    #[command(
        after_help = "Examples:\n  menshen gate explain lock.unlock lock.front_door\n  menshen gate explain input_boolean.turn_on input_boolean.guest_mode --language zh\n  menshen gate explain scene.apply --data '{\"entities\":{\"lock.front_door\":\"unlocked\"}}' --json\n  menshen gate explain --disposable lock.unlock lock.entrance_door     (in the house of `menshen try`)\n\nExit codes: 0 allow, 3 ask, 4 refuse, 1 error."
    )]
    Explain(Explain),
    /// Write the house as one JSON document, to explain calls without the house (holds names and states)
    Record {
        file: PathBuf,
        #[command(flatten)]
        which: Disposable,
    },
    /// Decide on an entity or a service, once; kept in the configuration file
    #[command(
        after_help = "Examples:\n  menshen gate set opens switch.relay_3\n  menshen gate set harmless switch.garage_heater\n  menshen gate set grant lock.office_door\n  menshen gate set cover curtain cover.south\n  menshen gate set forget switch.relay_3"
    )]
    Set(Set),
}

#[derive(Args)]
struct Explain {
    /// domain.service
    call: String,
    /// Entity ids
    entities: Vec<String>,
    /// Service data as JSON
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// Target as JSON: {"area_id": "kitchen"}
    #[arg(long, value_name = "JSON")]
    target: Option<String>,
    /// A recorded house instead of the live one
    #[arg(long, value_name = "FILE", conflicts_with = "disposable")]
    house: Option<PathBuf>,
    #[command(flatten)]
    which: Disposable,
    /// Machine-readable output
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Set {
    #[arg(value_name = "DECISION")]
    word: Word,
    /// For `cover`: the class, then the entities; else the entities
    #[arg(required = true, value_name = "ENTITIES")]
    rest: Vec<String>,
}

const COVER_CLASSES: &str = "awning blind curtain shade damper door garage gate shutter window";

#[derive(Clone, Copy, ValueEnum)]
enum Word {
    /// It opens something: always ask
    Opens,
    /// A person looked: it opens nothing by itself
    Harmless,
    /// Standing permission for this entity or macro (a macro is pinned to its body of now)
    Grant,
    /// Class of a cover: awning blind curtain shade damper door garage gate shutter window
    Cover,
    /// One relay pulse both opens and closes it
    Pulse,
    /// Take back all of the above
    Forget,
}

impl GateCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        match self.action {
            Action::Explain(explain) => {
                let config = Config::for_house(options, &explain.which)?;
                explain.run(&config).await
            }
            Action::Record { file, which } => record(&Config::for_house(options, &which)?, &file).await,
            Action::Set(set) => set.run(&Config::load_or_new(options)).await,
        }
    }
}

async fn record(config: &Config, file: &Path) -> Result<ExitCode> {
    let (connection, house) = super::connect(config).await?;
    let text = serde_json::to_string_pretty(&house.to_json()?)?;
    // Bodies may hold codes: a file made here is its owner's alone.
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file).and_then(|mut made| std::io::Write::write_all(&mut made, text.as_bytes()));
    written.with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("{}: {}", file.display(), house.entities.len());
    connection.close().await;
    Ok(ExitCode::SUCCESS)
}

fn object(text: Option<&str>, what: &str) -> Result<Option<Map<String, Value>>> {
    let Some(text) = text else { return Ok(None) };
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        Ok(_) => bail!("{what} must be a JSON object, {{\"key\": value}}"),
        Err(error) => bail!("{what} is no JSON: {error}"),
    }
}

impl Explain {
    async fn run(self, config: &Config) -> Result<ExitCode> {
        let Some((domain, service)) = self.call.split_once('.') else {
            bail!("`{}` is no domain.service, such as lock.unlock", self.call)
        };
        let mut data = object(self.data.as_deref(), "--data")?.unwrap_or_default();
        let target = object(self.target.as_deref(), "--target")?;
        if !self.entities.is_empty() {
            data.insert("entity_id".to_owned(), json!(self.entities));
        }
        let call = Call { domain: domain.to_owned(), service: service.to_owned(), data, target };
        let house = match &self.house {
            Some(file) => {
                let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
                House::from_json(serde_json::from_str(&text)?)
                    .with_context(|| format!("{} is no recorded house", file.display()))?
            }
            None => {
                let (connection, house) = super::connect(config).await?;
                connection.close().await;
                (*house).clone()
            }
        };
        let in_flight = InFlight::default();
        let mut policy = config.policy.clone();
        known(&mut policy, &config.unpinned, &state_folder())?;
        let outcome = judge(&super::facts(&house, &policy, &in_flight), Origin::Model, &call);
        if self.json {
            println!("{}", serde_json::to_string_pretty(&as_json(&outcome, config.language))?);
        } else {
            print(&call, &outcome, config.language);
        }
        Ok(match outcome {
            Ok(Decision { verdict: Verdict::Allow, .. }) => ExitCode::SUCCESS,
            Ok(Decision { verdict: Verdict::Ask, .. }) => ExitCode::from(3),
            Ok(Decision { verdict: Verdict::Refuse, .. }) => ExitCode::from(4),
            Err(_) => ExitCode::FAILURE,
        })
    }
}

fn as_json(outcome: &Result<Decision, Problem>, language: Language) -> Value {
    match outcome {
        Ok(decision) => {
            let sentences: Vec<String> = decision.reasons.iter().map(|reason| reason.sentence(language)).collect();
            let mut value = json!(decision);
            value["sentences"] = json!(sentences);
            value["ok"] = json!(true);
            value
        }
        Err(problem) => json!({"ok": false, "problem": problem, "message": problem.sentence(language)}),
    }
}

fn print(call: &Call, outcome: &Result<Decision, Problem>, language: Language) {
    let told = format!("{}.{} {}", call.domain, call.service, Value::Object(call.data.clone()));
    println!("{}", super::audit::harmless(&told));
    let decision = match outcome {
        Ok(decision) => decision,
        Err(problem) => {
            println!("{}", problem.sentence(language));
            return;
        }
    };
    let verdict = match decision.verdict {
        Verdict::Allow => say(language, "ALLOW: it runs at once", "允许：直接执行"),
        Verdict::Ask => say(language, "ASK: a person has to say yes", "询问：需要人来同意"),
        Verdict::Refuse => say(language, "REFUSE: nobody can say yes to this here", "拒绝：这里谁也不能同意"),
    };
    println!("{verdict}");
    for reason in &decision.reasons {
        println!("  - {}", reason.sentence(language));
    }
    let list = |ids: &[EntityId]| ids.iter().map(EntityId::as_str).collect::<Vec<_>>().join(", ");
    let would = match decision.verdict {
        Verdict::Allow => say(language, "would send:", "将发送："),
        Verdict::Ask | Verdict::Refuse => say(language, "allowed, it would send:", "若允许，将发送："),
    };
    for send in &decision.plan.sends {
        let safety = if send.toward_safety { say(language, " (toward safety)", "（趋向安全）") } else { "" };
        println!("{would} {}.{} → {}{safety}", send.domain, send.service, list(&send.entities));
    }
    if !decision.plan.done.is_empty() {
        println!("{} {}", say(language, "already so, not sent:", "已是如此，不再发送："), list(&decision.plan.done));
    }
    if !decision.plan.ignored.is_empty() {
        println!(
            "{} {}",
            say(language, "the service does not work on:", "该服务对其无效："),
            list(&decision.plan.ignored)
        );
    }
}

impl Set {
    async fn run(self, config: &Config) -> Result<ExitCode> {
        let (class, names) = match self.word {
            Word::Cover => {
                let (class, names) = self.rest.split_first().context("name a class, then the covers")?;
                if serde_json::from_value::<decide::gate::CoverClass>(json!(class)).is_err() {
                    bail!("`{class}` is no class of cover; there are: {COVER_CLASSES}");
                }
                (Some(class.as_str()), names)
            }
            _ => (None, self.rest.as_slice()),
        };
        if names.is_empty() {
            bail!("name a class, then the covers: menshen gate set cover curtain cover.south");
        }
        let mut ids = Vec::new();
        for name in names {
            ids.push(
                EntityId::parse(name).with_context(|| format!("`{name}` is no entity id, such as lock.front_door"))?,
            );
        }
        let mut changes = Vec::new();
        for id in &ids {
            changes.extend(self.changes(config, id, class).await?);
        }
        change(&config.path, changes)?;
        let decided = self.word.to_possible_value().map(|word| word.get_name().to_owned()).unwrap_or_default();
        let class = class.map(|class| format!(" {class}")).unwrap_or_default();
        for id in &ids {
            println!("{id}: {decided}{class}");
        }
        println!("{} {}", say(config.language, "written to", "已写入"), config.path.display());
        Ok(ExitCode::SUCCESS)
    }

    async fn changes<'a>(&self, config: &Config, id: &'a EntityId, class: Option<&str>) -> Result<Vec<Change<'a>>> {
        const GUARD: &[&str] = &["gate", "guard"];
        const GRANTS: &[&str] = &["gate", "grants"];
        const COVERS: &[&str] = &["gate", "covers"];
        let key = id.as_str();
        let one = |table: &'static [&'static str], value| vec![Change { table, key, value }];
        Ok(match self.word {
            Word::Opens => one(GUARD, Some(text("opens"))),
            Word::Harmless => one(GUARD, Some(text("harmless"))),
            Word::Cover => one(COVERS, class.map(text)),
            Word::Pulse => vec![pulse(config, id, true)],
            Word::Grant => {
                let mut grant = toml_edit::InlineTable::new();
                if matches!(id.domain(), "scene" | "script" | "automation") {
                    let (connection, house) = super::connect(config).await?;
                    connection.close().await;
                    if house.entity(id.as_str()).is_none() {
                        bail!("{}", say(config.language, "this house has no {}", "这个家里没有 {}").replace("{}", key));
                    }
                    let seen = decide::gate::fingerprint(&house, id).with_context(|| {
                        format!("{id} cannot be read, so the permission could not be held to what it does; set HOME_ASSISTANT_READING_TOKEN, an administrator's")
                    })?;
                    grant.insert("body", seen.into());
                }
                one(GRANTS, Some(toml_edit::value(grant)))
            }
            Word::Forget => vec![
                Change { table: GUARD, key, value: None },
                Change { table: GRANTS, key, value: None },
                Change { table: COVERS, key, value: None },
                pulse(config, id, false),
            ],
        })
    }
}

fn pulse<'a>(config: &Config, id: &EntityId, on: bool) -> Change<'a> {
    let mut ids = config.policy.pulse.clone();
    if on {
        ids.insert(id.clone())
    } else {
        ids.remove(id)
    };
    let array: toml_edit::Array = ids.iter().map(EntityId::as_str).collect();
    Change { table: &["gate"], key: "pulse", value: Some(toml_edit::value(array)) }
}
