//! Reads the facts about one process.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;

use super::mounts::Mounts;
use super::things;
use crate::carry::inspect::facts::ProcessFacts;
use crate::carry::procfs::{self, ProcessStatus};
use crate::carry::tree::JobTree;

/// What is said of a process that ends while it is looked at is not there; then nothing is.
pub fn read(process: u32, tree: &JobTree, mounts: &Mounts) -> Option<ProcessFacts> {
    let status = ProcessStatus::read(process)?;
    let state = status.state();
    let threads: Vec<ProcessStatus> = procfs::names(process, "task")
        .iter()
        .filter_map(|thread| procfs::text(process, &format!("task/{thread}/status")).ok())
        .map(|text| ProcessStatus::parse(&text))
        .collect();
    let any = |is_so: &dyn Fn(&ProcessStatus) -> bool| is_so(&status) || threads.iter().any(is_so);
    let uids: BTreeSet<u32> = threads
        .iter()
        .chain([&status])
        .flat_map(|thread| thread.numbers("Uid"))
        .collect();
    let mut facts = ProcessFacts {
        pid: status.own_number().unwrap_or(process),
        name: status.field("Name").to_owned(),
        state: if any(&|thread| thread.state() == 'D') {
            'D'
        } else {
            state
        },
        traced: any(&|thread| thread.field("TracerPid") != "0"),
        uids,
        privileged: any(&|thread| thread.field("CapEff").chars().any(|digit| digit != '0')),
        no_new_privileges: any(&|thread| thread.field("NoNewPrivs") == "1"),
        terminal: has_terminal(&procfs::text(process, "stat").unwrap_or_default()),
        is_64_bit: is_64_bit(process),
        bytes: status.bytes("VmRSS").saturating_add(status.bytes("VmSwap")),
        huge_bytes: status.bytes("HugetlbPages"),
        namespaces: procfs::namespaces(process),
        has_usual_root: procfs::is_same_file(
            &procfs::file(process, "root/"),
            &procfs::file(&tree.init, "root/"),
        ),
        unseen: None,
        uses: Vec::new(),
    };
    if state != 'Z' {
        match things::read(process, mounts) {
            Ok(uses) => facts.uses = uses,
            Err(error) => facts.unseen = Some(error),
        }
    }
    // It may have ended meanwhile: then nothing of what was read counts.
    let still = ProcessStatus::read(process)?.state();
    if still == 'Z' {
        facts.state = 'Z';
        facts.uses.clear();
    }
    Some(facts)
}

/// The terminal is the fifth field behind the name in `/proc/PID/stat`; the name may have any
/// characters in it.
fn has_terminal(stat: &str) -> bool {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace()
        .nth(4)
        .is_some_and(|number| number != "0")
}

/// The class of its program (ELF): 2 is 64 bits.
fn is_64_bit(process: u32) -> Option<bool> {
    let mut start = [0; 5];
    let mut program = File::open(procfs::file(process, "exe")).ok()?;
    program.read_exact(&mut start).ok()?;
    start.starts_with(b"\x7fELF").then_some(start[4] == 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carry::held::HeldProcess;
    use crate::carry::tree::Namespaces;

    #[test]
    fn terminal_is_found_behind_any_name() {
        assert!(has_terminal("7 (a) b) S 1 7 7 34816 7"));
        assert!(!has_terminal("7 (a b) S 1 7 7 0 -1"));
        assert!(!has_terminal(""));
    }

    #[test]
    fn this_process_can_be_read() {
        let own = std::process::id();
        let held = || HeldProcess::open(own).unwrap();
        let namespace = |name: &str| File::open(procfs::file(own, name)).unwrap();
        let tree = JobTree {
            job: 1,
            uid: 0,
            restarts: 0,
            monitor: held(),
            init: held(),
            namespaces: Namespaces {
                mounts: namespace("ns/mnt"),
                pids: namespace("ns/pid"),
            },
            root: own,
            root_pid: own,
        };
        let mounts = Mounts::parse(&procfs::text(own, "mountinfo").unwrap());
        let facts = read(own, &tree, &mounts).unwrap();
        assert!(facts.has_usual_root && facts.bytes > 0 && facts.unseen.is_none());
        assert_eq!(facts.is_64_bit, Some(cfg!(target_pointer_width = "64")));
        assert!(facts.uses.len() > 5, "{:?}", facts.uses);
        assert!(read(u32::MAX, &tree, &mounts).is_none());
    }
}
