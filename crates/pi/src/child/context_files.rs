//! Whether the files that pi puts into its system prompt changed. Start at [`digest`]. pi reads them when a
//! conversation is opened and not again. Invariant: the same files give the same digest.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// More of a file is not looked at.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Of the files in the folder, in those above it, and in pi's own.
pub fn digest(cwd: &Path, own: Option<&Path>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for folder in cwd.ancestors().chain(own) {
        for name in NAMES {
            let path = folder.join(name);
            let mut text = Vec::new();
            let read = std::fs::File::open(&path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut text));
            if read.is_ok() {
                hash.update(path.as_os_str().as_encoded_bytes());
                hash.update(text.len().to_le_bytes());
                hash.update(&text);
            }
        }
    }
    hash.finalize().into()
}

/// pi's own folder, by the environment that it gets.
pub fn own_folder(environment: &[(String, String)]) -> Option<PathBuf> {
    let named = |wanted: &str| environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    named("PI_CODING_AGENT_DIR").map(PathBuf::from).or_else(|| Some(Path::new(named("HOME")?).join(".pi/agent")))
}
