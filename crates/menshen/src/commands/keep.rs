//! `menshen backup`, `export`, `import`: everything that a household owns, out and in. Start at
//! [`BackupCommand`]. Invariant: a target that is there is never written over.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use decide::gate::Language;
use store::{Access, BackupOptions, KeyInBackup, Options as StoreOptions, Store};

use super::say;
use super::serving::{Place, language_and_folder};
use crate::config::Options;

/// A whole copy of the household, also while `menshen serve` runs
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen backup household.tar.gz\n  menshen backup /mnt/disk/household     (a folder)\n\nPut it back by copying it to the household's folder while nothing runs."
)]
pub struct BackupCommand {
    /// A new folder, or a file that ends in .tar.gz
    target: PathBuf,
    /// Leave out the key: secrets in the copy can then not be opened
    #[arg(long)]
    without_key: bool,
    #[command(flatten)]
    place: Place,
}

/// Everything that the household owns as lines of JSON, without secrets
#[derive(Args)]
#[command(after_help = "Examples:\n  menshen export household.jsonl\n  menshen export - | less")]
pub struct ExportCommand {
    /// A new file, or - for standard output
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// What `menshen export` wrote, into a household that is empty; all or nothing
#[derive(Args)]
#[command(after_help = "Example:\n  menshen import household.jsonl --data /srv/household")]
pub struct ImportCommand {
    /// A file of `menshen export`
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// Reads beside a process that writes.
fn beside() -> StoreOptions {
    StoreOptions { access: Access::ReadOnly, ..StoreOptions::default() }
}

impl BackupCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let (language, folder) = language_and_folder(options, &self.place)?;
        let store = Store::open(&folder, &beside())?;
        let report = store.backup(&self.target, BackupOptions { without_key: self.without_key }).await?;
        let (files, bytes, path) = (report.files, report.bytes, report.path.display());
        let english = format!("{files} files, {bytes} bytes, in {path}.");
        let chinese = format!("{files} 个文件，{bytes} 字节，保存在 {path}。");
        println!("{}", say(language, &english, &chinese));
        if let Some(text) = about_key(&report.key, language) {
            println!("{text}");
        }
        for path in &report.left_out {
            eprintln!("{} {}", say(language, "left out (a link):", "未包含（链接）："), path.display());
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn about_key(key: &KeyInBackup, language: Language) -> Option<String> {
    Some(match key {
        KeyInBackup::None => return None,
        KeyInBackup::Included => say(
            language,
            "The key for your secrets is in it: keep it as safe as them.",
            "其中包含密钥：请像保管密码一样保管它。",
        )
        .to_owned(),
        KeyInBackup::LeftOut => say(
            language,
            "The key is not in it; without it secrets have to be set anew.",
            "其中没有密钥；没有它，密码类设置需要重新填写。",
        )
        .to_owned(),
        KeyInBackup::Elsewhere(path) => {
            let lead = say(language, "The key is kept elsewhere; copy it, too:", "密钥在别处，请一并备份：");
            format!("{lead} {}", path.display())
        }
    })
}

impl ExportCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let (language, folder) = language_and_folder(options, &self.place)?;
        let store = Store::open(&folder, &beside())?;
        let out: Box<dyn Write + Send> = match self.file.to_str() {
            Some("-") => Box::new(std::io::stdout()),
            _ => Box::new(
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&self.file)
                    .with_context(|| format!("cannot write {}: name a new file", self.file.display()))?,
            ),
        };
        let report = store.export(out).await?;
        let english = format!("{} lines.", report.lines);
        let chinese = format!("{} 行。", report.lines);
        eprintln!("{}", say(language, &english, &chinese));
        if !report.secrets_left_out.is_empty() {
            let lead = say(language, "Secrets are not in it:", "其中不含密码类设置：");
            eprintln!("{lead} {}", report.secrets_left_out.join(", "));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ImportCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let (language, folder) = language_and_folder(options, &self.place)?;
        let file = File::open(&self.file).with_context(|| format!("cannot read {}", self.file.display()))?;
        let report = tokio::task::spawn_blocking(move || store::import(&folder, BufReader::new(file))).await??;
        let english = format!("{} lines.", report.lines);
        let chinese = format!("{} 行。", report.lines);
        eprintln!("{}", say(language, &english, &chinese));
        if !report.secrets_to_set.is_empty() {
            let lead = say(language, "Set these anew:", "请重新填写：");
            eprintln!("{lead} {}", report.secrets_to_set.join(", "));
        }
        Ok(ExitCode::SUCCESS)
    }
}
