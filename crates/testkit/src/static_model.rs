//! A tiny embedding model as model2vec writes it, so that the real loading is tested on small data. Start at
//! [`static_model`].

#![allow(clippy::unwrap_used)]

use serde_json::{Map, Value, json};

/// A folder with a model: a word a row, two numbers each.
pub fn static_model(words: &[(&str, [f32; 2])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary: Map<String, Value> = std::iter::once("[UNK]")
        .chain(words.iter().map(|(word, _)| *word))
        .zip(0_u64..)
        .map(|(word, id)| (word.to_owned(), id.into()))
        .collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    let rows: Vec<u8> = std::iter::once([0.0_f32, 0.0])
        .chain(words.iter().map(|(_, row)| *row))
        .flatten()
        .flat_map(f32::to_le_bytes)
        .collect();
    let head = json!({"embeddings": {"dtype": "F32", "shape": [words.len() + 1, 2], "data_offsets": [0, rows.len()]}})
        .to_string();
    let mut tensors = u64::try_from(head.len()).unwrap().to_le_bytes().to_vec();
    tensors.extend(head.as_bytes());
    tensors.extend(rows);
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), tensors).unwrap();
    std::fs::write(folder.path().join("config.json"), json!({"normalize": true}).to_string()).unwrap();
    folder
}
