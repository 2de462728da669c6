//! The papers' names, read and written.

use std::fmt;
use std::str::FromStr;

use super::{Grace, Optimisation, Periodic, Policy, Retry, Settings, Submission, ipdps};
use crate::units::Span;

/// The submission policies and their names; the name may be followed by `*`.
const SUBMISSIONS: [(&str, Submission); 7] = [
    ("", Submission::Nothing),
    ("Greedy", Submission::Greedy),
    ("GreedyP", Submission::GreedyP),
    ("GreedyPM", Submission::GreedyPM),
    ("GreedyPMC", Submission::LeastCostPreemption),
    ("GreedyPMCR", Submission::Reserving),
    ("MCB8", Submission::Mcb8),
];

/// The periodic policies and their names.
const PERIODICS: [(&str, Periodic); 3] = [
    ("per", Periodic::Remap),
    ("stretch-per", Periodic::Stretch),
    ("move-per", Periodic::Moves),
];

/// The optimisations and their names.
const OPTIMISATIONS: [(&str, Optimisation); 4] = [
    ("AVG", Optimisation::Average),
    ("MIN", Optimisation::Minimum),
    ("MAX", Optimisation::Maximum),
    ("VT", Optimisation::VirtualTime),
];

/// The name of the policy for sites that have chosen none.
const DEFAULT: &str = "default";

/// The longest text that is taken for a name, in bytes. Names have about half of it.
const MAX_NAME_BYTES: usize = 100;

/// Why a text is not the name of a policy. The message names the part, and what is allowed there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The name is longer than any valid one.
    #[error("a policy's name of {length} bytes; allowed are {MAX_NAME_BYTES}")]
    TooLong {
        /// The name's length in bytes.
        length: usize,
    },
    /// The part before the first `/` is no submission policy.
    #[error(
        "policy {name:?}: unknown submission policy {part:?}; allowed are {allowed}, each also with * except the empty one; or a name of the IPDPS 2010 paper: {names}",
        names = ipdps::list()
    )]
    Submission {
        /// The whole name.
        name: String,
        /// The part at fault.
        part: String,
        /// What is allowed.
        allowed: String,
    },
    /// A part after the first `/` is not known.
    #[error("policy {name:?}: unknown part {part:?}; allowed are {allowed}")]
    Part {
        /// The whole name.
        name: String,
        /// The part at fault.
        part: String,
        /// What is allowed.
        allowed: String,
    },
    /// A part has a value that it cannot have.
    #[error("policy {name:?}: {part:?} has no valid value; allowed is {allowed}")]
    Value {
        /// The whole name.
        name: String,
        /// The part at fault.
        part: String,
        /// What is allowed.
        allowed: String,
    },
    /// A part is given twice, or at the wrong place.
    #[error(
        "policy {name:?}: {part:?} is out of place; the order is submission[*][/per or /move-per][/OPT=...][/MINVT=... or /MINFT=...], each at most once"
    )]
    Order {
        /// The whole name.
        name: String,
        /// The part at fault.
        part: String,
    },
    /// The parts contradict each other.
    #[error("policy {name:?}: {why}")]
    Contradiction {
        /// The whole name.
        name: String,
        /// What does not go together, and what would.
        why: String,
    },
}

impl FromStr for Policy {
    type Err = PolicyError;

    /// Reads a name; upper and lower case are the same, but that `GREEDY` is the IPDPS 2010 paper's
    /// policy in capitals only.
    fn from_str(name: &str) -> Result<Self, PolicyError> {
        let name = name.trim();
        if name.len() > MAX_NAME_BYTES {
            return Err(PolicyError::TooLong { length: name.len() });
        }
        if name.eq_ignore_ascii_case(DEFAULT) {
            return Ok(Policy::own());
        }
        if let Some(policy) = ipdps::read(name)? {
            return Ok(policy);
        }
        let mut parts = name.split('/');
        let (submission, opportunistic) = submission(name, parts.next().unwrap_or_default())?;
        let mut policy = Policy {
            submission,
            opportunistic,
            periodic: Periodic::Nothing,
            optimisation: Optimisation::Uniform,
            grace: Grace::Nothing,
            retry: match submission {
                Submission::LeastCostPreemption | Submission::Reserving => Retry::Backoff,
                _ => Retry::Nothing,
            },
            settings: Settings::default(),
        };
        let mut last = 0;
        for text in parts {
            let place = policy.take_part(name, text)?;
            if place <= last {
                return Err(PolicyError::Order {
                    name: name.into(),
                    part: text.into(),
                });
            }
            last = place;
        }
        match policy.contradiction() {
            Some(why) => Err(PolicyError::Contradiction {
                name: name.into(),
                why: why.into(),
            }),
            None => Ok(policy),
        }
    }
}

/// Reads the part before the first `/`.
fn submission(name: &str, part: &str) -> Result<(Submission, bool), PolicyError> {
    let (stem, star) = part
        .strip_suffix('*')
        .map_or((part, false), |stem| (stem, true));
    let found = SUBMISSIONS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(stem));
    match found {
        Some((_, Submission::Nothing)) if star => Err(PolicyError::Contradiction {
            name: name.into(),
            why: "* needs a submission policy before it (Greedy, GreedyP, GreedyPM, GreedyPMC, GreedyPMCR or MCB8)".into(),
        }),
        Some((_, submission)) => Ok((*submission, star)),
        None => Err(PolicyError::Submission {
            name: name.into(),
            part: part.into(),
            allowed: list(SUBMISSIONS.iter().map(|(known, _)| {
                if known.is_empty() {
                    "nothing (as in /per)"
                } else {
                    known
                }
            })),
        }),
    }
}

impl Policy {
    /// Reads one part after the first `/` and returns its place in the order of parts.
    fn take_part(&mut self, name: &str, text: &str) -> Result<u8, PolicyError> {
        let value_error = |allowed: String| PolicyError::Value {
            name: name.into(),
            part: text.into(),
            allowed,
        };
        if let Some((_, periodic)) = PERIODICS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(text))
        {
            self.periodic = *periodic;
            return Ok(1);
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        match key.to_ascii_uppercase().as_str() {
            "OPT" => {
                let found = OPTIMISATIONS
                    .iter()
                    .find(|(known, _)| known.eq_ignore_ascii_case(value));
                let (_, optimisation) = found.ok_or_else(|| {
                    value_error(list(OPTIMISATIONS.iter().map(|(known, _)| *known)))
                })?;
                self.optimisation = *optimisation;
                Ok(2)
            }
            key @ ("MINVT" | "MINFT") => {
                let bound = seconds(value).ok_or_else(|| value_error(SECONDS.into()))?;
                self.grace = if key == "MINVT" {
                    Grace::VirtualTime(bound)
                } else {
                    Grace::FlowTime(bound)
                };
                Ok(3)
            }
            _ => Err(PolicyError::Part {
                name: name.into(),
                part: text.into(),
                allowed: list(
                    PERIODICS
                        .iter()
                        .map(|(known, _)| *known)
                        .chain(["OPT=", "MINVT=", "MINFT="]),
                ),
            }),
        }
    }

    /// What in this policy does not go together, if anything.
    fn contradiction(&self) -> Option<&'static str> {
        let by_stretch = self.periodic == Periodic::Stretch;
        let remaps = self.submission == Submission::Mcb8 || self.periodic != Periodic::Nothing;
        let by_cost = self.weighs_moves();
        if self.submission == Submission::Nothing && self.periodic == Periodic::Nothing {
            return Some("nothing would ever start; it needs a submission policy or /per");
        }
        if by_cost && !self.opportunistic {
            return Some("GreedyPMC tries waiting jobs at every event; write GreedyPMC*");
        }
        if by_cost != (self.periodic == Periodic::Moves)
            && (!by_cost || self.periodic != Periodic::Nothing)
        {
            return Some("GreedyPMC* and /move-per go together: GreedyPMC*[/move-per]");
        }
        if !self.opportunistic && self.periodic == Periodic::Nothing {
            return Some(
                "a job that does not fit at submission would wait for ever; add * or /per",
            );
        }
        if by_stretch && self.submission != Submission::Nothing {
            return Some(
                "/stretch-per optimises another goal than submission policies do and stands alone: /stretch-per[/OPT=AVG or /OPT=MAX]",
            );
        }
        if by_stretch && self.optimisation == Optimisation::Minimum {
            return Some(
                "/stretch-per has no OPT=MIN, which is about yields; allowed are OPT=AVG and OPT=MAX",
            );
        }
        if by_stretch && self.optimisation == Optimisation::VirtualTime {
            return Some(
                "/stretch-per has no OPT=VT, which is about yields; allowed are OPT=AVG and OPT=MAX",
            );
        }
        if !by_stretch && self.optimisation == Optimisation::Maximum {
            return Some(
                "OPT=MAX is about stretch and needs /stretch-per; allowed are OPT=AVG, OPT=MIN and OPT=VT",
            );
        }
        if self.grace != Grace::Nothing && !remaps && !by_cost {
            return Some(
                "MINVT and MINFT limit what MCB8 or GreedyPMC moves, and nothing here uses either; add /per or leave them out",
            );
        }
        None
    }
}

/// What [`seconds`] reads, for errors.
pub(super) const SECONDS: &str = "a whole number of seconds, at least 1 and at most 4294967295";

/// Reads a time. Its limit keeps all sums of times in range.
pub(super) fn seconds(text: &str) -> Option<Span> {
    let seconds = text.parse::<u32>().ok().filter(|seconds| *seconds > 0)?;
    Some(Span::from_seconds(i64::from(seconds)))
}

/// Alternatives, as a text.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name_of = |wanted| {
            SUBMISSIONS
                .iter()
                .find(|(_, known)| *known == wanted)
                .map_or("", |(name, _)| name)
        };
        if let Some(name) = ipdps::name(self) {
            return formatter.write_str(&name);
        }
        formatter.write_str(name_of(self.submission))?;
        if self.opportunistic {
            formatter.write_str("*")?;
        }
        if let Some((name, _)) = PERIODICS.iter().find(|(_, known)| *known == self.periodic) {
            write!(formatter, "/{name}")?;
        }
        if let Some((name, _)) = OPTIMISATIONS
            .iter()
            .find(|(_, known)| *known == self.optimisation)
        {
            write!(formatter, "/OPT={name}")?;
        }
        match self.grace {
            Grace::Nothing => Ok(()),
            Grace::FlowTime(bound) => write!(formatter, "/MINFT={}", bound.seconds()),
            Grace::VirtualTime(bound) => write!(formatter, "/MINVT={}", bound.seconds()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        name.parse::<Policy>().unwrap_err().to_string()
    }

    #[test]
    fn the_recommended_policy_has_the_papers_name() {
        let name = "GreedyPM*/per/OPT=MIN/MINVT=600";
        assert_eq!(Policy::recommended().to_string(), name);
        assert_eq!(name.parse(), Ok(Policy::recommended()));
        assert_eq!(
            "greedypm*/PER/opt=min/minvt=600".parse(),
            Ok(Policy::recommended())
        );
    }

    #[test]
    fn every_policy_name_round_trips() {
        let mut read = 0;
        for submission in ["", "Greedy", "GreedyP", "GreedyPM", "MCB8"] {
            for star in ["", "*"] {
                for periodic in ["", "/per", "/stretch-per"] {
                    for optimisation in ["", "/OPT=MIN", "/OPT=AVG", "/OPT=MAX"] {
                        for grace in ["", "/MINVT=300", "/MINFT=600"] {
                            let name = format!("{submission}{star}{periodic}{optimisation}{grace}");
                            if let Ok(policy) = name.parse::<Policy>() {
                                assert_eq!(policy.to_string(), name);
                                read += 1;
                            }
                        }
                    }
                }
            }
        }
        // 14 basic algorithms, each with no OPT or one of two; 11 of them use MCB8 and take MINVT
        // or MINFT.
        assert_eq!(read, 3 * (14 + 11 * 2));
    }

    #[test]
    fn dfrs_policy_names_round_trip() {
        for name in [
            "Greedy*/OPT=VT",
            "GreedyPM*/per/OPT=VT/MINVT=600",
            "GreedyPMC*",
            "GreedyPMC*/OPT=VT/MINVT=600",
            "GreedyPMC*/move-per/OPT=VT/MINVT=600",
            "GreedyPMC*/move-per/OPT=MIN/MINFT=300",
        ] {
            let policy: Policy = name.parse().expect(name);
            assert_eq!(policy.to_string(), name);
            assert_eq!(name.to_lowercase().parse(), Ok(policy), "{name}");
        }
        assert!(error("GreedyPMC").contains("write GreedyPMC*"));
        assert!(error("GreedyPMC*/per").contains("GreedyPMC*[/move-per]"));
        assert!(error("GreedyPM*/move-per").contains("GreedyPMC*[/move-per]"));
        assert!(error("/move-per").contains("GreedyPMC*[/move-per]"));
        assert!(error("/stretch-per/OPT=VT").contains("OPT=AVG and OPT=MAX"));
    }

    #[test]
    fn overlong_policy_name_is_refused() {
        let message = |length| error(&"G".repeat(length));
        assert!(message(MAX_NAME_BYTES).contains("unknown submission policy"));
        assert_eq!(
            message(MAX_NAME_BYTES + 1),
            "a policy's name of 101 bytes; allowed are 100"
        );
    }

    #[test]
    fn errors_name_the_part_and_what_is_allowed() {
        assert!(error("GreedyX*/per").contains("\"GreedyX*\""));
        assert!(error("GreedyX*/per").contains("GreedyPM"));
        assert!(error("Greedy*/often").contains("\"often\""));
        assert!(error("Greedy*/often").contains("per"));
        assert!(error("Greedy*/per/OPT=BEST").contains("MIN"));
        assert!(error("Greedy*/per/MINVT=soon").contains("seconds"));
        assert!(error("Greedy*/per/MINVT=0").contains("seconds"));
        assert!(error("Greedy*/OPT=MIN/per").contains("out of place"));
        assert!(error("Greedy*/per/per").contains("out of place"));
        assert!(error("Greedy*/per/MINVT=1/MINFT=1").contains("out of place"));
        assert!(error("*/per").contains("submission policy"));
        assert!(error("").contains("nothing would ever start"));
        assert!(error("Greedy").contains("add * or /per"));
        assert!(error("Greedy*/MINVT=600").contains("MCB8"));
        assert!(error("Greedy*/stretch-per").contains("stands alone"));
        assert!(error("/stretch-per/OPT=MIN").contains("OPT=AVG and OPT=MAX"));
        assert!(error("/per/OPT=MAX").contains("needs /stretch-per"));
        assert!(error("Greedy*/").contains("unknown part"));
        assert!(error("DYNMCB8 600").contains("DYNMCB8-PER"));
        assert!(error("Greedy*/per/MINVT=4294967296").contains("4294967295"));
        assert!(error("DYNMCB8-PER 4294967296").contains("4294967295"));
    }
}
