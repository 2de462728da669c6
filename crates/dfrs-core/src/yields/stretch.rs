//! Yields for the least expected stretch (TPDS, Section 4.7; IPDPS 2010, Section III-B).
//!
//! A job with flow time f and virtual time v that has yield y for the period T is expected to have
//! stretch (f + T) / (v + y T) at its end. Lower is better; it is convenient to look at the
//! inverse, which grows with y: at the inverse stretch s a job needs the yield y(s) = ((f + T) s -
//! v) / T, but at least a little, so that no job holds memory without any progress, and at most 1.

use crate::model::Job;
use crate::policy::Optimisation;
use crate::units::{Span, Time};

use super::constraints::Constraints;
use super::{Placed, heuristic};

mod average;

/// What a job has at least (IPDPS 2010, Section III-B).
pub(crate) const MIN_YIELD: f64 = 0.01;

/// How the yield that a job needs follows from the inverse stretch that is aimed at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchLine {
    /// Flow time at the end of the period, in periods.
    flow: f64,
    /// Virtual time at its start, in periods.
    virtual_time: f64,
    /// What the job gets at least.
    least: f64,
}

impl StretchLine {
    /// The line of the job, which has this virtual time, for the period that starts now.
    pub(crate) fn new(job: &Job, virtual_time: Span, now: Time, period: Span, least: f64) -> Self {
        let period = Span(period.0.max(1));
        let flow = (job.flow_time(now) + period).seconds() / period.seconds();
        let virtual_time = virtual_time.max(Span::ZERO).seconds() / period.seconds();
        Self {
            flow,
            virtual_time,
            least,
        }
    }

    /// The yield at which the expected stretch is 1/`inverse`, within its bounds.
    pub(crate) fn yield_at(&self, inverse: f64) -> f64 {
        (self.flow * inverse - self.virtual_time).clamp(self.least, 1.0)
    }

    /// The inverse of the stretch that is expected at this yield.
    pub(crate) fn inverse_at(&self, share: f64) -> f64 {
        (self.virtual_time + share) / self.flow
    }
}

/// The yields of these jobs.
pub(super) fn allocate(
    constraints: &Constraints,
    placed: &[Placed<'_>],
    optimisation: Optimisation,
    now: Time,
    period: Span,
) -> Vec<f64> {
    let least = constraints.uniform().min(MIN_YIELD);
    let lines: Vec<StretchLine> = placed
        .iter()
        .map(|placed| StretchLine::new(placed.job, placed.virtual_time, now, period, least))
        .collect();
    let mut yields = match optimisation {
        // Stretch never comes with virtual time: no name has both.
        Optimisation::Minimum | Optimisation::Maximum | Optimisation::VirtualTime => {
            min_max(constraints, &lines)
        }
        Optimisation::Uniform => equal(constraints, &lines),
        Optimisation::Average => average::minimise(constraints, &lines, equal(constraints, &lines)),
        Optimisation::Heuristic => {
            heuristic::improve(constraints, placed, equal(constraints, &lines))
        }
    };
    // Yields are differences of times, which are long for jobs that are old.
    constraints.keep(&mut yields);
    yields
}

/// The yields at the smallest expected stretch that all jobs can have.
fn equal(constraints: &Constraints, lines: &[StretchLine]) -> Vec<f64> {
    let settled = vec![None; lines.len()];
    let rows = (0..constraints.len()).map(|row| saturation(constraints, row, lines, &settled));
    let level = rows.fold(f64::INFINITY, f64::min);
    lines.iter().map(|line| line.yield_at(level)).collect()
}

/// Progressive filling: the inverse stretches of all jobs rise together until a constraint binds,
/// which settles its jobs; then those of the others. Where a constraint binds is computed again
/// only after one of its jobs settled. O(levels × constraints + changes of constraints × jobs
/// there).
fn min_max(constraints: &Constraints, lines: &[StretchLine]) -> Vec<f64> {
    let mut settled: Vec<Option<f64>> = vec![None; lines.len()];
    let mut rows: Vec<usize> = (0..constraints.len()).collect();
    let mut levels = vec![0.0; constraints.len()];
    let mut is_known = vec![false; constraints.len()];
    while !rows.is_empty() {
        for row in &rows {
            if !std::mem::replace(&mut is_known[*row], true) {
                levels[*row] = saturation(constraints, *row, lines, &settled);
            }
        }
        let level = rows
            .iter()
            .map(|row| levels[*row])
            .fold(f64::INFINITY, f64::min);
        if level.is_infinite() {
            break;
        }
        let binding = |at: f64| at <= level * (1.0 + 1e-12);
        for row in rows.iter().filter(|row| binding(levels[**row])) {
            for (job, _) in constraints.members(*row) {
                let share = &mut settled[*job as usize];
                if share.is_some() {
                    continue;
                }
                *share = Some(lines[*job as usize].yield_at(level));
                for (other, _) in constraints.places(*job as usize) {
                    is_known[*other as usize] = false;
                }
            }
        }
        rows.retain(|row| !binding(levels[*row]) && levels[*row].is_finite());
    }
    settled
        .into_iter()
        .map(|share| share.unwrap_or(1.0))
        .collect()
}

/// The inverse stretch at which the constraint binds when its jobs that are not settled rise;
/// infinite if it never does.
#[expect(clippy::cast_precision_loss, reason = "shares are real numbers")]
fn saturation(
    constraints: &Constraints,
    row: usize,
    lines: &[StretchLine],
    settled: &[Option<f64>],
) -> f64 {
    let mut free = constraints.capacity[row] as f64;
    // Where needs begin and cease to rise: the level, and by how much the rate changes.
    let mut turns: Vec<(f64, f64)> = Vec::new();
    let mut missing = 0.0;
    for (job, need) in constraints.members(row) {
        let (line, need) = (&lines[*job as usize], *need as f64);
        if let Some(share) = settled[*job as usize] {
            free -= share * need;
        } else {
            free -= line.least * need;
            missing += (1.0 - line.least) * need;
            turns.push((line.inverse_at(line.least), line.flow * need));
            turns.push((line.inverse_at(1.0), -line.flow * need));
        }
    }
    if missing <= free {
        return f64::INFINITY;
    }
    turns.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let (mut level, mut rate) = (0.0, 0.0);
    for (turn, change) in turns {
        let risen = rate * (turn - level);
        if risen >= free {
            return if rate > 0.0 {
                level + free.max(0.0) / rate
            } else {
                level
            };
        }
        free -= risen;
        (level, rate) = (turn, rate + change);
    }
    level
}
