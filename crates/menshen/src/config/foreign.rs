//! MCP servers of others, `[mcp.servers.NAME]`, and what a person decided about their tools. Start at
//! [`Foreign`]. Invariant: a tool that is not named here asks,
//! and so does one that has become another than was allowed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use home::Token;
use mcp::client::{Class, Classes, ForeignServer, Reach};
use serde::Deserialize;

use super::seen::Seen;

#[derive(Clone, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Foreign {
    servers: BTreeMap<String, Server>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    /// Either a program …
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    folder: Option<PathBuf>,
    /// … or an address.
    url: Option<String>,
    token: Option<String>,
    /// `allow`, `ask` or `refuse`, by the server's own name of the tool.
    #[serde(default)]
    tools: BTreeMap<String, String>,
}

impl Foreign {
    /// Those that name a program or an address.
    pub fn servers(&self) -> Vec<ForeignServer> {
        let server = |(name, server): (&String, &Server)| {
            let reach = match (&server.command, &server.url) {
                (Some(program), _) => Reach::Program {
                    program: program.clone(),
                    arguments: server.args.clone(),
                    environment: server.env.clone(),
                    folder: server.folder.clone(),
                },
                (None, Some(url)) => {
                    Reach::Address { url: url.clone(), token: server.token.as_deref().map(Token::new) }
                }
                (None, None) => return None,
            };
            Some(ForeignServer { name: name.clone(), reach })
        };
        self.servers.iter().filter_map(server).collect()
    }

    /// `folder`: where it is kept what the allowed ones said of themselves.
    pub fn classes(&self, folder: &Path) -> Classes {
        let (servers, seen) = (self.servers.clone(), Seen::new(folder));
        Arc::new(move |asked| {
            let class = servers.get(asked.server).and_then(|server| server.tools.get(asked.tool));
            match class.map_or(Class::Ask, |class| Class::parse(class)) {
                Class::Allow => seen.class(asked),
                class => class,
            }
        })
    }
}
