//! Two samples of the same traces, compared trace by trace.

use std::cmp::Ordering;

use special::{Beta, Error};

use crate::summary::mean;

/// Up to so many differences the distribution of Wilcoxon's statistic is counted out; beyond, it is all
/// but normal.
const COUNTED: usize = 50;

/// What lies between a sample and another of the same traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedComparison {
    /// Ratio of the geometric means, the first over the second; none if a value is not above 0.
    pub ratio: Option<Ratio>,
    /// On how many traces the first is smaller.
    pub smaller: usize,
    /// On how many traces the first is larger.
    pub larger: usize,
    /// How likely such a difference, or a larger one, is by chance alone: by the signs of the differences.
    pub sign: f64,
    /// How likely such a difference, or a larger one, is by chance alone: by Wilcoxon's signed
    /// ranks.
    pub wilcoxon: f64,
}

/// A ratio with its 95% confidence interval, by Student's distribution of the mean logarithm. Of one trace
/// there is no interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio, above 0.
    pub value: f64,
    /// Its least and largest value; none of one trace.
    pub interval: Option<(f64, f64)>,
}

/// Compares pairs: first and second. None without pairs.
pub fn compare(pairs: &[(f64, f64)]) -> Option<PairedComparison> {
    if pairs.is_empty() {
        return None;
    }
    let of = |order: Ordering| {
        let orders = pairs
            .iter()
            .map(|(first, second)| first.partial_cmp(second));
        orders.filter(|found| *found == Some(order)).count()
    };
    let (smaller, larger) = (of(Ordering::Less), of(Ordering::Greater));
    Some(PairedComparison {
        ratio: ratio(pairs),
        smaller,
        larger,
        sign: sign_test(smaller, larger),
        wilcoxon: wilcoxon(pairs),
    })
}

/// Standard error of the mean; none of one value.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = real(values.len());
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / (count - 1.0) / count).sqrt())
}

fn ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    if pairs
        .iter()
        .any(|(first, second)| first.min(*second) <= 0.0)
    {
        return None;
    }
    let logarithms: Vec<f64> = pairs
        .iter()
        .map(|(first, second)| (first / second).ln())
        .collect();
    let centre = mean(logarithms.iter().copied());
    let interval = standard_error(&logarithms).map(|error| {
        let reach = widest_of_student(real(pairs.len() - 1)) * error;
        ((centre - reach).exp(), (centre + reach).exp())
    });
    Some(Ratio {
        value: centre.exp(),
        interval,
    })
}

/// What Student's distribution with so many degrees of freedom stays within in 95 of 100 cases.
fn widest_of_student(freedom: f64) -> f64 {
    let (half, other) = (freedom / 2.0, 0.5);
    let share = 0.05_f64.inv_inc_beta(half, other, half.ln_beta(other));
    (freedom * (1.0 - share) / share).sqrt()
}

/// The exact two-sided sign test; pairs that are equal say nothing.
fn sign_test(smaller: usize, larger: usize) -> f64 {
    let (few, many) = (smaller.min(larger), smaller.max(larger));
    if many == 0 {
        return 1.0;
    }
    // At most `few` heads of all tosses.
    let (tails, heads) = (real(many), real(few + 1));
    (2.0 * 0.5_f64.inc_beta(tails, heads, tails.ln_beta(heads))).min(1.0)
}

/// Wilcoxon's signed-rank test, two-sided. Pairs that are equal are left out, ranks of equal differences are
/// shared.
fn wilcoxon(pairs: &[(f64, f64)]) -> f64 {
    let mut differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
    differences.retain(|difference| *difference != 0.0 && difference.is_finite());
    differences.sort_by(|one, other| one.abs().total_cmp(&other.abs()));
    let count = differences.len();
    if count == 0 {
        return 1.0;
    }
    // Twice each rank, which is whole also where ranks are shared.
    let mut ranks = Vec::with_capacity(count);
    let mut ties = 0.0;
    for equal in differences.chunk_by(|one, other| one.abs() == other.abs()) {
        let first = ranks.len() + 1;
        ranks.extend(std::iter::repeat_n(
            2 * first + equal.len() - 1,
            equal.len(),
        ));
        ties += real(equal.len()).powi(3) - real(equal.len());
    }
    let all: usize = ranks.iter().sum();
    let above: usize = differences
        .iter()
        .zip(&ranks)
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let least = above.min(all - above);
    if count <= COUNTED {
        return counted(&ranks, least);
    }
    let n = real(count);
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = (real(all) / 2.0 - real(least)) / 2.0;
    let z = (distance - 0.5).max(0.0) / variance.sqrt();
    (z / std::f64::consts::SQRT_2).compl_error()
}

/// The share of all ways to give these ranks signs in which the sum of those above 0, or that of the
/// others, is at most so much.
fn counted(ranks: &[usize], least: usize) -> f64 {
    let mut ways = vec![0.0; least + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (*rank..=least).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let all = 2f64.powi(i32::try_from(ranks.len()).unwrap_or(i32::MAX));
    (2.0 * ways.iter().sum::<f64>() / all).min(1.0)
}

// Precise enough: numbers of traces, and their sums.
fn real(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-6,
            "{found}, expected {expected}"
        );
    }

    /// What scipy 1.17 says: ttest_rel of the logarithms, binomtest, wilcoxon.
    #[test]
    fn statistics_match_scipy() {
        let first = [125.0, 115.0, 130.0, 140.0, 140.0, 115.0, 140.0, 125.0];
        let second = [110.0, 122.0, 125.0, 120.0, 141.0, 124.0, 123.0, 137.0];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let found = compare(&pairs).expect("pairs");
        assert_eq!((found.smaller, found.larger), (4, 4));
        let ratio = found.ratio.expect("above 0");
        let (low, high) = ratio.interval.expect("eight pairs");
        close(ratio.value, 1.027_552_722_7);
        close(low, 0.945_075_771_0);
        close(high, 1.117_227_454_6);
        close(found.wilcoxon, 0.546_875);
        close(found.sign, 1.0);
    }

    #[test]
    fn many_pairs_use_the_normal_approximation() {
        let pairs: Vec<(f64, f64)> = (1..=60u32)
            .map(|k| (f64::from(k * 7919 % 101), f64::from(k * 104_729 % 97)))
            .collect();
        let found = compare(&pairs).expect("pairs");
        assert_eq!((found.smaller, found.larger), (27, 31));
        close(found.wilcoxon, 0.553_594_253_4);
        close(found.sign, 0.694_004_094_1);
    }

    /// Of all 512 ways to give the ranks signs 18 are as far off.
    #[test]
    fn tied_differences_share_ranks() {
        let first = [3.0, 5.0, 7.0, 9.0, 11.0, 2.0, 2.0, 8.0, 1.0, 6.0];
        let second = [1.0, 6.0, 5.0, 7.0, 8.0, 3.0, 1.0, 9.0, 1.0, 2.0];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        close(compare(&pairs).expect("pairs").wilcoxon, 36.0 / 512.0);
    }

    #[test]
    fn undefined_statistics_are_none() {
        assert_eq!(compare(&[]), None);
        let one = compare(&[(2.0, 1.0)]).expect("a pair");
        let ratio = Ratio {
            value: 2.0,
            interval: None,
        };
        assert_eq!(one.ratio, Some(ratio));
        close(one.sign, 1.0);
        let zero = compare(&[(0.0, 1.0), (1.0, 1.0)]).expect("pairs");
        assert_eq!((zero.ratio, zero.smaller), (None, 1));
        let same = compare(&[(1.0, 1.0); 3]).expect("pairs");
        assert_eq!((same.wilcoxon, same.sign), (1.0, 1.0));
        assert_eq!(standard_error(&[1.0]), None);
    }
}
