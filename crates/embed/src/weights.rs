//! The numbers of a model, from a file in the safetensors layout: the length of a header, the header as JSON (for each tensor
//! its type, its sizes, and where it is), and the bytes. Nothing the file says is believed before it was checked.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::ModelError;

/// Headers of real models have a few hundred kilobytes.
const LONGEST_HEADER: u64 = 64 << 20;

pub(crate) struct Weights<'a> {
    tensors: HashMap<String, Tensor>,
    bytes: &'a [u8],
}

#[derive(Debug, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl<'a> Weights<'a> {
    pub(crate) fn parse(file: &'a [u8]) -> Result<Weights<'a>, ModelError> {
        let short = || failed("it is shorter than it says");
        let (length, rest) = file.split_first_chunk().ok_or_else(short)?;
        let length = u64::from_le_bytes(*length);
        if length > LONGEST_HEADER {
            return Err(failed("its header is too long"));
        }
        let length = usize::try_from(length).map_err(|_| short())?;
        let (header, bytes) = rest.split_at_checked(length).ok_or_else(short)?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(header).map_err(|error| failed(error.to_string()))?;
        let mut tensors = HashMap::new();
        for (name, value) in header.into_iter().filter(|(name, _)| name != "__metadata__") {
            // Some are written as a part of a larger model.
            let name = name.strip_prefix("bert.").map_or(name.clone(), str::to_owned);
            tensors.insert(name, serde_json::from_value(value).map_err(|error| failed(error.to_string()))?);
        }
        Ok(Weights { tensors, bytes })
    }

    /// A tensor, which must have these sizes.
    pub(crate) fn take(&self, name: &str, sizes: &[usize]) -> Result<Vec<f32>, ModelError> {
        let tensor = self.tensors.get(name).ok_or_else(|| failed(format!("{name} is not there")))?;
        if tensor.shape != sizes {
            return Err(failed(format!("{name} has the sizes {:?} and not {sizes:?}", tensor.shape)));
        }
        self.numbers(name, tensor)
    }

    /// The first row of a tensor whose rows have this length.
    pub(crate) fn take_first(&self, name: &str, width: usize) -> Result<Vec<f32>, ModelError> {
        let rows = self.tensors.get(name).and_then(|tensor| tensor.shape.first().copied()).unwrap_or(0);
        let mut all = self.take(name, &[rows, width])?;
        if all.len() < width {
            return Err(failed(format!("{name} has no rows")));
        }
        all.truncate(width);
        Ok(all)
    }

    fn numbers(&self, name: &str, tensor: &Tensor) -> Result<Vec<f32>, ModelError> {
        let [from, to] = tensor.data_offsets;
        let bytes = self.bytes.get(from..to).ok_or_else(|| failed(format!("{name} is cut off")))?;
        let numbers: Vec<f32> = match tensor.dtype.as_str() {
            "F32" => words(bytes).map(f32::from_le_bytes).collect(),
            "F16" => words(bytes).map(|two| half(u16::from_le_bytes(two))).collect(),
            "BF16" => {
                words(bytes).map(|two| f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16)).collect()
            }
            other => return Err(failed(format!("{name} is of the type {other}"))),
        };
        let wanted = tensor.shape.iter().try_fold(1_usize, |all, size| all.checked_mul(*size));
        if Some(numbers.len()) != wanted {
            return Err(failed(format!("{name} is not as long as its sizes")));
        }
        match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            false => Err(failed(format!("{name} has what is no number"))),
        }
    }
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks().0.iter().copied()
}

/// A number of sixteen bits: one for the sign, five for the power, ten for the rest.
pub(crate) fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (power, rest) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match power {
        // Too small for a leading one.
        0 => rest * 2_f32.powi(-24),
        31 if rest == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + rest / 1024.0) * 2_f32.powi(power - 15),
    }
}

fn failed(why: impl Into<String>) -> ModelError {
    ModelError::Weights(why.into())
}
