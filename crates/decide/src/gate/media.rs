//! Where a media address points, and as what it is played. Start at [`judge_media`]. Invariant: an
//! address or a kind that is not understood asks.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::Verdict;

/// Verdict for one media id or URL: own sources and listed hosts are fine, the house's own network and
/// the house itself are not (a relay or a web hook answers to a GET), other hosts ask.
pub(super) fn judge_media(text: &str, listed: &BTreeSet<String>, own: &BTreeSet<String>) -> Verdict {
    let text = text.trim();
    if text.starts_with("media-source://") {
        return Verdict::Allow;
    }
    let lower = text.to_lowercase();
    let Some((scheme, rest)) = lower.split_once(':') else {
        // No scheme: a channel number, a playlist's name; but not `//host` and no path into the house.
        return match () {
            () if lower.starts_with(['/', '\\']) || leads_inside(&lower, own) => Verdict::Refuse,
            () if leads_out(&lower) => Verdict::Ask,
            () => Verdict::Allow,
        };
    };
    match scheme {
        "spotify" | "apple-music" | "library" | "x-rincon-cpcontainer" => Verdict::Allow,
        // Some readers end the host at a backslash, others go on to the `@` behind it.
        "http" | "https" | "rtsp" | "rtmp" if rest.contains('\\') => Verdict::Refuse,
        "http" | "https" | "rtsp" | "rtmp" => match host(rest) {
            Some(host) if listed.contains(&host) => Verdict::Allow,
            Some(host) if own.contains(&host) || private(&host) => Verdict::Refuse,
            Some(_) => Verdict::Ask,
            None => Verdict::Refuse,
        },
        // No scheme, but a host and its port.
        host if own.contains(host) || (host.contains('.') && private(host)) => Verdict::Refuse,
        _ => Verdict::Ask,
    }
}

/// What players call the things that they play.
const MEDIA: &[&str] = &[
    "album",
    "app",
    "artist",
    "audio",
    "audiobook",
    "channel",
    "channels",
    "composer",
    "contributing_artist",
    "directory",
    "episode",
    "favorite",
    "favorite_item_id",
    "game",
    "genre",
    "image",
    "library",
    "movie",
    "music",
    "playlist",
    "podcast",
    "provider",
    "radio",
    "season",
    "sound",
    "station",
    "track",
    "tvshow",
    "url",
    "video",
];

/// What makes a loudspeaker's own assistant listen instead of playing.
const MINDS: &[&str] = &["custom", "routine", "sequence", "skill"];

/// Verdict for one `media_content_type`.
pub(super) fn judge_medium(kind: &str) -> Verdict {
    let kind = kind.trim().to_lowercase();
    let of_the_web =
        kind.split_once('/').is_some_and(|(kind, _)| matches!(kind, "application" | "audio" | "image" | "video"));
    let spotify = kind.strip_prefix("spotify://").is_some_and(|kind| MEDIA.contains(&kind));
    match kind.as_str() {
        mind if MINDS.contains(&mind) => Verdict::Refuse,
        medium if medium.is_empty() || MEDIA.contains(&medium) || of_the_web || spotify => Verdict::Allow,
        _ => Verdict::Ask,
    }
}

/// `10.0.0.1/relay` and `shelly.local/x`: an address that lacks its scheme.
fn leads_inside(text: &str, own: &BTreeSet<String>) -> bool {
    let first = text.split(['/', '?']).next().unwrap_or_default();
    let named = first.contains('.') && first != text && private(first);
    named || first.parse::<IpAddr>().is_ok() || host(first).is_some_and(|host| own.contains(&host))
}

/// `music.example/x?y`: the same of a host outside. A title with a stop in it has a blank, too.
fn leads_out(text: &str) -> bool {
    let Some((first, _)) = text.split_once(['/', '?']) else { return false };
    let last = first.rsplit_once('.').map(|(_, last)| last).unwrap_or_default();
    last.chars().count() > 1 && last.chars().all(char::is_alphabetic) && !first.contains(char::is_whitespace)
}

fn host(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => host.split(':').next()?,
    };
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_owned())
}

/// Names and addresses that stay inside: loopback, private, link-local, `.local`, single labels,
/// and numeric spellings that a resolver would turn into an address.
fn private(host: &str) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        return match address {
            IpAddr::V4(v4) => inside_v4(v4),
            IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or_else(
                || {
                    v6.is_loopback()
                        || v6.is_unspecified()
                        || (v6.segments()[0] & 0xfe00) == 0xfc00
                        || (v6.segments()[0] & 0xffc0) == 0xfe80
                },
                inside_v4,
            ),
        };
    }
    let numeric = host
        .split('.')
        .all(|part| part.starts_with("0x") || (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())));
    numeric
        || !host.contains('.')
        || [".local", ".lan", ".home", ".internal", ".localdomain", ".home.arpa", ".localhost", ".fritz.box"]
            .iter()
            .any(|end| host.ends_with(end))
}

fn inside_v4(v4: std::net::Ipv4Addr) -> bool {
    let [a, b, ..] = v4.octets();
    v4.is_loopback()
        || v4.is_private()
        || v4.is_link_local()
        || v4.is_unspecified()
        || v4.is_broadcast()
        || v4.is_multicast()
        || (a == 100 && (64..128).contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_medium_is_played_and_another_mind_is_not_spoken_to() {
        for kind in [
            "music",
            "playlist",
            " Channel",
            "VIDEO",
            "app",
            "audio/mpeg",
            "video/mp4",
            "image/png",
            "application/x-mpegURL",
            "spotify://track",
            "favorite_item_id",
            "",
        ] {
            assert_eq!(judge_medium(kind), Verdict::Allow, "{kind}");
        }
        for kind in ["custom", "ROUTINE ", "skill", "sequence"] {
            assert_eq!(judge_medium(kind), Verdict::Refuse, "{kind}");
        }
        for kind in
            ["command", "x", "text/x-command", "spotify://custom", "https://music", "custom/music", "music custom"]
        {
            assert_eq!(judge_medium(kind), Verdict::Ask, "{kind}");
        }
    }

    #[test]
    fn the_house_is_known_by_its_public_name() {
        let (listed, own) = (BTreeSet::new(), BTreeSet::from(["family.duckdns.org".to_owned()]));
        for text in [
            "https://family.duckdns.org/api/webhook/x",
            "HTTPS://Family.DuckDNS.org.:8123/x",
            "http://user@family.duckdns.org",
            "family.duckdns.org/x",
            "family.duckdns.org:8123?x",
        ] {
            assert_eq!(judge_media(text, &listed, &own), Verdict::Refuse, "{text}");
            assert_eq!(judge_media(text, &own, &own), listed_or_bare(text), "{text}");
        }
        for text in ["https://family.duckdns.org.evil.example/x", "https://duckdns.org/x", "duckdns.org/x"] {
            assert_eq!(judge_media(text, &listed, &own), Verdict::Ask, "{text}");
        }
    }

    /// The operator's list opens whole addresses; what lacks its scheme is no address to allow.
    fn listed_or_bare(text: &str) -> Verdict {
        if text.contains("://") { Verdict::Allow } else { Verdict::Refuse }
    }

    #[test]
    fn the_house_s_own_network_is_refused_in_every_spelling() {
        let hosts = BTreeSet::from(["radio.example.org".to_owned()]);
        let judge_media = |text: &str, listed: &BTreeSet<String>| super::judge_media(text, listed, &BTreeSet::new());
        for text in [
            "10.0.0.1:80/x",
            "gate.local:80/x",
            "http://192.168.1.5/relay/0?turn=on",
            "http://localhost:8123/api/webhook/x",
            "HTTP://127.1/x",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://user@10.0.0.2/",
            "http://shelly/relay",
            "http://gate.local/",
            "//10.0.0.1/x",
            "http:\\\\10.0.0.1\\x",
            "/local/x.mp3",
            "http://",
            "http://100.100.1.1/",
        ] {
            assert_eq!(judge_media(text, &hosts), Verdict::Refuse, "{text}");
        }
        for text in [
            "http://127.0.0.1/",
            "http://10.9.9.9?x",
            "rtsp://172.16.0.1/x",
            "rtmp://192.168.0.1#x",
            "http://169.254.1.1/",
            "http://0.0.0.0/",
            "http://255.255.255.255/",
            "http://224.0.0.1/",
            "http://100.64.0.1/",
            "http://100.127.255.255/",
            "http://[::]/",
            "http://[fc00::1]:8123/",
            "http://[fdff::1]/",
            "http://[fe80::1]/",
            "http://[febf::1]/",
            "http://gate.local./",
            "http://box.fritz.box:80/",
            "http://user:word@router.lan/",
            "8.8.8.8/x",
            "10.0.0.1",
            "shelly.local/relay",
            "shelly.local?turn=on",
            "\\\\host\\x",
        ] {
            assert_eq!(judge_media(text, &hosts), Verdict::Refuse, "{text}");
        }
        for text in [
            "https://evil.example.com/x",
            "example.com/x",
            "evil.example?q=home",
            "file:///etc/passwd",
            "example.com:80/x",
            "ftp://10.0.0.1/x",
            "http://8.8.8.8/",
            "http://100.63.0.1/",
            "http://100.128.0.1/",
            "http://101.64.0.1/",
            "http://172.32.0.1/",
            "http://[2001:db8::1]/",
            "http://[fe00::1]/",
            "http://[fec0::1]/",
            "http://[::ffff:8.8.8.8]/",
            "http://1..2/",
            "http://local.example.com/",
            "http://radio.example.org.evil.com/",
            "http://radio.example.org@evil.com/",
        ] {
            assert_eq!(judge_media(text, &hosts), Verdict::Ask, "{text}");
        }
        for text in [
            "media-source://media_source/local/x.mp3",
            " media-source://tts/x ",
            "https://radio.example.org/live",
            "http://RADIO.example.org:8000/live",
            "12",
            "1.5",
            "Jazz",
            "Jazz/Blues",
            "kitchen.local",
            "example.com",
            "Mr. Big/Live",
            "R.E.M/Live",
            "AC/DC?",
            "spotify:playlist:1",
            "apple-music:1",
            "library://x",
            "x-rincon-cpcontainer:1",
        ] {
            assert_eq!(judge_media(text, &hosts), Verdict::Allow, "{text}");
        }
        let listed = BTreeSet::from(["192.168.1.9".to_owned()]);
        assert_eq!(judge_media("http://192.168.1.9/x", &listed), Verdict::Allow);
        assert_eq!(judge_media("http://192.168.1.8/x", &listed), Verdict::Refuse);
    }
}
