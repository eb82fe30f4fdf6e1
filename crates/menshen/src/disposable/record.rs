//! What is remembered of one house, its token included: `house.json`, mode 0600.
//!
//! Invariant: the record is written last, so a house without one is half made.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use decide::gate::Language;
use home::{Endpoint, Settings, Tls, Token, Wire};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::folders::{Folders, write_private};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub name: String,
    /// The release that was asked for, or what was chosen.
    pub version: String,
    pub ha_version: String,
    pub port: u16,
    pub token: String,
    pub config: PathBuf,
    pub runtime: Runtime,
    pub seed: Value,
}

/// How the house is run, all that is needed to start it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Runtime {
    Engine { program: String, tag: String },
    Python { python: PathBuf, install: PathBuf },
    Debian { python: PathBuf, folder: PathBuf },
}

/// What the launcher said of itself.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    pub launcher: u32,
    pub child: u32,
    /// How it is kept from the network; nothing where the machine does not allow it.
    pub isolation: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<'a> {
    ok: bool,
    action: &'a str,
    name: &'a str,
    base_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a String>,
    ha_version: &'a str,
    version: &'a str,
    seeded: bool,
    seed: &'a Value,
    config_dir: &'a std::path::Path,
    port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launcher_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// How it is kept from the network; `null` where the machine does not allow it.
    isolation: Option<String>,
}

impl Record {
    pub fn read(folders: &Folders, name: &str) -> Result<Self> {
        let path = folders.house(name).join("house.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                bail!("there is no house `{name}`; `menshen home up --name {name}` makes one")
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        serde_json::from_str(&text)
            .with_context(|| format!("{} is broken; `menshen home down` removes it", path.display()))
    }

    pub fn write(&self, folders: &Folders) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        write_private(&folders.house(&self.name).join("house.json"), &text)
    }

    pub fn base_url(&self) -> String {
        base_url(self.port)
    }

    /// How it is connected to; it has an audit of its own.
    pub fn settings(&self) -> Settings {
        Settings {
            url: Some(self.base_url()),
            token: Some(Token::new(&self.token)),
            reading_token: None,
            tls: Tls::SystemRoots,
            audit_path: Some(self.config.with_file_name("audit.jsonl")),
            codes: Default::default(),
        }
    }

    pub async fn wire(&self) -> Result<Wire> {
        let endpoint = Endpoint::parse(&self.base_url(), Tls::SystemRoots)?;
        Ok(Wire::open(&endpoint, &Token::new(&self.token)).await?)
    }

    /// The seed's documented line, its fields in the documented order. Without the token where it
    /// is not asked for.
    pub fn answer<'a>(&'a self, action: &'a str) -> Answer<'a> {
        let mut answer = Answer {
            ok: true,
            action,
            name: &self.name,
            base_url: self.base_url(),
            token: (action == "up").then_some(&self.token),
            ha_version: &self.ha_version,
            version: &self.version,
            seeded: true,
            seed: &self.seed,
            config_dir: &self.config,
            port: self.port,
            pid: None,
            launcher_pid: None,
            container: None,
            isolation: None,
        };
        if let Runtime::Engine { program, .. } = &self.runtime {
            answer.container = Some(super::engine::container(&self.name));
            answer.isolation = Some(program.clone());
        } else if let Some(report) = Report::read(&self.config) {
            answer.pid = Some(report.child);
            answer.launcher_pid = Some(report.launcher);
            answer.isolation = report.isolation;
        }
        answer
    }

    pub fn summary(&self, language: Language) -> String {
        let Self { name, ha_version, .. } = self;
        let (at, password) = (self.base_url(), super::onboard::PASSWORD);
        let file = self.config.with_file_name("house.json");
        let file = file.display();
        match language {
            Language::English => format!(
                "house `{name}` runs Home Assistant {ha_version} at {at}\nowner: menshen, password: {password} (only for this house)\nits token stands in {file}"
            ),
            Language::Chinese => format!(
                "房屋 `{name}` 正在 {at} 运行 Home Assistant {ha_version}\n主人：menshen，密码：{password}（只用于这所房屋）\n令牌在 {file}"
            ),
        }
    }
}

impl Report {
    /// The report lies beside the house's configuration.
    pub fn read(config: &std::path::Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(config.with_file_name("launch.report.json")).ok()?).ok()
    }
}

pub fn base_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
