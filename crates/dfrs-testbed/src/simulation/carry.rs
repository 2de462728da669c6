//! Jobs that their nodes can carry, some that only seem so, and partitions whose jobs are carried.
//! Drawn apart: what other seeds draw stays as it is.

use super::draw::Draw;
use super::scenario::TrialScenario;
use crate::model::acts::Act;
use crate::model::{ImageOutcome, JobSubmission};

/// Has some scenarios carry jobs.
pub(super) fn draw(seed: u64, scenario: &mut TrialScenario) {
    let mut draw = Draw::new(seed ^ 0x0000_0063_6172_7279);
    if !draw.chance(30) {
        return;
    }
    for line in &mut scenario.conf {
        let is_partition = line.starts_with("Partition=") && line.contains("Mobility=");
        if is_partition && draw.chance(60) {
            let partition = line.split(' ').next().unwrap_or_default();
            *line = format!("{partition} Mobility=carry");
        }
    }
    for (_, act) in &mut scenario.acts {
        if let Act::Submit(submission) = act {
            carry(&mut draw, submission);
        }
    }
}

/// What its node says of the job, and what comes of it.
fn carry(draw: &mut Draw, submission: &mut JobSubmission) {
    submission.image = draw.one_of(&[
        ImageOutcome::Refused,
        ImageOutcome::Complete,
        ImageOutcome::Complete,
        ImageOutcome::Complete,
        ImageOutcome::Fails,
        ImageOutcome::NotRestored,
    ]);
    if draw.chance(40) {
        submission.job.comment = "dfrs:carry".to_owned();
    }
    // Only jobs on one node are carried.
    if draw.chance(50) {
        submission.job.request.tasks = 1;
    }
}
