//! `dfrs trial` as a site's administrator runs it.

mod common;

use common::{Scratch, dfrs};

const SITE: [&str; 6] = [
    "--nodes",
    "2",
    "--cpus-per-node",
    "4",
    "--memory-per-node",
    "16G",
];

/// Two nodes are full for two hours from 1000 s on; short jobs wait for them, and a job on both nodes after these.
fn dump(scratch: &Scratch) -> String {
    let mut text = String::from(
        "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|AllocTRES|TotalCPU|Timelimit|State\n\
         1|1000|1000|8200|1|4|4G|cpu=4|04:00:00|03:00:00|COMPLETED\n\
         2|1000|1000|8200|1|3|4G|cpu=3|06:00:00|03:00:00|COMPLETED\n\
         3|1010|8200|10000|2|8|8G|cpu=8|04:00:00|01:00:00|COMPLETED\n",
    );
    for id in 4..14 {
        let submit = 1100 + id * 10;
        let start = if id == 4 { submit } else { 10_000 };
        let end = start + 300;
        text += &format!("{id}|{submit}|{start}|{end}|1|2|1G|cpu=2|00:10:00|00:30:00|COMPLETED\n");
    }
    text += "20|2000|2000|2100|1|1|1G|cpu=1,gres/gpu=1|00:01:40|00:30:00|COMPLETED\n";
    let path = scratch.path("dump.txt");
    std::fs::write(&path, text).expect("a file");
    path
}

fn tries(arguments: &[&str]) -> (String, String) {
    let (code, output, errors) = dfrs(&[&["trial"], arguments].concat());
    assert_eq!(code, 0, "{errors}");
    (output, errors)
}

fn fails(arguments: &[&str], words: &str) {
    let (code, output, errors) = dfrs(&[&["trial"], arguments].concat());
    assert_eq!((code, output.as_str()), (2, ""), "{errors}");
    assert!(errors.contains(words), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn page_answers_what_the_month_would_have_been() {
    let scratch = Scratch::new("page");
    let dump = dump(&scratch);
    let (output, errors) = tries(&[&[dump.as_str()][..], &SITE].concat());
    for part in [
        "13 jobs on 2 nodes",
        "left out of the jobs that ran and ended: 1 of 14",
        "Short jobs on one node: 10 (76.9% of jobs",
        "Other jobs on one node: 2 (15.4% of jobs",
        "Jobs on several nodes: 1 (7.7% of jobs",
        "All jobs: 13",
        "Verdict\nDFRS on top: worth a try; jobs gain, and few lose.",
        "\nHanded over: ",
        "dfrs doctor --slurm-conf slurm.conf",
        "OverSubscribe=FORCE:1 PriorityTier=1",
        "Partition=short Mobility=restart",
    ] {
        assert!(
            output.to_lowercase().contains(&part.to_lowercase()),
            "{part} in {output}"
        );
    }
    for world in ["as it was", "backfill", "DFRS on top", "handed over"] {
        let begins = |line: &&str| line.starts_with(&format!("  {world}  "));
        assert_eq!(
            output.lines().filter(begins).count(),
            4,
            "{world}: {output}"
        );
    }
    let is_too_long = |line: &&str| line.chars().count() > 80 && !line.contains(&dump);
    assert_eq!(output.lines().find(is_too_long), None);
    assert!(errors.contains("left out, jobs that had GPUs"), "{errors}");
    // The same again.
    assert_eq!(tries(&[&[dump.as_str()][..], &SITE].concat()).0, output);
}

#[test]
fn command_of_the_next_step_works() {
    let scratch = Scratch::new("next");
    let dump = dump(&scratch);
    let (output, _) = tries(&[&[dump.as_str()][..], &SITE].concat());
    let start = output.find("  dfrs replay ").expect("a command");
    let command = output[start..].replace("\\\n", " ");
    let words: Vec<&str> = command
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    assert_eq!(words.last(), Some(&"page.html"), "{words:?}");
    let page = scratch.path("page.html");
    let last = words.len() - 1;
    let (code, _, errors) = dfrs(&[&words[1..last], &[page.as_str()]].concat());
    assert_eq!(code, 0, "{errors}");
}

#[test]
fn one_object_is_printed_for_programs() {
    let scratch = Scratch::new("json");
    let dump = dump(&scratch);
    let (output, _) = tries(&[&[dump.as_str()][..], &SITE, &["--json"]].concat());
    let object: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(object["version"], 1);
    assert_eq!(object["jobs"], 13);
    assert_eq!(object["groups"][0]["group"], "short");
    assert_eq!(object["groups"][0]["rows"][1]["world"], "backfill");
    assert_eq!(object["verdicts"][0]["advice"], "try");
}

#[test]
fn mobility_on_top_is_of_the_short_jobs_alone() {
    let scratch = Scratch::new("mobility");
    let path = scratch.path("jobs.csv");
    // A node; the long job takes all of it from 60 s to 7260 s, when the short one has run for a minute.
    let jobs =
        "id,submit,tasks,cpu,mem,runtime,limit\n1,0,1,0.5,0.1,600,3600\n2,60,1,1,0.1,7200,9000\n";
    std::fs::write(&path, jobs).expect("a file");
    let lost = |mobility: &str| {
        let (output, _) = tries(&[
            &path,
            "--nodes",
            "1",
            "--json",
            "--mobility-on-top",
            mobility,
        ]);
        let object: serde_json::Value = serde_json::from_str(&output).expect("JSON");
        let rows = &object["groups"][0]["rows"];
        assert_eq!(rows[1]["world"], "DFRS on top");
        rows[1]["mean_lost"].as_f64().expect("a number")
    };
    // It loses the minute that it has run, or keeps it.
    assert_eq!((lost("restart=1"), lost("park=1")), (7260.0, 7200.0));
}

#[test]
fn trace_without_short_jobs_has_nothing_on_top() {
    let scratch = Scratch::new("long");
    let path = scratch.path("jobs.csv");
    let jobs = "id,submit,tasks,cpu,mem,runtime\n1,0,1,1,0.1,7200\n2,10,2,1,0.1,9000\n";
    std::fs::write(&path, jobs).expect("a file");
    let (output, _) = tries(&[&path, "--nodes", "2", "--node-cpus", "8"]);
    assert!(
        output.contains("DFRS on top: nothing to gain; too few are short jobs on one node: 0."),
        "{output}"
    );
    assert!(
        !output.contains("  DFRS on top  ") && !output.contains("as it was"),
        "{output}"
    );
    assert!(
        output.contains("jobs.csv --nodes 2 --output page.html")
            || output.contains("jobs.csv --nodes 2 \\"),
        "{output}"
    );
}

#[test]
fn bad_call_is_one_line() {
    let scratch = Scratch::new("bad");
    let dump = dump(&scratch);
    fails(&["/nowhere", "--nodes", "2"], "/nowhere: cannot be opened");
    fails(&[&dump, "--nodes", "2"], "give --cpus-per-node");
    let policies = ["--policy", "default", "--policy", "GreedyPM*"];
    fails(
        &[&[dump.as_str()][..], &policies].concat(),
        "dfrs trial: takes one --policy",
    );
    fails(
        &[&dump, "--policy", "FCFS"],
        "dfrs trial: no --policy is one of DFRS",
    );
    fails(
        &[&[dump.as_str()][..], &SITE, &["--node-cpus", "4"]].concat(),
        "--node-cpus",
    );
    fails(
        &[&[dump.as_str()][..], &SITE, &["--strict"]].concat(),
        "leave out --strict",
    );
}

const SLURM_CONF: &str = "\
ClusterName=c
SlurmctldHost=h
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-2] CPUs=4 RealMemory=16384
PartitionName=main Nodes=ALL Default=YES
";

#[test]
fn nodes_are_those_of_slurm_conf() {
    let scratch = Scratch::new("site");
    let dump = dump(&scratch);
    let conf = scratch.path("slurm.conf");
    std::fs::write(&conf, SLURM_CONF).expect("a file");
    let (output, _) = tries(&[dump.as_str(), "--slurm-conf", &conf]);
    for part in [
        "2 nodes: 2 x 4 CPUs, 16384 MB",
        "DFRS can run here after",
        "13 jobs on 2 nodes",
        "--nodes 2 --cpus-per-node 4",
        "--memory-per-node 16384",
    ] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
    let cpus = ["--node-cpus", "8"];
    fails(
        &[&[dump.as_str(), "--slurm-conf", &conf][..], &cpus].concat(),
        "leave out --node-cpus",
    );
    let (given, _) = tries(&[dump.as_str(), "--slurm-conf", &conf, "--nodes", "3"]);
    assert!(given.contains("13 jobs on 3 nodes"), "{given}");
    fails(&[dump.as_str(), "--slurm-conf", "/no/such"], "/no/such");
}

#[test]
fn jobs_with_gpus_are_a_group_where_slurm_conf_has_gpus() {
    let scratch = Scratch::new("gpus");
    let dump = dump(&scratch);
    let conf = scratch.path("slurm.conf");
    let nodes = "NodeName=n1 CPUs=4 RealMemory=16384\n\
        NodeName=n2 CPUs=4 RealMemory=16384 Gres=gpu:a100:2";
    let text = SLURM_CONF.replace("NodeName=n[1-2] CPUs=4 RealMemory=16384", nodes);
    assert_ne!(text, SLURM_CONF);
    std::fs::write(&conf, text).expect("a file");
    let (output, errors) = tries(&[dump.as_str(), "--slurm-conf", &conf]);
    for part in [
        "14 jobs on 2 nodes",
        "Jobs with GPUs: 1 (7.1% of jobs",
        "--gpus-per-node 2 --gpu-nodes 1",
    ] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
    assert!(
        errors.contains("1 of 14 jobs had GPUs, which nothing shares"),
        "{errors}"
    );
    let given = ["--gpus-per-node", "2", "--gpu-nodes", "1"];
    let (as_options, _) = tries(&[&[dump.as_str()][..], &SITE, &given].concat());
    assert!(as_options.contains("Jobs with GPUs: 1"), "{as_options}");
}

#[test]
fn line_that_slurm_does_not_read_is_on_the_page() {
    let scratch = Scratch::new("unread");
    let (dump, conf) = (dump(&scratch), scratch.path("slurm.conf"));
    let text = format!("{SLURM_CONF}TaskPluginParam=Sched\n");
    std::fs::write(&conf, text).expect("a file");
    let (output, _) = tries(&[&dump, "--slurm-conf", &conf]);
    assert!(
        output
            .lines()
            .any(|line| line.starts_with("Note: ") && line.contains("TaskPluginParam")),
        "{output}"
    );
}

#[test]
fn nodes_without_memory_in_slurm_conf_have_what_is_given() {
    let scratch = Scratch::new("memory");
    let (dump, conf) = (dump(&scratch), scratch.path("slurm.conf"));
    let text = SLURM_CONF.replace(" RealMemory=16384", "");
    assert_ne!(text, SLURM_CONF);
    std::fs::write(&conf, text).expect("a file");
    let of_site = [&dump, "--slurm-conf", &conf];
    fails(&of_site, "give --memory-per-node");
    let (output, _) = tries(&[&of_site[..], &["--memory-per-node", "16G"]].concat());
    for part in ["13 jobs on 2 nodes", "--memory-per-node 16G"] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
}

#[test]
fn files_that_have_the_nodes_and_are_not_there_are_named() {
    let scratch = Scratch::new("include");
    let (dump, conf) = (dump(&scratch), scratch.path("slurm.conf"));
    std::fs::write(&conf, "ClusterName=c\nInclude of-nodes.conf\n").expect("a file");
    fails(
        &[&dump, "--slurm-conf", &conf],
        "has no nodes, and of-nodes.conf, which it includes",
    );
}

/// A site of eight nodes, all of which have two GPUs.
fn gpu_site(scratch: &Scratch) -> String {
    let nodes = "NodeName=n[1-8] CPUs=4 RealMemory=16384 Gres=gpu:2";
    let text = SLURM_CONF.replace("NodeName=n[1-2] CPUs=4 RealMemory=16384", nodes);
    assert_ne!(text, SLURM_CONF);
    let conf = scratch.path("slurm.conf");
    std::fs::write(&conf, text).expect("a file");
    conf
}

#[test]
fn nodes_with_gpus_are_at_most_the_nodes_when_a_part_is_given() {
    let scratch = Scratch::new("gpu-part");
    let (dump, conf) = (dump(&scratch), gpu_site(&scratch));
    let (output, _) = tries(&[&dump, "--slurm-conf", &conf, "--nodes", "4"]);
    for part in ["14 jobs on 4 nodes", "--gpus-per-node 2 --gpu-nodes 4"] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
    fails(
        &[
            &[dump.as_str()][..],
            &SITE,
            &["--gpus-per-node", "2", "--gpu-nodes", "3"],
        ]
        .concat(),
        "--gpu-nodes is 3, and there are 2 nodes",
    );
}

#[test]
fn nodes_with_gpus_are_not_those_of_slurm_conf_when_gpus_are_given() {
    let scratch = Scratch::new("gpu-given");
    let (dump, conf) = (dump(&scratch), gpu_site(&scratch));
    let nodes = ["--slurm-conf", &conf, "--nodes", "9"];
    let (output, _) = tries(&[&[dump.as_str()][..], &nodes, &["--gpus-per-node", "1"]].concat());
    assert!(output.contains("--gpus-per-node 1"), "{output}");
    assert!(!output.contains("--gpu-nodes"), "{output}");
}

/// Programs of Slurm that answer as these scripts do.
fn with_slurm(scratch: &Scratch, scontrol: &str, sacct: &str) -> (i32, String, String) {
    for (name, script) in [("scontrol", scontrol), ("sacct", sacct)] {
        let path = scratch.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a program");
    }
    let path = std::env::var("PATH").expect("a path");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dfrs"))
        .arg("trial")
        .current_dir(scratch.path(""))
        .env("PATH", format!("{}:{path}", scratch.path("")))
        .output()
        .expect("dfrs runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().unwrap_or(-1);
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn slurm_is_called_when_nothing_is_given() {
    let scratch = Scratch::new("slurm");
    let dump = dump(&scratch);
    std::fs::write(scratch.path("slurm.conf"), SLURM_CONF).expect("a file");
    let scontrol = format!("echo 'SLURM_CONF = {}'", scratch.path("slurm.conf"));
    let sacct = format!(
        "[ \"$SLURM_TIME_FORMAT\" = %s ] && echo \"$*\" | grep -q now-30days && cat {dump}"
    );
    let failing = "echo 'Slurm accounting storage is disabled' >&2; exit 1";
    let (code, _, errors) = with_slurm(&scratch, &scontrol, failing);
    assert_eq!(code, 2);
    assert!(
        errors.contains("accounting storage is disabled"),
        "{errors}"
    );
    let (code, output, errors) = with_slurm(&scratch, &scontrol, &sacct);
    assert_eq!(code, 0, "{errors}");
    for part in ["13 jobs on 2 nodes", "dfrs replay dfrs-trial.txt --nodes 2"] {
        assert!(output.contains(part), "{part} is not in\n{output}");
    }
    let (code, _, errors) = with_slurm(&scratch, &scontrol, &sacct);
    assert_eq!(code, 2, "the file is there");
    assert!(errors.contains("give it as DUMP"), "{errors}");
}
