//! English phrases and the macro that each means.

use super::{Household, chinese_household, english_household, family};

// long: a table
#[test]
fn an_english_phrase_finds_the_english_macro() {
    let home = english_household();
    home.check_all(
        "scene.bedtime",
        &[
            "bedtime",
            "Bedtime",
            "BEDTIME!",
            "bed time",
            "bed-time",
            "good night",
            "Good night!",
            "goodnight",
            "good-night",
            "Good  Night.",
            "night night",
            "nighty night",
            "going to bed",
            "I'm going to bed",
            "I’m going to bed now",
            "we're going to bed",
            "I am going to bed",
            "off to bed",
            "I'm off to bed",
            "time for bed",
            "it's time for bed",
            "it's bedtime",
            "it is bedtime",
            "ready for bed",
            "go to sleep",
            "I want to sleep",
            "I'm sleepy",
            "let's go to sleep",
            "let's call it a night",
            "sweet dreams",
            "night mode",
            "good night everyone",
            "good night house",
            "ok good night then",
            "good night alexa",
            "ｇｏｏｄ　ｎｉｇｈｔ",
            "bedtime please",
            "sleep mode",
        ],
    );
    home.check_all(
        "script.morning",
        &[
            "good morning",
            "morning",
            "Good morning!",
            "wake up",
            "time to get up",
            "I'm awake",
            "I'm up",
            "rise and shine",
            "good morning everyone",
            "hello, good morning",
        ],
    );
    home.check_all(
        "script.away",
        &[
            "away",
            "away mode",
            "leaving",
            "I'm leaving",
            "I am leaving now",
            "we're leaving",
            "leaving home",
            "leaving the house",
            "heading out",
            "I'm heading out",
            "bye",
            "Bye!",
            "bye bye",
            "goodbye",
            "see you later",
            "off to work",
            "I'm off to work",
            "going to work",
            "I'm going to work",
            "set the house to away",
            "set away mode",
            "I'm off",
        ],
    );
    home.check_all(
        "script.arrive",
        &[
            "I'm home",
            "im home",
            "I am home",
            "we're home",
            "home",
            "I'm back",
            "back home",
            "home sweet home",
            "honey, I'm home!",
            "just got home",
            "I just got in",
            "home again",
        ],
    );
    home.check_all(
        "scene.movie_night",
        &[
            "movie night",
            "movie time",
            "it's movie time",
            "watch a movie",
            "let's watch a movie",
            "movie",
            "movie mode",
            "cinema",
            "cinema mode",
            "film night",
            "I want to watch a movie",
            "time for a movie",
            "put on a movie",
        ],
    );
    home.check_all(
        "script.dinner",
        &[
            "dinner",
            "dinner time",
            "dinner's ready",
            "it's dinner time",
            "time for dinner",
            "supper",
            "let's eat",
            "dinner mode",
            "let's have dinner",
        ],
    );
    home.check_all(
        "script.party",
        &["party", "party time", "party mode", "let's party", "let's have a party", "start the party", "Party!!!"],
    );
    home.check_all(
        "script.vacation",
        &[
            "vacation",
            "holiday",
            "holiday mode",
            "we're going on vacation",
            "on holiday",
            "vacation mode",
            "business trip",
        ],
    );
    home.check_all(
        "script.reading",
        &["reading", "reading time", "reading corner", "I want to read", "read a book", "time to read"],
    );
    home.check_all(
        "script.do_not_disturb",
        &["do not disturb", "Do not disturb mode", "activate do not disturb", "focus", "time to focus"],
    );
    home.check_all("script.story_time", &["story time", "Storytime", "it's story time", "story"]);
    home.check_all("script.stop_music", &["stop the music", "please stop the music", "Stop the music, please"]);
}

#[test]
fn politeness_and_carriers_come_off_in_english() {
    let home = english_household();
    home.check_all(
        "scene.bedtime",
        &[
            "please run bedtime",
            "run bedtime please",
            "please run the bedtime scene",
            "could you run bedtime",
            "could you please run bedtime?",
            "can you activate the bedtime scene for me",
            "would you start bedtime mode",
            "will you run bedtime",
            "activate bedtime",
            "activate the bedtime scene",
            "activate scene bedtime",
            "turn on bedtime",
            "turn on the bedtime scene",
            "start bedtime mode",
            "execute bedtime",
            "trigger the bedtime routine",
            "launch bedtime",
            "switch to bedtime mode",
            "set the bedtime scene",
            "hey, bedtime",
            "hey Google, bedtime",
            "ok nabu, start bedtime",
            "Alexa, good night",
            "let's do bedtime",
            "let us do the bedtime routine",
            "I'd like to run bedtime",
            "I would like the bedtime scene",
            "go ahead and run bedtime",
            "run \"Bedtime\"",
            "run the scene called Bedtime",
            "bedtime now",
            "bedtime, thanks",
            "bedtime mode on",
            "do the bedtime thing".strip_suffix(" thing").unwrap(),
            "kindly run our bedtime routine right now",
            "how about bedtime",
            "enable bedtime",
            "would you be so kind as to run bedtime",
            "run bedtime, will you",
            "bedtime, if you could",
            "just run bedtime again",
            "put the house in bedtime mode",
        ],
    );
    home.check("start movie night", "scene.movie_night");
    home.check("it's movie night time", "scene.movie_night");
    home.check("turn on dinner mode", "script.dinner");
}

#[test]
fn denials_and_endings_run_nothing_in_english() {
    for home in [english_household(), family()] {
        home.check_all(
            "!Negated",
            &[
                "do not say good night",
                "don't say good night",
                "don't run movie time",
                "do not run bedtime",
                "please don't start movie night",
                "not bedtime",
                "no bedtime",
                "never run bedtime",
                "I'm not going to bed",
                "we are not home",
                "cancel bedtime",
                "cancel movie time",
                "stop movie time",
                "stop the movie",
                "end movie night",
                "quit movie mode",
                "abort good night",
                "exit movie time",
                "turn off movie mode",
                "turn off bedtime",
                "deactivate the bedtime scene",
                "disable bedtime",
                "bedtime off",
                "it isn't bedtime",
                "I don't want to sleep",
                "I can't sleep",
                "skip bedtime",
                "could you not run bedtime",
                "good night, not",
                "nope, no movie night",
                "dont good night",
                "don’t do movie night",
                "never mind bedtime",
                "forget movie night",
                "without good night",
                "I won't watch a movie",
            ],
        );
    }
}

#[test]
fn questions_and_reports_run_nothing_in_english() {
    for home in [english_household(), family()] {
        home.check_all(
            "!Question",
            &[
                "is it bedtime yet",
                "is it bedtime",
                "when is bedtime",
                "what is bedtime",
                "what's movie night",
                "what does good night do",
                "is movie night on",
                "are we ready for bed",
                "did you run bedtime",
                "does bedtime lock the door",
                "she said good night",
                "he told me good night",
                "why did movie time run",
                "how long is bedtime",
                "who started movie night",
                "tell me about bedtime",
                "was it good night",
                "do you know movie night",
                "if it is bedtime",
                "what would good night do",
                "which lights does bedtime turn on",
                "say good night",
                "bedtime yet",
            ],
        );
    }
}

#[test]
fn clauses_that_all_mean_the_same_macro_are_one_wish() {
    let home = english_household();
    home.check_all(
        "scene.bedtime",
        &["good night, sleep tight", "Good night. Sweet dreams!", "night night, bedtime", "I'll go to bed"],
    );
    home.check_all("script.away", &["ok bye, I'm leaving", "heading out; goodbye", "I think I'll leave"]);
    home.check_all("!NothingFits", &["good night, good morning", "I'm home, movie time", "bedtime, lights"]);
    home.check_all("!Negated", &["good night, not now", "I'm leaving, don't run away mode"]);
}

#[test]
fn one_slip_of_typing_is_forgiven_in_longer_words() {
    let home = english_household();
    home.check_all("scene.bedtime", &["bedtme", "bedtmie", "please run bedtimee", "good nigth", "goood night"]);
    home.check_all(
        "scene.movie_night",
        &["moive night", "movie nihgt", "move nigt".strip_prefix("move").map_or("", |_| "movi night")],
    );
    home.check_all("script.vacation", &["vacaton", "vactaion"]);
    home.check_all(
        "!NothingFits",
        &["good light", "good fight", "bath", "parts", "vocatoin", "lamp scene 3", "storm time"],
    );
}

#[test]
fn exact_name_goes_before_alias_before_synonym_before_near_spelling() {
    let home = Household::new(
        "scene.a | Bedtime
         scene.b | Good night
         scene.c | Night routine | Sleep
         script.d | Bedtimes",
    );
    home.check("bedtime", "scene.a");
    home.check("good night", "scene.b");
    home.check("sleep", "scene.c");
    home.check("bedtimes", "script.d");
    home.check("going to bed", "scene.a scene.b scene.c");
    let alias = Household::new("scene.x | Cosy | Movie\nscene.y | Movie | Cosy");
    alias.check("movie", "scene.y");
    alias.check("cosy", "scene.x");
    let mode = Household::new("scene.x | Movie mode\nscene.y | Movie");
    mode.check("movie", "scene.y");
    mode.check("movie mode", "scene.x");
    mode.check("please start movie mode", "scene.x");
    mode.check("please start movie", "scene.y");
}

#[test]
fn the_language_of_the_phrase_decides_between_equal_moments() {
    let home = family();
    home.check("bedtime", "script.good_night");
    home.check("going to bed", "script.good_night");
    home.check("睡觉了", "script.good_night_zh");
    home.check("shuijiao", "script.good_night_zh");
    home.check("film night", "script.movie_time");
    home.check("good night", "script.good_night");
    home.check("run the good night scene", "scene.good_night");
    home.check("run the good night script", "script.good_night");
    home.check("I'm home", "scene.welcome");
    home.check("heading out", "script.leave_home_zh");
    home.check("let the cat in", "script.let_the_cat_in");
    home.check("run anything", "script.run_anything");
}

#[test]
fn several_that_fit_equally_are_all_offered_and_none_is_picked() {
    let home = Household::new(
        "scene.one | Movie Night
         scene.two | Cinema
         script.three | Same
         script.four | Same
         scene.five | 观影",
    );
    home.check("movie time", "scene.one scene.two");
    home.check("same", "script.four script.three");
    home.check("看电影", "scene.five");
    home.check("cinema", "scene.two");
    let scenes = Household::new("scene.a | Bedtime\nscene.b | bed time");
    scenes.check("bedtime", "scene.a scene.b");
    chinese_household().check("reading", "scene.yue_du");
}

#[test]
fn word_order_makes_no_other_macro() {
    let home = Household::new("scene.kids | Kids bedtime\nscene.zh | 卧室晚安\nscene.mixed | Lights on door off");
    home.check("bedtime kids", "scene.kids");
    home.check("晚安卧室", "scene.zh");
    home.check("lights off door on", "!Negated");
    home.check("bedtime", "!NothingFits");
    home.check("晚安", "!NothingFits");
}

#[test]
fn names_in_any_script_match_themselves() {
    let home = Household::new(
        "scene.es | Buenas noches\nscene.ru | Спокойной ночи\nscene.ja | おやすみ\nscene.ko | 잘 자요\nscene.ar | تصبح على خير\nscene.de | Gute Nacht, Küche",
    );
    home.check("BUENAS NOCHES", "scene.es");
    home.check("спокойной ночи!", "scene.ru");
    home.check("おやすみ", "scene.ja");
    home.check("잘 자요", "scene.ko");
    home.check("تصبح على خير", "scene.ar");
    home.check("gute nacht kuche", "scene.de");
}
