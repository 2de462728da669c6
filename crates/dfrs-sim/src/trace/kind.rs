//! Files that are given in place of a trace or a dump of sacct, and are neither.

use super::lines::{GZIP, foreign, with_remedy};
use super::sacct::{self, COMMAND};

/// The most bytes of a message that are shown.
const MAX_SHOWN: usize = 100;

/// How text of other programs begins, and what it is. All of these are given in place of a dump of
/// sacct.
const TEXTS: [(&[&str], &str); 7] = [
    (
        &["%YAML", "---\n", "---\r", "jobs:", "meta:"],
        "is YAML, as sacct --yaml prints it",
    ),
    (
        &[
            "-- MySQL",
            "-- MariaDB",
            "/*!",
            "/*M!",
            "INSERT INTO",
            "CREATE TABLE",
        ],
        "is SQL, as a database dump of slurmdbd has it",
    ),
    (
        &["# To edit this file", "Cluster - "],
        "is what sacctmgr dump writes: accounts and limits, and no jobs",
    ),
    (
        &["JobId="],
        "is what scontrol show job prints or jobcomp/filetxt logs",
    ),
    (&["PARTITION "], "is what sinfo prints"),
    (&["%PDF"], "is PDF"),
    (&["JOBID "], "is what squeue prints"),
];

/// How messages begin that are where a dump should be, or before it.
const MESSAGES: [&str; 6] = [
    "sacct: ",
    "slurm_",
    "Slurm accounting storage is disabled",
    "bash: ",
    "sh: ",
    "ssh: ",
];

/// What the text that begins like this is, and what to do about it, if it is something that nothing
/// here reads; `None` for traces, dumps, journals, and unknown text. O(n).
pub fn foreign_text(head: &[u8]) -> Option<String> {
    if let Some(what) = foreign(head).or_else(|| binary(head)) {
        return Some(format!("is {}", with_remedy(what)));
    }
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    if sacct::names_columns(line) {
        return None;
    }
    if head.starts_with(b"<") {
        return Some(
            "is HTML or XML, as a web server sends it where it does not have a file, or not for every user; look at it, and download the file again".into(),
        );
    }
    let begins = |beginnings: &[&str]| {
        let mut beginnings = beginnings.iter();
        beginnings.any(|beginning| head.starts_with(beginning.as_bytes()))
    };
    if begins(&MESSAGES) {
        let message = String::from_utf8_lossy(&line[..line.len().min(MAX_SHOWN)]);
        return Some(format!(
            "begins with the message {:?}; a dump begins with the names of its columns, made with: {COMMAND}",
            message.trim_end()
        ));
    }
    let what = if is_json_of_others(head, line) {
        match has(head, b"\"jobs\"") {
            true => "is JSON, as sacct --json and squeue --json print it",
            false => "is JSON, and no journal of slurm-dfrs",
        }
    } else if has(line, b"NODELIST(REASON)") {
        "is what squeue prints"
    } else {
        TEXTS.iter().find(|(beginnings, _)| begins(beginnings))?.1
    };
    Some(format!("{what}; make a dump with: {COMMAND}"))
}

/// Whether it is JSON and no journal, each line of which is an object with its time and event.
fn is_json_of_others(head: &[u8], line: &[u8]) -> bool {
    let is_event = || has(line, b"\"t\"") || has(line, b"\"event\"");
    match head.first() {
        Some(b'{') => !is_event(),
        Some(b'[') => {
            let inside = head[1..].trim_ascii_start().first();
            matches!(inside, None | Some(b'{' | b'"' | b'[' | b']'))
        }
        _ => false,
    }
}

/// What bytes that are no text are, of whatever program.
fn binary(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&GZIP) {
        return Some("compressed with gzip twice");
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    let is_binary = line.first().is_some_and(|first| *first != 0) && line.contains(&0);
    is_binary.then_some("a binary file")
}

fn has(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_other_programs_is_named() {
        for (head, what) in [
            (
                "{\n  \"meta\": {},\n  \"jobs\": [",
                "is JSON, as sacct --json",
            ),
            ("\u{feff}{\"jobs\":[]}", "is JSON, as sacct --json"),
            ("[{\"id\": 1}]", "is JSON, and no journal"),
            ("{}", "is JSON, and no journal"),
            ("---\njobs:\n- account: a\n", "is YAML"),
            ("-- MariaDB dump 10.19\n", "is SQL"),
            (
                "# To edit this file start with a cluster line",
                "is what sacctmgr dump writes",
            ),
            ("JobId=7 JobName=a\n", "is what scontrol show job prints"),
            (
                "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n",
                "is what squeue prints",
            ),
            (
                "sacct: error: Problem talking to the database\n",
                "begins with the message \"sacct: error: Problem",
            ),
            ("\n<!DOCTYPE html>\n<html>", "is HTML or XML"),
            ("<?xml version=\"1.0\"?>", "is HTML or XML"),
        ] {
            let message = foreign_text(head.as_bytes()).unwrap_or_else(|| panic!("{head}"));
            assert!(message.starts_with(what), "{head}: {message}");
            assert!(
                !message.contains('\n') && message.contains("; "),
                "{message}"
            );
        }
    }

    #[test]
    fn binary_formats_are_named() {
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, what) in [
            (&tar[..], "is a tar archive; unpack it (tar -xf)"),
            (b"\x1f\x8b\x08\x08", "is compressed with gzip twice; "),
            (b"J\0o\0b\0I\0D\0", "is UTF-16; "),
            (b"\0J\0o\0b", "is UTF-16; "),
            (b"\x7fELF\x02\x01\x01\0", "is a binary file; "),
            (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; "),
        ] {
            let message = foreign_text(head).unwrap_or_default();
            assert!(message.starts_with(what), "{message}");
        }
        assert_eq!(foreign_text(b"\0\0\0\n\0"), None);
    }

    #[test]
    fn supported_formats_are_not_foreign() {
        for head in [
            "{\"t\":0,\"event\":\"platform\"}\n",
            "{\"t\":0}\n",
            "{\"event\":\"submit\",\"t\":0}\n",
            "JobID|Submit|State\n",
            "Cluster|JobID|Submit|State\n",
            "Account|JobID|Submit|State\n",
            "JobID        JobName  Partition\n",
            "; MaxProcs: 8\n",
            "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n",
            "id,submit,tasks,cpu,mem,runtime\n",
            "# a comment\n",
            "[a],0,1,1,1,5\n",
            "",
            "hello\n",
        ] {
            assert_eq!(foreign_text(head.as_bytes()), None, "{head}");
        }
    }
}
