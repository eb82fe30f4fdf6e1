//! Names of tools as a provider takes them, and back. Start at [`Names`].
//!
//! Invariant: a name's form on the wire depends on nothing but the name, so that a conversation reads
//! the same from turn to turn; two names never get the same form.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use sdk::ToolDef;

/// What all providers take.
const WIRE_CHARS_MAX: usize = 64;

pub(crate) struct Names {
    tools: Arc<[ToolDef]>,
    by_wire: HashMap<String, usize>,
}

impl Names {
    pub fn new(tools: Arc<[ToolDef]>) -> Self {
        let by_wire =
            tools.iter().enumerate().map(|(index, tool)| (wire_name(&tool.name).into_owned(), index)).collect();
        Self { tools, by_wire }
    }

    /// The tool that a model means: by its form on the wire, its own name, or with a prefix that some
    /// models put before every name.
    pub fn tool(&self, named: &str) -> Option<&ToolDef> {
        let named = named.trim();
        let bare = named.strip_prefix("functions.").or_else(|| named.strip_prefix("tools."));
        [Some(named), bare].into_iter().flatten().find_map(|name| {
            let index = self.by_wire.get(name).or_else(|| self.by_wire.get(wire_name(name).as_ref()));
            index.and_then(|index| self.tools.get(*index))
        })
    }

    /// The tool's own name; a name that is none is left as the model wrote it.
    pub fn own_name(&self, named: &str) -> String {
        self.tool(named).map_or_else(|| named.trim().to_owned(), |tool| tool.name.clone())
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= WIRE_CHARS_MAX && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let plain: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(WIRE_CHARS_MAX - 9).collect();
    Cow::Owned(format!("{plain}_{:08x}", fnv(name)))
}

fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Ids of calls as every provider takes them; an id of another provider's form gets one of its own.
pub(crate) fn wire_id(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.is_empty() && id.len() <= WIRE_CHARS_MAX && id.chars().all(fits) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(format!("c{:08x}", fnv(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Names {
        Names::new(list.iter().map(|name| ToolDef { name: (*name).into(), ..ToolDef::default() }).collect())
    }

    #[test]
    fn a_name_outside_the_charset_is_mapped_and_mapped_back() {
        let long = "a".repeat(100);
        let list = ["home_call", "files.read", "files/read", "查询天气", &long];
        let names = names(&list);
        let mut seen = std::collections::HashSet::new();
        for name in list {
            let wire = wire_name(name).into_owned();
            assert!(
                wire.len() <= 64 && wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
                "{wire}"
            );
            assert_eq!(names.own_name(&wire), name);
            assert_eq!(names.own_name(name), name);
            assert!(seen.insert(wire));
        }
        assert_eq!(wire_name("home_call"), "home_call");
        assert_eq!(names.own_name("functions.home_call"), "home_call");
        assert_eq!(names.own_name("nothing"), "nothing");
        assert!(names.tool("nothing").is_none());
    }
}
