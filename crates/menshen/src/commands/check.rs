//! `menshen check`: what the tokens can read, what is guarded and why, what is still to decide.
//! Start at [`CheckCommand::run`]. Invariant: it only reads, and says the same in both languages.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use decide::gate::{Call, Facts, InFlight, Language, Origin, Verdict, judge, may_open, proposals};
use decide::house::{Body, EntityId, House};
use serde::Serialize;
use serde_json::{Map, json};

use super::say;
use crate::config::{Config, Disposable, Options, known, state_folder};

/// Look at the house through the gate's eyes.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen check\n  menshen check --disposable          (the house of `menshen try`)\n  menshen check --disposable=NAME     (the house of `menshen home up --name NAME`)\n\nExit codes: 0 nothing to do, 3 things to decide, 1 the house or the configuration cannot be used."
)]
pub struct CheckCommand {
    /// Machine-readable output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Disposable,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    version: String,
    /// None for a disposable house, which nobody configured.
    configuration: Option<String>,
    configuration_error: Option<String>,
    entities: usize,
    bodies_read: usize,
    bodies_unreadable: BTreeMap<EntityId, String>,
    guarded: BTreeMap<String, Vec<EntityId>>,
    granted: Vec<EntityId>,
    to_decide: Vec<Proposal>,
    automations_that_open: Vec<Opening>,
    macros_that_ask: Vec<Opening>,
    triggers_nobody_can_guard: Vec<Trigger>,
}

#[derive(Serialize)]
struct Proposal {
    entity_id: EntityId,
    name: String,
    why: &'static str,
}

#[derive(Serialize)]
struct Opening {
    entity_id: EntityId,
    name: String,
    sentence: String,
    /// Entities whose change sets it off.
    triggers: Vec<EntityId>,
}

#[derive(Serialize)]
struct Trigger {
    automation: EntityId,
    kind: String,
}

impl CheckCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let mut config = Config::for_house(options, &self.which)?;
        known(&mut config.policy, &config.unpinned, &state_folder())?;
        let (connection, house) = super::connect(&config).await?;
        let report = report(&house, &config, self.which.disposable.is_none());
        connection.close().await;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            print(&report, config.language);
        }
        Ok(match () {
            () if report.configuration_error.is_some() => ExitCode::FAILURE,
            () if !report.to_decide.is_empty() => ExitCode::from(3),
            () => ExitCode::SUCCESS,
        })
    }
}

fn report(house: &House, config: &Config, own: bool) -> Report {
    let in_flight = InFlight::default();
    let facts = super::facts(house, &config.policy, &in_flight);
    let name = |id: &EntityId| {
        let name = house.entity(id.as_str()).map_or(id.as_str(), |entity| entity.name(id));
        decide::text::clean(name, decide::text::NAME_CHARS_MAX)
    };
    let mut guarded: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
    let plain = |id: &EntityId| !matches!(id.domain(), "scene" | "script" | "automation");
    for id in house.entities.keys().filter(|id| plain(id)) {
        if may_open(&facts, id) {
            guarded.entry(id.domain().to_owned()).or_default().push(id.clone());
        }
    }
    let bodies = &house.bodies;
    let all = || bodies.scripts.iter().chain(&bodies.scenes).chain(&bodies.automations);
    let unreadable = all().filter_map(|(id, body)| match body {
        Body::Unreadable(why) => Some((id.clone(), why.to_string())),
        Body::Config(_) => None,
    });
    let to_decide =
        proposals(&facts).into_iter().map(|(entity_id, why)| Proposal { name: name(&entity_id), entity_id, why });
    let mut triggers_of: BTreeMap<&EntityId, Vec<EntityId>> = BTreeMap::new();
    for (id, automations) in house.index.triggers.watched() {
        for automation in automations {
            triggers_of.entry(automation).or_default().push(id.clone());
        }
    }
    let opening = |id: &EntityId, service: &str| {
        let sentence = asks(&facts, id, service, config.language)?;
        let triggers = triggers_of.get(id).cloned().unwrap_or_default();
        Some(Opening { entity_id: id.clone(), name: name(id), sentence, triggers })
    };
    let unguardable = house.index.triggers.unguardable.iter();
    let automations_that_open: Vec<Opening> =
        bodies.automations.keys().filter_map(|id| opening(id, "trigger")).collect();
    let opens = |automation: &EntityId| automations_that_open.iter().any(|opening| opening.entity_id == *automation);
    Report {
        ok: config.broken.is_none(),
        version: house.version.to_string(),
        configuration: own.then(|| config.path.display().to_string()),
        configuration_error: config.broken.clone(),
        entities: house.entities.len(),
        bodies_read: all().filter(|(_, body)| matches!(body, Body::Config(_))).count(),
        bodies_unreadable: unreadable.collect(),
        guarded,
        granted: config.policy.grants.keys().cloned().collect(),
        to_decide: to_decide.collect(),
        macros_that_ask: house
            .domain("scene")
            .chain(house.domain("script"))
            .filter_map(|(id, _)| opening(id, "turn_on"))
            .collect(),
        triggers_nobody_can_guard: unguardable
            .filter(|(automation, _)| opens(automation))
            .map(|(automation, kind)| Trigger { automation: automation.clone(), kind: kind.clone() })
            .collect(),
        automations_that_open,
    }
}

/// Why running this would ask, if it would.
fn asks(facts: &Facts<'_>, id: &EntityId, service: &str, language: Language) -> Option<String> {
    let data = Map::from_iter([("entity_id".to_owned(), json!(id))]);
    let call = Call { domain: id.domain().to_owned(), service: service.to_owned(), data, target: None };
    match judge(facts, Origin::Model, &call) {
        Ok(decision) if decision.verdict != Verdict::Allow => Some(decision.reasons.first()?.sentence(language)),
        _ => None,
    }
}

fn print(report: &Report, language: Language) {
    let head = |english, chinese| println!("\n{}", say(language, english, chinese));
    let Report { version, entities, configuration, .. } = report;
    println!("Home Assistant {version}, {entities} {}", say(language, "entities", "个实体"));
    match (&report.configuration_error, configuration) {
        (Some(error), _) => println!(
            "{}: {error}",
            say(
                language,
                "The configuration cannot be used; only moves toward safety pass",
                "配置无法使用，现在只允许趋向安全的操作"
            )
        ),
        (None, Some(file)) => println!("{}: {file}", say(language, "Configuration", "配置文件")),
        (None, None) => {
            println!("{}", say(language, "A disposable house: nothing is configured", "一次性房屋：没有配置"))
        }
    }
    head("What this token can read", "令牌能读到什么");
    println!("  {} {}", report.bodies_read, say(language, "scenes, scripts and automations", "个场景、脚本和自动化"));
    if !report.bodies_unreadable.is_empty() {
        println!(
            "  {} {}",
            report.bodies_unreadable.len(),
            say(language, "cannot be read; running these asks first:", "个读不到，运行前会先询问：")
        );
        for (id, why) in &report.bodies_unreadable {
            println!("    {id} ({why})");
        }
    }
    head("Guarded (moving these toward open asks)", "受守护（往打开的方向动它们要先询问）");
    for (domain, ids) in &report.guarded {
        let list: Vec<&str> = ids.iter().map(EntityId::as_str).collect();
        println!("  {domain}: {}", list.join(", "));
    }
    if !report.granted.is_empty() {
        head("Granted by you", "您已长期许可");
        report.granted.iter().for_each(|id| println!("  {id}"));
    }
    openings(
        language,
        "Automations that open, and what sets them off",
        "会开门的自动化，以及触发它们的实体",
        &report.automations_that_open,
    );
    openings(language, "Scenes and scripts that ask first", "运行前会先询问的场景和脚本", &report.macros_that_ask);
    if !report.triggers_nobody_can_guard.is_empty() {
        head(
            "Triggers that no gate can guard (events, web hooks, times): look at these yourself",
            "任何闸门都守不住的触发方式（事件、webhook、时间），请自己看一看",
        );
        for trigger in &report.triggers_nobody_can_guard {
            println!("  {}: {}", trigger.automation, trigger.kind);
        }
    }
    if report.to_decide.is_empty() {
        head("Nothing is left to decide.", "没有需要决定的了。");
        return;
    }
    head("To decide, once: does it open something?", "请决定一次：它会开门吗？");
    for Proposal { entity_id, name, why } in &report.to_decide {
        println!("  {entity_id} “{name}” ({})", because(language, why));
    }
    if configuration.is_some() {
        println!("  menshen gate set opens ENTITY… | menshen gate set harmless ENTITY…");
    }
}

fn openings(language: Language, english: &str, chinese: &str, list: &[Opening]) {
    if list.is_empty() {
        return;
    }
    println!("\n{}", say(language, english, chinese));
    for Opening { entity_id, name, sentence, triggers } in list {
        println!("  {entity_id} “{name}”: {sentence}");
        if !triggers.is_empty() {
            let list: Vec<&str> = triggers.iter().map(EntityId::as_str).collect();
            println!("    {} {}", say(language, "set off by", "触发者："), list.join(", "));
        }
    }
}

/// Why the gate guesses, in words.
pub fn because(language: Language, why: &str) -> &'static str {
    match why {
        "relation" => {
            say(language, "on the device of a lock or gate, or its source", "与门锁或车库在同一设备上，或是它的来源")
        }
        "name" => say(language, "its name", "名字"),
        "button" => say(language, "a button", "按钮"),
        "options" => say(language, "one of its options says open", "有一个选项说“打开”"),
        "board" => say(language, "on a board beside a door", "与门在同一块多路板上"),
        _ => say(language, "its name says nothing", "名字看不出用途"),
    }
}
