//! The words of a reason, in English and Chinese.

use super::{Language, Reason, ReasonCode, Step};
use crate::house::EntityId;

/// English verb of a service: third person, gerund and imperative.
fn verbs(action: &str) -> (&'static str, &'static str, &'static str) {
    if action.starts_with("script.") && !action.ends_with(".toggle") && !action.ends_with(".turn_off") {
        return ("runs", "running", "run");
    }
    match action.split_once('.').map_or(action, |(_, service)| service) {
        "unlock" => ("unlocks", "unlocking", "unlock"),
        "lock" => ("locks", "locking", "lock"),
        "open" | "open_cover" | "open_valve" => ("opens", "opening", "open"),
        "close_cover" | "close_valve" => ("closes", "closing", "close"),
        "stop_cover" | "stop_valve" | "stop" => ("stops", "stopping", "stop"),
        "set_cover_position" | "set_valve_position" => ("moves", "moving", "move"),
        "open_cover_tilt" | "close_cover_tilt" | "set_cover_tilt_position" | "toggle_cover_tilt" => {
            ("tilts", "tilting", "tilt")
        }
        "turn_on" => ("turns on", "turning on", "turn on"),
        "turn_off" => ("turns off", "turning off", "turn off"),
        "toggle" => ("toggles", "toggling", "toggle"),
        "press" => ("presses", "pressing", "press"),
        "trigger" => ("runs", "running", "run"),
        "alarm_disarm" => ("disarms", "disarming", "disarm"),
        "alarm_trigger" => ("sets off", "setting off", "set off"),
        arm if arm.starts_with("alarm_arm") => ("arms", "arming", "arm"),
        "start" => ("starts", "starting", "start"),
        "cancel" | "pause" | "finish" => ("ends", "ending", "end"),
        set if set.starts_with("set_") || set.starts_with("select_") => ("sets", "setting", "set"),
        _ => ("acts on", "acting on", "use"),
    }
}

fn chinese_verb(action: &str) -> &'static str {
    if action.starts_with("script.") && !action.ends_with(".toggle") && !action.ends_with(".turn_off") {
        return "运行";
    }
    match action.split_once('.').map_or(action, |(_, service)| service) {
        "unlock" => "解锁",
        "lock" => "上锁",
        "open" | "open_cover" | "open_valve" => "打开",
        "close_cover" | "close_valve" => "关闭",
        "stop_cover" | "stop_valve" | "stop" => "停止",
        "set_cover_position" | "set_valve_position" => "移动",
        "open_cover_tilt" | "close_cover_tilt" | "set_cover_tilt_position" | "toggle_cover_tilt" => "翻转叶片：",
        "turn_on" => "开启",
        "turn_off" => "关掉",
        "toggle" => "切换",
        "press" => "按下",
        "trigger" => "运行",
        "alarm_disarm" => "撤防",
        "alarm_trigger" => "触发",
        arm if arm.starts_with("alarm_arm") => "布防",
        "start" => "启动",
        "cancel" | "pause" | "finish" => "结束",
        set if set.starts_with("set_") || set.starts_with("select_") => "设置",
        _ => "操作",
    }
}

fn kind(id: &EntityId) -> (&'static str, &'static str) {
    match id.domain() {
        "scene" => ("scene", "场景"),
        "script" => ("script", "脚本"),
        _ => ("automation", "自动化"),
    }
}

fn id_or<'a>(id: Option<&'a EntityId>, action: &'a str) -> &'a str {
    id.map_or(action, |id| id.as_str())
}

/// What it comes to where the road starts, as one would ask for it: "unlock Front Door".
pub(super) fn deed(reason: &Reason, what: &str, language: Language) -> String {
    match language {
        Language::English => format!("{} {what}", verbs(&reason.by).2),
        Language::Chinese => format!("{}{what}", chinese_verb(&reason.by)),
    }
}

pub(super) fn english(reason: &Reason) -> String {
    let end = end_english(reason);
    if reason.path.is_empty() {
        return end;
    }
    let mut out = format!("{} {}", verbs(&reason.by).1, id_or(reason.on.as_ref(), &reason.by));
    for (index, step) in reason.path.iter().enumerate() {
        let join = if index == 0 { " " } else { ", which " };
        let text = match step {
            Step::Runs { entity, name } if index == 0 && verbs(&reason.by).0 == "runs" => {
                out = format!("running {} '{name}'", kind(entity).0);
                continue;
            }
            Step::Runs { entity, name } => format!("runs {} '{name}'", kind(entity).0),
            Step::Triggers { name, .. } => format!("triggers automation '{name}'"),
            Step::Event { event, name, .. } => format!("raises the event {event} and triggers automation '{name}'"),
            Step::Moves { entity } => format!("moves {entity} along"),
        };
        out.push_str(join);
        out.push_str(&text);
    }
    format!("{out}, which {}", end_english_which(reason))
}

/// The last part as a sentence of its own.
fn end_english(reason: &Reason) -> String {
    let what = id_or(reason.entity.as_ref(), &reason.action);
    let gerund = verbs(&reason.action).1;
    let detail = reason.detail.as_deref().unwrap_or_default();
    match reason.code {
        ReasonCode::Opens => format!("{gerund} {what} opens the house"),
        ReasonCode::Disarms => format!("{gerund} {what} weakens the alarm"),
        ReasonCode::Rearms => format!("arming {what} now (it is {detail}) would restart, silence or weaken it"),
        ReasonCode::StopsCover => format!("stopping {what} while it is {detail} can leave it ajar or move it"),
        ReasonCode::Pulse => format!("{what} works by pulse and is {detail}: another pulse could open it"),
        ReasonCode::Listed => format!("{what} is on the operator's list of things that open"),
        ReasonCode::Labelled => format!("{what} carries the guard label"),
        ReasonCode::Relation => format!("{what} works {detail}"),
        ReasonCode::Named => format!("the name of {what} says that it may open something, and nobody has decided yet"),
        ReasonCode::Button => format!("nobody has decided yet what the button {what} may do"),
        ReasonCode::NoState => format!("{what} has no state to judge by"),
        ReasonCode::CodeGiven => "a code in a call is refused: codes are kept by the operator".to_owned(),
        ReasonCode::UnknownService => format!("what {what} does is not known here"),
        ReasonCode::Opaque => format!("{what} can do anything and nobody can look inside"),
        ReasonCode::ListedAsks => format!("the operator wants to be asked before {what}"),
        ReasonCode::WrongMember => format!("{what} hides in a place where it does not belong"),
        ReasonCode::BadStates => format!("the states for {what} cannot be judged"),
        ReasonCode::ReadOnly => "this connection may only read".to_owned(),
        ReasonCode::Valve => format!("{gerund} {what} lets what is behind the valve run"),
        ReasonCode::Gas => format!("{gerund} {what} lets gas run"),
        ReasonCode::Harm => format!("{gerund} {what} can hurt somebody"),
        ReasonCode::Unreadable => format!("what {what} does cannot be read with this token"),
        ReasonCode::OpaqueBody
        | ReasonCode::UnreadableScene
        | ReasonCode::BodyChanged
        | ReasonCode::NotifyExtra
        | ReasonCode::Speech
        | ReasonCode::Media => format!("{what} {}", end_english_which(reason)),
        ReasonCode::Heat | ReasonCode::Blinds | ReasonCode::Stops => {
            format!("{gerund} {what} {}", end_english_which(reason))
        }
    }
}

/// The last part after "which", or after its own subject.
fn end_english_which(reason: &Reason) -> String {
    let what = id_or(reason.entity.as_ref(), &reason.action);
    let verb = verbs(&reason.action).0;
    let detail = reason.detail.as_deref().unwrap_or_default();
    match reason.code {
        ReasonCode::Opens | ReasonCode::Disarms => format!("{verb} {what}"),
        ReasonCode::Rearms => format!("arms {what} although it is {detail}"),
        ReasonCode::StopsCover => format!("stops {what} while it is {detail}"),
        ReasonCode::Pulse => format!("pulses {what} while it is {detail}"),
        ReasonCode::Valve => format!("opens the valve {what}"),
        ReasonCode::Gas => format!("opens the gas valve {what}"),
        ReasonCode::Heat => format!("sets a temperature outside comfort ({detail})"),
        ReasonCode::Harm => format!("{verb} {what}, which can hurt somebody"),
        ReasonCode::Blinds => "takes away what would notice, or writes what nobody can judge".to_owned(),
        ReasonCode::Stops => format!("stops '{detail}', which locks, closes or arms or cannot be read"),
        ReasonCode::NotifyExtra => format!("uses the key `{detail}`, which can do more than show a message"),
        ReasonCode::Speech => "speaks aloud where another assistant may listen".to_owned(),
        ReasonCode::Media => "plays from an address that nobody allowed".to_owned(),
        ReasonCode::OpaqueBody => format!("has a part that cannot be judged ({detail})"),
        ReasonCode::Unreadable => "cannot be read with this token".to_owned(),
        ReasonCode::UnreadableScene => {
            "sets states that cannot be read (store the scene in the editor, or grant it)".to_owned()
        }
        ReasonCode::BodyChanged => "has changed since it was granted".to_owned(),
        ReasonCode::Listed | ReasonCode::Labelled | ReasonCode::Relation | ReasonCode::Named | ReasonCode::Button => {
            format!("{verb} {what}: {}", end_english(reason))
        }
        ReasonCode::NoState => format!("uses {what}, which has no state to judge by"),
        ReasonCode::UnknownService => format!("calls {what}, and what that does is not known here"),
        ReasonCode::Opaque => format!("calls {what}, which can do anything and nobody can look inside"),
        ReasonCode::ListedAsks => format!("calls {what}, before which the operator wants to be asked"),
        ReasonCode::WrongMember => format!("hides {what} in a place where it does not belong"),
        ReasonCode::BadStates => format!("gives {what} states that cannot be judged"),
        // These two are said of the call itself, never of a road's end.
        ReasonCode::CodeGiven | ReasonCode::ReadOnly => end_english(reason),
    }
}

pub(super) fn chinese(reason: &Reason) -> String {
    let end = end_chinese(reason);
    if reason.path.is_empty() {
        return end;
    }
    let mut out = format!("{} {}", chinese_verb(&reason.by), id_or(reason.on.as_ref(), &reason.by));
    for (index, step) in reason.path.iter().enumerate() {
        out.push_str(if index == 0 { " 会" } else { "，接着" });
        out.push_str(&match step {
            Step::Runs { entity, name } => format!("运行{}“{name}”", kind(entity).1),
            Step::Triggers { name, .. } => format!("触发自动化“{name}”"),
            Step::Event { event, name, .. } => format!("发出事件 {event} 并触发自动化“{name}”"),
            Step::Moves { entity } => format!("带动 {entity}"),
        });
    }
    format!("{out}，而这{end}")
}

fn end_chinese(reason: &Reason) -> String {
    let what = id_or(reason.entity.as_ref(), &reason.action);
    let verb = chinese_verb(&reason.action);
    let detail = reason.detail.as_deref().unwrap_or_default();
    match reason.code {
        ReasonCode::Opens => format!("会{verb} {what}，等于把家打开"),
        ReasonCode::Disarms => format!("会{verb} {what}，削弱警戒"),
        ReasonCode::Rearms => format!("会在 {what} 处于 {detail} 时重新布防，可能重置延时、静音或降级"),
        ReasonCode::StopsCover => format!("会在 {what} 处于 {detail} 时停住它，可能留下缝隙或反向动作"),
        ReasonCode::Pulse => format!("会给 {what} 再发一次脉冲（现在是 {detail}），可能把它打开"),
        ReasonCode::Valve => format!("会打开阀门 {what}"),
        ReasonCode::Gas => format!("会打开燃气阀 {what}"),
        ReasonCode::Heat => format!("会把 {what} 设到舒适范围之外（{detail}）"),
        ReasonCode::Harm => format!("会{verb} {what}，可能伤到人"),
        ReasonCode::Listed => format!("会动到 {what}，它在主人的“会开门”名单上"),
        ReasonCode::Labelled => format!("会动到 {what}，它带有守护标签"),
        ReasonCode::Relation => format!("会动到 {what}，它控制着 {detail}"),
        ReasonCode::Named => format!("会动到 {what}，它的名字说明可能会开门，还没有人确认过"),
        ReasonCode::Button => format!("会按下 {what}，还没有人确认过这个按钮做什么"),
        ReasonCode::Blinds => format!("会动到 {what}，让家少了一双眼睛，或写入无法判断的内容"),
        ReasonCode::Stops => format!("会停掉“{detail}”，它负责上锁、关闭或布防，或者内容读不到"),
        ReasonCode::NoState => format!("涉及 {what}，它没有状态可供判断"),
        ReasonCode::CodeGiven => "在调用里带了密码：密码只由主人保管，一律拒绝".to_owned(),
        ReasonCode::UnknownService => format!("调用了 {what}，这里不知道它会做什么"),
        ReasonCode::Opaque => format!("调用了 {what}，它什么都能做，谁也看不到里面"),
        ReasonCode::ListedAsks => format!("调用了 {what}，主人要求先询问"),
        ReasonCode::NotifyExtra => format!("使用了 `{detail}`，它不只是显示一条消息"),
        ReasonCode::Speech => "会出声播报，别的助手可能会听到".to_owned(),
        ReasonCode::Media => "会从没有人允许过的地址播放".to_owned(),
        ReasonCode::WrongMember => format!("把 {what} 藏在了不该出现的位置"),
        ReasonCode::OpaqueBody => format!("含有无法判断的部分（{detail}）"),
        ReasonCode::Unreadable => "用现在的令牌读不到内容".to_owned(),
        ReasonCode::UnreadableScene => "会设置读不到的状态（请在编辑器里保存该场景，或授权它）".to_owned(),
        ReasonCode::BadStates => format!("给 {what} 的状态无法判断"),
        ReasonCode::ReadOnly => "这个连接只能读取".to_owned(),
        ReasonCode::BodyChanged => "在授权之后内容变了".to_owned(),
    }
}
