//! [`kernel::ports::SettingsStore`] and [`kernel::ports::TextMemory`].

use kernel::ports::{StoredSetting, TextQuery};
use sdk::TextEvent;
use serde_json::{Value, json};

use super::Ports;

fn setting(space: &str, key: &str, value: Value, secret: bool) -> StoredSetting {
    StoredSetting { space: space.into(), key: key.into(), value, secret }
}

pub async fn settings_keep_their_types_and_their_spaces(ports: &Ports) {
    let all = [
        setting("core", "language", json!("zh"), false),
        setting("core", "rounds_max", json!(12), false),
        setting("core", "temperature", json!(0.25), false),
        setting("core", "token", json!("sesame"), true),
        setting("weather", "language", json!("en"), false),
        setting("weather", "nothing", json!(null), false),
        setting("weather", "on", json!(true), false),
        setting("weather", "places", json!({"home": ["a", 1]}), true),
    ];
    for one in all.iter().rev() {
        ports.settings.put(one.clone()).await.unwrap();
    }
    assert_eq!(ports.settings.load().await.unwrap(), all);
}

pub async fn a_setting_is_replaced_and_removed(ports: &Ports) {
    ports.settings.put(setting("core", "a", json!(1), false)).await.unwrap();
    ports.settings.put(setting("core", "b", json!("old"), true)).await.unwrap();
    ports.settings.put(setting("core", "a", json!("two"), false)).await.unwrap();
    ports.settings.put(setting("core", "b", json!("new"), true)).await.unwrap();
    let expected = [setting("core", "a", json!("two"), false), setting("core", "b", json!("new"), true)];
    assert_eq!(ports.settings.load().await.unwrap(), expected);
    assert!(ports.settings.remove("core", "b").await.unwrap());
    assert!(!ports.settings.remove("core", "b").await.unwrap());
    assert!(!ports.settings.remove("weather", "a").await.unwrap());
    assert_eq!(ports.settings.load().await.unwrap().len(), 1);
}

pub async fn text_is_found_by_its_words_and_nothing_else_is(ports: &Ports) {
    for (content, timestamp) in [("晚安，把灯都关了", 100), ("where is the ladder", 200), ("早上好", 300)] {
        let event = TextEvent { role: "user".into(), content: content.into(), timestamp, channel: "web".into() };
        ports.text.append(event).await.unwrap();
    }
    let find = |text: &str| ports.text.search(TextQuery { text: text.into(), count_max: 5, ..TextQuery::default() });
    for (asked, expected) in [("晚安", "晚安，把灯都关了"), ("ladder", "where is the ladder")] {
        let hits = find(asked).await.unwrap();
        assert_eq!(hits.len(), 1, "{asked}");
        assert_eq!(hits[0].event.content, expected);
        assert!(hits[0].score > 0.0 && hits[0].score <= 1.0);
    }
    assert!(find("greenhouse").await.unwrap().is_empty());
}
