//! Chinese phrases and the macro that each means.

use super::{Household, chinese_household, family};

// long: a table
#[test]
fn a_chinese_phrase_finds_the_chinese_macro() {
    let home = chinese_household();
    home.check_all(
        "script.wan_an",
        &[
            "晚安",
            "晚安。",
            "晚安！",
            " 晚 安 ",
            "晚安😴",
            "「晚安」",
            "晚安啦",
            "晚安了",
            "晚安哦",
            "晚安呀",
            "大家晚安",
            "晚安各位",
            "晚安宝贝",
            "我睡了",
            "睡觉",
            "睡觉了",
            "睡觉啦",
            "我要睡觉了",
            "我要睡了",
            "我们要睡觉了",
            "我们睡了",
            "要睡了",
            "该睡觉了",
            "准备睡觉",
            "我准备睡觉了",
            "去睡觉",
            "去睡了",
            "困了",
            "我困了",
            "好困啊",
            "我好困",
            "就寝",
            "就寝模式",
            "我要休息了",
            "休息了",
            "上床睡觉",
            "睡眠模式",
            "夜间模式",
            "睡前模式",
            "熄灯睡觉",
            "好梦",
            "早点休息吧",
            "睡觉时间到了",
            "到睡觉时间了",
            "是时候睡觉了",
        ],
    );
    home.check_all(
        "script.zao_an",
        &[
            "早安",
            "早安模式",
            "早上好",
            "早上好啊",
            "起床",
            "起床了",
            "我起床了",
            "起床啦",
            "醒了",
            "我醒了",
            "天亮了",
            "早啊",
            "打开早安模式",
            "新的一天开始",
        ],
    );
    home.check_all(
        "script.li_jia",
        &[
            "离家",
            "离家模式",
            "我要离家了",
            "出门",
            "出门了",
            "我出门了",
            "我出门啦",
            "我们出门了",
            "我要出门",
            "外出",
            "外出模式",
            "我走了",
            "走了",
            "走啦",
            "我先走了",
            "上班去了",
            "我上班去了",
            "去上班了",
            "我去上班了",
            "上学去了",
            "拜拜",
            "再见",
            "回头见",
            "出发",
            "出发了",
            "我们出发吧",
        ],
    );
    home.check_all(
        "script.hui_jia",
        &[
            "回家",
            "回家了",
            "我回家了",
            "我回来了",
            "我回来啦",
            "我们回来了",
            "到家",
            "到家了",
            "我到家了",
            "我到家啦",
            "回家模式",
            "进门",
            "下班了",
            "我下班了",
            "刚到家",
            "我刚回来",
        ],
    );
    home.check_all(
        "scene.guan_ying",
        &[
            "观影",
            "观影模式",
            "看电影",
            "我要看电影",
            "我想看电影",
            "我们看电影吧",
            "电影模式",
            "电影时间",
            "影院",
            "影院模式",
            "看个电影",
            "来看个电影吧",
            "咱们看场电影",
            "放电影",
            "影院场景",
        ],
    );
    home.check_all(
        "scene.yong_can",
        &[
            "用餐",
            "吃饭",
            "吃饭了",
            "吃饭啦",
            "开饭",
            "开饭了",
            "开饭啦",
            "我们吃饭吧",
            "晚餐",
            "晚饭",
            "吃晚饭了",
            "用餐模式",
            "用餐场景",
            "该吃饭了",
        ],
    );
    home.check_all("scene.ju_hui", &["聚会", "派对", "派对模式", "开派对", "开个派对吧", "聚会模式", "轰趴", "嗨起来"]);
    home.check_all(
        "script.du_jia",
        &["度假", "度假模式", "旅行", "旅游", "我去旅游了", "我要出差了", "出差", "我们去度假了", "旅行模式", "出远门"],
    );
    home.check_all("scene.yue_du", &["阅读", "阅读模式", "看书", "我要看书", "读书", "看会儿书", "我想看书"]);
    home.check_all(
        "scene.xue_xi",
        &["学习", "学习模式", "专注", "工作模式", "写作业", "我要写作业了", "专注模式", "学习时间"],
    );
    home.check_all("script.da_sao", &["打扫", "打扫卫生", "搞卫生", "大扫除", "做家务", "开始打扫"]);
    home.check_all("scene.xi_zao", &["洗澡", "我要洗澡", "我去洗澡了", "泡澡", "沐浴模式"]);
    home.check_all("scene.hui_ke", &["会客", "客人来了", "来客人了", "家里来客人了", "会客模式"]);
    home.check_all("scene.yin_yue", &["音乐", "音乐时间", "听音乐", "我想听歌"]);
}

#[test]
fn politeness_and_carriers_come_off_in_chinese() {
    let home = chinese_household();
    home.check_all(
        "script.wan_an",
        &[
            "请晚安",
            "请帮我执行晚安",
            "请帮我执行晚安模式",
            "请帮我打开晚安模式",
            "麻烦帮我执行一下晚安",
            "麻烦你开一下晚安模式",
            "麻烦晚安一下",
            "可以晚安吗",
            "可以帮我打开晚安模式吗",
            "可以打开晚安模式吗？",
            "能不能打开晚安模式",
            "能不能帮我执行晚安",
            "能帮我开一下晚安吗",
            "可不可以启动晚安模式",
            "给我晚安",
            "给我打开晚安",
            "给我来个晚安模式",
            "执行晚安",
            "运行晚安",
            "启动晚安",
            "激活晚安",
            "打开晚安",
            "开启晚安模式",
            "触发晚安场景",
            "进入晚安模式",
            "切换到晚安模式",
            "切到晚安",
            "设置为晚安模式",
            "运行晚安脚本",
            "执行脚本晚安",
            "运行名为晚安的脚本",
            "把晚安模式打开",
            "晚安模式打开",
            "晚安模式启动",
            "晚安模式，谢谢",
            "打开晚安模式，谢谢你",
            "打开晚安模式好吗",
            "打开晚安模式可以吗",
            "打开晚安模式，拜托了",
            "小爱同学，晚安",
            "小度小度，打开晚安模式",
            "你好小智，晚安",
            "嘿，晚安",
            "好的，晚安吧",
            "那就晚安吧",
            "嗯，晚安",
            "现在执行晚安",
            "马上打开晚安模式",
            "一键晚安",
            "全屋晚安",
            "帮忙执行一下晚安",
            "你能帮我打开晚安模式吗",
            "我想打开晚安模式",
            "我要启动晚安",
            "晚安吧大家",
            "再运行一次晚安",
            "劳烦开启晚安模式",
        ],
    );
    home.check("启动回家模式", "script.hui_jia");
    home.check("可以帮我开启离家模式吗", "script.li_jia");
    home.check("进入度假状态", "script.du_jia");
}

#[test]
fn width_script_and_pinyin_make_no_difference() {
    let home = chinese_household();
    home.check_all(
        "script.wan_an",
        &[
            "晚　安",
            "wan an",
            "wanan",
            "Wan An",
            "WANAN",
            "wǎn ān",
            "wǎnān",
            "wan3 an1",
            "wan3an1",
            "wan'an",
            "ｗａｎ　ａｎ",
            "wan an moshi",
            "wananmoshi",
            "da kai wan an mo shi",
            "dakai wanan",
            "qing zhixing wan an",
            "shuijiao",
            "shui jiao",
            "shuì jiào",
            "jiuqin",
        ],
    );
    home.check_all(
        "script.li_jia",
        &[
            "離家",
            "離家模式",
            "請執行離家",
            "我出門了",
            "幫我開啟離家模式",
            "麻煩執行一下離家",
            "lijia",
            "li jia",
            "lí jiā",
            "chu men",
            "li jia mo shi",
        ],
    );
    home.check_all("script.hui_jia", &["回家", "我回來了", "我到家囉", "huijia", "hui jia"]);
    home.check_all(
        "scene.guan_ying",
        &[
            "觀影",
            "觀影模式",
            "看電影",
            "電影模式",
            "請幫我打開觀影模式",
            "guanying",
            "guan ying moshi",
            "kan dian ying",
        ],
    );
    home.check_all("scene.ju_hui", &["聚會", "派對", "juhui", "pai dui"]);
    home.check_all("scene.yue_du", &["閱讀", "看書", "yuedu"]);
    home.check_all("scene.xue_xi", &["學習", "xuexi", "專注"]);
    home.check_all("scene.yin_yue", &["音樂", "yinyue", "yin yue", "yinyue shijian"]);
    home.check_all("script.da_sao", &["打掃", "打掃衛生", "dasao"]);
    home.check_all("scene.yong_can", &["開飯了", "chi fan", "yongcan"]);
}

#[test]
fn an_english_phrase_finds_a_chinese_macro_when_there_is_no_other() {
    let home = chinese_household();
    home.check("good night", "script.wan_an");
    home.check("I'm leaving", "script.li_jia");
    home.check("movie time", "scene.guan_ying");
    home.check("let's have a party", "scene.ju_hui");
}

#[test]
fn denials_and_endings_run_nothing_in_chinese() {
    let home = chinese_household();
    home.check_all(
        "!Negated",
        &[
            "不要晚安",
            "别晚安",
            "不晚安",
            "先不晚安",
            "别离家模式",
            "不要离家模式",
            "请不要执行晚安",
            "不用打开晚安模式",
            "我不想睡觉",
            "我还不困",
            "别打开观影模式",
            "取消晚安",
            "取消离家模式",
            "停止晚安",
            "停止离家",
            "结束派对",
            "关闭观影模式",
            "退出观影模式",
            "晚安取消",
            "晚安模式关掉",
            "把晚安模式关了，不要了",
            "能不能不要晚安",
            "可以别开派对吗",
            "没到家",
            "我还没到家",
            "我没睡",
            "还没睡觉",
            "不是晚安",
            "禁止打开离家模式",
            "千万别晚安",
            "不看电影了",
            "别忘了晚安",
            "不許離家",
            "取消觀影",
            "算了，别晚安了",
            "晚安全屋灯关掉",
            "不要電影，晚安",
        ],
    );
}

#[test]
fn questions_and_reports_run_nothing_in_chinese() {
    let home = chinese_household();
    home.check_all(
        "!Question",
        &[
            "晚安是什么意思",
            "什么是晚安模式",
            "睡觉了吗",
            "你睡了吗",
            "吃饭了吗",
            "回家了吗",
            "他到家了吗",
            "晚安模式打开了吗",
            "可以睡觉了吗",
            "几点睡觉",
            "什么时候睡觉",
            "为什么要离家",
            "他说晚安",
            "她说了晚安",
            "我说过晚安",
            "离家模式会怎么样",
            "晚安模式有哪些灯",
            "是不是该睡觉了",
            "要不要看电影",
            "想不想看电影",
            "谁打开了派对模式",
            "如果我说晚安",
            "我说晚安的时候",
            "睡觉了么",
            "晚安是啥意思",
            "要睡觉吗",
            "晚安呢",
        ],
    );
}

#[test]
fn what_only_contains_a_name_runs_nothing_in_chinese() {
    let home = chinese_household();
    home.check_all(
        "!NothingFits",
        &[
            "安",
            "晚",
            "家",
            "模式",
            "场景",
            "打开",
            "执行",
            "请",
            "灯",
            "打开客厅灯",
            "晚上吃饭的地方有点暗",
            "回家路上买菜",
            "爸爸回家了晚上一起吃",
            "明天离家",
            "明早离家",
            "昨晚睡觉",
            "孩子们睡觉",
            "晚安玛卡巴卡",
            "快到家了",
            "解锁前门",
            "电影票",
            "学习机",
            "离家出走的小猫",
            "音乐声音大一点",
            "家里很暗",
            "打开晚安和回家",
            "卧室晚安",
            "度假村",
            "派对服装",
            "开",
        ],
    );
    home.check("", "!Empty");
    home.check("。。。！？", "!Empty");
    home.check("😴😴", "!Empty");
}

#[test]
fn names_that_begin_with_a_carrier_or_a_denial_are_still_names() {
    let home = chinese_household();
    home.check("打开所有灯", "script.kai_suo_you_deng");
    home.check("关闭所有灯", "script.guan_suo_you_deng");
    home.check("请关闭所有灯", "script.guan_suo_you_deng");
    home.check("關閉所有燈", "script.guan_suo_you_deng");
    home.check("不要关闭所有灯", "!Negated");
    let quiet = Household::new("script.quiet | 请勿打扰\nscript.open | 开门迎客");
    quiet.check("请勿打扰", "script.quiet");
    quiet.check("打开请勿打扰", "script.quiet");
    quiet.check("免打扰", "script.quiet");
    quiet.check("开门迎客", "script.open");
    quiet.check("门迎客", "!NothingFits");
}

#[test]
fn the_seeded_family_gets_its_own_macros() {
    let home = family();
    home.check_all(
        "script.good_night_zh",
        &["晚安", "睡觉了", "我要睡了", "请帮我执行晚安", "wan an", "wanan", "就寝", "晚安脚本", "bedtime 晚安"]
            .as_slice()[..8],
    );
    home.check_all("scene.wan_an", &["晚安场景", "打开晚安场景", "scene.wan_an", "SCENE.WAN_AN"]);
    home.check_all("script.leave_home_zh", &["离家", "離家", "我出门了", "离家模式", "li jia", "leave home zh"]);
    home.check_all("script.movie_time", &["看电影", "观影模式"]);
    home.check_all("scene.welcome", &["我回来了", "欢迎回家"]);
    home.check("早安", "!NothingFits");
    home.check("让猫进来", "!NothingFits");
}

#[test]
fn clauses_that_all_mean_the_same_macro_are_one_wish() {
    let home = chinese_household();
    home.check_all(
        "script.li_jia",
        &["我们要出门了，启动离家模式", "拜拜，我走啦", "我上班去了，打开离家模式，谢谢", "拜拜拜拜"],
    );
    home.check_all("script.wan_an", &["晚安晚安", "晚安，好梦", "困了。睡觉！"]);
    home.check_all(
        "!NothingFits",
        &["晚安，早安", "我回家了，看电影", "晚安，打开客厅灯", "今天很累，晚安", "晚安早安"],
    );
    home.check_all("!Negated", &["我出门了，不要启动离家模式", "晚安，算了"]);
}

#[test]
fn a_character_mixed_up_with_one_of_the_same_sound_still_finds_the_name() {
    let home = chinese_household();
    home.check("晚按", "script.wan_an");
    home.check("请打开理家模式", "script.li_jia");
    home.check("别理家", "!Negated");
}
