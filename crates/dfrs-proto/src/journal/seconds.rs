//! Times and spans as JSON numbers of seconds, to the microsecond.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

const MICROSECONDS: i64 = 1_000_000;

/// The longest time that a journal can hold, in seconds: beyond it (the year 2106 in UNIX time) a
/// real number of seconds is no longer exact to the microsecond.
const MAX_SECONDS: i64 = 1 << 32;

/// Whole seconds as a whole number, others with up to six digits after the point.
fn write<S: Serializer>(microseconds: i64, serializer: S) -> Result<S::Ok, S::Error> {
    if microseconds.unsigned_abs() > (MAX_SECONDS * MICROSECONDS).unsigned_abs() {
        return Err(S::Error::custom(out_of_range(real(microseconds))));
    }
    if microseconds % MICROSECONDS == 0 {
        return (microseconds / MICROSECONDS).serialize(serializer);
    }
    real(microseconds).serialize(serializer)
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    if seconds.abs() > real(MAX_SECONDS * MICROSECONDS) {
        return Err(D::Error::custom(out_of_range(seconds)));
    }
    // In range, as just checked.
    #[allow(clippy::cast_possible_truncation)]
    Ok((seconds * 1e6).round() as i64)
}

fn out_of_range(seconds: f64) -> String {
    format!("a time of {seconds} seconds is out of range")
}

/// For `#[serde(with)]` on a [`Time`].
pub(super) mod time {
    use super::{Deserializer, Serializer, Time};

    pub fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        super::write(time.0, serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        super::read(deserializer).map(Time)
    }
}

/// For `#[serde(with)]` on an optional [`Span`] that may not be negative.
pub(super) mod span {
    use serde::de::Error as _;

    use super::{Deserializer, Serializer, Span};

    pub fn serialize<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => super::write(span.0, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Span>, D::Error> {
        let microseconds = super::read(deserializer)?;
        if microseconds < 0 {
            return Err(D::Error::custom("a length of time is negative"));
        }
        Ok(Some(Span(microseconds)))
    }
}

/// Seconds as a real number.
// Precise enough: exact up to MAX_SECONDS.
fn real(microseconds: i64) -> f64 {
    microseconds as f64 / 1e6
}
