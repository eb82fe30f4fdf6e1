//! `docs/dev/house.md`, written from the table. `MENSHEN_WRITE=1 cargo test -p menshen` writes it.

use std::fmt::Write;

use super::house::{House, Own};

const HEAD: &str = "\
# The seeded house

Written from `crates/menshen/house/house.json` by a test (`MENSHEN_WRITE=1 cargo test -p menshen`); do not edit.

`menshen home up` makes this house on a real Home Assistant: a family's, two floors, some names in
Chinese and some in English, each with the other as an alias. Beside the rows below the house has
Home Assistant's own demo entities (`demo`, `kitchen_sink`), which mostly have no room.

`menshen home up [--name NAME] [--version 2024.3.3|newest|...] [--port N] [--language en|zh] [--bulk N]`
makes it, `home reset` puts back everything that moves (0.1 s when nothing did, about 6 s when all
did: the demo's covers and locks take their time), `home down` removes it. `home status` exits with 0
when the house runs and with 3 when not. `--json` prints one line of JSON.

Temperatures are in °C, brightness in percent is given as Home Assistant takes it.
*Opens* means: what it does unlocks, opens or disarms something that keeps people out.
What a release lacks stands in `seed.absent`: floors, labels, the demo's valves and registered alarms on
2024.3; `mobile_app` where a compiler was missing.

";

fn page() -> String {
    let table = House::table().unwrap();
    let mut page = HEAD.to_owned();
    page.push_str("## Floors and rooms\n\n| id | name | also called | floor |\n|---|---|---|---|\n");
    for floor in &table.floors {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | (level {}) |",
            floor.id,
            floor.name,
            floor.aliases.join(", "),
            floor.level
        );
    }
    for room in &table.rooms {
        let floor = table.floors.iter().find(|floor| Some(&floor.id) == room.floor.as_ref());
        let floor = floor.map_or("(outside)", |floor| &floor.name);
        let _ = writeln!(page, "| `{}` | {} | {} | {floor} |", room.id, room.name, room.aliases.join(", "));
    }
    let _ = writeln!(page, "\nLabel `{}` ({}).", table.labels[0].id, table.labels[0].name);
    for room in &table.rooms {
        let _ = writeln!(page, "\n## {} ({})\n", room.name, room.aliases.join(", "));
        things(&mut page, table, Some(&room.id));
    }
    page.push_str("\n## Without a room\n\n");
    things(&mut page, table, None);
    page.push_str("\n## Scenes and scripts\n\n| id | name | what it does | opens |\n|---|---|---|---|\n");
    for macro_ in &table.macros {
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", macro_.id, macro_.name, macro_.does, yes(macro_.opens));
    }
    page.push_str("\n## Automations\n\n| id | trigger | what it does | opens |\n|---|---|---|---|\n");
    for automation in &table.automations {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            automation.id,
            automation.trigger,
            automation.does,
            yes(automation.opens)
        );
    }
    page
}

fn things(page: &mut String, table: &House, room: Option<&String>) {
    page.push_str("| id | name | also called | starts as, and notes |\n|---|---|---|---|\n");
    for own in table.own.iter().filter(|own| own.room.as_ref() == room) {
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", own.id, own.name(), own.aliases().join(", "), start(own));
    }
    for other in table.others.iter().filter(|other| other.room.as_ref() == room) {
        let note = other.note.iter().cloned().chain(other.labels.iter().map(|label| format!("label {label}")));
        let note = std::iter::once(format!("({})", other.from)).chain(note).collect::<Vec<_>>().join("; ");
        let _ = writeln!(page, "| `{}` | {} | {} | {note} |", other.id, other.names, other.aliases.join(", "));
    }
}

/// What a writer of requests wants to know of one entity.
fn start(own: &Own) -> String {
    let mut words = Vec::new();
    for (key, value) in &own.rest {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.push(match key.as_str() {
            "state" => text,
            _ => format!("{} {text}", key.replace('_', " ")),
        });
    }
    words.extend(own.code.iter().map(|code| format!("code {code}")));
    words.extend(own.hidden.then(|| "hidden".into()));
    words.extend(own.disabled.then(|| "disabled".into()));
    words.join("; ")
}

fn yes(opens: bool) -> &'static str {
    if opens { "**yes**" } else { "no" }
}

#[test]
fn the_page_about_the_house_says_what_the_table_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dev/house.md");
    let page = page();
    if std::env::var_os("MENSHEN_WRITE").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, &page).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(there == page, "docs/dev/house.md is behind house.json: run MENSHEN_WRITE=1 cargo test -p menshen");
}
