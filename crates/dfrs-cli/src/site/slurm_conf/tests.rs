//! What lines are read as.

use super::*;
use crate::site::tests::ScratchSite;

#[track_caller]
fn statements(text: &str) -> (Statements, Vec<String>) {
    let site = ScratchSite::with(&[("slurm.conf", text)]);
    let mut warnings = ReadWarnings::default();
    let statements = read(&site.path("slurm.conf"), &mut warnings).expect("a slurm.conf");
    let whats = warnings.all.into_iter().map(|warning| warning.what);
    (statements, whats.collect())
}

#[test]
fn keys_are_read_in_any_case_and_the_last_counts() {
    let text = "SELECTTYPE=select/linear\nSelectType = select/cons_tres\n";
    let (statements, warnings) = statements(text);
    assert_eq!(statements.options["selecttype"].value, "select/cons_tres");
    let place = statements.options["selecttype"].place.as_ref();
    assert_eq!(place.map(|it| it.line), Some(2));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("more than once"), "{warnings:?}");
}

#[test]
fn what_may_stand_there_twice_is_no_problem() {
    let text = "SlurmctldHost=a\nSlurmctldHost=b\nProlog=/a\nProlog=/b\nMinJobAge=1\nMinJobAge=1\n";
    assert_eq!(statements(text).1, [""; 0]);
}

#[test]
fn old_and_unknown_options_are_named_once_and_reading_goes_on() {
    let text = "CacheGroups=0\nCACHEGROUPS=0\nFnord=1\nNodeName=n1 Cpus=2 Fnord=2\nClusterName=c\n";
    let (statements, warnings) = statements(text);
    assert_eq!(statements.options["clustername"].value, "c");
    assert_eq!(
        warnings,
        [
            "Slurm 22.05 and later do not start with these options: CacheGroups (slurm.conf:1)",
            "Slurm has no such options, and does not start with them: Fnord (slurm.conf:3)",
        ]
    );
}

#[test]
fn values_that_slurm_refuses_are_named() {
    let text = "ClusterName=c\nFastSchedule=2\nAccountingStorageType=accounting_storage/filetxt\n\
        NodeName=n1 CPUs=FILL_IN RealMemory=125K\nNodeName=DEFAULT Sockets=#N CoresPerSocket=4\n";
    assert_eq!(
        statements(text).1,
        [
            "Slurm 22.05 and later do not start with these values: FastSchedule=2 (slurm.conf:2), AccountingStorageType=accounting_storage/filetxt (slurm.conf:3)",
            "these have to be numbers, and Slurm does not start with them: CPUs=FILL_IN (slurm.conf:4)",
            "Slurm does not read this, and does not start with it: \"Sockets=\" (slurm.conf:5)",
        ]
    );
}

#[test]
fn what_slurm_does_not_read_is_a_warning() {
    let text = "SchedulerParameters=defer, bf_continue\nSuspendProgram=\nClusterName=c\n";
    let (statements, warnings) = statements(text);
    assert_eq!(statements.options["schedulerparameters"].value, "defer,");
    assert_eq!(
        warnings,
        [
            "Slurm does not read this, and does not start with it: \"bf_continue\" (slurm.conf:1), \"SuspendProgram=\" (slurm.conf:2)"
        ]
    );
}

#[test]
fn lines_named_default_hold_for_those_after_them() {
    let text = "NodeName=a\nNodeName=DEFAULT CPUs=4 RealMemory=100\nnodename=default RealMemory=200 State=UNKNOWN\n\
        NodeName=b CPUs=8\nPartitionName=DEFAULT Shared=FORCE SuspendTime=60 Nodes=a\nPartitionName=p\n\
        PartitionName=q OverSubscribe=NO Priority=7\n";
    let (statements, warnings) = statements(text);
    assert_eq!(warnings, [""; 0]);
    let fields = |line: &NamedLine, key: &str| line.fields.get(key).cloned().unwrap_or_default();
    let [a, b] = &statements.nodes[..] else {
        panic!("two nodes")
    };
    assert_eq!(
        (fields(a, "cpus"), fields(a, "realmemory")),
        (String::new(), String::new())
    );
    assert_eq!(
        (&*fields(b, "cpus"), &*fields(b, "realmemory")),
        ("8", "200")
    );
    let [p, q] = &statements.partitions[..] else {
        panic!("two partitions")
    };
    assert_eq!(
        (&*fields(p, "oversubscribe"), &*fields(p, "suspendtime")),
        ("FORCE", "")
    );
    assert_eq!(
        (&*fields(q, "oversubscribe"), &*fields(q, "prioritytier")),
        ("NO", "7")
    );
}

#[test]
fn of_two_lines_for_a_partition_the_last_counts() {
    let text = "PartitionName=p Nodes=a State=UP\nPartitionName=p Nodes=b\n";
    let (statements, _) = statements(text);
    assert_eq!(statements.partitions.len(), 1);
    assert_eq!(statements.partitions[0].fields["nodes"], "b");
}

#[test]
fn what_is_no_slurm_conf_is_one_line_of_error() {
    for (text, words) in [
        (
            "command sbatch --export=PATH\noption time=* --time $0\n",
            "no line of slurm.conf",
        ),
        ("", "no line of slurm.conf"),
        (
            "a manual\nof it\nsays\nhow\nClusterName=c\nis\nwritten\nthere\n",
            "most lines are none of slurm.conf",
        ),
        ("ClusterName={{ cluster }}\n", "this is a template"),
        (
            "ClusterName=c\n{% for node in nodes %}\n",
            "slurm.conf:2: \"{%\"",
        ),
        ("NodeName=<%= @name %> CPUs=1\n", "this is a template"),
    ] {
        let site = ScratchSite::with(&[("slurm.conf", text)]);
        let mut warnings = ReadWarnings::default();
        let error = read(&site.path("slurm.conf"), &mut warnings).expect_err(text);
        assert!(error.contains(words) && !error.contains('\n'), "{error}");
    }
    let commented = "# {{ ansible_managed }}\nClusterName=c\n";
    assert_eq!(statements(commented).1, [""; 0]);
}
