//! How long answers took, by the clock on the wall and by the processor's. Start at [`Times`]. The promise is
//! for a quiet machine; on a busy one the processor's time is the nearer of the two.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

#[derive(Default)]
pub struct Times {
    wall: Vec<Duration>,
    /// Of all threads of this program: only the question's is at work.
    processor: Vec<Duration>,
    found: usize,
    /// Of what was found, in its order, to see that a change changed no answer.
    answers: DefaultHasher,
}

pub struct Begun {
    wall: Instant,
    processor: Duration,
}

impl Times {
    pub fn begin(&self) -> Begun {
        Begun { processor: processor(), wall: Instant::now() }
    }

    pub fn end(&mut self, begun: Begun, found: impl Iterator<Item = String>) {
        self.wall.push(begun.wall.elapsed());
        self.processor.push(processor().saturating_sub(begun.processor));
        for id in found {
            self.found += 1;
            id.hash(&mut self.answers);
        }
        "next".hash(&mut self.answers);
    }

    pub fn extend(&mut self, other: Self) {
        self.wall.extend(other.wall);
        self.processor.extend(other.processor);
        self.found += other.found;
        other.answers.finish().hash(&mut self.answers);
    }

    pub fn row(&mut self, name: &str) -> String {
        let mut columns = format!("{name:28}");
        for (clock, times) in [("wall", &mut self.wall), ("processor", &mut self.processor)] {
            times.sort_unstable();
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
            columns += &format!("{clock}: median {:6.2} p95 {:6.2} worst {:6.2} ms   ", at(0.5), at(0.95), at(1.0));
        }
        format!("{columns}found {:5} ({:04x})", self.found, self.answers.finish() & 0xffff)
    }
}

fn processor() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}
