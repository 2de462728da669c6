//! User processes: whether a signal has stopped them, and the one that lets them go on.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Its parent.
    pub parent: u32,
    /// A signal has stopped it.
    pub is_stopped: bool,
}

/// The node's processes, as far as they are asked here.
pub trait Processes {
    /// What is known of it; none if it has ended.
    fn look(&self, process: u32) -> Option<Seen>;

    /// Lets it go on. One that has ended stays so.
    fn go_on(&self, process: u32);
}

/// Of a step's processes, the tasks that `slurmstepd` started: those whose parent is none of the step's. To
/// these Slurm sends SIGTSTP when it suspends the step, and SIGCONT when that is over, and to no others
/// (`proctrack_p_signal()`, proctrack/cgroup, Slurm 22.05 to 26.05). O(p log p).
pub fn tasks(processes: &[u32], all: &dyn Processes) -> Vec<(u32, Seen)> {
    let mut own = processes.to_vec();
    own.sort_unstable();
    let seen = processes
        .iter()
        .filter_map(|id| Some((*id, all.look(*id)?)));
    seen.filter(|(_, seen)| own.binary_search(&seen.parent).is_err())
        .collect()
}

/// Those of `/proc`.
#[derive(Debug, Clone, Copy)]
pub struct Running;

impl Processes for Running {
    fn look(&self, process: u32) -> Option<Seen> {
        seen_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn go_on(&self, process: u32) {
        let process = i32::try_from(process).ok().and_then(Pid::from_raw);
        if let Some(process) = process {
            // It may have ended since it was listed; nothing else can be wrong for root.
            let _ = kill_process(process, Signal::CONT);
        }
    }
}

/// State and parent stand behind the name in `/proc/<pid>/stat`, which may have brackets and spaces (proc(5)).
fn seen_in(stat: &str) -> Option<Seen> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let is_stopped = words.next()? == "T";
    let parent = words.next()?.parse().ok()?;
    Some(Seen { parent, is_stopped })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    fn becomes(process: u32, stopped: bool) -> bool {
        (0..500).any(|_| {
            sleep(Duration::from_millis(10));
            Running.look(process).map(|seen| seen.is_stopped) == Some(stopped)
        })
    }

    #[test]
    fn a_stopped_process_is_seen_and_goes_on() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let raw = i32::try_from(child.id()).unwrap();
        kill_process(Pid::from_raw(raw).unwrap(), Signal::STOP).unwrap();
        assert!(becomes(child.id(), true));
        assert_eq!(Running.look(child.id()).unwrap().parent, std::process::id());
        Running.go_on(child.id());
        assert!(becomes(child.id(), false));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Running.look(child.id()), None);
        Running.go_on(0);
        Running.go_on(u32::MAX);
    }

    #[test]
    fn state_and_parent_are_behind_the_name_whatever_that_is() {
        let seen = |parent, is_stopped| Some(Seen { parent, is_stopped });
        assert_eq!(seen_in("17 (sh) T 1 17"), seen(1, true));
        assert_eq!(seen_in("17 (a) T (b) S 12 17"), seen(12, false));
        assert_eq!(seen_in("17 (sh)"), None);
        assert_eq!(seen_in(""), None);
    }

    #[test]
    fn tasks_are_those_whose_parent_is_not_of_the_step() {
        struct Family(BTreeMap<u32, u32>);
        impl Processes for Family {
            fn look(&self, process: u32) -> Option<Seen> {
                let parent = *self.0.get(&process)?;
                let is_stopped = false;
                Some(Seen { parent, is_stopped })
            }
            fn go_on(&self, _: u32) {}
        }
        let family = Family(BTreeMap::from([(30, 9), (31, 30), (12, 31), (40, 9)]));
        let found = tasks(&[40, 31, 30, 12, 50], &family);
        let ids: Vec<u32> = found.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [40, 30]);
    }
}
