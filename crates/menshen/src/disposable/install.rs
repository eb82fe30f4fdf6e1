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
    let list = write_list(&folder, set)?;
    let packages = packages(set).count();
    let with = if machine.uv.is_some() { "uv" } else { "venv and pip" };
    progress.step(&format!(
        "installing Home Assistant {} for Python {major}.{minor} with {with} ({packages} packages, once)",
        set.release
    ));
    match &machine.uv {
        Some(uv) => {
            let mut make = Command::new(uv);
            make.args(["venv", "-q", "--allow-existing", "--python"]).arg(&python.program).arg(&folder);
            run::run(&mut make, INSTALL_SECS_MAX).await?;
            run::run(&mut with_uv(uv, &folder, &list), INSTALL_SECS_MAX).await?;
        }
        None => {
            let mut make = Command::new(&python.program);
            make.args(["-m", "venv"]).arg(&folder);
            run::run(&mut make, INSTALL_SECS_MAX).await.with_context(|| {
                format!("this Python cannot make an environment: install the package `python{major}.{minor}-venv` (Debian, Ubuntu: sudo apt install python3-venv)")
            })?;
            with_pip(&folder, &list, set).await?;
        }
    }
    if !folder.join("bin/hass").exists() {
        bail!("the install in {} has no bin/hass", folder.display());
    }
    finish(&folder, set)?;
    Ok(folder)
}

pub fn complete(folder: &Path, set: &Set) -> bool {
    fs::read_to_string(folder.join(MARKER)).is_ok_and(|release| release.trim() == set.release)
}

pub fn finish(folder: &Path, set: &Set) -> Result<()> {
    fs::write(folder.join(MARKER), set.release).context("cannot mark the install as complete")
}

pub fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove the unfinished install {}", folder.display()))?;
    }
    make_private(folder)
}

/// The lines of a set that name packages.
fn packages(set: &Set) -> impl Iterator<Item = &str> {
    set.requirements.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty())
}

pub fn write_list(folder: &Path, set: &Set) -> Result<PathBuf> {
    let path = folder.join("menshen-requirements.txt");
    fs::write(&path, set.requirements).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// A frozen set contradicts its own metadata in places, hence no dependency is looked at.
fn with_uv(uv: &Path, folder: &Path, list: &Path) -> Command {
    let mut command = Command::new(uv);
    command.args(["pip", "install", "-q", "--no-deps", "--python"]);
    command.arg(folder.join("bin/python")).arg("-r").arg(list);
    command
}

/// Every set holds `uv` itself, which installs the rest several times faster than pip.
async fn with_pip(folder: &Path, list: &Path, set: &Set) -> Result<()> {
    let pip = folder.join("bin/pip");
    let uv = packages(set).find(|package| package.starts_with("uv=="));
    if let Some(uv) = uv
        && run::succeeds(Command::new(&pip).args(["install", "-q", "--no-deps", uv]), INSTALL_SECS_MAX).await
    {
        let mut command = with_uv(&folder.join("bin/uv"), folder, list);
        // pip's own settings for a private index or certificate hold for uv as well.
        for (theirs, ours) in [("PIP_INDEX_URL", "UV_INDEX_URL"), ("PIP_CERT", "SSL_CERT_FILE")] {
            if let (Some(value), None) = (env::var_os(theirs), env::var_os(ours)) {
                command.env(ours, value);
            }
        }
        if run::run(&mut command, INSTALL_SECS_MAX).await.is_ok() {
            return Ok(());
        }
    }
    let mut command = Command::new(&pip);
    command.args(["install", "-q", "--no-deps", "-r"]).arg(list);
    run::run(&mut command, INSTALL_SECS_MAX).await.map(drop)
}
