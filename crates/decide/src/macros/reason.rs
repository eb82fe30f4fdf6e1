//! Why a macro was found, as one sentence that a person understands.

use super::{Basis, Hit};
use crate::gate::Language;

impl Hit {
    /// One sentence, two when a scene of the same name was passed over. Quotes the macro's name,
    /// which is text from the house (cleaned).
    pub fn reason(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        let kind = if self.entity_id.domain() == "scene" { "scene" } else { "script" };
        let this = format!("the {kind} \"{}\"", self.name);
        let moment = self.moment.map_or("this moment", |moment| moment.label(Language::English));
        let mut sentence = match self.basis {
            Basis::Id => format!("The phrase is the id of {this}."),
            Basis::Name => format!("The phrase is the name of {this}."),
            Basis::Alias => format!("The phrase is another name of {this}."),
            Basis::Core => format!("The phrase is the name of {this}, but for a word such as \"mode\" or \"scene\"."),
            Basis::Pinyin => format!("The phrase is the pinyin of a name of {this}."),
            Basis::WordOrder => format!("The phrase is a name of {this} in another word order."),
            Basis::Moment => format!("The phrase means {moment}, and {this} is this household's own for it."),
            Basis::ObjectId => format!("The phrase is the id of {this} ({}) in words.", self.entity_id),
            Basis::Spelling => format!("The phrase is a name of {this}, but for one slip of typing."),
            Basis::Sound => format!("The phrase sounds like a name of {this}."),
            Basis::MomentSpelling => {
                format!(
                    "The phrase means {moment}, but for one slip of typing, and {this} is this household's own for it."
                )
            }
            Basis::Part => format!("The phrase has something in common with {this}, too little to run it."),
        };
        if let Some(scene) = &self.instead_of {
            sentence.push_str(&format!(
                " The scene {scene} has the same name; a script goes before it, being the fuller routine."
            ));
        }
        sentence
    }

    fn chinese(&self) -> String {
        let kind = if self.entity_id.domain() == "scene" { "场景" } else { "脚本" };
        let this = format!("{kind}“{}”", self.name);
        let moment = self.moment.map_or("这个时刻", |moment| moment.label(Language::Chinese));
        let mut sentence = match self.basis {
            Basis::Id => format!("这句话就是{this}的编号。"),
            Basis::Name => format!("这句话就是{this}的名字。"),
            Basis::Alias => format!("这句话是{this}的别名。"),
            Basis::Core => format!("除了“模式”“场景”这样的字眼，这句话就是{this}的名字。"),
            Basis::Pinyin => format!("这句话是{this}名字的拼音。"),
            Basis::WordOrder => format!("这句话是{this}的名字，只是语序不同。"),
            Basis::Moment => format!("这句话的意思是“{moment}”，而{this}正是这个家为此准备的。"),
            Basis::ObjectId => format!("这句话就是{this}的编号（{}）。", self.entity_id),
            Basis::Spelling => format!("这句话像是{this}的名字，只打错了一处。"),
            Basis::Sound => format!("这句话与{this}的名字读音相同。"),
            Basis::MomentSpelling => {
                format!("这句话的意思应是“{moment}”（打错了一处），而{this}正是这个家为此准备的。")
            }
            Basis::Part => format!("这句话与{this}只有部分相同，不足以执行。"),
        };
        if let Some(scene) = &self.instead_of {
            sentence.push_str(&format!("场景 {scene} 与它同名；脚本更完整，优先于场景。"));
        }
        sentence
    }
}
