//! What the knowledge folder promises.

use std::fs;
use std::time::Duration;

use kernel::ports::{FailureKind, KnowledgeBase};

use super::Scanned;
use crate::search::test_dictionary;
use crate::{Access, Database, KnowledgeFolder};

struct World {
    knowledge: KnowledgeFolder,
    folder: tempfile::TempDir,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("knowledge");
    fs::create_dir_all(&root).unwrap();
    let database = Database::open(&folder.path().join("data"), Access::Full).unwrap();
    World { knowledge: KnowledgeFolder::new(&root, database, test_dictionary()), folder }
}

impl World {
    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.knowledge.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    async fn places(&self, question: &str) -> Vec<(String, String)> {
        let found = self.knowledge.search(question, 0).await.unwrap();
        found.into_iter().map(|part| (part.name, part.place)).collect()
    }
}

fn place(name: &str, place: &str) -> (String, String) {
    (name.to_owned(), place.to_owned())
}

/// A small PDF with one line of text on each page.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut kids = String::new();
    for text in pages {
        let stream = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
        let content = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        kids.push_str(&format!("{} 0 R ", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut file = "%PDF-1.4\n".to_owned();
    let mut starts = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        starts.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for start in starts {
        file.push_str(&format!("{start:010} 00000 n \n"));
    }
    file.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
    file.into_bytes()
}

#[tokio::test]
async fn what_is_found_names_its_file_and_heading_or_page() {
    let world = world();
    world.put("house/boiler.md", "# Boiler\nGeneral.\n## Pressure\nKeep it at 1.4 bar.\n## Filter\nRinse in May.\n");
    world.put("笔记.txt", "路由器的重启按钮在背面。");
    world.put("manual.pdf", pdf(&["Cover of the manual", "Descale the kettle every month"]));
    world.put("picture.jpg", [0xff, 0xd8]);
    let scanned = world.knowledge.rescan().await.unwrap();
    assert_eq!(scanned, Scanned { indexed: 3, gone: 0, failed: 0 });
    assert_eq!(world.places("boiler pressure").await[0], place("house/boiler.md", "Boiler > Pressure"));
    assert_eq!(world.places("路由器怎么重启").await, [place("笔记.txt", "")]);
    assert_eq!(world.places("descale the kettle").await, [place("manual.pdf", "page 2")]);
    assert!(world.places("swimming pool chlorine").await.is_empty());
    assert_eq!(world.knowledge.list().await.unwrap(), ["house/boiler.md", "manual.pdf", "笔记.txt"]);
}

#[tokio::test]
async fn only_what_changed_is_read_again_and_what_is_gone_is_not_found() {
    let world = world();
    world.put("a.md", "# A\nThe spare key hangs in the shed.");
    world.put("b.md", "# B\nThe stopcock is under the sink.");
    assert_eq!(world.knowledge.rescan().await.unwrap().indexed, 2);
    assert_eq!(world.knowledge.rescan().await.unwrap(), Scanned::default());
    world.put("a.md", "# A\nThe spare key is at the neighbour's house.");
    fs::remove_file(world.knowledge.root().join("b.md")).unwrap();
    assert_eq!(world.knowledge.rescan().await.unwrap(), Scanned { indexed: 1, gone: 1, failed: 0 });
    assert!(world.places("stopcock under the sink").await.is_empty());
    let found = world.knowledge.search("where is the spare key", 0).await.unwrap();
    assert!(found.len() == 1 && found[0].content.contains("neighbour"));
}

#[tokio::test]
async fn a_name_that_leads_out_is_refused_and_links_are_not_followed() {
    let world = world();
    let outside = world.folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.md"), "the secret of the safe").unwrap();
    std::os::unix::fs::symlink(&outside, world.knowledge.root().join("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret.md"), world.knowledge.root().join("secret.md")).unwrap();
    world.knowledge.rescan().await.unwrap();
    assert!(world.places("secret of the safe").await.is_empty());
    for name in [
        "../x.md",
        "/etc/x.md",
        "a/../../x.md",
        "",
        ".hidden.md",
        "a/.b/x.md",
        "a\u{0}b.md",
        "c:\\x.md",
        "link/x.md",
        "secret.md",
        "x.pdf",
    ] {
        let refused = world.knowledge.add(name, "text").await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::Invalid, "{name:?}");
    }
    assert_eq!(fs::read_to_string(outside.join("secret.md")).unwrap(), "the secret of the safe");
    assert!(!outside.join("x.md").exists() && !world.folder.path().join("x.md").exists());
    for name in ["../data/menshen.db", "/etc/passwd"] {
        assert_eq!(world.knowledge.read(name, 0, 0).await.unwrap_err().kind, FailureKind::Invalid);
    }
    assert_eq!(world.knowledge.read("secret.md", 0, 0).await.unwrap_err().kind, FailureKind::NotFound);
}

#[tokio::test]
async fn what_is_added_is_found_at_once_and_can_be_read_piece_by_piece() {
    let world = world();
    world.knowledge.add("wifi", "# Guests\nThe network is called 江南客人.").await.unwrap();
    assert_eq!(world.places("guests network").await, [place("wifi.md", "Guests")]);
    assert!(world.knowledge.root().join("wifi.md").exists());
    let (start, more) = world.knowledge.read("wifi.md", 0, 8).await.unwrap();
    assert_eq!((start.as_str(), more), ("# Guests", true));
    let (rest, more) = world.knowledge.read("wifi.md", 8, 0).await.unwrap();
    assert!(rest.ends_with("江南客人.") && !more);
    world.knowledge.add("wifi", "# Guests\nThe network is called Kennel.").await.unwrap();
    assert!(world.knowledge.search("guests network", 0).await.unwrap()[0].content.contains("Kennel"));
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named_and_keeps_no_other_from_being_found() {
    let world = world();
    let good = pdf(&["Descale the kettle every month"]);
    world.put("broken.pdf", "%PDF-1.4 this is no PDF");
    world.put("cut.pdf", &good[..good.len() / 2]);
    world.put("large.txt", vec![b'x'; 9 * 1024 * 1024]);
    world.put("good.pdf", &good);
    let scanned = world.knowledge.rescan().await.unwrap();
    assert_eq!((scanned.indexed, scanned.failed), (1, 3));
    assert_eq!(world.places("descale the kettle").await, [place("good.pdf", "page 1")]);
    let failure = world.knowledge.read("broken.pdf", 0, 0).await.unwrap_err();
    assert!(failure.message.contains("broken.pdf cannot be read"));
}

#[tokio::test]
async fn a_watched_folder_is_current_a_moment_after_a_change() {
    let world = world();
    let _watch = world.knowledge.watch();
    world.put("a.md", "# A\nThe spare key hangs in the shed.");
    let found = async {
        while world.places("spare key in the shed").await.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), found).await.unwrap();
}
