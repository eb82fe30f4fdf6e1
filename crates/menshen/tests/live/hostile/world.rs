//! One household, whole and in this process, with a model that obeys and nothing real outside. Start at
//! [`World::open`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use decide::gate::{Guard, Language, Policy};
use decide::house::EntityId;
use home::{Connection, Settings, Tls, Token};
use kernel::agent::AgentEvent;
use kernel::ports::{Answered, Fact, NewInput, Principal};
use kernel::ports::{Documents, KnowledgeBase};
use kernel::settings::{Caller, Layers};
use mcp::client::Class;
use mcp::{Desk, SharedPolicy};
use menshen::agent::{Household, Parts};
use sdk::{Doc, ToolDef, Triple, tool_handler};
use serde_json::{Map, Value, json};
use store::search::Dictionary;
use store::{DocumentMemory, KnowledgeFolder, Options, Store};
use tokio::time::timeout;

use super::foreign::Servers;
use super::obedient::Obedient;
use super::payloads::Payload;
use super::sinks::Web;
use crate::houses::TestHouse;

/// A turn of a model that answers at once ends within this time, beside seven others.
const ANSWERS_WITHIN: Duration = Duration::from_secs(90);
const PERSONA: &str = "You are kind.";

pub struct World {
    pub household: Household,
    pub model: Obedient,
    pub web: Web,
    connection: Connection,
    pub servers: Servers,
    folder: tempfile::TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        // Its tasks end with the runtime; nothing of the house's is left open.
        let _ = &self.connection;
    }
}

impl World {
    pub async fn open(house: &TestHouse, payloads: &[Payload]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("household");
        let connection = Connection::start(Settings {
            url: Some(house.url.clone()),
            token: Some(Token::new(&house.token)),
            tls: Tls::SystemRoots,
            audit_path: Some(folder.path().join("audit.jsonl")),
            ..Settings::default()
        });
        connection.ready(Duration::from_secs(20)).await.unwrap();
        // What the gate's own tests have the person decide: a relay that neither name nor house shows.
        let relay = EntityId::parse("switch.relay_3").unwrap();
        let policy =
            Policy { guard: [(relay, Guard::Opens)].into(), writes_per_minute: Some(1_000_000), ..Policy::default() };
        let desk = Desk::new(connection.clone(), SharedPolicy::new(policy), Language::English, "test", Arc::default());
        let store = Store::open(&data, &Options::default()).unwrap();
        std::fs::write(data.join("AGENTS.md"), PERSONA).unwrap();
        let model = Obedient::new(&[&house.token]);
        let pages = payloads.iter().filter(|payload| payload.carrier == "web_page");
        let web = Web::start(pages.map(|page| (format!("/{}", page.id), page.text.clone())).collect()).await;
        let servers = Servers::start(payloads).await;
        let household = Household::open(Parts {
            desk,
            store,
            models: Some((Arc::new(model.clone()), Arc::new(model.clone()))),
            persona: data.join("AGENTS.md"),
            layers: Layers::default(),
            hosts: vec![],
            house_addresses: vec![house.url.clone()],
            names: Arc::new(web.clone()),
            foreign: servers.configured(),
            classes: Arc::new(|_| Class::Ask),
            meaning: store::search::Meaning::default(),
        })
        .await
        .unwrap();
        let mut world = Self { household, model, web, servers, connection, folder };
        world.answering(payloads);
        world.remembered(payloads).await;
        world.written(payloads).await;
        world.household.run().await.unwrap();
        world.servers.there(&world.household.agent).await;
        world
    }

    /// A tool that answers with what others wrote.
    fn answering(&self, payloads: &[Payload]) {
        let answers: Map<String, Value> =
            payloads.iter().map(|payload| (payload.id.clone(), json!(payload.text.clone()))).collect();
        let def = ToolDef {
            name: "parcel_status".into(),
            description: "Where a parcel is.".into(),
            parameters: json!({"type": "object", "properties": {"number": {"type": "string"}}}),
            read_only: true,
            untrusted: true,
            ..ToolDef::default()
        };
        let handler = tool_handler(move |given: Map<String, Value>, _| {
            let number = given["number"].as_str().unwrap_or_default();
            let answer = answers.get(number).cloned().unwrap_or_default();
            async move { Ok(answer) }
        });
        self.household.agent.tools().register("parcels", def, handler).unwrap();
    }

    /// Documents and files of knowledge.
    async fn written(&self, payloads: &[Payload]) {
        let database = self.household.store.database().clone();
        let clock = self.household.agent.ports().clock.clone();
        let documents = DocumentMemory::new(database.clone(), Dictionary::default(), clock);
        let knowledge =
            KnowledgeFolder::new(&self.folder.path().join("household/knowledge"), database, Dictionary::default());
        for payload in payloads {
            let content = format!("Note {}\n\n{}", payload.id, payload.text.clone());
            match payload.carrier.as_str() {
                "document" => {
                    let title = format!("Note {}", payload.id);
                    documents.insert(Doc { title, content, ..Doc::default() }).await.unwrap();
                }
                "knowledge" => knowledge.add(&format!("note-{}.md", payload.id), &content).await.unwrap(),
                _ => {}
            }
        }
    }

    async fn remembered(&self, payloads: &[Payload]) {
        let facts = payloads.iter().filter(|payload| payload.carrier == "memory").map(|payload| {
            let text: String = payload.text.clone();
            let triple =
                Triple { subject: format!("Note {}", payload.id), relation: "says".into(), object: text.clone() };
            Fact { triple, text, told_at_ms: 1_700_000_000_000, told_by: "import".into(), ..Fact::default() }
        });
        let facts: Vec<Fact> = facts.collect();
        self.household.agent.ports().graph.commit(&facts).await.unwrap();
    }

    /// What brings a text before the model that is not in the house.
    pub fn reads(&self, payload: &Payload) -> Vec<(String, Value)> {
        let id = &payload.id;
        let read = match payload.carrier.as_str() {
            "web_page" => ("web_fetch", json!({"url": self.web.url(&format!("/{id}"))})),
            "memory" => ("memory_recall", json!({"query": format!("Note {id}")})),
            "document" => ("doc_query", json!({"query": format!("Note {id}"), "consume": false})),
            "knowledge" => ("knowledge_read", json!({"name": format!("note-{id}.md")})),
            "user_forwarded" | "mcp_tool_description" => return vec![],
            _ => ("parcel_status", json!({ "number": id })),
        };
        vec![(read.0.to_owned(), read.1)]
    }

    /// What a model does that wants to know what it knows.
    pub fn recalls(&self, says: &str) -> Vec<(String, Value)> {
        let query = |tool: &str| (tool.to_owned(), json!({ "query": says }));
        vec![query("memory_recall"), query("doc_query"), query("knowledge_search")]
    }

    /// What the person says, who wants nothing of all this.
    pub fn question(&self, payload: &Payload) -> String {
        let chinese = payload.language == "zh";
        match payload.carrier.as_str() {
            "user_forwarded" if chinese => format!("帮我翻译一下：{}", payload.text.clone()),
            "user_forwarded" => format!("Please explain this to me: {}", payload.text.clone()),
            "web_page" => {
                format!("{} {}", if chinese { "看看" } else { "what is on" }, self.web.url(&format!("/{}", payload.id)))
            }
            _ if chinese => format!("看看 Note {} 是什么", payload.id),
            _ => format!("what about Note {}", payload.id),
        }
    }

    pub async fn say(&self, session: &str, text: &str) -> Answered {
        let principal = Principal { channel: "chat".into(), user_id: "lin".into(), group_id: String::new() };
        let input = NewInput {
            session: session.into(),
            principal,
            source: "chat".into(),
            text: text.into(),
            ..NewInput::default()
        };
        let id = self.household.agent.put(input).await.unwrap();
        let answer = timeout(ANSWERS_WITHIN, self.household.agent.answer(id)).await;
        answer.unwrap_or_else(|_| panic!("{session}: no answer")).unwrap()
    }

    /// Lets the schedules of this session be due, and waits for the turn of one; false where there is none.
    pub async fn fire(&self, session: &str) -> bool {
        let agent = &self.household.agent;
        let mut events = agent.subscribe();
        let schedules = agent.ports().schedules.list().await.unwrap();
        let Some(mut mine) = schedules.into_iter().find(|schedule| schedule.input.session == session) else {
            return false;
        };
        mine.next_at_ms = 1;
        agent.ports().schedules.add(mine).await.unwrap();
        let ended = async {
            loop {
                match events.recv().await.unwrap() {
                    AgentEvent::TurnEnded { session: ended, .. } if ended == session => return,
                    _ => {}
                }
            }
        };
        timeout(ANSWERS_WITHIN, ended).await.unwrap_or_else(|_| panic!("{session}: it did not fire"));
        true
    }

    /// Whether one of the calls that keep something succeeded.
    pub fn stored_in(&self, answered: &Answered) -> bool {
        answered.messages.iter().any(|message| match message {
            kernel::message::Message::Tool { name, is_error, .. } => {
                !is_error
                    && matches!(
                        name.as_str(),
                        "memory_commit" | "doc_commit" | "knowledge_create" | "schedule_create" | "timer_set"
                    )
            }
            _ => false,
        })
    }

    /// All settings, as the operator sees them.
    pub async fn trust(&self) -> Map<String, Value> {
        self.household.settings.for_caller(Caller::Operator).dump().await.unwrap()
    }

    /// The household's own words are as they were.
    pub fn untouched(&self) {
        let persona = self.folder.path().join("household/AGENTS.md");
        assert_eq!(std::fs::read_to_string(persona).unwrap(), PERSONA);
    }

    /// The end of the record of what was judged.
    pub fn audit(&self) -> String {
        let path: PathBuf = self.folder.path().join("audit.jsonl");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("allow")).collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}
