//! Products of matrices, and the two functions between them. The only place where lengths are not checked by the compiler:
//! they are checked here before every product.

/// A matrix inside of a longer row of numbers.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) numbers: &'a [f32],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// How far apart neighbours in a column are, and in a row.
    pub(crate) strides: (usize, usize),
}

impl View<'_> {
    fn fits(&self, length: usize) -> bool {
        let along = |count: usize, stride| (count.max(1) - 1).checked_mul(stride);
        let last = along(self.rows, self.strides.0)
            .and_then(|down| along(self.columns, self.strides.1)?.checked_add(down));
        last.is_some_and(|last| length > last)
    }
}

/// Adds `a` times `b` to `c`, whose rows are `stride` apart.
pub(crate) fn add_product(a: View<'_>, b: View<'_>, c: &mut [f32], stride: usize) {
    assert_eq!(a.columns, b.rows, "a product of matrices that do not meet");
    let result = View { numbers: &[], rows: a.rows, columns: b.columns, strides: (stride, 1) };
    assert!(a.fits(a.numbers.len()) && b.fits(b.numbers.len()) && result.fits(c.len()), "a matrix is short");
    assert!(b.columns <= stride, "rows that overlap");
    let strides = |view: &View<'_>| (view.strides.0.cast_signed(), view.strides.1.cast_signed());
    let ((a_row, a_column), (b_row, b_column)) = (strides(&a), strides(&b));
    // SAFETY: the last element of each of the three is inside its slice, as was just asserted, and strides are positive, so
    // every other one is before it; `c` is borrowed alone, and its rows do not overlap since no row is longer than `stride`.
    #[allow(unsafe_code, reason = "the kernel takes pointers")]
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.columns,
            b.columns,
            1.0,
            a.numbers.as_ptr(),
            a_row,
            a_column,
            b.numbers.as_ptr(),
            b_row,
            b_column,
            1.0,
            c.as_mut_ptr(),
            stride.cast_signed(),
            1,
        );
    }
}

/// The gate of these models: a number times how likely a normal one is to be smaller.
pub(crate) fn gelu(value: f32) -> f32 {
    0.5 * value * (1.0 + erf(value * std::f32::consts::FRAC_1_SQRT_2))
}

/// By the formula 7.1.26 of Abramowitz and Stegun, which is right to six digits: as many as the numbers have.
fn erf(value: f32) -> f32 {
    const TERMS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let t = 1.0 / (1.0 + 0.327_591_1 * value.abs());
    let sum = TERMS.iter().fold(0.0, |sum, term| (sum + term) * t);
    (1.0 - sum * (-value * value).exp()).copysign(value)
}

/// Makes numbers shares of one, the larger the more.
pub(crate) fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|value| *value = (*value - most).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}
