//! What an answer looks like: an amount of money, a time, a number. Start at [`shapes`]. Invariant: a shape
//! only helps to choose among texts, it names nothing.

/// Groups that can be answered so.
pub const SHAPES: &[&str] =
    &["price", "phone", "when", "where", "duration", "frequency", "count", "howmuch", "number", "temperature"];
/// Of these, those without which nothing answers: what tells no time is not told when asked for one.
pub const NEEDED: &[&str] = &["when", "where", "duration", "howmuch"];

/// Groups of the table that a text answers by its looks.
pub fn shapes(plain: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let digits = longest_number(plain);
    let numeral = plain.chars().any(|c| c.is_ascii_digit() || "一二两三四五六七八九十百千万半".contains(c));
    let any = |marks: &[&str]| marks.iter().any(|mark| plain.contains(mark));
    if (numeral && any(&["元", "块", "毛", "千", "万", "百", "一月", "一年"]))
        || any(&["£", "$", "€", "¥", "quid", "pound", "euro", "dollar", " p ", "pence", "tenner", "fiver"])
    {
        found.push("price");
    }
    // Hotlines are short: 95598, 96390.
    if digits >= 5 {
        found.push("phone");
    }
    if (numeral && any(&["月", "号", "日", "点", "年", "周", "天", "小时", "分钟"])) || any(TIMES) || clock(plain)
    {
        found.extend(["when", "duration", "frequency"]);
    }
    // A place with a name has no mark of its own where names are words like any other.
    if any(PLACES) || plain.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        found.push("where");
    }
    if numeral || any(NUMBERS) {
        found.extend(["count", "howmuch"]);
        // English prices are told without their currency: sixteen ninety-nine.
        if !found.contains(&"price") && any(&NUMBERS[2..]) {
            found.push("price");
        }
    }
    // And so are times: six fifty.
    if any(&NUMBERS[2..]) && !found.contains(&"when") {
        found.extend(["when", "duration"]);
    }
    if digits >= 4 {
        found.push("number");
    }
    if plain.bytes().any(|byte| byte.is_ascii_digit()) || (numeral && any(&["度", "℃", "degree"])) {
        found.push("temperature");
    }
    found
}

const NUMBERS: &[&str] = &[
    "one ", "half", "two ", "three", "four", "five", "six", "seven", "eight", "nine", "ten ", "eleven", "twelve",
    "teen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand",
];
const TIMES: &[&str] = &[
    "周一",
    "周二",
    "周三",
    "周四",
    "周五",
    "周六",
    "周日",
    "周末",
    "星期",
    "礼拜",
    "早上",
    "晚上",
    "下午",
    "上午",
    "中午",
    "明年",
    "今年",
    "去年",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "weekend",
    "january",
    "february",
    "march",
    "april",
    " may",
    "may ",
    "easter",
    "christmas",
    "half term",
    "spring",
    "summer",
    "autumn",
    "winter",
    "fortnight",
    "month",
    "each ",
    "every ",
    "once",
    "twice",
    "noon",
    "birthday",
    "1st",
    "2nd",
    "3rd",
    "0th",
    "4th",
    "5th",
    "6th",
    "7th",
    "8th",
    "9th",
    "节",
    "每",
    "冬",
    "夏",
    "春",
    "秋",
    "元旦",
    "清明",
    "假",
    "前",
    "后",
    "before",
    "after",
    "when",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "o'clock",
    "half past",
    "quarter",
    "morning",
    "evening",
    "afternoon",
    "night",
    "hour",
    "minute",
    "weekly",
    "daily",
    "yearly",
    "term",
];

/// What stands before a place, or in one.
const PLACES: &[&str] = &[
    "在", "里", "上", "下", "旁", "边", "柜", "抽屉", "盒", "箱", "袋", "后", "前", "口", "楼", "路", "街", "区", "去",
    "到", "家", "店", "左", "右", "东", "西", "南", "北",
];

/// The most digits in a row, blanks and dashes between them allowed.
fn longest_number(text: &str) -> usize {
    let (mut longest, mut here) = (0, 0);
    for character in text.chars() {
        match character {
            '0'..='9' => here += 1,
            ' ' | '-' if here > 0 => {}
            _ => here = 0,
        }
        longest = longest.max(here);
    }
    longest
}

/// `7:30`, `6pm`.
fn clock(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..bytes.len()).any(|at| {
        let rest = &bytes[at..];
        bytes[at - 1].is_ascii_digit()
            && ((rest[0] == b':' && rest.get(1).is_some_and(u8::is_ascii_digit))
                || rest.starts_with(b"am")
                || rest.starts_with(b"pm"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_times_and_numbers_are_seen() {
        assert!(shapes("月费三百块").contains(&"price"));
        assert!(shapes("it is £12 a month").contains(&"price"));
        assert!(shapes("call 0117 496 0144").contains(&"phone"));
        assert!(shapes("cubs is at 18:15").contains(&"when"));
        assert!(shapes("每周三下午").contains(&"when"));
        assert!(shapes("call 95598").contains(&"phone"));
        assert_eq!(shapes("the key hangs by the door"), ["where"]);
        assert_eq!(shapes("柜"), ["where"]);
        assert!(shapes("买了新的吹风机").is_empty());
    }
}
