//! Partitions of moldable jobs, drawn apart: what other seeds draw stays as it is.

use dfrs_core::Span;

use super::draw::Draw;
use super::scenario::{NodeGroup, SECOND, TrialScenario};
use crate::model::JobSubmission;
use crate::model::acts::Act;
use dfrs_agent::slurm::records::ObservedJob;

/// Makes some partitions of the scenario moldable, for good or for a while, and their jobs, too.
pub(super) fn draw(seed: u64, scenario: &mut TrialScenario) {
    let mut draw = Draw::new(seed ^ 0x006d_6f6c_6461_626c);
    for nodes in scenario.nodes.clone() {
        if !draw.chance(30) {
            continue;
        }
        for (_, act) in &mut scenario.acts {
            if let Act::Submit(submission) = act {
                make_moldable(&mut draw, submission, &nodes);
            }
        }
        let line = format!(
            "Partition={} Policy=DEMT LinearSpeedup={}",
            nodes.partition,
            1 + draw.small(8)
        );
        let before = scenario.conf.clone();
        let changed: Vec<String> = before
            .iter()
            .map(|old| changed(old, &nodes, &line))
            .collect();
        if draw.chance(25) {
            // One kind of partition becomes the other.
            let at = Span(draw.between(10, 150) * SECOND);
            let (first, then) = if draw.chance(50) {
                (before, changed)
            } else {
                (changed, before)
            };
            scenario.conf = first;
            scenario.acts.push((at, Act::Configure(then.join("\n"))));
        } else {
            scenario.conf = changed;
            for (_, act) in &mut scenario.acts {
                if let Act::Configure(conf) = act {
                    let lines = conf.lines().map(|old| self::changed(old, &nodes, &line));
                    *conf = lines.collect::<Vec<_>>().join("\n");
                }
            }
        }
    }
}

/// The line of dfrs.conf, if it is not about these nodes; else the other one.
fn changed(old: &str, nodes: &NodeGroup, line: &str) -> String {
    let is_theirs = old.starts_with(&format!("Partition={} ", nodes.partition));
    if is_theirs { line } else { old }.to_owned()
}

/// Makes a job of these nodes one that fits on all of them but one, whole, and mostly moldable.
fn make_moldable(draw: &mut Draw, submission: &mut JobSubmission, nodes: &NodeGroup) {
    let job = &mut submission.job;
    if job.partition != nodes.partition {
        return;
    }
    let others = nodes.count.saturating_sub(1).max(1);
    let by_memory = u32::try_from(nodes.memory_mib / job.request.memory.max(1)).unwrap_or(u32::MAX);
    let holds = nodes.cpus.min(by_memory).max(1);
    job.request.tasks = job.request.tasks.min(holds * others);
    let min = 1 + draw.small(others);
    let max = min + draw.small(nodes.count - min + 1);
    match draw.below(4) {
        0 => {}
        1 => {
            job.request.min_nodes = min.min(job.request.tasks);
            job.request.max_nodes = max
                .min(job.request.tasks)
                .max(job.request.tasks.div_ceil(holds));
            job.request.max_nodes = job.request.max_nodes.max(job.request.min_nodes);
        }
        _ => by_nodes(draw, job, (min, max), holds),
    }
    if job.comment.is_empty() && draw.chance(40) {
        let words = ["downey,3,0.5", "downey,8,2", "1,1.5,1.8", "nonsense"];
        job.comment = format!("dfrs:speedup={}", draw.one_of(&words));
    }
}

fn by_nodes(draw: &mut Draw, job: &mut ObservedJob, (min, max): (u32, u32), holds: u32) {
    (job.request.min_nodes, job.request.max_nodes) = (min, max);
    job.request.tasks_per_node = draw.small(holds.min(3) + 1);
    job.request.sized_by_nodes = true;
    job.request.tasks = job.request.task_range().0;
}
