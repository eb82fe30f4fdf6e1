//! What can go wrong between this program and a house, in words that say what to do.
//!
//! Start at [`HouseError`]. Invariant: a message is never empty, names the cause and the next step,
//! and never holds a token.

use std::fmt;

use decide::gate::Language;
use serde::Serialize;

/// The codes that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    BadUrl,
    Auth,
    Unreachable,
    CallFailed,
    NeedsConfirmation,
    NotConnected,
    BadRequest,
}

/// The finer cause beside the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// No address is configured, or no token.
    Missing,
    /// The name of the house cannot be looked up.
    Dns,
    /// Nothing listens there.
    Refused,
    /// The certificate is not trusted, or the other side speaks no TLS.
    Tls,
    /// No answer in time.
    Timeout,
    /// Something answers there that is not Home Assistant.
    NotHomeAssistant,
    /// Home Assistant is there but has not finished starting.
    Starting,
    /// The connection broke while something was under way.
    Lost,
    /// The token is not accepted.
    InvalidToken,
    /// The token is good but may not do this.
    Unauthorized,
    /// This address is banned by the house after wrong passwords.
    Banned,
    /// The audit file cannot be written, so nothing may be sent.
    Audit,
    /// The house does not know this command or service.
    UnknownCommand,
    /// The house was changed while it was being judged, and has not been read again.
    Changed,
    /// A command that changes something was asked of a reader.
    NotARead,
    /// The house answered with an error of its own.
    House,
    /// The house answered in a form that cannot be read.
    BadAnswer,
    /// What was given is not in the form that is needed.
    Malformed,
}

/// One failure: a code for programs, a cause for people, and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HouseError {
    pub code: ErrorCode,
    pub cause: Option<Cause>,
    /// In English; [`HouseError::message`] says it in either language.
    pub message: String,
    /// The address, path or the house's own words that the message speaks of.
    #[serde(skip)]
    detail: String,
}

impl HouseError {
    pub fn new(code: ErrorCode, cause: Cause, detail: impl Into<String>) -> Self {
        let detail = decide::text::clean(&detail.into(), DETAIL_CHARS_MAX);
        let message = sentence(code, cause, &detail, Language::English);
        Self { code, cause: Some(cause), message, detail }
    }

    pub fn unreachable(cause: Cause, detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unreachable, cause, detail)
    }

    /// The house said no, in its own words.
    pub fn refused_by_house(house_code: &str, message: &str) -> Self {
        match house_code {
            "unauthorized" => Self::new(ErrorCode::Auth, Cause::Unauthorized, message),
            "unknown_command" => Self::new(ErrorCode::CallFailed, Cause::UnknownCommand, message),
            _ if message.is_empty() => Self::new(ErrorCode::CallFailed, Cause::House, house_code),
            _ => Self::new(ErrorCode::CallFailed, Cause::House, message),
        }
    }

    pub fn bad_answer(what: &str, error: impl fmt::Display) -> Self {
        Self::new(ErrorCode::CallFailed, Cause::BadAnswer, format!("{what}: {error}"))
    }

    pub fn message(&self, language: Language) -> String {
        match self.cause {
            Some(cause) => sentence(self.code, cause, &self.detail, language),
            None => self.message.clone(),
        }
    }

    pub fn is(&self, cause: Cause) -> bool {
        self.cause == Some(cause)
    }
}

impl fmt::Display for HouseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HouseError {}

/// Longest foreign text inside a message, in characters.
const DETAIL_CHARS_MAX: usize = 300;

/// English and Chinese for every cause; `{}` stands for the detail.
fn sentence(code: ErrorCode, cause: Cause, detail: &str, language: Language) -> String {
    let (english, chinese) = match (cause, code) {
        (Cause::Missing, ErrorCode::BadUrl) => (
            "No Home Assistant address is set. Set HOME_ASSISTANT_URL (for example http://homeassistant.local:8123) or run `menshen setup`.",
            "没有设置 Home Assistant 的地址。请设置 HOME_ASSISTANT_URL（例如 http://homeassistant.local:8123），或运行 `menshen setup`。",
        ),
        (Cause::Missing, _) => (
            "No Home Assistant token is set. Create a long-lived access token in your Home Assistant profile under Security and set HOME_ASSISTANT_TOKEN, or run `menshen setup`.",
            "没有设置 Home Assistant 的令牌。请在 Home Assistant 个人资料的“安全”页创建长期访问令牌，设置 HOME_ASSISTANT_TOKEN，或运行 `menshen setup`。",
        ),
        (_, ErrorCode::BadUrl) => (
            "The Home Assistant address is not usable: {}. Give it as http://host:8123 or https://host.",
            "Home Assistant 的地址无法使用：{}。请写成 http://主机:8123 或 https://主机。",
        ),
        (Cause::Dns, _) => (
            "The name of the house cannot be found: {}. Check the spelling, or use its IP address.",
            "找不到这个主机名：{}。请检查拼写，或改用 IP 地址。",
        ),
        (Cause::Refused, _) => (
            "Nothing listens at {}. Check that Home Assistant runs and that the port is right (8123 by default).",
            "{} 上没有程序在监听。请确认 Home Assistant 正在运行，端口是否正确（默认 8123）。",
        ),
        (Cause::Tls, _) => (
            "The secure connection failed: {}. For a certificate of your own set HOME_ASSISTANT_CA_FILE; for a house without TLS begin the address with http://.",
            "安全连接失败：{}。若使用自签证书，请设置 HOME_ASSISTANT_CA_FILE；若没有启用 TLS，请改用 http:// 开头的地址。",
        ),
        (Cause::Timeout, _) => (
            "The house did not answer in time: {}. Check the network and whether Home Assistant is frozen.",
            "没有及时得到回应：{}。请检查网络，以及 Home Assistant 是否卡住。",
        ),
        (Cause::NotHomeAssistant, _) => (
            "What answers there is not Home Assistant: {}. Check address, port and any proxy (it must pass /api/websocket on).",
            "那里回应的不是 Home Assistant：{}。请检查地址、端口和反向代理（必须转发 /api/websocket）。",
        ),
        (Cause::Starting, _) => (
            "Home Assistant is still starting: {}. Try again in a minute.",
            "Home Assistant 还在启动：{}。请一分钟后再试。",
        ),
        (Cause::Lost, ErrorCode::NotConnected) => {
            ("The connection to the house is closed: {}.", "与 Home Assistant 的连接已关闭：{}。")
        }
        (Cause::Lost, _) => (
            "The connection to the house broke: {}. It is being dialled again; read the state before trying again.",
            "与 Home Assistant 的连接中断：{}。正在重新连接；请先查看状态，再决定是否重试。",
        ),
        (Cause::InvalidToken, _) => (
            "Home Assistant does not accept the token: {}. Create a new long-lived access token in your profile under Security and set it.",
            "Home Assistant 不接受这个令牌：{}。请在个人资料的“安全”页新建长期访问令牌并重新设置。",
        ),
        (Cause::Unauthorized, _) => (
            "The token may not do this: {}. It needs a user with more rights; looking inside scripts and automations needs an administrator.",
            "这个令牌没有权限：{}。需要权限更高的用户；查看脚本和自动化的内容需要管理员。",
        ),
        (Cause::Banned, _) => (
            "The house turns this machine away: {}. Its address may be banned; remove it from ip_bans.yaml and restart Home Assistant.",
            "Home Assistant 拒绝了这台机器：{}。它的地址可能被封禁；请从 ip_bans.yaml 中删除并重启 Home Assistant。",
        ),
        (Cause::Audit, _) => (
            "Nothing was sent because the audit file cannot be written: {}. Free the disk or correct its permissions; locking, closing and arming still work.",
            "没有发送，因为审计文件无法写入：{}。请清理磁盘或修正权限；上锁、关闭和布防仍然可用。",
        ),
        (Cause::UnknownCommand, _) => {
            ("This Home Assistant does not know that: {}.", "这个版本的 Home Assistant 不认识该命令：{}。")
        }
        (Cause::Changed, _) => (
            "The house was changed just now and is being read again: {}. Nothing was sent; try again in a few seconds.",
            "这个家的设置刚刚有改动，正在重新读取：{}。没有发送任何操作；请过几秒再试。",
        ),
        (Cause::NotARead, _) => {
            ("Only reading commands are possible here, and this is none: {}.", "这里只能执行读取命令：{}。")
        }
        (Cause::House, _) => ("Home Assistant answered: {}", "Home Assistant 的回答：{}"),
        (Cause::Malformed, _) => ("That is not in the form that is needed: {}.", "格式不正确：{}。"),
        (Cause::BadAnswer, _) => {
            ("Home Assistant answered in a form that cannot be read: {}.", "无法读懂 Home Assistant 的回答：{}。")
        }
    };
    let text = if language == Language::Chinese { chinese } else { english };
    text.replacen("{}", if detail.is_empty() { "(no detail)" } else { detail }, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_is_ever_empty_in_either_language() {
        let error = HouseError::refused_by_house("unknown_error", "");
        assert_eq!(error.message, "Home Assistant answered: unknown_error");
        assert!(error.message(Language::Chinese).contains("unknown_error"));
        let bare = HouseError::new(ErrorCode::CallFailed, Cause::House, "");
        assert!(bare.message.contains("(no detail)"));
    }

    #[test]
    fn codes_and_causes_are_written_in_snake_case() {
        let error = HouseError::unreachable(Cause::NotHomeAssistant, "http://x");
        let json = serde_json::to_value(&error).unwrap();
        assert_eq!(json["code"], "unreachable");
        assert_eq!(json["cause"], "not_home_assistant");
        assert!(json.get("detail").is_none());
    }
}
