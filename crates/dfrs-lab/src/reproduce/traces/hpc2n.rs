//! The HPC2N trace, as a whole and by weeks.

use std::path::{Path, PathBuf};

use dfrs_sim::trace::{Model, Trace, read_file};
use dfrs_sim::{Batch, Scheduler, never_fits};

use super::ALL_TRACES;
use crate::runs::digest;
use crate::weeks;

/// Number of its nodes, dual-core ones.
pub(super) const HPC2N_NODES: u32 = 120;
/// How many jobs the papers' version of the trace has.
const HPC2N_JOBS: usize = 202_876;

/// The HPC2N trace.
pub(super) struct Hpc2nTrace {
    path: PathBuf,
    pub whole: Trace,
    weeks: Vec<Trace>,
    /// The weeks that are simulated.
    pub chosen: Vec<u32>,
    pub digest: String,
    left_out: usize,
}

impl Hpc2nTrace {
    /// As large a part of its weeks as `count` is of all synthetic traces, evenly spread.
    pub fn read(path: &Path, count: u32) -> Result<Self, String> {
        let in_file = |what: String| format!("{}: {what}", path.display());
        let reading =
            read_file(path, Model::Hpc2n, false).map_err(|error| in_file(error.to_string()))?;
        let mut whole = reading.trace;
        let before = whole.jobs.len();
        let batch = Scheduler::Batch(Batch::ALL[0]);
        let shared = Scheduler::Dfrs(dfrs_core::Policy::recommended());
        whole.jobs.retain(|job| {
            [&batch, &shared]
                .iter()
                .all(|scheduler| never_fits(job, scheduler, HPC2N_NODES, None).is_none())
        });
        let left_out = before - whole.jobs.len();
        let weeks = weeks::split(&whole);
        if weeks.is_empty() {
            return Err(in_file("has no job that fits; give the HPC2N trace".into()));
        }
        let all = u64::try_from(weeks.len()).unwrap_or(u64::MAX);
        let wanted = (all * u64::from(count))
            .div_ceil(u64::from(ALL_TRACES))
            .clamp(1, all);
        let chosen = (0..wanted)
            .filter_map(|place| u32::try_from(place * all / wanted).ok())
            .collect();
        Ok(Self {
            path: path.into(),
            digest: digest(&whole),
            whole,
            weeks,
            chosen,
            left_out,
        })
    }

    /// The jobs of a week.
    pub fn week(&self, week: u32) -> Result<Trace, String> {
        usize::try_from(week)
            .ok()
            .and_then(|week| self.weeks.get(week))
            .cloned()
            .ok_or_else(|| format!("{}: has no week {week}", self.path.display()))
    }

    /// What people should know about it, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let path = self.path.display();
        let jobs = self.whole.jobs.len() + self.left_out;
        if jobs != HPC2N_JOBS {
            notes.push(format!(
                "{path} has {jobs} jobs; the papers' trace has {HPC2N_JOBS}: what follows is not comparable with them."
            ));
        }
        if self.left_out > 0 {
            notes.push(format!(
                "{} jobs of HPC2N are left out for all policies: they have more tasks than there are nodes, and batch \
                 schedulers give each task a node.",
                self.left_out
            ));
        }
        notes
    }
}
