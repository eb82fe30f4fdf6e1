//! What either end of the local socket says to a person. Start at [`Word::to`]. Invariant: each names the cause
//! and what to do, in English and in Chinese.

use std::path::Path;

use decide::gate::Language;
use kernel::ports::{Failure, FailureKind};

use super::super::say;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    TooManyClients,
    JoinFirst,
    OneConversation,
    AgentEnded,
    OtherEndSilent,
    NoRequest,
    SocketGone,
    NoAnswer,
    OtherVersion,
    ServiceEnded,
}

impl Word {
    pub fn to(self, language: Language) -> &'static str {
        let (english, chinese) = match self {
            Self::TooManyClients => (
                "too many programs are connected at once; close one and try again",
                "同时连接的程序太多：请关闭一个再试",
            ),
            Self::JoinFirst => ("a conversation has to be joined first", "请先加入一个会话"),
            Self::OneConversation => {
                ("one connection has one conversation; connect again", "一个连接只能有一个会话：请另开连接")
            }
            Self::AgentEnded => {
                ("the agent has ended; start `menshen serve` again", "助手已结束：请重新启动 `menshen serve`")
            }
            Self::OtherEndSilent => ("the other end does not read; it was given up", "对方不接收消息，已放弃"),
            Self::NoRequest => {
                ("this is not a request; are both programs of one version?", "收到的不是请求：两边的程序是同一版本吗？")
            }
            Self::SocketGone => (
                "the local socket is gone; start `menshen serve` again",
                "本地套接字不见了：请重新启动 `menshen serve`",
            ),
            Self::NoAnswer => (
                "`menshen serve` does not answer; try again, or start it again",
                "`menshen serve` 没有回应：请再试一次，或重新启动它",
            ),
            Self::OtherVersion => {
                ("`menshen serve` speaks another version: start it again", "`menshen serve` 是另一个版本：请重新启动它")
            }
            Self::ServiceEnded => (
                "`menshen serve` has ended; what it had accepted is answered when it runs again",
                "`menshen serve` 已结束：它收下的话，下次运行时会回答",
            ),
        };
        say(language, english, chinese)
    }
}

pub fn not_reached(language: Language, path: &Path) -> String {
    let path = path.display();
    match language {
        Language::English => format!("another process has this household's folder, and does not answer at {path}"),
        Language::Chinese => format!("另一个进程正在使用这个家的住户文件夹，但在 {path} 没有回应"),
    }
}

pub fn not_listening(language: Language, path: &Path) -> String {
    let path = path.display();
    match language {
        Language::English => format!("cannot listen at {path}: is the folder yours, and its path short enough?"),
        Language::Chinese => format!("无法在 {path} 监听：文件夹是你的吗？路径是否太长？"),
    }
}

/// Why a message was not accepted: nothing of it is kept.
pub fn refused(language: Language, failure: &Failure) -> String {
    if language == Language::English {
        return failure.message.clone();
    }
    match failure.kind {
        FailureKind::Full => {
            format!("没有收下：没有地方存放了（{}）。请腾出磁盘空间，或等前面的话得到回答，再发一次", failure.message)
        }
        FailureKind::Unavailable => "没有收下：助手正在结束，请稍后再发一次".to_owned(),
        FailureKind::Invalid => "没有收下：消息是空的".to_owned(),
        _ => format!("没有收下：{}", failure.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_said_in_both_languages() {
        let words = [
            Word::TooManyClients,
            Word::JoinFirst,
            Word::OneConversation,
            Word::AgentEnded,
            Word::OtherEndSilent,
            Word::NoRequest,
            Word::SocketGone,
            Word::NoAnswer,
            Word::OtherVersion,
            Word::ServiceEnded,
        ];
        for word in words {
            let (english, chinese) = (word.to(Language::English), word.to(Language::Chinese));
            assert!(english.is_ascii(), "{english}");
            assert!(chinese.chars().any(|letter| letter > '\u{3fff}'), "{chinese}");
        }
        let full = Failure::new(FailureKind::Full, "the disk with the store is full: make room and try again");
        assert_eq!(refused(Language::English, &full), full.message);
        assert!(refused(Language::Chinese, &full).contains("腾出磁盘空间"));
    }
}
