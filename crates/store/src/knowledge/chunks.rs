//! Texts in parts that stand for themselves. Start at [`markdown`]. Invariant: a fenced block of code is
//! never cut, unless it is longer than [`FENCE_CHARS_MAX`].

use crate::documents::parts;

/// A part of a file, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub place: String,
    pub content: String,
}

/// A longer block is cut like any text.
const FENCE_CHARS_MAX: usize = 6_000;
/// A section shorter than this stays whole.
const SECTION_CHARS_MAX: usize = 1_500;
/// More of a heading is not shown.
const HEADING_CHARS_MAX: usize = 80;

/// Cut at headings. The place is the way there, `Heating > Winter`.
pub(super) fn markdown(text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut section = String::new();
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let mark = line.trim_start();
        match fence {
            Some(open) if mark.starts_with(open) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"].into_iter().find(|open| mark.starts_with(open));
                if let Some((level, heading)) = heading(line) {
                    flush(&mut chunks, &headings, &mut section);
                    headings.retain(|(above, _)| *above < level);
                    headings.push((level, heading));
                }
            }
        }
        section.push_str(line);
    }
    flush(&mut chunks, &headings, &mut section);
    chunks
}

/// Without headings: paragraphs, numbered where there are several.
pub(super) fn plain(text: &str) -> Vec<Chunk> {
    let all: Vec<&str> = parts(text).into_iter().filter(|part| !part.trim().is_empty()).collect();
    let several = all.len() > 1;
    let place = |number: usize| if several { format!("part {}", number + 1) } else { String::new() };
    all.iter().enumerate().map(|(at, part)| Chunk { place: place(at), content: (*part).to_owned() }).collect()
}

fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let rest = line.get(level..)?;
    if !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let words = rest.trim().trim_end_matches('#').trim();
    Some((level, words.chars().take(HEADING_CHARS_MAX).collect()))
}

fn flush(chunks: &mut Vec<Chunk>, headings: &[(usize, String)], section: &mut String) {
    let content = std::mem::take(section);
    if content.trim().is_empty() {
        return;
    }
    let place = headings.iter().map(|(_, heading)| heading.as_str()).collect::<Vec<_>>().join(" > ");
    let chunk = |content: &str| Chunk { place: place.clone(), content: content.to_owned() };
    if content.chars().count() <= SECTION_CHARS_MAX {
        chunks.push(chunk(&content));
        return;
    }
    for block in blocks(&content) {
        if block.fenced && block.text.chars().count() <= FENCE_CHARS_MAX {
            chunks.push(chunk(block.text));
        } else {
            chunks.extend(parts(block.text).into_iter().filter(|part| !part.trim().is_empty()).map(chunk));
        }
    }
}

struct Block<'a> {
    text: &'a str,
    fenced: bool,
}

/// A section as what is fenced and what is not.
fn blocks(section: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let (mut begun, mut at) = (0, 0);
    let mut fence: Option<&str> = None;
    for line in section.split_inclusive('\n') {
        let mark = line.trim_start();
        match fence {
            Some(open) if mark.starts_with(open) => {
                blocks.push(Block { text: &section[begun..at + line.len()], fenced: true });
                begun = at + line.len();
                fence = None;
            }
            Some(_) => {}
            None => {
                fence = ["```", "~~~"].into_iter().find(|open| mark.starts_with(open));
                if fence.is_some() && begun < at {
                    blocks.push(Block { text: &section[begun..at], fenced: false });
                    begun = at;
                }
            }
        }
        at += line.len();
    }
    if begun < section.len() {
        blocks.push(Block { text: &section[begun..], fenced: fence.is_some() });
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_names_the_headings_above_it() {
        let text = "intro\n# Heating\nwarm\n## Winter\n20 °C\n## Summer\noff\n# Water\nvalve";
        let places: Vec<String> = markdown(text).into_iter().map(|chunk| chunk.place).collect();
        assert_eq!(places, ["", "Heating", "Heating > Winter", "Heating > Summer", "Water"]);
    }

    #[test]
    fn fenced_code_is_kept_whole_and_its_comments_are_no_headings() {
        let code = format!("```yaml\n# no heading\n{}```\n", "key: value\n".repeat(200));
        let text = format!("# Setup\n{}\n{code}\nafter\n", "Read this first. ".repeat(100));
        let chunks = markdown(&text);
        assert!(chunks.iter().all(|chunk| chunk.place == "Setup"));
        assert_eq!(chunks.iter().filter(|chunk| chunk.content.contains("key: value")).count(), 1);
        assert_eq!(chunks.iter().map(|chunk| chunk.content.as_str()).collect::<String>(), text);
    }

    #[test]
    fn a_long_text_without_headings_is_cut_into_numbered_parts() {
        assert_eq!(plain("short").first().map(|chunk| chunk.place.as_str()), Some(""));
        let long = plain(&"一段话。\n".repeat(1000));
        assert!(long.len() > 2);
        assert_eq!(long[1].place, "part 2");
    }
}
