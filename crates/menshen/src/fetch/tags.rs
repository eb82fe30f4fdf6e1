//! Text and tags of a page, one after the other. Start at [`Tokens`]. Invariant: every step moves forward;
//! nothing is looked at more than a fixed number of times.

/// Elements without an end.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Named characters that pages use most; others stay as they are written.
const NAMED: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("hellip", "…"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("bdquo", "„"),
    ("sbquo", "‚"),
    ("bull", "•"),
    ("middot", "·"),
    ("deg", "°"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("sect", "§"),
    ("para", "¶"),
    ("times", "×"),
    ("divide", "÷"),
    ("plusmn", "±"),
    ("frac12", "½"),
    ("frac14", "¼"),
    ("frac34", "¾"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("egrave", "è"),
    ("agrave", "à"),
    ("ccedil", "ç"),
    ("ntilde", "ñ"),
    ("oslash", "ø"),
    ("aring", "å"),
    ("aelig", "æ"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("ensp", " "),
    ("emsp", " "),
    ("thinsp", " "),
    ("shy", ""),
    ("zwnj", ""),
    ("zwj", ""),
    ("minus", "−"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
];

pub(super) enum Token {
    Text(String),
    Tag(Tag),
}

pub(super) struct Tag {
    /// Lower case.
    pub(super) name: String,
    pub(super) closes: bool,
    attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Self { rest: html }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        while !self.rest.is_empty() {
            if let Some(after) = self.rest.strip_prefix("<!--") {
                self.rest = after.split_once("-->").map_or("", |(_, rest)| rest);
            } else if let Some(after) = self.rest.strip_prefix("<![CDATA[") {
                let (text, rest) = after.split_once("]]>").unwrap_or((after, ""));
                self.rest = rest;
                return Some(Token::Text(text.to_owned()));
            } else if self.rest.starts_with("<!") || self.rest.starts_with("<?") {
                let end = self.rest.find('>').map_or(self.rest.len(), |at| at + 1);
                self.take(end);
            } else if begins_tag(self.rest) {
                return self.tag().map(Token::Tag);
            } else {
                let more = self.rest.char_indices().skip(1).find(|(at, c)| {
                    *c == '<'
                        && self
                            .rest
                            .get(*at..)
                            .is_some_and(|rest| begins_tag(rest) || rest.starts_with("<!") || rest.starts_with("<?"))
                });
                let end = more.map_or(self.rest.len(), |(at, _)| at);
                return Some(Token::Text(unescape(self.take(end))));
            }
        }
        None
    }

    fn tag(&mut self) -> Option<Tag> {
        let closes = self.rest.starts_with("</");
        self.take(if closes { 2 } else { 1 });
        let end = self.rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).unwrap_or(self.rest.len());
        let name = self.take(end).to_ascii_lowercase();
        let mut attributes = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            match self.rest.chars().next() {
                None => break,
                Some('>') => {
                    self.take(1);
                    break;
                }
                Some(_) => attributes.push(self.attribute()),
            }
        }
        Some(Tag { name, closes, attributes })
    }

    fn attribute(&mut self) -> (String, String) {
        let end = self.rest.char_indices().skip(1).find(|(_, c)| c.is_whitespace() || matches!(c, '>' | '/' | '='));
        let name = self.take(end.map_or(self.rest.len(), |(at, _)| at)).to_ascii_lowercase();
        let Some(after) = self.rest.trim_start().strip_prefix('=') else { return (name, String::new()) };
        self.rest = after.trim_start();
        let value = match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                self.take(1);
                let end = self.rest.find(quote).unwrap_or(self.rest.len());
                let value = self.take(end);
                self.take(1);
                value
            }
            _ => {
                let end = self.rest.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(self.rest.len());
                self.take(end)
            }
        };
        (name, unescape(value))
    }

    /// The text up to the end of an element that holds no tags.
    pub(super) fn raw_text(&mut self, name: &str) -> String {
        let end = self.end_of(name);
        unescape(self.take(end))
    }

    /// Passes over an element and all inside it.
    pub(super) fn skip(&mut self, tag: &Tag) {
        if VOID.contains(&tag.name.as_str()) {
            return;
        }
        if matches!(tag.name.as_str(), "script" | "style" | "noscript" | "iframe") {
            let end = self.end_of(&tag.name);
            self.take(end);
            return;
        }
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next() {
                None => return,
                Some(Token::Tag(inner)) if inner.name == tag.name => {
                    depth = if inner.closes { depth - 1 } else { depth + 1 };
                }
                Some(Token::Tag(inner)) if !inner.closes && matches!(inner.name.as_str(), "script" | "style") => {
                    let end = self.end_of(&inner.name);
                    self.take(end);
                }
                Some(_) => {}
            }
        }
    }

    /// Where `</name` stands.
    fn end_of(&self, name: &str) -> usize {
        let is_end = |at: &usize| {
            let after = self.rest.get(at + 2..at + 2 + name.len());
            after.is_some_and(|after| after.eq_ignore_ascii_case(name))
        };
        self.rest.match_indices("</").map(|(at, _)| at).find(is_end).unwrap_or(self.rest.len())
    }
}

fn begins_tag(text: &str) -> bool {
    let Some(after) = text.strip_prefix('<') else { return false };
    after.strip_prefix('/').unwrap_or(after).starts_with(|c: char| c.is_ascii_alphabetic())
}

/// `&amp;`, `&#20013;`, `&#x4E2D;`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        // The longest name has six letters, the longest number eight digits.
        let end = from.char_indices().take(12).find(|(_, c)| *c == ';').map(|(at, _)| at);
        let meant = end.and_then(|end| from.get(1..end)).and_then(meaning);
        match (meant, end) {
            (Some(meant), Some(end)) => {
                out.push_str(&meant);
                rest = from.get(end + 1..).unwrap_or_default();
            }
            _ => {
                out.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn meaning(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some(char::from_u32(code).filter(|c| *c != '\0').unwrap_or('\u{FFFD}').to_string())
}
