//! A ceiling on the load of nodes; drawn apart: what other seeds draw stays as it is.

use super::draw::Draw;
use super::scenario::TrialScenario;
use super::uses::{add_line, add_to_text};
use crate::model::acts::Act;

/// Gives some scenarios a load ceiling, and sees to it that all jobs can keep below it on their
/// partition without one of its nodes: Slurm would not take others.
pub(super) fn draw(seed: u64, scenario: &mut TrialScenario) {
    let mut draw = Draw::new(seed ^ 0x0063_6569_6c65);
    if !draw.chance(15) {
        return;
    }
    let ceiling = draw.one_of(&["100%", "100%", "150%", "200%"]);
    let line = format!("LoadCeiling={ceiling}");
    add_line(&mut scenario.conf, &line);
    for (_, act) in &mut scenario.acts {
        match act {
            Act::Submit(submission) => {
                let own = |partition: &str| partition == submission.job.partition;
                let nodes = scenario.nodes.iter().find(|nodes| own(&nodes.partition));
                let cpus = nodes.map_or(1, |nodes| nodes.cpus * nodes.count.saturating_sub(1));
                let each = submission.job.request.cpus_per_task.max(1);
                submission.job.request.tasks = submission.job.request.tasks.min(cpus / each).max(1);
            }
            Act::Configure(conf) if draw.chance(75) => add_to_text(conf, &line),
            _ => {}
        }
    }
}
