//! Systems of linear equations with a symmetric matrix that is positive definite.

/// Replaces the lower half of a symmetric matrix that is positive definite, by rows, by its factor
/// (Cholesky); false if it is not.
pub(super) fn factorise(matrix: &mut [f64], size: usize) -> bool {
    for row in 0..size {
        let (above, below) = matrix.split_at_mut(row * size);
        for at in 0..row {
            let known = &above[at * size..=at * size + at];
            let dot: f64 = below[..at]
                .iter()
                .zip(known)
                .map(|(one, other)| one * other)
                .sum();
            below[at] = (below[at] - dot) / known[at];
        }
        let dot: f64 = below[..row].iter().map(|term| term * term).sum();
        let rest = below[row] - dot;
        if rest <= 0.0 || rest.is_nan() {
            return false;
        }
        below[row] = rest.sqrt();
    }
    true
}

/// Replaces the right side of a system of linear equations by its solution, given its matrix'
/// factor.
pub(super) fn solve(matrix: &[f64], right: &mut [f64]) {
    let size = right.len();
    for at in 0..size {
        let row = &matrix[at * size..=at * size + at];
        let dot: f64 = row[..at]
            .iter()
            .zip(&*right)
            .map(|(one, other)| one * other)
            .sum();
        right[at] = (right[at] - dot) / row[at];
    }
    for at in (0..size).rev() {
        right[at] /= matrix[at * size + at];
        let known = right[at];
        for (other, term) in right[..at].iter_mut().zip(&matrix[at * size..]) {
            *other -= term * known;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        // The upper half is never read.
        let mut matrix = vec![4.0, 9.0, 9.0, 2.0, 5.0, 9.0, 0.0, 1.0, 3.0];
        assert!(factorise(&mut matrix, 3));
        let mut right = vec![8.0, 15.0, 11.0];
        solve(&matrix, &mut right);
        for (found, expected) in right.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn indefinite_matrix_is_refused() {
        assert!(!factorise(&mut [1.0, 0.0, 2.0, 1.0], 2));
        assert!(!factorise(&mut [0.0], 1));
        assert!(!factorise(&mut [f64::NAN], 1));
    }
}
