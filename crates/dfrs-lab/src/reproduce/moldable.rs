//! The bi-criteria paper (DEMT, SPAA 2004): Figures 3 to 7.

mod claims;
mod measure;
mod report;

use dfrs_moldable_lab::workload::WorkloadModel;

pub use measure::Ratios;
pub use report::write;

/// The names of the claims that are checked.
#[cfg(test)]
pub fn claim_names() -> impl Iterator<Item = &'static str> {
    claims::CLAIMS.iter().map(|(name, _)| *name)
}

/// Runs for each number of tasks in the paper.
pub const ALL_RUNS: u32 = 40;

/// Number of processors.
const PROCESSORS: u32 = 200;

/// Numbers of tasks.
const TASKS: &[u32] = &[25, 50, 100, 150, 200, 250, 300, 350, 400];

/// A figure: ratios over the number of tasks of one model.
pub struct Figure {
    /// Its name for `--only`, and the name of its files.
    pub name: &'static str,
    /// The tasks; Figure 7 has all.
    pub models: &'static [WorkloadModel],
    /// Whether it shows times, not ratios.
    pub is_time: bool,
}

/// All figures of Section 4.2.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "demt-figure-3",
        models: &[WorkloadModel::UniformWeak],
        is_time: false,
    },
    Figure {
        name: "demt-figure-4",
        models: &[WorkloadModel::UniformHigh],
        is_time: false,
    },
    Figure {
        name: "demt-figure-5",
        models: &[WorkloadModel::Mixed],
        is_time: false,
    },
    Figure {
        name: "demt-figure-6",
        models: &[WorkloadModel::Cirne],
        is_time: false,
    },
    Figure {
        name: "demt-figure-7",
        models: &WorkloadModel::ALL,
        is_time: true,
    },
];
