//! Without a language model: macros, plain commands, questions, and what is refused.

use super::super::houses::{TestHouse, each};
use super::{Household, ended};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;

struct Case {
    said: &'static str,
    code: i32,
    /// Stands in the answer.
    answer: &'static str,
    /// Is so afterwards.
    then: &'static [(&'static str, &'static str)],
}

const CASES: &[Case] = &[
    Case { said: "turn on the desk lamp", code: 0, answer: "on", then: &[("light.desk_lamp", "on")] },
    Case { said: "关掉台灯", code: 0, answer: "关", then: &[("light.desk_lamp", "off")] },
    Case { said: "客厅多少度", code: 0, answer: "22.5", then: &[] },
    Case { said: "is the back door locked", code: 0, answer: "locked", then: &[] },
    Case { said: "晚安", code: 0, answer: "已执行", then: &[("lock.back_door", "locked")] },
    Case {
        said: "打开窗帘", code: 2, answer: "请说明是哪一个", then: &[("cover.living_room_curtain", "closed")]
    },
    Case { said: "unlock the back door", code: 2, answer: "opens", then: &[("lock.back_door", "locked")] },
    Case { said: "解锁前门", code: 2, answer: "解锁", then: &[("lock.entrance_door", "locked")] },
    Case { said: "sing me a song about tea", code: 2, answer: "No language model is set up", then: &[] },
    Case { said: "给我讲个笑话", code: 2, answer: "还没有配置语言模型", then: &[] },
];

#[test]
fn without_a_model_it_reads_writes_asks_back_and_refuses() {
    each("without_a_model_it_reads_writes_asks_back_and_refuses", async |house: &TestHouse| {
        house.reset().await;
        let household = Household::new(house, "");
        for case in CASES {
            let said = household.chat(case.said).await;
            assert!(said.out.contains(case.answer), "{}: {said:?}", case.said);
            assert_eq!(said.code, Some(case.code), "{}: {said:?}", case.said);
            for (id, state) in case.then {
                assert!(house.is(id, state).await, "{}: {id} is not {state}", case.said);
            }
        }
        house.reset().await;
    });
}

#[test]
fn lines_from_a_pipe_are_answered_in_order_and_the_worst_is_the_exit_code() {
    each("lines_from_a_pipe_are_answered_in_order_and_the_worst_is_the_exit_code", async |house: &TestHouse| {
        let household = Household::new(house, "");
        let mut child = household.menshen(&["chat"]).stdin(Stdio::piped()).spawn().unwrap();
        let text = "is the back door locked\n\nunlock the back door\n客厅多少度\n";
        child.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
        let said = ended(child).await;
        let places = ["locked", "opens", "22.5"].map(|word| said.out.find(word));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said:?}");
        assert_eq!(said.code, Some(2));
    });
}

#[test]
fn what_cannot_begin_ends_with_one_and_says_why() {
    each("what_cannot_begin_ends_with_one_and_says_why", async |house: &TestHouse| {
        let household = Household::new(house, "[llm\nthis is broken");
        let said = household.chat("good night").await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.aside.contains("menshen.toml") && said.out.is_empty(), "{said:?}");
        household.configure("");
        let said = household.run(&["chat", "  "]).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.aside.contains("the message is empty"), "{said:?}");
    });
}

#[test]
fn without_a_house_it_says_so_and_moves_nothing() {
    each("without_a_house_it_says_so_and_moves_nothing", async |house: &TestHouse| {
        let household = Household::new(house, "");
        let nowhere = |words: &[&str]| {
            let mut command = household.menshen(words);
            command.env("HOME_ASSISTANT_URL", "http://127.0.0.1:9").spawn().unwrap()
        };
        let said = ended(nowhere(&["chat", "turn on the desk lamp"])).await;
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.out.contains("Home Assistant") && !said.out.contains("Done"), "{said:?}");
    });
}
