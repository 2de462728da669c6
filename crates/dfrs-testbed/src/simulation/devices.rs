//! Nodes with devices (GRES), jobs that ask for them, and others that take some; drawn apart: what
//! other seeds draw stays as it is.

use dfrs_core::Span;

use super::draw::Draw;
use super::scenario::{NodeGroup, SECOND, TrialScenario};
use crate::model::acts::Act;
use crate::model::{JobSubmission, counted};
use dfrs_agent::slurm::devices::{ObservedDevices, RequestedDevices};

/// What nodes have.
const GRES: [&[(&str, u64)]; 5] = [
    &[("gpu", 2)],
    &[("gpu", 4)],
    &[("gpu:a100", 1), ("gpu:v100", 1)],
    &[("gpu:a100", 2), ("gpu:v100", 2)],
    &[("gpu", 2), ("nic", 1)],
];
/// Others come within this.
const BUSY_SECONDS: i64 = 150;

/// Gives the nodes of some scenarios devices, and has half of the jobs there ask for some.
pub(super) fn draw(seed: u64, scenario: &mut TrialScenario) {
    let mut draw = Draw::new(seed ^ 0x0064_6576_6963_6573);
    if !draw.chance(35) {
        return;
    }
    for nodes in &mut scenario.nodes {
        let gres = draw.one_of(&GRES).iter().copied();
        let gres = gres.map(|(kind, count)| RequestedDevices {
            kind: kind.into(),
            count,
        });
        nodes.devices = gres.collect();
    }
    for (_, act) in &mut scenario.acts {
        if let Act::Submit(submission) = act
            && draw.chance(50)
        {
            ask(&mut draw, submission, &scenario.nodes);
        }
    }
    if draw.chance(40) {
        take(&mut draw, scenario);
    }
}

/// Has the job ask for devices of one kind, or of two, that its nodes have, some for so long that
/// another one's wait beside it is noticed.
fn ask(draw: &mut Draw, submission: &mut JobSubmission, nodes: &[NodeGroup]) {
    let job = &mut submission.job;
    let Some(nodes) = nodes.iter().find(|nodes| nodes.partition == job.partition) else {
        return;
    };
    let kinds = counted(&nodes.devices);
    let first = draw.one_of(&kinds);
    let mut asked = vec![some(draw, &first)];
    let name = |kind: &str| kind.split(':').next().unwrap_or(kind).to_owned();
    let other = kinds
        .iter()
        .find(|other| name(&other.kind) != name(&first.kind));
    if let Some(other) = other.filter(|_| draw.chance(50)) {
        asked.push(some(draw, other));
    }
    job.request.devices = asked;
    let least = draw.one_of(&[0, 0, 600]);
    submission.work = submission.work.max(Span(least * SECOND));
}

/// One of them, or some, or all.
fn some(draw: &mut Draw, devices: &ObservedDevices) -> RequestedDevices {
    let count = if draw.chance(60) {
        1
    } else {
        1 + draw.below(devices.count)
    };
    RequestedDevices {
        kind: devices.kind.clone(),
        count,
    }
}

/// Jobs of a partition that DFRS does not schedule come and go on nodes that are in no partition of
/// moldable jobs.
fn take(draw: &mut Draw, scenario: &mut TrialScenario) {
    let count = scenario.nodes.iter().map(|nodes| nodes.count).sum();
    if scenario.to_string().contains("Policy=DEMT") {
        return;
    }
    for _ in 0..1 + draw.below(4) {
        let at = draw.between(0, BUSY_SECONDS) * SECOND;
        let later = at + draw.between(1, 90) * SECOND;
        let node = draw.small(count);
        let start = Act::StartOther(node, 1 + draw.small(2));
        scenario.acts.push((Span(at), start));
        scenario.acts.push((Span(later), Act::EndOther(node)));
    }
}

/// Whether each of these nodes has so many devices.
pub(super) fn has_enough(nodes: &NodeGroup, asked: &[RequestedDevices]) -> bool {
    let counted = counted(&nodes.devices);
    asked.iter().all(|asked| {
        let devices = counted.iter().find(|devices| devices.kind == asked.kind);
        devices.is_some_and(|devices| devices.count >= asked.count)
    })
}
