//! Means, quantiles and shares.

/// The share of a sorted list below a value: 0.5 is the median. 0 if the list is empty.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let place = ((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(place).copied().unwrap_or(0.0)
}

/// The values, ascending.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The share of so many in all; 0 if there are none.
// Precise enough: numbers of jobs.
pub fn share(count: usize, all: usize) -> f64 {
    count as f64 / all.max(1) as f64
}

/// The arithmetic mean; of an empty list 0.
// Precise enough: a number of jobs.
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_list() {
        let list = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&list, 0.5), 2.0);
        assert_eq!(quantile(&list, 0.51), 3.0);
        assert_eq!((quantile(&list, 0.0), quantile(&list, 1.0)), (1.0, 4.0));
        assert_eq!((quantile(&[], 0.5), mean([].into_iter())), (0.0, 0.0));
        assert_eq!(mean(list.into_iter()), 2.5);
    }
}
