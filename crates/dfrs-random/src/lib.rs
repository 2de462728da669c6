//! Random numbers that are the same on every machine.
//!
//! The generator is ChaCha with 8 rounds. Logarithms and exponentials come from the `libm` crate:
//! those of the system differ in the last bit from one machine to the next, and one bit can turn
//! the acceptance of a sample and with it all that follows.
#![forbid(unsafe_code)]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The sequence of this seed and stream. Streams of one seed do not depend on each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Uniform above 0 and at most 1, in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        // Precise enough: at most 2^53.
        let steps = ((self.0.next_u64() >> 11) + 1) as f64;
        steps / (1u64 << 53) as f64
    }

    /// Uniform from `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.uniform() * (high - low)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() <= probability
    }

    /// Puts the items into an order of which all are equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let count = u32::try_from(last + 1).unwrap_or(u32::MAX);
            items.swap(last, self.one_of(count) as usize);
        }
    }

    /// A number from 0 to `count - 1`, each as likely as the others but for 2^-32.
    pub fn one_of(&mut self, count: u32) -> u32 {
        let bits = self.0.next_u64() >> 32;
        #[allow(clippy::cast_possible_truncation)] // below `count`
        let one = ((bits * u64::from(count)) >> 32) as u32;
        one
    }

    /// Standard normal (the polar method of Marsaglia).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// The gamma distribution of mean `shape * scale` (Marsaglia and Tsang, A simple method for
    /// generating gamma variables, 2000). `shape` is at least 1.
    pub fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        debug_assert!(shape >= 1.0);
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            let v = root * root * root;
            if v > 0.0 && libm::log(self.uniform()) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                return d * v * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_has_its_mean_and_variance() {
        for (shape, scale) in [(1.0, 2.0), (4.2, 0.94), (312.0, 0.03)] {
            let mut random = Random::new(1, 0);
            let count = 40_000;
            let drawn: Vec<f64> = (0..count).map(|_| random.gamma(shape, scale)).collect();
            let real = f64::from(count);
            let mean = drawn.iter().sum::<f64>() / real;
            let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / real;
            let deviation = shape.sqrt() * scale;
            // Four standard errors; the one of the variance is at most sqrt(8/n) of it (shape 1).
            assert!((mean - shape * scale).abs() < 4.0 * deviation / real.sqrt());
            let expected = deviation * deviation;
            assert!((variance - expected).abs() < 4.0 * expected * (8.0 / real).sqrt());
        }
    }

    #[test]
    fn one_of_reaches_all_and_no_other() {
        let mut random = Random::new(3, 1);
        let mut seen = [0u32; 9];
        for _ in 0..9_000 {
            seen[random.one_of(9) as usize] += 1;
        }
        // 1000 each with a standard deviation of 30.
        assert!(
            seen.iter().all(|count| (870..1130).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn streams_of_a_seed_differ() {
        let first = |stream| Random::new(7, stream).uniform();
        assert!(first(0) != first(1));
    }
}
