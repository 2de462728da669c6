//! Users who want their jobs never to be preempted: a hold on their own running job, and steps
//! without end. Drawn apart: what other seeds draw stays as it is.

use super::draw::Draw;
use super::scenario::TrialScenario;
use crate::model::acts::Act;

/// Makes some jobs of some scenarios such ones.
pub(super) fn draw(seed: u64, scenario: &mut TrialScenario) {
    let mut draw = Draw::new(seed ^ 0x0068_6f73_7469_6c65);
    if !draw.chance(30) {
        return;
    }
    for (_, act) in &mut scenario.acts {
        if let Act::Submit(submission) = act {
            submission.holds = draw.chance(15);
            if draw.chance(30) {
                submission.step_seconds = draw.one_of(&[1, 2, 8, 9, 30]);
            }
        }
    }
}
