//! What a loss of power, a full disk or a hand may do to the files: their last bytes are gone, there is no
//! more room, nothing can be written. Start at the tests.

use std::fs::{self, File, OpenOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use kernel::ports::NewInput;
use store::search::Dictionary;
use store::{Options, Store};
use tempfile::TempDir;

use super::common::{fill, input, texts};

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_in(&path)) } else { found.push(path) }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    for path in files_in(from) {
        let target = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Opens, is sound and takes a message; or says in words which file is the matter.
fn opens_or_says(folder: &Path, what: &str, dictionary: &Dictionary) -> bool {
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let options = Options { dictionary: dictionary.clone(), ..Options::default() };
        let store = match Store::open(folder, &options) {
            Ok(store) => store,
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("menshen.db") && text.contains("damaged"), "{what}: {text}");
                return false;
            }
        };
        block_on(async {
            let check = store.database().read(|connection| {
                Ok(connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))?)
            });
            match check.await {
                Ok(sound) if sound == "ok" => {}
                other => {
                    assert!(what.starts_with("menshen.db without"), "{what}: {other:?}");
                    return false;
                }
            }
            let (id, known) = store.inbox().put(input("after")).await.unwrap();
            assert!(id > 0 && !known, "{what}");
            let event = sdk::TextEvent { content: "after".into(), timestamp: 90_001, ..sdk::TextEvent::default() };
            store.text().append(event).await.unwrap();
            let query = kernel::ports::TextQuery { text: "after".into(), count_max: 3, ..Default::default() };
            assert!(
                !store.text().search(query).await.unwrap().is_empty(),
                "{what}: what was written after is not found"
            );
            true
        })
    }));
    tried.unwrap_or_else(|_| panic!("{what}: a panic"))
}

#[test]
fn a_file_without_its_last_bytes_costs_at_most_what_they_held_or_is_named() {
    let whole = TempDir::new().unwrap();
    let store = Store::open(whole.path(), &Options::default()).unwrap();
    block_on(fill(&store));
    // As a crash leaves it: the log is not yet in the main file.
    let left = TempDir::new().unwrap();
    copy(whole.path(), left.path());
    drop(store);
    // It takes a moment to read.
    let dictionary = Dictionary::default();
    let (mut opened, mut named) = (0, 0);
    for (kind, from) in [("left open", left.path()), ("closed", whole.path())] {
        for path in files_in(from) {
            let name = path.strip_prefix(from).unwrap().to_str().unwrap().to_owned();
            let length = fs::metadata(&path).unwrap().len();
            let half = length / 2;
            for cut in [1, 7, 30, 100, 4096, 5000, half, length.saturating_sub(1)] {
                if cut == 0 || cut > length || name.starts_with("knowledge") {
                    continue;
                }
                let cut_down = TempDir::new().unwrap();
                copy(from, cut_down.path());
                let file = OpenOptions::new().write(true).open(cut_down.path().join(&name)).unwrap();
                file.set_len(length - cut).unwrap();
                let what = format!("{name} without its last {cut} bytes, {kind}");
                let fine = opens_or_says(cut_down.path(), &what, &dictionary);
                assert!(fine || name == "menshen.db", "{what}: refused");
                if fine { opened += 1 } else { named += 1 }
            }
        }
    }
    println!("{opened} opened, {named} named as damaged");
    assert!(opened > 20 && named > 0, "{opened} {named}");
}

#[test]
fn what_was_synced_before_a_log_was_cut_is_still_there() {
    let whole = TempDir::new().unwrap();
    let store = Store::open(whole.path(), &Options::default()).unwrap();
    let lengths = block_on(async {
        let mut lengths = Vec::new();
        for number in 0..20 {
            store.inbox().put(input(&format!("message {number}"))).await.unwrap();
            lengths.push(fs::metadata(whole.path().join("menshen.db-wal")).unwrap().len());
        }
        lengths
    });
    for (number, length) in lengths.iter().enumerate() {
        let cut_down = TempDir::new().unwrap();
        copy(whole.path(), cut_down.path());
        let log = OpenOptions::new().write(true).open(cut_down.path().join("menshen.db-wal")).unwrap();
        log.set_len(*length).unwrap();
        let store = Store::open(cut_down.path(), &Options::default()).unwrap();
        assert_eq!(block_on(texts(&store)).len(), number + 1, "cut after message {number}");
    }
}

const FULL: &str = "MENSHEN_TEST_FULL_FOLDER";

/// A limit on the size of files stands in for a full disk.
#[test]
fn on_a_full_disk_what_is_refused_is_not_kept_and_what_is_accepted_is() {
    let folder = TempDir::new().unwrap();
    drop(Store::open(folder.path(), &Options::default()).unwrap());
    let script = "trap '' XFSZ; ulimit -f 700; exec \"$0\" --exact cut::writes_until_the_disk_is_full --nocapture";
    let mut command = Command::new("bash");
    let output =
        command.args(["-c", script]).arg(std::env::current_exe().unwrap()).env(FULL, folder.path()).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{words}{}", String::from_utf8_lossy(&output.stderr));
    let said = |start: &str| -> Vec<String> {
        words.lines().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    };
    let (accepted, refused) = (said("accepted "), said("refused "));
    assert!(accepted.len() > 10 && refused.len() > 3, "{} {}", accepted.len(), refused.len());
    let store = Store::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(block_on(texts(&store)).iter().map(|text| text[..8].to_owned()).collect::<Vec<_>>(), accepted);
    // With room again it goes on.
    block_on(store.inbox().put(input("after"))).unwrap();
}

/// Run by the test above in a process of its own.
#[test]
fn writes_until_the_disk_is_full() {
    let Ok(folder) = std::env::var(FULL) else { return };
    let store = Store::open(Path::new(&folder), &Options::default()).unwrap();
    block_on(async {
        for number in 0..60 {
            let text = format!("{number:08}{}", "门".repeat(5_000));
            let put = store.inbox().put(NewInput { client_id: Some(number.to_string()), ..input(&text) }).await;
            match put {
                Ok(_) => println!("accepted {number:08}"),
                Err(failure) => println!("refused {number:08}: {failure}"),
            }
        }
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    // Not even an administrator makes files in there.
    let error = Store::open(Path::new("/proc/household"), &Options::default()).err().unwrap().to_string();
    assert!(error.starts_with("/proc/household: "), "{error}");
    let folder = TempDir::new().unwrap();
    File::create(folder.path().join("household")).unwrap();
    let error = Store::open(&folder.path().join("household"), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("household: "), "{error}");
}
