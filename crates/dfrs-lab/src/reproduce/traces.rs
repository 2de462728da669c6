//! The papers' traces: synthetic ones by their seeds, and the weeks of the HPC2N workload.

mod hpc2n;
mod set;

use std::path::Path;

use dfrs_sim::generate::Lublin;
use dfrs_sim::trace::Trace;

use hpc2n::{HPC2N_NODES, Hpc2nTrace};
pub use set::{TraceId, TraceSet};

/// Number of nodes of the synthetic traces' machine.
const SYNTHETIC_NODES: u32 = 128;
/// How many synthetic traces the papers have.
pub const ALL_TRACES: u32 = 100;

/// All traces of one reproduction.
pub struct Traces {
    model: Lublin,
    seed: u64,
    count: u32,
    hpc2n: Option<Hpc2nTrace>,
}

impl Traces {
    /// So many synthetic traces of so many jobs, beginning with this seed, and as large a part of the
    /// weeks of the HPC2N trace, evenly spread.
    pub fn new(seed: u64, count: u32, jobs: usize, hpc2n: Option<&Path>) -> Result<Self, String> {
        Ok(Self {
            model: Lublin {
                jobs,
                nodes: SYNTHETIC_NODES,
                ..Lublin::default()
            },
            seed,
            count,
            hpc2n: hpc2n
                .map(|path| Hpc2nTrace::read(path, count))
                .transpose()?,
        })
    }

    /// The traces of a set; none of HPC2N without its trace. The whole of HPC2N belongs to a full
    /// reproduction only.
    pub fn of(&self, set: TraceSet) -> Vec<TraceId> {
        let scaled = |loads: std::ops::RangeInclusive<u8>| {
            let numbers = 0..self.count;
            numbers
                .flat_map(|number| loads.clone().map(move |load| TraceId::Scaled(number, load)))
                .collect()
        };
        match (set, &self.hpc2n) {
            (TraceSet::Unscaled, _) => (0..self.count).map(TraceId::Unscaled).collect(),
            (TraceSet::Scaled, _) => scaled(1..=9),
            (TraceSet::Load(tenths), _) => scaled(tenths..=tenths),
            (TraceSet::Heavy, _) => scaled(7..=9),
            (TraceSet::Weeks, Some(real)) => {
                real.chosen.iter().copied().map(TraceId::Week).collect()
            }
            (TraceSet::Whole, Some(_)) if self.is_full() => vec![TraceId::Whole],
            (TraceSet::Weeks | TraceSet::Whole, _) => Vec::new(),
        }
    }

    /// Whether as many traces are simulated as in the papers.
    pub const fn is_full(&self) -> bool {
        self.count >= ALL_TRACES
    }

    /// Whether there is a HPC2N trace.
    pub const fn has_hpc2n(&self) -> bool {
        self.hpc2n.is_some()
    }

    /// The trace and its number of nodes.
    pub fn get(&self, id: TraceId) -> Result<(Trace, u32), String> {
        let seed = |number: u32| self.seed.wrapping_add(u64::from(number));
        let synthetic = match (id, &self.hpc2n) {
            (TraceId::Unscaled(number), _) => self.model.trace(seed(number)),
            (TraceId::Scaled(number, tenths), _) => self
                .model
                .trace_at_load(seed(number), f64::from(tenths) / 10.0)
                .map_err(|error| format!("synthetic trace {number} at load 0.{tenths}: {error}"))?,
            (TraceId::Week(week), Some(real)) => return Ok((real.week(week)?, HPC2N_NODES)),
            (TraceId::Whole, Some(real)) => return Ok((real.whole.clone(), HPC2N_NODES)),
            (TraceId::Week(_) | TraceId::Whole, None) => {
                return Err("no HPC2N trace is given".into());
            }
        };
        Ok((synthetic, SYNTHETIC_NODES))
    }

    /// What a trace is made from: everything that its content depends on beside its id.
    pub fn source(&self, id: TraceId) -> String {
        match (id, &self.hpc2n) {
            (TraceId::Unscaled(_) | TraceId::Scaled(..), _) => {
                format!("seed {}, {} jobs", self.seed, self.model.jobs)
            }
            (_, Some(real)) => real.digest.clone(),
            (_, None) => String::new(),
        }
    }

    /// What people should know about the traces, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let Some(real) = &self.hpc2n else {
            return vec![
                "The parts on HPC2N are left out: its trace may not be redistributed. Get \
                 HPC2N-2002-2.1-cln.swf.gz from the Parallel Workloads Archive \
                 (www.cs.huji.ac.il/labs/parallel/workload) and give it with --trace."
                    .into(),
            ];
        };
        real.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_sets_have_the_sizes_of_the_papers() {
        let traces = Traces::new(1, 100, 1000, None).expect("no file");
        assert_eq!(traces.of(TraceSet::Unscaled).len(), 100);
        assert_eq!(traces.of(TraceSet::Scaled).len(), 900);
        assert_eq!(traces.of(TraceSet::Heavy).len(), 300);
        assert_eq!(traces.of(TraceSet::Load(4)).len(), 100);
        assert!(traces.of(TraceSet::Weeks).is_empty());
        assert!(traces.is_full() && traces.notes()[0].contains("--trace"));
    }

    #[test]
    fn scaled_trace_has_its_offered_load() {
        let traces = Traces::new(3, 2, 300, None).expect("no file");
        for tenths in [1, 9] {
            let (trace, nodes) = traces.get(TraceId::Scaled(1, tenths)).expect("a trace");
            let load = dfrs_sim::generate::offered_load(&trace, nodes).expect("a load");
            assert!((load - f64::from(tenths) / 10.0).abs() < 0.001, "{load}");
        }
        let (first, _) = traces.get(TraceId::Unscaled(1)).expect("a trace");
        let again = Traces::new(4, 1, 300, None).expect("no file");
        assert_eq!(again.get(TraceId::Unscaled(0)).expect("a trace").0, first);
    }
}
