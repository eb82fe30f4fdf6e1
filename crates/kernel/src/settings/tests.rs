//! What holds for settings, whoever calls.

use std::sync::Arc;

use sdk::{ConfigDef, ConfigType, FailureKind};
use serde_json::json;

use super::*;
use crate::tools::fakes::FakeSettingsStore;

fn def(key: &str, kind: ConfigType) -> ConfigDef {
    ConfigDef { key: key.into(), kind, display_name: key.into(), ..ConfigDef::default() }
}

fn core() -> Vec<ConfigDef> {
    vec![
        ConfigDef {
            default: Some(json!("en")),
            options: vec!["en".into(), "zh".into()],
            ..def("language", ConfigType::String)
        },
        ConfigDef { min: Some(0.0), max: Some(2.0), step: Some(0.1), ..def("llm.temperature", ConfigType::Number) },
        ConfigDef { default: Some(json!(false)), ..def("chat.sound", ConfigType::Boolean) },
        ConfigDef { secret: true, ..def("llm.sources.*.api_key", ConfigType::String) },
        def("llm.sources.*.model", ConfigType::String),
        def("gate.mode", ConfigType::String),
    ]
}

struct Fixture {
    store: Arc<FakeSettingsStore>,
    settings: Settings,
}

async fn fixture(layers: Layers) -> Fixture {
    let store = Arc::new(FakeSettingsStore::default());
    let settings = Settings::open(store.clone(), layers, core()).await.unwrap();
    Fixture { store, settings }
}

fn layer(entries: &[(&str, Value)]) -> Layer {
    entries.iter().map(|(key, value)| ((CORE.to_owned(), (*key).to_owned()), value.clone())).collect()
}

fn plugin(settings: &Settings, name: &str, capabilities: &[&str]) -> Arc<dyn SettingsApi> {
    let capabilities = capabilities.iter().map(|what| (*what).to_owned()).collect();
    settings.for_caller(Caller::Plugin { name: name.into(), capabilities })
}

#[tokio::test]
async fn a_wrong_value_is_refused_and_changes_nothing() {
    let Fixture { store, settings } = fixture(Layers::default()).await;
    let operator = settings.for_caller(Caller::Operator);
    operator.set("llm.temperature", json!(0.7)).await.unwrap();
    for (key, value, word) in [
        ("llm.temperature", json!("0.7"), "number"),
        ("llm.temperature", json!(2.1), "at most 2"),
        ("llm.temperature", json!(-0.1), "at least 0"),
        ("llm.temperature", json!(0.75), "steps of 0.1"),
        ("language", json!("fr"), "en, zh"),
        ("language", json!(5), "string"),
        ("chat.sound", json!("true"), "boolean"),
        ("chat.sound", json!({"a": 1}), "boolean"),
        ("llm.sources.a.model", json!("x".repeat(SETTING_BYTES_MAX)), "bytes"),
        ("llm.sources..model", json!("x"), "key"),
        ("LLM.temperature", json!(1), "key"),
        ("llm.temperature\u{200B}", json!(1), "key"),
        ("nonsense", json!(1), "no setting"),
        ("llm.sources.a.b.model", json!("x"), "no setting"),
    ] {
        let failure = operator.set(key, value.clone()).await.unwrap_err();
        assert!(failure.message.contains(word), "{key} {value}: {failure}");
    }
    assert_eq!(settings.core("llm.temperature"), json!(0.7));
    assert_eq!(store.0.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_required_setting_is_not_emptied() {
    let Fixture { settings, .. } = fixture(Layers::default()).await;
    let own = plugin(&settings, "weather", &[]);
    own.register_def(ConfigDef { required: true, ..def("city", ConfigType::String) }).await.unwrap();
    own.set("city", json!("Bern")).await.unwrap();
    for value in [json!(""), json!("  "), Value::Null] {
        assert_eq!(own.set("city", value).await.unwrap_err().kind, FailureKind::Invalid);
    }
    assert_eq!(own.get("city").await.unwrap(), json!("Bern"));
}

#[tokio::test]
async fn types_survive_the_store() {
    let Fixture { store, settings } = fixture(Layers::default()).await;
    let own = plugin(&settings, "weather", &[]);
    for value in [json!(3), json!(2.5), json!(true), json!("3"), json!([1, {"a": null}])] {
        own.set("any", value.clone()).await.unwrap();
        let again = Settings::open(store.clone(), Layers::default(), core()).await.unwrap();
        assert_eq!(plugin(&again, "weather", &[]).get("any").await.unwrap(), value);
    }
    own.set("any", Value::Null).await.unwrap();
    assert_eq!(own.get("any").await.unwrap(), Value::Null);
    assert!(store.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_secret_is_set_and_used_and_never_shown() {
    let Fixture { store, settings } = fixture(Layers::default()).await;
    let operator = settings.for_caller(Caller::Operator);
    let key = "llm.sources.main.api_key";
    assert_eq!(operator.get(key).await.unwrap(), json!({"secret": true, "set": false}));
    operator.set(key, json!("sk-very-secret")).await.unwrap();
    assert_eq!(operator.get(key).await.unwrap(), json!({"secret": true, "set": true}));
    assert!(store.0.lock().unwrap().values().all(|(_, secret)| *secret));
    assert_eq!(settings.secret(CORE, key).as_deref(), Some("sk-very-secret"));
    let all = plugin(&settings, "spy", &["settings.core.write", "settings.*.write"]);
    for caller in [operator, all, settings.for_caller(Caller::Model), settings.for_caller(Caller::ApiToken)] {
        let dump = json!(caller.dump().await.unwrap()).to_string();
        let got = format!("{:?}", caller.get_core(key).await);
        let failed = format!("{:?}", caller.set_core(key, json!(["sk-very-secret"])).await.unwrap_err());
        for text in [dump, got, failed] {
            assert!(!text.contains("sk-very"), "{text}");
        }
    }
    // A plugin does not undo it by defining its own secret anew.
    let own = plugin(&settings, "weather", &[]);
    own.register_def(ConfigDef { secret: true, ..def("pin", ConfigType::String) }).await.unwrap();
    own.set("pin", json!("4711")).await.unwrap();
    own.register_def(def("pin", ConfigType::String)).await.unwrap();
    assert_eq!(own.get("pin").await.unwrap(), json!({"secret": true, "set": true}));
    settings.forget_plugin("weather");
    assert_eq!(own.get("pin").await.unwrap(), json!({"secret": true, "set": true}));
}

#[tokio::test]
async fn other_spaces_need_a_grant() {
    let Fixture { settings, .. } = fixture(Layers::default()).await;
    plugin(&settings, "qq", &[]).set("napcatUrl", json!("x")).await.unwrap();
    let poor = plugin(&settings, "weather", &[]);
    assert_eq!(poor.get_core("language").await.unwrap(), json!("en"));
    assert_eq!(poor.set_core("language", json!("zh")).await.unwrap_err().kind, FailureKind::Forbidden);
    assert_eq!(poor.get_plugin("qq", "napcatUrl").await.unwrap_err().kind, FailureKind::Forbidden);
    assert_eq!(poor.list_plugin("qq", "").await.unwrap_err().kind, FailureKind::Forbidden);
    assert_eq!(poor.set_plugin("qq", "napcatUrl", json!("y")).await.unwrap_err().kind, FailureKind::Forbidden);
    let dump = poor.dump().await.unwrap();
    assert!(dump.contains_key(CORE) && !dump.contains_key("qq"));
    let reader = plugin(&settings, "weather", &["settings.qq.read"]);
    assert_eq!(reader.get_plugin("qq", "napcatUrl").await.unwrap(), json!("x"));
    assert_eq!(reader.list_plugin("qq", "nap").await.unwrap(), ["napcatUrl"]);
    assert!(reader.set_plugin("qq", "napcatUrl", json!("y")).await.is_err());
    let writer = plugin(&settings, "weather", &["settings.*.write"]);
    writer.set_plugin("qq", "napcatUrl", json!("y")).await.unwrap();
    assert_eq!(writer.get_plugin("qq", "napcatUrl").await.unwrap(), json!("y"));
    // The core is no plugin, and a grant for all plugins is none for the core.
    assert!(writer.set_plugin(CORE, "language", json!("zh")).await.is_err());
    assert!(writer.set_core("language", json!("zh")).await.is_err());
    plugin(&settings, "weather", &["settings.core.write"]).set_core("language", json!("zh")).await.unwrap();
    assert_eq!(settings.core("language"), json!("zh"));
    assert_eq!(poor.plugins().await.unwrap(), ["qq"]);
}

#[tokio::test]
async fn keys_of_trust_are_the_operators_alone() {
    let Fixture { store, settings } = fixture(Layers::default()).await;
    let mighty = plugin(&settings, "mighty", &["settings.core.write", "settings.*.write"]);
    let callers = [mighty, settings.for_caller(Caller::Model), settings.for_caller(Caller::ApiToken)];
    for caller in callers {
        for key in
            ["gate.mode", "gate", "llm.sources.main.api_key", "llm.sources.new.base_url", "plugins.mighty.grants"]
        {
            let failure = caller.set_core(key, json!("off")).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Forbidden, "{key}");
        }
    }
    assert!(store.0.lock().unwrap().is_empty());
    settings.for_caller(Caller::Operator).set_core("gate.mode", json!("strict")).await.unwrap();
    assert!(settings.describe(CORE, "gate.mode").trust);
}

#[tokio::test]
async fn a_value_says_where_it_comes_from_and_the_stronger_place_wins() {
    let layers = Layers {
        flags: layer(&[("chat.sound", json!("yes"))]),
        environment: layer(&[("chat.sound", json!("false")), ("llm.temperature", json!("0.5"))]),
        file: layer(&[("llm.temperature", json!(0.9)), ("language", json!("zh"))]),
    };
    let Fixture { settings, .. } = fixture(layers).await;
    let origin = |key: &str| (settings.core(key), settings.describe(CORE, key).origin);
    assert_eq!(origin("chat.sound"), (json!(true), Origin::Flag));
    assert_eq!(origin("llm.temperature"), (json!(0.5), Origin::Environment));
    assert_eq!(origin("language"), (json!("zh"), Origin::File));
    assert_eq!(origin("gate.mode"), (Value::Null, Origin::Nothing));
    let operator = settings.for_caller(Caller::Operator);
    operator.set("llm.sources.a.model", json!("small")).await.unwrap();
    assert_eq!(origin("llm.sources.a.model"), (json!("small"), Origin::Store));
    // What would have no effect is not stored in silence.
    let refused = operator.set("language", json!("en")).await.unwrap_err();
    assert!(refused.message.contains("menshen.toml"), "{refused}");
    settings.set_file(Layer::new());
    assert_eq!(origin("language"), (json!("en"), Origin::Default));
    operator.set("language", json!("zh")).await.unwrap();
    assert_eq!(origin("language"), (json!("zh"), Origin::Store));
}

#[tokio::test]
async fn what_flags_environment_and_file_say_wrongly_is_told_and_does_not_hold() {
    let layers = Layers {
        environment: layer(&[("llm.temperature", json!("warm"))]),
        file: layer(&[("language", json!("fr")), ("langauge", json!("zh"))]),
        ..Layers::default()
    };
    let Fixture { settings, .. } = fixture(layers).await;
    let problems = settings.problems();
    assert_eq!(problems.len(), 3, "{problems:?}");
    for word in ["llm.temperature", "environment", "language", "langauge"] {
        assert!(problems.iter().any(|problem| problem.contains(word)), "{word}: {problems:?}");
    }
    assert_eq!(settings.core("language"), json!("en"));
}

#[tokio::test]
async fn changes_are_told_once_and_without_the_value() {
    let Fixture { settings, .. } = fixture(Layers::default()).await;
    let mut changes = settings.changes();
    let operator = settings.for_caller(Caller::Operator);
    operator.set("language", json!("zh")).await.unwrap();
    operator.set("language", json!("zh")).await.unwrap();
    operator.set("llm.sources.a.api_key", json!("one")).await.unwrap();
    settings.set_file(layer(&[("language", json!("zh")), ("chat.sound", json!(true))]));
    let told: Vec<String> = std::iter::from_fn(|| changes.try_recv().ok()).map(|change| change.key).collect();
    assert_eq!(told, ["language", "llm.sources.a.api_key", "chat.sound"]);
}

#[tokio::test]
async fn a_listener_that_is_far_behind_is_told_so() {
    let Fixture { settings, .. } = fixture(Layers::default()).await;
    let mut changes = settings.changes();
    let own = plugin(&settings, "busy", &[]);
    for number in 0..CHANGES_WAITING_MAX + 9 {
        own.set("count", json!(number)).await.unwrap();
    }
    assert!(matches!(changes.try_recv(), Err(broadcast::error::TryRecvError::Lagged(9))));
    assert_eq!(own.get("count").await.unwrap(), json!(CHANGES_WAITING_MAX + 8));
}

#[tokio::test]
async fn a_definition_that_contradicts_itself_is_refused() {
    let Fixture { settings, .. } = fixture(Layers::default()).await;
    let own = plugin(&settings, "weather", &[]);
    let number = || def("n", ConfigType::Number);
    for wrong in [
        ConfigDef { min: Some(2.0), max: Some(1.0), ..number() },
        ConfigDef { step: Some(0.0), ..number() },
        ConfigDef { default: Some(json!("x")), ..number() },
        ConfigDef { default: Some(json!(5)), max: Some(4.0), ..number() },
        ConfigDef { min: Some(1.0), ..def("s", ConfigType::String) },
        ConfigDef { secret: true, default: Some(json!("known")), ..def("s", ConfigType::String) },
        def("", ConfigType::String),
        def("a b", ConfigType::String),
        def("any.*", ConfigType::String),
    ] {
        assert_eq!(own.register_def(wrong.clone()).await.unwrap_err().kind, FailureKind::Invalid, "{wrong:?}");
    }
    assert!(own.defs("").await.unwrap().is_empty());
    own.register_def(ConfigDef { default: Some(json!(3)), ..number() }).await.unwrap();
    assert_eq!(own.get("n").await.unwrap(), json!(3));
    assert_eq!(own.defs("n").await.unwrap().len(), 1);
    assert_eq!(
        settings.for_caller(Caller::Model).register_def(number()).await.unwrap_err().kind,
        FailureKind::Forbidden
    );
    settings.forget_plugin("weather");
    assert!(own.defs("").await.unwrap().is_empty());
    assert_eq!(own.get("n").await.unwrap(), Value::Null);
}

#[tokio::test]
async fn a_store_that_fails_changes_nothing() {
    let Fixture { store, settings } = fixture(Layers::default()).await;
    store.1.store(true, std::sync::atomic::Ordering::Relaxed);
    let failure = settings.for_caller(Caller::Operator).set("language", json!("zh")).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Failed);
    assert_eq!(settings.core("language"), json!("en"));
}

#[tokio::test]
async fn one_plugin_does_not_fill_the_store() {
    let Fixture { settings, .. } = fixture(Layers::default()).await;
    let own = plugin(&settings, "greedy", &[]);
    for number in 0..SETTINGS_OF_PLUGIN_MAX {
        own.set(&format!("k{number}"), json!(1)).await.unwrap();
    }
    assert_eq!(own.set("more", json!(1)).await.unwrap_err().kind, FailureKind::Full);
    own.set("k1", json!(2)).await.unwrap();
    plugin(&settings, "other", &[]).set("k", json!(1)).await.unwrap();
}
