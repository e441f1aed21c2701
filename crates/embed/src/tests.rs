//! A tiny model of numbers that a formula gives, against what an independent program made of the same formula.

use proptest::prelude::*;
use serde_json::json;
use testkit::bert::{HIDDEN, PIECES, config, file, vocabulary as lines, weights};

use super::*;

fn encoder(weights: &[u8], pooling: Option<&[u8]>) -> Result<Encoder, ModelError> {
    Encoder::new(Parts { config: &config(), vocabulary: &lines(), weights, pooling })
}

fn close(ours: &[f32], theirs: &[f32], by: f32) {
    let far = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(ours.len() == theirs.len() && far < by, "{ours:?}\n{theirs:?}");
}

/// Made by a program in another language that shares nothing with this one but the formula.
const MEAN: [f32; HIDDEN] =
    [-0.587094, 0.046237, -0.442178, 0.192549, 0.064211, -0.543073, -0.047965, -0.345303];
const FIRST: [f32; HIDDEN] =
    [-0.620856, 0.039796, -0.452262, 0.186196, 0.000518, -0.501004, -0.047031, -0.347170];
const TEXT: &str = "Read_files (a LINED café)";

#[test]
fn a_text_has_the_vector_that_an_independent_program_gives_it() {
    close(&encoder(&weights(), None).unwrap().numbers(TEXT), &MEAN, 1e-5);
    let first = br#"{"pooling_mode_cls_token": true}"#;
    close(&encoder(&weights(), Some(first)).unwrap().numbers(TEXT), &FIRST, 1e-5);
}

#[test]
fn a_model_of_shorter_numbers_or_inside_of_a_larger_one_says_nearly_the_same() {
    let short = file("bert.", "BF16", |number| number.to_le_bytes()[2..].to_vec());
    close(&encoder(&short, None).unwrap().numbers(TEXT), &MEAN, 0.03);
    assert_eq!(
        [0x3c00, 0xc000, 0x0001, 0x3555, 0x7bff].map(weights::half),
        [1.0, -2.0, 5.960_464_5e-8, 0.333_251_95, 65504.0]
    );
}

#[test]
fn words_are_taken_apart_as_the_vocabulary_can() {
    let words = WordPiece::new(&lines()).unwrap();
    let named = |text: &str, most| {
        words.tokens(text, most).iter().map(|piece| PIECES[*piece as usize]).collect::<Vec<_>>()
    };
    assert_eq!(
        named(TEXT, 99),
        ["[CLS]", "read", "_", "file", "##s", "(", "a", "line", "##d", "cafe", ")", "[SEP]"]
    );
    assert_eq!(named("files zebra 文文", 99), ["[CLS]", "file", "##s", "[UNK]", "文", "文", "[SEP]"]);
    assert_eq!(named("a a a a a", 4), ["[CLS]", "a", "a", "[SEP]"]);
    assert_eq!(named("", 99), ["[CLS]", "[SEP]"]);
    assert_eq!(named(&"a".repeat(101), 99), ["[CLS]", "[UNK]", "[SEP]"]);
    let json = json!({"normalizer": {"lowercase": true}, "model": {"type": "WordPiece",
        "vocab": PIECES.iter().zip(0..).collect::<std::collections::HashMap<_, u32>>()}});
    let same = WordPiece::new(json.to_string().as_bytes()).unwrap();
    assert_eq!(same.tokens(TEXT, 99), words.tokens(TEXT, 99));
}

#[test]
fn likeness_is_that_of_the_directions() {
    let encoder = encoder(&weights(), None).unwrap();
    let [one, same, other] = ["read a file", "Read a FILE", "文 ("].map(|text| encoder.encode(text));
    assert!((one.likeness(&same) - 1.0).abs() < 1e-6);
    let exact: f32 =
        encoder.numbers("read a file").iter().zip(encoder.numbers("文 (")).map(|(a, b)| a * b).sum();
    assert!((one.likeness(&other) - exact).abs() < 0.02, "{exact}");
    let bytes: Vec<u8> = one.to_bytes().collect();
    assert_eq!(Vector::from_bytes(&bytes), one);
    assert_eq!(one.likeness(&Vector::from_bytes(&bytes[1..])), 0.0);
}

#[test]
fn what_is_no_model_is_refused_in_words() {
    let whole = weights();
    let refused =
        |weights: &[u8]| encoder(weights, None).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(refused(&[]), "model.safetensors: it is shorter than it says");
    assert_eq!(refused(&u64::MAX.to_le_bytes()), "model.safetensors: its header is too long");
    assert!(refused(&whole[..whole.len() - 1]).ends_with("is cut off"));
    let config = |change: &str, value: serde_json::Value| {
        let mut config: serde_json::Value = serde_json::from_slice(&config()).unwrap();
        config[change] = value;
        let config = config.to_string().into_bytes();
        let parts = Parts { config: &config, vocabulary: &lines(), weights: &whole, pooling: None };
        Encoder::new(parts).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(config("model_type", "gpt2".into()).starts_with("config.json: "));
    assert!(config("num_attention_heads", 3.into()).starts_with("config.json: "));
    assert!(config("hidden_size", 16.into()).contains("has the sizes"));
    assert!(config("vocab_size", 3.into()).starts_with("the vocabulary: "));
    assert!(config("num_hidden_layers", 3.into()).ends_with("is not there"));
}

proptest! {
    #[test]
    fn any_text_has_a_vector_and_any_bytes_are_taken_or_refused(text in ".{0,200}", at in 0_usize..3000, byte: u8) {
        let vector = encoder(&weights(), None).unwrap().numbers(&text);
        prop_assert!(vector.iter().all(|number| number.is_finite()));
        let mut broken = weights();
        let at = at % broken.len();
        broken[at] = byte;
        if let Ok(encoder) = encoder(&broken, None) {
            encoder.encode(&text);
        }
    }
}
