//! Words and media that leave the house's own devices: notifications, speech, addresses to play. Start
//! at [`notify`]. Invariant: a key or an address that is not understood asks.

use serde_json::{Map, Value};

use super::{Action, Walk, is_template};
use crate::gate::resolve::{self, Reading, in_scope};
use crate::gate::table::{End, Kind};
use crate::gate::{ReasonCode, Risk, Verdict, triggers};

pub(super) fn notify(walk: &mut Walk<'_>, action: &Action<'_>) {
    if walk.own_words(action) {
        return notifies(walk, action);
    }
    if let Some(key) = action.data.keys().find(|key| !matches!(key.as_str(), "message" | "title")) {
        walk.asks(ReasonCode::NotifyExtra, action, None, Some(key.clone()));
    }
    if action.data.get("message").is_some_and(|message| message.as_str().is_some_and(commands)) {
        walk.asks(ReasonCode::NotifyExtra, action, None, Some("command".to_owned()));
    }
    let words = ["message", "title"].iter().filter_map(|key| action.data.get(*key)?.as_str());
    if words.into_iter().any(loads) || (action.templated && walk.foreign_words) {
        walk.asks(ReasonCode::NotifyExtra, action, None, Some("address".to_owned()));
    }
    notifies(walk, action);
}

/// A household's macro takes back a notification of its own.
pub(super) fn own(walk: &Walk<'_>, action: &Action<'_>) -> bool {
    (action.domain, action.service) == ("persistent_notification", "dismiss") && walk.own_words(action)
}

/// Some automations wait for a notification on the house's own screens.
fn notifies(walk: &mut Walk<'_>, action: &Action<'_>) {
    if [action.domain, action.service].contains(&triggers::NOTIFICATION) {
        walk.raises(action, triggers::NOTIFICATION, None);
    }
}

/// Messages that a telephone does rather than shows.
fn commands(message: &str) -> bool {
    let message = message.trim().to_lowercase();
    message.starts_with("command_")
        || ["clear_notification", "remove_channel", "delete_alert"].iter().any(|word| message.starts_with(word))
}

/// Whether some value that a caller gives a macro would be more than words in a message.
pub(super) fn more_than_words(value: &Value) -> bool {
    match value {
        Value::String(text) => loads(text) || commands(text),
        Value::Array(items) => items.iter().any(more_than_words),
        Value::Object(map) => map.values().any(more_than_words),
        _ => false,
    }
}

/// Words that a screen or a messenger fetches something for by showing them: a picture, a tag, an address
/// of which it makes a preview. What stands in the address goes to whoever it leads to.
fn loads(text: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "-._~/?#%&=+@:".contains(c);
    text.contains("://")
        || crate::text::without_pictures(text) != text
        || text.split(|c: char| !part(c)).any(|word| address(word.trim_start_matches(['/', '.', ':'])))
}

/// `evil.example/x` and `evil.example?x`: a host of several labels, the last of letters, and more after it.
fn address(word: &str) -> bool {
    let Some((authority, more)) = word.split_once(['/', '?']) else { return false };
    let host = authority.split(':').next().unwrap_or_default();
    let Some((front, last)) = host.rsplit_once('.') else { return false };
    let name = last.chars().count() > 1 && last.chars().all(char::is_alphabetic);
    name && !front.is_empty() && more.chars().any(char::is_alphanumeric)
}

pub(super) fn speech(walk: &mut Walk<'_>, action: &Action<'_>) {
    if walk.facts.policy.speech_asks {
        walk.asks(ReasonCode::Speech, action, None, None);
    }
    for key in ["media_id", "preannounce_media_id"] {
        if let Some(value) = action.data.get(key) {
            media(walk, action, value);
        }
    }
    if let Some(value) = action.data.get("media_player_entity_id") {
        members(walk, action, value, "media_player");
    }
}

pub(super) fn media(walk: &mut Walk<'_>, action: &Action<'_>, value: &Value) {
    match value {
        Value::String(text) if is_template(text) => {
            walk.asks(ReasonCode::Media, action, None, Some("template".to_owned()))
        }
        Value::String(text) => {
            if walk.facts.policy.speech_asks && text.trim().to_lowercase().starts_with("media-source://tts") {
                walk.asks(ReasonCode::Speech, action, None, None);
            }
            let (listed, own) = (&walk.facts.policy.media.hosts, &walk.house().hosts);
            let verdict = crate::gate::media::judge_media(text, listed, own);
            if verdict != Verdict::Allow {
                walk.note(verdict, Some(Risk::Security), ReasonCode::Media, &action.name(), None, None);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| media(walk, action, item)),
        Value::Object(map) => map.iter().for_each(|(key, item)| match key.as_str() {
            "media_content_id" => media(walk, action, item),
            "media_content_type" => medium(walk, action, Some(item)),
            // What the picker of the house shows; nothing is played from it.
            "metadata" => {}
            _ => walk.asks(ReasonCode::Media, action, None, Some(crate::text::clean(key, 40))),
        }),
        _ => {}
    }
}

/// What a player is told to take the address for. Of some players it is no medium but another mind: their
/// words are then a spoken command, or a routine that nobody here can read.
pub(super) fn medium(walk: &mut Walk<'_>, action: &Action<'_>, kind: Option<&Value>) {
    let Some(kind) = kind else { return };
    let verdict = kind.as_str().map_or(Verdict::Ask, crate::gate::media::judge_medium);
    if verdict != Verdict::Allow {
        walk.note(verdict, Some(Risk::Security), ReasonCode::Opaque, &action.name(), None, None);
    }
}

/// Entities that hide in a data key: each must be of the domain that belongs there.
pub(super) fn members(walk: &mut Walk<'_>, action: &Action<'_>, value: &Value, domain: &str) {
    let map = Map::from_iter([("entity_id".to_owned(), value.clone())]);
    match resolve::targets(walk.house(), [Some(&map), None], Reading::Call) {
        Ok(found) if !found.templated && found.unknown.is_empty() && !found.all => {
            for id in found.direct {
                if id.domain() == domain && in_scope(walk.facts, &id) {
                    walk.entity(Kind::Comfort(End::Any), action, &id);
                } else {
                    walk.note(
                        Verdict::Refuse,
                        Some(Risk::Security),
                        ReasonCode::WrongMember,
                        &action.name(),
                        Some(&id),
                        None,
                    );
                }
            }
        }
        _ => walk.note(Verdict::Refuse, Some(Risk::Security), ReasonCode::WrongMember, &action.name(), None, None),
    }
}
