//! Backups made while everything runs, and put back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{self, fill, open, texts};
use store::{Access, BackupOptions, KeyInBackup, Options, Store, StoreError};
use tempfile::TempDir;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

async fn check_restored(folder: &Path) {
    let store = open(folder);
    assert_eq!(texts(&store).await, ["a", "b"]);
    assert_eq!(store.settings().load().await.unwrap().len(), 2);
    assert_eq!(store.turns().history("main", 10).await.unwrap().len(), 2);
    assert_eq!(fs::read_to_string(folder.join("knowledge/heating/winter.md")).unwrap(), "# Winter");
    let query = kernel::ports::TextQuery { text: "晚安".into(), count_max: 5, ..Default::default() };
    assert_eq!(store.text().search(query).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_backup_in_a_folder_is_a_data_folder_that_can_be_opened() {
    let parent = TempDir::new().unwrap();
    let store = open(&parent.path().join("data"));
    fill(&store).await;
    fs::create_dir(store.folder().backups()).unwrap();
    symlink("/etc/hostname", store.folder().root().join("link")).unwrap();
    let target = parent.path().join("backup");
    let report = store.backup(&target, BackupOptions::default()).await.unwrap();
    assert_eq!(names(&target), ["AGENTS.md", "knowledge", "menshen.db", "secret.key", "text"]);
    assert_eq!((report.files, &report.key), (6, &KeyInBackup::Included));
    assert_eq!(report.left_out, [store.folder().root().join("link")]);
    for name in ["menshen.db", "secret.key", "AGENTS.md"] {
        assert_eq!(fs::metadata(target.join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(names(parent.path()), ["backup", "data"], "nothing half done is left");
    check_restored(&target).await;
}

#[tokio::test]
async fn a_packed_backup_unpacks_to_the_same() {
    let parent = TempDir::new().unwrap();
    let store = open(&parent.path().join("data"));
    fill(&store).await;
    // Inside of the data folder, as a careless person does it.
    let target = store.folder().root().join("all.tar.gz");
    store.backup(&target, BackupOptions::default()).await.unwrap();
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let unpacked = parent.path().join("unpacked");
    let file = flate2::read::GzDecoder::new(fs::File::open(&target).unwrap());
    tar::Archive::new(file).unpack(&unpacked).unwrap();
    assert_eq!(names(&unpacked), ["AGENTS.md", "knowledge", "menshen.db", "secret.key", "text"]);
    check_restored(&unpacked).await;
}

#[tokio::test]
async fn a_backup_under_load_is_of_one_moment() {
    let parent = TempDir::new().unwrap();
    let store = open(&parent.path().join("data"));
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 0.. {
                let (id, _) = store.inbox().put(common::input(&format!("{number}"))).await.unwrap();
                store.inbox().answer(common::answer(&format!("t{number}"), id)).await.unwrap();
            }
        }
    });
    for round in 0..5 {
        let before = store.turns().history("main", 100_000).await.unwrap().len();
        let target = parent.path().join(format!("backup{round}"));
        store.backup(&target, BackupOptions::default()).await.unwrap();
        let copy = open(&target);
        let there = copy.turns().history("main", 100_000).await.unwrap().len();
        assert!(there >= before, "{there} of {before}");
        assert_eq!(copy.outbox().undelivered(100_000).await.unwrap().len() * 2, there);
    }
    writing.abort();
}

#[tokio::test]
async fn a_backup_never_writes_over_what_is_there() {
    let parent = TempDir::new().unwrap();
    let store = open(&parent.path().join("data"));
    for name in ["there", "there.tar.gz"] {
        let target = parent.path().join(name);
        fs::write(&target, "precious").unwrap();
        let refused = store.backup(&target, BackupOptions::default()).await.unwrap_err();
        assert!(matches!(refused, StoreError::TargetExists { .. }), "{refused}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    }
    let nowhere = Path::new("/proc/nowhere/backup");
    store.backup(nowhere, BackupOptions::default()).await.unwrap_err();
}

#[tokio::test]
async fn the_key_stays_out_where_it_is_kept_elsewhere_or_was_not_asked_for() {
    let parent = TempDir::new().unwrap();
    let store = open(&parent.path().join("data"));
    fill(&store).await;
    let target = parent.path().join("backup");
    let report = store.backup(&target, BackupOptions { without_key: true }).await.unwrap();
    assert_eq!((report.key, target.join("secret.key").exists()), (KeyInBackup::LeftOut, false));

    let key = parent.path().join("apart.key");
    let options = Options { key_file: Some(key.clone()), ..Options::default() };
    let store = Store::open(&parent.path().join("other"), &options).unwrap();
    fill(&store).await;
    let report = store.backup(&parent.path().join("second"), BackupOptions::default()).await.unwrap();
    assert_eq!(report.key, KeyInBackup::Elsewhere(key));
}

#[tokio::test]
async fn a_store_that_another_process_writes_can_be_backed_up_and_numbers_go_on_after_putting_it_back() {
    let parent = TempDir::new().unwrap();
    let store = open(&parent.path().join("data"));
    fill(&store).await;
    let beside =
        Store::open(store.folder().root(), &Options { access: Access::ReadOnly, ..Options::default() }).unwrap();
    beside.backup(&parent.path().join("backup"), BackupOptions::default()).await.unwrap();
    let mut seen = 0;
    for _ in 0..10 {
        seen = store.events().append("later", serde_json::json!(null)).await.unwrap();
    }
    let restored = open(&parent.path().join("backup"));
    assert!(restored.events().append("new", serde_json::json!(null)).await.unwrap() > seen);
}

#[tokio::test]
async fn however_the_places_are_spelled_a_backup_holds_neither_itself_nor_a_key_that_was_left_out() {
    let parent = TempDir::new().unwrap();
    let data = parent.path().join("data");
    let key = parent.path().join("./data/../data/secret.key");
    let store = Store::open(&data, &Options { key_file: Some(key), ..Options::default() }).unwrap();
    fill(&store).await;
    let target = parent.path().join("data/knowledge/../all");
    let report = store.backup(&target, BackupOptions { without_key: true }).await.unwrap();
    assert_eq!(report.key, KeyInBackup::LeftOut);
    assert_eq!(names(&data.join("all")), ["AGENTS.md", "knowledge", "menshen.db", "text"]);
}
