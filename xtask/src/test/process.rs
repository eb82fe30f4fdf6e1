//! One command: its output shown as it comes and counted, and a deadline.
//!
//! Start at [`run`]. Invariant: a command over its deadline is ended and counts as failed, and what
//! it left behind (a house, say) cannot keep us waiting by holding its output open.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::summary::Summary;

/// The longest that a step's command may take; a cold build on two slow cores fits.
const COMMAND_MINUTES_MAX: u64 = 60;
/// Lines on their way from the command to the screen; when full, the command waits.
const LINES_WAITING_MAX: usize = 1024;
/// How long output may go on after its command has ended.
const AFTERWORDS: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);

enum Line {
    Out(String),
    Error(String),
}

/// Runs a step's command and counts what it prints.
pub fn run(name: &str, command: Command, summary: &mut Summary) {
    let before = summary.failed();
    let ended = watch(command, COMMAND_MINUTES_MAX, |line| {
        let (Line::Out(text) | Line::Error(text)) = line;
        println!("{text}");
        summary.read(&text);
    });
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => summary.step_failed(name, &status.to_string(), before),
        Err(why) => summary.step_failed(name, &why, before),
    }
}

/// Runs a command, shows what it says on the side, and gives back what it printed; where it fails,
/// all that it said.
pub fn capture(command: Command, minutes_max: u64) -> Result<String, String> {
    let (mut printed, mut said) = (String::new(), String::new());
    let ended = watch(command, minutes_max, |line| match line {
        Line::Out(text) => {
            printed.push_str(&text);
            printed.push('\n');
        }
        Line::Error(text) => {
            eprintln!("   {text}");
            said.push_str(&text);
            said.push('\n');
        }
    });
    match ended {
        Ok(status) if status.success() => Ok(printed),
        Ok(status) if printed.is_empty() && said.is_empty() => Err(status.to_string()),
        Ok(_) => Err(printed + &said),
        Err(why) => Err(why),
    }
}

fn watch(mut command: Command, minutes_max: u64, each: impl FnMut(Line)) -> Result<ExitStatus, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("cannot start {program}: {error}"))?;
    let deadline = Instant::now() + Duration::from_secs(60 * minutes_max);
    let lines = lines(&mut child);
    if let Some(status) = follow(&mut child, &lines, deadline, each)? {
        return Ok(status);
    }
    child.kill().and_then(|()| child.wait()).map_err(|error| format!("cannot end {program}: {error}"))?;
    Err(format!("{program} was not done after {minutes_max} minutes"))
}

/// Passes lines on until the command has ended; none when the deadline came first.
fn follow(
    child: &mut Child,
    lines: &Receiver<Line>,
    deadline: Instant,
    mut each: impl FnMut(Line),
) -> Result<Option<ExitStatus>, String> {
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        match lines.recv_timeout(LOOK_EVERY) {
            Ok(line) => each(line),
            Err(RecvTimeoutError::Disconnected) => {
                return child.wait().map(Some).map_err(|error| error.to_string());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = Instant::now();
        match ended {
            Some((status, at)) if now.duration_since(at) > AFTERWORDS => return Ok(Some(status)),
            None if now > deadline => return Ok(None),
            Some(_) => {}
            None => {
                let status = child.try_wait().map_err(|error| error.to_string())?;
                ended = status.map(|status| (status, now));
            }
        }
    }
}

fn lines(child: &mut Child) -> Receiver<Line> {
    let (sender, receiver) = sync_channel(LINES_WAITING_MAX);
    forward(child.stdout.take(), sender.clone(), Line::Out);
    forward(child.stderr.take(), sender, Line::Error);
    receiver
}

fn forward(from: Option<impl Read + Send + 'static>, to: SyncSender<Line>, kind: fn(String) -> Line) {
    let Some(from) = from else { return };
    std::thread::spawn(move || {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        // Bytes and not `lines()`: a program may print what is not UTF-8.
        while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line);
            if to.send(kind(text.trim_end_matches(['\n', '\r']).to_owned())).is_err() {
                return;
            }
            line.clear();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn counted(script: &str) -> Summary {
        let mut summary = Summary::default();
        run("step", shell(script), &mut summary);
        summary
    }

    #[test]
    fn what_a_command_prints_is_counted_on_both_ends() {
        let mut summary = counted("echo 'test result: ok. 2 passed; 0 failed;'; echo 'left out: x: y' >&2");
        assert_eq!(summary.failed(), 0);
        summary.read("test result: ok. 1 passed; 0 failed;");
        assert!(!summary.close(true), "x was left out");
    }

    #[test]
    fn a_command_that_ends_badly_counts_as_failed() {
        assert_eq!(counted("exit 3").failed(), 1);
        assert_eq!(counted("echo 'test result: FAILED. 0 passed; 2 failed;'; exit 1").failed(), 2);
    }

    #[test]
    fn a_program_that_is_not_there_counts_as_failed() {
        let mut summary = Summary::default();
        run("step", Command::new("no-such-program-anywhere"), &mut summary);
        assert_eq!(summary.failed(), 1);
    }

    #[test]
    fn what_a_command_leaves_running_does_not_keep_us_waiting() {
        let begun = Instant::now();
        let printed = capture(shell("sleep 30 & echo $!"), 1).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20));
        let left: u32 = printed.trim().parse().unwrap();
        // The shell's own: a small system has no program of that name.
        assert!(shell(&format!("kill {left}")).status().unwrap().success());
    }

    #[test]
    fn a_command_over_its_deadline_is_ended() {
        assert_eq!(capture(shell("exec sleep 30"), 0), Err("sh was not done after 0 minutes".to_owned()));
    }
}
