//! Sites by their files alone: kinds of traps that slurm.conf files of public sites have, each in a few lines.

mod changes;

use super::*;
use crate::doctor::files;
use crate::doctor::site_verdict::SiteVerdict;
use crate::site::tests::ScratchSite;

/// A site that lacks nothing but DFRS.
const READY: &str = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n\
    DefMemPerCPU=1000\nProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\n\
    JobAcctGatherType=jobacct_gather/cgroup\nNodeName=n[1-4] CPUs=8 RealMemory=9000\n\
    PartitionName=main Nodes=n[1-4]\n";
const CGROUP_CONF: (&str, &str) = ("cgroup.conf", "ConstrainRAMSpace=yes\n");

/// What becomes of a site with these lines, too.
fn examined(text: &str, others: &[(&str, &str)]) -> (DoctorFindings, SiteVerdict) {
    let mut all = vec![("slurm.conf", text), CGROUP_CONF];
    all.extend(others);
    let site = ScratchSite::with(&all);
    let mut findings = DoctorFindings::default();
    let verdict = files::examine(&site.path("slurm.conf"), &mut findings);
    (findings, verdict)
}

/// The lines that have to change, after `+`, and the verdict.
#[track_caller]
fn changes(text: &str, expected: &[&str], verdict: &str) {
    let (findings, site) = examined(text, &[]);
    let new = site.changes.iter().filter_map(|it| it.new.as_deref());
    let ours = [
        "SchedulerType=sched/dfrs",
        "BurstBufferType=burst_buffer/dfrs",
    ];
    let new: Vec<&str> = new.filter(|line| !ours.contains(line)).collect();
    let output = findings.text() + &site.text();
    assert_eq!(new, expected, "{output}");
    assert_eq!(site.verdict, verdict, "{output}");
}

fn with(line: &str) -> String {
    format!("{READY}{line}\n")
}

fn without(line: &str, instead: &str) -> String {
    assert!(READY.contains(line), "{line}");
    READY.replace(line, instead)
}

const FORCED: &str = "PartitionName=main Nodes=n[1-4] OverSubscribe=FORCE:1";
const THREE: &str = "DFRS can run here after 3 changes; on trial (Mode=shadow) after 2 of them";
const FOUR: &str = "DFRS can run here after 4 changes; on trial (Mode=shadow) after 3 of them";

#[test]
fn a_site_that_lacks_only_dfrs_has_nothing_but_steps() {
    let (findings, site) = examined(READY, &[]);
    let text = findings.text();
    assert_eq!(worst(&findings), FindingLevel::Todo, "{text}");
    assert!(
        text.contains("1 partition, 4 nodes: 4 x 8 CPUs, 9000 MB\n"),
        "{text}"
    );
    changes(READY, &[FORCED], THREE);
    let printed = "\nslurm.conf, line 9:\n- PartitionName=main Nodes=n[1-4]\n+ PartitionName=main Nodes=n[1-4] OverSubscribe=FORCE:1\n\n\
        slurm.conf, to be added:\n+ BurstBufferType=burst_buffer/dfrs\n+ SchedulerType=sched/dfrs\n";
    assert_eq!(site.text(), format!("{printed}\n{THREE}\n"));
}

#[test]
fn a_site_with_dfrs_needs_no_change() {
    let text = without("PartitionName=main Nodes=n[1-4]", FORCED)
        + "SchedulerType=sched/dfrs\nBurstBufferType=burst_buffer/dfrs\n";
    let (findings, site) = examined(&text, &[("dfrs.conf", "Mode=full\nPartition=main\n")]);
    assert_eq!(worst(&findings), FindingLevel::Ok, "{}", findings.text());
    assert_eq!(site.verdict, "DFRS can run here as the files are");
    let (findings, site) = examined(&text, &[("dfrs.conf", "Mode=full\nPartition=mian\n")]);
    assert_eq!(worst(&findings), FindingLevel::Error);
    assert!(
        site.verdict.contains("slurm.conf has no such partition"),
        "{}",
        site.verdict
    );
}

#[test]
fn jobs_that_have_whole_nodes_now_are_warned_of() {
    let (findings, site) = examined(
        &without("Nodes=n[1-4]\n", "Nodes=n[1-4] Shared=EXCLUSIVE\n"),
        &[],
    );
    let text = findings.text();
    assert!(
        text.contains("warning  partition: main: OverSubscribe=EXCLUSIVE"),
        "{text}"
    );
    assert_eq!(site.verdict, THREE);
}

#[test]
fn what_counting_memory_changes_for_other_partitions_is_said() {
    const WORDS: &str = "once memory is counted";
    let others = "PartitionName=long Nodes=n1\nPartitionName=big Nodes=n2 DefMemPerNode=100\n\
        PartitionName=whole Nodes=n3 OverSubscribe=EXCLUSIVE\n";
    let uncounted = without("CR_Core_Memory\nDefMemPerCPU=1000", "CR_Core") + others;
    let dfrs_conf = [("dfrs.conf", "Mode=full\nPartition=main\n")];
    let said = |text: &str| examined(text, &dfrs_conf).0.text();
    let text = said(&uncounted);
    assert!(text.contains("does not share them: long;"), "{text}");
    for text in [
        uncounted.replace("CR_Core", "CR_Socket_Memory"),
        format!("{uncounted}DefMemPerCPU=1000\n"),
        without("CR_Core_Memory\nDefMemPerCPU=1000", "CR_Core"),
    ] {
        assert!(!said(&text).contains(WORDS), "{text}");
    }
}

#[test]
fn other_partitions_whose_jobs_lose_whole_nodes_are_named() {
    let others =
        "PartitionName=long Nodes=n1\nPartitionName=whole Nodes=n3 OverSubscribe=EXCLUSIVE\n";
    let text = without("select/cons_tres", "select/linear") + others;
    let (findings, _) = examined(&text, &[("dfrs.conf", "Mode=full\nPartition=main\n")]);
    let text = findings.text();
    assert!(text.contains("will share nodes: long;"), "{text}");
    let (findings, _) = examined(&(READY.to_owned() + others), &[]);
    assert!(!findings.text().contains("select/linear gives"));
}

#[test]
fn verdict_is_unknown_when_slurm_conf_is_a_template() {
    let (findings, site) = examined(&with("NodeName={{ hosts }}"), &[]);
    assert_eq!(worst(&findings), FindingLevel::Error);
    let verdict = site.verdict;
    let expected =
        "Whether DFRS can run here is not known: slurm.conf:10: \"{{\": this is a template";
    assert!(verdict.starts_with(expected), "{verdict}");
}

#[test]
fn options_of_cgroup_conf_count_only_there() {
    let (findings, _) = examined(&with("ConstrainSwapSpace=yes"), &[]);
    let text = findings.text();
    assert!(text.contains("no such options"), "{text}");
    assert!(!text.contains("Slurm forbids the swap"), "{text}");
}

#[test]
fn what_takes_the_place_of_an_option_that_is_gone_is_said() {
    let (findings, _) = examined(&with("FastSchedule=2\nAccountingStoreJobComment=YES"), &[]);
    let text = findings.text();
    for new in [
        "SlurmdParameters=config_overrides",
        "AccountingStoreFlags=job_comment",
    ] {
        assert!(text.contains(new), "{text}");
    }
    let (findings, _) = examined(&with("FastSchedule=0"), &[]);
    assert!(!findings.text().contains("config_overrides"));
}

#[test]
fn a_cluster_without_a_name_is_warned_of() {
    let (findings, _) = examined(&without("ClusterName=c\n", ""), &[]);
    let text = findings.text();
    assert!(text.contains("no ClusterName"), "{text}");
}

#[test]
fn the_partition_that_needs_fewest_changes_is_looked_at() {
    // Jobs of `both` share cores, so that `main` cannot have them on its nodes.
    let text = with(
        "NodeName=m[1-2] CPUs=8 RealMemory=9000\nPartitionName=both Nodes=ALL Shared=YES:2\n\
        PartitionName=apart Nodes=m1 State=DOWN\nPartitionName=none Nodes=\"\"",
    );
    let (findings, site) = examined(&text, &[]);
    let printed = findings.text();
    assert!(printed.contains("partition both is looked at"), "{printed}");
    assert!(printed.contains("shares nodes with both"), "{printed}");
    assert_eq!(site.verdict, THREE);
    let (_, site) = examined(&text, &[("dfrs.conf", "Mode=full\nPartition=main\n")]);
    let new: Vec<&str> = site
        .changes
        .iter()
        .filter_map(|it| it.new.as_deref())
        .collect();
    assert!(
        new.contains(&"PartitionName=both Nodes=ALL OverSubscribe=NO"),
        "{new:?}"
    );
}

#[test]
fn fewer_changes_come_before_more_nodes() {
    let text = with(
        "NodeName=m[1-9] CPUs=8 RealMemory=9000\nPartitionName=x Nodes=m[1-9]\n\
         PartitionName=y Nodes=m[1-8] Shared=YES:2",
    );
    let (findings, site) = examined(&text, &[]);
    let printed = findings.text();
    assert!(printed.contains("partition y is looked at"), "{printed}");
    assert_eq!(site.verdict, THREE);
}

#[test]
fn partitions_on_the_same_nodes_are_one_line() {
    let text =
        with("PartitionName=a Nodes=n1\nPartitionName=b Nodes=n2\nPartitionName=c Nodes=n3\n");
    let (findings, _) = examined(&text, &[]);
    let shared = findings
        .0
        .iter()
        .filter(|it| it.what.contains("shares nodes with main"));
    let shared: Vec<&str> = shared.map(|it| it.what.as_str()).collect();
    assert_eq!(shared.len(), 1, "{shared:?}");
    assert!(
        shared[0].contains("PartitionName=a shares") && shared[0].ends_with("; so do b, c"),
        "{shared:?}"
    );
}

#[test]
fn what_is_not_there_is_not_judged() {
    let text = without(
        "NodeName=n[1-4] CPUs=8 RealMemory=9000\n",
        "Include nodes.conf\n",
    );
    let (findings, site) = examined(&text, &[]);
    assert_eq!(worst(&findings), FindingLevel::Error);
    assert_eq!(
        site.verdict,
        "Whether DFRS can run here is not known without nodes.conf: no node of partition main is in slurm.conf"
    );
    let (_, site) = examined("ClusterName=c\nInclude parts.conf\n", &[]);
    assert_eq!(
        site.verdict,
        "Whether DFRS can run here is not known without parts.conf: slurm.conf has no partition"
    );
    let (_, site) = examined("ClusterName=c\n", &[]);
    assert_eq!(
        site.verdict,
        "DFRS cannot run here: slurm.conf has no partition"
    );
    let (_, site) = examined(&with("FrontendName=f"), &[]);
    assert!(
        site.verdict
            .starts_with("DFRS cannot run here: FrontendName"),
        "{}",
        site.verdict
    );
    let (findings, site) = examined("hosts:\n  - n1\n", &[]);
    assert_eq!(findings.outcome(false).code, 2);
    assert!(
        site.verdict.ends_with("no line of slurm.conf is in it"),
        "{}",
        site.verdict
    );
}

#[test]
fn nodes_that_join_later_are_no_error() {
    let dynamic = "MaxNodeCount=9\nNodeSet=cpu Feature=cpu\nPartitionName=main Nodes=cpu\n";
    let text = without("NodeName=n[1-4] CPUs=8 RealMemory=9000\n", "");
    let text = text.replace("PartitionName=main Nodes=n[1-4]\n", dynamic);
    let (findings, site) = examined(&text, &[]);
    assert_eq!(
        worst(&findings),
        FindingLevel::Warning,
        "{}",
        findings.text()
    );
    assert_eq!(site.verdict, THREE);
}

#[test]
fn defaults_that_changed_are_named() {
    let (findings, _) = examined(&without("SelectTypeParameters=CR_Core_Memory\n", ""), &[]);
    assert!(
        findings
            .text()
            .contains("memory is counted from Slurm 24.05 on"),
        "{}",
        findings.text()
    );
    let (findings, _) = examined(&without("SelectType=select/cons_tres\n", ""), &[]);
    assert!(
        findings.text().contains("select/linear before"),
        "{}",
        findings.text()
    );
}

#[test]
fn one_object_has_the_changes_and_the_verdict() {
    let (findings, site) = examined(READY, &[]);
    let outcome = findings.outcome_with(Some(&site), true);
    assert_eq!(outcome.code, 0);
    let object: serde_json::Value = serde_json::from_str(&outcome.output).expect("JSON");
    assert_eq!(object["version"], 1);
    assert_eq!(object["verdict"], THREE);
    assert_eq!(object["changes"][0]["line"], 9);
    assert_eq!(object["changes"][0]["new"], FORCED);
    assert!(object["changes"][1]["line"].is_null());
}
