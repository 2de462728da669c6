//! Reads the record of a process from `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::{FileRecord, ProcessRecord, ThreadRecord};
use crate::carry::procfs::{self, ProcessStatus};
use crate::cgroup::process::has_ended;

const IDS: [&str; 3] = ["Uid", "Gid", "Groups"];
const CAPABILITIES: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
const LIMITS: [&str; 2] = ["NoNewPrivs", "Seccomp"];
/// The owner's permissions of a link of `/proc`: how its file was opened.
const ACCESS_SHIFT: u32 = 6;
const ACCESS: u32 = 0o6;

/// The records of processes, by their numbers on the node; what has ended meanwhile is left out.
///
/// # Errors
///
/// What cannot be looked at; one line.
pub fn read_all(processes: &[u32]) -> Result<Vec<ProcessRecord>, String> {
    let records = processes.iter().map(|process| read(*process));
    records.filter_map(Result::transpose).collect()
}

/// The record of a process; none if it has ended.
///
/// # Errors
///
/// What cannot be looked at; one line.
pub fn read(process: u32) -> Result<Option<ProcessRecord>, String> {
    let Some(status) = ProcessStatus::read(process) else {
        return Ok(None);
    };
    let named = |name: &str, error: io::Error| format!("process {process}: {name}: {error}");
    let mut record = ProcessRecord {
        pid: status.own_number().unwrap_or(process),
        ..ProcessRecord::default()
    };
    if status.state() == 'Z' {
        return Ok(Some(record));
    }
    for thread in procfs::names(process, "task") {
        let name = format!("task/{thread}/status");
        let read = procfs::text(process, &name).and_then(|text| {
            let groups = procfs::text(process, &format!("task/{thread}/cgroup"))?;
            Ok((text, groups))
        });
        let (text, groups) = match read {
            Err(error) if has_ended(&error) => continue,
            read => read.map_err(|error| named(&name, error))?,
        };
        let status = ProcessStatus::parse(&text);
        let number = status.own_number().unwrap_or_default();
        record.threads.insert(number, of_thread(&status, groups));
    }
    let mut names = ["exe", "cwd", "root"].map(str::to_owned).to_vec();
    names.extend(
        procfs::names(process, "fd")
            .iter()
            .map(|fd| format!("fd/{fd}")),
    );
    for name in names {
        if let Some(file) = file(process, &name).map_err(|error| named(&name, error))? {
            record.files.insert(name, file);
        }
    }
    let mut mapped = BTreeSet::new();
    for range in procfs::names(process, "map_files") {
        let name = format!("map_files/{range}");
        mapped.extend(file(process, &name).map_err(|error| named(&name, error))?);
    }
    record.mapped = mapped;
    Ok(Some(record))
}

fn of_thread(status: &ProcessStatus, groups: String) -> ThreadRecord {
    let numbers = |names: &[&str]| -> BTreeMap<String, Vec<u32>> {
        let fields = names
            .iter()
            .map(|name| ((*name).to_owned(), status.numbers(name)));
        fields.collect()
    };
    let capabilities = CAPABILITIES.iter().map(|name| {
        // What cannot be read counts as all of them.
        let set = u64::from_str_radix(status.field(name), 16).unwrap_or(u64::MAX);
        ((*name).to_owned(), set)
    });
    ThreadRecord {
        ids: numbers(&IDS),
        capabilities: capabilities.collect(),
        limits: numbers(&LIMITS),
        groups,
    }
}

/// What a link of a process leads to, if it is there and that has a path.
fn file(process: u32, name: &str) -> io::Result<Option<FileRecord>> {
    match linked(process, name) {
        Err(error) if has_ended(&error) => Ok(None),
        other => other,
    }
}

fn linked(process: u32, name: &str) -> io::Result<Option<FileRecord>> {
    let link = procfs::file(process, name);
    let path = fs::read_link(&link)?.to_string_lossy().into_owned();
    if !path.starts_with('/') {
        return Ok(None);
    }
    let (opened, found) = (fs::symlink_metadata(&link)?, fs::metadata(&link)?);
    Ok(Some(FileRecord {
        path,
        access: opened.mode() >> ACCESS_SHIFT & ACCESS,
        mode: found.mode(),
        uid: found.uid(),
        gid: found.gid(),
        inode: found.ino(),
        device: found.rdev(),
        links: found.nlink(),
    }))
}
