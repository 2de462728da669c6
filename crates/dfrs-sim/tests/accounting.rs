//! Dumps of Slurm's accounting: columns, odd jobs, malformed lines, and hostile ones.

mod common;

use std::fmt::Write;

use common::{settings, trace};
use dfrs_core::{Bytes, Cores, Span, Time};
use dfrs_sim::trace::sacct::{
    Dump, DumpError, MemoryRule, Rules, SacctRun, Site, SiteTrace, read_dump, to_trace,
};
use dfrs_sim::trace::{NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{JobRecord, simulate};
use proptest::prelude::*;

const ODD: &str = include_str!("data/sacct.txt");

/// What sacct of Slurm 24.11.5 printed of the mini-Slurm of docker/ with a database, some jobs of it.
const REAL: &str = include_str!("data/sacct-24.11.5.txt");

/// Written by hand as sacct prints what `jobacct_gather` measured: memory in every unit, of scripts, of MPI
/// steps, of steps side by side, of components, of later runs.
const MEMORY: &str = include_str!("data/sacct-memory.txt");

const HEADER: &str = "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State";

/// Midnight of the first of October 2026, UTC.
const OCTOBER: i64 = 1_790_812_800;

fn lenient(text: &str) -> Dump {
    read_dump(text.as_bytes(), false).unwrap_or_else(|error| panic!("{error}"))
}

fn run<'a>(dump: &'a Dump, id: &str) -> &'a SacctRun {
    let mut runs = dump.runs.iter();
    runs.find(|run| run.id == id)
        .unwrap_or_else(|| panic!("no run {id}"))
}

const fn mebibytes(count: u64) -> Option<Bytes> {
    Some(Bytes(count << 20))
}

fn seconds(after: i64) -> Time {
    Time::from_seconds(OCTOBER + after)
}

#[test]
fn every_kind_of_job_is_read() {
    let dump = lenient(ODD);
    let ids: Vec<&str> = dump.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "100", "101", "103+0", "103+1", "104", "108", "104#2", "102_1", "102_2"
        ]
    );
    let plain = run(&dump, "100");
    assert_eq!(
        (plain.submit, plain.start, plain.end),
        (seconds(0), seconds(10), seconds(3610))
    );
    assert_eq!((plain.nodes, plain.cpus, plain.line), (1, 4, 2));
    assert_eq!(
        (plain.requested, plain.resident),
        (mebibytes(8000), mebibytes(1000))
    );
    assert_eq!(
        (plain.cpu_time, plain.limit),
        (
            Some(Span::from_seconds(7200)),
            Some(Span::from_seconds(7200))
        )
    );
    assert_eq!(run(&dump, "108").submit, seconds(420)); // Eligible is unknown
    assert_eq!((dump.unfinished, dump.never_ran), (8, 2));
    assert_eq!(
        (dump.repeated, dump.components, dump.stray_steps),
        (1, 2, 1)
    );
    assert!(dump.eligible && !dump.unix_time);
}

#[test]
fn memory_and_cpu_time_come_from_the_steps() {
    let dump = lenient(ODD);
    // Beside the batch script: 16 tasks of 256M on two nodes, then 4 of 512M.
    let mpi = run(&dump, "101");
    assert_eq!(
        (mpi.requested, mpi.resident),
        (mebibytes(8 << 10), mebibytes(100 + 8 * 256))
    );
    assert_eq!((mpi.cpu_time, mpi.limit), (Some(Span(3_601_250_000)), None));
    // Each run of a job has steps of its own.
    assert_eq!(run(&dump, "104").resident, mebibytes(10));
    assert_eq!(run(&dump, "104#2").resident, mebibytes(20));
    assert_eq!(run(&dump, "104#2").cpu_time, Some(Span::from_seconds(900)));
    assert_eq!(run(&dump, "104").requested, None);
    // Per CPU, per node.
    assert_eq!(run(&dump, "102_2").requested, mebibytes(4 << 10));
    assert_eq!(run(&dump, "103+1").requested, mebibytes(1 << 10));
    assert_eq!(run(&dump, "103+0").resident, mebibytes(1536));
    // The job could not start before it was eligible.
    assert_eq!(run(&dump, "102_2").submit, seconds(1800));
    assert_eq!(run(&dump, "102_1").elapsed(), Span::ZERO);
}

#[test]
fn malformed_lines_are_reported_and_left_out() {
    let dump = lenient(ODD);
    let messages: Vec<String> = dump.bad.iter().map(ToString::to_string).collect();
    let expected = [
        "line 25: has 2 fields, the header names 14",
        "line 26: End is before Start; if local time went back",
        "line 27: NNodes is 0 and NCPUS 0",
        "line 28: ReqMem is \"lots\"",
        "line 29: JobID is \"x13\"",
        "line 30: this run of job 100 is on line 2 already",
        "line 31: State is \"\"",
    ];
    assert_eq!(messages.len(), expected.len(), "{messages:#?}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.starts_with(expected), "{message}");
    }
    assert_eq!(dump.bad_lines, messages.len());
    let strict = read_dump(ODD.as_bytes(), true);
    assert!(matches!(strict, Err(DumpError::Strict(bad)) if bad.line == 25));
}

#[test]
fn steps_without_a_number_of_tasks_have_one_on_each_cpu() {
    let dump = lenient(&format!(
        "{HEADER}\n\
         7.0|1000|1010|1100|2|8|0|100M|00:10.000||COMPLETED\n\
         7|1000|1010|1110|2|8|0||00:10.000|00:10:00|COMPLETED\n\
         7.interactive|1000|1101|1110|1|8|0|100M|00:01.000||COMPLETED\n\
         7.batch|1000|1101|1110|1|8|0||||\n"
    ));
    assert_eq!(run(&dump, "7").resident, mebibytes(400));
    assert_eq!(run(&dump, "7").cpu_time, Some(Span::from_seconds(11)));
    assert!(dump.unix_time && !dump.eligible);
    assert_eq!((dump.steps, dump.stray_steps), (3, 0));
}

#[test]
fn dump_without_max_rss_has_no_measured_memory() {
    let header = HEADER.replace("MaxRSS|", "");
    let line = "7|1000|1010|1110|2|8|4Gn|00:10.000|00:10:00|COMPLETED";
    let dump = lenient(&format!("{header}\n{line}\n"));
    assert_eq!((run(&dump, "7").resident, dump.has_memory), (None, false));
    assert_eq!(run(&dump, "7").requested, mebibytes(4096));
    assert!(lenient(ODD).has_memory);
}

/// The runs that had generic resources, by a dump whose column `name` has `field` in it.
fn with_gres(name: &str, field: &str) -> (bool, Option<String>) {
    let dump = lenient(&format!(
        "{HEADER}|{name}\n7|1000|1010|1110|2|8|0||00:10.000|00:10:00|COMPLETED|{field}\n"
    ));
    let found = run(&dump, "7").gres.as_deref().map(str::to_owned);
    (dump.has_gres, found)
}

#[test]
fn generic_resources_are_found_in_every_column_that_has_them() {
    for (name, field, expected) in [
        ("AllocTRES", "cpu=8,gres/gpu:a=4,gres/gpu=4", "gres/gpu=4"),
        ("ReqTRES", "cpu=8,gres/gpu=1", "gres/gpu=1"),
        ("AllocGRES", "gpu:2", "gpu:2"),
        ("ReqGRES", "gpu:2", "gpu:2"),
    ] {
        assert_eq!(
            with_gres(name, field),
            (true, Some(expected.to_owned())),
            "{name}"
        );
        assert_eq!(with_gres(name, ""), (true, None), "{name}");
    }
    assert_eq!(with_gres("Partition", "gpu"), (false, None));
}

#[test]
fn malformed_limit_is_unknown_and_reported() {
    let text =
        |limit: &str| format!("{HEADER}\n7|1000|1010|1110|2|8|0||00:10.000|{limit}|COMPLETED\n");
    let found = |limit: &str| {
        let dump = lenient(&text(limit));
        assert_eq!(dump.bad_lines, 0, "{limit}");
        (run(&dump, "7").limit, dump.invalid_limits.note())
    };
    assert_eq!(found("1-00"), (Some(Span::from_seconds(86_400)), None));
    assert_eq!(found("1-00:30"), (Some(Span::from_seconds(88_200)), None));
    for odd in ["99999999999-00:00:00", "soon"] {
        let (limit, note) = found(odd);
        assert_eq!(limit, None);
        let note = note.expect("a note");
        let expected = format!("taken as unknown: 1; the first: line 2: Timelimit is \"{odd}\"");
        assert!(note.contains(&expected), "{note}");
        let strict = read_dump(text(odd).as_bytes(), true);
        assert!(matches!(strict, Err(DumpError::Strict(bad)) if bad.line == 2));
    }
}

#[test]
fn real_dump_is_read_without_errors() {
    let dump = read_dump(REAL.as_bytes(), true).unwrap_or_else(|error| panic!("{error}"));
    let mut ids: Vec<&str> = dump.runs.iter().map(|run| run.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(
        ids,
        [
            "100", "37", "78", "78#2", "79", "79#2", "80", "92", "94", "95", "95#2", "96_0",
            "96_1", "98"
        ]
    );
    // Two run and one is suspended; one failed and one was cancelled before they ran.
    assert_eq!((dump.unfinished, dump.never_ran), (3, 2));
    assert_eq!((dump.repeated, dump.stray_steps, dump.bad_lines), (3, 0, 0));
    assert!(dump.eligible && dump.unix_time);
    // The job waited for another job.
    assert_eq!(run(&dump, "80").submit, Time::from_seconds(1_795_329_278));
    // Parked for 9 of 18 s.
    assert_eq!(run(&dump, "98").elapsed(), Span::from_seconds(9));
    // --mem-per-cpu=60, two CPUs on each of two nodes; --mem=100 on two nodes, of which ReqMem knows one.
    assert_eq!(run(&dump, "92").requested, mebibytes(120));
    assert_eq!(run(&dump, "94").requested, mebibytes(100));
    assert_eq!(run(&dump, "94").cpu_time, Some(Span(1_942_000)));
}

/// Memory on one node, in KiB, requested and measured.
const MEMORY_ON_A_NODE: [(&str, u32, u64, Option<u64>); 16] = [
    ("2001", 1, 16 << 20, Some(3_500_000)),
    // 16 tasks of 1.25G beside the script; afterwards 2 of 3G.
    ("2002", 2, 30 << 20, Some((20 << 20) + (12 << 10) + 124)),
    ("2003_1", 1, 512 << 10, Some(523_264)),
    ("2003_2", 1, 512 << 10, Some(210 << 10)),
    ("2004", 1, 4 << 20, Some(900 << 10)),
    ("2004#2", 1, 4 << 20, Some(112 * (1 << 20) / 100)),
    ("2004#3", 1, 4 << 20, Some(950 << 10)),
    ("2005+0", 1, 8 << 20, Some((4 << 20) + 4096)),
    ("2005+1", 2, 10 << 20, Some((8 * 700) << 10)),
    // 2 tasks of 1G and 6 of 2.5G at one time.
    ("2006", 1, 32 << 20, Some((17 << 20) + (5 << 10))),
    ("2007", 1, 4 << 20, Some(2 << 20)),
    // The job's own line has what its only step measured.
    ("2011", 2, 8 << 20, Some(6 << 20)),
    ("2012", 1, 24 << 20, Some((20 << 20) + (10 << 10))),
    ("2013", 1, 10 << 20, Some((8 << 20) + (6 << 10))),
    ("2014", 1, 2 << 20, None),
    ("2015", 1, 6 << 20, Some((7 << 19) + (300 << 10))),
];

#[test]
fn memory_is_that_of_all_tasks_of_a_node() {
    let dump = read_dump(MEMORY.as_bytes(), true).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> = dump
        .runs
        .iter()
        .map(|run| {
            let kibibytes = |bytes: Bytes| bytes.0 >> 10;
            let asked = run.requested.map_or(0, kibibytes);
            (
                run.id.as_str(),
                run.nodes,
                asked,
                run.resident.map(kibibytes),
            )
        })
        .collect();
    let mut expected = MEMORY_ON_A_NODE;
    expected.sort_by_key(|(id, ..)| dump.runs.iter().position(|run| run.id == *id));
    assert_eq!(found, expected);
    // One task of the array is pending and one job runs; two were cancelled before they ran.
    assert_eq!((dump.unfinished, dump.never_ran), (9, 2));
    assert_eq!(
        (dump.repeated, dump.components, dump.stray_steps),
        (2, 2, 0)
    );
    assert_eq!(run(&dump, "2007").elapsed(), Span::from_seconds(1500));
    assert_eq!(run(&dump, "2013").cpu_time, Some(Span(5_400_200_000)));
}

#[test]
fn measured_memory_has_headroom_up_to_the_request() {
    let dump = lenient(MEMORY);
    let gibibyte = 1u64 << 30;
    let site = Site {
        nodes: 4,
        cpus_per_node: 16,
        memory_per_node: Bytes(64 * gibibyte),
        gpus: None,
    };
    let rules = |memory| Rules {
        memory,
        ..Rules::default()
    };
    let asked = to_trace(&dump, &site, &rules(MemoryRule::Requested));
    let measured = to_trace(&dump, &site, &rules(MemoryRule::Measured));
    for traces in [&asked, &measured] {
        assert!(traces.misfits.lines.is_empty(), "{:?}", traces.misfits);
    }
    let node = u128::from(site.memory_per_node.0);
    let share = |bytes: u128| bytes * u128::from(NODE_MEMORY.0) / node;
    for (id, nodes, asked_for, used) in MEMORY_ON_A_NODE {
        let of = |traces: &SiteTrace| {
            let mut jobs = traces.trace.jobs.iter();
            let job = jobs.find(|job| job.id == id);
            job.map(|job| (job.tasks, u128::from(job.memory.0)))
        };
        let asked_for = u128::from(asked_for) << 10;
        // What is measured is rounded to a KiB above.
        let max = used.map_or(asked_for, |used| (u128::from(used + 1) << 10) * 12 / 10);
        let least = used.map_or(asked_for, |used| (u128::from(used) << 10) * 12 / 10);
        assert_eq!(of(&asked), Some((nodes, share(asked_for))), "{id}");
        let (tasks, memory) = of(&measured).unwrap_or_else(|| panic!("no job {id}"));
        assert_eq!(tasks, nodes, "{id}");
        let (least, max) = (least.min(asked_for), max.min(asked_for));
        assert!(
            (share(least)..=share(max)).contains(&memory),
            "{id}: {memory}"
        );
    }
    assert_eq!(measured.assumed.memory_not_measured, 1);
    assert_eq!(asked.assumed.memory_not_measured, 0);
}

#[test]
fn steps_of_several_components_have_a_task_on_each_cpu_too() {
    let dump = lenient(&format!(
        "{HEADER}\n\
         7|1000|1010|1110|1|8|0||00:10.000|00:10:00|COMPLETED\n\
         7.0+0|1000|1010|1100|1|2|0|100M|00:10.000||COMPLETED\n\
         7.0+1|1000|1010|1100|1|6|0|200M|00:10.000||COMPLETED\n"
    ));
    assert_eq!(run(&dump, "7").resident, mebibytes(1400));
}

#[test]
fn time_in_which_a_job_was_suspended_is_no_run_time() {
    let dump = lenient(
        "JobID|Submit|Start|End|Suspended|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State\n\
         7|1000|1010|1110|00:01:00|1|1|1G||00:20.000|00:10:00|COMPLETED\n\
         8|1000|1010|1110|00:05:00|1|1|1G||00:20.000|00:10:00|COMPLETED\n\
         9|1000|1010|1110||1|1|1G||00:20.000|00:10:00|COMPLETED\n\
         10|1000|1010|1110|long|1|1|1G||00:20.000|00:10:00|COMPLETED\n",
    );
    assert_eq!(run(&dump, "7").elapsed(), Span::from_seconds(40));
    // More than there was.
    assert_eq!(run(&dump, "8").elapsed(), Span::ZERO);
    assert_eq!(run(&dump, "9").elapsed(), Span::from_seconds(100));
    assert!(dump.bad[0].what.starts_with("Suspended is \"long\""));
    let site = Site {
        nodes: 1,
        cpus_per_node: 1,
        memory_per_node: Bytes(1 << 30),
        gpus: None,
    };
    let trace = to_trace(&dump, &site, &Rules::default()).trace;
    let first = &trace.jobs[0];
    assert_eq!(
        (first.runtime, first.cpu),
        (Span::from_seconds(40), Cores(500_000))
    );
    // The recorded schedule has the recorded end.
    let records = trace.recorded_schedule().expect("records");
    assert!(
        records
            .iter()
            .all(|record| record.finish == Time::from_seconds(1110))
    );
}

/// How a dump is refused of which these are the lines behind the header.
fn refused(header: &str, lines: &str) -> String {
    let read = read_dump(format!("{header}\n{lines}").as_bytes(), false);
    read.expect_err("an error").to_string()
}

#[test]
fn jobs_of_two_clusters_are_refused() {
    let header = format!("Cluster|{HEADER}");
    let line = "7|1000|1010|1100|1|1|1G||00:10.000||COMPLETED";
    assert_eq!(
        refused(&header, &format!("A|{line}\nB|{line}\n")),
        "line 3: is of cluster B, and lines before it of A; make a dump of each, with sacct --clusters=A, and replay them one by one"
    );
    let one = lenient(&format!(
        "{header}\nA|{line}\nB|no job|{line}\nA|8{}\n",
        &line[1..]
    ));
    assert_eq!((one.runs.len(), one.bad_lines), (2, 1));
}

#[test]
fn runs_of_one_job_do_not_overlap() {
    let run = |start: u32, end: u32| format!("7|1000|{start}|{end}|1|1|1G||00:10.000||COMPLETED\n");
    let found = |second: u32| {
        let dump = lenient(&format!(
            "{HEADER}\n{}{}",
            run(1010, 1100),
            run(second, 1300)
        ));
        (dump.repeated, dump.overlapping)
    };
    assert_eq!(found(1100), (1, 0));
    assert_eq!(found(1099), (1, 1));
}

#[test]
fn offsets_from_utc_are_part_of_a_time() {
    let line = |id: u32, start: &str, end: &str| {
        format!("{id}|2026-10-25T01:00:00+0200|{start}|{end}|1|4|8G||08:00:00|03:00:00|COMPLETED\n")
    };
    let first = line(1, "2026-10-25T01:30:00+0200", "2026-10-25T02:30:00+0100");
    let dump = lenient(&format!("{HEADER}\n{first}"));
    assert_eq!(run(&dump, "1").elapsed(), Span::from_seconds(7200));
    assert!(dump.unix_time);
    // Local time beside it is another clock.
    let second = line(2, "2026-10-25T01:30:00", "2026-10-25T02:30:00");
    let dump = lenient(&format!("{HEADER}\n{first}{second}"));
    assert_eq!(
        dump.bad[0].to_string(),
        "line 3: Start is local time, and times before it are not; make the whole dump with SLURM_TIME_FORMAT=%s"
    );
    let unix = "3|1000|2000|3000|1|4|8G||08:00:00|03:00:00|COMPLETED\n";
    let local = second.replace("01:00:00+0200", "01:00:00");
    let dump = lenient(&format!("{HEADER}\n{local}{unix}"));
    assert!(!dump.unix_time);
    assert!(
        dump.bad[0].what.starts_with(
            "Submit is UNIX seconds or has an offset from UTC, and times before it are local time"
        ),
        "{}",
        dump.bad[0]
    );
}

#[test]
fn job_is_read_when_its_name_has_a_bar() {
    let line = "1000|1010|1100|1|1|1G||00:10.000||COMPLETED";
    let (id, rest) = HEADER.split_once('|').expect("columns");
    let dump = lenient(&format!(
        "{id}|JobName|{rest}\n7|a|b||{line}\n8|plain|{line}\n"
    ));
    assert_eq!((dump.runs.len(), dump.bad_lines), (2, 0));
    assert_eq!(run(&dump, "7").end, Time::from_seconds(1100));
}

#[test]
fn a_header_that_ends_with_a_bar_is_read() {
    let line = "7|1000|1010|1100|1|1|1G||00:10.000||COMPLETED";
    for end in ["", "|"] {
        let dump = lenient(&format!("{HEADER}|\r\n{line}{end}\r\n"));
        assert_eq!((dump.runs.len(), dump.bad_lines), (1, 0), "{end}");
    }
}

#[test]
fn a_file_that_is_no_dump_is_refused_with_the_command_to_run() {
    let error = |text: &str| {
        let error = read_dump(text.as_bytes(), false)
            .expect_err("an error")
            .to_string();
        assert!(
            error.contains("sacct --allusers --duplicates --parsable2"),
            "{error}"
        );
        assert!(!error.contains('\n'), "{error}");
        error
    };
    assert!(error("").contains("the file is empty"));
    assert!(error("\n\nJobID|State\n").contains("line 3: columns are missing: Submit, Start"));
    assert!(error("1 2 3\n").contains("does not name columns"));
    assert!(error("JobID  JobName\n---- ---\n").contains("--parsable2 writes"));
    assert!(error(HEADER).contains("has no job that ran and ended"));
    let pending = format!("{HEADER}\n1|1000|Unknown|Unknown|1|1|1G|||01:00:00|PENDING\n");
    assert!(error(&pending).contains("no job that ran"));
    assert!(error(&format!("{HEADER}\nx\n")).contains("line 2: has 1 fields"));
}

#[test]
fn hostile_bytes_are_errors_and_nothing_else() {
    let with = |line: &[u8]| {
        let good = "\n1|1000|1010|1100|1|1|1G||00:10.000||COMPLETED\n";
        let mut text = [HEADER.as_bytes(), good.as_bytes()].concat();
        text.extend_from_slice(line);
        text.push(b'\n');
        read_dump(&text[..], false)
    };
    for line in [
        &b"2|1000|1010|1100|1|1|1G||00:10.000||COMP\0LETED"[..],
        b"2\0|1000|1010|1100|1|1|1G||00:10.000||COMPLETED",
        b"\xff\xfe|1000|1010|1100|1|1|1G||00:10.000||COMPLETED",
        b"2|1000|1010|1100|99999999999|1|1G||00:10.000||COMPLETED",
        b"2|1000|1010|1100|4294967295|4294967295|1G||00:10.000||COMPLETED",
        b"2|1000|1010|99999999999999999999|1|1|1G||00:10.000||COMPLETED",
        b"2|1000|1010|1100|1|1|1G||9223372036854775807-00:00:00||COMPLETED",
        b"2|1000|1010|1100|1|1|99999999P||00:10.000||COMPLETED",
        b"||||||||||",
        b"|",
        b"\xff",
    ] {
        let dump = with(line).expect("a dump");
        assert_eq!(
            (dump.runs.len(), dump.bad_lines),
            (1, 1),
            "{}",
            line.escape_ascii()
        );
    }
    let endless = with(&vec![b'1'; 1 << 20]);
    assert!(
        matches!(endless, Err(DumpError::Io { line: 3, .. })),
        "{endless:?}"
    );
}

/// A dump as sacct would print it, had the jobs of this trace run as the records say on nodes with so many
/// CPUs and so many MiB: for tests, because no site's own dump may be here.
fn dump_of(trace: &Trace, records: &[JobRecord], cpus: u64, mebibytes: u64) -> String {
    let mut text = String::from(
        "State|JobID|Submit|Start|End|NNodes|NCPUS|NTasks|ReqMem|MaxRSS|TotalCPU|Timelimit\n",
    );
    for (job, record) in trace.jobs.iter().zip(records) {
        let second = |time: Time| time.0 / 1_000_000;
        let (submit, start, end) = (
            second(job.submit),
            second(record.start),
            second(record.finish),
        );
        let tasks = u64::from(job.tasks);
        let memory = u128::from(job.memory.0) * u128::from(mebibytes) / u128::from(NODE_MEMORY.0);
        let time =
            u64::try_from(end - start).expect("a run time") * tasks * job.cpu.0 * cpus / 1_000_000;
        let (hours, minutes, rest) = (time / 3600, time / 60 % 60, time % 60);
        let id = &job.id;
        let _ = writeln!(
            text,
            "COMPLETED|{id}|{submit}|{start}|{end}|{tasks}|{}||{memory}Mn||{hours:02}:{minutes:02}:{rest:02}|",
            tasks * cpus
        );
        let _ = writeln!(
            text,
            "COMPLETED|{id}.0|{start}|{start}|{end}|{tasks}|{}|{tasks}||{memory}M|{hours:02}:{minutes:02}:{rest:02}|",
            tasks * cpus
        );
    }
    text
}

#[test]
fn a_simulated_site_reads_its_own_jobs_back() {
    let jobs =
        "1,0,4,1,0.5,1000\n2,10,2,0.5,0.25,500\n3,20,3,0.25,1,700\n4,30,1,0.125,0.125,3600\n";
    let mut before = trace(jobs);
    before.count_cpus(1); // each has whole nodes
    let easy = "EASY".parse().expect("a policy");
    let outcome = simulate(&before, &easy, &settings(4), None).expect("an outcome");
    let dump = lenient(&dump_of(&before, &outcome.jobs, 8, 1 << 10));
    let site = Site {
        nodes: 4,
        cpus_per_node: 8,
        memory_per_node: Bytes(1 << 30),
        gpus: None,
    };
    let after = to_trace(&dump, &site, &Rules::default());
    assert_eq!(
        after.trace.recorded_schedule().as_ref(),
        Some(&outcome.jobs)
    );
    let without_waits = |mut job: TraceJob| {
        job.waited = None;
        job
    };
    let jobs: Vec<TraceJob> = after.trace.jobs.into_iter().map(without_waits).collect();
    assert_eq!(jobs, before.jobs);
    assert!(after.misfits.lines.is_empty() && dump.bad.is_empty());
    // All jobs had whole nodes: by CPUs the same happens.
    let by_cpus = simulate(&after.by_cpus, &easy, &settings(32), None).expect("an outcome");
    assert_eq!(by_cpus.jobs, outcome.jobs);
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,12}",
        "[0-9]{1,4}[KMGTP]?[nc]?",
        "[0-9]{1,3}(-[0-9]{1,2})?(:[0-9]{2}){0,3}(\\.[0-9]{1,6})?",
        "[0-9]{1,4}(_[0-9]{1,2})?(\\+[0-9])?(\\.(batch|extern|[0-9]))?",
        Just("2026-10-25T02:30:00".to_owned()),
        Just("Unknown".to_owned()),
        Just("CANCELLED by 1000".to_owned()),
        Just("COMPLETED".to_owned()),
        Just(String::new()),
        "[ -~]{0,8}",
    ]
}

proptest! {
    #[test]
    fn no_line_is_lost_and_none_panics(
        lines in prop::collection::vec(prop::collection::vec(field(), 11), 0..8),
    ) {
        let mut text = format!("{HEADER}\n1|1000|1010|1100|1|1|1G||00:10.000||COMPLETED\n");
        for line in &lines {
            let _ = writeln!(text, "{}", line.join("|"));
        }
        let dump = lenient(&text);
        let counted = dump.runs.len() + dump.unfinished + dump.endless + dump.never_ran + dump.bad_lines + dump.steps
            + dump.stray_steps;
        prop_assert_eq!(counted, lines.len() + 1);
        for run in &dump.runs {
            prop_assert!(run.submit <= run.start && run.start <= run.end);
            prop_assert!(run.nodes >= 1 && run.cpus >= run.nodes);
        }
        let site = Site { nodes: 1 << 20, cpus_per_node: u32::MAX, memory_per_node: Bytes(1 << 60), gpus: None };
        let site_trace = to_trace(&dump, &site, &Rules::default());
        let left_out = site_trace.misfits.lines.len() + site_trace.generic.lines.len();
        prop_assert_eq!(site_trace.trace.jobs.len() + left_out, dump.runs.len());
    }

    #[test]
    fn any_bytes_are_a_dump_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = [HEADER.as_bytes(), b"\n", &bytes].concat();
        let _ = read_dump(&text[..], false);
        let _ = read_dump(&bytes[..], true);
    }
}
