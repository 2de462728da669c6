//! Signals to the processes of a job that is carried.

use std::io;
use std::os::fd::AsFd;

use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal};

/// To the monitor: a dump begins. The next SIGTERM with a SIGCONT before it is Slurm's, which
/// requeues the job, and ends it at once. `SIGRTMAX - 3`, as `carrier/carrier.c` has it.
pub const HOLD: i32 = 61;
/// To the monitor: the job goes on here. `SIGRTMAX - 4`.
pub const RELEASE: i32 = 60;

/// The first signal that libraries keep for themselves, and the last of those.
const RESERVED: std::ops::RangeInclusive<i32> = 32..=34;
const LAST: i32 = 64;

/// Sends a signal to a process.
///
/// # Errors
///
/// If the process is gone, or the number is none of a signal that may be sent.
pub fn send(process: u32, signal: i32) -> io::Result<()> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let process = i32::try_from(process).ok().filter(|number| *number > 1);
    let process = process.and_then(Pid::from_raw).ok_or_else(invalid)?;
    Ok(kill_process(process, checked(signal)?)?)
}

/// Sends a signal to the process whose directory of `/proc` is open.
///
/// # Errors
///
/// As [`send`].
pub fn send_to(directory: impl AsFd, signal: i32) -> io::Result<()> {
    Ok(pidfd_send_signal(directory, checked(signal)?)?)
}

fn checked(signal: i32) -> io::Result<Signal> {
    if !(1..=LAST).contains(&signal) || RESERVED.contains(&signal) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the number is one of the kernel's signals, and none that libraries keep (SAFETY.md, 7).
    Ok(unsafe { Signal::from_raw_unchecked(signal) })
}

/// Lets a stopped process run (SIGCONT); one that has ended need not.
///
/// # Errors
///
/// If the kernel refuses.
pub fn resume(process: u32) -> io::Result<()> {
    match send(process, Signal::CONT.as_raw()) {
        Err(error) if crate::cgroup::process::has_ended(&error) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    fn numbers_are_those_that_the_carrier_waits_for() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        send(child.id(), HOLD).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(64 - 3));
        assert_eq!(RELEASE, 64 - 4);
    }

    #[test]
    fn nothing_is_sent_to_groups_or_by_odd_numbers() {
        for (process, signal) in [
            (0, HOLD),
            (1, HOLD),
            (u32::MAX, HOLD),
            (9, 0),
            (9, 65),
            (9, 33),
        ] {
            assert!(send(process, signal).is_err(), "{process} {signal}");
        }
    }
}
