//! Secrets with their key, without it and with a wrong one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::database::Access;

struct Home {
    folder: TempDir,
    settings: SealedSettings,
}

fn home() -> Home {
    let folder = TempDir::new().unwrap();
    let database = Database::open(folder.path(), Access::Full).unwrap();
    let settings = SealedSettings::new(database, &folder.path().join("secret.key"));
    Home { folder, settings }
}

fn secret(key: &str, value: &str) -> StoredSetting {
    StoredSetting { space: "core".into(), key: key.into(), value: json!(value), secret: true }
}

#[tokio::test]
async fn a_secret_stands_in_no_file_and_its_key_is_its_owners_alone() {
    let home = home();
    assert!(!home.folder.path().join("secret.key").exists());
    home.settings.put(secret("token", "sesame-open-1234")).await.unwrap();
    assert_eq!(home.settings.load().await.unwrap(), [secret("token", "sesame-open-1234")]);
    for entry in fs::read_dir(home.folder.path()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(11).any(|part| part == b"sesame-open"));
    }
    let key = fs::metadata(home.folder.path().join("secret.key")).unwrap();
    assert_eq!((key.len(), key.permissions().mode() & 0o777), (32, 0o600));
}

#[tokio::test]
async fn a_missing_key_file_is_named_and_putting_it_back_opens_everything_again() {
    let home = home();
    home.settings.put(secret("token", "a")).await.unwrap();
    let (path, aside) = (home.folder.path().join("secret.key"), home.folder.path().join("aside"));
    fs::rename(&path, &aside).unwrap();
    let refused = home.settings.load().await.unwrap_err();
    assert!(refused.message.contains("secret.key") && refused.message.contains("put it back"), "{refused}");
    home.settings.put(secret("token", "b")).await.unwrap_err();
    home.settings.put(secret("other", "b")).await.unwrap_err();
    assert!(!path.exists(), "no second key is made while something is sealed with the first");
    fs::rename(&aside, &path).unwrap();
    assert_eq!(home.settings.load().await.unwrap(), [secret("token", "a")]);
}

#[tokio::test]
async fn a_wrong_or_cut_key_file_is_an_error_and_loses_nothing() {
    let home = home();
    home.settings.put(secret("token", "a")).await.unwrap();
    let path = home.folder.path().join("secret.key");
    let key = fs::read(&path).unwrap();
    for wrong in [vec![7; 32], key[..31].to_vec(), Vec::new()] {
        fs::write(&path, wrong).unwrap();
        let refused = home.settings.load().await.unwrap_err();
        assert!(refused.message.contains("not the key"), "{refused}");
        home.settings.put(secret("token", "b")).await.unwrap_err();
    }
    fs::write(&path, key).unwrap();
    assert_eq!(home.settings.load().await.unwrap(), [secret("token", "a")]);
}

#[tokio::test]
async fn when_the_key_is_lost_for_good_the_secrets_can_be_removed_and_set_anew() {
    let home = home();
    home.settings.put(secret("token", "a")).await.unwrap();
    fs::remove_file(home.folder.path().join("secret.key")).unwrap();
    assert!(home.settings.remove("core", "token").await.unwrap());
    home.settings.put(secret("token", "b")).await.unwrap();
    assert_eq!(home.settings.load().await.unwrap(), [secret("token", "b")]);
}

#[tokio::test]
async fn a_sealed_value_that_is_copied_to_another_name_stays_shut() {
    let home = home();
    home.settings.put(secret("token", "a")).await.unwrap();
    let copy = home.settings.database.write(|connection| {
        connection.execute(
            "INSERT INTO settings (space, key, sealed, key_id) SELECT 'cor', 'etoken', sealed, key_id FROM settings",
            [],
        )?;
        Ok(())
    });
    copy.await.unwrap();
    let refused = home.settings.load().await.unwrap_err();
    assert!(refused.message.contains("etoken"), "{refused}");
}

#[tokio::test]
async fn a_secret_that_becomes_an_open_setting_is_readable_without_the_key() {
    let home = home();
    home.settings.put(secret("token", "a")).await.unwrap();
    let open = StoredSetting { secret: false, ..secret("token", "c") };
    home.settings.put(open.clone()).await.unwrap();
    fs::remove_file(home.folder.path().join("secret.key")).unwrap();
    assert_eq!(home.settings.load().await.unwrap(), [open]);
}
