//! Installs one frozen set of packages into the cache, once. Start at [`python`].
//!
//! Invariant: an install is used only if its marker is there, which is written last; anything less
//! is removed and made again.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use super::folders::{Folders, make_private};
use super::machine::{Machine, Python, Set};
use super::progress::Progress;
use super::run;

const MARKER: &str = "menshen-install-complete";
/// Begins the last part of a set: packages that have no wheel for this Python.
const COMPILED: &str = "# compiled:";
/// Where a `uv` of ours keeps what it fetches, inside the install, while it is made.
const FETCHED: &str = "menshen-fetched";
const INSTALL_SECS_MAX: u64 = 900;

/// The folder of an environment in which `bin/hass` starts the release.
pub async fn python(
    folders: &Folders,
    machine: &Machine,
    python: &Python,
    set: &Set,
    progress: &Progress,
) -> Result<PathBuf> {
    let (major, minor, _) = python.version;
    let folder = folders.install(&format!("{}-python{major}.{minor}", set.release));
    if complete(&folder, set) {
        return Ok(folder);
    }
    clear(&folder)?;
    let with = if machine.uv.is_some() { "uv" } else { "venv and pip" };
    let (release, count) = (set.release, packages(set.requirements).len());
    progress.step(
        &format!("installing Home Assistant {release} for Python {major}.{minor} with {with} ({count} packages, once)"),
        &format!("正在用 {with} 为 Python {major}.{minor} 安装 Home Assistant {release}（{count} 个软件包，只需一次）"),
    );
    let tool = environment(machine, python, set, &folder).await?;
    let (wheels, compiled) = set.requirements.split_once(COMPILED).unwrap_or((set.requirements, ""));
    tool.install(&folder, &packages(wheels)).await?;
    let compiled = packages(compiled);
    if !compiled.is_empty() && tool.install(&folder, &compiled).await.is_err() {
        let (english, chinese) = (compiled.join(" and "), compiled.join("、"));
        progress.step(
            &format!("{english} could not be built: for want of g++ or python3-dev the house has no assist_pipeline and no mobile_app"),
            &format!("{chinese} 无法编译：缺少 g++ 或 python3-dev，房屋里将没有 assist_pipeline 和 mobile_app"),
        );
    }
    if !folder.join("bin/hass").exists() {
        bail!("the install in {} has no bin/hass", folder.display());
    }
    discard(&folder.join(FETCHED))?;
    finish(&folder, set)?;
    Ok(folder)
}

/// An empty environment, and what fills it.
async fn environment(machine: &Machine, python: &Python, set: &Set, folder: &Path) -> Result<Tool> {
    if let Some(uv) = &machine.uv {
        let mut make = Command::new(uv);
        make.args(["venv", "-q", "--allow-existing", "--python"]).arg(&python.program).arg(folder);
        run::run(&mut make, INSTALL_SECS_MAX).await?;
        return Ok(Tool::Uv(uv.clone(), None));
    }
    let (major, minor, _) = python.version;
    let mut make = Command::new(&python.program);
    make.args(["-m", "venv"]).arg(folder);
    run::run(&mut make, INSTALL_SECS_MAX).await.with_context(|| {
        format!("this Python cannot make an environment: install the package `python{major}.{minor}-venv` (Debian, Ubuntu: sudo apt install python3-venv)")
    })?;
    // Every set holds `uv` itself, which installs the rest several times faster than pip.
    let pip = Tool::Pip;
    let uv = packages(set.requirements).into_iter().find(|package| package.starts_with("uv=="));
    let there = match uv {
        Some(uv) => pip.install(folder, &[uv]).await.is_ok(),
        None => false,
    };
    Ok(if there { Tool::Uv(folder.join("bin/uv"), Some(folder.join(FETCHED))) } else { pip })
}

/// What installs packages into an environment.
enum Tool {
    /// The program, and its cache if it is not the person's own uv with a cache of theirs.
    Uv(PathBuf, Option<PathBuf>),
    Pip,
}

impl Tool {
    /// A frozen set contradicts its own metadata in places, hence no dependency is looked at.
    async fn install(&self, folder: &Path, packages: &[&str]) -> Result<()> {
        if let Self::Uv(uv, cache) = self {
            let mut command = Command::new(uv);
            // Its usual cache would keep all of it a second time, in a folder that nobody connects with us.
            if let Some(cache) = cache {
                command.env("UV_CACHE_DIR", cache);
            }
            command.args(["pip", "install", "-q", "--no-deps", "--python"]).arg(folder.join("bin/python"));
            // pip's own settings for an index or a certificate hold for uv as well.
            for (theirs, ours) in [("PIP_INDEX_URL", "UV_INDEX_URL"), ("PIP_CERT", "SSL_CERT_FILE")] {
                if let (Some(value), None) = (env::var_os(theirs), env::var_os(ours)) {
                    command.env(ours, value);
                }
            }
            let done = run::run(command.args(packages), INSTALL_SECS_MAX).await;
            // A uv of the machine's brings no pip along.
            if done.is_ok() || !folder.join("bin/pip").exists() {
                return done.map(drop);
            }
        }
        let mut command = Command::new(folder.join("bin/pip"));
        command.args(["install", "-q", "--no-deps"]).args(packages);
        run::run(&mut command, INSTALL_SECS_MAX).await.map(drop)
    }
}

pub fn complete(folder: &Path, set: &Set) -> bool {
    fs::read_to_string(folder.join(MARKER)).is_ok_and(|release| release.trim() == set.release)
}

pub fn finish(folder: &Path, set: &Set) -> Result<()> {
    fs::write(folder.join(MARKER), set.release).context("cannot mark the install as complete")
}

pub fn clear(folder: &Path) -> Result<()> {
    discard(folder)?;
    make_private(folder)
}

fn discard(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// The lines that name packages.
fn packages(lines: &str) -> Vec<&str> {
    let names = |line: &&str| line.contains("==") && !line.starts_with('#');
    lines.lines().map(str::trim).filter(names).collect()
}

pub fn write_list(folder: &Path, set: &Set) -> Result<PathBuf> {
    let path = folder.join("menshen-requirements.txt");
    fs::write(&path, set.requirements).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disposable::machine::SETS;

    #[test]
    fn every_set_is_frozen_and_holds_its_own_release_and_uv() {
        for set in &SETS {
            let packages = packages(set.requirements);
            assert!(packages.contains(&format!("homeassistant=={}", set.release).as_str()), "{}", set.release);
            assert!(packages.iter().any(|package| package.starts_with("uv==")), "{}", set.release);
            assert!(packages.len() > 100, "{}", set.release);
            let open = set.requirements.lines().find(|line| !line.starts_with('#') && !line.contains("=="));
            assert_eq!(open, None, "{}", set.release);
            assert_eq!(set.requirements.contains("UNTRIED"), !set.tried, "the file says what status says");
        }
    }
}
