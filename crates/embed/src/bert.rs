//! The network: words become states, and each layer lets every state look at all others and then think for itself. Knows no
//! words, only their numbers.

use crate::ModelError;
use crate::matrix::{View, add_product, gelu, softmax};
use crate::weights::Weights;

/// The sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) positions: usize,
    pub(crate) vocabulary: usize,
    pub(crate) epsilon: f32,
}

pub(crate) struct Bert {
    shape: Shape,
    words: Vec<f32>,
    /// With what every text of one sentence adds.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention: Linear,
    attention_norm: Norm,
    widen: Linear,
    narrow: Linear,
    norm: Norm,
}

/// A matrix, a row for each of its outputs, and what is added.
struct Linear {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Bert {
    pub(crate) fn new(shape: Shape, weights: &Weights<'_>) -> Result<Bert, ModelError> {
        let Shape { hidden, inner, .. } = shape;
        let take = |name: &str, sizes: &[usize]| weights.take(name, sizes);
        let linear = |name: &str, outputs: usize, inputs: usize| {
            let weight = take(&format!("{name}.weight"), &[outputs, inputs])?;
            Ok(Linear { weight, bias: take(&format!("{name}.bias"), &[outputs])? })
        };
        let norm = |name: &str| {
            let weight = take(&format!("{name}.weight"), &[hidden])?;
            Ok(Norm { weight, bias: take(&format!("{name}.bias"), &[hidden])? })
        };
        let kinds = weights.take_first("embeddings.token_type_embeddings.weight", hidden)?;
        let mut positions = take("embeddings.position_embeddings.weight", &[shape.positions, hidden])?;
        positions.chunks_exact_mut(hidden).for_each(|row| add(row, &kinds));
        let layer = |number: usize| {
            let name = |part: &str| format!("encoder.layer.{number}.{part}");
            Ok(Layer {
                query: linear(&name("attention.self.query"), hidden, hidden)?,
                key: linear(&name("attention.self.key"), hidden, hidden)?,
                value: linear(&name("attention.self.value"), hidden, hidden)?,
                attention: linear(&name("attention.output.dense"), hidden, hidden)?,
                attention_norm: norm(&name("attention.output.LayerNorm"))?,
                widen: linear(&name("intermediate.dense"), inner, hidden)?,
                narrow: linear(&name("output.dense"), hidden, inner)?,
                norm: norm(&name("output.LayerNorm"))?,
            })
        };
        Ok(Bert {
            words: take("embeddings.word_embeddings.weight", &[shape.vocabulary, hidden])?,
            positions,
            norm: norm("embeddings.LayerNorm")?,
            layers: (0..shape.layers).map(layer).collect::<Result<_, ModelError>>()?,
            shape,
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The last state of each word, one after the other. There must be no more words than positions.
    pub(crate) fn states(&self, tokens: &[u32]) -> Vec<f32> {
        let width = self.shape.hidden;
        let mut states = Vec::with_capacity(tokens.len() * width);
        for (token, position) in tokens.iter().zip(self.positions.chunks_exact(width)) {
            let at = *token as usize * width;
            states.extend(self.words[at..at + width].iter().zip(position).map(|(word, place)| word + place));
        }
        self.norm.apply(&mut states, self.shape.epsilon);
        for layer in &self.layers {
            layer.apply(&mut states, self.shape);
        }
        states
    }
}

impl Layer {
    fn apply(&self, states: &mut Vec<f32>, shape: Shape) {
        let mut seen = self.attention.apply(&self.look(states, shape));
        add(&mut seen, states);
        self.attention_norm.apply(&mut seen, shape.epsilon);
        let mut wide = self.widen.apply(&seen);
        wide.iter_mut().for_each(|value| *value = gelu(*value));
        let mut thought = self.narrow.apply(&wide);
        add(&mut thought, &seen);
        self.norm.apply(&mut thought, shape.epsilon);
        *states = thought;
    }

    /// What each state sees of the others, by every head.
    fn look(&self, states: &[f32], shape: Shape) -> Vec<f32> {
        let (width, size) = (shape.hidden, shape.hidden / shape.heads);
        let count = states.len() / width;
        let (query, key, value) =
            (self.query.apply(states), self.key.apply(states), self.value.apply(states));
        let scale = 1.0 / (size as f32).sqrt();
        let mut seen = vec![0.0; states.len()];
        let mut shares = vec![0.0; count * count];
        for from in (0..shape.heads).map(|head| head * size) {
            let across = |numbers| View { numbers, rows: count, columns: size, strides: (width, 1) };
            let down = View { numbers: &key[from..], rows: size, columns: count, strides: (1, width) };
            shares.fill(0.0);
            add_product(across(&query[from..]), down, &mut shares, count);
            for row in shares.chunks_exact_mut(count) {
                row.iter_mut().for_each(|share| *share *= scale);
                softmax(row);
            }
            let weights = View { numbers: &shares, rows: count, columns: count, strides: (count, 1) };
            add_product(weights, across(&value[from..]), &mut seen[from..], width);
        }
        seen
    }
}

impl Linear {
    fn apply(&self, states: &[f32]) -> Vec<f32> {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let count = states.len() / inputs;
        let mut result = self.bias.repeat(count);
        let states = View { numbers: states, rows: count, columns: inputs, strides: (inputs, 1) };
        let weight = View { numbers: &self.weight, rows: inputs, columns: outputs, strides: (1, inputs) };
        add_product(states, weight, &mut result, outputs);
        result
    }
}

impl Norm {
    fn apply(&self, states: &mut [f32], epsilon: f32) {
        let width = self.weight.len();
        for state in states.chunks_exact_mut(width) {
            let mean = state.iter().sum::<f32>() / width as f32;
            let spread = state.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / width as f32;
            let scale = 1.0 / (spread + epsilon).sqrt();
            for ((value, weight), bias) in state.iter_mut().zip(&self.weight).zip(&self.bias) {
                *value = (*value - mean) * scale * weight + bias;
            }
        }
    }
}

fn add(to: &mut [f32], what: &[f32]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
}
