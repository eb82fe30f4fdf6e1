//! A house in a container, where docker or podman answers. Start at [`start`].
//!
//! Invariant: the container's port is published on 127.0.0.1 alone, and its name and label are ours.

use std::path::Path;

use anyhow::{Context, Result};
use tokio::process::Command;

use super::machine::on_path;
use super::run;

const IMAGE: &str = "ghcr.io/home-assistant/home-assistant";
/// A first pull is about 600 MB.
const PULL_SECS_MAX: u64 = 1800;

/// The first engine whose daemon answers.
pub async fn find() -> Option<String> {
    for program in ["docker", "podman"] {
        if on_path(program).is_some() && run::succeeds(Command::new(program).arg("info"), 10).await {
            return Some(program.to_owned());
        }
    }
    None
}

pub fn container(name: &str) -> String {
    format!("menshen-house-{name}")
}

pub async fn pull(program: &str, tag: &str) -> Result<()> {
    let image = format!("{IMAGE}:{tag}");
    if run::succeeds(Command::new(program).args(["image", "inspect", &image]), 30).await {
        return Ok(());
    }
    run::run(Command::new(program).args(["pull", "-q", &image]), PULL_SECS_MAX).await.map(drop)
}

pub async fn start(program: &str, tag: &str, name: &str, config: &Path, port: u16) -> Result<()> {
    stop(program, name).await?;
    let published = format!("127.0.0.1:{port}:8123");
    let volume = format!("{}:/config", config.to_str().context("the path of the house is not UTF-8")?);
    let mut command = Command::new(program);
    command.args(["run", "-d", "--name", &container(name), "--label", "menshen-house=1"]);
    command.args(["-p", &published, "-v", &volume, "-e", "TZ=Asia/Shanghai", &format!("{IMAGE}:{tag}")]);
    run::run(&mut command, 120).await.map(drop)
}

/// Home Assistant in the container writes as its root; this lets the folder's owner remove it.
pub async fn release_files(program: &str, name: &str) {
    let mut command = Command::new(program);
    command.args(["exec", &container(name), "chmod", "-R", "a+rwX", "/config"]);
    run::succeeds(&mut command, 60).await;
}

pub async fn stop(program: &str, name: &str) -> Result<()> {
    if !run::succeeds(Command::new(program).args(["container", "inspect", &container(name)]), 30).await {
        return Ok(());
    }
    run::run(Command::new(program).args(["rm", "-f", "-v", &container(name)]), 60).await.map(drop)
}

pub async fn running(program: &str, name: &str) -> bool {
    let format = "{{.State.Running}}";
    let mut command = Command::new(program);
    command.args(["container", "inspect", "-f", format, &container(name)]);
    run::run(&mut command, 30).await.is_ok_and(|text| text.trim() == "true")
}
