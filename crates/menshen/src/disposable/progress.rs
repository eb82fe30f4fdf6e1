//! What the person sees while a house is made: one line a step on standard error.

use std::io::IsTerminal;
use std::time::Instant;

pub struct Progress {
    begun: Instant,
    colour: bool,
}

impl Progress {
    pub fn start() -> Self {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { begun: Instant::now(), colour }
    }

    pub fn step(&self, text: &str) {
        let seconds = self.begun.elapsed().as_secs_f64();
        if self.colour {
            eprintln!("\x1b[2m{seconds:6.1} s\x1b[0m  {text}");
        } else {
            eprintln!("{seconds:6.1} s  {text}");
        }
    }
}
