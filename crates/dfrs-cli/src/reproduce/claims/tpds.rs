//! Claims of the TPDS 2012 paper.

use dfrs_report::{percent, significant};

use super::{Claim, Finding, Holds, LOADS, best, ends, mean, mean_at, ratios};
use crate::reproduce::experiment::{BEST, EASY, EASY_PUBLISHED, PERIODS, TPDS};
use crate::reproduce::measure::Measure;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

const BOUND: Measure = Measure::DegradationFromBound;
const IDLE: Measure = Measure::Underutilization;
const SETS: [TraceSet; 3] = [TraceSet::Unscaled, TraceSet::Scaled, TraceSet::Weeks];

pub const CLAIMS: &[Claim] = &[
    Claim {
        place: "TPDS 5.1",
        says: "EASY and FCFS are almost always outperformed by several orders of magnitude (taken as a factor of 100 in \
               the averages at every load)",
        check: |results| orders_of_magnitude(results, EASY_PUBLISHED),
    },
    Claim {
        place: "TPDS 5.1",
        says: "The same for EASY as it is defined",
        check: |results| orders_of_magnitude(results, EASY),
    },
    Claim {
        place: "TPDS 5.1",
        says: "GreedyPM*/OPT=MIN performs well at low load, and worse than most other algorithms above 0.3",
        check: greedy_pm,
    },
    Claim {
        place: "TPDS 5.1",
        says: "The best algorithm whatever the load is GreedyPM*/per/OPT=MIN/MINVT=600 (taken as within 5% of the best at \
               each load)",
        check: best_everywhere,
    },
    Claim {
        place: "TPDS 5.1",
        says: "The best algorithms are on average at most a factor 7 away from the bound",
        check: factor_7,
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "Above a period of 900 s, underutilization on both synthetic sets is lower than EASY's",
        check: |results| better_than_easy(results, EASY_PUBLISHED),
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "The same against EASY as it is defined",
        check: |results| better_than_easy(results, EASY),
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "On the HPC2N weeks underutilization is above EASY's (6.4%) at every period and reaches a plateau of 11.8%",
        check: plateau,
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "Underutilization falls steadily with the period from 600 to 12,000 s (taken as: on each set, the longest \
               period has less than the shortest)",
        check: falls,
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "From 600 to 12,000 s the average degradation rises by a factor below 3 (scaled), 1.5 (unscaled) and 2 (HPC2N)",
        check: rises,
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "Even with a period of 20 penalties EASY is outperformed by two orders of magnitude on average",
        check: |results| at_long_periods(results, EASY_PUBLISHED),
    },
    Claim {
        place: "TPDS 5.3.2",
        says: "The same against EASY as it is defined",
        check: |results| at_long_periods(results, EASY),
    },
];

fn orders_of_magnitude(results: &Results, easy: &str) -> Option<Finding> {
    let factors = ratios(results, easy, BEST, BOUND)?;
    let (low, high) = ends(&factors);
    let held = factors.iter().filter(|factor| **factor >= 100.0).count();
    Some(Finding {
        found: format!(
            "{easy} over {BEST}: {} to {}",
            significant(low, 3),
            significant(high, 3)
        ),
        holds: Holds::of(held, factors.len()),
    })
}

/// How many of the other DFRS algorithms are better at low and at higher loads.
fn greedy_pm(results: &Results) -> Option<Finding> {
    let subject = "GreedyPM*/OPT=MIN";
    let others = || {
        TPDS.iter()
            .filter(|name| name.contains('/') && !name.starts_with("EASY") && **name != subject)
    };
    let better = |tenths: u8| -> Option<usize> {
        let set = TraceSet::Load(tenths);
        let ours = mean(results, set, subject, BOUND)?;
        let all: Option<Vec<f64>> = others()
            .map(|name| mean(results, set, name, BOUND))
            .collect();
        Some(all?.into_iter().filter(|value| *value < ours).count())
    };
    let counts: Option<Vec<usize>> = LOADS.map(better).collect();
    let counts = counts?;
    let all = others().count();
    let low = counts[..3]
        .iter()
        .filter(|count| **count <= all / 2)
        .count();
    let high = counts[3..].iter().filter(|count| **count > all / 2).count();
    let listed: Vec<String> = counts.iter().map(ToString::to_string).collect();
    Some(Finding {
        found: format!(
            "of {all} others, better from load 0.1 to 0.9: {}",
            listed.join(", ")
        ),
        holds: Holds::of(low + high, counts.len()),
    })
}

fn best_everywhere(results: &Results) -> Option<Finding> {
    let mut held = 0;
    let mut exceptions = Vec::new();
    for tenths in LOADS {
        let set = TraceSet::Load(tenths);
        let (name, value) = best(results, set, TPDS, BOUND)?;
        let ours = mean(results, set, BEST, BOUND)?;
        if ours <= value * 1.05 {
            held += 1;
        } else {
            exceptions.push(format!(
                "at 0.{tenths} {name} has {}, it {}",
                significant(value, 3),
                significant(ours, 3)
            ));
        }
    }
    let found = match exceptions.as_slice() {
        [] => "at all nine loads".into(),
        exceptions => exceptions.join("; "),
    };
    Some(Finding {
        found,
        holds: Holds::of(held, 9),
    })
}

fn factor_7(results: &Results) -> Option<Finding> {
    let mut held = 0;
    let mut found = Vec::new();
    for set in SETS {
        if let Some(value) = mean(results, set, BEST, BOUND) {
            held += usize::from(value <= 7.0);
            found.push(format!("{}: {}", set.title(), significant(value, 3)));
        }
    }
    (!found.is_empty()).then(|| Finding {
        holds: Holds::of(held, found.len()),
        found: found.join("; "),
    })
}

fn better_than_easy(results: &Results, easy: &str) -> Option<Finding> {
    let (mut held, mut all, mut found) = (0, 0, Vec::new());
    for set in [TraceSet::Unscaled, TraceSet::Scaled] {
        let theirs = mean(results, set, easy, IDLE)?;
        let long: Option<Vec<f64>> = PERIODS
            .iter()
            .filter(|period| **period > 900)
            .map(|period| mean_at(results, set, BEST, Some(*period), IDLE))
            .collect();
        let long = long?;
        held += long.iter().filter(|value| **value < theirs).count();
        all += long.len();
        let (low, high) = ends(&long);
        found.push(format!(
            "{}: {} to {}, {easy} {}",
            set.title(),
            percent(low),
            percent(high),
            percent(theirs)
        ));
    }
    Some(Finding {
        holds: Holds::of(held, all),
        found: found.join("; "),
    })
}

fn plateau(results: &Results) -> Option<Finding> {
    let set = TraceSet::Weeks;
    let theirs = mean(results, set, EASY_PUBLISHED, IDLE)?;
    let ours: Option<Vec<f64>> = PERIODS
        .iter()
        .map(|period| mean_at(results, set, BEST, Some(*period), IDLE))
        .collect();
    let (low, high) = ends(&ours?);
    Some(Finding {
        found: format!(
            "{} to {}, {EASY_PUBLISHED} {}, {EASY} {}",
            percent(low),
            percent(high),
            percent(theirs),
            percent(mean(results, set, EASY, IDLE)?)
        ),
        holds: Holds::of(
            usize::from(low > theirs) + usize::from((low - 0.118).abs() < 0.0118),
            2,
        ),
    })
}

/// For each set that there is: the averages at the shortest and the longest period.
fn first_and_last(results: &Results, measure: Measure) -> Vec<(TraceSet, f64, f64)> {
    let (first, last) = (PERIODS[0], PERIODS[PERIODS.len() - 1]);
    SETS.iter()
        .filter_map(|set| {
            let at = |period| mean_at(results, *set, BEST, Some(period), measure);
            Some((*set, at(first)?, at(last)?))
        })
        .collect()
}

fn falls(results: &Results) -> Option<Finding> {
    let pairs = first_and_last(results, IDLE);
    let held = pairs.iter().filter(|(_, first, last)| last < first).count();
    let found = pairs.iter().map(|(set, first, last)| {
        format!(
            "{}: from {} to {}",
            set.title(),
            percent(*first),
            percent(*last)
        )
    });
    (!pairs.is_empty()).then(|| Finding {
        found: found.collect::<Vec<_>>().join("; "),
        holds: Holds::of(held, pairs.len()),
    })
}

fn rises(results: &Results) -> Option<Finding> {
    let pairs = first_and_last(results, BOUND);
    let limit = |set: TraceSet| match set {
        TraceSet::Scaled => 3.0,
        TraceSet::Unscaled => 1.5,
        _ => 2.0,
    };
    let held = pairs
        .iter()
        .filter(|(set, first, last)| last / first < limit(*set))
        .count();
    let found = pairs
        .iter()
        .map(|(set, first, last)| format!("{}: {}", set.title(), significant(last / first, 3)));
    (!pairs.is_empty()).then(|| Finding {
        found: found.collect::<Vec<_>>().join("; "),
        holds: Holds::of(held, pairs.len()),
    })
}

fn at_long_periods(results: &Results, easy: &str) -> Option<Finding> {
    let (mut held, mut found) = (0, Vec::new());
    for set in SETS {
        let ours = mean_at(results, set, BEST, Some(6000), BOUND);
        if let (Some(theirs), Some(ours)) = (mean(results, set, easy, BOUND), ours) {
            held += usize::from(theirs / ours >= 100.0);
            found.push(format!(
                "{}: {}",
                set.title(),
                significant(theirs / ours, 3)
            ));
        }
    }
    (!found.is_empty()).then(|| Finding {
        holds: Holds::of(held, found.len()),
        found: format!("{easy} over {BEST}: {}", found.join("; ")),
    })
}
