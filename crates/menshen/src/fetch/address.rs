//! What an address says, and whether it may be asked for in this turn. Start at [`right`]. Invariant: an
//! address that the model put together itself is asked for only while nothing from outside was read.

use reqwest::Url;
use sdk::{Failure, FailureKind, ToolScope};

use decide::text::clean;

/// Limit: addresses of one message that count as named by the person. Of a longer list, which ones are asked
/// for could spell something.
pub(super) const NAMED_MAX: usize = 5;

/// By which right an address is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// Nothing from outside has been read in this turn.
    Untouched,
    /// The person wrote this very address.
    Named,
    /// The operator allowed the host.
    Host,
}

/// An address of the web, in its one spelling; without a scheme it is https.
pub(super) fn parse(text: &str) -> Result<Url, Failure> {
    let text = text.trim();
    let bad = |why: &str| Failure::invalid(format!("`url` \"{}\" {why}", clean(text, 200)));
    let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let mut url = Url::parse(&full).map_err(|_| bad("is no address: write https://example.org/page"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("is neither http nor https: only web pages are read"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("holds a user name or password: nothing is signed in to"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(bad("names no host"));
    }
    if url.port_or_known_default().is_none_or(|port| port < 1024 && !matches!(port, 80 | 443)) {
        return Err(bad("has a port that web pages are not on"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The host as it is looked up: lower case, without brackets and the dot at the end.
pub(super) fn host(url: &Url) -> Result<String, Failure> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    if host.is_empty() { Err(Failure::invalid("`url` names no host")) } else { Ok(host) }
}

/// Whether this address may be asked for in this turn, and why.
pub(super) fn right(url: &Url, scope: &ToolScope, allowed: &[String]) -> Result<Right, Failure> {
    let named = named(&scope.said);
    let stands = named.iter().any(|named| same(named, url));
    if stands && named.len() <= NAMED_MAX {
        return Ok(Right::Named);
    }
    if allowed_host(url, allowed) {
        return Ok(Right::Host);
    }
    if stands && scope.tainted {
        let count = named.len();
        return Err(Failure::new(
            FailureKind::Forbidden,
            format!(
                "the person's message holds {count} addresses, and only up to {NAMED_MAX} at once are read: ask which ones"
            ),
        ));
    }
    if !scope.tainted {
        return Ok(Right::Untouched);
    }
    Err(Failure::new(
        FailureKind::Forbidden,
        "after text of others or of the house was read, only an address that the person wrote word for word, or whose host the operator allowed (network.web_hosts), is fetched: ask the person for it",
    ))
}

/// `example.org` allows that host, `*.example.org` those below it.
pub(super) fn allowed_host(url: &Url, allowed: &[String]) -> bool {
    let Ok(host) = host(url) else { return false };
    allowed.iter().map(|pattern| pattern.trim().to_lowercase()).any(|pattern| match pattern.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => host == pattern,
    })
}

/// Addresses that stand in what a person wrote, each once, bare names of hosts included.
fn named(said: &str) -> Vec<Url> {
    let part_of_address = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    said.split(|c: char| !part_of_address(c))
        .map(|word| word.trim_matches(['.', ',', ';', ':', '!', '?', '\'', '(', ')', '[', ']']))
        .filter(|word| word.contains('.'))
        .filter_map(|word| parse(word).ok())
        .fold(Vec::new(), |mut known, url| {
            if known.iter().all(|other| !same(other, &url)) {
                known.push(url);
            }
            known
        })
}

/// The same page, whichever of http and https was meant.
fn same(named: &Url, url: &Url) -> bool {
    let port = |url: &Url| url.port().filter(|port| !matches!(port, 80 | 443));
    host(named).ok() == host(url).ok()
        && port(named) == port(url)
        && named.path() == url.path()
        && named.query() == url.query()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(tainted: bool, said: &str) -> ToolScope {
        ToolScope { tainted, said: said.to_owned(), ..ToolScope::default() }
    }

    #[track_caller]
    fn check(url: &str, scope: &ToolScope, expected: Option<Right>) {
        let allowed = ["wetter.example".to_owned(), "*.wiki.example".to_owned()];
        assert_eq!(right(&parse(url).unwrap(), scope, &allowed).ok(), expected, "{url}");
    }

    #[test]
    fn before_anything_was_read_every_address_is_asked_for() {
        check("https://any.example/x?y=z", &scope(false, ""), Some(Right::Untouched));
    }

    #[test]
    fn after_that_only_what_the_person_wrote_word_for_word() {
        let said = scope(true, "看看 https://page.example/a?b=1，还有news.example。Then (Blog.Example/x)!");
        for url in
            ["https://page.example/a?b=1", "http://page.example/a?b=1#part", "news.example", "https://blog.example/x"]
        {
            check(url, &said, Some(Right::Named));
        }
        for url in [
            "https://page.example/a",
            "https://page.example/a?b=1&leak=alarm-off",
            "https://page.example/",
            "https://news.example/alarm-off",
            "https://news.example:8443/",
            "https://alarm-off.news.example/",
            "https://other.example/",
        ] {
            check(url, &said, None);
        }
    }

    #[test]
    fn which_of_a_long_list_is_asked_for_spells_nothing() {
        let list = |count: usize| {
            let one = |at: usize| format!("https://page.example/{at} ");
            (0..count).map(one).collect::<String>()
        };
        check("https://page.example/3", &scope(true, &list(NAMED_MAX)), Some(Right::Named));
        // The same one twice is one.
        check("https://page.example/3", &scope(true, &list(NAMED_MAX).repeat(2)), Some(Right::Named));
        check("https://page.example/3", &scope(true, &list(NAMED_MAX + 1)), None);
        check("https://wetter.example/3", &scope(true, &list(NAMED_MAX + 1)), Some(Right::Host));
        let refused = right(&parse("https://page.example/3").unwrap(), &scope(true, &list(26)), &[]).unwrap_err();
        assert!(refused.message.contains("26 addresses"), "{refused}");
    }

    #[test]
    fn an_operator_allows_hosts() {
        let nothing = scope(true, "");
        for url in ["https://wetter.example/bern?day=2", "https://de.wiki.example/Bern"] {
            check(url, &nothing, Some(Right::Host));
        }
        for url in [
            "https://xwetter.example/",
            "https://wiki.example/",
            "https://xwiki.example/",
            "https://wetter.example.evil.example/",
        ] {
            check(url, &nothing, None);
        }
    }

    #[test]
    fn what_is_no_web_address_is_refused_and_tricks_are_undone() {
        for text in [
            "",
            "http://",
            "file:///etc/passwd",
            "ftp://a.example",
            "javascript://a",
            "gopher://a.example",
            "https://user:pw@a.example",
            "https://a.example@b.example",
            "https://a.example:22/",
            "https://a.example:0/",
            "data://x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        for (text, expected) in [
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://[::ffff:7f00:1]/", "::ffff:7f00:1"),
            ("http://127。0。0。1/", "127.0.0.1"),
            ("http://LOCALHOST./", "localhost"),
            ("http://ｅxample.org/", "example.org"),
        ] {
            assert_eq!(host(&parse(text).unwrap()).unwrap(), expected, "{text}");
        }
    }
}
