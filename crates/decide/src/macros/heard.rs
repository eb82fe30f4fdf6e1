//! Why a phrase asks for nothing: it denies, it ends something, or it asks or tells about it.
//!
//! Start at [`refuses`]. This only explains and forbids guesses; that such a phrase finds no macro
//! already follows from `carriers.rs`, which never takes these words off.

use std::sync::LazyLock;

use super::Why;
use super::wordings::{Wordings, list};
use crate::text::Folded;

/// Negated, a question or a report, or none of these.
pub(super) fn refuses(phrase: &Folded) -> Option<Why> {
    if negated(phrase) {
        Some(Why::Negated)
    } else if asks(phrase) {
        Some(Why::Question)
    } else {
        None
    }
}

/// It says no, or that something should end.
pub(super) fn negated(phrase: &Folded) -> bool {
    stands(phrase, &LISTS.negations, Some(&LISTS.harmless))
}

/// It asks, wonders or tells about it.
fn asks(phrase: &Folded) -> bool {
    LISTS.asks_first.at(phrase, 0).next().is_some()
        || LISTS.asks_last.before(phrase, phrase.len()).any(|(word, ())| word.len() < phrase.len())
        || stands(phrase, &LISTS.asks, None)
}

/// Does one of these stand anywhere, other than inside one of the exceptions?
fn stands(phrase: &Folded, words: &Wordings<()>, except: Option<&Wordings<()>>) -> bool {
    let mut covered = 0;
    for at in 0..phrase.len() {
        let exceptions = except.into_iter().flat_map(|it| it.at(phrase, at)).map(|(word, ())| at + word.len());
        covered = exceptions.fold(covered, usize::max);
        if at >= covered && words.at(phrase, at).next().is_some() {
            return true;
        }
    }
    false
}

struct Lists {
    negations: Wordings<()>,
    harmless: Wordings<()>,
    asks: Wordings<()>,
    asks_first: Wordings<()>,
    asks_last: Wordings<()>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let wordings = |texts: &str| list(texts).map(|text| (text, ())).collect();
    Lists {
        negations: wordings(NEGATIONS),
        harmless: wordings(HARMLESS),
        asks: wordings(ASKS),
        asks_first: wordings(ASKS_FIRST),
        asks_last: wordings(ASKS_LAST),
    }
});

const NEGATIONS: &str = "not,dont,do not,never,nevermind,no,nope,without,cancel,stop,abort,quit,exit,end,finish,deactivate,disable,undo,\
    skip,cant,cannot,wont,shouldnt,wouldnt,couldnt,isnt,arent,wasnt,didnt,doesnt,havent,hasnt,aint,neither,nor,avoid,prevent,\
    forget,postpone,delay,refuse,rather than,instead of,turn off,switch off,shut off,turn it off,off,hold off,leave off,\
    不,别,甭,唔,冇,咪,莫,勿,休想,没,未,无需,无须,免了,禁止,严禁,取消,停止,停下,停掉,暂停,终止,中止,结束,退出,关闭,关掉,关上,撤销,\
    撤回,放弃,拒绝,推迟,延后,算了,慢着";

/// Where the same characters deny nothing.
const HARMLESS: &str = "唔该,能不能,可不可以,好不好,行不行,是不是,要不要,想不想,会不会,该不该,有没有,不错,不好意思,特别,别墅,分别,告别,离别,级别,类别,个别,别的,差别,性别,没错,没问题,\
    未来,off to,head off,heading off,im off,were off,weekend";

const ASKS: &str = "what,whats,when,whens,why,who,whos,whose,which,where,wheres,how,hows,whether,if,mean,means,meaning,said,says,told,\
    called,asked,explain,describe,什么,怎么,为何,为什么,几点,何时,多少,多久,哪个,哪些,哪里,谁,是不是,有没有,要不要,想不想,会不会,\
    该不该,是否,意思,如何,干嘛,说了,说过,他说,她说,告诉,提到,所谓,听说,如果,假如,的时候,解释,介绍";

const ASKS_FIRST: &str = "is,are,was,am,does,did,has,had,should,shall i,do you,do we,do i,do they,have you,have we,will it,would it,\
    could it,can it,tell me,tell us,show me,list,i said,i say,say";

const ASKS_LAST: &str = "吗,么,没,没有,了没,呢,吗你,yet";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[track_caller]
    fn check(phrase: &str, expected: Option<Why>) {
        assert_eq!(refuses(&fold(phrase)), expected, "{phrase}");
    }

    #[test]
    fn denials_and_endings_are_told_from_questions_and_wishes() {
        for phrase in [
            "不要晚安",
            "别离家模式",
            "do not say good night",
            "don't run movie time",
            "cancel movie time",
            "取消离家",
            "停止派对",
            "关闭观影模式",
            "我不想睡觉",
            "还没睡呢",
            "turn off movie mode",
            "能不能不要晚安",
            "特别不想睡觉",
        ] {
            check(phrase, Some(Why::Negated));
        }
        for phrase in
            ["is it bedtime yet", "when is bedtime", "晚安是什么意思", "睡觉了吗", "what's movie time", "他说晚安"]
        {
            check(phrase, Some(Why::Question));
        }
        for phrase in ["good night", "特别晚安", "晚安，能不能", "别墅派对", "we're off to bed", "weekend", ""]
        {
            check(phrase, None);
        }
    }
}
