//! Lists of jobs: `7-506,9`.

use dfrs_core::JobId;

use crate::error::shown;
use crate::words::SizeBudget;

/// The jobs in their order, those that follow each other as a range.
pub(crate) fn fold(jobs: impl IntoIterator<Item = JobId>, separator: &str) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for JobId(id) in jobs {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(id) => *last = id,
            _ => ranges.push((id, id)),
        }
    }
    let range = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let ranges: Vec<String> = ranges.iter().map(range).collect();
    ranges.join(separator)
}

/// The jobs that a list stands for, in its order.
pub(crate) fn expand(list: &str, budget: &mut SizeBudget) -> Result<Vec<JobId>, String> {
    let mut jobs = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let bounds = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
        let Some((first, last)) = bounds.filter(|(first, last)| first <= last) else {
            let range = shown(range);
            return Err(format!(
                "{range} is no job; write its number, or e.g. 7-9,12"
            ));
        };
        budget.take_items((last - first).saturating_add(1))?;
        jobs.extend((first..=last).map(JobId));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_folded_in_their_order_and_unfolded_to_the_same() {
        for (ids, list) in [
            (vec![7, 8, 9, 12], "7-9,12"),
            (vec![8, 7], "8,7"),
            (
                vec![u64::MAX - 1, u64::MAX, 0],
                "18446744073709551614-18446744073709551615,0",
            ),
        ] {
            let jobs: Vec<JobId> = ids.into_iter().map(JobId).collect();
            assert_eq!(fold(jobs.iter().copied(), ","), list);
            assert_eq!(expand(list, &mut SizeBudget::default()), Ok(jobs));
        }
        for list in [
            "",
            "a",
            "2-1",
            "1,",
            "-1",
            "0-18446744073709551615",
            "1-99999999999",
        ] {
            assert!(expand(list, &mut SizeBudget::default()).is_err(), "{list}");
        }
    }
}
