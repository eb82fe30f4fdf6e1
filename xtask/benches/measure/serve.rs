//! `menshen serve`, idle: what it weighs before and after somebody first said something in Chinese, for
//! which the dictionary is read. Start at [`measure`].

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::Plan;
use crate::mcp::Memory;
use crate::row::Row;

const STARTS: usize = 3;
/// Longest wait until it can be joined.
const START_MAX: Duration = Duration::from_secs(30);
/// By then the program has read what it reads, and freed what it needed for that.
const SETTLED: Duration = Duration::from_secs(3);

pub fn measure(plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let serving = Serving::start(plan)?;
        std::thread::sleep(SETTLED);
        before.push(Memory::of(serving.child.id())?);
        serving.say("客厅多少度")?;
        std::thread::sleep(SETTLED);
        after.push(Memory::of(serving.child.id())?);
    }
    Ok(vec![
        row("`menshen serve`: resident, idle, seeded house loaded", &before, 50.0),
        row("the same after words in Chinese: dictionary read", &after, 85.0),
    ])
}

fn row(what: &str, memory: &[Memory], limit: f64) -> Row {
    let most = |of: fn(&Memory) -> f64| memory.iter().map(of).fold(0.0, f64::max);
    let how = format!("largest of {STARTS}; peak {:.1} MB", most(|memory| memory.peak));
    Row::new("memory", what, most(|memory| memory.now), "MB").at_most(limit).how(how)
}

/// A service with a household that has lived nowhere yet.
struct Serving {
    child: Child,
    data: PathBuf,
    menshen: Box<dyn Fn() -> Command>,
}

impl Serving {
    fn start(plan: &Plan) -> anyhow::Result<Self> {
        let data = PathBuf::from(&plan.folder).join("household");
        // Of the last run; the first time there is none.
        let _none = std::fs::remove_dir_all(&data);
        let (program, folder, house, at) =
            (plan.menshen.clone(), plan.folder.clone(), plan.family.clone(), data.clone());
        let menshen = Box::new(move || {
            let mut command = Command::new(&program);
            command.env("HOME_ASSISTANT_URL", &house.base_url).env("HOME_ASSISTANT_TOKEN", &house.token);
            command.env("XDG_STATE_HOME", &folder).env("MENSHEN_CONFIG", format!("{folder}/menshen.toml"));
            command.env("MENSHEN_DATA", &at).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        });
        let child = menshen().arg("serve").spawn().context("starting `menshen serve`")?;
        let serving = Self { child, data, menshen };
        let begun = Instant::now();
        while !serving.data.join("menshen.sock").exists() {
            if begun.elapsed() > START_MAX {
                bail!("`menshen serve` cannot be joined within {} s", START_MAX.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(serving)
    }

    fn say(&self, text: &str) -> anyhow::Result<()> {
        let status = (self.menshen)().args(["chat", text]).status()?;
        ensure!(status.success(), "`menshen chat {text}` ended with {status}");
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}
