//! Starts and stops Home Assistant's process behind the launcher. Start at [`start`].
//!
//! Invariant: a process is signalled only after its command line has been found to be this house's
//! launcher.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::process::Command;
use tokio::time::sleep;

use super::debian;
use super::engine;
use super::folders::{Folders, write_private};
use super::record::{Record, Runtime, base_url};
use super::run;

const LAUNCHER: &str = include_str!("../../house/launch.py");
/// A first start on a slow disk took 16 s; a container's first start can take minutes.
const START_SECS_MAX: u64 = 300;
/// The launcher gives Home Assistant 20 s to end, then 5 more.
const STOP_SECS_MAX: u64 = 40;

/// A port on 127.0.0.1 that nobody has at this moment.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// Starts the house and waits until its API answers.
pub async fn start(folders: &Folders, name: &str, runtime: &Runtime, port: u16) -> Result<()> {
    let mut launcher = match runtime {
        Runtime::Engine { program, tag } => {
            engine::start(program, tag, name, &folders.config(name), port).await?;
            None
        }
        Runtime::Python { .. } | Runtime::Debian { .. } => {
            TcpListener::bind(("127.0.0.1", port))
                .with_context(|| format!("port {port} on 127.0.0.1 is taken; choose another with --port"))?;
            Some(spawn(&folders.house(name), runtime, port)?)
        }
    };
    let client = reqwest_client()?;
    let begun = Instant::now();
    loop {
        if answers(&client, port).await {
            return Ok(());
        }
        if let Some(launcher) = &mut launcher
            && let Some(status) = launcher.try_wait()?
        {
            let log = fs::read_to_string(folders.house(name).join("log")).unwrap_or_default();
            bail!("Home Assistant ended while starting ({status}):\n{}", run::tail(&log));
        }
        if begun.elapsed() > Duration::from_secs(START_SECS_MAX) {
            bail!(
                "Home Assistant did not answer within {START_SECS_MAX} s; its log is {}",
                folders.house(name).join("log").display()
            );
        }
        sleep(Duration::from_millis(100)).await;
    }
}

fn spawn(house: &Path, runtime: &Runtime, port: u16) -> Result<tokio::process::Child> {
    let config = house.join("config");
    let (python, command, path) = match runtime {
        Runtime::Python { python, install } => {
            let bin = install.join("bin");
            let command = vec![bin.join("hass").display().to_string(), "-c".into(), config.display().to_string()];
            (python, command, format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()))
        }
        Runtime::Debian { python, .. } => {
            let bin = format!("{}/bin", debian::INSIDE);
            let command = vec![format!("{bin}/hass"), "-c".into(), "/house".into()];
            (python, command, format!("{bin}:/usr/local/bin:/usr/bin:/bin"))
        }
        Runtime::Engine { .. } => bail!("a container needs no launcher"),
    };
    let mut spec = json!({
        "port": port,
        "report": house.join("launch.report.json"),
        "command": command,
        "environment": {"PATH": path, "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONUTF8": "1", "TZ": "Asia/Shanghai"},
    });
    if let Runtime::Debian { folder, .. } = runtime {
        spec["root"] = json!(folder);
        spec["bind"] = json!([config, folder.join("house")]);
    }
    let (script, specification) = (house.join("launch.py"), house.join("launch.json"));
    let _ = fs::remove_file(house.join("launch.report.json"));
    write_private(&script, LAUNCHER)?;
    write_private(&specification, &spec.to_string())?;
    let log = fs::File::create(house.join("log")).context("cannot write the house's log")?;
    let mut launcher = Command::new(python);
    launcher.arg(&script).arg(&specification).current_dir(house);
    launcher.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    launcher.spawn().with_context(|| format!("cannot run {}", python.display()))
}

/// Home Assistant is there and asks for a token.
async fn answers(client: &reqwest::Client, port: u16) -> bool {
    let answer = client.get(format!("{}/api/", base_url(port))).send().await;
    answer.is_ok_and(|answer| answer.status() == 401)
}

fn reqwest_client() -> Result<reqwest::Client> {
    Ok(home::Endpoint::parse("http://127.0.0.1", home::Tls::SystemRoots)?.http_client()?)
}

/// The house runs and takes its token.
pub async fn alive(folders: &Folders, record: &Record) -> bool {
    let process = match &record.runtime {
        Runtime::Engine { program, .. } => engine::running(program, &record.name).await,
        _ => launcher_of(folders, &record.name).is_some(),
    };
    process && record.wire().await.is_ok()
}

/// Ends whatever runs of the house; says whether anything did.
pub async fn stop(folders: &Folders, name: &str) -> Result<bool> {
    let record = Record::read(folders, name).ok();
    if let Some(Record { runtime: Runtime::Engine { program, .. }, .. }) = &record {
        engine::release_files(program, name).await;
        engine::stop(program, name).await?;
        return Ok(true);
    }
    let Some(launcher) = launcher_of(folders, name) else {
        return Ok(false);
    };
    let begun = Instant::now();
    let mut asked = Signal::TERM;
    while launcher_of(folders, name).is_some() {
        if let Some(pid) = Pid::from_raw(launcher) {
            // Gone in the meantime is as good.
            let _ = kill_process(pid, asked);
        }
        // Home Assistant dies with its launcher, even when that is killed.
        if begun.elapsed() > Duration::from_secs(STOP_SECS_MAX) {
            asked = Signal::KILL;
        }
        if begun.elapsed() > Duration::from_secs(STOP_SECS_MAX + 5) {
            bail!("process {launcher} of house `{name}` does not end");
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(true)
}

/// The process id of the house's launcher, found by its command line, so a house that lost its
/// report is found as well and a process id that was given out anew is not mistaken for it.
fn launcher_of(folders: &Folders, name: &str) -> Option<i32> {
    let script = folders.house(name).join("launch.py");
    let script = script.to_str()?;
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let words = fs::read(entry.path().join("cmdline")).ok()?;
        // A process that has ended but was not waited for has no command line.
        (words.split(|&byte| byte == 0).nth(1)? == script.as_bytes()).then_some(pid)
    })
}
