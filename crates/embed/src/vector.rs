//! A direction, in a byte for each dimension: a quarter of the room, and the order of likeness hardly changes.

/// What a text is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(Box<[i8]>);

impl Vector {
    /// From numbers of which none is above one.
    pub(crate) fn of(numbers: &[f32]) -> Vector {
        let largest = numbers.iter().fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
        Vector(numbers.iter().map(|number| (number / largest * 127.0).round() as i8).collect())
    }

    pub fn from_bytes(bytes: &[u8]) -> Vector {
        Vector(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    pub fn to_bytes(&self) -> impl Iterator<Item = u8> {
        self.0.iter().map(|number| number.cast_unsigned())
    }

    /// From -1 to 1: how far two texts are about the same. Nothing in common if they are not of one model.
    pub fn likeness(&self, other: &Vector) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let product =
            |a: &[i8], b: &[i8]| -> i32 { a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum() };
        let lengths = (product(&self.0, &self.0) as f32 * product(&other.0, &other.0) as f32).sqrt();
        product(&self.0, &other.0) as f32 / lengths.max(1.0)
    }
}
