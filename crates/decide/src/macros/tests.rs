//! Tables of phrases over a few households, and properties over all phrases.

use super::*;

mod english;
mod mandarin;
mod properties;
mod reasons;
mod traps;

/// A household: `id | shown name | further names`, one a line.
pub(super) struct Household {
    macros: Vec<(EntityId, Vec<Arc<str>>)>,
}

impl Household {
    #[track_caller]
    pub fn new(lines: &str) -> Self {
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        let parse = |line: &str| {
            let mut parts = line.split('|').map(str::trim);
            let id = EntityId::parse(parts.next().unwrap()).unwrap();
            (id, parts.map(Arc::from).collect())
        };
        Self { macros: lines.map(parse).collect() }
    }

    pub fn candidates(&self) -> Vec<Candidate<'_>> {
        self.macros.iter().map(|(id, names)| Candidate { id, names }).collect()
    }

    pub fn ask(&self, phrase: &str) -> Match {
        match_phrase(phrase, &self.candidates())
    }

    /// An id; ids with blanks between (ambiguous); `!why` for no match.
    fn found(&self, phrase: &str) -> String {
        let ids = |hits: &[Hit]| hits.iter().map(|hit| hit.entity_id.to_string()).collect::<Vec<_>>().join(" ");
        match self.ask(phrase) {
            Match::One(hit) => hit.entity_id.to_string(),
            Match::Ambiguous(hits) => ids(&hits),
            Match::None(none) => format!("!{:?}", none.why),
        }
    }

    /// `expected` is written as [`Household::found`] gives it.
    #[track_caller]
    pub fn check(&self, phrase: &str, expected: &str) {
        self.check_all(expected, &[phrase]);
    }

    #[track_caller]
    pub fn check_all(&self, expected: &str, phrases: &[&str]) {
        let wrong = phrases.iter().map(|phrase| (phrase, self.found(phrase))).filter(|(_, found)| found != expected);
        let wrong: Vec<String> = wrong.map(|(phrase, found)| format!("{phrase:?} gives {found}")).collect();
        assert!(wrong.is_empty(), "not {expected}: {}", wrong.join(", "));
    }
}

/// The seeded family: Chinese and English macros, scenes and scripts of the same names.
pub(super) fn family() -> Household {
    Household::new(
        "scene.wan_an | 晚安
         scene.good_night | Good night
         scene.chi_jia | 离家
         scene.movie_time | Movie time
         scene.welcome | Welcome
         script.good_night_zh | 晚安
         script.good_night | Good night
         script.leave_home_zh | 离家
         script.movie_time | Movie time
         script.let_the_cat_in | Let the cat in
         script.run_anything | Run anything",
    )
}

/// A household that speaks English.
pub(super) fn english_household() -> Household {
    Household::new(
        "scene.bedtime | Bedtime
         scene.movie_night | Movie Night
         scene.outdoor_lights | Outdoor lights
         scene.home_theater | Home Theater
         scene.work_from_home | Work from home
         scene.backyard | Backyard
         script.morning | Good Morning
         script.away | Away | Leaving the house
         script.arrive | I'm home!
         script.dinner | Dinner mode
         script.party | 🎉 Party
         script.vacation | Vacation
         script.reading | Reading corner | Reading
         script.clean | Cleaning day
         script.do_not_disturb | Do not disturb
         script.story_time | Story time
         script.stop_music | Stop the music
         scene.lamp_1 | Lamp scene 1
         scene.lamp_2 | Lamp scene 2",
    )
}

/// A household that speaks Chinese.
pub(super) fn chinese_household() -> Household {
    Household::new(
        "script.wan_an | 晚安
         script.zao_an | 早安模式
         script.li_jia | 离家模式
         script.hui_jia | 回家
         scene.guan_ying | 观影模式 | 影院
         scene.yong_can | 用餐场景
         scene.ju_hui | 聚会
         script.du_jia | 度假
         scene.yue_du | 阅读
         scene.xue_xi | 学习
         script.da_sao | 打扫卫生
         scene.xi_zao | 洗澡
         script.kai_suo_you_deng | 打开所有灯
         script.guan_suo_you_deng | 关闭所有灯
         scene.hui_ke | 会客
         scene.yin_yue | 音乐时间",
    )
}
