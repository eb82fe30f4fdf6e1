//! What the person reads. Start at [`Paper::answer`]. Invariant: colour only on a terminal, never
//! needed to understand; names and states were cleaned before they came here.

use std::io::IsTerminal;

use anyhow::Result;
use decide::gate::{Call, Language};
use decide::house::House;
use mcp::Desk;
use serde_json::Value;

use super::examples::examples;
use super::{put, say};
use menshen::understand::told::{Names, with_names, word};
use menshen::understand::{Answer, Moved, Named, Reader, Step, What};

/// At most so many things are shown one by one.
const ROWS_MAX: usize = 12;

pub struct Paper {
    pub json: bool,
    colour: bool,
    /// What the operator decides in `menshen.toml` holds in a house of their own alone.
    disposable: bool,
}

#[derive(Clone, Copy)]
enum Ink {
    Dim,
    Good,
    Bad,
}

impl Paper {
    pub fn new(json: bool, disposable: bool) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { json, colour, disposable }
    }

    fn ink(&self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Dim => "2",
            Ink::Good => "32",
            Ink::Bad => "33",
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// First lines, in both languages.
    pub fn greet(&self, desk: &Desk, house: &House) -> Result<()> {
        let quoted = |language| {
            let all = examples(desk, house, language);
            all.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join("  ")
        };
        let version = decide::text::clean(&house.version, 20);
        let (whose, chinese) = if self.disposable {
            ("A disposable house", "一次性房屋")
        } else {
            ("YOUR OWN house", "你自己的家")
        };
        let entities = house.entities.len();
        put(&format!("{whose} / {chinese}: Home Assistant {version}, {entities} entities."))?;
        put("Type what you would say at home:")?;
        put(&format!("  {}", quoted(Language::English)))?;
        put("说一句平常在家会说的话：")?;
        put(&format!("  {}", quoted(Language::Chinese)))?;
        put(&self.ink(Ink::Dim, "help / 帮助, exit / 退出"))
    }

    /// The sentence itself, where nobody typed it at the prompt.
    pub fn said(&self, sentence: &str) -> Result<()> {
        if !self.json { put(&format!("> {}", decide::text::clean(sentence, 300))) } else { Ok(()) }
    }

    pub fn answer(&self, answer: &Answer, language: Language, names: Names<'_>) -> Result<()> {
        if self.json {
            return put(&serde_json::to_string(answer)?);
        }
        match &answer.what {
            What::Done { steps } => {
                for step in steps {
                    self.step(step, answer.by, language, names)?;
                }
                Ok(())
            }
            What::Told { sentence, .. } => {
                self.understood(answer.by, say(language, "a question", "提问"), language)?;
                put(&format!("  {}", self.ink(Ink::Good, sentence)))
            }
            What::Which => {
                self.understood(
                    answer.by,
                    say(language, "several things fit; nothing was done", "有多个符合；没有执行任何操作"),
                    language,
                )?;
                put(&format!("  {}", say(language, "Which one?", "请说明是哪一个：")))?;
                self.names(&answer.matched, language)
            }
            What::NotUnderstood => {
                let text = say(language, "Not understood; nothing was done.", "没有听懂；没有执行任何操作。");
                put(&format!("  {}", self.ink(Ink::Bad, text)))?;
                if !answer.matched.is_empty() {
                    put(&format!("  {}", say(language, "Near it:", "相近的有：")))?;
                    self.names(&answer.matched, language)?;
                }
                Ok(())
            }
            What::Failed { answer } => put(&format!("  {}", self.ink(Ink::Bad, text(answer, "message")))),
        }
    }

    fn understood(&self, by: Option<Reader>, what: &str, language: Language) -> Result<()> {
        let by = match by {
            Some(Reader::Macro) => say(language, "macro", "家里的场景"),
            Some(Reader::Command) => say(language, "plain command", "日常指令"),
            Some(Reader::Recogniser) => "Home Assistant",
            None => "",
        };
        let lead = say(language, "understood", "理解为");
        put(&format!("  {lead}: {what}  {}", self.ink(Ink::Dim, &format!("[{by}]"))))
    }

    fn step(&self, step: &Step, by: Option<Reader>, language: Language, names: Names<'_>) -> Result<()> {
        let what = match (&step.runs, &step.call) {
            (Some(runs), _) => format!("{} ({})", runs.name, runs.entity_id),
            (None, Some(call)) => with_names(&in_short(call), language, names),
            (None, None) => String::new(),
        };
        self.understood(by, &what, language)?;
        if let Some(reason) = step.answer.pointer("/match/reason").and_then(Value::as_str) {
            put(&format!("  {}", self.ink(Ink::Dim, reason)))?;
        }
        // What changed or failed is seen first, and what was so before last.
        let mut rows: Vec<&Moved> = step.moved.iter().collect();
        rows.sort_by_key(|moved| moved.before == moved.after && moved.outcome != "failed");
        for moved in rows.into_iter().take(ROWS_MAX) {
            self.moved(moved, language)?;
        }
        if step.moved.len() > ROWS_MAX {
            put(&format!("  {}", more(step.moved.len() - ROWS_MAX, language)))?;
        }
        if step.refused() {
            return self.refused(step, language, names);
        }
        let message = match text(&step.answer, "error") {
            // The tools tell a model what it may claim; a person looks for themselves.
            "not_confirmed" => say(
                language,
                "Home Assistant took the command, but the device did not report the new state in time. Look whether it moved.",
                "Home Assistant 接受了命令，但设备没有及时报告新状态。请看一下它动了没有。",
            ),
            _ => text(&step.answer, "message"),
        };
        if !message.is_empty() {
            put(&format!("  {}", self.ink(Ink::Bad, &with_names(message, language, names))))?;
        } else if step.moved.is_empty() {
            put(&format!("  {}", self.ink(Ink::Good, text(&step.answer, "note"))))?;
        }
        Ok(())
    }

    fn moved(&self, moved: &Moved, language: Language) -> Result<()> {
        let zh = language == Language::Chinese;
        let state = |state: &str| word(moved.entity_id.domain(), state, zh);
        let (ink, outcome) = match moved.outcome.as_str() {
            "confirmed" if moved.before == moved.after => {
                (Ink::Good, say(language, "confirmed, as it was", "已确认，本来如此"))
            }
            "confirmed" => (Ink::Good, say(language, "confirmed", "已确认")),
            "moved" => (Ink::Good, say(language, "moved", "已变化")),
            "as_it_was" => (Ink::Dim, say(language, "as it was", "本来如此")),
            "done" => (Ink::Good, say(language, "already so", "本来如此")),
            "accepted" | "assumed" => (Ink::Good, say(language, "taken, nothing shows it", "已接受，没有状态可证实")),
            "not_confirmed" => (Ink::Bad, say(language, "not confirmed", "未确认")),
            "unavailable" => (Ink::Bad, say(language, "unavailable, nothing moved", "不可用，没有动作")),
            "ignored" => (Ink::Bad, say(language, "cannot do that, nothing moved", "不支持，没有动作")),
            "outcome_unknown" => (Ink::Bad, say(language, "outcome unknown", "结果未知")),
            _ => (Ink::Bad, say(language, "failed", "失败")),
        };
        let change = if moved.before == moved.after {
            state(&moved.after)
        } else {
            format!("{} → {}", state(&moved.before), state(&moved.after))
        };
        put(&format!("  {}: {change}  {}", moved.name, self.ink(ink, outcome)))
    }

    fn refused(&self, step: &Step, language: Language, names: Names<'_>) -> Result<()> {
        put(&format!("  {}", self.ink(Ink::Bad, say(language, "refused, nothing moved:", "已拒绝，没有任何动作："))))?;
        let reasons = step.answer.get("reasons").and_then(Value::as_array);
        for reason in reasons.into_iter().flatten().filter_map(Value::as_str) {
            put(&format!("    {}", with_names(reason, language, names)))?;
        }
        put(&format!("  {}", self.ink(Ink::Dim, &self.how(step, language))))
    }

    /// How a person decides what was refused, where a person can.
    fn how(&self, step: &Step, language: Language) -> String {
        let nothing = say(language, "Nothing typed here can change that.", "在这里输入什么都不会改变。");
        if text(&step.answer, "error") != "needs_confirmation" {
            return nothing.to_owned();
        }
        let targets = step.answer.get("targets").and_then(Value::as_array);
        // A macro is granted as it is, not the door that it opens.
        let command = match (&step.runs, targets.map(Vec::as_slice)) {
            (Some(runs), _) => format!("`menshen gate set grant {}`", runs.entity_id),
            (None, Some([Value::String(id)])) => format!("`menshen gate set grant {id}`"),
            _ => "`menshen gate set`".to_owned(),
        };
        match (language, self.disposable) {
            (Language::English, true) => format!("{nothing} In a house of your own you decide it once: {command}."),
            (Language::English, false) => format!("{nothing} A person decides it once, outside: {command}."),
            (Language::Chinese, true) => format!("{nothing}在你自己的家里，由你决定一次：{command}。"),
            (Language::Chinese, false) => format!("{nothing}由人在外面决定一次：{command}。"),
        }
    }

    fn names(&self, named: &[Named], language: Language) -> Result<()> {
        for one in named.iter().take(ROWS_MAX) {
            put(&format!("    {}  {}", one.name, self.ink(Ink::Dim, one.entity_id.as_str())))?;
        }
        if named.len() > ROWS_MAX {
            put(&format!("    {}", more(named.len() - ROWS_MAX, language)))?;
        }
        Ok(())
    }
}

/// A call in one line: `light.turn_on (3) brightness_pct 30`.
fn in_short(call: &Call) -> String {
    let ids = decide::understood::targets(call);
    let whom = match ids.as_slice() {
        [id] => id.to_string(),
        ids => format!("({})", ids.len()),
    };
    let data: Vec<String> =
        call.data.iter().map(|(key, value)| format!("{key} {}", decide::text::clean(&plain(value), 60))).collect();
    format!("{}.{} {whom} {}", call.domain, call.service, data.join(" ")).trim_end().to_owned()
}

fn more(count: usize, language: Language) -> String {
    match language {
        Language::English => format!("and {count} more"),
        Language::Chinese => format!("还有 {count} 个"),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text<'a>(answer: &'a Value, key: &str) -> &'a str {
    answer.get(key).and_then(Value::as_str).unwrap_or_default()
}
