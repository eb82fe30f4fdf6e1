//! The time of this machine, in the household's zone. Start at [`LocalClock`]. Invariant: whatever the
//! zone's name, there is a time.

use decide::when::Zone;
use kernel::ports::Clock;

pub struct LocalClock {
    zone: Zone,
}

impl LocalClock {
    /// A zone by its IANA name; one that nobody knows is UTC.
    pub fn new(zone: &str) -> Self {
        Self { zone: Zone::named(zone).unwrap_or_else(|_| Zone::utc()) }
    }

    /// The zone of this machine.
    pub fn of_this_machine() -> Self {
        let name = std::env::var("TZ").ok().filter(|name| Zone::named(name).is_ok());
        let linked = || {
            let path = std::fs::read_link("/etc/localtime").ok()?;
            let text = path.to_str()?.to_owned();
            text.split_once("zoneinfo/").map(|(_, name)| name.to_owned())
        };
        Self::new(&name.or_else(linked).unwrap_or_default())
    }

    pub fn zone(&self) -> &str {
        self.zone.name()
    }
}

impl Clock for LocalClock {
    fn now_ms(&self) -> i64 {
        let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
    }

    fn written(&self, at_ms: i64) -> String {
        format!("{} {}", self.zone.weekday(at_ms), self.zone.written(at_ms))
    }
}
