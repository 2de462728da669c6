//! What goes wrong in a live simulation.

use std::str::FromStr;

use dfrs_core::{Span, Time};
use dfrs_sim::trace::Trace;
use dfrs_testbed::model::acts::Act;
use dfrs_testbed::simulation::Draw;

use super::cluster::LiveCluster;
use super::named_values;

const MINUTE: Span = Span::from_seconds(60);
/// Seconds for which a slurmctld that was killed is away.
const KILL_DOWNTIME_SECONDS: i64 = 20;
/// A slow node takes so many times as long.
const SLOW_FACTOR: u32 = 10;
/// Of each kind.
const MAX_FAULTS: u32 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultKind {
    Fail,
    Hang,
    Slow,
    Kill,
}

const KINDS: [(&str, FaultKind); 4] = [
    ("fail", FaultKind::Fail),
    ("hang", FaultKind::Hang),
    ("slow", FaultKind::Slow),
    ("kill", FaultKind::Kill),
];

/// How often what goes wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults(Vec<(FaultKind, u32)>);

impl Faults {
    /// Whether slurmctld is killed.
    pub fn kill_slurmctld(&self) -> bool {
        self.0.iter().any(|(kind, _)| *kind == FaultKind::Kill)
    }

    /// Draws faults at random moments from the first submission to the last one, at random nodes. A
    /// fault that hits a node twice at a time is over with its first end.
    pub fn draw(
        &self,
        seed: u64,
        trace: &Trace,
        nodes: u32,
        cluster: &LiveCluster,
    ) -> Vec<(Time, Act)> {
        let submits = || trace.jobs.iter().map(|job| cluster.time(job.submit).0);
        let (first, last) = (submits().min().unwrap_or(0), submits().max().unwrap_or(0));
        let mut draw = Draw::new(seed);
        let mut acts = Vec::new();
        for (kind, count) in &self.0 {
            for _ in 0..*count {
                let at = Time(draw.between(first, last));
                let node = draw.small(nodes);
                let (act, lasts, end) = match kind {
                    FaultKind::Fail => (Act::PowerOff(node), 10, Some(Act::PowerOn(node))),
                    FaultKind::Hang => (Act::Hang(node), 5, Some(Act::Unhang(node))),
                    FaultKind::Slow => (Act::Slow(node, SLOW_FACTOR), 10, Some(Act::Slow(node, 1))),
                    FaultKind::Kill => (Act::Kill(KILL_DOWNTIME_SECONDS), 0, None),
                };
                acts.push((at, act));
                acts.extend(end.map(|end| (Time(at.0 + lasts * MINUTE.0), end)));
            }
        }
        acts
    }
}

impl FromStr for Faults {
    type Err = String;

    /// Reads e.g. `fail=2,kill=1`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut faults = Self::default();
        for (name, count) in named_values(text) {
            let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
                let names = KINDS.map(|(name, _)| name).join(", ");
                return Err(format!(
                    "{name:?} is no kind of fault; allowed: {names}, for example fail=2"
                ));
            };
            let count = count.parse().ok().filter(|count| *count <= MAX_FAULTS);
            let count = count.ok_or_else(|| format!("{name}: allowed: 0 to {MAX_FAULTS}"))?;
            if faults.0.iter().any(|(other, _)| other == kind) {
                return Err(format!("{name} is there twice; give each kind once"));
            }
            faults.0.push((*kind, count));
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_fault_is_one_line() {
        for (text, words) in [
            ("fire=1", "allowed: fail, hang, slow, kill"),
            ("fail", "fail: allowed: 0 to"),
            ("fail=-1", "fail: allowed: 0 to"),
            ("kill=1,kill=1", "kill is there twice"),
        ] {
            let error = text.parse::<Faults>().expect_err(text);
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
        let faults: Faults = "fail=2, kill=1".parse().expect("faults");
        assert!(faults.kill_slurmctld());
    }
}
