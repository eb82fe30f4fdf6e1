//! Where houses and installs lie. Start at [`Folders::find`].
//!
//! Invariant: all that one house is lies below one folder of its own; what can be downloaded again
//! lies in the cache.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};

pub struct Folders {
    houses: PathBuf,
    installs: PathBuf,
}

impl Folders {
    /// `MENSHEN_HOME` and `MENSHEN_CACHE`, else the user's data and cache folders.
    pub fn find() -> Result<Self> {
        let state = base("MENSHEN_HOME", "XDG_DATA_HOME", ".local/share")?;
        let cache = base("MENSHEN_CACHE", "XDG_CACHE_HOME", ".cache")?;
        Ok(Self { houses: state.join("houses"), installs: cache.join("installs") })
    }

    pub fn install(&self, of: &str) -> PathBuf {
        self.installs.join(of)
    }

    pub fn house(&self, name: &str) -> PathBuf {
        self.houses.join(name)
    }

    pub fn config(&self, name: &str) -> PathBuf {
        self.house(name).join("config")
    }

    /// Held while a house is made or taken down, so that two commands do not do it at once.
    pub fn lock(&self, name: &str) -> Result<fs::File> {
        make_private(&self.houses)?;
        let path = self.houses.join(format!("{name}.lock"));
        let file = fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        if file.try_lock().is_err() {
            bail!("another `menshen home` is at work on house `{name}`; wait for it, or end it");
        }
        Ok(file)
    }

    /// Removes the lock file and folders that have become empty.
    pub fn sweep(&self, name: &str) {
        let _ = fs::remove_file(self.houses.join(format!("{name}.lock")));
        let _ = fs::remove_dir(&self.houses);
        if let Some(parent) = self.houses.parent() {
            let _ = fs::remove_dir(parent);
        }
    }
}

fn base(own: &str, xdg: &str, below_home: &str) -> Result<PathBuf> {
    let set = |key: &str| env::var_os(key).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = set(own)
        .or_else(|| set(xdg).map(|path| path.join("menshen")))
        .or_else(|| set("HOME").map(|path| path.join(below_home).join("menshen")))
        .with_context(|| format!("neither {own} nor HOME is set: there is no place for a house"))?;
    std::path::absolute(&found).with_context(|| format!("{} is no usable path", found.display()))
}

/// A folder that only its owner can look into.
pub fn make_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot make the folder {}", path.display()))
}

/// A file that only its owner can read, replaced as a whole.
pub fn write_private(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let new = path.with_extension("new");
    let write = || {
        let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Names become folder and container names.
pub fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !text.is_empty() && text.len() <= 40 && text.chars().all(fits) && !text.starts_with('-') {
        Ok(text.to_owned())
    } else {
        Err("up to 40 small letters, digits and hyphens".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_the_folder_of_houses() {
        for bad in ["", "..", "a/b", "-rf", "Ａ", "x y"] {
            assert!(name(bad).is_err(), "{bad}");
        }
        assert_eq!(name("bench-5000").unwrap(), "bench-5000");
    }
}
