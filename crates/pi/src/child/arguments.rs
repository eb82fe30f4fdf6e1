//! `PI_ARGS` into words, as a shell would. Start at [`split_arguments`].

/// Split at blanks and tabs; what stands in single or double quotes is one word, without escapes. Empty words
/// are dropped.
pub fn split_arguments(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.push(letter),
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            None => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Says where its conversation is kept, so that nothing is said of that by us.
pub fn names_a_session(arguments: &[String]) -> bool {
    let names = ["--no-session", "--session", "--continue", "-c", "--resume", "-r", "--fork"];
    arguments.iter().any(|word| names.iter().any(|name| word == name || word.starts_with(&format!("{name}="))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        let split = split_arguments("  --model  'a b'\t-e \"/x y/z.ts\" '' --no-session");
        assert_eq!(split, ["--model", "a b", "-e", "/x y/z.ts", "--no-session"]);
        assert!(names_a_session(&split) && !names_a_session(&split[..2]));
    }
}
