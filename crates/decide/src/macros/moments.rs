//! The moments of a household's day and the words people have for them, in both languages.
//!
//! Start at [`said`] (what a phrase means) and [`named`] (what a macro's name stands for). Entries
//! stand without politeness and particles: `carriers.rs` takes those off first.
//! Invariant: one wording belongs to one moment.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::LOOSE_WEIGHT_MIN;
use super::wordings::{Wordings, list};
use crate::gate::Language;
use crate::text::{Folded, pinyin};

/// A moment that most households have a macro for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    GoodNight,
    Morning,
    Evening,
    Leaving,
    Arriving,
    Movie,
    Television,
    Dining,
    Breakfast,
    Lunch,
    Cooking,
    Party,
    Guests,
    Vacation,
    Focus,
    Reading,
    Relax,
    Romantic,
    Nap,
    Bath,
    Cleaning,
    Exercise,
    Game,
    Music,
}

impl Moment {
    /// The stable key, `good_night`.
    pub fn key(self) -> &'static str {
        self.row().key
    }

    pub fn label(self, language: Language) -> &'static str {
        match language {
            Language::English => self.row().english,
            Language::Chinese => self.row().chinese,
        }
    }

    fn row(self) -> &'static Row {
        // The table holds every moment (a test proves it); the first row is never the wrong answer.
        TABLE.iter().find(|row| row.moment == self).unwrap_or(&TABLE[0])
    }
}

struct Row {
    moment: Moment,
    key: &'static str,
    english: &'static str,
    chinese: &'static str,
    /// What people say for it; a macro may be named so as well. Parted by commas.
    said: &'static str,
    /// What only a macro is named: too short or too broad to mean it when said.
    named: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        moment: Moment::GoodNight,
        key: "good_night",
        english: "good night",
        chinese: "晚安",
        said: "good night,night night,nighty night,nite nite,bedtime,time for bed,go to bed,going to bed,off to bed,\
            heading to bed,head to bed,ready for bed,get ready for bed,getting ready for bed,bedtime routine,sleep,\
            go to sleep,going to sleep,time to sleep,sleep time,sleepy,sleepy time,sleep tight,sweet dreams,turn in,\
            turning in,hit the hay,hit the sack,hitting the hay,call it a night,calling it a night,night mode,nighttime,\
            晚安,晚安好梦,好梦,好眠,睡觉,睡觉觉,睡觉时间,睡了,睡啦,睡吧,去睡,去睡了,睡觉去,入睡,睡眠,睡前,安寝,\
            就寝,上床,上床睡觉,上床休息,困了,好困,好困啊,困死了,犯困,休息,休息了,歇息,歇了,熄灯睡觉,关灯睡觉,\
            早点睡,早点休息,睡个好觉,准备睡觉,夜间模式,瞓觉,去瞓觉,瞓觉喇",
        named: "night,sleeping,asleep,bed,夜间,夜晚,夜里",
    },
    Row {
        moment: Moment::Morning,
        key: "morning",
        english: "morning",
        chinese: "早安",
        said: "good morning,morning,wake up,waking up,woke up,get up,getting up,got up,time to get up,rise and shine,\
            im up,im awake,awake,start the day,start my day,wakey wakey,早安,早上好,早啊,早呀,早哇,早晨,早晨好,清晨,早上,\
            起床,起床了,起来,起来了,醒了,睡醒,睡醒了,醒来,天亮,天亮了,晨起,晨间,新的一天",
        named: "sunrise,daybreak,日出",
    },
    Row {
        moment: Moment::Evening,
        key: "evening",
        english: "evening",
        chinese: "傍晚",
        said: "evening,good evening,傍晚,晚上好,黄昏",
        named: "sunset,dusk,晚上,日落",
    },
    Row {
        moment: Moment::Leaving,
        key: "leaving",
        english: "leaving home",
        chinese: "离家",
        said: "leaving,leave,leave home,leaving home,leave the house,leaving the house,leave now,heading out,head out,going out,\
            out the door,off to work,going to work,go to work,leaving for work,heading to work,head to work,going to school,\
            off to school,going to the office,bye,bye bye,goodbye,see you later,see you,see ya,see you soon,away,im off,\
            were off,stepping out,depart,departing,departure,离家,离开,离开家,离开家里,出门,出门去,出门去了,外出,出去,\
            出发,上班,上班去,上班去了,去上班,去上班了,上学,上学去,上学去了,去上学,走了,走啦,走咯,走喽,我走了,先走了,拜拜,\
            再见,回头见,回见,待会见,待会儿见,晚点见,家里没人,出街,返工",
        named: "nobody home,no one home,nobody is home,everyone left,all out,无人,没人,人走",
    },
    Row {
        moment: Moment::Arriving,
        key: "arriving",
        english: "coming home",
        chinese: "回家",
        said: "home,im home,were home,home again,home sweet home,honey im home,back,back home,im back,were back,home from work,\
            back from work,home from school,arriving,arrive,arrived,arrive home,arriving home,arrived home,ive arrived,get home,\
            got home,got in,got back,came home,coming home,come home,returning home,return home,\
            welcome home,welcome back,welcome,回家,回来,回来了,我回来了,到家,到家了,进门,归家,回到家,回到家了,刚到家,刚到家了,刚回来,刚回家,\
            刚进门,欢迎回家,欢迎,下班,下班了,下班回家,下班到家,放学,放学了,放学回家,返屋企,返到屋企,返嚟,返嚟喇,在家模式",
        named: "someone home,在家",
    },
    Row {
        moment: Moment::Movie,
        key: "movie",
        english: "movie time",
        chinese: "看电影",
        said: "movie,movies,movie time,movie night,movie marathon,watch a movie,watch movie,watch movies,watch the movie,\
            watching a movie,watch a film,watch the film,watching a film,see a movie,film,film night,film time,movies night,\
            cinema,cinema time,home cinema,watch something,watch netflix,netflix,netflix time,theater mode,theatre mode,电影,\
            看电影,看电影了,观影,看片,看个电影,看部电影,看一部电影,看场电影,看一场电影,看会电影,看会儿电影,电影时间,\
            电影之夜,电影夜,影院,放电影,放映,观看电影,看大片,看个片,看个片子,睇戏,睇电影",
        named: "theater,theatre,home theater,home theatre,movie theater,家庭影院,影音,影音室",
    },
    Row {
        moment: Moment::Television,
        key: "television",
        english: "watching television",
        chinese: "看电视",
        said: "watch tv,watching tv,tv time,tv mode,watch television,watch a show,看电视,看会电视,看会儿电视,追剧,看剧,电视模式",
        named: "tv,television,电视",
    },
    Row {
        moment: Moment::Dining,
        key: "dining",
        english: "dinner",
        chinese: "用餐",
        said: "dinner,dinner time,dinners ready,dinner is ready,dinner is served,dining,supper,supper time,eat,eating,time to eat,\
            meal,meal time,have dinner,having dinner,eat dinner,eating dinner,food is ready,吃饭,吃饭饭,吃饭时间,吃饭去,用餐,开饭,\
            开饭了,晚餐,晚饭,吃晚饭,吃晚餐,就餐,进餐,饭点,干饭,恰饭,开席,共进晚餐,享用晚餐,享用美食,食饭,食饭喇",
        named: "餐厅模式",
    },
    Row {
        moment: Moment::Breakfast,
        key: "breakfast",
        english: "breakfast",
        chinese: "早餐",
        said: "breakfast,breakfast time,have breakfast,having breakfast,eat breakfast,早餐,早饭,吃早饭,吃早餐",
        named: "",
    },
    Row {
        moment: Moment::Lunch,
        key: "lunch",
        english: "lunch",
        chinese: "午餐",
        said: "lunch,lunch time,have lunch,having lunch,eat lunch,午餐,午饭,中饭,吃午饭,吃午餐,吃中饭",
        named: "",
    },
    Row {
        moment: Moment::Cooking,
        key: "cooking",
        english: "cooking",
        chinese: "做饭",
        said: "cook,cooking,cook dinner,cooking dinner,make dinner,making dinner,start cooking,time to cook,做饭,做晚饭,做饭去,烹饪,\
            烧饭,煮饭,下厨,炒菜,烧菜,做菜",
        named: "",
    },
    Row {
        moment: Moment::Party,
        key: "party",
        english: "party",
        chinese: "派对",
        said: "party,party time,partying,party on,have a party,having a party,throw a party,get the party started,get this party started,celebrate,celebration,time to party,派对,\
            聚会,轰趴,开趴,开派对,办派对,开个派对,狂欢,嗨起来,蹦迪,庆祝,派对时间",
        named: "disco",
    },
    Row {
        moment: Moment::Guests,
        key: "guests",
        english: "guests",
        chinese: "会客",
        said: "guests,guest,guest mode,have guests,having guests,guests are here,guests are coming,guests arriving,we have guests,\
            visitors,we have visitors,会客,来客,来客人,来客人了,客人来,客人来了,有客人,有客人来,有客人来了,客人到了,家里来客人了,\
            待客,迎客,招待客人,接待客人,接待",
        named: "客人,访客",
    },
    Row {
        moment: Moment::Vacation,
        key: "vacation",
        english: "vacation",
        chinese: "度假",
        said: "vacation,holiday,holidays,on vacation,going on vacation,off on vacation,off on holiday,leaving for vacation,on holiday,going on holiday,travel,\
            traveling,travelling,trip,going on a trip,business trip,going on a business trip,going away,度假,去度假,旅行,去旅行,旅游,去旅游,出差,\
            去出差,出差去,出差去了,出游,出远门,长期外出,假期,休假,外出旅行,出门旅行,出门旅游,远行",
        named: "",
    },
    Row {
        moment: Moment::Focus,
        key: "focus",
        english: "focus",
        chinese: "专注",
        said: "focus,focus time,focus mode,time to focus,concentrate,concentration,concentrating,work,working,work time,time to work,\
            start work,start working,deep work,working from home,study,studying,study time,time to study,homework,homework time,\
            do homework,do my homework,doing homework,do not disturb,dont disturb,专注,工作,工作时间,办公,学习,学习时间,自习,备考,\
            写作业,做作业,写作业了,勿扰,请勿打扰,免打扰,勿打扰,集中精神,集中注意力,开工,在家办公,居家办公",
        named: "office,home office,work from home",
    },
    Row {
        moment: Moment::Reading,
        key: "reading",
        english: "reading",
        chinese: "阅读",
        said: "read,reading,reading time,time to read,read a book,reading a book,阅读,阅读时间,看书,读书,看会书,看会儿书,读会书,\
            读会儿书,看看书,看一会书,看一会儿书,看本书",
        named: "",
    },
    Row {
        moment: Moment::Relax,
        key: "relax",
        english: "relaxing",
        chinese: "放松",
        said: "relax,relaxing,relaxation,time to relax,chill,chill out,chilling,unwind,wind down,放松,放松放松,休闲,轻松一下,躺平,\
            歇会,歇会儿,休息一会,休息一会儿",
        named: "cozy,cosy,温馨",
    },
    Row {
        moment: Moment::Romantic,
        key: "romantic",
        english: "a romantic evening",
        chinese: "浪漫",
        said: "romantic,romance,date night,浪漫,约会,二人世界,烛光晚餐",
        named: "candlelight,烛光",
    },
    Row {
        moment: Moment::Nap,
        key: "nap",
        english: "a nap",
        chinese: "午睡",
        said: "nap,nap time,take a nap,taking a nap,have a nap,siesta,午睡,午休,小睡,小睡一会,睡午觉,睡个午觉,小憩,打个盹",
        named: "",
    },
    Row {
        moment: Moment::Bath,
        key: "bath",
        english: "a bath",
        chinese: "洗澡",
        said: "bath,bath time,bathing,take a bath,taking a bath,have a bath,shower,shower time,take a shower,taking a shower,\
            have a shower,洗澡,洗澡澡,洗澡去,洗个澡,泡澡,泡个澡,沐浴,淋浴,冲凉,冲澡,冲个澡,洗浴",
        named: "",
    },
    Row {
        moment: Moment::Cleaning,
        key: "cleaning",
        english: "cleaning",
        chinese: "打扫",
        said: "clean,cleaning,clean up,cleaning up,cleaning time,time to clean,clean the house,cleaning the house,tidy up,\
            tidying up,housework,打扫,打扫卫生,打扫一下卫生,打扫房间,打扫屋子,打扫家里,大扫除,清洁,清扫,保洁,扫地,拖地,扫除,搞卫生,做家务,\
            收拾屋子,收拾房间",
        named: "",
    },
    Row {
        moment: Moment::Exercise,
        key: "exercise",
        english: "exercise",
        chinese: "健身",
        said: "exercise,exercising,work out,working out,time to work out,workout time,gym,gym time,fitness,健身,运动,锻炼,锻炼身体,\
            运动时间,运动运动",
        named: "training,yoga,瑜伽",
    },
    Row {
        moment: Moment::Game,
        key: "game",
        english: "games",
        chinese: "游戏",
        said: "game,games,gaming,game time,gaming time,game night,play games,play a game,playing games,游戏,游戏时间,打游戏,玩游戏,\
            打会游戏,打会儿游戏,玩会游戏,玩会儿游戏,电竞,开黑",
        named: "",
    },
    Row {
        moment: Moment::Music,
        key: "music",
        english: "music",
        chinese: "音乐",
        said: "music,music time,play music,play some music,listen to music,listening to music,音乐,音乐时间,听音乐,听歌,听首歌,听会歌,听会儿歌,放音乐",
        named: "",
    },
];

/// What 了 becomes when it is said with feeling.
const PARTICLES: [char; 5] = ['啦', '咯', '喽', '啰', '喇'];

struct Words {
    said: HashMap<String, Moment>,
    named: HashMap<String, Moment>,
    /// Every pinyin spelling of the Chinese wordings.
    pinyin: HashMap<String, Moment>,
    /// Latin wordings long enough to be recognised with one slip.
    typed: Vec<(Folded, Moment)>,
    /// Wordings that may be recognised inside a longer name.
    inside: Wordings<Moment>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words = Words {
        said: HashMap::new(),
        named: HashMap::new(),
        pinyin: HashMap::new(),
        typed: Vec::new(),
        inside: TABLE
            .iter()
            .flat_map(|row| list(row.said).map(|text| (text, row.moment)))
            .filter(|(text, _)| text.weight() >= LOOSE_WEIGHT_MIN)
            .collect(),
    };
    for row in TABLE {
        for text in list(row.said) {
            for spelling in pinyin::all_spellings(&text) {
                words.pinyin.entry(spelling).or_insert(row.moment);
            }
            if text.joined().is_ascii() && text.weight() >= 7 {
                words.typed.push((text.clone(), row.moment));
            }
            words.said.insert(text.joined().to_owned(), row.moment);
            // 走了 is said 走啦, 走咯 and so on.
            for particle in
                text.joined().strip_suffix('了').into_iter().flat_map(|it| PARTICLES.map(|p| format!("{it}{p}")))
            {
                words.said.entry(particle).or_insert(row.moment);
            }
        }
        for text in list(row.named) {
            words.named.insert(text.joined().to_owned(), row.moment);
        }
    }
    words
});

/// The moment that exactly these words mean when a person says them.
pub(super) fn said(joined: &str) -> Option<Moment> {
    WORDS.said.get(joined).copied()
}

/// The moment that a macro of exactly this name is for.
pub(super) fn named(joined: &str) -> Option<Moment> {
    said(joined).or_else(|| WORDS.named.get(joined).copied())
}

/// The moment whose Chinese wording these letters spell.
pub(super) fn spelled(letters: &str) -> Option<Moment> {
    WORDS.pinyin.get(letters).copied()
}

/// The moment that was meant but for one slip of the finger; none when two moments are as near.
pub(super) fn mistyped(text: &Folded) -> Option<Moment> {
    let mut near = WORDS.typed.iter().filter(|(entry, _)| crate::text::same_but_for_a_slip(text, entry));
    let (_, moment) = near.next()?;
    near.all(|(_, other)| other == moment).then_some(*moment)
}

/// The moments whose wordings are a part of a longer name ("Kids bedtime"), each once.
pub(super) fn inside(name: &Folded) -> Vec<Moment> {
    let mut moments: Vec<Moment> =
        (0..name.len()).flat_map(|at| WORDS.inside.at(name, at)).map(|(_, moment)| *moment).collect();
    moments.sort();
    moments.dedup();
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn one_wording_belongs_to_one_moment() {
        let mut seen: HashMap<String, (&str, String)> = HashMap::new();
        for row in TABLE {
            for text in list(row.said).chain(list(row.named)) {
                let clash = seen.insert(text.joined().to_owned(), (row.key, text.joined().to_owned()));
                assert!(clash.is_none(), "{:?} in {} and {clash:?}", text.joined(), row.key);
            }
        }
    }

    #[test]
    fn no_wording_is_a_single_character_or_letter() {
        for row in TABLE {
            for text in list(row.said).chain(list(row.named)) {
                assert!(text.joined().chars().count() >= 2, "{:?}", text.joined());
            }
        }
    }

    #[test]
    fn every_moment_has_its_row_and_its_key() {
        for row in TABLE {
            let json = serde_json::to_value(row.moment).unwrap();
            assert_eq!(json, row.key);
            assert_eq!(row.moment.key(), row.key);
            assert_eq!(TABLE.iter().filter(|other| other.moment == row.moment).count(), 1);
            assert!(said(fold(row.chinese).joined()) == Some(row.moment), "{}", row.chinese);
        }
    }
}
