//! A call that is no call, in words. Start at [`Problem::sentence`].

use super::{Language, Problem};

impl Problem {
    /// What is wrong and what to do, in one sentence; ids and keys are cleaned.
    pub fn sentence(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::BadService { text } => {
                format!("`{text}` is no service; write domain and service, such as light and turn_on")
            }
            Self::NotFound { ids, nearest } if nearest.is_empty() => format!("this house has no {}", ids.join(", ")),
            Self::NotFound { ids, nearest } => {
                format!(
                    "this house has no {}; nearest: {}",
                    ids.join(", "),
                    nearest.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ")
                )
            }
            Self::BadTarget { key, text } => format!(
                "`{text}` is not taken for `{key}`; name entity ids, or area, floor, device and label ids of this house"
            ),
            Self::BadData { key, why } => format!("`{key}` is not taken: {why}"),
            Self::NoTarget => {
                "this service needs a target: entity_id, area_id, floor_id, device_id or label_id".to_owned()
            }
            Self::NothingThere { domain } => format!("the target holds no {domain}"),
            Self::NotReady { missing } => match missing.as_str() {
                "connection" => "not connected to Home Assistant; only locking and closing can be tried".to_owned(),
                "policy" => {
                    "the configuration file cannot be read; only moves toward safety pass until it is mended".to_owned()
                }
                what => {
                    format!("Home Assistant has not given its {what} yet; only moves toward safety pass until it has")
                }
            },
        }
    }

    fn chinese(&self) -> String {
        match self {
            Self::BadService { text } => format!("“{text}”不是服务；请写域和服务，例如 light 和 turn_on"),
            Self::NotFound { ids, nearest } if nearest.is_empty() => format!("这个家里没有 {}", ids.join("、")),
            Self::NotFound { ids, nearest } => {
                format!(
                    "这个家里没有 {}；最接近的是 {}",
                    ids.join("、"),
                    nearest.iter().map(|id| id.as_str()).collect::<Vec<_>>().join("、")
                )
            }
            Self::BadTarget { key, text } => {
                format!("`{key}` 不接受“{text}”；请给出这个家的实体 ID，或区域、楼层、设备、标签的 ID")
            }
            Self::BadData { key, why } => format!("不接受 `{key}`：{why}"),
            Self::NoTarget => "这个服务需要目标：entity_id、area_id、floor_id、device_id 或 label_id".to_owned(),
            Self::NothingThere { domain } => format!("目标里没有 {domain}"),
            Self::NotReady { missing } => match missing.as_str() {
                "connection" => "没有连上 Home Assistant；现在只能尝试上锁和关闭".to_owned(),
                "policy" => "配置文件读不了；修好之前只允许趋向安全的操作".to_owned(),
                what => format!("Home Assistant 还没有给出 {what}；在那之前只允许趋向安全的操作"),
            },
        }
    }
}
