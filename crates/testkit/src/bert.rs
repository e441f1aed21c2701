//! The smallest sentence encoder: two layers, eight dimensions, a vocabulary of sixteen pieces, and numbers that a formula
//! gives. For tests of whoever reads such models; what it says means nothing.

use serde_json::{Map, json};

/// The length of its vectors.
pub const HIDDEN: usize = 8;
const INNER: usize = 12;
/// What it can read.
pub const PIECES: [&str; 16] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "read", "file", "##s", "a", "line", "##d", "cut", "(", ")", "_",
    "cafe", "文",
];

/// The numbers of a tensor: a little generator, begun anew for each name.
fn numbers(name: &str, count: usize) -> Vec<f32> {
    let mut state: u32 = name.bytes().fold(7, |state, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(|_| next()).collect()
}

fn tensors() -> Vec<(String, Vec<usize>)> {
    let mut all = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![PIECES.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![10, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..2 {
        for (part, outputs, inputs) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ] {
            all.push((format!("encoder.layer.{layer}.{part}.weight"), vec![outputs, inputs]));
            all.push((format!("encoder.layer.{layer}.{part}.bias"), vec![outputs]));
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            all.push((format!("encoder.layer.{layer}.{part}.weight"), vec![HIDDEN]));
            all.push((format!("encoder.layer.{layer}.{part}.bias"), vec![HIDDEN]));
        }
    }
    all
}

/// Its weights in the safetensors layout: each name after `prefix`, each number as `bytes_of` says.
pub fn file(prefix: &str, dtype: &str, bytes_of: impl Fn(f32) -> Vec<u8>) -> Vec<u8> {
    let (mut header, mut bytes) = (Map::new(), Vec::new());
    header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
    for (name, shape) in tensors() {
        let from = bytes.len();
        numbers(&name, shape.iter().product()).into_iter().for_each(|number| bytes.extend(bytes_of(number)));
        let tensor = json!({"dtype": dtype, "shape": shape, "data_offsets": [from, bytes.len()]});
        header.insert(format!("{prefix}{name}"), tensor);
    }
    let header = serde_json::to_vec(&header).expect("names and numbers are JSON");
    [&(header.len() as u64).to_le_bytes()[..], &header, &bytes].concat()
}

/// Its weights as they are.
pub fn weights() -> Vec<u8> {
    file("", "F32", |number| number.to_le_bytes().to_vec())
}

/// Its `config.json`.
pub fn config() -> Vec<u8> {
    json!({
        "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": INNER, "max_position_embeddings": 10, "vocab_size": PIECES.len(),
        "layer_norm_eps": 1e-12, "hidden_act": "gelu",
    })
    .to_string()
    .into_bytes()
}

/// Its `vocab.txt`.
pub fn vocabulary() -> Vec<u8> {
    PIECES.join("\n").into_bytes()
}
