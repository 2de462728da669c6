//! Fewer rows: choices that do not matter are not said.

use super::outcome::TransitionOutcome;

/// Which way each choice goes, `None`: either; and what follows.
type Ways = (Vec<Option<usize>>, TransitionOutcome);

/// Leaves out the choice at `position`, which can go so many ways, where all of them lead to the
/// same.
pub(super) fn without_choice(all: Vec<Ways>, position: usize, count: usize) -> Vec<Ways> {
    let mut fewer: Vec<Ways> = Vec::new();
    for (ways, outcome) in &all {
        let alike: Vec<&TransitionOutcome> = all
            .iter()
            .filter(|(others, _)| agree_except_at(position, others, ways))
            .map(|(_, outcome)| outcome)
            .collect();
        let common = (alike.len() == count).then(|| common(&alike)).flatten();
        let mut either = ways.clone();
        let outcome = common.map_or_else(
            || outcome.clone(),
            |common| {
                either[position] = None;
                common
            },
        );
        if !fewer.iter().any(|(known, _)| *known == either) {
            fewer.push((either, outcome));
        }
    }
    fewer
}

fn agree_except_at(position: usize, ways: &[Option<usize>], others: &[Option<usize>]) -> bool {
    let mut pairs = ways.iter().zip(others).enumerate();
    pairs.all(|(index, (way, other))| index == position || way == other)
}

/// What follows in all of these cases, if it is the same, or may be called so.
fn common(outcomes: &[&TransitionOutcome]) -> Option<TransitionOutcome> {
    let (first, others) = outcomes.split_first()?;
    others.iter().try_fold((*first).clone(), |all, other| {
        if all == **other {
            Some(all)
        } else {
            all.or(other)
        }
    })
}
