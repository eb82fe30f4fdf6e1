//! What the PluginSDK API promises, one test a promise, on the real store: settings, memories, inbox and
//! turns are those of the program; only the model is scripted, and there is no house.

#![allow(clippy::unwrap_used, clippy::expect_used)]

// The world of the kernel's own tests names the kernel's modules as its crate's.
use kernel::{agent, message, ports, turn};

#[allow(dead_code)]
#[path = "../../kernel/src/agent/tests/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kernel::host::{KernelHost, Shelf};
use kernel::settings::{Capabilities, Layers, Settings};
use sdk::{
    ConfigDef, ConfigType, Deny, Doc, Failure, FailureKind, InjectionKind, Plugin, PluginSdk, PurgeMode, Stage,
    StageContext, TextEvent, ToolDef, Triple, stage_handler, tool_handler,
};
use serde_json::{Value, json};
use store::search::Dictionary;
use store::{DocumentMemory, Graph, KnowledgeFolder, Options, Store};
use world::{Memory, Say, World};

struct Home {
    world: World,
    host: Arc<KernelHost>,
    store: Store,
    _folder: tempfile::TempDir,
}

async fn home(says: &[Say]) -> Home {
    home_with(says, |_| Capabilities::new()).await
}

async fn home_with(says: &[Say], granted: fn(&str) -> Capabilities) -> Home {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Options::default()).unwrap();
    let (database, dictionary) = (store.database().clone(), Dictionary::default());
    let graph = Graph::new(database.clone(), dictionary.clone());
    let world = World::with(Memory::default(), says, |ports| {
        ports.inbox = store.inbox();
        ports.turns = store.turns();
        ports.schedules = store.schedules();
        ports.text = store.text();
        ports.graph = Arc::new(graph);
    });
    let clock = world.agent.ports().clock.clone();
    let shelf = Shelf {
        settings: Settings::open(store.settings(), Layers::default(), vec![]).await.unwrap(),
        documents: Arc::new(DocumentMemory::new(database.clone(), dictionary.clone(), clock)),
        knowledge: Arc::new(KnowledgeFolder::new(&folder.path().join("knowledge"), database, dictionary)),
        capabilities: Arc::new(granted),
    };
    let host = KernelHost::new(&world.agent, shelf);
    world.agent.run().await.unwrap();
    Home { world, host, store, _folder: folder }
}

impl Home {
    fn sdk(&self, plugin: &str) -> PluginSdk {
        PluginSdk::new(plugin, self.host.clone())
    }

    fn shown(&self, at: usize) -> String {
        json!(self.world.requests()[at].messages).to_string()
    }
}

type Seen = Arc<Mutex<Vec<String>>>;

/// A handler that notes this.
fn noting(seen: &Seen, what: &str) -> sdk::StageHandler {
    let (seen, what) = (seen.clone(), what.to_owned());
    stage_handler(move |_| {
        seen.lock().unwrap().push(what.clone());
        Ok(())
    })
}

fn tool(sdk: &PluginSdk, name: &str, result: Value) {
    let handler = tool_handler(move |_, _| std::future::ready(Ok(result.clone())));
    sdk.register_tool(name, ToolDef { description: "a test".into(), ..ToolDef::default() }, handler).unwrap();
}

#[tokio::test]
async fn handlers_of_one_stage_run_in_registration_order() {
    let home = home(&[Say::Text("hi")]).await;
    let seen = Seen::default();
    for name in ["one", "two", "three"] {
        home.sdk(name).register_stage(Stage::OnInput, noting(&seen, name)).unwrap();
    }
    home.world.say("hello").await;
    assert_eq!(*seen.lock().unwrap(), ["one", "two", "three"]);
}

#[tokio::test]
async fn the_permission_matrix_is_held() {
    let home = home(&[Say::Text("hi")]).await;
    let mut events = home.world.agent.subscribe();
    let handler = stage_handler(|context: &mut StageContext| {
        context.final_text = "taken over".into();
        context.user_id = "somebody else".into();
        Ok(())
    });
    home.sdk("greedy").register_stage(Stage::OnInput, handler).unwrap();
    assert_eq!(home.world.say("hello").await.reply, "hi");
    let mut named = vec![];
    while let Ok(event) = events.try_recv() {
        if let agent::AgentEvent::Problem { owner, message, .. } = event {
            named.push(format!("{owner}: {message}"));
        }
    }
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named.iter().all(|text| text.starts_with("greedy: may not write")), "{named:?}");
}

#[tokio::test]
async fn a_response_in_any_stage_jumps_to_after_output() {
    for stage in Stage::ALL.into_iter().filter(|stage| *stage != Stage::AfterOutput) {
        let home = home(&[Say::Calls(vec![("p_tool", json!({}))]), Say::Text("never said")]).await;
        let (sdk, seen) = (home.sdk("p"), Seen::default());
        tool(&sdk, "p_tool", json!("ran"));
        for other in Stage::ALL {
            home.sdk("watch").register_stage(other, noting(&seen, other.name())).unwrap();
        }
        let handler = stage_handler(|context: &mut StageContext| {
            context.response = Some("blocked".into());
            Ok(())
        });
        sdk.register_stage(stage, handler).unwrap();
        assert_eq!(home.world.say("hello").await.reply, "blocked", "{stage:?}");
        home.world.until(|_| seen.lock().unwrap().last().is_some_and(|last| last == "after_output")).await;
        let seen = seen.lock().unwrap();
        assert_eq!(seen[seen.len() - 2], stage.name(), "{seen:?}: nothing between it and after_output");
    }
}

#[tokio::test]
async fn deny_is_writable_before_a_tool_and_real() {
    let home = home(&[Say::Calls(vec![("p_tool", json!({}))]), Say::Text("denied, then")]).await;
    let sdk = home.sdk("p");
    let ran = Arc::new(Mutex::new(false));
    let mark = ran.clone();
    let handler = tool_handler(move |_, _| {
        *mark.lock().unwrap() = true;
        std::future::ready(Ok(json!("ran")))
    });
    sdk.register_tool("p_tool", ToolDef::default(), handler).unwrap();
    let deny = stage_handler(|context: &mut StageContext| {
        context.tool_calls[0].deny = Some(Deny::because("quiet hours"));
        Ok(())
    });
    sdk.register_stage(Stage::BeforeToolcall, deny).unwrap();
    home.world.say("hello").await;
    assert!(!*ran.lock().unwrap());
    assert!(home.shown(1).contains("quiet hours"));
}

#[tokio::test]
async fn tool_results_may_be_rewritten_to_any_value_with_success() {
    let home = home(&[Say::Calls(vec![("p_tool", json!({}))]), Say::Text("ok")]).await;
    let sdk = home.sdk("p");
    tool(&sdk, "p_tool", json!("raw"));
    let rewrite = stage_handler(|context: &mut StageContext| {
        context.tool_results[0].result = json!({"celsius": 21});
        context.tool_results[0].success = false;
        Ok(())
    });
    sdk.register_stage_own_tools(Stage::AfterToolcall, rewrite).unwrap();
    home.world.say("hello").await;
    let shown = home.shown(1);
    assert!(shown.contains(r#"{\"celsius\":21}"#) && shown.contains(r#""is_error":true"#), "{shown}");
}

#[tokio::test]
async fn final_text_may_be_rewritten_before_output_and_only_read_after() {
    let home = home(&[Say::Text("hi")]).await;
    let sdk = home.sdk("p");
    let shout = stage_handler(|context: &mut StageContext| {
        context.final_text = context.final_text.to_uppercase();
        Ok(())
    });
    sdk.register_stage(Stage::BeforeOutput, shout).unwrap();
    let seen: Arc<Mutex<Vec<StageContext>>> = Arc::default();
    let after = seen.clone();
    let late = stage_handler(move |context: &mut StageContext| {
        after.lock().unwrap().push(context.clone());
        context.final_text = "too late".into();
        Ok(())
    });
    sdk.register_stage(Stage::AfterOutput, late).unwrap();
    assert_eq!(home.world.say("hello").await.reply, "HI");
    home.world.until(|_| !seen.lock().unwrap().is_empty()).await;
    let context = seen.lock().unwrap()[0].clone();
    assert_eq!(
        (context.final_text.as_str(), context.llm_text.as_str(), context.raw_message.as_str()),
        ("HI", "hi", "hello")
    );
}

#[tokio::test]
async fn user_and_group_are_those_of_the_person() {
    let home = home(&[Say::Text("hi")]).await;
    let seen: Seen = Arc::default();
    let note = seen.clone();
    let handler = stage_handler(move |context: &mut StageContext| {
        note.lock().unwrap().push(format!("{} {}", context.user_id, context.group_id));
        Ok(())
    });
    home.sdk("p").register_stage(Stage::OnInput, handler).unwrap();
    home.world.say("hello").await;
    assert_eq!(*seen.lock().unwrap(), ["anna family"]);
}

#[tokio::test]
async fn tool_results_are_json_for_the_model() {
    let home = home(&[Say::Calls(vec![("p_tool", json!({}))]), Say::Text("ok")]).await;
    tool(&home.sdk("p"), "p_tool", json!({"temp": 25, "weather": "晴", "list": [1, true, null]}));
    home.world.say("hello").await;
    let last = home.world.requests()[1].messages.last().unwrap().content().to_owned();
    let read: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(read, json!({"temp": 25, "weather": "晴", "list": [1, true, null]}));
}

#[tokio::test]
async fn an_is_error_result_is_an_error_and_is_not_called_again() {
    let home = home(&[Say::Calls(vec![("p_tool", json!({}))]), Say::Text("it failed")]).await;
    tool(&home.sdk("p"), "p_tool", json!({"isError": true, "content": "no such city"}));
    home.world.say("hello").await;
    assert!(home.shown(1).contains(r#""is_error":true"#) && home.shown(1).contains("no such city"));
    assert_eq!(home.world.requests().len(), 2);
}

#[tokio::test]
async fn a_tool_name_is_unique_and_leaves_with_its_owner() {
    struct Weather(Value);
    impl Plugin for Weather {
        fn name(&self) -> &str {
            "weather"
        }
        fn start(&mut self, sdk: PluginSdk) -> Result<(), Failure> {
            let result = self.0.clone();
            let handler = tool_handler(move |_, _| std::future::ready(Ok(result.clone())));
            sdk.register_stage(Stage::OnInput, stage_handler(|_| Ok(())))?;
            sdk.register_tool("weather_query", ToolDef::default(), handler)
        }
    }
    let home = home(&[Say::Calls(vec![("weather_query", json!({}))]), Say::Text("ok")]).await;
    let mut first = Weather(json!("old"));
    home.host.start(&mut first).unwrap();
    let refused = home.sdk("other").register_tool(
        "weather_query",
        ToolDef::default(),
        tool_handler(|_, _| std::future::ready(Ok(json!(0)))),
    );
    assert_eq!(refused.unwrap_err().kind, FailureKind::Duplicate);
    home.host.stop(&mut first).unwrap();
    assert!(home.world.agent.tools().owner("weather_query").is_empty());
    home.host.start(&mut Weather(json!("new"))).unwrap();
    home.world.say("hello").await;
    assert!(home.shown(1).contains("new") && !home.shown(1).contains("old"), "the new handler runs, once");
}

#[tokio::test]
async fn an_interrupt_cancels_the_request_and_is_worked_on_once() {
    let home = home(&[Say::Hang("I am"), Say::Text("both")]).await;
    home.world.put("main", InjectionKind::Text, "think").await;
    home.world.until(|world| world.requests().len() == 1).await;
    let sdk = home.sdk("timer");
    sdk.inject_interrupt_text("timer", "main", "the tea is ready").await.unwrap();
    let answered = home.world.agent.answer(2).await.unwrap();
    assert_eq!(answered.inputs, [1, 2]);
    assert_eq!(*home.world.script.dropped.lock().unwrap(), 1);
    assert_eq!(home.shown(1).matches("the tea is ready").count(), 1);
}

#[tokio::test]
async fn an_injected_text_is_answered_where_it_came_from() {
    let home = home(&[Say::Text("from us")]).await;
    home.sdk("qq").inject_text("qq", "qq:42", "hello").await.unwrap();
    let answered = home.world.agent.answer(1).await.unwrap();
    assert_eq!((answered.session.as_str(), answered.principal.channel.as_str()), ("qq:42", "qq:42"));
}

#[tokio::test]
async fn what_is_injected_without_memory_is_remembered_nowhere() {
    let home = home(&[Say::Calls(vec![("p_note", json!({}))]), Say::Text("between us"), Say::Text("who?")]).await;
    let sdk = home.sdk("p");
    let (graph, text) = (sdk.memory(), sdk.text_memory());
    let seen: Arc<Mutex<Vec<FailureKind>>> = Arc::default();
    let kinds = seen.clone();
    let handler = tool_handler(move |_, _| {
        let (graph, text, kinds) = (graph.clone(), text.clone(), kinds.clone());
        async move {
            let triple = Triple { subject: "Anna".into(), relation: "likes".into(), object: "secrets".into() };
            let refused = [graph.commit(&[triple]).await, text.append(TextEvent::default()).await];
            kinds.lock().unwrap().extend(refused.map(|refused| refused.unwrap_err().kind));
            Ok(json!("done"))
        }
    });
    sdk.register_tool("p_note", ToolDef::default(), handler).unwrap();
    sdk.inject_text_no_memory("p", "main", "Anna likes secrets").await.unwrap();
    home.world.agent.answer(1).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [FailureKind::Forbidden; 2],
        "not even a plugin that did not say that it remembers"
    );
    assert!(sdk.memory().recall(&["Anna".into()], 1).await.unwrap().1.is_empty());
    home.world.say("who likes secrets?").await;
    assert!(!home.shown(2).contains("Anna likes secrets"));
}

#[tokio::test]
async fn own_settings_keep_their_types() {
    let home = home(&[]).await;
    let settings = home.sdk("qq").settings();
    for (key, value) in [("port", json!(25580)), ("open", json!(false)), ("names", json!(["a", "b"]))] {
        settings.set(key, value.clone()).await.unwrap();
        assert_eq!(settings.get(key).await.unwrap(), value);
    }
    assert_eq!(settings.list("").await.unwrap(), ["names", "open", "port"]);
    let again = Settings::open(home.store.settings(), Layers::default(), vec![]).await.unwrap();
    assert_eq!(again.describe("qq", "port").value, json!(25580), "it is in the store");
}

#[tokio::test]
async fn other_spaces_are_reached_by_capability_and_secrets_by_nobody() {
    let home =
        home_with(
            &[],
            |plugin| {
                if plugin == "boss" { ["settings.qq.write".to_owned()].into() } else { Capabilities::new() }
            },
        )
        .await;
    let own = home.sdk("qq").settings();
    let secret = ConfigDef { key: "token".into(), secret: true, display_name: "Token".into(), ..ConfigDef::default() };
    own.register_def(secret).await.unwrap();
    own.set("token", json!("sk-very-secret")).await.unwrap();
    own.set("name", json!("a")).await.unwrap();
    assert_eq!(own.get("token").await.unwrap(), json!({"secret": true, "set": true}));
    let stranger = home.sdk("stranger").settings();
    assert_eq!(stranger.get_plugin("qq", "name").await.unwrap_err().kind, FailureKind::Forbidden);
    assert_eq!(stranger.set_plugin("qq", "name", json!("b")).await.unwrap_err().kind, FailureKind::Forbidden);
    assert_eq!(stranger.set_core("language", json!("zh")).await.unwrap_err().kind, FailureKind::Forbidden);
    let boss = home.sdk("boss").settings();
    boss.set_plugin("qq", "name", json!("b")).await.unwrap();
    assert_eq!(own.get("name").await.unwrap(), json!("b"));
    for settings in [own, stranger, boss] {
        let dump = json!(settings.dump().await.unwrap()).to_string();
        assert!(!dump.contains("very-secret"), "{dump}");
        assert!(settings.plugins().await.unwrap().contains(&"qq".to_owned()));
    }
}

#[tokio::test]
async fn a_definition_is_held_when_a_value_is_set() {
    let home = home(&[]).await;
    let settings = home.sdk("p").settings();
    let number = ConfigDef {
        key: "level".into(),
        kind: ConfigType::Number,
        default: Some(json!(5)),
        min: Some(0.0),
        max: Some(10.0),
        step: Some(5.0),
        required: true,
        display_name: "Level".into(),
        ..ConfigDef::default()
    };
    let choice = ConfigDef {
        key: "mode".into(),
        options: vec!["on".into(), "off".into()],
        display_name: "Mode".into(),
        ..ConfigDef::default()
    };
    settings.register_def(number).await.unwrap();
    settings.register_def(choice).await.unwrap();
    assert_eq!(settings.get("level").await.unwrap(), json!(5));
    for (key, value) in [
        ("level", json!(11)),
        ("level", json!(-1)),
        ("level", json!(3)),
        ("level", json!("x")),
        ("mode", json!("maybe")),
    ] {
        assert_eq!(settings.set(key, value.clone()).await.unwrap_err().kind, FailureKind::Invalid, "{key} {value}");
    }
    settings.set("level", json!(10)).await.unwrap();
    settings.set("mode", json!("off")).await.unwrap();
    assert_eq!(settings.get("level").await.unwrap(), json!(10));
    assert_eq!(settings.defs("").await.unwrap().len(), 2);
}

fn triple(subject: &str, relation: &str, object: &str) -> Triple {
    Triple { subject: subject.into(), relation: relation.into(), object: object.into() }
}

#[tokio::test]
async fn recall_is_ranked_bounded_and_without_doubles() {
    let home = home(&[]).await;
    let memory = home.sdk("p").memory();
    let facts =
        [triple("Anna", "likes", "tea"), triple("Anna", "lives_in", "Bonn"), triple("Bonn", "lies_on", "Rhine")];
    memory.commit(&facts).await.unwrap();
    memory.commit(&facts).await.unwrap();
    // Depth is steps from what was found to what it leads to.
    let (_, near) = memory.recall(&["Anna".into()], 0).await.unwrap();
    assert!(near.iter().all(|relation| relation.source_name == "Anna"), "{near:?}");
    let (entities, relations) = memory.recall(&["what does Anna like to drink: tea?".into()], 2).await.unwrap();
    let mut told: Vec<String> =
        relations.iter().map(|one| format!("{} {} {}", one.source_name, one.relation_type, one.target_name)).collect();
    assert_eq!(told[0], "Anna likes tea", "what was asked for is first");
    let all = told.len();
    told.sort();
    told.dedup();
    assert_eq!(told.len(), all, "{told:?}");
    assert!(told.contains(&"Bonn lies_on Rhine".to_owned()), "two steps lead there: {told:?}");
    assert!(entities.iter().any(|entity| entity.name == "Anna"));
}

#[tokio::test]
async fn purge_deletes_what_was_asked_and_a_forgotten_fact_can_be_learned_again() {
    let home = home(&[]).await;
    let memory = home.sdk("p").memory();
    memory.commit(&[triple("Anna", "likes", "tea"), triple("Ben", "likes", "coffee")]).await.unwrap();
    let criteria = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let nobody = criteria(&[("subject_contains", "Nobody"), ("relation_type", "likes")]);
    assert_eq!(memory.purge(&nobody, PurgeMode::Hard).await.unwrap(), 0, "what fits nothing deletes nothing");
    assert!(memory.purge(&criteria(&[]), PurgeMode::Soft).await.is_err());
    assert!(memory.purge(&criteria(&[("subject", "Anna")]), PurgeMode::Soft).await.is_err());
    assert_eq!(memory.purge(&criteria(&[("subject_contains", "Anna")]), PurgeMode::Soft).await.unwrap(), 1);
    assert!(memory.recall(&["tea".into()], 1).await.unwrap().1.is_empty());
    memory.commit(&[triple("Anna", "likes", "tea")]).await.unwrap();
    assert_eq!(memory.recall(&["tea".into()], 1).await.unwrap().1.len(), 1);
    assert_eq!(memory.recall(&["coffee".into()], 1).await.unwrap().1.len(), 1);
}

#[tokio::test]
async fn merging_two_names_moves_what_is_known_of_both() {
    let home = home(&[]).await;
    let memory = home.sdk("p").memory();
    memory.commit(&[triple("Mum", "likes", "tea"), triple("Mother", "likes", "roses")]).await.unwrap();
    assert_eq!(memory.merge_entities("Mum", "Mother").await.unwrap(), 1);
    let (_, relations) = memory.recall(&["Mother".into()], 1).await.unwrap();
    assert_eq!(relations.len(), 2, "{relations:?}");
    assert!(memory.introspect().await.unwrap().values().any(|value| value == &json!(2)));
}

#[tokio::test]
async fn a_consumed_document_is_handed_back_whole() {
    let says = [Say::Calls(vec![("doc_query", json!({"query": "boiler"}))]), Say::Text("read")];
    let home = home(&says).await;
    let documents = home.sdk("p").doc_memory();
    let content = format!("The boiler. {}The last word.", "All about the boiler. ".repeat(40));
    let doc = Doc { title: "Boiler".into(), content: content.clone(), ..Doc::default() };
    let id = documents.insert(doc).await.unwrap();
    assert_eq!(documents.query("boiler", 3).await.unwrap()[0].content, content, "looking takes nothing out");
    let database = home.store.database().clone();
    let clock = home.world.agent.ports().clock.clone();
    let shelf = Arc::new(DocumentMemory::new(database, Dictionary::default(), clock));
    for (def, handler) in kernel::tools::documents::document_tools(shelf) {
        home.world.agent.tools().register("memory", def, handler).unwrap();
    }
    home.world.say("what about the boiler?").await;
    assert!(home.shown(1).contains("The last word."), "{}", home.shown(1));
    assert!(documents.query("boiler", 3).await.unwrap().is_empty(), "it was consumed");
    documents.remove(&id).await.ok();
    assert!(documents.stats().await.unwrap().len() > 1);
}

#[tokio::test]
async fn text_memory_is_rotated_by_size() {
    let folder = tempfile::tempdir().unwrap();
    let text = store::text::TextLimits { file_bytes_max: 2_000, ..store::text::TextLimits::default() };
    let store = Store::open(folder.path(), &Options { text, ..Options::default() }).unwrap();
    for number in 0..40 {
        let content = format!("message number {number} {}", "x".repeat(100));
        let event = TextEvent { role: "user".into(), content, timestamp: 1_780_000_000 + number, channel: "qq".into() };
        store.text().append(event).await.unwrap();
    }
    let files: Vec<u64> = std::fs::read_dir(folder.path().join("text"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .collect();
    assert!(files.len() > 2, "{files:?}");
    assert!(files.iter().all(|bytes| *bytes < 2_400), "{files:?}");
}

#[tokio::test]
async fn knowledge_is_added_listed_and_found_with_its_place() {
    let home = home(&[]).await;
    let knowledge = home.sdk("p").knowledge();
    knowledge.add("heating.md", "# Heating\n\n## Winter\nBleed the radiators in October.\n").await.unwrap();
    assert_eq!(knowledge.list().await.unwrap(), ["heating.md"]);
    let found = knowledge.search("when to bleed the radiators", 3).await.unwrap();
    assert_eq!((found[0].name.as_str(), found[0].place.as_str()), ("heating.md", "Heating > Winter"));
    assert!(knowledge.add("../outside.md", "x").await.is_err());
}

#[tokio::test]
async fn set_source_in_the_middle_of_a_turn_blocks_nobody() {
    let home = home(&[Say::Calls(vec![("p_switch", json!({}))]), Say::Text("switched")]).await;
    let sdk = home.sdk("p");
    let llm = sdk.llm();
    let handler = tool_handler(move |_, _| {
        let switched = llm.set_source("other").map(|()| json!(llm.list_sources()));
        std::future::ready(switched)
    });
    sdk.register_tool("p_switch", ToolDef::default(), handler).unwrap();
    let answered = tokio::time::timeout(Duration::from_secs(10), home.world.say("switch")).await.unwrap();
    assert_eq!(answered.reply, "switched");
    assert!(home.shown(1).contains("scripted"));
}
