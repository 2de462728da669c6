//! What the paper says in words, checked against what was measured.

use dfrs_moldable_lab::workload::WorkloadModel;
use dfrs_moldable_lab::{Algorithm, Order};
use dfrs_report::{Table, decimals};

use super::TASKS;
use super::measure::{RatioCriterion, Ratios};
use crate::reproduce::claims::{PaperClaim, table_of};
use crate::summary;

const WEAK: WorkloadModel = WorkloadModel::UniformWeak;
const HIGH: WorkloadModel = WorkloadModel::UniformHigh;
const SAF: Algorithm = Algorithm::ListGraham(Order::SmallestArea);
const LPTF: Algorithm = Algorithm::ListGraham(Order::WeightPerTime);
const SHELVES: Algorithm = Algorithm::ListGraham(Order::Shelves);

pub(super) const CLAIMS: &[PaperClaim<Ratios>] = &[
    ("demt-weak-makespan", |ratios| {
        let own = averages(ratios, WEAK, Algorithm::Demt, RatioCriterion::Makespan)?;
        let mut held = usize::from(maximum(&own) <= 2.0);
        for other in [Algorithm::Sequential, SHELVES, LPTF, SAF] {
            held += usize::from(
                mean(&own) > mean(&averages(ratios, WEAK, other, RatioCriterion::Makespan)?),
            );
        }
        Some((range(&own), held, 5))
    }),
    ("demt-weak-others", |ratios| {
        let (mut held, mut found) = (0, Vec::new());
        for other in [Algorithm::Sequential, SHELVES, LPTF, SAF] {
            let value = mean(&averages(ratios, WEAK, other, RatioCriterion::Makespan)?);
            held += usize::from((1.2..=1.8).contains(&value));
            found.push(format!("{other} {}", decimals(value, 2)));
        }
        Some((found.join(", "), held, 4))
    }),
    ("demt-high-minsum", |ratios| {
        let (mut held, mut found) = (0, Vec::new());
        for tasks in TASKS {
            let best = best(ratios, HIGH, *tasks)?;
            held += usize::from(best == Algorithm::Demt);
            found.push(format!("{tasks} {best}"));
        }
        Some((format!("best: {}", found.join(", ")), held, TASKS.len()))
    }),
    ("demt-high-lists", |ratios| {
        let mut all = Vec::new();
        for other in [SHELVES, LPTF, SAF] {
            for tasks in TASKS {
                all.push(
                    ratios
                        .point(HIGH, *tasks, other, RatioCriterion::Makespan)?
                        .max,
                );
            }
        }
        Some((
            format!("at most {}", decimals(maximum(&all), 2)),
            usize::from(maximum(&all) < 2.0),
            1,
        ))
    }),
    ("demt-mixed", |ratios| {
        let (mut held, mut found) = (0, Vec::new());
        for criterion in RatioCriterion::ALL {
            let own = mean(&averages(
                ratios,
                WorkloadModel::Mixed,
                Algorithm::Demt,
                criterion,
            )?);
            let saf = mean(&averages(ratios, WorkloadModel::Mixed, SAF, criterion)?);
            held += usize::from((1.6..=2.4).contains(&own)) + usize::from(saf < own);
            found.push(format!(
                "DEMT {}, SAF {}",
                decimals(own, 2),
                decimals(saf, 2)
            ));
        }
        for other in [SHELVES, LPTF] {
            let values = averages(
                ratios,
                WorkloadModel::Mixed,
                other,
                RatioCriterion::WeightedCompletion,
            )?;
            let (first, last) = (values.first()?, values.last()?);
            held += usize::from(*last > first * 1.2);
            found.push(format!(
                "{other} from {} to {}",
                decimals(*first, 2),
                decimals(*last, 2)
            ));
        }
        Some((found.join("; "), held, 6))
    }),
    ("demt-cirne", |ratios| {
        let mut held = 0;
        for tasks in TASKS {
            held += usize::from(best(ratios, WorkloadModel::Cirne, *tasks)? == Algorithm::Demt);
        }
        let own = averages(
            ratios,
            WorkloadModel::Cirne,
            Algorithm::Demt,
            RatioCriterion::WeightedCompletion,
        )?;
        let is_stable = maximum(&own) < 1.2 * minimum(&own);
        Some((
            format!(
                "best at {held} of {} numbers of tasks; {}",
                TASKS.len(),
                range(&own)
            ),
            held + usize::from(is_stable),
            TASKS.len() + 1,
        ))
    }),
    ("demt-minsum", |ratios| {
        let all = ratios.all(Algorithm::Demt, RatioCriterion::WeightedCompletion);
        let held =
            usize::from(maximum(&all) <= 2.5) + usize::from((1.75..=2.25).contains(&mean(&all)));
        Some((range(&all), held, 2)).filter(|_| !all.is_empty())
    }),
    ("demt-makespan", |ratios| {
        let all = ratios.all(Algorithm::Demt, RatioCriterion::Makespan);
        let below = all.iter().filter(|ratio| **ratio < 2.0).count();
        let held = usize::from(below * 10 >= all.len() * 9)
            + usize::from((1.7..=2.1).contains(&mean(&all)));
        let found = format!("{below} of {} runs below 2; {}", all.len(), range(&all));
        Some((found, held, 2)).filter(|_| !all.is_empty())
    }),
    ("demt-time", |ratios| {
        let mut longest = 0.0f64;
        for model in WorkloadModel::ALL {
            longest = longest.max(ratios.seconds(model, 400, Algorithm::Demt)?.1);
        }
        Some((
            format!("at most {} ms", decimals(longest * 1e3, 1)),
            usize::from(longest < 2.0),
            1,
        ))
    }),
    ("demt-plus", |ratios| {
        let (mut held, mut found) = (0, Vec::new());
        for criterion in RatioCriterion::ALL {
            let (own, other) = (
                ratios.all(Algorithm::Demt, criterion),
                ratios.all(Algorithm::DemtPlus, criterion),
            );
            held += usize::from(mean(&other) < mean(&own));
            found.push(format!(
                "{} {} for {}",
                criterion.name(),
                decimals(mean(&other), 2),
                decimals(mean(&own), 2)
            ));
        }
        Some((found.join("; "), held, 2))
    }),
];

/// The claims that could be checked; none if there are none.
pub fn table(ratios: &Ratios) -> Option<Table> {
    table_of("What the paper says", CLAIMS, ratios)
}

/// The averages at all numbers of tasks.
fn averages(
    ratios: &Ratios,
    model: WorkloadModel,
    algorithm: Algorithm,
    criterion: RatioCriterion,
) -> Option<Vec<f64>> {
    let points = TASKS
        .iter()
        .map(|tasks| ratios.point(model, *tasks, algorithm, criterion));
    points.map(|point| Some(point?.average)).collect()
}

/// The paper's algorithm with the smallest minsum.
fn best(ratios: &Ratios, model: WorkloadModel, tasks: u32) -> Option<Algorithm> {
    let papers = Algorithm::ALL
        .into_iter()
        .filter(|known| *known != Algorithm::DemtPlus);
    let values: Option<Vec<(Algorithm, f64)>> = papers
        .map(|known| {
            let point = ratios.point(model, tasks, known, RatioCriterion::WeightedCompletion)?;
            Some((known, point.average))
        })
        .collect();
    let values = values?.into_iter();
    let best = values.min_by(|one, other| one.1.total_cmp(&other.1));
    best.map(|(known, _)| known)
}

fn mean(values: &[f64]) -> f64 {
    summary::mean(values.iter().copied())
}

fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn maximum(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn range(values: &[f64]) -> String {
    format!(
        "{} on average, {} to {}",
        decimals(mean(values), 2),
        decimals(minimum(values), 2),
        decimals(maximum(values), 2)
    )
}
