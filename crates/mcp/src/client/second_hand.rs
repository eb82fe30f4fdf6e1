//! A second hand on the house: servers and tools that reach a house by another way than ours. Start at
//! [`server`] and [`tool`]. Invariant: no class that a person gave makes such a tool run; of what is not
//! clear, more is refused rather than less.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ForeignServer, Reach};

/// Addresses of the house as they are configured and as they resolve: `http://homeassistant.local:8123`.
#[derive(Clone)]
pub struct HouseMarks {
    pub addresses: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
}

/// Where a Home Assistant is found unless somebody moved it.
const USUAL: &[&str] = &["homeassistant.local", "homeassistant:8123", "hassio", "supervisor/core", ":8123"];
/// Words, joined, that name what reaches a house.
const PRODUCTS: &[&str] =
    &["homeassistant", "hassmcp", "mcphass", "hamcp", "mcpha", "menshen", "nabucasa", "mcpproxyhome"];
/// The same in one word.
const WORDS: &[&str] = &["hass", "hassio", "homeassistant", "menshen"];
/// What acts on a house by name, as words one after the other.
const ACTS: &[&[&str]] = &[
    &["call", "service"],
    &["call", "action"],
    &["execute", "service"],
    &["run", "service"],
    &["perform", "action"],
    &["entity", "action"],
    &["get", "live", "context"],
    &["fire", "event"],
    &["control", "device"],
    &["control", "entity"],
    &["control", "light"],
    &["control", "lock"],
    &["control", "cover"],
    &["trigger", "automation"],
    &["run", "automation"],
    &["activate", "scene"],
    &["unlock"],
    &["disarm"],
    &["open", "cover"],
    &["open", "garage"],
    &["open", "door"],
    &["entity", "state"],
    &["list", "entities"],
    &["search", "entities"],
    &["get", "entities"],
];

impl HouseMarks {
    /// Whether a text holds an address of the house, or the usual one of any.
    pub(super) fn named_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let text = text.replace("%3a", ":").replace("%2e", ".").replace("%2f", "/");
        let own = (self.addresses)().into_iter().filter_map(|address| host(&address));
        USUAL.iter().any(|usual| text.contains(usual)) || own.into_iter().any(|host| holds(&text, &host))
    }

    /// Whether any text among the arguments of a call does.
    pub(super) fn named_in_arguments(&self, arguments: &Map<String, Value>) -> bool {
        arguments.iter().any(|(key, value)| self.named_in(key) || self.named_in_value(value))
    }

    fn named_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.named_in(text),
            Value::Array(values) => values.iter().any(|value| self.named_in_value(value)),
            Value::Object(fields) => self.named_in_arguments(fields),
            _ => false,
        }
    }
}

/// Host of an address, lower case; a host that is on every machine only counts with its port.
fn host(address: &str) -> Option<String> {
    let address = address.trim().to_lowercase();
    let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next()?;
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let name = match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, _)) => inner,
        None => rest.split(':').next()?,
    };
    match name {
        "" => None,
        "localhost" | "127.0.0.1" | "::1" => Some(rest.to_owned()).filter(|rest| rest.contains(':')),
        name => Some(name.to_owned()),
    }
}

/// Whether a host stands in a text, not inside a longer name.
fn holds(text: &str, host: &str) -> bool {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    text.match_indices(host).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + host.len()..).and_then(|after| after.chars().next());
        let inside = |c: Option<char>| c.is_some_and(part_of_name);
        // At the end of a sentence a full stop follows.
        let ends =
            after == Some('.') && !text.get(at + host.len() + 1..).is_some_and(|rest| rest.starts_with(part_of_name));
        !inside(before) && (!inside(after) || ends)
    })
}

/// Words of a name in any of the usual spellings, lower case: `HassTurnOn`, `call-service`, `call_service`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in name.chars() {
        let starts = !before.is_alphanumeric() || (character.is_uppercase() && before.is_lowercase());
        if character.is_alphanumeric() {
            if starts || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
        }
        before = character;
    }
    words
}

/// Whether a name or a text speaks of a product that holds a house.
fn of_a_house(text: &str) -> bool {
    let words = words(text);
    let joined: String = words.concat();
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| PRODUCTS.contains(&pair.concat().as_str()))
        || PRODUCTS.contains(&joined.as_str())
        || words.iter().any(|word| PRODUCTS.contains(&word.as_str()))
        || text.contains("家庭助理")
        || text.contains("门神")
}

/// Why a server is not to be started at all, as it is configured.
pub(super) fn configured(server: &ForeignServer, house: &HouseMarks) -> Option<String> {
    let speaks = |text: &str| of_a_house(text) || house.named_in(text);
    let found = match &server.reach {
        Reach::Address { url, .. } => speaks(url).then_some("its address"),
        Reach::Program { program, arguments, environment, .. } => {
            let variable = |(name, value): (&String, &String)| speaks(name) || house.named_in(value);
            if speaks(program) || arguments.iter().any(|argument| speaks(argument)) {
                Some("its command")
            } else {
                environment.iter().any(variable).then_some("its environment")
            }
        }
        #[cfg(test)]
        Reach::Streams(_) => None,
    };
    found.or_else(|| of_a_house(&server.name).then_some("its name")).map(told)
}

/// Why a server is not to be used, as it says of itself.
pub(super) fn introduced(name: &str, title: &str, instructions: &str, house: &HouseMarks) -> Option<String> {
    if of_a_house(name) || of_a_house(title) {
        return Some(told("the name that it gives itself"));
    }
    let speaks = of_a_house(instructions) || house.named_in(instructions);
    speaks.then(|| told("what it says of itself"))
}

/// Why the whole server is not to be used, by the name of one of its tools.
pub(super) fn tool_name(name: &str) -> Option<String> {
    let words = words(name);
    let acts =
        |act: &&&[&str]| words.windows(act.len()).any(|some| some.iter().map(String::as_str).eq(act.iter().copied()));
    // `HASSLightSet` is one word.
    let begins = |word: &String| word == "ha" || word.starts_with("hass") || word.starts_with("homeassistant");
    if of_a_house(name) || words.iter().any(begins) || ACTS.iter().any(|act| acts(&act)) {
        return Some(told(&format!("its tool {}", decide::text::clean(name, 60))));
    }
    None
}

/// Why this tool is left out, by what it says of itself.
pub(super) fn tool_words(description: &str, parameters: &Value, house: &HouseMarks) -> Option<String> {
    if of_a_house(description) || house.named_in(description) {
        return Some("its description speaks of a house: use the tools of the house itself".to_owned());
    }
    let schema = parameters.to_string();
    let fields = ["\"entity_id\"", "\"entity_ids\"", "\"entityId\"", "\"area_id\""];
    if fields.iter().any(|field| schema.contains(field)) || of_a_house(&schema) || house.named_in(&schema) {
        return Some("its arguments are those of a house: use the tools of the house itself".to_owned());
    }
    None
}

fn told(what: &str) -> String {
    format!("{what} shows that it reaches a house, beside the gate: its tools are not used; the house has its own")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn marks() -> HouseMarks {
        HouseMarks {
            addresses: Arc::new(|| {
                vec![
                    "https://home.example:8443/x".to_owned(),
                    "192.168.7.9".to_owned(),
                    "http://localhost:9123".to_owned(),
                ]
            }),
        }
    }

    #[test]
    fn tools_that_act_on_a_house_are_known_in_any_spelling() {
        for name in [
            "HassTurnOn",
            "hass_turn_off",
            "HASSLightSet",
            "call_service",
            "callService",
            "ha-call-service",
            "call_action",
            "CallAction",
            "GetLiveContext",
            "homeassistant_restart",
            "home_assistant_get",
            "entity_action",
            "execute_service",
            "list_entities",
            "control_device",
            "trigger_automation",
            "ha_get_states",
            "unlock",
            "menshen_run",
            "openGarage",
        ] {
            assert!(tool_name(name).is_some(), "{name}");
        }
        for name in [
            "read_file",
            "search",
            "hash_text",
            "call_api",
            "services_status",
            "echo",
            "share",
            "get_weather",
            "harvest",
            "open_file",
            "get_action_items",
            "add_event",
        ] {
            assert_eq!(tool_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_house_is_known_by_its_address_wherever_it_stands() {
        let marks = marks();
        for text in [
            "fetch https://home.example:8443/api/",
            "HOME.EXAMPLE.",
            "http://192.168.7.9/api",
            "ws://homeassistant.local:8123",
            "http://localhost:9123/api",
            "http://10.0.0.7:8123/",
            "http%3A%2F%2Fhome%2Eexample%3A8443",
            "http://supervisor/core/api",
        ] {
            assert!(marks.named_in(text), "{text}");
        }
        for text in [
            "https://nothome.example/",
            "home.example2",
            "https://home.example.org/",
            "http://192.168.7.91/",
            "localhost:80",
            "nothing",
        ] {
            assert!(!marks.named_in(text), "{text}");
        }
        assert!(marks.named_in_arguments(json!({"a": [{"b": "see home.example"}]}).as_object().unwrap()));
        assert!(!marks.named_in_arguments(json!({"a": [{"b": 8123}]}).as_object().unwrap()));
    }

    #[test]
    fn servers_that_hold_a_house_are_known_before_they_run() {
        let program = |program: &str, arguments: &[&str], environment: &[(&str, &str)]| ForeignServer {
            name: "x".to_owned(),
            reach: Reach::Program {
                program: program.to_owned(),
                arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
                environment: environment
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect::<BTreeMap<_, _>>(),
                folder: None,
            },
        };
        let address = |url: &str| ForeignServer {
            name: "x".to_owned(),
            reach: Reach::Address { url: url.to_owned(), token: None },
        };
        let shown = |server: &ForeignServer| match &server.reach {
            Reach::Program { program, arguments, environment, .. } => {
                format!("{program} {arguments:?} {environment:?}")
            }
            Reach::Address { url, .. } => url.clone(),
            Reach::Streams(_) => String::new(),
        };
        for server in [
            program("/usr/bin/menshen", &["mcp"], &[]),
            program("npx", &["-y", "hass-mcp"], &[]),
            program("uvx", &["ha-mcp"], &[]),
            program("docker", &["run", "ghcr.io/homeassistant-ai/ha-mcp"], &[]),
            program("npx", &["server"], &[("HASS_TOKEN", "x")]),
            program("npx", &["server"], &[("TARGET", "https://home.example:8443")]),
            program("npx", &["mcp-proxy", "http://192.168.7.9:8123/api/mcp"], &[]),
            address("http://homeassistant.local:8123/mcp_server/sse"),
            address("https://home.example/mcp"),
            ForeignServer { name: "home-assistant".to_owned(), ..program("npx", &["server"], &[]) },
        ] {
            assert!(configured(&server, &marks()).is_some(), "{}", shown(&server));
        }
        for server in [
            program("npx", &["-y", "@modelcontextprotocol/server-everything"], &[]),
            program("uvx", &["mcp-server-fetch"], &[("API_KEY", "x")]),
            address("https://mcp.example.org/mcp"),
        ] {
            assert_eq!(configured(&server, &marks()), None, "{}", shown(&server));
        }
        assert!(introduced("menshen", "", "", &marks()).is_some());
        assert!(introduced("x", "", "Controls Home Assistant entities.", &marks()).is_some());
        assert_eq!(introduced("everything", "Everything", "Testing tools of MCP.", &marks()), None);
    }

    #[test]
    fn a_tool_is_known_by_its_words_and_arguments() {
        let none = json!({"type": "object", "properties": {}});
        assert!(tool_words("Turn things on in Home Assistant", &none, &marks()).is_some());
        assert!(tool_words("Does it", &json!({"properties": {"entity_id": {"type": "string"}}}), &marks()).is_some());
        assert!(tool_words("Ask https://home.example:8443", &none, &marks()).is_some());
        assert_eq!(tool_words("Echoes back the input", &none, &marks()), None);
    }
}
