//! What people say around a macro's name: politeness, wishes, verbs, "mode" and "scene".
//!
//! Start at [`readings`]: it takes carrier words off both ends, in every way that makes sense, and
//! gives what may be the name. Invariants: nothing is ever taken out of the middle; a word that
//! denies, ends, asks or reports is never a carrier, so "do not say good night" can never become
//! "good night"; at least one word stays.

use std::sync::LazyLock;

use super::wordings::{Wordings, list};
use crate::text::Folded;

/// Phrases longer than this many words are matched as a whole only.
const WORDS_MAX: usize = 48;
/// At most so many ways to read one phrase.
const READINGS_MAX: usize = 64;

/// A stretch of the phrase that may be the name, and what was said around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub from: usize,
    pub to: usize,
    /// "could you", 可以: a question that is a wish.
    request: bool,
    /// 吗 was said: fits only a wish.
    asks: bool,
    /// "scene" or "script" was said.
    pub kind: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scene,
    Script,
}

impl Kind {
    pub(super) fn domain(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Script => "script",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Means {
    Nothing,
    Request,
    /// 吗 at the end.
    Asks,
    /// A verb behind the name: 晚安模式打开.
    Verb,
    Kind(Kind),
}

/// Every way to read a phrase, least taken off first.
pub(super) fn readings(phrase: &Folded) -> Vec<Reading> {
    let whole = Reading { to: phrase.len(), ..Reading::default() };
    let mut all = vec![whole];
    if phrase.len() > WORDS_MAX {
        return all;
    }
    let mut next = 0;
    while next < all.len() && all.len() < READINGS_MAX {
        let reading = all[next];
        next += 1;
        for (carrier, means) in CARRIERS.front.at(phrase, reading.from) {
            if carrier.len() < reading.to - reading.from {
                add(&mut all, reading.without(*means, reading.from + carrier.len(), reading.to));
            }
        }
        for (carrier, means) in CARRIERS.back.before(phrase, reading.to) {
            let Some(at) = reading.to.checked_sub(carrier.len()).filter(|&at| at > reading.from) else { continue };
            if allowed(phrase, at, reading.to, *means) {
                add(&mut all, reading.without(*means, reading.from, at));
            }
        }
    }
    all.retain(|reading| reading.request || !reading.asks);
    // Least taken off first, whatever the order of the lists.
    all.sort_by_key(|reading| (reading.peeled(phrase), reading.from));
    all
}

impl Reading {
    fn without(self, means: Means, from: usize, to: usize) -> Self {
        Self {
            from,
            to,
            request: self.request || means == Means::Request,
            asks: self.asks || means == Means::Asks,
            kind: match means {
                Means::Kind(kind) => Some(kind),
                _ => self.kind,
            },
        }
    }

    /// How many words were taken off.
    pub(super) fn peeled(&self, phrase: &Folded) -> usize {
        phrase.len() - (self.to - self.from)
    }
}

fn add(all: &mut Vec<Reading>, reading: Reading) {
    if all.len() < READINGS_MAX && !all.contains(&reading) {
        all.push(reading);
    }
}

/// 睡觉了吗 asks whether it happened, 模式打开了 tells that it did: neither wishes it.
fn allowed(phrase: &Folded, at: usize, end: usize, means: Means) -> bool {
    match means {
        Means::Asks => !matches!(phrase.word(at - 1), "了" | "过" | "没" | "着" | "啦"),
        Means::Verb => !matches!(phrase.word(end), "了" | "过" | "着" | "啦"),
        _ => true,
    }
}

/// Nothing at all, or one carrier by itself: "thanks", 谢谢.
pub(super) fn only(clause: &Folded) -> bool {
    clause.is_empty() || CARRIERS.front.at(clause, 0).chain(CARRIERS.back.at(clause, 0)).any(|(it, _)| it == clause)
}

/// A macro's name without the words that say what it is ("mode", 场景, 全屋): from where to where.
pub(super) fn core(name: &Folded) -> (usize, usize) {
    let (mut from, mut to) = (0, name.len());
    loop {
        let before = (from, to);
        if let Some((word, ())) = CARRIERS.name_front.at(name, from).find(|(word, ())| word.len() < to - from) {
            from += word.len();
        }
        if let Some((word, ())) = CARRIERS.name_back.before(name, to).find(|(word, ())| word.len() < to - from) {
            to -= word.len();
        }
        if before == (from, to) {
            return before;
        }
    }
}

struct Carriers {
    front: Wordings<Means>,
    back: Wordings<Means>,
    name_front: Wordings<()>,
    name_back: Wordings<()>,
}

static CARRIERS: LazyLock<Carriers> = LazyLock::new(|| {
    let with = |texts: &'static str, means: Means| list(texts).map(move |text| (text, means));
    let (scene, script) = (Means::Kind(Kind::Scene), Means::Kind(Kind::Script));
    Carriers {
        front: with(FRONT, Means::Nothing)
            .chain(with(FRONT_REQUEST, Means::Request))
            .chain(with("scene,the scene,scene called,scene named", scene))
            .chain(with("script,the script,script called,script named,脚本", script))
            .collect(),
        back: with(BACK, Means::Nothing)
            .chain(with(BACK_REQUEST, Means::Request))
            .chain(with("吗,么", Means::Asks))
            .chain(with(BACK_VERB, Means::Verb))
            .chain(with("scene,场景,情景,情境", scene))
            .chain(with("script,脚本", script))
            .collect(),
        name_front: list(NAME_FRONT).map(|word| (word, ())).collect(),
        name_back: list(NAME_BACK).map(|word| (word, ())).collect(),
    }
});

/// Around a macro's name, saying no more than that it is one.
const NAME_FRONT: &str = "scene,script,macro,mode,routine,the,my,our,whole house,whole home,场景,情景,情境,脚本,模式,我的,我们的,全屋,\
    一键,全家,我家,家庭";
const NAME_BACK: &str = "mode,scene,script,routine,macro,sequence,program,scenario,time,模式,场景,情景,情境,脚本,宏,程序,流程,状态,\
    方案,时间";

/// Before the name: greetings, wake words, wishes about oneself, verbs, articles.
const FRONT: &str = "please,pls,plz,kindly,hey,hi,hello,ok,okay,now,just,so,well,alright,all right,then,oh,um,uh,yo,and,\
    sure,yes,yeah,yep,thanks,thank you,hey google,ok google,google,siri,hey siri,alexa,nabu,ok nabu,okay nabu,jarvis,hey jarvis,\
    computer,menshen,home assistant,hey home assistant,everyone,everybody,guys,\
    i want,i want to,i wanna,i need to,i would like,i would like to,id like,id like to,id love to,i am going to,i am gonna,\
    im going to,im gonna,im about to,i am about to,i feel like,i want you to,we want,we want to,we wanna,we need to,\
    we would like,we would like to,wed like,wed like to,we are going to,we are gonna,were going to,were gonna,were about to,\
    we are about to,i am,im,we are,were,i think im,i just,we just,i will,ill,we will,i think ill,i think i will,i guess ill,ive,weve,finally,at last,ive just,weve just,lets,let us,lets do,lets have,lets go ahead and,shall we say,\
    its,it is,its now,it is now,time for,time to,its time for,its time to,it is time for,it is time to,its time for a,\
    go ahead and,how about,what about,help me,tell the house,set the house to,set the home to,put the house in,put the house into,\
    put the home in,switch the house to,set the mood for,get ready for,getting ready for,prepare for,prepare the house for,\
    get the house ready for,run,start,activate,execute,trigger,launch,play,turn on,switch on,put on,set,enable,begin,do,engage,\
    initiate,invoke,apply,load,use,switch to,change to,go to,go into,enter,set to,set up,fire up,turn to,\
    give me,give us,perform,choose,select,pick,the,a,an,my,our,your,some,this,that,macro,routine,automation,mode,\
    唔该,唔该你,请,请你,请您,麻烦,麻烦你,麻烦您,劳驾,劳烦,有劳,拜托,拜托你,帮我,帮我们,帮忙,帮,给我,给我们,给,替我,为我,嘿,嗨,喂,哈喽,\
    哈啰,你好,您好,嗯,哦,噢,啊,诶,哎,那,那就,那么,好,好的,好了,好啦,好吧,行,行吧,现在,马上,立刻,立即,赶紧,赶快,快点,快去,\
    然后,这就,就,先,再,我,我们,咱,咱们,俺,大家,宝贝,亲爱的,各位,要,想,想要,需要,准备,准备要,打算,该,得,去,要去,想去,就要,\
    让,让我,让我们,一起,来,来个,来一个,来一场,来点,是时候,时间到了,到,到了,到时间,执行,运行,启动,激活,打开,开启,开,开始,触发,\
    切换到,切换成,切换为,切换至,切换,切到,切成,切,换到,换成,换为,换,进入,调到,调成,调整到,调整为,调为,设为,设成,设置为,设置成,\
    设置到,设置,设定为,设定成,改成,改为,变成,转到,转为,转换到,使用,用,调用,应用,启用,加载,放,跑,跑一下,打开下,开下,执行下,启动下,走,走一下,来一下,弄,搞,\
    做,整,安排,安排个,安排一个,实施,选择,选用,选,把,将,个,一个,这个,那个,一下,一次,一遍,我的,我家,我家的,我们的,我们家,我们家的,家里,\
    家里的,全屋,一键,场景,情景,情境,模式,宏,名为,名叫,小爱同学,小爱,小度小度,小度,天猫精灵,小智,小智小智,小布小布,小布,\
    小艺小艺,小艺,门神,管家,小管家";

/// Before the name: a question that is a wish.
const FRONT_REQUEST: &str = "could you,can you,would you,will you,could we,can we,may we,can i have,can i get,could i have,\
    could i get,may i have,can you please,could you please,would you please,would you kindly,could you kindly,\
    would you be so kind as to,would you mind,could you help me,can you help me,you can,you could,\
    可以,可不可以,能不能,能否,可否,能,是否可以,是否能,你能,你能不能,您能,您能不能,你可以,你可不可以,您可以,您可不可以,你帮我,你给我";

/// Behind the name: politeness, particles, "mode", "now".
const BACK: &str = "please,pls,plz,now,thanks,thank you,thank you very much,thanks a lot,many thanks,for me,for us,right now,\
    right away,immediately,at once,then,everyone,everybody,guys,you guys,all,yall,folks,house,home assistant,alexa,siri,google,\
    jarvis,nabu,computer,menshen,if you can,if you could,if you would,ok,okay,it is,again,already,my friend,buddy,dear,\
    darling,honey,baby,sweetie,my love,time,mode,routine,macro,sequence,program,scenario,automation,setting,settings,\
    模式,宏,程序,流程,状态,方案,一下,一下子,下,一趟,一次,一遍,吧,嘛,啊,呀,哦,喔,啦,了,咯,喽,哈,呗,噢,哟,哒,的,啰,喇,呐,诶,嘞,\
    谢谢,谢谢你,谢谢您,谢谢啦,多谢,谢了,谢啦,感谢,拜托,拜托了,辛苦了,大家,各位,宝贝,亲爱的,小爱,小爱同学,小度,小智,天猫精灵,\
    家人们,时间,时间到,时间到了,的时间到了,的时候到了,现在,马上,立刻,去";

/// Behind the name: the tag of a wish.
const BACK_REQUEST: &str = "will you,would you,could you,can you,would you please,could you please,can you please,好吗,好不好,行吗,行不行,\
    可以吗,可不可以,好嘛,好么,行么,可以么,成吗,能行吗";

/// Behind the name: the verb that Chinese (and "movie mode on") puts last.
const BACK_VERB: &str = "on,activate,start,go,打开,启动,开启,执行,激活,运行,走起,开始,安排,安排上,起来,开起来,跑起来,搞起来,打开来,\
    启动起来,启用,切换";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::macros::heard;
    use crate::text::fold;

    #[test]
    fn no_carrier_denies_ends_or_asks() {
        // Wishes in the form of a question.
        let polite = [
            "howabout",
            "whatabout",
            "ifyoucan",
            "ifyoucould",
            "ifyouwould",
            "那么",
            "scenecalled",
            "scriptcalled",
            "的时候到了",
        ];
        for (carrier, means) in CARRIERS.front.iter().chain(CARRIERS.back.iter()) {
            let wish = matches!(means, Means::Request | Means::Asks) || polite.contains(&carrier.joined());
            assert!(wish || heard::refuses(carrier).is_none(), "{:?}", carrier.joined());
            assert!(!heard::negated(carrier), "{:?}", carrier.joined());
        }
    }

    #[test]
    fn words_come_off_both_ends_and_one_stays() {
        let core_of = |text: &str| {
            let folded = fold(text);
            readings(&folded).iter().map(|r| folded.slice(r.from, r.to).to_owned()).collect::<Vec<_>>()
        };
        assert!(core_of("please run the bedtime scene now").contains(&"bedtime".to_owned()));
        assert!(core_of("麻烦帮我执行一下晚安模式，谢谢").contains(&"晚安".to_owned()));
        assert!(core_of("please please please").iter().all(|left| !left.is_empty()));
        assert!(core_of("please ".repeat(200).as_str()).len() == 1);
    }
}
