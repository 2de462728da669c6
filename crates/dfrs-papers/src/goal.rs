//! The goals, as dfrs-core takes them.

use dfrs_core::{
    Constraints, FurtherGoal, MappingSearch, Optimisation, Placed, Policy, PolicyError, Span, Time,
};

use crate::stretch::StretchGoal;
use crate::{average, heuristic, ipdps, stretch};

/// What CPU is allocated for, and jobs are mapped for, in the papers' experiments alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperGoal {
    /// `OPT=AVG`: the average yield is as large as possible, no yield being below that of
    /// [`Optimisation::Uniform`].
    Average,
    /// The average-yield heuristic of the IPDPS 2010 paper (Section III-A): from 1/max(1, Λ), the
    /// jobs with unused CPU on all their nodes get as much more as there is, the job with the
    /// lowest total need first.
    Heuristic,
    /// `/stretch-per`: all jobs are remapped by MCB8-stretch for the lowest maximum stretch that is
    /// expected at the end of the period (TPDS, Section 4.7).
    Stretch(StretchGoal),
}

impl PaperGoal {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Average,
        Self::Heuristic,
        Self::Stretch(StretchGoal::Equal),
        Self::Stretch(StretchGoal::Average),
        Self::Stretch(StretchGoal::Maximum),
        Self::Stretch(StretchGoal::Heuristic),
    ];

    /// The goal of the policy, if it is one of these.
    pub fn of(policy: &Policy) -> Option<Self> {
        let Optimisation::Further(goal) = policy.optimisation else {
            return None;
        };
        Self::ALL.into_iter().find(|own| own.id() == goal.id())
    }

    /// The goal, as a policy has it.
    pub const fn optimisation(self) -> Optimisation {
        Optimisation::Further(match self {
            Self::Average => &Self::Average,
            Self::Heuristic => &Self::Heuristic,
            Self::Stretch(StretchGoal::Equal) => &Self::Stretch(StretchGoal::Equal),
            Self::Stretch(StretchGoal::Average) => &Self::Stretch(StretchGoal::Average),
            Self::Stretch(StretchGoal::Maximum) => &Self::Stretch(StretchGoal::Maximum),
            Self::Stretch(StretchGoal::Heuristic) => &Self::Stretch(StretchGoal::Heuristic),
        })
    }

    /// What follows `OPT=` in names.
    const fn word(self) -> Option<&'static str> {
        match self {
            Self::Average | Self::Stretch(StretchGoal::Average) => Some("AVG"),
            Self::Stretch(StretchGoal::Maximum) => Some("MAX"),
            Self::Heuristic | Self::Stretch(StretchGoal::Equal | StretchGoal::Heuristic) => None,
        }
    }
}

impl FurtherGoal for PaperGoal {
    fn id(&self) -> &'static str {
        match self {
            Self::Average => "average",
            Self::Heuristic => "heuristic",
            Self::Stretch(StretchGoal::Equal) => "stretch",
            Self::Stretch(StretchGoal::Average) => "average stretch",
            Self::Stretch(StretchGoal::Maximum) => "maximum stretch",
            Self::Stretch(StretchGoal::Heuristic) => "heuristic stretch",
        }
    }

    fn name(&self, policy: &Policy) -> String {
        ipdps::name(policy).unwrap_or_else(|| {
            let periodic = matches!(self, Self::Stretch(_)).then_some("stretch-per");
            policy.name_with(periodic, self.word())
        })
    }

    fn read(&self, name: &str) -> Result<Policy, PolicyError> {
        crate::policy(name)
    }

    fn yields(
        &self,
        constraints: &Constraints,
        placed: &[Placed<'_>],
        now: Time,
        period: Span,
    ) -> Vec<f64> {
        match self {
            Self::Average => average::maximise(constraints),
            Self::Heuristic => {
                let equal = vec![constraints.uniform(); placed.len()];
                heuristic::improve(constraints, placed, equal)
            }
            Self::Stretch(goal) => stretch::allocate(constraints, placed, *goal, now, period),
        }
    }

    /// `OPT=AVG` and the heuristic map jobs for the highest minimum yield.
    fn search(&self) -> Option<MappingSearch> {
        matches!(self, Self::Stretch(_)).then_some(stretch::search as MappingSearch)
    }
}
