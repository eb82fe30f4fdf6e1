//! From nothing to a seeded house, and back to nothing. Start at [`up`].
//!
//! Invariant: a house that has no record is half made, and the next `up` makes it anew; an `up` that
//! is interrupted or fails takes away what it began.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use tokio::signal::unix::{SignalKind, signal};

use super::UpArguments;
use super::config::{self, Release, Wish};
use super::debian;
use super::engine;
use super::folders::{Folders, make_private};
use super::install;
use super::launch;
use super::machine::{Choice, Machine};
use super::onboard;
use super::progress::Progress;
use super::record::{Record, Report, Runtime};
use super::reset;
use super::seed;

/// The house of that name, running and seeded. Calling it again changes nothing.
pub async fn up(folders: &Folders, arguments: &UpArguments, progress: &Progress) -> Result<Record> {
    let name = &arguments.which.name;
    let _lock = folders.lock(name)?;
    if let Ok(record) = Record::read(folders, name) {
        return again(folders, arguments, record, progress).await;
    }
    launch::stop(folders, name).await?;
    let mut told_to_end = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let made = tokio::select! {
        made = make(folders, arguments, progress) => made,
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
        _ = told_to_end.recv() => Err(anyhow!("told to end")),
    };
    if made.is_err() {
        keep_log(folders, name);
        remove(folders, name).await?;
        folders.sweep(name);
    }
    made
}

/// Stops the house and removes it; says whether there was one.
pub async fn down(folders: &Folders, name: &str, progress: &Progress) -> Result<bool> {
    if !folders.house(name).exists() {
        return Ok(false);
    }
    let _lock = folders.lock(name)?;
    progress.step(&format!("taking house `{name}` down"), &format!("正在拆除房屋 `{name}`"));
    remove(folders, name).await?;
    folders.sweep(name);
    Ok(true)
}

async fn remove(folders: &Folders, name: &str) -> Result<()> {
    launch::stop(folders, name).await?;
    let house = folders.house(name);
    match fs::remove_dir_all(&house) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", house.display()))
        }
        _ => Ok(()),
    }
}

/// A failed house is removed, but why it failed is worth keeping.
fn keep_log(folders: &Folders, name: &str) {
    let from = folders.house(name).join("log");
    let to = std::env::temp_dir().join(format!("menshen-house-{name}.log"));
    if fs::copy(&from, &to).is_ok() {
        eprintln!("the house's last log is {}", to.display());
    }
}

/// There is a record: start the house again if it does not run.
async fn again(folders: &Folders, arguments: &UpArguments, record: Record, progress: &Progress) -> Result<Record> {
    let wish = arguments.version.as_deref();
    if wish.is_some_and(|wish| wish != record.version && wish != record.ha_version) {
        bail!(
            "house `{}` is Home Assistant {}; take it `down` first, or choose another --name",
            record.name,
            record.ha_version
        );
    }
    if launch::alive(folders, &record).await {
        return Ok(record);
    }
    launch::stop(folders, &record.name).await?;
    let name = &record.name;
    progress.step(&format!("starting house `{name}` again"), &format!("正在重新启动房屋 `{name}`"));
    launch::start(folders, &record.name, &record.runtime, record.port).await?;
    onboard::running(&mut record.wire().await?).await?;
    Ok(record)
}

async fn make(folders: &Folders, arguments: &UpArguments, progress: &Progress) -> Result<Record> {
    let name = &arguments.which.name;
    let mut machine = Machine::look().await;
    if arguments.no_engine {
        machine.engine = None;
    }
    let (runtime, release) = prepare(folders, &machine, arguments.version.as_deref(), progress).await?;
    let port = match arguments.port {
        Some(port) => port,
        None => launch::free_port()?,
    };
    let house = folders.house(name);
    if house.exists() {
        fs::remove_dir_all(&house).with_context(|| format!("cannot remove the half-made {}", house.display()))?;
    }
    make_private(&house)?;
    let container = matches!(runtime, Runtime::Engine { .. });
    let language = arguments.language.as_deref().unwrap_or("en");
    let wish = Wish { port, language, bulk: arguments.bulk, container, release: Release::parse(&release) };
    config::write(&folders.config(name), &wish)?;
    progress.step(
        &format!("starting Home Assistant {release} at 127.0.0.1:{port}"),
        &format!("正在 127.0.0.1:{port} 启动 Home Assistant {release}"),
    );
    launch::start(folders, name, &runtime, port).await?;
    say_isolation(folders, name, container, progress);
    progress.step("making its owner, and waiting until all of it has started", "正在创建主人账户，并等待全部启动");
    let (rest, mut wire) = onboard::onboard(port, language).await?;
    onboard::running(&mut wire).await?;
    if arguments.bulk > 0 {
        let bulk = arguments.bulk;
        progress.step(&format!("making {bulk} further entities"), &format!("正在另外创建 {bulk} 个实体"));
        wire = onboard::grown(&rest, arguments.bulk).await?;
    }
    progress.step(
        "seeding floors, rooms, names and what Assist may see",
        "正在布置楼层、房间、名称，以及语音助手能看到的设备",
    );
    let seed = seed::seed(&rest, &mut wire).await?;
    reset::remember(folders, name, &mut wire).await?;
    let record = Record {
        name: name.clone(),
        version: arguments.version.clone().unwrap_or(release),
        ha_version: wire.version().to_owned(),
        port,
        token: rest.token,
        config: folders.config(name),
        runtime,
        seed,
    };
    record.write(folders)?;
    progress.step("the house is ready", "房屋已就绪");
    Ok(record)
}

/// Installs what the house runs on, and names the release.
async fn prepare(
    folders: &Folders,
    machine: &Machine,
    wish: Option<&str>,
    progress: &Progress,
) -> Result<(Runtime, String)> {
    match machine.choose(wish)? {
        Choice::Engine { program, tag } => {
            progress.step(
                &format!("fetching Home Assistant {tag} for {program} (once)"),
                &format!("正在为 {program} 下载 Home Assistant {tag}（只需一次）"),
            );
            engine::pull(program, &tag).await?;
            Ok((Runtime::Engine { program: program.to_owned(), tag: tag.clone() }, tag))
        }
        Choice::Python { python, set } => {
            if !set.tried {
                let release = set.release;
                progress.step(
                    &format!("the set of packages for Home Assistant {release} has not been tried with this Python"),
                    &format!("Home Assistant {release} 的软件包组合尚未在这个 Python 上试过"),
                );
            }
            let install = install::python(folders, machine, python, set, progress).await?;
            Ok((Runtime::Python { python: python.program.clone(), install }, set.release.into()))
        }
        Choice::Debian { set } => {
            let python =
                machine.pythons.first().map(|python| python.program.clone()).context("the launcher needs a Python")?;
            let folder = debian::folder(folders, set, progress).await?;
            Ok((Runtime::Debian { python, folder }, set.release.into()))
        }
    }
}

fn say_isolation(folders: &Folders, name: &str, container: bool, progress: &Progress) {
    if container {
        return;
    }
    match Report::read(&folders.config(name)).and_then(|report| report.isolation) {
        Some(isolation) => progress.step(
            &format!("it sees no network but loopback ({isolation})"),
            &format!("除本机回环外，它看不到任何网络（{isolation}）"),
        ),
        None => progress.step(
            "this machine allows no network namespace: Home Assistant is bound to 127.0.0.1, but newer releases also open mDNS sockets",
            "这台机器不允许网络命名空间：Home Assistant 只绑定 127.0.0.1，但较新的版本还会打开 mDNS 套接字",
        ),
    }
}
