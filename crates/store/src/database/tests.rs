//! What of the file is refused, kept and shown to whom.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::*;

fn open(folder: &Path) -> Database {
    Database::open(folder, Access::Full).unwrap()
}

fn refusal(folder: &Path, access: Access) -> StoreError {
    match Database::open(folder, access) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

async fn add_event(database: &Database, kind: &'static str) -> Result<(), StoreError> {
    let write = database.write(move |connection| {
        connection.execute("INSERT INTO events (kind, body) VALUES (?1, '{}')", [kind])?;
        if kind == "panic" {
            panic!("as asked");
        }
        if kind == "refuse" {
            return Err(StoreError::Refused(sdk::Failure::invalid("as asked")));
        }
        Ok(())
    });
    write.await
}

async fn kinds(database: &Database) -> Vec<String> {
    let read = database.read(|connection| {
        let mut statement = connection.prepare("SELECT kind FROM events ORDER BY seq")?;
        let found = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(found)
    });
    read.await.unwrap()
}

#[tokio::test]
async fn what_is_written_is_read_and_is_there_again_after_opening() {
    let folder = TempDir::new().unwrap();
    let database = open(folder.path());
    add_event(&database, "a").await.unwrap();
    assert_eq!(kinds(&database).await, ["a"]);
    drop(database);
    assert_eq!(kinds(&open(folder.path())).await, ["a"]);
}

#[tokio::test]
async fn one_that_fails_or_panics_takes_nothing_else_of_its_transaction_with_it() {
    let folder = TempDir::new().unwrap();
    let database = open(folder.path());
    let done = tokio::join!(
        add_event(&database, "a"),
        add_event(&database, "refuse"),
        add_event(&database, "b"),
        add_event(&database, "panic"),
        add_event(&database, "c"),
    );
    assert!(matches!(done.1, Err(StoreError::Refused(_))));
    assert!(matches!(&done.3, Err(StoreError::Panicked(words)) if words == "as asked"));
    assert_eq!(kinds(&database).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("data");
    let database = open(&folder);
    add_event(&database, "a").await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        assert_eq!(mode(&name), 0o600, "{}", name.display());
    }
}

#[tokio::test]
async fn a_second_process_is_told_who_has_the_store_and_may_read_it() {
    let folder = TempDir::new().unwrap();
    let database = open(folder.path());
    add_event(&database, "a").await.unwrap();
    let refused = refusal(folder.path(), Access::Full);
    assert!(refused.to_string().contains(&format!("in use by process {}", std::process::id())), "{refused}");
    let reading = Database::open(folder.path(), Access::ReadOnly).unwrap();
    assert_eq!(kinds(&reading).await, ["a"]);
    add_event(&database, "b").await.unwrap();
    assert_eq!(kinds(&reading).await, ["a", "b"]);
    assert!(matches!(add_event(&reading, "c").await, Err(StoreError::ReadOnly)));
}

#[test]
fn reading_a_store_that_is_not_there_makes_none() {
    let folder = TempDir::new().unwrap();
    let refused = refusal(folder.path(), Access::ReadOnly);
    assert!(matches!(refused, StoreError::Missing { .. }), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_newer_store_is_refused_and_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    drop(open(folder.path()));
    let path = folder.path().join("menshen.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9999).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = refusal(folder.path(), Access::Full);
    assert!(refused.to_string().contains("newer Menshen (layout 9999"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_database_of_another_program_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("menshen.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
    assert!(matches!(refusal(folder.path(), Access::Full), StoreError::Foreign { .. }));
}

#[test]
fn a_damaged_file_is_reported_with_the_backup_to_put_back() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("menshen.db"), vec![7; 8192]).unwrap();
    let refused = refusal(folder.path(), Access::Full);
    assert!(refused.to_string().contains("is damaged") && refused.to_string().contains("menshen import"), "{refused}");
    fs::create_dir(folder.path().join("backups")).unwrap();
    fs::write(folder.path().join("backups/menshen-layout1-5.db"), "").unwrap();
    let refused = refusal(folder.path(), Access::Full);
    assert!(refused.to_string().contains("copy") && refused.to_string().contains("menshen-layout1-5.db"), "{refused}");
}

#[tokio::test]
async fn dropping_the_last_handle_writes_what_waits_and_frees_the_folder() {
    let folder = TempDir::new().unwrap();
    let database = open(folder.path());
    let other = database.clone();
    let writes: Vec<_> = (0..50)
        .map(|_| {
            let database = database.clone();
            tokio::spawn(async move { add_event(&database, "a").await })
        })
        .collect();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    drop((database, other));
    assert_eq!(kinds(&open(folder.path())).await.len(), 50);
}

#[tokio::test]
async fn a_number_that_somebody_may_have_seen_before_a_crash_is_not_given_again() {
    use kernel::ports::Events;
    let folder = TempDir::new().unwrap();
    let database = open(folder.path());
    let seen = database.append("a", serde_json::json!(1)).await.unwrap();
    drop(database);
    let next = open(folder.path()).append("a", serde_json::json!(1)).await.unwrap();
    assert_eq!(next, seen + 1, "after a good end numbers go on");
    fs::write(folder.path().join("menshen.lock"), "4711\n").unwrap();
    let after_crash = open(folder.path()).append("a", serde_json::json!(1)).await.unwrap();
    assert!(after_crash > next + 100_000, "{after_crash}");
}

#[tokio::test]
async fn a_full_disk_is_said_loses_nothing_that_was_written_and_is_over_when_there_is_room() {
    let folder = TempDir::new().unwrap();
    let database = open(folder.path());
    add_event(&database, "a").await.unwrap();
    let pages = |count: i64| {
        database.write(move |connection| {
            connection.pragma_update_and_check(None, "max_page_count", count, |_| Ok(()))?;
            Ok(())
        })
    };
    pages(1).await.unwrap();
    let large = database.write(|connection| {
        connection.execute("INSERT INTO events (kind, body) VALUES ('large', hex(zeroblob(1000000)))", [])?;
        Ok(())
    });
    let (large, _beside) = tokio::join!(large, add_event(&database, "b"));
    assert!(matches!(large, Err(StoreError::DiskFull)), "{large:?}");
    pages(1_000_000).await.unwrap();
    add_event(&database, "c").await.unwrap();
    let kinds = kinds(&database).await;
    assert!(kinds.first().unwrap() == "a" && kinds.last().unwrap() == "c", "{kinds:?}");
    assert!(!kinds.contains(&"large".to_owned()));
}
