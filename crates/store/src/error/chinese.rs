//! The same errors in Chinese. Start at [`StoreError::in_chinese`]. Invariant: cause and cure, as in English.

use super::StoreError;

impl StoreError {
    /// For a person; logs have the English one.
    pub fn in_chinese(&self) -> String {
        match self {
            Self::InUse { folder, pid } => format!(
                "{} 中的家庭数据正被进程 {pid} 使用：请先停止它（`menshen chat` 可以加入运行中的 `menshen serve`）",
                folder.display()
            ),
            Self::Newer { path, found, known } => format!(
                "数据库 {} 由更新版本的 Menshen 写入（布局 {found}，本版本最高支持 {known}）：请装回该版本，或恢复升级前的备份",
                path.display()
            ),
            Self::Older { path, found, known } => format!(
                "数据库 {} 是旧布局 {found}，且以只读方式打开：请先启动一次 Menshen，它会备份并升级到 {known}",
                path.display()
            ),
            Self::Foreign { path } => format!("{} 是其他程序的数据库：请指定另一个数据文件夹", path.display()),
            Self::Corrupt { path, detail, cure } => format!(
                "数据库 {0} 已损坏（{detail}）：请停止 Menshen，把 {0} 和 {0}-* 移走，然后：{cure}",
                path.display()
            ),
            Self::Missing { path } => {
                format!("找不到数据库 {}：请用 --data 指定数据文件夹，或先启动一次 Menshen", path.display())
            }
            Self::ReadOnly => "数据库以只读方式打开，不能修改".to_owned(),
            Self::Closed => "数据库已关闭".to_owned(),
            Self::File { path, source } => format!("无法读写 {}：{source}", path.display()),
            Self::DiskFull => "数据库所在的磁盘已满：请腾出空间后重试".to_owned(),
            Self::Sql(error) => format!("数据库操作失败：{error}"),
            Self::KeyMissing { path } => format!(
                "找不到密钥文件 {}，密码类设置是用它加密的：请放回原处（备份里可能有），或删除这些设置后重新填写",
                path.display()
            ),
            Self::KeyWrong { path } => format!(
                "{} 不是加密密码类设置所用的密钥：请放回正确的密钥（备份里可能有），或删除这些设置后重新填写",
                path.display()
            ),
            Self::Seal { space, key } => format!("密码类设置 {space}/{key} 无法加密或解密：请删除后重新填写"),
            Self::TargetExists { path } => format!("{} 已经存在：请换个名字，或先把它移走", path.display()),
            Self::NotEmpty { path } => {
                format!("{} 里已有内容：导入需要空的数据文件夹，请用 --data 另指定一个", path.display())
            }
            Self::Import { line, problem } => format!("导出文件第 {line} 行无法导入，没有导入任何内容：{problem}"),
            Self::Json(error) => format!("数据库中有一条内容无法读取：{error}"),
            Self::Panicked(what) => format!("数据库操作内部出错：{what}"),
            Self::Refused(failure) => failure.message.clone(),
        }
    }
}
