//! How much faster a program is on more processors.

/// The speedup on so many processors of a program of this average parallelism A, 1 or more, and
/// variance of parallelism sigma, 0 or more (A. Downey: A Model for Speedup of Parallel Programs,
/// U. C. Berkeley CSD-97-933, 1997): linear at first for sigma 0, never more than A.
pub fn downey(parallelism: f64, sigma: f64, processors: f64) -> f64 {
    let (a, n) = (parallelism, processors);
    if sigma <= 1.0 {
        if n <= a {
            a * n / (a + sigma / 2.0 * (n - 1.0))
        } else if n <= 2.0 * a - 1.0 {
            a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
        } else {
            a
        }
    } else if n <= a + a * sigma - sigma {
        n * a * (sigma + 1.0) / (sigma * (n + a - 1.0) + a)
    } else {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downey_is_continuous_and_ends_at_the_average_parallelism() {
        for sigma in [0.0, 0.5, 1.0, 1.000_001, 2.0] {
            let of = |n: f64| downey(8.0, sigma, n);
            assert!((of(1.0) - 1.0).abs() < 1e-12);
            assert_eq!(of(1000.0), 8.0);
            for step in 1..400 {
                let n = f64::from(step) / 10.0 + 1.0;
                assert!(of(n) >= of(n - 0.1) - 1e-12 && of(n) - of(n - 0.1) < 0.11);
            }
        }
        assert_eq!(downey(8.0, 0.0, 5.0), 5.0);
    }
}
