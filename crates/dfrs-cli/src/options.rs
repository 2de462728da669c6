//! Values of options that several commands have.

use std::fmt::Display;
use std::str::FromStr;

use dfrs_core::{LeastYield, LoadCeiling, Span};
use dfrs_sim::trace::MOST_SECONDS;

/// Seconds, 0 or more.
pub fn seconds(text: &str) -> Result<Span, String> {
    match text.parse::<f64>() {
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // in range
        Ok(number) if (0.0..=MOST_SECONDS as f64).contains(&number) => {
            Ok(Span((number * 1e6).round() as i64))
        }
        _ => Err(format!("allowed: seconds, from 0 to {MOST_SECONDS}")),
    }
}

/// The shortest time between remaps: each of them looks at all jobs.
const SHORTEST_PERIOD: Span = Span::from_seconds(1);

/// A time between remaps.
pub fn period(text: &str) -> Result<Span, String> {
    match seconds_above_0(text)? {
        span if span < SHORTEST_PERIOD => Err("allowed: seconds, at least 1".into()),
        span => Ok(span),
    }
}

/// Seconds, more than 0.
pub fn seconds_above_0(text: &str) -> Result<Span, String> {
    match seconds(text)? {
        Span::ZERO => Err("allowed: seconds, above 0".into()),
        span => Ok(span),
    }
}

/// What jobs on several nodes have at least, if anything is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParallelLeastYield(pub Option<LeastYield>);

/// A least yield, or none.
pub fn least_yield(text: &str) -> Result<ParallelLeastYield, String> {
    or_none(text).map(ParallelLeastYield)
}

/// What the load of a node may grow to, if anything is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostLoad(pub Option<LoadCeiling>);

/// A ceiling on the load of nodes, or none.
pub fn load_ceiling(text: &str) -> Result<MostLoad, String> {
    or_none(text).map(MostLoad)
}

fn or_none<T>(text: &str) -> Result<Option<T>, String>
where
    T: FromStr<Err: Display>,
{
    if text == "none" {
        return Ok(None);
    }
    let read: Result<T, _> = text.parse();
    read.map(Some)
        .map_err(|allowed| format!("{allowed}, or none"))
}
