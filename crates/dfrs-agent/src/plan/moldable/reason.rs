//! Why a moldable job waits, for squeue.

use dfrs_core::{Span, Time};
use dfrs_proto::text::counted;

use super::{Outlook, Unfit};
use crate::clock::to_the_minute;

/// Further off nothing is expected: something that runs has no time limit.
const FORESEEN: Span = Span::from_seconds(300 * 86_400);

/// The text. `wall`: what the wall clock says at a time of DFRS's.
pub fn reason(outlook: &Outlook, wall: impl Fn(Time) -> Time, now: Time) -> String {
    match outlook {
        Outlook::Starts { at, nodes } => {
            let waits = format!("DFRS: waits for {}", counted(*nodes, "node"));
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
            "DFRS: cannot start: requests {} and may use {nodes} that are large enough",
            counted(*needed, "node")
        ),
        Outlook::Unfit(Unfit::Together) => {
            "DFRS: cannot start: --contiguous and --switches are not for partitions of moldable jobs"
                .to_owned()
        }
        Outlook::Unfit(Unfit::Unavailable { needed, up }) => {
            let up = match up {
                0 => "none that it may use is up".to_owned(),
                1 => "only 1 that it may use is up".to_owned(),
                up => format!("only {up} that it may use are up"),
            };
            let needed = counted(*needed, "node");
            format!("DFRS: waits for {needed}: {up}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_names_the_nodes_and_the_expected_start() {
        let text = |outlook: &Outlook| {
            let wall = |time: Time| time + Span::from_seconds(-60);
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
            "DFRS: cannot start: requests 3 nodes and may use 2 that are large enough"
        );
        assert!(text(&never(0)).starts_with("DFRS: can never start: no node"));
        let down = |needed, up| Outlook::Unfit(Unfit::Unavailable { needed, up });
        assert_eq!(
            text(&down(1, 0)),
            "DFRS: waits for 1 node: none that it may use is up"
        );
        assert_eq!(
            text(&down(2, 1)),
            "DFRS: waits for 2 nodes: only 1 that it may use is up"
        );
        assert_eq!(
            text(&down(4, 3)),
            "DFRS: waits for 4 nodes: only 3 that it may use are up"
        );
    }
}
