//! Rust source with comments and literals blanked, so that rules look at code and not at prose.
//!
//! Start at [`Source::new`]. Invariant: [`Source::code`] has the same lines, and the same number of
//! bytes in each, as the text it came from, so a position found in one holds in the other.

/// A file, cut into what is code and what is written inside literals.
pub struct Source {
    /// Comments and the inside of literals are spaces.
    pub code: String,
    /// Each string literal: line (from 1) and what it holds, escapes untouched.
    pub strings: Vec<(usize, String)>,
}

impl Source {
    pub fn new(text: &str) -> Self {
        let mut cutter = Cutter { bytes: text.as_bytes(), at: 0, code: Vec::new(), strings: Vec::new() };
        while cutter.at < cutter.bytes.len() {
            cutter.step();
        }
        Self { code: String::from_utf8_lossy(&cutter.code).into_owned(), strings: cutter.strings }
    }

    /// Lines (from 1) that stand inside a `#[cfg(test)]` item.
    pub fn test_lines(&self) -> Vec<std::ops::RangeInclusive<usize>> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = self.code[from..].find("#[cfg(test)]").map(|at| at + from) {
            let end = self.end_of_item(at);
            found.push(line_of(&self.code, at)..=line_of(&self.code, end));
            from = end.max(at + 1);
        }
        found
    }

    /// Each function that has a body: name, first line, number of lines.
    pub fn functions(&self) -> Vec<(String, usize, usize)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let starts_word = !self.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let name: String = self.code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !starts_word || name.is_empty() {
                continue;
            }
            let first = line_of(&self.code, at);
            let last = line_of(&self.code, self.end_of_item(at));
            found.push((name, first, last - first + 1));
        }
        found
    }

    /// Position of the `}` or `;` that closes the item starting at `from`.
    fn end_of_item(&self, from: usize) -> usize {
        let (mut braces, mut others) = (0usize, 0usize);
        for (at, byte) in self.code.bytes().enumerate().skip(from) {
            match byte {
                b'(' | b'[' => others += 1,
                b')' | b']' => others = others.saturating_sub(1),
                b'{' => braces += 1,
                b'}' if braces <= 1 => return at,
                b'}' => braces -= 1,
                b';' if braces == 0 && others == 0 => return at,
                _ => {}
            }
        }
        self.code.len()
    }
}

/// Line number, from 1, of a position.
pub fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

struct Cutter<'a> {
    bytes: &'a [u8],
    at: usize,
    code: Vec<u8>,
    strings: Vec<(usize, String)>,
}

impl Cutter<'_> {
    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"//") {
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            self.blank(length);
        } else if rest.starts_with(b"/*") {
            self.blank(block_comment(rest));
        } else if let Some(hashes) = raw_string(rest).filter(|_| self.starts_word()) {
            self.raw(hashes);
        } else if rest[0] == b'"' {
            self.string();
        } else if rest[0] == b'\'' {
            let length = char_literal(rest);
            if length > 0 {
                self.blank(length);
            } else {
                self.keep();
            }
        } else {
            self.keep();
        }
    }

    /// Is this position the start of a word, so that `r"` is a raw string and not the end of a name?
    fn starts_word(&self) -> bool {
        self.code.last().is_none_or(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
    }

    fn keep(&mut self) {
        let byte = self.bytes[self.at];
        self.code.push(byte);
        self.at += 1;
    }

    fn blank(&mut self, length: usize) {
        for byte in &self.bytes[self.at..self.at + length] {
            self.code.push(if *byte == b'\n' { b'\n' } else { b' ' });
        }
        self.at += length;
    }

    fn note(&mut self, length: usize) {
        let line = self.code.iter().filter(|byte| **byte == b'\n').count() + 1;
        let inside = &self.bytes[self.at..self.at + length];
        self.strings.push((line, String::from_utf8_lossy(inside).into_owned()));
        self.blank(length);
    }

    fn string(&mut self) {
        self.keep();
        let rest = &self.bytes[self.at..];
        let mut length = 0;
        while length < rest.len() && rest[length] != b'"' {
            length += if rest[length] == b'\\' { 2 } else { 1 };
        }
        self.note(length.min(rest.len()));
        if self.at < self.bytes.len() {
            self.keep();
        }
    }

    fn raw(&mut self, hashes: usize) {
        while self.bytes[self.at] != b'"' {
            self.keep();
        }
        self.keep();
        let end = format!("\"{}", "#".repeat(hashes));
        let rest = &self.bytes[self.at..];
        let length = rest.windows(end.len()).position(|window| window == end.as_bytes());
        self.note(length.unwrap_or(rest.len()));
        for _ in 0..end.len().min(self.bytes.len() - self.at) {
            self.keep();
        }
    }
}

/// Length of a block comment; they nest.
fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0usize);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Number of hashes where a raw string (`r"`, `br#"`, …) starts.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let after = rest.strip_prefix(b"r").or_else(|| rest.strip_prefix(b"br"))?;
    let hashes = after.iter().take_while(|byte| **byte == b'#').count();
    (after.get(hashes) == Some(&b'"')).then_some(hashes)
}

/// Length of a character literal; 0 where the quote starts a lifetime.
fn char_literal(rest: &[u8]) -> usize {
    if rest.get(1) == Some(&b'\\') {
        let close = rest.iter().skip(3).position(|byte| *byte == b'\'');
        return close.map_or(0, |close| close + 4);
    }
    let text = String::from_utf8_lossy(&rest[1..rest.len().min(6)]).into_owned();
    match text.chars().next() {
        Some(c) if text[c.len_utf8()..].starts_with('\'') => c.len_utf8() + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str) {
        let source = Source::new(text);
        assert_eq!(source.code, code);
        assert_eq!(source.code.len(), text.len());
    }

    #[test]
    fn comments_and_literals_are_blank_and_code_stays() {
        check("a(); // b()", "a();       ");
        check("/* a /* b */ c */ d", "                  d");
        check("f(\"x{\\\"}\", 'y', '\\'', '{')", "f(\"     \",    ,     ,    )");
        check("r#\"{\"# r\"{\" br\"{\"", "r#\" \"# r\" \" br\" \"");
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("'门' \"门\"", "      \"   \"");
        check("for_\"a\"", "for_\" \"");
    }

    #[test]
    fn a_raw_string_ends_at_its_own_hashes() {
        let source = Source::new("let a = r##\"x\"# y\"##; b");
        assert_eq!(source.strings, [(1, "x\"# y".to_owned())]);
        assert!(source.code.ends_with("\"##; b"));
    }

    #[test]
    fn a_function_is_as_long_as_its_body() {
        let source = Source::new("fn a(x: [u8; 3]) {\n  if x { }\n  \"}\";\n}\nfn b();\n");
        assert_eq!(source.functions(), [("a".to_owned(), 1, 4), ("b".to_owned(), 5, 1)]);
    }

    #[test]
    fn a_test_module_is_known_by_its_lines() {
        let source = Source::new("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n");
        assert_eq!(source.test_lines(), [2..=5]);
    }
}
