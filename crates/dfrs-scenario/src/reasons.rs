//! Reasons as scenario files write them.

use dfrs_core::{Blocked, JobId, Reason};

/// How a reason that names a job begins.
const MAKES_ROOM: &str = "makes room for ";

/// The reasons that name no job.
const REASONS: [(&str, Reason); 6] = [
    ("fits", Reason::Fits),
    ("remap", Reason::Remap),
    ("does not fit remap", Reason::DoesNotFitRemap),
    ("less load", Reason::LessLoad),
    ("breaks cycle", Reason::BreaksCycle),
    ("share", Reason::Share),
];

const BLOCKED: [(&str, Blocked); 7] = [
    ("never fits", Blocked::NeverFits),
    ("memory", Blocked::Memory),
    ("cpu", Blocked::Cpu),
    ("own nodes full", Blocked::OwnNodesFull),
    ("nodes unavailable", Blocked::NodesUnavailable),
    ("reserved", Blocked::Reserved),
    ("not now", Blocked::NotNow),
];

pub(crate) fn show_reason(reason: Reason) -> String {
    match REASONS.iter().find(|(_, known)| *known == reason) {
        Some((text, _)) => (*text).to_owned(),
        None => match reason {
            Reason::MakesRoomFor(job) => format!("{MAKES_ROOM}{job}"),
            other => other.to_string(),
        },
    }
}

pub(crate) fn reason(text: &str) -> Result<Reason, String> {
    let job = text
        .strip_prefix(MAKES_ROOM)
        .and_then(|job| job.parse().ok());
    let known = REASONS.iter().find(|(known, _)| *known == text);
    let known = known.map(|(_, reason)| *reason);
    let found = known.or(job.map(|job| Reason::MakesRoomFor(JobId(job))));
    let names = REASONS.map(|(known, _)| known).join(", ");
    found.ok_or_else(|| format!("a reason is one of: {names}, {MAKES_ROOM}JOB"))
}

pub(crate) fn show_blocked(blocked: Blocked) -> String {
    let known = BLOCKED.iter().find(|(_, known)| *known == blocked);
    known.map_or_else(|| blocked.to_string(), |(text, _)| (*text).to_owned())
}

pub(crate) fn blocked(text: &str) -> Result<Blocked, String> {
    let known = BLOCKED.iter().find(|(known, _)| *known == text);
    let names = BLOCKED.map(|(known, _)| known).join(", ");
    let found = known.map(|(_, blocked)| *blocked);
    found.ok_or_else(|| format!("what a job waits for is one of: {names}"))
}
