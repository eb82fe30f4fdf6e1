//! A server as a child of this program. Start at [`start`]. Invariants: the child inherits no variable of
//! ours but a few harmless ones; when its [`Child`] is dropped, it and all that it started are killed.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Reach;

/// Harmless variables that programs need to find themselves.
const PASSED_ON: &[&str] = &["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SystemRoot"];
/// Of its complaints the last line is kept, as long as this.
const COMPLAINT_BYTES_MAX: u64 = 4096;
/// A child that ends has said all that it will say by then.
const LAST_WORDS_MAX: Duration = Duration::from_secs(1);

pub(super) struct Child {
    group: Option<Pid>,
    /// Killed with its handle.
    _process: tokio::process::Child,
    complaint: Arc<Mutex<String>>,
    listening: JoinHandle<()>,
}

impl Child {
    /// The last that it wrote on standard error, once it is known to be ending: what is under way is waited for.
    pub(super) async fn last_words(&mut self) -> String {
        // Somebody else may hold its standard error open.
        let _ = timeout(LAST_WORDS_MAX, &mut self.listening).await;
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The child, what it writes and where to write to it.
pub(super) fn start(reach: &Reach) -> Result<(Child, ChildStdout, ChildStdin), String> {
    let Reach::Program { program, arguments, environment, folder } = reach else {
        return Err("this server has an address and no program".to_owned());
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().kill_on_drop(true).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in PASSED_ON {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(environment);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut process = command.spawn().map_err(|error| format!("cannot start `{program}`: {error}"))?;
    let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let (Some(output), Some(input), Some(errors)) =
        (process.stdout.take(), process.stdin.take(), process.stderr.take())
    else {
        return Err(format!("`{program}` has no standard input and output"));
    };
    let complaint = Arc::new(Mutex::new(String::new()));
    // Ends with the child, which closes its end.
    let listening = tokio::spawn(listen(errors, complaint.clone()));
    Ok((Child { group, _process: process, complaint, listening }, output, input))
}

async fn listen(errors: ChildStderr, complaint: Arc<Mutex<String>>) {
    let mut errors = BufReader::new(errors);
    loop {
        let mut line = Vec::new();
        match (&mut errors).take(COMPLAINT_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(1..) => {
                let line = decide::text::clean(&String::from_utf8_lossy(&line), 300);
                if !line.is_empty() {
                    *complaint.lock().unwrap_or_else(PoisonError::into_inner) = line;
                }
            }
            _ => return,
        }
    }
}
