//! What goes wrong in a live simulation.

use std::str::FromStr;

use dfrs_agent::model::acts::Act;
use dfrs_agent::simulation::Draw;
use dfrs_core::{Span, Time};
use dfrs_sim::trace::Trace;

use super::cluster::Cluster;

const MINUTE: Span = Span::from_seconds(60);
/// Seconds for which a slurmctld that was killed is away.
const AWAY: i64 = 20;
/// A slow node takes so many times as long.
const SLOWNESS: u32 = 10;
/// Of each kind.
const MOST: u32 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fail,
    Hang,
    Slow,
    Kill,
}

const KINDS: [(&str, Kind); 4] = [
    ("fail", Kind::Fail),
    ("hang", Kind::Hang),
    ("slow", Kind::Slow),
    ("kill", Kind::Kill),
];

/// How often what goes wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults(Vec<(Kind, u32)>);

impl Faults {
    /// Whether slurmctld is killed.
    pub fn kill_slurmctld(&self) -> bool {
        self.0.iter().any(|(kind, _)| *kind == Kind::Kill)
    }

    /// At random moments from the first submission to the last one, at random nodes. What a node suffers
    /// once more while it suffers is over with the first end of it.
    pub fn draw(
        &self,
        seed: u64,
        trace: &Trace,
        nodes: u32,
        cluster: &Cluster,
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
                    Kind::Fail => (Act::PowerOff(node), 10, Some(Act::PowerOn(node))),
                    Kind::Hang => (Act::Hang(node), 5, Some(Act::Unhang(node))),
                    Kind::Slow => (Act::Slow(node, SLOWNESS), 10, Some(Act::Slow(node, 1))),
                    Kind::Kill => (Act::Kill(AWAY), 0, None),
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
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (name, count) = part.split_once('=').unwrap_or((part, ""));
            let name = name.trim();
            let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
                let names = KINDS.map(|(name, _)| name).join(", ");
                return Err(format!(
                    "{name:?} is no kind of fault; allowed: {names}, for example fail=2"
                ));
            };
            let count = count.trim().parse().ok().filter(|count| *count <= MOST);
            let count = count.ok_or_else(|| format!("{name}: allowed: 0 to {MOST}"))?;
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
    fn what_is_no_fault_is_one_line() {
        for (text, words) in [
            ("fire=1", "allowed: fail, hang, slow, kill"),
            ("fail", "fail: allowed: 0 to"),
            ("fail=-1", "fail: allowed: 0 to"),
            ("kill=1,kill=1", "kill is there twice"),
        ] {
            let told = text.parse::<Faults>().expect_err(text);
            assert!(told.contains(words) && !told.contains('\n'), "{told}");
        }
        let faults: Faults = "fail=2, kill=1".parse().expect("faults");
        assert!(faults.kill_slurmctld());
    }
}
