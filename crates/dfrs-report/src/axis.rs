//! Axes: from values to places, and which values to name.

use crate::number::decimals;

/// Values beyond this are not shown; the arithmetic of ticks would overflow long after it.
const MAX_VALUE: f64 = 1e15;

/// How values become places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart. Values of 0 and below have no place and are not shown.
    Log,
}

/// One axis of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is shown, with its unit.
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// The least range that is shown; grown to hold all values. None: that of the values.
    pub range: Option<(f64, f64)>,
    /// Ticks and their names, for example dates; none: round numbers.
    pub ticks: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self {
            scale: Scale::Log,
            ..Self::linear(label)
        }
    }

    /// Shows at least this range.
    #[must_use]
    pub fn with_range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Names these values in place of round numbers.
    #[must_use]
    pub fn with_ticks(mut self, ticks: Vec<(f64, String)>) -> Self {
        self.ticks = Some(ticks);
        self
    }

    /// Whether the value has a place on this axis.
    pub(crate) fn shows(&self, value: f64) -> bool {
        value.abs() <= MAX_VALUE && (self.scale == Scale::Linear || value >= 1.0 / MAX_VALUE)
    }
}

/// An axis with its ends set: what drawing needs.
pub(crate) struct FittedAxis {
    scale: Scale,
    low: f64,
    high: f64,
    /// Named ticks: value and name.
    pub ticks: Vec<(f64, String)>,
    /// Unnamed ticks.
    pub minor: Vec<f64>,
}

impl FittedAxis {
    /// Sets the ends so that all values that can be shown are.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let wanted = axis.range.map_or(vec![], |(low, high)| vec![low, high]);
        let (low, high) = values
            .chain(wanted)
            .filter(|value| axis.shows(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = match (low <= high, axis.scale) {
            (true, _) => (low, high),
            (false, Scale::Linear) => (0.0, 1.0),
            (false, Scale::Log) => (1.0, 10.0),
        };
        let mut placed = match axis.scale {
            Scale::Linear => Self::linear(low, high),
            Scale::Log => Self::log(low, high),
        };
        if let Some(ticks) = &axis.ticks {
            (placed.low, placed.high) = if low < high {
                (low, high)
            } else {
                (low, low + 1.0)
            };
            let (first, last) = (placed.low, placed.high);
            placed.ticks = ticks.clone();
            placed
                .ticks
                .retain(|(value, _)| (first..=last).contains(value));
            placed.minor.clear();
        }
        placed
    }

    /// The place of a value: 0 at the low end, 1 at the high one.
    pub fn at(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// The low end, where areas and bars begin.
    pub fn floor(&self) -> f64 {
        match self.scale {
            Scale::Linear => self.low.max(0.0_f64.min(self.high)),
            Scale::Log => self.low,
        }
    }

    /// About five steps of 1, 2 or 5 times a power of ten; the ends are ticks.
    fn linear(low: f64, high: f64) -> Self {
        let span = if high > low {
            high - low
        } else {
            low.abs().max(1.0)
        };
        let raw = span / 5.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|factor| factor * power)
            .find(|step| *step >= raw * 0.999)
            .unwrap_or(raw);
        // A value that is a tick but for rounding needs no further one.
        let first = (low / step + 1e-9).floor();
        let last = (high.max(low + step * 0.5) / step - 1e-9).ceil();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // about 5
        let count = (last - first).clamp(1.0, 20.0) as u32;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 16
        let places = (-step.log10().floor()).clamp(0.0, 15.0) as usize;
        let ticks: Vec<(f64, String)> = (0..=count)
            .map(|tick| (first + f64::from(tick)) * step)
            .map(|value| (value, decimals(value, places)))
            .collect();
        Self {
            scale: Scale::Linear,
            low: first * step,
            high: (first + f64::from(count)) * step,
            ticks,
            minor: Vec::new(),
        }
    }

    /// Powers of ten; below two of them also 2 and 5 times these, above eight only some.
    fn log(low: f64, high: f64) -> Self {
        let step = |value: f64, up: bool| {
            let power = 10f64.powf(value.log10().floor());
            let factors = [1.0, 2.0, 5.0, 10.0];
            let found = if up {
                factors
                    .iter()
                    .find(|factor| *factor * power >= value * 0.9999)
            } else {
                factors
                    .iter()
                    .rev()
                    .find(|factor| *factor * power <= value * 1.0001)
            };
            found.unwrap_or(&1.0) * power
        };
        let (low, mut high) = (step(low, false), step(high, true));
        if high <= low {
            high = step(low * 1.5, true);
        }
        let decades = (high / low).log10();
        #[allow(clippy::cast_possible_truncation)] // f64 has some 600 powers of ten
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        #[allow(clippy::cast_possible_truncation)] // as above
        let every = (decades / 8.0).ceil().max(1.0) as i32;
        let named: &[f64] = if decades < 2.0 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let (mut ticks, mut minor) = (Vec::new(), Vec::new());
        for power in powers {
            for factor in 1..10 {
                let value = f64::from(factor) * 10f64.powi(power);
                if value < low * 0.9999 || value > high * 1.0001 {
                    continue;
                }
                if named.contains(&f64::from(factor)) && power % every == 0 {
                    ticks.push((value, power_name(value)));
                } else {
                    minor.push(value);
                }
            }
        }
        Self {
            scale: Scale::Log,
            low,
            high,
            ticks,
            minor,
        }
    }
}

/// A power of ten, or 2 or 5 times one, in full where that is short.
fn power_name(value: f64) -> String {
    let power = value.log10().floor();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 4
    match power {
        0.0..=6.0 => decimals(value, 0),
        -4.0..0.0 => decimals(value, -power as usize),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis, values: &[f64]) -> Vec<String> {
        let placed = FittedAxis::new(axis, values.iter().copied());
        placed.ticks.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_hold_all_values() {
        let axis = Axis::linear("");
        assert_eq!(
            names(&axis, &[0.1, 0.9]),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            names(&axis, &[0.0, 12_000.0]),
            ["0", "5,000", "10,000", "15,000"]
        );
        assert_eq!(names(&axis, &[3.0]), ["3", "4"]);
        let placed = FittedAxis::new(&axis, [0.1, 0.9].into_iter());
        assert!((placed.at(0.5) - 0.5).abs() < 1e-12);
        assert!((placed.at(1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        let axis = Axis::log("");
        assert_eq!(
            names(&axis, &[1.2, 9000.0]),
            ["1", "10", "100", "1,000", "10,000"]
        );
        assert_eq!(names(&axis, &[2.0, 9.0]), ["2", "5", "10"]);
        assert_eq!(
            names(&axis, &[0.01, 0.5]),
            ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]
        );
        let placed = FittedAxis::new(&axis, [1.0, 100.0].into_iter());
        assert!((placed.at(10.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn axis_without_values_is_valid() {
        for axis in [Axis::linear(""), Axis::log("")] {
            for values in [
                &[][..],
                &[f64::NAN],
                &[f64::INFINITY],
                &[-1.0],
                &[0.0],
                &[1e300, 1e-300],
                &[f64::MAX, f64::MIN],
            ] {
                let placed = FittedAxis::new(&axis, values.iter().copied());
                assert!(placed.ticks.len() < 200, "{values:?}");
            }
        }
    }

    #[test]
    fn own_ticks_replace_round_numbers() {
        let axis = Axis::linear("").with_ticks(vec![(0.0, "Mon".into()), (9.0, "far".into())]);
        assert_eq!(names(&axis, &[0.0, 5.0]), ["Mon"]);
        let placed = FittedAxis::new(&axis, [0.0, 5.0].into_iter());
        assert!((placed.at(5.0) - 1.0).abs() < 1e-12);
    }
}
