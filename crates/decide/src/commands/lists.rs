//! "Add milk to the shopping list": the one wish with words of the person's own in it. Start at
//! [`read`]. Invariant: the item is what stands between fixed words, and the list is one of the
//! house's own names or its only one.

use serde_json::json;

use super::names::Names;
use crate::house::{EntityId, House};
use crate::text::clean;
use crate::understood::Understood;
use crate::understood::effects::{call, object};

const ITEM_CHARS_MAX: usize = 80;
/// Words that make an item more than one or no item at all.
const NEVER: [&str; 8] = ["不要", "别", "don't", "dont", "do not", "not ", "never", "取消"];

pub(super) fn read(
    text: &str,
    house: &House,
    names: &Names,
    in_scope: &dyn Fn(&EntityId) -> bool,
) -> Option<Understood> {
    let plain = clean(text, 200);
    let plain = plain.trim_end_matches(['.', '!', '。', '！', ' ']);
    let lower = plain.to_lowercase();
    if lower.len() != plain.len()
        || plain.contains(['?', '？', ',', '，', ';', '；'])
        || NEVER.iter().any(|no| lower.contains(no))
    {
        return None;
    }
    let (item, list) = english(plain, &lower).or_else(|| chinese(plain))?;
    let item = clean(item.trim(), ITEM_CHARS_MAX);
    if item.is_empty() || item.ends_with('…') {
        return None;
    }
    match lists_called(list.trim(), house, names, in_scope).as_slice() {
        [] => None,
        [id] => Some(Understood::Calls(vec![call(
            "todo",
            "add_item",
            object(json!({"item": item})),
            std::slice::from_ref(id),
        )])),
        several => Some(Understood::Which { entities: several.to_vec() }),
    }
}

fn english<'a>(plain: &'a str, lower: &'a str) -> Option<(&'a str, &'a str)> {
    let rest = ["please add ", "can you add ", "could you add ", "add ", "put "]
        .iter()
        .find_map(|verb| lower.strip_prefix(verb))?;
    let start = lower.len() - rest.len();
    let (at, length) = [" to ", " on "].iter().filter_map(|word| Some((rest.rfind(word)?, word.len()))).max()?;
    let item = plain.get(start..start + at)?;
    let list = rest.get(at + length..)?;
    let list = list.strip_suffix(" please").unwrap_or(list);
    let list = ["the ", "my ", "our "].iter().find_map(|word| list.strip_prefix(word)).unwrap_or(list);
    Some((item, list))
}

fn chinese(plain: &str) -> Option<(&str, &str)> {
    let plain = ["请帮我", "麻烦", "帮我", "请"].iter().find_map(|word| plain.strip_prefix(word)).unwrap_or(plain);
    if let Some(rest) = plain.strip_prefix('把').or_else(|| plain.strip_prefix('将')) {
        let words = ["添加到", "加入到", "加到", "放到", "写到", "加进", "加入", "放进", "记到"];
        let (item, list) = words.iter().find_map(|word| rest.split_once(word))?;
        let list = ["里面", "里", "中", "上"].iter().find_map(|end| list.strip_suffix(end)).unwrap_or(list);
        return Some((item, list));
    }
    let added = ["添加", "加入", "加"].iter().find_map(|word| plain.strip_prefix(word)?.rsplit_once('到'));
    if let Some((item, list)) = added {
        return Some((item, ["里面", "里", "中", "上"].iter().find_map(|end| list.strip_suffix(end)).unwrap_or(list)));
    }
    let plain = ["往", "在", "给"].iter().find_map(|word| plain.strip_prefix(word)).unwrap_or(plain);
    let words = [
        "里面添加",
        "里添加",
        "上添加",
        "中添加",
        "里加上",
        "里加入",
        "里加",
        "上加",
        "中加",
        "添加",
        "加上",
        "加入",
        "加",
    ];
    let (list, item) = words.iter().find_map(|word| plain.split_once(word))?;
    let item = ["一个", "一下", "个"].iter().find_map(|word| item.strip_prefix(word)).unwrap_or(item);
    Some((item, list))
}

/// The lists of this name, or the only one there is where just "the list" was said.
fn lists_called(said: &str, house: &House, names: &Names, in_scope: &dyn Fn(&EntityId) -> bool) -> Vec<EntityId> {
    if let Some(named) = names.exactly(said) {
        return named.entities.iter().filter(|id| id.domain() == "todo").cloned().collect();
    }
    let all = || house.domain("todo").filter(|(id, entity)| entity.state.is_some() && in_scope(id));
    match said {
        "list" | "todo list" | "to-do list" | "清单" | "列表" | "待办" | "待办清单" | "shopping list" | "购物清单" => {
            all().map(|(id, _)| id.clone()).collect()
        }
        _ => Vec::new(),
    }
}
