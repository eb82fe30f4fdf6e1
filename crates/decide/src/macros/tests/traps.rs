//! Phrases that must run nothing.

use super::{Household, english_household};

#[test]
fn the_wrong_matches_of_others_do_not_happen_here() {
    let both = Household::new("scene.bedtime | Bedtime\nscene.movie | Movie Night");
    both.check("good night", "scene.bedtime");
    let home = english_household();
    home.check("bye", "script.away");
    let lights = Household::new(
        "scene.outdoor | Outdoor lights
         scene.theater | Home Theater
         scene.work | Work from home
         scene.backyard | Backyard
         scene.movie | Movie Night
         script.about | Lookout
         script.parting | Goodbye kiss",
    );
    lights.check_all(
        "!NothingFits",
        &[
            "bye",
            "I'm home",
            "home",
            "back",
            "I'm back",
            "good night",
            "night",
            "time",
            "mode",
            "scene",
            "script",
            "out",
            "heading out",
            "going out",
            "n",
            "o",
            "m",
            "a",
            "theater night",
            "set",
            "launch the shuttle",
            "yard",
            "look",
            "work out",
            "home theatre party",
            "please",
            "the",
            "movie theater tickets",
            "run",
            "start mode",
            "go",
            "kiss",
            "wake up",
            "evening",
            "home from home",
            "on",
        ],
    );
    lights.check("home theater", "scene.theater");
    lights.check("please start the home theater", "scene.theater");
    lights.check("outdoor lights", "scene.outdoor");
    lights.check("work from home", "scene.work");
}

#[test]
fn a_bare_short_word_never_stands_for_a_moment() {
    let home = english_household();
    home.check_all(
        "!NothingFits",
        &[
            "time",
            "mode",
            "it's time",
            "bed",
            "night",
            "now",
            "hey",
            "ok",
            "thanks",
            "the house",
            "home assistant",
            "a",
            "go",
            "lights",
            "up",
            "time now",
            "mode please",
            "scene 1",
            "lamp",
        ],
    );
    home.check("lamp scene 1", "scene.lamp_1");
    home.check("run lamp scene 2", "scene.lamp_2");
}

#[test]
fn a_saying_is_taken_whole() {
    let home = Household::new("scene.work | Work\nscene.bed | Bed\nscene.home | Home\nscene.theater | Theater");
    home.check("work", "scene.work");
    home.check("start work mode", "scene.work");
    home.check("I'm going to work", "!NothingFits");
    home.check("off to work", "!NothingFits");
    home.check("go to bed", "scene.bed");
    home.check("going to bed", "scene.bed");
    home.check("I'm home from work", "scene.home");
    home.check("home theater", "!NothingFits");
    home.check("movie time", "scene.theater");
}

#[test]
fn a_name_of_one_character_is_only_matched_as_a_whole() {
    let home = Household::new("scene.n | N\nscene.light | 灯\nscene.a1 | 1");
    home.check("N", "scene.n");
    home.check("灯", "scene.light");
    home.check("1", "scene.a1");
    home.check("打开灯", "!NothingFits");
    home.check("run n", "!NothingFits");
    home.check("g", "!NothingFits");
}

#[test]
fn hostile_names_find_nothing_by_themselves() {
    let home = Household::new(
        "script.evil | good night good night bedtime home away movie party 晚安 回家 离家
         script.blank | \u{200B}
         script.mode | mode
         script.please | please
         script.not | do not
         script.unnamed",
    );
    home.check_all("!NothingFits", &["good night", "晚安", "home", "回家", "movie time", "bedtime please"]);
    home.check("don't", "!Negated");
    home.check("do not", "script.not");
    home.check("do not good night", "!Negated");
    home.check("please", "script.please");
    home.check("unnamed", "script.unnamed");
}

#[test]
fn several_wishes_at_once_are_not_guessed_at() {
    let home = english_household();
    home.check_all(
        "!NothingFits",
        &[
            "good night and good morning",
            "bedtime or movie night",
            "movie night then bedtime",
            "home away",
            "party at dinner",
            "leaving for dinner",
            "home for the holidays",
        ],
    );
}
