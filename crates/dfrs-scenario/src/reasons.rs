//! Reasons as scenario files write them.

use dfrs_core::{Blocked, JobId, Reason};

use crate::words::{meaning, word};

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

/// How a reason that names a kind of devices begins.
const DEVICES: &str = "devices ";

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
    match reason {
        Reason::MakesRoomFor(job) => format!("{MAKES_ROOM}{job}"),
        _ => word(&REASONS, reason).map_or_else(|| reason.to_string(), String::from),
    }
}

pub(crate) fn reason(text: &str) -> Result<Reason, String> {
    let job = text
        .strip_prefix(MAKES_ROOM)
        .and_then(|job| job.parse().ok());
    let job = job.map(|job| Reason::MakesRoomFor(JobId(job)));
    let found = meaning(&REASONS, text).or(job);
    let names = REASONS.map(|(known, _)| known).join(", ");
    found.ok_or_else(|| format!("a reason is one of: {names}, {MAKES_ROOM}JOB"))
}

pub(crate) fn show_blocked(blocked: Blocked) -> String {
    match blocked {
        Blocked::Devices { kind } => format!("{DEVICES}{kind}"),
        _ => word(&BLOCKED, blocked).map_or_else(|| blocked.to_string(), String::from),
    }
}

pub(crate) fn blocked(text: &str) -> Result<Blocked, String> {
    let kind = text
        .strip_prefix(DEVICES)
        .and_then(|kind| kind.parse().ok());
    let devices = kind.map(|kind| Blocked::Devices { kind });
    let names = BLOCKED.map(|(known, _)| known).join(", ");
    let found = meaning(&BLOCKED, text).or(devices);
    found.ok_or_else(|| format!("what a job waits for is one of: {names}, {DEVICES}KIND"))
}
