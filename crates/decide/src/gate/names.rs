//! Names that hint at a door. Start at [`hints_at_door`]. Invariant: a name only ever adds a guard.

/// English words that count as whole tokens.
const WORDS: &[&str] = &[
    "door",
    "doors",
    "lock",
    "locks",
    "gate",
    "gates",
    "garage",
    "strike",
    "latch",
    "bolt",
    "opener",
    "entry",
    "unlock",
    "deadbolt",
    "shutter",
    "frontdoor",
    "backdoor",
    "garagedoor",
];
/// The same in the languages of neighbours, as whole tokens.
const FOREIGN: &[&str] = &[
    "tor",
    "hoftor",
    "rolltor",
    "garagentor",
    "gartentor",
    "schiebetor",
    "einfahrtstor",
    "haustor",
    "schloss",
    "riegel",
    "schranke",
    "pforte",
    "rollladen",
    "rolladen",
    "porte",
    "portail",
    "serrure",
    "verrou",
    "gâche",
    "puerta",
    "portón",
    "cerradura",
    "cerrojo",
    "porta",
    "cancello",
    "serratura",
    "portão",
    "fechadura",
    "deur",
    "slot",
    "poort",
    "dörr",
    "drzwi",
    "brama",
    "дверь",
    "замок",
    "ворота",
];
/// German compounds end so: Haustür, Türöffner.
const ENDINGS: &[&str] = &["tür", "tuer", "türöffner", "tueroeffner", "öffner", "oeffner", "türschloss", "garage"];
/// Chinese words that count wherever they stand, after the harmless ones are taken out.
const CHARACTERS: &[&str] = &["门", "門", "锁", "鎖", "闸", "閘", "车库", "車庫", "卷帘", "捲簾", "卷閘"];
/// Harmless words that contain a hint. Taken out before looking.
const HARMLESS: &[&str] = &[
    "门厅",
    "門廳",
    "门廊",
    "門廊",
    "部门",
    "部門",
    "阀门",
    "閥門",
    "专门",
    "專門",
    "热门",
    "熱門",
    "入门",
    "入門",
    "门牌",
    "門牌",
    "门铃",
    "門鈴",
    "门诊",
    "澳门",
    "澳門",
    "厦门",
    "廈門",
    "童锁",
    "童鎖",
    "儿童锁",
    "兒童鎖",
    "电闸",
    "電閘",
    "闸刀",
    "閘刀",
    "闸盒",
    "锁屏",
    "鎖屏",
    "冰箱门",
    "冰箱門",
    "锁定画面",
    "窗帘",
    "child lock",
    "child_lock",
    "childlock",
    "key lock",
    "screen lock",
    "entry light",
    "door sign",
    "door_sign",
    "door bell",
    "开门红",
    "開門紅",
    "冰箱",
    "fridge",
    "freezer",
    "kühlschrank",
];

/// Whether a name of this entity says door, lock, gate, garage and the like.
pub(super) fn hints_at_door(name: &str) -> bool {
    let mut name = name.to_lowercase();
    for harmless in HARMLESS {
        if name.contains(harmless) {
            name = name.replace(harmless, " ");
        }
    }
    if lights_only(&name) {
        return false;
    }
    let hint = |token: &str| {
        let token = token.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&token) || FOREIGN.contains(&token) || ENDINGS.iter().any(|ending| token.ends_with(ending))
    };
    CHARACTERS.iter().any(|word| name.contains(word))
        || name.split(|c: char| !c.is_alphanumeric()).any(hint)
        // A Latin word may stand between Chinese characters without a blank.
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(hint)
}

/// "Relay 3", "Shelly 1PM 2", 继电器 4: a name that says nothing of what hangs on it.
pub(super) fn says_nothing(name: &str) -> bool {
    let lower = name.to_lowercase();
    let generic = |word: &str| {
        let model = word.len() <= 6 && word.starts_with(|c: char| c.is_ascii_digit());
        let plain = word.trim_end_matches(|c: char| c.is_ascii_digit());
        model
            || matches!(
                plain,
                "" | "relay"
                    | "switch"
                    | "channel"
                    | "output"
                    | "out"
                    | "ch"
                    | "l"
                    | "board"
                    | "module"
                    | "gpio"
                    | "port"
                    | "shelly"
                    | "sonoff"
                    | "tasmota"
                    | "tuya"
                    | "esphome"
                    | "kanal"
                    | "ausgang"
                    | "relais"
                    | "schalter"
                    | "modul"
                    | "继电器"
                    | "开关"
                    | "通道"
                    | "路"
            )
    };
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(generic)
}

/// Whether one of a select's options says that it opens.
pub(super) fn option_opens(option: &str) -> bool {
    let option = option.to_lowercase();
    ["解锁", "开门", "打开", "解鎖", "開門", "打開"].iter().any(|word| option.contains(word))
        || option.split(|c: char| !c.is_alphanumeric()).any(|word| {
            matches!(
                word,
                "open"
                    | "opened"
                    | "unlock"
                    | "unlocked"
                    | "offen"
                    | "öffnen"
                    | "geöffnet"
                    | "auf"
                    | "ouvert"
                    | "abierto"
                    | "aperto"
            )
        })
}

/// Whether a name says oven, stove and the like: what gets hot while nobody is there.
pub(super) fn hints_at_heat(name: &str) -> bool {
    let name = name.to_lowercase();
    ["烤箱", "灶", "电磁炉", "電磁爐", "电炉", "電爐"].iter().any(|word| name.contains(word))
        || name
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|token| matches!(token, "oven" | "stove" | "hob" | "cooktop" | "hotplate"))
}

/// 门口的灯, 车库空调, "garage light": a lamp or the like at a door, as long as nothing says lock or opener.
fn lights_only(name: &str) -> bool {
    let lamp =
        ["灯", "燈", "空调", "空調", "摄像头", "攝像頭", "风扇", "風扇", "温度"].iter().any(|word| name.contains(word))
            || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|token| {
                matches!(
                    token,
                    "light"
                        | "lights"
                        | "lamp"
                        | "lamps"
                        | "camera"
                        | "fan"
                        | "temperature"
                        | "thermostat"
                        | "licht"
                        | "lampe"
                        | "kamera"
                )
            });
    let opens = ["锁", "鎖", "闸", "閘", "卷帘", "开门", "開門", "lock", "strike", "latch", "bolt", "opener", "relay"];
    lamp && !opens.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: bool) {
        assert_eq!(hints_at_door(name), expected, "{name}");
    }

    #[test]
    fn a_door_s_relay_is_seen_by_its_name() {
        for name in [
            "Door Relay",
            "Gate motor",
            "Shed Latch",
            "garage_opener",
            "Front door strike",
            "大门",
            "前門",
            "车库",
            "车库卷帘",
            "门锁继电器",
            "开门按钮",
            "道闸",
            "Back door bolt",
            "Entry buzzer",
            "unlock",
            "Gate2",
            "GATE",
            "Gate light relay",
            "Garage lamp opener",
            "开门灯",
            "車庫閘",
            // A word with a letter beyond ASCII, and one between Chinese characters.
            "Haustür",
            "Portão 2",
            "дверь",
            "前面gate继电器",
        ] {
            check(name, true);
        }
    }

    #[test]
    fn a_harmless_name_is_not_taken_for_a_door() {
        for name in [
            "门厅",
            "门口的灯",
            "门厅灯",
            "部门",
            "阀门",
            "童锁",
            "Child lock",
            "电闸",
            "闸刀",
            "Outdoor fan",
            "Clock",
            "Block heater",
            "investigate",
            "Garage light",
            "车库灯",
            "Kitchen",
            "客厅空调",
            "窗帘",
            "门铃",
            "Doorbell",
            "Locksley",
            "Garage lamp",
            "Gate lights",
            "大门灯",
            "車庫燈",
            "Motor",
            "Portable fan",
            "前面fan继电器",
            "",
        ] {
            check(name, false);
        }
    }

    #[test]
    fn what_gets_hot_is_seen_by_its_name() {
        for name in ["Oven", "kitchen-stove", "Hob 2", "COOKTOP", "hotplate", "烤箱", "电磁炉", "燃气灶"] {
            assert!(hints_at_heat(name), "{name}");
        }
        for name in ["Kettle", "Coven", "hobby", "stoves", "冰箱", ""] {
            assert!(!hints_at_heat(name), "{name}");
        }
    }
}
