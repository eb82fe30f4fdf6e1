//! What a person is asked, and what a yes is good for. Start at [`Decision::asked`].
//!
//! Invariants: a yes is bound to one plan with the reasons for asking, to the letter; it is used once; where
//! the same call has become another plan, or asks for other reasons, it is worth nothing.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Decision, Origin, Permit, Verdict};

/// What one question is about: the exact effects and why they ask.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Asked(String);

/// A person's yes to one question. Not `Clone`: who has used it has it no more.
#[derive(Debug)]
pub struct Yes(Asked);

impl Yes {
    /// Only where a person was told of by a road that no model has: `cargo xtask tidy` names the one file.
    pub fn of_a_person(asked: Asked) -> Self {
        Self(asked)
    }
}

impl Decision {
    /// What a person would be asked; none where nobody is to be asked.
    pub fn asked(&self) -> Option<Asked> {
        if self.verdict != Verdict::Ask {
            return None;
        }
        let bound = serde_json::to_vec(&(&self.plan, &self.targets, &self.reasons)).ok()?;
        Some(Asked(Sha256::digest(bound).iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The right to do it, where it is what the yes was given to; else the decision back.
    pub fn approved(self, yes: Yes, origin: Origin) -> Result<Permit, Box<Self>> {
        match self.asked() {
            Some(asked) if asked == yes.0 => Ok(Permit { plan: self.plan, origin }),
            _ => Err(Box::new(self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Plan, Reason, ReasonCode, Send};
    use crate::house::EntityId;
    use serde_json::{Map, json};

    fn id(text: &str) -> EntityId {
        EntityId::parse(text).unwrap()
    }

    fn unlocking(lock: &str) -> Decision {
        let send = Send {
            domain: "lock".into(),
            service: "unlock".into(),
            entities: vec![id(lock)],
            data: Map::new(),
            toward_safety: false,
        };
        let reason = Reason {
            verdict: Verdict::Ask,
            risk: None,
            code: ReasonCode::Opens,
            by: "lock.unlock".into(),
            on: Some(id(lock)),
            action: "lock.unlock".into(),
            entity: Some(id(lock)),
            path: vec![],
            detail: None,
        };
        Decision {
            verdict: Verdict::Ask,
            risk: None,
            targets: vec![id(lock)],
            reasons: vec![reason],
            plan: Plan { sends: vec![send], ..Plan::default() },
        }
    }

    fn yes(decision: &Decision) -> Yes {
        Yes::of_a_person(decision.asked().unwrap())
    }

    #[test]
    fn a_yes_is_good_for_exactly_what_was_asked() {
        let asked = unlocking("lock.front");
        let permit = asked.clone().approved(yes(&asked), Origin::Model).unwrap();
        assert_eq!(permit.plan(), &asked.plan);
    }

    #[test]
    fn a_yes_to_one_thing_is_no_yes_to_another() {
        let asked = unlocking("lock.front");
        let mut more = asked.clone();
        more.plan.sends[0].entities.push(id("lock.back"));
        let mut data = asked.clone();
        data.plan.sends[0].data.insert("code".into(), json!("1"));
        let mut service = asked.clone();
        service.plan.sends[0].service = "open".into();
        let mut twice = asked.clone();
        twice.plan.sends.push(asked.plan.sends[0].clone());
        let mut reason = asked.clone();
        reason.reasons[0].code = ReasonCode::Disarms;
        let mut further = asked.clone();
        further.reasons.push(asked.reasons[0].clone());
        let mut targets = asked.clone();
        targets.targets.push(id("lock.back"));
        let mut done = asked.clone();
        done.plan.done.push(id("lock.front"));
        for other in [unlocking("lock.back"), more, data, service, twice, reason, further, targets, done] {
            assert_ne!(asked.asked(), other.asked());
            assert!(other.approved(yes(&asked), Origin::Model).is_err());
        }
    }

    #[test]
    fn a_deed_is_said_as_one_would_ask_for_it() {
        use crate::gate::Language;
        let mut reason = unlocking("lock.front").reasons[0].clone();
        let deed =
            |reason: &Reason, what: &str| (reason.deed(Language::English, what), reason.deed(Language::Chinese, what));
        assert_eq!(deed(&reason, "Front Door"), ("unlock Front Door".into(), "解锁Front Door".into()));
        for (by, english, chinese) in [
            ("cover.open_cover", "open x", "打开x"),
            ("cover.close_cover", "close x", "关闭x"),
            ("lock.lock", "lock x", "上锁x"),
            ("switch.toggle", "toggle x", "切换x"),
            ("script.turn_on", "run x", "运行x"),
            ("alarm_control_panel.alarm_disarm", "disarm x", "撤防x"),
            ("button.press", "press x", "按下x"),
            ("mower.fly", "use x", "操作x"),
        ] {
            reason.by = by.into();
            assert_eq!(deed(&reason, "x"), (english.into(), chinese.into()), "{by}");
        }
    }

    #[test]
    fn what_is_refused_or_allowed_is_nobodys_to_ask() {
        let asked = unlocking("lock.front");
        for verdict in [Verdict::Refuse, Verdict::Allow] {
            let other = Decision { verdict, ..asked.clone() };
            assert_eq!(other.asked(), None);
            assert!(other.approved(yes(&asked), Origin::Person).is_err());
        }
    }
}
