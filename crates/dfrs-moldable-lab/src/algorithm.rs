//! The algorithms by their names.

use std::fmt;
use std::str::FromStr;

use dfrs_moldable::{Criteria, Estimate, Problem, Schedule};
use thiserror::Error;

use crate::comparators::{Order, gang, list_graham, sequential};
use crate::demt::{Shuffles, demt, improved};
use crate::instance::MoldableInstance;
use crate::minsum::weighted_completion_bound;
use crate::online::online;

/// How to schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The paper's own ([`demt`]).
    Demt,
    /// DEMT with allotments and order revised, which is not in the paper ([`improved`]).
    DemtPlus,
    /// Every task on all processors ([`gang`]).
    Gang,
    /// Every task on one processor ([`sequential`]).
    Sequential,
    /// A list with the allotments of the dual approximation ([`list_graham`]).
    ListGraham(Order),
}

impl Algorithm {
    /// All.
    pub const ALL: [Self; 7] = [
        Self::Demt,
        Self::DemtPlus,
        Self::Gang,
        Self::Sequential,
        Self::ListGraham(Order::Shelves),
        Self::ListGraham(Order::WeightPerTime),
        Self::ListGraham(Order::SmallestArea),
    ];

    /// The algorithm's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Demt => "DEMT",
            Self::DemtPlus => "DEMT+",
            Self::Gang => "Gang",
            Self::Sequential => "Sequential",
            Self::ListGraham(Order::Shelves) => "ListGraham",
            Self::ListGraham(Order::WeightPerTime) => "ListGraham/LPTF",
            Self::ListGraham(Order::SmallestArea) => "ListGraham/SAF",
        }
    }

    /// Whether shuffles make a difference to it.
    pub const fn shuffles(self) -> bool {
        matches!(self, Self::Demt | Self::DemtPlus)
    }

    /// The schedule of tasks that are all there.
    pub fn schedule(self, problem: &Problem, shuffles: Shuffles) -> Schedule {
        match self {
            Self::Demt => demt(problem, &Estimate::of(problem), shuffles),
            Self::DemtPlus => improved(problem, &Estimate::of(problem), shuffles),
            Self::Gang => gang(problem),
            Self::Sequential => sequential(problem),
            Self::ListGraham(order) => list_graham(problem, &Estimate::of(problem), order),
        }
    }

    /// The schedule of all tasks of an instance, each no earlier than its release ([`online`]).
    pub fn online(self, instance: &MoldableInstance, shuffles: Shuffles) -> Schedule {
        online(instance, |problem| self.schedule(problem, shuffles))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// There is no algorithm of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no algorithm {0:?}; take {known}", known = Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm(String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| UnknownAlgorithm(name.into()))
    }
}

/// Lower bounds for tasks that are all there from time 0 on.
pub fn bounds(problem: &Problem) -> Criteria {
    let estimate = Estimate::of(problem);
    Criteria {
        makespan: estimate.bound,
        weighted_completion: weighted_completion_bound(problem, &estimate),
    }
}

/// Lower bounds for tasks that do not start before their releases: those of tasks that are all
/// there, and what each task takes alone after its release.
pub fn online_bounds(instance: &MoldableInstance) -> Criteria {
    let all = bounds(&instance.problem());
    let tasks = instance.tasks().iter().enumerate();
    let ends = tasks.map(|(place, task)| (place, task.release() + task.fastest().time));
    let alone = Criteria::of(|place| instance.tasks()[place].weight(), ends);
    Criteria {
        makespan: all.makespan.max(alone.makespan),
        weighted_completion: all.weighted_completion.max(alone.weighted_completion),
    }
}
