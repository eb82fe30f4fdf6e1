//! From bytes to text. Start at [`text`]. Invariant: bytes that are no text are none, whatever the server
//! calls them.

use encoding_rs::{DecoderResult, Encoding, GB18030, UTF_8, WINDOWS_1252};

pub(super) struct ContentType {
    /// `text/html`; empty where the server says nothing.
    pub(super) name: String,
    charset: Option<&'static Encoding>,
}

impl ContentType {
    pub(super) fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset =
            parts.filter_map(|part| part.split_once('=')).find(|(key, _)| key.trim().eq_ignore_ascii_case("charset"));
        let charset = charset.and_then(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()));
        Self { name, charset }
    }

    pub(super) fn is_readable(&self) -> bool {
        let name = self.name.as_str();
        name.is_empty()
            || name.starts_with("text/")
            || name.ends_with("+xml")
            || name.ends_with("+json")
            || matches!(name, "application/json" | "application/xml" | "application/yaml" | "application/x-ndjson")
    }

    /// Whether there are tags to take away.
    pub(super) fn is_markup(&self, text: &str) -> bool {
        let start = text.trim_start().get(..200).unwrap_or(text.trim_start()).to_ascii_lowercase();
        let looks_so = start.starts_with("<!doctype html") || start.starts_with("<html");
        match self.name.as_str() {
            "text/html" => true,
            "text/xml" | "application/xml" => true,
            name => name.ends_with("+xml") || (name.is_empty() && looks_so),
        }
    }
}

/// The text that the bytes spell, in the encoding that stands first: a mark at the start, the server's word,
/// the page's own, then what fits.
pub(super) fn text(bytes: &[u8], declared: &ContentType) -> Option<String> {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding = marked.or(declared.charset).or_else(|| in_page(head)).unwrap_or_else(|| fitting(bytes));
    let (text, _, _) = encoding.decode(bytes);
    let nul = |text: &str| text.chars().take(4096).any(|c| c == '\0');
    (!nul(&text)).then(|| text.into_owned())
}

/// `<meta charset=…>`, also in its older form.
fn in_page(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, after) = head.split_once("charset=")?;
    let label = after.trim_start_matches(['"', '\'']);
    let end = label.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c))).unwrap_or(label.len());
    Encoding::for_label(label.get(..end)?.as_bytes())
}

/// The first encoding in which nothing is wrong, but for a last character that may be cut.
fn fitting(bytes: &[u8]) -> &'static Encoding {
    let fits = |encoding: &'static Encoding| {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let length = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(0);
        let mut text = String::with_capacity(length);
        let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, false);
        result == DecoderResult::InputEmpty
    };
    [UTF_8, GB18030].into_iter().find(|encoding| fits(encoding)).unwrap_or(WINDOWS_1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_found_where_it_stands() {
        let chinese = "门神守着门，每天如此。";
        let (gbk, _, _) = GB18030.encode(chinese);
        let read = |bytes: &[u8], header: &str| text(bytes, &ContentType::parse(header)).unwrap();
        assert_eq!(read(&gbk, "text/html; charset=\"GBK\""), chinese);
        assert_eq!(read(&gbk, "text/html"), chinese);
        assert_eq!(read(chinese.as_bytes(), ""), chinese);
        let page = [b"<meta charset='gb2312'>".as_slice(), &gbk].concat();
        assert!(read(&page, "text/html").ends_with(chinese));
        assert_eq!(read(b"caf\xe9 \x81", "text/html").chars().take(4).collect::<String>(), "café");
        assert_eq!(read(b"\xFE\xFF\0h\0i", "text/plain; charset=utf-8"), "hi");
        // Cut inside a character.
        assert!(read(&chinese.as_bytes()[..chinese.len() - 1], "").starts_with("门神"));
        assert_eq!(text(b"PK\x03\x04\0\0\0", &ContentType::parse("text/plain")), None);
    }

    #[test]
    fn only_texts_are_readable() {
        for name in ["", "text/html; charset=utf-8", "application/json", "application/atom+xml", "TEXT/PLAIN"] {
            assert!(ContentType::parse(name).is_readable(), "{name}");
        }
        for name in ["application/pdf", "image/svg", "application/octet-stream", "video/mp4", "application/zip"] {
            assert!(!ContentType::parse(name).is_readable(), "{name}");
        }
    }
}
