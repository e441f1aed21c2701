//! What a text is about, as a vector: sentence encoders of the BERT family, from the files that they are published as. Pure
//! inference: bytes and text in, vectors out. Knows no file system, no thread and no index; who has many texts brings the
//! threads.

mod bert;
mod matrix;
mod vector;
mod weights;
mod words;

use serde::Deserialize;
use thiserror::Error;

use bert::{Bert, Shape};
pub use vector::Vector;
use weights::Weights;
use words::WordPiece;

/// Longer texts are cut: attention costs the square of the length, and what a function is about is said at its beginning.
const LONGEST: usize = 256;

/// The files of a model, as bytes.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// `config.json`.
    pub config: &'a [u8],
    /// `tokenizer.json`, or `vocab.txt` with a word on each line.
    pub vocabulary: &'a [u8],
    /// `model.safetensors`.
    pub weights: &'a [u8],
    /// `1_Pooling/config.json`, if there is one.
    pub pooling: Option<&'a [u8]>,
}

/// Why a model cannot be used.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ModelError {
    #[error("config.json: {0}")]
    Config(String),
    #[error("the vocabulary: {0}")]
    Vocabulary(String),
    #[error("model.safetensors: {0}")]
    Weights(String),
}

/// How the vectors of a text's words become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Mean,
    /// That of the mark before the first word.
    First,
}

/// A model that is ready to use.
pub struct Encoder {
    words: WordPiece,
    bert: Bert,
    pooling: Pooling,
    longest: usize,
}

impl Encoder {
    pub fn new(parts: Parts<'_>) -> Result<Encoder, ModelError> {
        let config: Config =
            serde_json::from_slice(parts.config).map_err(|error| ModelError::Config(error.to_string()))?;
        let shape = config.shape()?;
        let words = WordPiece::new(parts.vocabulary)?;
        if words.largest() as usize >= shape.vocabulary {
            return Err(ModelError::Vocabulary(format!(
                "it has word number {}, and the model knows {}",
                words.largest(),
                shape.vocabulary
            )));
        }
        let bert = Bert::new(shape, &Weights::parse(parts.weights)?)?;
        let is_first = parts.pooling.and_then(|bytes| serde_json::from_slice::<PoolingConfig>(bytes).ok());
        let pooling = match is_first {
            Some(PoolingConfig { pooling_mode_cls_token: true }) => Pooling::First,
            _ => Pooling::Mean,
        };
        Ok(Encoder { words, longest: shape.positions.min(LONGEST), bert, pooling })
    }

    /// The length of its vectors.
    pub fn dimensions(&self) -> usize {
        self.bert.shape().hidden
    }

    /// What `text` is about. Every text has a vector, the empty one too.
    pub fn encode(&self, text: &str) -> Vector {
        Vector::of(&self.numbers(text))
    }

    /// The vector before it is made small: of length one.
    fn numbers(&self, text: &str) -> Vec<f32> {
        let tokens = self.words.tokens(text, self.longest);
        let states = self.bert.states(&tokens);
        let width = self.dimensions();
        let mut pooled = match self.pooling {
            Pooling::First => states[..width].to_vec(),
            Pooling::Mean => {
                let mut sum = vec![0.0; width];
                for state in states.chunks_exact(width) {
                    sum.iter_mut().zip(state).for_each(|(sum, value)| *sum += value);
                }
                sum
            }
        };
        let length = pooled.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        pooled.iter_mut().for_each(|value| *value /= length);
        pooled
    }
}

#[derive(Deserialize)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
}

/// What `config.json` says that matters to us.
#[derive(Deserialize)]
struct Config {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    vocab_size: usize,
    #[serde(default = "tiny")]
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    model_type: Option<String>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn tiny() -> f32 {
    1e-12
}

impl Config {
    fn shape(&self) -> Result<Shape, ModelError> {
        let refuse = |words: String| Err(ModelError::Config(words));
        let is = |said: &Option<String>, known: &str| said.as_deref().is_none_or(|said| said == known);
        if !is(&self.model_type, "bert") {
            return refuse(format!("a model of the type {:?} and not `bert`", self.model_type));
        }
        if !is(&self.hidden_act, "gelu") || !is(&self.position_embedding_type, "absolute") {
            return refuse("an activation or a kind of positions that is not known".to_owned());
        }
        let sizes = [self.hidden_size, self.num_attention_heads, self.intermediate_size, self.vocab_size];
        if sizes.contains(&0) || self.max_position_embeddings < 2 {
            return refuse("a size is zero".to_owned());
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return refuse("the heads do not share the width evenly".to_owned());
        }
        Ok(Shape {
            hidden: self.hidden_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            positions: self.max_position_embeddings,
            vocabulary: self.vocab_size,
            epsilon: self.layer_norm_eps,
        })
    }
}

#[cfg(test)]
mod tests;
