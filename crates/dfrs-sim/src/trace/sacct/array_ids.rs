//! Ids of what is left of an array: `17_[3,5-9%2]` is many jobs in one line.

/// How many jobs the line with this id is. An array that sacct cuts short (`[1-3,...]`) has at least so many.
/// O(length).
pub(super) fn number_of_jobs(id: &str) -> usize {
    let Some((_, rest)) = id.split_once("_[") else {
        return 1;
    };
    let list = rest.split([']', '%']).next().unwrap_or_default();
    let sizes = list.split(',').filter_map(size);
    sizes.fold(0, usize::saturating_add).max(1)
}

/// How many numbers are in `7`, `3-9` or `0-30:10`; none if it is none of these.
fn size(range: &str) -> Option<usize> {
    let (range, step) = range.split_once(':').unwrap_or((range, "1"));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    let step: usize = step.parse().ok()?;
    Some(
        last.checked_sub(first)?
            .checked_div(step)?
            .saturating_add(1),
    )
}

#[cfg(test)]
mod tests {
    use super::number_of_jobs;

    #[test]
    fn rest_of_an_array_is_many_jobs() {
        for (id, number) in [
            ("17", 1),
            ("17_3", 1),
            ("17_[3]", 1),
            ("17_[3-9%2]", 7),
            ("17_[1,3,5-7]", 5),
            ("17_[0-30:10]", 4),
            ("17_[1-3,5,...]", 4),
            ("17_[1-3,5", 4),
            ("17_[]", 1),
            ("17_[9-3,x,0-9:0]", 1),
            ("17_[0-18446744073709551615,1]", usize::MAX),
        ] {
            assert_eq!(number_of_jobs(id), number, "{id}");
        }
    }
}
