//! What the person sees while a house is made: one line a step on standard error, in their language.

use std::io::IsTerminal;
use std::time::Instant;

use decide::gate::Language;

pub struct Progress {
    begun: Instant,
    colour: bool,
    pub language: Language,
}

impl Progress {
    pub fn start(language: Language) -> Self {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { begun: Instant::now(), colour, language }
    }

    pub fn step(&self, english: &str, chinese: &str) {
        let text = if self.language == Language::Chinese { chinese } else { english };
        let seconds = self.begun.elapsed().as_secs_f64();
        if self.colour {
            eprintln!("\x1b[2m{seconds:6.1} s\x1b[0m  {text}");
        } else {
            eprintln!("{seconds:6.1} s  {text}");
        }
    }
}
