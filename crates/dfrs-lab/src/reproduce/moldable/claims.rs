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

/// Why some of it is otherwise here.
pub const DIFFERENCES: &[&str] = &[
    "The bound on the minsum is that of the paper's program with one more interval, (0, t_0], without which it is no bound (docs/adr); \
     it is at most as large, so that ratios are at least as large, by a few percent. Where the rest of the difference in the minsum \
     comes from is open.",
    "The paper gives “highly parallel” a mean X of 0.9. Its own formula makes such tasks weakly parallel; here the two are exchanged, as \
     the names of its figures say.",
    "The order within a batch, how stacks are filled and which shuffle is best are not in the paper; neither are the parameters of the \
     Cirne-Berman model. The average parallelism is uniform in its logarithm here, and its variance uniform from 0 to 2.",
    "`ListGraham/LPTF` sorts by weight over time, as Section 4.1 says. With the largest ratio first that is Smith's rule, which is good \
     for the minsum: it does not get worse with the number of tasks, as the paper's curve does on mixed tasks.",
];

const CLAIMS: &[PaperClaim<Ratios>] = &[
    PaperClaim {
        place: "4.2, Figure 3",
        statement: "Weakly parallel: DEMT's makespan ratio is no more than 2, and worse on average than all others but Gang",
        check: |ratios| {
            let own = averages(ratios, WEAK, Algorithm::Demt, RatioCriterion::Makespan)?;
            let mut held = usize::from(maximum(&own) <= 2.0);
            for other in [Algorithm::Sequential, SHELVES, LPTF, SAF] {
                held += usize::from(
                    mean(&own) > mean(&averages(ratios, WEAK, other, RatioCriterion::Makespan)?),
                );
            }
            Some((range(&own), held, 5))
        },
    },
    PaperClaim {
        place: "4.2, Figure 3",
        statement: "Weakly parallel: all other algorithms have a makespan ratio around 1.5 on average",
        check: |ratios| {
            let (mut held, mut found) = (0, Vec::new());
            for other in [Algorithm::Sequential, SHELVES, LPTF, SAF] {
                let value = mean(&averages(ratios, WEAK, other, RatioCriterion::Makespan)?);
                held += usize::from((1.2..=1.8).contains(&value));
                found.push(format!("{other} {}", decimals(value, 2)));
            }
            Some((found.join(", "), held, 4))
        },
    },
    PaperClaim {
        place: "4.2, Figure 4",
        statement: "Highly parallel: DEMT is clearly the best for the minsum",
        check: |ratios| {
            let (mut held, mut found) = (0, Vec::new());
            for tasks in TASKS {
                let best = best(ratios, HIGH, *tasks)?;
                held += usize::from(best == Algorithm::Demt);
                found.push(format!("{tasks} {best}"));
            }
            Some((format!("best: {}", found.join(", ")), held, TASKS.len()))
        },
    },
    PaperClaim {
        place: "4.2, Figure 4",
        statement: "Highly parallel: the makespan ratio of the list algorithms is always below 2",
        check: |ratios| {
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
        },
    },
    PaperClaim {
        place: "4.2, Figure 5",
        statement: "Mixed: DEMT has a ratio of about 2 for both criteria, SAF is better, and the two other lists get worse with the number of tasks",
        check: |ratios| {
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
        },
    },
    PaperClaim {
        place: "4.2, Figure 6",
        statement: "Cirne-Berman: DEMT clearly outperforms the others for the minsum, and alone keeps a stable ratio",
        check: |ratios| {
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
        },
    },
    PaperClaim {
        place: "4.2",
        statement: "DEMT's minsum ratio is never more than 2.5, and on average around 2",
        check: |ratios| {
            let all = ratios.all(Algorithm::Demt, RatioCriterion::WeightedCompletion);
            let held = usize::from(maximum(&all) <= 2.5)
                + usize::from((1.75..=2.25).contains(&mean(&all)));
            Some((range(&all), held, 2)).filter(|_| !all.is_empty())
        },
    },
    PaperClaim {
        place: "4.2",
        statement: "DEMT's makespan ratio is almost always below 2, and 1.9 on average",
        check: |ratios| {
            let all = ratios.all(Algorithm::Demt, RatioCriterion::Makespan);
            let below = all.iter().filter(|ratio| **ratio < 2.0).count();
            let held = usize::from(below * 10 >= all.len() * 9)
                + usize::from((1.7..=2.1).contains(&mean(&all)));
            let found = format!("{below} of {} runs below 2; {}", all.len(), range(&all));
            Some((found, held, 2)).filter(|_| !all.is_empty())
        },
    },
    PaperClaim {
        place: "4.2, Figure 7",
        statement: "Less than 2 s for the largest instances",
        check: |ratios| {
            let mut longest = 0.0f64;
            for model in WorkloadModel::ALL {
                longest = longest.max(ratios.seconds(model, 400, Algorithm::Demt)?.1);
            }
            Some((
                format!("at most {} ms", decimals(longest * 1e3, 1)),
                usize::from(longest < 2.0),
                1,
            ))
        },
    },
    PaperClaim {
        place: "not in the paper",
        statement: "`DEMT+` is better than DEMT for both criteria on average",
        check: |ratios| {
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
        },
    },
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
