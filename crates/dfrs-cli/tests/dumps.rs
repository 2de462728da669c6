//! Dumps of sacct as sites have them, each read by `dfrs replay` and by `dfrs trial`: what is left out is counted, and
//! what cannot be read is one line. Written by hand after files and reports of others.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{Scratch, dfrs};

const COLUMNS: &str =
    "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|AllocTRES|TotalCPU|Timelimit|State";

/// Three jobs that ran from start to end.
const ORDINARY: [&str; 3] = [
    "1|1000|1000|4600|1|4|4G|cpu=4,mem=4G|02:00:00|02:00:00|COMPLETED",
    "2|1010|1010|4600|1|4|4G|cpu=4,mem=4G|02:00:00|02:00:00|TIMEOUT",
    "3|1020|1020|4600|1|4|4G|cpu=4,mem=4G|02:00:00|02:00:00|OUT_OF_MEMORY",
];

/// What `dfrs replay` says of a file with this text, and what both commands say on standard error: the same.
fn said(text: &str, expected_code: i32) -> (String, String) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch::new(&number.to_string());
    let path = scratch.path("dump.txt");
    std::fs::write(&path, text).expect("a file");
    let site = [
        "--nodes",
        "8",
        "--cpus-per-node",
        "8",
        "--memory-per-node",
        "64G",
    ];
    let all = ["replay", "trial"].map(|command| {
        let (code, output, errors) = dfrs(&[&[command, path.as_str()][..], &site].concat());
        assert_eq!(code, expected_code, "{command}: {errors}");
        (output, errors.replace(&path, "FILE"))
    });
    let [(output, errors), (_, of_trial)] = all;
    assert_eq!(errors, of_trial);
    (output, errors)
}

/// Of the ordinary jobs and these lines so many jobs are left, and standard error has these words; none of none.
#[track_caller]
fn leaves(lines: &[&str], jobs: usize, words: &[&str]) {
    let all = [&[COLUMNS][..], &ORDINARY, lines].concat();
    let (output, errors) = said(&(all.join("\n") + "\n"), 0);
    let count = format!(": {jobs} jobs on 8 nodes");
    assert!(output.contains(&count), "{jobs}: {output}{errors}");
    for words in words {
        assert!(errors.contains(words), "{words} is not in {errors}");
    }
    assert_eq!(errors.is_empty(), words.is_empty(), "{errors}");
}

#[track_caller]
fn fails(text: &str, words: &str) {
    let (output, errors) = said(text, 2);
    let is_one_line = (output.as_str(), errors.lines().count()) == ("", 1);
    assert!(
        is_one_line && errors.contains(words),
        "{words}: {output}{errors}"
    );
}

#[test]
fn tasks_that_one_line_of_an_array_stands_for_are_counted() {
    let lines = [
        "10_1|1000|1000|4600|1|4|4G|cpu=4|02:00:00|02:00:00|COMPLETED",
        "10_[2-9%2]|1000|Unknown|Unknown|1|4|4G||00:00:00|02:00:00|PENDING",
        "11_[1,3,5-7]|1000|None|1300|1|0|4G||00:00:00|02:00:00|CANCELLED by 1000",
    ];
    let words = ["jobs that had not ended: 8\n", "before they started: 5\n"];
    leaves(&lines, 4, &words);
}

#[test]
fn components_and_runs_of_one_job_are_jobs() {
    let lines = [
        "20+0|1000|1000|4600|1|4|4G|cpu=4|02:00:00|02:00:00|COMPLETED",
        "20+0.batch|1000|1000|4600|1|4|||01:00:00||COMPLETED",
        "20+1|1000|1000|4600|2|8|8G|cpu=8|04:00:00|02:00:00|COMPLETED",
        "30|1000|1000|1500|1|4|4G|cpu=4|00:30:00|02:00:00|REQUEUED",
        "30|1000|1600|1900|1|4|4G|cpu=4|00:20:00|02:00:00|NODE_FAIL",
        "30|1000|2000|4600|1|4|4G|cpu=4|02:00:00|02:00:00|COMPLETED",
        "40|1000|1000|1500|1|4|4G|cpu=4|00:30:00|02:00:00|RESIZING",
        "40|1000|1500|4600|2|8|8G|cpu=8|04:00:00|02:00:00|COMPLETED",
    ];
    leaves(&lines, 10, &[]);
}

#[test]
fn unknown_end_is_that_of_a_running_or_of_a_runaway_job() {
    let lines = [
        "31|1000|1000|Unknown|1|4|4G|cpu=4|00:00:00|02:00:00|RUNNING",
        "32|1000|1000|Unknown|1|4|4G|cpu=4|00:00:00|02:00:00|COMPLETED",
        "33|1000|None|Unknown|1|0|4G||00:00:00|02:00:00|CANCELLED by 4294967294",
    ];
    let words = [
        "jobs that had not ended: 1\n",
        "runawayjobs): 1\n",
        "before they started: 1\n",
    ];
    leaves(&lines, 3, &words);
}

#[test]
fn jobs_cancelled_by_a_user_ran_if_they_started() {
    let lines = [
        "70|1000|1000|4600|1|4|4G|cpu=4|02:00:00|02:00:00|CANCELLED by 1000",
        "71|1000|1100|1100|1|4|4G|cpu=4|00:00:00|02:00:00|CANCELLED by 1000",
    ];
    leaves(&lines, 4, &["before they started: 1\n"]);
}

#[test]
fn memory_in_any_unit_is_read() {
    let lines = [
        "60|1000|1000|4600|1|4|0.004T|cpu=4,mem=4194304K|02:00:00|02:00:00|COMPLETED",
        "61|1000|1000|4600|1|4|4194304.50K||02:00:00|02:00:00|COMPLETED",
        "62|1000|1000|4600|1|4|4.00Gn||02:00:00|02:00:00|COMPLETED",
        "63|1000|1000|4600|1|4|1Gc||02:00:00|02:00:00|COMPLETED",
        "64|1000|1000|4600|1|4|4X||02:00:00|02:00:00|COMPLETED",
    ];
    let words = ["line 9: ReqMem is \"4X\"", "malformed lines: 1\n"];
    leaves(&lines, 7, &words);
}

#[test]
fn local_times_are_not_mixed_with_instants() {
    let local = |end: &str| {
        format!(
            "50|2026-10-25T01:30:00|2026-10-25T02:50:00|{end}|1|4|4G||00:10:00|02:00:00|COMPLETED"
        )
    };
    let words = [
        "is local time, and times before it are not",
        "malformed lines: 1\n",
    ];
    leaves(&[&local("2026-10-25T03:10:00")], 3, &words);
    let back = format!("{COLUMNS}\n{}\n", local("2026-10-25T02:10:00"));
    fails(&back, "if local time went back an hour");
    let start = "2026-10-25T01:30:00+0200";
    let job =
        format!("50|{start}|{start}|2026-10-25T02:30:00+0100|1|4|4G||02:00:00|04:00:00|COMPLETED");
    let (output, errors) = said(&format!("{COLUMNS}\n{job}\n"), 0);
    assert!(
        output.contains("1 jobs") && errors.is_empty(),
        "{output}{errors}"
    );
}

#[test]
fn bars_in_names_and_lists_of_nodes_that_are_cut_do_no_harm() {
    let jobs = [
        ("a|b|c", "n[001-004,0+"),
        ("plain", "None assigned"),
        ("", "n1"),
    ];
    let mut text = format!("JobName|{COLUMNS}|NodeList\n");
    for ((name, nodes), job) in jobs.iter().zip(ORDINARY) {
        text += &format!("{name}|{job}|{nodes}\n");
    }
    let (output, errors) = said(&text, 0);
    assert!(
        output.contains("3 jobs") && errors.is_empty(),
        "{output}{errors}"
    );
}

#[test]
fn order_of_columns_and_ends_of_lines_do_not_matter() {
    let lines = [&[COLUMNS][..], &ORDINARY].concat();
    let reversed = |line: &&str| line.split('|').rev().collect::<Vec<_>>().join("|");
    let reversed: Vec<String> = lines.iter().map(reversed).collect();
    let with_bars: Vec<String> = lines.iter().map(|line| format!("{line}|")).collect();
    for text in [
        reversed.join("\n"),
        lines.join("\r\n"),
        with_bars.join("\n\n"),
    ] {
        let (output, errors) = said(&text, 0);
        assert!(
            output.contains("3 jobs") && errors.is_empty(),
            "{output}{errors}"
        );
    }
    fails(
        &lines.join("\r"),
        "line 1: is the whole file, whose lines end with carriage returns",
    );
}

#[test]
fn files_without_a_header_or_without_jobs_are_refused() {
    fails("", "is empty");
    fails("\n\n", "has no job");
    fails(
        &format!("{COLUMNS}\n"),
        "has no job that ran and ended, nor another line",
    );
    fails(&ORDINARY.join("\n"), "was --noheader given?");
    fails("JobID      Submit\n1   1000\n", "--parsable2");
    fails("{\"jobs\": []}\n", "JSON");
    let pending = "9|1000|Unknown|Unknown|1|4|4G||00:00:00|02:00:00|PENDING";
    fails(
        &format!("{COLUMNS}\n{pending}\n"),
        "has no job that ran and ended",
    );
}

#[test]
fn second_header_and_a_last_line_that_is_cut_are_left_out() {
    let words = [
        "line 5: JobID is",
        "line 6: has 3 fields",
        "malformed lines: 2\n",
    ];
    leaves(&[COLUMNS, "9|1000|10"], 3, &words);
}

#[test]
fn way_to_keep_jobs_with_gpus_is_named_where_they_are_left_out() {
    let lines = [
        "90|1000|1000|4600|1|4|4G|cpu=4,gres/gpu:a100=2,gres/gpu=2|02:00:00|02:00:00|COMPLETED",
        "91|1000|1000|4600|1|4|4G|cpu=4,gres/gpu:v100=1|02:00:00|02:00:00|COMPLETED",
        "92|1000|1000|4600|1|4|4G|cpu=4,gres/shard=3|02:00:00|02:00:00|COMPLETED",
    ];
    let words = [
        "2 of 6 jobs had GPUs and are left out: --gpus-per-node",
        "devices: 3\n",
    ];
    leaves(&lines, 3, &words);
}
