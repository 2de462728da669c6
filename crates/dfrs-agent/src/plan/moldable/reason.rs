//! Why a moldable job waits, for squeue.

use dfrs_core::{Span, Time};

use super::{Outlook, SECOND, Unfit};
use crate::job::life::reason::counted;

const MINUTE: i64 = 60 * SECOND;
/// Further off nothing is expected: something that runs has no time limit.
const FORESEEN: Span = Span(300 * 86_400 * SECOND);

/// The text. `wall`: what the wall clock says at a time of DFRS's.
#[must_use]
pub fn reason(outlook: &Outlook, wall: impl Fn(Time) -> Time, now: Time) -> String {
    match outlook {
        Outlook::Starts { at, nodes } => {
            let waits = format!("DFRS: waits for {}", counted((*nodes).into(), "node"));
            if at.since(now) > FORESEEN {
                return waits;
            }
            format!("{waits}; expected to start at {}", to_the_minute(wall(*at)))
        }
        Outlook::Unfit(Unfit::Never { needed: 0, .. }) => {
            "DFRS: can never start: no node that it may use is large enough for one of its tasks"
                .to_owned()
        }
        Outlook::Unfit(Unfit::Never { needed, nodes }) => format!(
            "DFRS: cannot start: asks for {} and may use {nodes} that are large enough",
            counted((*needed).into(), "node")
        ),
        Outlook::Unfit(Unfit::Together) => {
            "DFRS: cannot start: --contiguous and --switches are not for partitions of moldable jobs"
                .to_owned()
        }
        Outlook::Unfit(Unfit::Unavailable { needed }) => format!(
            "DFRS: needs {}; too few of those that it may use are up",
            counted((*needed).into(), "node")
        ),
    }
}

/// The next full minute, as UTC: `2026-11-24T22:41Z`.
#[must_use]
pub(crate) fn to_the_minute(wall: Time) -> String {
    let minutes = wall.0.saturating_add(MINUTE - 1).div_euclid(MINUTE);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}Z",
        minute / 60,
        minute % 60
    )
}

/// The date so many days after 1 January 1970 (Howard Hinnant, `civil_from_days`).
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_to_minutes() {
        let at = |seconds| to_the_minute(Time::from_seconds(seconds));
        assert_eq!(at(0), "1970-01-01T00:00Z");
        assert_eq!(at(1), "1970-01-01T00:01Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00Z");
        assert_eq!(at(951_868_800), "2000-03-01T00:00Z");
        assert_eq!(at(1_798_761_599), "2027-01-01T00:00Z");
    }

    #[test]
    fn reason_names_the_nodes_and_the_expected_start() {
        let text = |outlook: &Outlook| {
            let wall = |time: Time| Time(time.0 - 60 * SECOND);
            reason(outlook, wall, Time(0))
        };
        let starts = |at| Outlook::Starts {
            at: Time::from_seconds(at),
            nodes: 4,
        };
        assert_eq!(
            text(&starts(180)),
            "DFRS: waits for 4 nodes; expected to start at 1970-01-01T00:02Z"
        );
        assert_eq!(text(&starts(400 * 86_400)), "DFRS: waits for 4 nodes");
        let never = |needed| Outlook::Unfit(Unfit::Never { needed, nodes: 2 });
        assert_eq!(
            text(&never(3)),
            "DFRS: cannot start: asks for 3 nodes and may use 2 that are large enough"
        );
        assert!(text(&never(0)).starts_with("DFRS: can never start: no node"));
        let down = Outlook::Unfit(Unfit::Unavailable { needed: 1 });
        assert_eq!(
            text(&down),
            "DFRS: needs 1 node; too few of those that it may use are up"
        );
    }
}
