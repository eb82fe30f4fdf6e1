//! The newest release in a Debian folder with a Python of its own: for root, on request only.
//!
//! Start at [`folder`]. Invariant: the folder lies in the cache and nothing outside it is installed
//! but `debootstrap` itself.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tokio::process::Command;

use super::folders::Folders;
use super::install;
use super::machine::{Set, on_path};
use super::progress::Progress;
use super::run;

/// The moving suite that has Python 3.14.
const SUITE: &str = "forky";
/// Where Home Assistant lies inside the folder.
pub const INSIDE: &str = "/opt/home-assistant";
const STEP_SECS_MAX: u64 = 900;
/// Two packages have no wheel for this Python; these build them and go again.
const BUILDERS: [&str; 2] = ["g++", "python3-dev"];

pub async fn folder(folders: &Folders, set: &Set, progress: &Progress) -> Result<PathBuf> {
    let folder = folders.install(&format!("{}-debian", set.release));
    if install::complete(&folder, set) {
        return Ok(folder);
    }
    install::clear(&folder)?;
    progress.step(
        "making a Debian folder with Python 3.14 (about 3 minutes, once)",
        "正在准备带 Python 3.14 的 Debian 目录（约 3 分钟，只需一次）",
    );
    bootstrap(&folder).await?;
    let release = set.release;
    progress
        .step(&format!("installing Home Assistant {release} in it"), &format!("正在其中安装 Home Assistant {release}"));
    packages(&folder, set).await?;
    install::finish(&folder, set)?;
    Ok(folder)
}

async fn bootstrap(folder: &Path) -> Result<()> {
    if on_path("debootstrap").is_none() {
        run::run(Command::new("apt-get").args(["update", "-q"]), STEP_SECS_MAX).await?;
        run::run(Command::new("apt-get").args(["install", "-y", "-q", "debootstrap"]), STEP_SECS_MAX).await?;
    }
    // An older debootstrap does not know the suite's name; all suites are made the same way.
    let scripts = Path::new("/usr/share/debootstrap/scripts");
    if scripts.join("sid").exists() && !scripts.join(SUITE).exists() {
        symlink("sid", scripts.join(SUITE)).context("cannot teach debootstrap the suite")?;
    }
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", "--include=python3,python3-venv,ca-certificates", SUITE]).arg(folder);
    run::run(&mut command, STEP_SECS_MAX).await.map(drop)
}

async fn packages(folder: &Path, set: &Set) -> Result<()> {
    for file in ["/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"] {
        let target = folder.join(file.trim_start_matches('/'));
        // What Debian put there may be a link that leads nowhere inside.
        let _ = fs::remove_file(&target);
        fs::copy(file, &target).with_context(|| format!("cannot copy {file}"))?;
    }
    let list = install::write_list(folder, set)?;
    let list = Path::new("/").join(list.file_name().unwrap_or_default());
    let list = list.to_string_lossy();
    // The suite moves, and its file of dates is at times past its own; signatures are still checked.
    inside(folder, &["apt-get", "update", "-q", "-o", "Acquire::Check-Valid-Until=false"]).await?;
    let get = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "libturbojpeg0"];
    inside(folder, &[&get[..], &BUILDERS[..]].concat()).await?;
    inside(folder, &["python3", "-m", "venv", INSIDE]).await?;
    let uv = set.requirements.lines().find(|line| line.starts_with("uv==")).unwrap_or("uv");
    let (pip, uv_program) = (format!("{INSIDE}/bin/pip"), format!("{INSIDE}/bin/uv"));
    let python = format!("{INSIDE}/bin/python");
    inside(folder, &[&pip, "install", "-q", "--no-deps", uv]).await?;
    let all = [&uv_program, "pip", "install", "-q", "--no-deps", "--no-cache", "--python", &python, "-r", &list];
    inside(folder, &all).await?;
    inside(folder, &[&["apt-get", "purge", "-y", "-q"][..], &BUILDERS[..]].concat()).await?;
    inside(folder, &["apt-get", "autoremove", "-y", "-q", "--purge"]).await?;
    inside(folder, &["apt-get", "install", "-y", "-q", "--no-install-recommends", "libstdc++6", "libturbojpeg0"])
        .await?;
    inside(folder, &["apt-get", "clean"]).await?;
    Ok(())
}

async fn inside(folder: &Path, words: &[&str]) -> Result<()> {
    let mut command = Command::new("chroot");
    command.arg(folder).args(words).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/root");
    command.env("DEBIAN_FRONTEND", "noninteractive").env("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt");
    for key in ["PIP_INDEX_URL", "UV_INDEX_URL", "HTTPS_PROXY", "https_proxy"] {
        if let Some(value) = std::env::var_os(key) {
            command.env(key, value);
        }
    }
    command.env("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt");
    run::run(&mut command, STEP_SECS_MAX).await.map(drop)
}
