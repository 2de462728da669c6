//! Yields for the least expected stretch (TPDS, Section 4.7; IPDPS 2010, Section III-B).
//!
//! A job with flow time f and virtual time v that has yield y for the period T is expected to have
//! stretch (f + T) / (v + y T) at its end. Lower is better; it is convenient to look at the
//! inverse, which grows with y: at the inverse stretch s a job needs the yield y(s) = ((f + T) s -
//! v) / T, but at least a little, so that no job holds memory without any progress, and at most 1.

use dfrs_core::{Constraints, Job, Placed, Span, Time};

use crate::heuristic;

mod average;
mod search;

pub(crate) use search::search;

/// What CPU is allocated for, once jobs are mapped for the lowest maximum stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StretchGoal {
    /// No `OPT=`: every job is expected to have the smallest stretch that all can have.
    Equal,
    /// `OPT=AVG`: the average expected stretch is as small as possible, none being above the
    /// smallest possible maximum.
    Average,
    /// `OPT=MAX`: the largest expected stretch is as small as possible, then the next largest, and
    /// so on (TPDS, Section 4.7).
    Maximum,
    /// From [`Self::Equal`], what CPU is left goes to one job after the other, as in
    /// [`crate::PaperGoal::Heuristic`].
    Heuristic,
}

/// What a job has at least (IPDPS 2010, Section III-B).
const MIN_YIELD: f64 = 0.01;

/// How the yield that a job needs follows from the inverse stretch that is aimed at.
#[derive(Clone, Copy, Debug)]
struct StretchLine {
    /// Flow time at the end of the period, in periods.
    flow: f64,
    /// Virtual time at its start, in periods.
    virtual_time: f64,
    /// What the job gets at least.
    least: f64,
}

impl StretchLine {
    /// The line of the job, which has this virtual time, for the period that starts now.
    fn new(job: &Job, virtual_time: Span, now: Time, period: Span, least: f64) -> Self {
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
    fn yield_at(&self, inverse: f64) -> f64 {
        (self.flow * inverse - self.virtual_time).clamp(self.least, 1.0)
    }

    /// The inverse of the stretch that is expected at this yield.
    fn inverse_at(&self, share: f64) -> f64 {
        (self.virtual_time + share) / self.flow
    }
}

/// The yields of these jobs: each job's expected stretch is that at `now` plus the period, its
/// yield lasting till then. No yield is below 0.01, or 1/max(1, Λ) if that is less; weights play no
/// part.
pub(crate) fn allocate(
    constraints: &Constraints,
    placed: &[Placed<'_>],
    goal: StretchGoal,
    now: Time,
    period: Span,
) -> Vec<f64> {
    let least = constraints.uniform().min(MIN_YIELD);
    let lines: Vec<StretchLine> = placed
        .iter()
        .map(|placed| StretchLine::new(placed.job, placed.virtual_time, now, period, least))
        .collect();
    let mut yields = match goal {
        StretchGoal::Maximum => min_max(constraints, &lines),
        StretchGoal::Equal => equal(constraints, &lines),
        StretchGoal::Average => average::minimise(constraints, &lines, equal(constraints, &lines)),
        StretchGoal::Heuristic => {
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
    let rows = (0..constraints.rows()).map(|row| saturation(constraints, row, lines, &settled));
    let level = rows.fold(f64::INFINITY, f64::min);
    lines.iter().map(|line| line.yield_at(level)).collect()
}

/// Progressive filling: the inverse stretches of all jobs rise together until a constraint binds,
/// which settles its jobs; then those of the others. Where a constraint binds is computed again
/// only after one of its jobs settled. O(levels × constraints + changes of constraints × jobs
/// there).
fn min_max(constraints: &Constraints, lines: &[StretchLine]) -> Vec<f64> {
    let mut settled: Vec<Option<f64>> = vec![None; lines.len()];
    let mut rows: Vec<usize> = (0..constraints.rows()).collect();
    let mut levels = vec![0.0; constraints.rows()];
    let mut is_known = vec![false; constraints.rows()];
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
// Precise enough: shares are real numbers.
fn saturation(
    constraints: &Constraints,
    row: usize,
    lines: &[StretchLine],
    settled: &[Option<f64>],
) -> f64 {
    let mut free = constraints.capacity(row) as f64;
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
