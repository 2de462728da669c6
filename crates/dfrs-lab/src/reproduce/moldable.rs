//! The bi-criteria paper (DEMT, SPAA 2004): Figures 3 to 7.

mod claims;
mod measure;
mod report;

use dfrs_moldable_lab::workload::WorkloadModel;

pub use measure::Ratios;
pub use report::write;

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
    /// Title in the report.
    pub title: &'static str,
    /// The tasks; Figure 7 has all.
    pub models: &'static [WorkloadModel],
    /// What the paper says about it.
    pub about: &'static str,
    /// Whether it shows times, not ratios.
    pub is_time: bool,
}

/// All figures of Section 4.2.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "demt-figure-3",
        title: "DEMT, Figure 3: weakly parallel tasks",
        models: &[WorkloadModel::UniformWeak],
        about: "Hardly faster on more processors: the worst case for DEMT, which spends processors on the completion of small tasks \
                without much gain.",
        is_time: false,
    },
    Figure {
        name: "demt-figure-4",
        title: "DEMT, Figure 4: highly parallel tasks",
        models: &[WorkloadModel::UniformHigh],
        about: "Nearly linear speedup. In the paper DEMT is clearly the best for the minsum; Gang is good with few tasks and \
                Sequential with many.",
        is_time: false,
    },
    Figure {
        name: "demt-figure-5",
        title: "DEMT, Figure 5: mixed tasks",
        models: &[WorkloadModel::Mixed],
        about: "Seven of ten tasks small and weakly parallel, the others large and highly parallel. In the paper SAF is better than \
                DEMT, and the two other lists get worse with the number of tasks.",
        is_time: false,
    },
    Figure {
        name: "demt-figure-6",
        title: "DEMT, Figure 6: tasks of the Cirne-Berman model",
        models: &[WorkloadModel::Cirne],
        about: "Downey's speedup. In the paper DEMT clearly outperforms all others for the minsum, and is the only one with a \
                stable ratio.",
        is_time: false,
    },
    Figure {
        name: "demt-figure-7",
        title: "DEMT, Figure 7: execution time",
        models: &WorkloadModel::ALL,
        about: "In the paper less than 2 s for the largest instances, on a processor of 2004. Here the time of DEMT without shuffles, \
                as measured on the machine of this reproduction with other runs beside it.",
        is_time: true,
    },
];
