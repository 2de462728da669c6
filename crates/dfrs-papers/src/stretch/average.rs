//! The least average expected stretch.

use dfrs_core::Constraints;

use super::StretchLine;
use components::{ConstraintRow, NOTHING, StretchComponent, YieldCandidate, components};

mod cholesky;
mod components;

/// The search ends when the sum of stretches is known to this part of it, and prices to `EXACT`.
const ACCURACY: f64 = 1e-14;

/// As exact as prices get: rounding is not far below.
const EXACT: f64 = 1e-11;

/// More steps than this gain nothing but rounding; about 10 are usual.
const MAX_STEPS: usize = 80;

/// The part of the way to the nearest bound that a step may go.
const STEP_FRACTION: f64 = 0.999;

/// The yields of the least sum of expected stretches, none being below `least`, where all jobs have
/// the smallest possible maximum stretch.
///
/// The problem is convex and its constraints are linear. Jobs of nodes on which the least yields
/// leave nothing are settled; the others are solved for each set of jobs that are connected by
/// common constraints. O(jobs³ + constraints × jobs there²) for each of some 10 steps in such a
/// set.
pub(super) fn minimise(
    constraints: &Constraints,
    lines: &[StretchLine],
    least: Vec<f64>,
) -> Vec<f64> {
    let mut yields = least;
    for mut component in components(constraints, lines, &yields) {
        let gains = component.solve();
        for (job, gain) in component.jobs.iter().zip(gains) {
            yields[job.index] = gain.map_or(1.0, |gain| (yields[job.index] + gain).min(1.0));
        }
    }
    yields
}

/// Where a search is, or a step of it.
struct Point {
    gains: Vec<f64>,
    /// What constraints, upper bounds of gains, and lower bounds leave, in this order: above 0.
    slack: Vec<f64>,
    /// Prices of each of these: above 0.
    prices: Vec<f64>,
}

impl StretchComponent {
    /// What each job gains; none: all that it can.
    ///
    /// A primal-dual interior-point method: steps of Newton's method for the conditions of
    /// optimality, where the products of what is left and its price, which should be 0, are led to
    /// 0 together. How fast follows from how far a step straight to 0 would go (Mehrotra).
    fn solve(&mut self) -> Vec<Option<f64>> {
        let upper: Vec<f64> = self.jobs.iter().map(|job| job.max_gain).collect();
        self.rows.retain(|row| row.used(&upper) > row.left);
        self.round(&self.search().0)
    }

    /// The best point, and how many steps lead there.
    fn search(&self) -> (Point, usize) {
        let mut point = self.start();
        for steps in 0..MAX_STEPS {
            let gap = point.gap();
            let sum = self.sum(&point);
            let is_exact = gap <= EXACT * EXACT * sum;
            if is_exact || gap <= ACCURACY * sum && self.error(&point) <= EXACT * sum {
                return (point, steps);
            }
            let Some(matrix) = self.factorise(&point) else {
                return (point, steps);
            };
            let straight = self.step(&point, &matrix, 0.0);
            let ahead = point.after(&straight, point.lengths(&straight)).gap() / gap;
            let centre = ahead.powi(3) * gap / real(point.slack.len());
            let step = self.step(&point, &matrix, centre);
            point = point.after(&step, point.lengths(&step));
        }
        (point, MAX_STEPS)
    }

    /// The sum of stretches.
    fn sum(&self, point: &Point) -> f64 {
        let jobs = self.jobs.iter().zip(&point.gains);
        jobs.map(|(job, gain)| job.flow / (job.base + gain)).sum()
    }

    /// A point well within all bounds.
    fn start(&self) -> Point {
        let mut share = vec![0.5f64; self.jobs.len()];
        let upper: Vec<f64> = self.jobs.iter().map(|job| job.max_gain).collect();
        for row in &self.rows {
            for (job, _) in &row.terms {
                share[*job] = share[*job].min(0.5 * row.left / row.used(&upper));
            }
        }
        let gains: Vec<f64> = share
            .iter()
            .zip(&self.jobs)
            .map(|(share, job)| share * job.max_gain)
            .collect();
        let slack = self.slack(&gains);
        let slope =
            |(job, gain): (&YieldCandidate, &f64)| job.flow / (job.base + gain).powi(2) * gain;
        let mean = self.jobs.iter().zip(&gains).map(slope).sum::<f64>() / real(slack.len());
        Point {
            prices: slack.iter().map(|slack| mean / slack).collect(),
            gains,
            slack,
        }
    }

    /// What constraints, upper bounds and lower bounds leave, in this order.
    fn slack(&self, gains: &[f64]) -> Vec<f64> {
        let rows = self.rows.iter().map(|row| row.left - row.used(gains));
        let upper = self
            .jobs
            .iter()
            .zip(gains)
            .map(|(job, gain)| job.max_gain - gain);
        rows.chain(upper).chain(gains.iter().copied()).collect()
    }

    /// What a bit of gain costs each job at these prices of what is left.
    fn costs(&self, prices: &[f64]) -> Vec<f64> {
        let (rows, bounds) = prices.split_at(self.rows.len());
        let (upper, least) = bounds.split_at(self.jobs.len());
        let mut costs: Vec<f64> = upper
            .iter()
            .zip(least)
            .map(|(upper, least)| upper - least)
            .collect();
        for (row, price) in self.rows.iter().zip(rows) {
            for (job, part) in &row.terms {
                costs[*job] += price * part;
            }
        }
        costs
    }

    /// By how much a job's gain costs more or less than it is worth, summed over all jobs.
    fn error(&self, point: &Point) -> f64 {
        let jobs = self
            .jobs
            .iter()
            .zip(&point.gains)
            .zip(self.costs(&point.prices));
        jobs.map(|((job, gain), cost)| {
            (cost - job.flow / (job.base + gain).powi(2)).abs() * job.max_gain
        })
        .sum()
    }

    /// The matrix of Newton's method, as the product of a triangular one and its mirror image.
    fn factorise(&self, point: &Point) -> Option<Vec<f64>> {
        let size = self.jobs.len();
        let mut matrix = vec![0.0; size * size];
        let weights: Vec<f64> = point
            .prices
            .iter()
            .zip(&point.slack)
            .map(|(price, slack)| price / slack)
            .collect();
        for (ConstraintRow { terms, .. }, weight) in self.rows.iter().zip(&weights) {
            for (at, (job, part)) in terms.iter().enumerate() {
                for (other, others) in &terms[..=at] {
                    matrix[job.max(other) * size + job.min(other)] += weight * part * others;
                }
            }
        }
        for (at, (job, gain)) in self.jobs.iter().zip(&point.gains).enumerate() {
            let bounds = weights[self.rows.len() + at] + weights[self.rows.len() + size + at];
            matrix[at * size + at] += 2.0 * job.flow / (job.base + gain).powi(3) + bounds;
        }
        cholesky::factorise(&mut matrix, size).then_some(matrix)
    }

    /// The step after which each product of what is left and its price would be `centre` if
    /// everything were linear.
    fn step(&self, point: &Point, matrix: &[f64], centre: f64) -> Point {
        let pull: Vec<f64> = point.slack.iter().map(|slack| centre / slack).collect();
        let mut gains = self.costs(&pull);
        for ((job, gain), worth) in self.jobs.iter().zip(&point.gains).zip(&mut gains) {
            *worth = job.flow / (job.base + gain).powi(2) - *worth;
        }
        cholesky::solve(matrix, &mut gains);
        let rows = self.rows.iter().map(|row| -row.used(&gains));
        let slack: Vec<f64> = rows
            .chain(gains.iter().map(|gain| -gain))
            .chain(gains.iter().copied())
            .collect();
        let now = point.slack.iter().zip(&point.prices);
        let prices = now
            .zip(&slack)
            .map(|((slack, price), change)| (centre - price * (slack + change)) / slack);
        Point {
            prices: prices.collect(),
            gains,
            slack,
        }
    }

    /// The gains of this point; all that there is where only rounding is missing.
    fn round(&self, point: &Point) -> Vec<Option<f64>> {
        let jobs = self.jobs.iter().zip(&point.gains);
        jobs.map(|(job, gain)| (job.max_gain - gain > NOTHING).then_some(*gain))
            .collect()
    }
}

impl Point {
    /// The sum of what is left times its price.
    fn gap(&self) -> f64 {
        self.slack
            .iter()
            .zip(&self.prices)
            .map(|(slack, price)| slack * price)
            .sum()
    }

    /// How much of the step can be taken, of gains and of prices, so that all stays above 0.
    fn lengths(&self, step: &Self) -> (f64, f64) {
        let upper = |now: &[f64], changes: &[f64]| {
            let bounds = now.iter().zip(changes).filter(|(_, change)| **change < 0.0);
            bounds
                .map(|(now, change)| -STEP_FRACTION * now / change)
                .fold(1.0, f64::min)
        };
        (
            upper(&self.slack, &step.slack),
            upper(&self.prices, &step.prices),
        )
    }

    /// The point after these parts of the step.
    fn after(&self, step: &Self, (gains, prices): (f64, f64)) -> Self {
        let add = |now: &[f64], changes: &[f64], length: f64| {
            now.iter()
                .zip(changes)
                .map(|(now, change)| now + length * change)
                .collect()
        };
        Self {
            gains: add(&self.gains, &step.gains, gains),
            slack: add(&self.slack, &step.slack, gains),
            prices: add(&self.prices, &step.prices, prices),
        }
    }
}

// Precise enough: far below 2^53.
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Jobs of (flow, base, most), all in the constraints that they have a share of.
    fn component(jobs: &[(f64, f64, f64)], rows: &[(f64, &[f64])]) -> StretchComponent {
        let jobs = jobs.iter().enumerate();
        let rows = rows.iter().map(|(left, parts)| ConstraintRow {
            left: *left,
            terms: parts
                .iter()
                .copied()
                .enumerate()
                .filter(|(_, part)| *part > 0.0)
                .collect(),
        });
        StretchComponent {
            jobs: jobs
                .map(|(index, (flow, base, upper))| YieldCandidate {
                    index,
                    flow: *flow,
                    base: *base,
                    max_gain: *upper,
                })
                .collect(),
            rows: rows.collect(),
        }
    }

    /// The gains of one constraint's jobs: where a bit more of the constraint is worth `price` to
    /// each of them, found by halving.
    fn by_price(jobs: &[(f64, f64, f64)], left: f64, parts: &[f64]) -> Vec<f64> {
        let at = |price: f64| -> Vec<f64> {
            let jobs = jobs.iter().zip(parts);
            jobs.map(|((flow, base, upper), part)| {
                ((flow / (price * part)).sqrt() - base).clamp(0.0, *upper)
            })
            .collect()
        };
        let used = |gains: &[f64]| -> f64 {
            gains
                .iter()
                .zip(parts)
                .map(|(gain, part)| gain * part)
                .sum()
        };
        let (mut low, mut high) = (1e-9f64, 1e12f64);
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if used(&at(middle)) > left {
                low = middle;
            } else {
                high = middle;
            }
        }
        at(high)
    }

    #[test]
    fn leftover_goes_where_it_lowers_stretch_most() {
        let mut one = component(&[(1.0, 1.0, 2.0), (4.0, 1.0, 2.0)], &[(1.3, &[1.0, 1.0])]);
        let gains: Vec<f64> = one.solve().into_iter().map(Option::unwrap).collect();
        assert!(
            (gains[0] - 0.1).abs() < 1e-9 && (gains[1] - 1.2).abs() < 1e-9,
            "{gains:?}"
        );
        // The job in the middle takes part in both constraints.
        let middle = 3.0 / (1.0 + 2f64.sqrt()) - 1.0;
        let mut two = component(
            &[(1.0, 1.0, 2.0); 3],
            &[(1.0, &[1.0, 1.0, 0.0]), (1.0, &[0.0, 1.0, 1.0])],
        );
        let gains: Vec<f64> = two.solve().into_iter().map(Option::unwrap).collect();
        for (found, expected) in gains.iter().zip([1.0 - middle, middle, 1.0 - middle]) {
            assert!((found - expected).abs() < 1e-9, "{gains:?}");
        }
    }

    #[test]
    fn gain_is_none_at_the_upper_bound() {
        let mut component = component(&[(100.0, 0.1, 0.5), (1.0, 1.0, 0.9)], &[(1.0, &[1.0, 1.0])]);
        let gains = component.solve();
        assert_eq!(gains[0], None);
        assert!(
            gains[1].is_some_and(|gain| (gain - 0.5).abs() < 1e-9),
            "{gains:?}"
        );
    }

    /// Two jobs that start at gains of 0.5 and 0.125.
    fn pair() -> StretchComponent {
        component(
            &[(9.0, 1.0, 2.0), (2.5, 0.375, 0.5)],
            &[(0.5625, &[0.5, 0.25])],
        )
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert_eq!(found.len(), expected.len());
        assert!(
            found.iter().zip(expected).all(close),
            "{found:?} {expected:?}"
        );
    }

    #[test]
    fn search_starts_with_equal_products_of_slack_and_price() {
        let point = pair().start();
        assert_close(&point.gains, &[0.5, 0.125]);
        assert_close(&point.slack, &[0.28125, 1.5, 0.375, 0.5, 0.125]);
        // What the gains are worth: 9 / 1.5² × 0.5 + 2.5 / 0.5² × 0.125.
        let products = point.slack.iter().zip(&point.prices);
        let products: Vec<f64> = products.map(|(slack, price)| slack * price).collect();
        assert_close(&products, &[3.25 / 5.0; 5]);
    }

    #[test]
    fn point_has_sum_of_stretches_costs_and_error() {
        let component = pair();
        let point = Point {
            prices: vec![6.0, 1.5, 0.25, 0.5, 0.75],
            ..component.start()
        };
        assert_close(&[component.sum(&point)], &[9.0 / 1.5 + 2.5 / 0.5]);
        // The constraint, the upper bound, the lower bound.
        let costs = [6.0 * 0.5 + 1.5 - 0.5, 6.0 * 0.25 + 0.25 - 0.75];
        assert_close(&component.costs(&point.prices), &costs);
        // Gains are worth 4 and 10; the most that there can be are 2 and 0.5.
        assert_close(&[component.error(&point)], &[0.0 * 2.0 + 9.0 * 0.5]);
    }

    #[test]
    fn step_solves_the_linearised_conditions() {
        let component = pair();
        let point = Point {
            prices: vec![6.0, 1.5, 0.25, 0.5, 0.75],
            ..component.start()
        };
        let matrix = component.factorise(&point).unwrap();
        for centre in [0.0, 0.1, 2.0] {
            let step = component.step(&point, &matrix, centre);
            let all = point.slack.iter().zip(&point.prices);
            let changes = step.slack.iter().zip(&step.prices);
            let products: Vec<f64> = all
                .zip(changes)
                .map(|((slack, price), (more, dearer))| {
                    slack * price + more * price + slack * dearer
                })
                .collect();
            assert_close(&products, &[centre; 5]);
            let gains: Vec<f64> = point
                .gains
                .iter()
                .zip(&step.gains)
                .map(|(now, more)| now + more)
                .collect();
            assert_close(
                &component.slack(&gains),
                &point.after(&step, (1.0, 1.0)).slack,
            );
            let worth = component
                .jobs
                .iter()
                .zip(&point.gains)
                .zip(&step.gains)
                .map(|((job, gain), more)| {
                    let reached = job.base + gain;
                    job.flow / reached.powi(2) - 2.0 * job.flow / reached.powi(3) * more
                });
            let paid = component.costs(&point.after(&step, (1.0, 1.0)).prices);
            assert_close(&paid, &worth.collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_decreasing_values_limit_a_step() {
        let point = |slack: &[f64], prices: &[f64]| Point {
            gains: Vec::new(),
            slack: slack.to_vec(),
            prices: prices.to_vec(),
        };
        let now = point(&[1.0, 1.0], &[1.0, 2.0]);
        assert_eq!(now.lengths(&point(&[0.0, 5.0], &[0.0, 0.0])), (1.0, 1.0));
        let (gains, prices) = now.lengths(&point(&[-4.0, -2.0], &[-0.5, -4.0]));
        assert!((gains - STEP_FRACTION / 4.0).abs() < 1e-12);
        assert!((prices - STEP_FRACTION / 2.0).abs() < 1e-12);
    }

    /// Jobs and one constraint that they cannot all gain everything by.
    fn problem() -> impl Strategy<Value = (Vec<(f64, f64, f64)>, Vec<f64>, f64)> {
        let job = (
            1.0f64..50.0,
            0.02f64..20.0,
            0.01f64..0.99,
            prop_oneof![Just(0.25f64), 0.001f64..0.9],
        );
        (proptest::collection::vec(job, 2..12), 0.001f64..0.98).prop_map(|(jobs, share)| {
            let parts: Vec<f64> = jobs.iter().map(|(.., part)| *part).collect();
            let wanted: f64 = jobs.iter().map(|(_, _, upper, part)| upper * part).sum();
            let jobs = jobs
                .into_iter()
                .map(|(flow, base, upper, _)| (flow, base, upper));
            (jobs.collect(), parts, share * wanted)
        })
    }

    proptest! {
        #[test]
        fn few_steps_lead_to_equal_prices((jobs, parts, left) in problem()) {
            let expected = by_price(&jobs, left, &parts);
            let mut component = component(&jobs, &[(left, &parts)]);
            let steps = component.search().1;
            let gains: Vec<f64> = component
                .solve()
                .into_iter()
                .zip(&jobs)
                .map(|(gain, (.., upper))| gain.unwrap_or(*upper))
                .collect();
            let sum = |gains: &[f64]| -> f64 {
                let jobs = jobs.iter().zip(gains);
                jobs.map(|((flow, base, _), gain)| flow / (base + gain)).sum()
            };
            for (found, expected) in gains.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
            prop_assert!(sum(&gains) <= sum(&expected) * (1.0 + 1e-11));
            // At most 21 in thousands of such problems.
            prop_assert!(steps <= 30, "{steps}");
        }
    }
}
