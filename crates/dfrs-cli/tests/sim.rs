//! `dfrs sim` as its user sees it: output, errors, files, exit code.

mod common;

use std::path::Path;

use common::{Scratch, dfrs};

/// Two jobs that share a node or come one after the other.
const TRACE: &str = "id,submit,tasks,cpu,mem,runtime\na,0,1,1.0,0.1,100\nb,50,1,1.0,0.1,100\n";

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(path)).expect("a file")
}

#[test]
fn json_has_one_object_per_policy_in_order() {
    let scratch = Scratch::new("json");
    let trace = scratch.file("trace.csv", TRACE);
    let (code, output, errors) = dfrs(&[
        "sim",
        &trace,
        "--nodes",
        "1",
        "--format",
        "json",
        "--policy",
        "Greedy*/OPT=MIN",
        "--policy",
        "FCFS",
    ]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let results: Vec<serde_json::Value> = serde_json::from_str(&output).expect("an array");
    let names: Vec<&str> = results[0]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = [
        "policy",
        "jobs",
        "max_stretch",
        "mean_stretch",
        "bound",
        "degradation",
        "normalized_underutilization",
        "normalized_stalled",
        "makespan",
        "pauses",
        "migrations",
        "pause_gb",
        "migration_gb",
        "decide_seconds_mean",
        "decide_seconds_max",
        "degradation_from_best",
        "max_stretch_10s",
        "mean_stretch_10s",
        "max_stretch_30s",
        "mean_stretch_30s",
        "mean_wait",
        "mean_turnaround",
        "utilization",
        "pauses_per_hour",
        "migrations_per_hour",
        "pauses_per_job",
        "migrations_per_job",
        "pause_gb_per_second",
        "migration_gb_per_second",
        "median_stretch",
        "stretch_90",
        "stretch_99",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(
        (&results[0]["policy"], &results[1]["policy"]),
        (&"Greedy*/OPT=MIN".into(), &"FCFS".into())
    );
    assert_eq!(
        (&results[0]["max_stretch"], &results[1]["max_stretch"]),
        (&1.5.into(), &1.5.into())
    );
    assert_eq!(
        (&results[0]["mean_stretch"], &results[1]["mean_stretch"]),
        (&1.5.into(), &1.25.into())
    );
    assert!(results[0]["bound"].is_null() && results[0]["degradation"].is_null());
}

#[test]
fn the_journal_passes_the_check_and_jobs_are_written() {
    let scratch = Scratch::new("files");
    let trace = scratch.file("trace.csv", TRACE);
    let (journal, jobs) = (scratch.file("journal", ""), scratch.file("jobs", ""));
    let (code, _, errors) = dfrs(&[
        "sim",
        &trace,
        "--nodes",
        "1",
        "--policy",
        "EASY",
        "--journal",
        &journal,
        "--jobs-csv",
        &jobs,
    ]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let (code, output, _) = dfrs(&["check", &journal]);
    assert_eq!(code, 0);
    assert!(output.contains("submitted 2, finished 2"), "{output}");
    let lines = read(&jobs);
    assert!(
        lines.starts_with("job_id,submission_time,requested_number_of_resources,"),
        "{lines}"
    );
    assert!(
        lines.ends_with("b,50,1,100,1,100,100,200,50,150,1.5,0,w0,0,0\n"),
        "{lines}"
    );
}

#[test]
fn left_out_lines_and_jobs_are_reported_or_refused() {
    let scratch = Scratch::new("bad");
    let trace = scratch.file("trace.csv", &format!("{TRACE}c,1\nd,1,3,1,0.9,1\n"));
    let anonymized = |output: String| output.replace(&trace, "FILE");
    let arguments = [
        "sim", &trace, "--nodes", "2", "--policy", "Greedy*", "--format", "csv",
    ];
    let (code, output, errors) = dfrs(&arguments);
    assert_eq!(code, 0);
    assert!(
        output
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("Greedy*,2,")),
        "{output}"
    );
    let left_out = "FILE: line 4: has 2 columns, expected are the 6 of id,submit,tasks,cpu,mem,runtime\n\
         FILE: left out, malformed lines: 1\n\
         FILE: job d does not fit on 2 nodes (the memory of its 3 tasks is too much)\n\
         FILE: left out, jobs that do not fit on 2 nodes: 1\n";
    assert_eq!(anonymized(errors), left_out);
    let (code, _, errors) = dfrs(&["replay", &trace, "--nodes", "2"]);
    assert_eq!(code, 0, "{errors}");
    assert!(anonymized(errors).starts_with(left_out));
    let (code, output, errors) = dfrs(&[&arguments[..], &["--strict"]].concat());
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(
        errors.contains("line 4:") && errors.lines().count() == 1,
        "{errors}"
    );
}

#[test]
fn bad_input_is_one_line_and_code_2() {
    let scratch = Scratch::new("errors");
    let trace = scratch.file("trace.csv", TRACE);
    let fails = |arguments: &[&str], words: &str| {
        let (code, output, errors) = dfrs(&[&["sim"], arguments].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(words), "{errors}");
        errors
    };
    let one_line = |arguments: &[&str], words: &str| {
        assert_eq!(fails(arguments, words).lines().count(), 1);
    };
    one_line(
        &["/nowhere", "--nodes", "1", "--policy", "FCFS"],
        "/nowhere: cannot be opened",
    );
    one_line(&[&trace, "--policy", "FCFS"], "give --nodes");
    let two = [
        &trace,
        "--nodes",
        "1",
        "--policy",
        "FCFS",
        "--policy",
        "EASY",
        "--journal",
        "j",
    ];
    one_line(&two, "--journal is for one policy");
    let nowhere = [
        &trace,
        "--nodes",
        "1",
        "--policy",
        "FCFS",
        "--journal",
        "/nowhere/j",
    ];
    one_line(&nowhere, "/nowhere/j: cannot be written");
    one_line(&[&trace, "--nodes", "1", "--policy", "SJF"], "SJF");
    one_line(&[&trace, "--nodes", "0", "--policy", "FCFS"], "0");
    one_line(
        &[&trace, "--nodes", "1", "--policy", "FCFS", "--period", "0"],
        "above 0",
    );
    one_line(&[&trace, "--nodes", "1"], "not provided: --policy <NAME>");
    one_line(&["--policy", "FCFS"], "not provided: <TRACE>");
    one_line(&[&trace, "--polcy", "FCFS"], "'--policy'; try --help");
}

#[test]
fn all_policies_are_listed_without_a_trace() {
    let (code, output, errors) = dfrs(&["sim", "--list-policies"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let names: Vec<&str> = output
        .lines()
        .map(|line| line.split_once("  ").expect("a name and a description").0)
        .collect();
    for name in [
        "FCFS",
        "EASY",
        "EASY/no-shadow",
        "Conservative",
        "EASY/shared",
        "GreedyPM*/per/OPT=MIN/MINVT=600",
        "/stretch-per/OPT=MAX",
        "GREEDY-PMTN-MIGR",
        "DYNMCB8-ASAP-PER 600",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    // 116 of the TPDS paper, 7 of the IPDPS paper beside FCFS and EASY, 4 of ours, and 12 batch
    // schedulers.
    assert_eq!(names.len(), 139);
    let scratch = Scratch::new("list");
    // A quarter of the cores is not for jobs without GPUs under EASY/restricted.
    let trace = scratch.file("trace.csv", &TRACE.replace(",1.0,", ",0.75,"));
    for name in names {
        let (code, _, errors) = dfrs(&["sim", &trace, "--nodes", "1", "--policy", name]);
        assert_eq!((code, errors.as_str()), (0, ""), "{name}");
    }
}

/// However many policies run at once, each has the same results as alone.
#[test]
fn policies_run_together_give_the_results_of_each_alone() {
    let scratch = Scratch::new("side");
    let lines: String = (0..40)
        .map(|job| {
            format!(
                "{job},{},{},1,0.4,{}\n",
                job * 7,
                job % 3 + 1,
                job * 53 % 400
            )
        })
        .collect();
    let trace = scratch.file("trace.csv", &lines);
    let names = [
        "Conservative",
        "MCB8*/per/OPT=MIN",
        "GreedyPM*",
        "EASY",
        "/per/OPT=AVG",
    ];
    let run = |names: &[&str]| -> Vec<serde_json::Value> {
        let mut call = vec!["sim", &trace, "--nodes", "3", "--format", "json"];
        call.extend(["--mobility", "park=0.5,never=0.2"]);
        call.extend(names.iter().flat_map(|name| ["--policy", name]));
        let (code, output, errors) = dfrs(&call);
        assert_eq!((code, errors.as_str()), (0, ""));
        let mut results: Vec<serde_json::Value> = serde_json::from_str(&output).expect("an array");
        for result in &mut results {
            let measured = ["decide_seconds_mean", "decide_seconds_max"];
            for different in measured.iter().chain(&["degradation_from_best"]) {
                result[different].take();
            }
        }
        results
    };
    let alone: Vec<serde_json::Value> = names.iter().flat_map(|name| run(&[name])).collect();
    assert_eq!(run(&names), alone);
}

/// Two jobs that do not fit side by side.
const TWO_LARGE_JOBS: &str = "long,0,1,1,0.6,1000\nnew,100,1,1,0.6,10\n";

#[test]
fn pauses_and_makespan_follow_mobility_and_cost() {
    let scratch = Scratch::new("mobility");
    let trace = scratch.file("trace.csv", TWO_LARGE_JOBS);
    let journal = scratch.file("journal", "");
    let run = |options: &[&str]| {
        let fixed = ["sim", &trace, "--nodes", "1", "--policy", "GreedyPM*"];
        let written = ["--format", "json", "--journal", &journal];
        let (code, output, errors) = dfrs(&[&fixed[..], &written, options].concat());
        assert_eq!((code, errors.as_str()), (0, ""));
        let (code, ..) = dfrs(&["check", &journal]);
        assert_eq!(code, 0, "{options:?}");
        let results: serde_json::Value = serde_json::from_str(&output).expect("an array");
        (
            results[0]["pauses"].as_u64().expect("a number"),
            results[0]["makespan"].as_f64().expect("a number"),
        )
    };
    assert_eq!(run(&[]), (1, 1310.0));
    assert_eq!(run(&["--penalty", "30"]), (1, 1040.0));
    assert_eq!(run(&["--checkpoint-cost", "30+10/GB"]), (1, 1088.0));
    assert_eq!(run(&["--park-cost", "30+10/GB"]), (1, 1310.0));
    let park = ["--mobility", "park=1", "--park-cost", "30+10/GB"];
    assert_eq!(run(&park), (1, 1088.0));
    assert_eq!(run(&[&park[..], &["--swap", "0.5"]].concat()), (0, 1010.0));
    assert_eq!(run(&["--mobility", "restart=1"]), (1, 1110.0));
    assert_eq!(run(&["--mobility", "never=1", "--seed", "7"]), (0, 1010.0));
    // Of the four ways in which two jobs can be of two kinds, seeds find more than one.
    let drawn: std::collections::BTreeSet<u64> = (0..12)
        .map(|seed| run(&["--mobility", "never=0.5", "--seed", &seed.to_string()]).0)
        .collect();
    assert_eq!(drawn.len(), 2);
}

#[test]
fn invalid_mobility_is_refused() {
    let scratch = Scratch::new("kinds");
    let trace = scratch.file("trace.csv", TWO_LARGE_JOBS);
    for (option, value, words) in [
        ("--mobility", "park=0.9,never=0.2", "more than 1"),
        ("--mobility", "swim=1", "\"swim\" is no kind"),
        ("--mobility", "park", "KIND=SHARE"),
        ("--park-cost", "fast", "\"fast\" is no cost"),
        ("--swap", "1001", "a multiple of a node's memory"),
        ("--estimates", "none", "perfect, user"),
    ] {
        let fixed = ["sim", &trace, "--nodes", "1", "--policy", "EASY"];
        let (code, output, errors) = dfrs(&[&fixed[..], &[option, value]].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(words), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

#[test]
fn estimates_of_users_come_from_the_trace() {
    let scratch = Scratch::new("estimates");
    // On 4 processors: the first takes 3 of them for 10 s and was to take 100 s; the second needs all
    // 4; the third is to take 50 s, and would delay the second if the first were known to end early.
    let line = |id: u32, runtime: u32, processors: u32, requested: i32| {
        format!("{id} {id} 0 {runtime} {processors} -1 -1 -1 {requested} -1 1 1 1 1 -1 -1 -1 -1\n")
    };
    // The last has the machine for itself.
    let others = [line(1, 10, 3, 100), line(2, 5, 4, -1), line(3, 50, 1, 50)].concat();
    let lines = [others, line(900, 9, 4, 5)];
    let trace = scratch.file("trace.swf", &format!("; MaxProcs: 4\n{}", lines.concat()));
    let jobs = scratch.file("jobs", "");
    let starts = |policy: &str, estimates: &str| -> Vec<String> {
        let fixed = ["sim", &trace, "--policy", policy, "--jobs-csv", &jobs];
        let (code, _, errors) = dfrs(&[&fixed[..], &["--estimates", estimates]].concat());
        let expected = match estimates {
            "perfect" => "",
            _ => {
                "FILE: note: jobs without an estimate, whose run times are taken as known: 1 of 4\n\
                  FILE: note: jobs that ran longer than estimated, and are not stopped: 1 of 4\n"
            }
        };
        assert_eq!(
            (code, errors.replace(&trace, "FILE").as_str()),
            (0, expected)
        );
        let text = read(&jobs);
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').nth(5).expect("a start").into())
            .collect()
    };
    for policy in ["EASY", "Conservative"] {
        assert_eq!(
            starts(policy, "perfect"),
            ["1", "11", "16", "900"],
            "{policy}"
        );
        assert_eq!(starts(policy, "user"), ["1", "53", "3", "900"], "{policy}");
    }
    assert_eq!(starts("FCFS", "user"), ["1", "11", "16", "900"]);
    let column = |number: usize| -> Vec<String> {
        let text = read(&jobs);
        let values = text.lines().map(|row| row.split(',').nth(number));
        values
            .map(|value| value.expect("a column").into())
            .collect()
    };
    // What was requested; the run time where that is unknown.
    let requested = ["requested_time", "100", "5", "50", "5"];
    assert_eq!(column(3), requested);
    starts("EASY", "perfect");
    assert_eq!(column(3), requested);
    assert_eq!(column(6), ["execution_time", "10", "5", "50", "9"]);
}

#[test]
fn input_and_output_files_are_not_overwritten() {
    let scratch = Scratch::new("over");
    let trace = scratch.file("trace.csv", TRACE);
    let name = scratch.directory().file_name().expect("a name");
    let same = scratch.directory().join("./../").join(name);
    let same = same.join("trace.csv").to_string_lossy().into_owned();
    let new = scratch.path("new");
    let call = ["sim", &trace, "--nodes", "1", "--policy", "FCFS"];
    for (options, words) in [
        (
            &["--journal", &trace][..],
            "--journal would overwrite the file that is read",
        ),
        (
            &["--jobs-csv", &same],
            "--jobs-csv would overwrite the file that is read",
        ),
        (
            &["--journal", &new, "--utilization-csv", &new],
            "--utilization-csv would overwrite that of --journal; name another file",
        ),
    ] {
        let (code, output, errors) = dfrs(&[&call[..], options].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(words), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    for call in [
        ["generate", "--from", &trace, "--output", &same],
        ["replay", &trace, "--nodes=1", "--output", &same],
    ] {
        let (code, _, errors) = dfrs(&call);
        assert_eq!(code, 2);
        assert!(
            errors.contains("--output would overwrite the file that is read"),
            "{errors}"
        );
    }
    assert_eq!(std::fs::read_to_string(&trace).expect("the trace"), TRACE);
    assert!(!Path::new(&new).exists());
    let devices = ["--journal", "/dev/null", "--jobs-csv", "/dev/null"];
    assert_eq!(dfrs(&[&call[..], &devices].concat()).0, 0);
    let (code, _, errors) = dfrs(&[&call[..], &["--gantt", "/dev/full"]].concat());
    assert_eq!(code, 2);
    assert!(errors.contains("/dev/full: cannot be written"), "{errors}");
}

#[test]
fn negative_value_is_reported_as_out_of_range() {
    for (option, words) in [
        ("--nodes", "-1 is not in 1..=1000000"),
        ("--penalty", "seconds, from 0 to"),
        ("--stretch-bound", "seconds, from 0 to"),
        ("--period", "seconds, from 0 to"),
        ("--swap", "from 0 to 1000"),
        ("--seed", "invalid digit"),
    ] {
        let (code, _, errors) = dfrs(&["sim", "trace", "--policy", "EASY", option, "-1"]);
        assert_eq!((code, errors.lines().count()), (2, 1), "{errors}");
        let value = format!("invalid value '-1' for '{option}");
        assert!(
            errors.contains(&value) && errors.contains(words),
            "{errors}"
        );
    }
}

#[test]
fn period_below_one_second_is_refused() {
    for period in ["0.000001", "0.999999"] {
        let (code, _, errors) = dfrs(&[
            "sim",
            "trace",
            "--policy",
            "/per/OPT=MIN",
            "--period",
            period,
        ]);
        assert_eq!(code, 2);
        assert!(errors.contains("allowed: seconds, at least 1"), "{errors}");
    }
}

#[test]
fn options_of_another_format_are_refused() {
    let scratch = Scratch::new("another-format");
    let trace = scratch.file("trace.csv", TRACE);
    for call in [
        &[
            "sim",
            &trace,
            "--policy",
            "EASY",
            "--nodes=1",
            "--cpus-per-node=4",
        ][..],
        &["bound", &trace, "--nodes=1", "--memory-per-node=4G"],
        &["replay", &trace, "--nodes=1", "--memory-per-node=4G"],
    ] {
        let (code, output, errors) = dfrs(call);
        assert_eq!(
            (code, output.as_str(), errors.lines().count()),
            (2, "", 1),
            "{errors}"
        );
        assert!(
            errors.contains("is no dump of sacct; leave out --"),
            "{errors}"
        );
    }
}

#[test]
fn swf_model_is_refused_for_other_formats() {
    let scratch = Scratch::new("model");
    let csv = scratch.file("trace.csv", TRACE);
    let dump = scratch.file(
        "dump",
        "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State\n\
         1|1000|1010|1100|1|1|1G||00:10.000||COMPLETED\n",
    );
    let journal = scratch.file("journal", "");
    let call = ["sim", &csv, "--nodes=1", "--policy=EASY", "--journal"];
    assert_eq!(dfrs(&[&call[..], &[&journal]].concat()).0, 0);
    let site = ["--nodes=1", "--cpus-per-node=1", "--memory-per-node=1G"];
    for (command, file, options, what) in [
        (&["sim", "--policy=EASY"][..], &csv, &site[..1], "CSV"),
        (&["bound"], &csv, &site[..1], "CSV"),
        (&["replay"], &csv, &site[..1], "CSV"),
        (&["generate", "--from"], &csv, &[], "CSV"),
        (&["sim", "--policy=EASY"], &dump, &site, "a dump of sacct"),
        (&["bound"], &dump, &site, "a dump of sacct"),
        (&["replay"], &dump, &site, "a dump of sacct"),
        (&["replay"], &journal, &[], "a journal"),
    ] {
        let call = [command, &[file.as_str()], options].concat();
        assert_eq!(dfrs(&call).0, 0, "{call:?}");
        let (code, output, errors) = dfrs(&[&call[..], &["--model=hpc2n"]].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        let prefix = if command[0] == "generate" {
            "dfrs generate: "
        } else {
            ""
        };
        assert_eq!(
            errors,
            format!("{prefix}{file}: is {what}, and --model hpc2n is for SWF; leave it out\n")
        );
    }
}

/// So many jobs, one a second, each of 1000 s on one node.
fn busy(jobs: u32) -> String {
    (0..jobs)
        .map(|id| format!("{id},{id},1,1,0,1000\n"))
        .collect()
}

#[test]
fn too_small_machine_is_refused() {
    let scratch = Scratch::new("too-small");
    let many = scratch.file("many.csv", &busy(40_000));
    let month = scratch.file("month.csv", &busy(9_000));
    for (call, nodes) in [
        (
            ["sim", &many, "--nodes=1", "--policy=Greedy*/per/OPT=MIN"],
            976,
        ),
        (["replay", &month, "--nodes=1", "--strict"], 901),
    ] {
        let (code, output, errors) = dfrs(&call);
        assert_eq!(
            (code, output.as_str(), errors.lines().count()),
            (2, "", 1),
            "{errors}"
        );
        assert!(errors.contains("the machine is too small"), "{errors}");
        assert!(
            errors.contains(&format!("use --nodes {nodes} or more")),
            "{errors}"
        );
    }
    // Batch schedulers are not refused, nor are a few jobs.
    assert_eq!(dfrs(&["sim", &many, "--nodes=1", "--policy=EASY"]).0, 0);
    let few = scratch.file("few.csv", &busy(50));
    assert_eq!(dfrs(&["replay", &few, "--nodes=1"]).0, 0);
}

#[test]
fn csv_limits_and_mobility_are_used() {
    let scratch = Scratch::new("limits");
    // As EASY knows them, `c` ends before `b` can start; as users say, it does not.
    let lines = "id,submit,tasks,cpu,mem,runtime,limit,mobility\n\
        a,0,1,1,1,100,100,never\nb,1,2,1,1,10,10,\nc,2,1,1,1,90,200,\nd,3,1,1,1,1,x,\n";
    let trace = scratch.file("trace.csv", lines);
    let run = |more: &[&str]| {
        let fixed = [
            "sim",
            &trace,
            "--nodes",
            "2",
            "--policy",
            "EASY",
            "--jobs-csv",
        ];
        let jobs = scratch.file("jobs.csv", "");
        let (code, _, errors) = dfrs(&[&fixed[..], &[&jobs], more].concat());
        assert_eq!(code, 0, "{errors}");
        let start = |line: &str| line.split(',').nth(5).map(str::to_owned);
        let starts: Vec<String> = read(&jobs).lines().skip(1).filter_map(start).collect();
        (starts, errors)
    };
    let odd = format!(
        "{trace}: note: time limits that make no sense, taken as unknown: 1; the first: line 5: the limit is \"x\", allowed are 0 to 4294967296 s\n"
    );
    let (starts, errors) = run(&[]);
    assert_eq!((starts[2].as_str(), &errors), ("2", &odd));
    let (starts, errors) = run(&["--estimates", "user"]);
    assert_eq!(starts[2], "110");
    assert!(
        errors.contains("jobs without an estimate, whose run times are taken as known: 1 of 4")
    );
}

#[test]
fn period_in_policy_name_must_match_the_option() {
    let scratch = Scratch::new("period");
    let trace = scratch.file("trace.csv", TRACE);
    let run = |policy: &str, period: &str| {
        let fixed = ["sim", &trace, "--nodes", "1", "--format", "csv"];
        dfrs(&[&fixed[..], &["--policy", policy, "--period", period]].concat())
    };
    for (policy, period) in [("DYNMCB8-PER", "60"), ("DYNMCB8-PER 60", "60")] {
        let (code, output, errors) = run(policy, period);
        assert_eq!((code, errors.as_str()), (0, ""));
        assert!(output.contains("\nDYNMCB8-PER 60,"), "{output}");
    }
    let (code, output, errors) = run("DYNMCB8-PER 60", "600");
    let expected = "dfrs sim: a period of 600 s contradicts the one in the policy's name DYNMCB8-PER 60; keep one\n";
    assert_eq!((code, output.as_str(), errors.as_str()), (2, "", expected));
}

#[test]
fn option_without_effect_is_reported() {
    let scratch = Scratch::new("idle");
    let trace = scratch.file("trace.csv", TRACE);
    let note = |command: &str, more: &[&str]| {
        let policy = "GreedyPMC*/move-per/OPT=VT/MINVT=600";
        let fixed = [command, &trace, "--nodes", "2", "--policy", policy];
        let (code, _, errors) = dfrs(&[&fixed[..], more].concat());
        assert_eq!(code, 0, "{errors}");
        errors.replace(&trace, "FILE")
    };
    for command in ["sim", "replay"] {
        assert_eq!(
            note(command, &["--cpu", "requested"]),
            "FILE: note: the file is no dump of sacct, so --cpu says nothing\n"
        );
        assert_eq!(
            note(command, &["--cpu", "requested", "--memory", "measured"]),
            "FILE: note: the file is no dump of sacct, so --cpu and --memory say nothing\n"
        );
        assert_eq!(note(command, &["--cpu", "measured"]), "");
    }
    let no_other = "note: of all schedulers only the policy default asks for time limits here, so ";
    let notes = note("sim", &["--false-limits", "0.5"]);
    assert_eq!(
        notes,
        format!(
            "FILE: {no_other}--false-limits changes no other schedule; see --run-time-hint limits and --estimates user\n"
        )
    );
    let notes = note("sim", &["--round-limits"]);
    assert!(
        notes.contains(&format!("{no_other}--round-limits")),
        "{notes}"
    );
    for known in [["--run-time-hint", "limits"], ["--estimates", "user"]] {
        let notes = note(
            "sim",
            &[&known[..], &["--round-limits", "--false-limits", "0.5"]].concat(),
        );
        assert!(!notes.contains(no_other), "{notes}");
    }
}

/// Half of a node's CPUs from 20 to 60 s.
const OTHERS: &str = "id,submit,tasks,cpu,mem,runtime\no,20,1,0.5,0.1,40\n";

#[test]
fn jobs_beside_others_use_what_these_leave() {
    let scratch = Scratch::new("beside");
    let own = "id,submit,tasks,cpu,mem,runtime\na,0,1,1.0,0.1,100\n";
    let (own, others) = (
        scratch.file("own.csv", own),
        scratch.file("others.csv", OTHERS),
    );
    let arguments = [
        "sim",
        &own,
        "--nodes",
        "1",
        "--beside",
        &others,
        "--policy",
        "GreedyPM*",
    ];
    let (code, output, errors) = dfrs(&[&arguments[..], &["--format", "csv"]].concat());
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("others' jobs: 1 in 0.0 hours"), "{errors}");
    let mut lines = output.lines();
    assert!(
        lines
            .next()
            .is_some_and(|names| names.ends_with("utilization_before,utilization_after"))
    );
    assert!(
        lines.next().is_some_and(|line| line.ends_with(",0.5,1.0")),
        "{output}"
    );
    let (_, table, _) = dfrs(&arguments);
    assert!(
        table.contains("CPU before") && table.contains("0.5000"),
        "{table}"
    );
}

#[test]
fn gpus_that_are_stranded_are_a_column_where_jobs_have_gpus() {
    let scratch = Scratch::new("stranded");
    let trace = scratch.file(
        "gpus.csv",
        "id,submit,tasks,cpu,mem,runtime,gpus\na,0,1,1.0,0.1,100,0\nb,0,1,0.25,0.1,100,0.5\n",
    );
    let arguments = [
        "sim",
        &trace,
        "--nodes",
        "1",
        "--policy",
        "EASY/shared",
        "--policy",
        "default",
    ];
    let (code, table, errors) = dfrs(&arguments);
    assert_eq!(code, 0, "{errors}");
    let (_, csv, _) = dfrs(&[&arguments[..], &["--format", "csv"]].concat());
    assert!(table.contains("GPUs stranded"), "{table}");
    let ends: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.rsplit(',').next())
        .collect();
    assert_eq!(ends, ["stranded_gpus", "0.5", "0.0"], "{csv}");
}

#[test]
fn batch_policy_beside_others_is_refused() {
    let scratch = Scratch::new("beside-batch");
    let (own, others) = (
        scratch.file("own.csv", TRACE),
        scratch.file("others.csv", OTHERS),
    );
    let (code, _, errors) = dfrs(&[
        "sim", &own, "--nodes", "1", "--beside", &others, "--policy", "EASY",
    ]);
    assert_eq!(code, 2);
    assert_eq!(
        errors.trim_end(),
        "dfrs sim: --beside is for policies of DFRS, and EASY would start its jobs where others start theirs; others run under EASY/shared"
    );
}
