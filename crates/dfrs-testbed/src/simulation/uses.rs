//! Jobs that use less than they requested, and a dfrs.conf by which they are counted with that;
//! drawn apart: what other seeds draw stays as it is.

use dfrs_core::Span;

use super::draw::Draw;
use super::scenario::{SECOND, TrialScenario};
use crate::model::acts::Act;

/// The line of dfrs.conf.
const MEASURED: &str = "Needs=measured";

/// Makes some jobs of some scenarios such ones, and lets them live long enough for it to be seen.
pub(super) fn draw(seed: u64, scenario: &mut TrialScenario) {
    let mut draw = Draw::new(seed ^ 0x0000_7573_6573);
    if !draw.chance(35) {
        return;
    }
    let always = draw.chance(75);
    add_line(&mut scenario.conf, MEASURED);
    for (_, act) in &mut scenario.acts {
        match act {
            Act::Submit(submission) if draw.chance(70) => {
                let phases = 1 + draw.below(4);
                let percent = |_| draw.one_of(&[5, 10, 15, 25, 40, 60, 100, 100]);
                submission.uses = (0..phases).map(percent).collect();
                let least = draw.one_of(&[0, 0, 200, 500]);
                submission.work = submission.work.max(Span(least * SECOND));
            }
            Act::Configure(conf) if always => add_to_text(conf, MEASURED),
            _ => {}
        }
    }
}

/// Adds the line to a dfrs.conf.
pub(super) fn add_to_text(conf: &mut String, line: &str) {
    let mut lines: Vec<String> = conf.lines().map(str::to_owned).collect();
    add_line(&mut lines, line);
    *conf = lines.join("\n");
}

/// The lines of partitions come last, and the mode first.
pub(super) fn add_line(lines: &mut Vec<String>, line: &str) {
    lines.insert(lines.len().min(1), line.to_owned());
}
