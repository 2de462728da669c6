//! Whole sites, small ones.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A directory with files, which is removed when the test ends.
pub struct ScratchSite(PathBuf);

impl ScratchSite {
    pub fn with(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dfrs-site-{}-{number}", std::process::id());
        let site = Self(std::env::temp_dir().join(name));
        for (name, text) in files {
            let path = site.path(name);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        site
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn read(&self) -> SlurmConfFiles {
        read(&self.path("slurm.conf")).expect("a site")
    }
}

impl Drop for ScratchSite {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn site(text: &str) -> SlurmConfFiles {
    ScratchSite::with(&[("slurm.conf", text)]).read()
}

fn whats(files: &SlurmConfFiles) -> Vec<&str> {
    files.warnings().iter().map(|it| it.what.as_str()).collect()
}

fn sizes(files: &SlurmConfFiles) -> Vec<(&str, usize)> {
    files.partition_sizes().collect()
}

#[test]
fn partitions_have_hosts_sets_features_and_all() {
    let files = site(
        "NodeName=rack[0-1]n[1-4] CPUs=4 Feature=a,b\nNodeName=big CPUs=8 Features=b\n\
         NodeName=later State=FUTURE\nNodeSet=bs Feature=b\nNodeSet=few Nodes=rack0n[1-2],big\n\
         NodeSet=every Nodes=ALL\nPartitionName=hosts Nodes=rack[0-1]n1,big\n\
         PartitionName=set Nodes=few\nPartitionName=feature Nodes=bs\nPartitionName=all Nodes=all\n\
         PartitionName=every Nodes=every\nPartitionName=spaces Nodes=\"rack0n1 rack0n2\"\nPartitionName=none\n",
    );
    assert_eq!(whats(&files), [""; 0]);
    let expected = [
        ("hosts", 3),
        ("set", 3),
        ("feature", 9),
        ("all", 9),
        ("every", 9),
        ("spaces", 2),
        ("none", 0),
    ];
    assert_eq!(sizes(&files), expected);
    assert_eq!(files.site_nodes().count, 9);
}

#[test]
fn hosts_that_no_line_has_are_warned_of() {
    let files =
        site("NodeName=n[1-2]\nNodeName=n2\nNodeName=x[3-\nPartitionName=p Nodes=n[1-3],y[1-\n");
    assert_eq!(
        whats(&files),
        [
            "slurm.conf:2: another line names these nodes, too: n2",
            "slurm.conf:3: NodeName=x[3-: a bracket is not closed",
            "slurm.conf:4: PartitionName=p: no line has these nodes: n3, y[1-",
        ]
    );
    assert_eq!(sizes(&files), [("p", 2)]);
}

#[test]
fn kinds_of_nodes_are_counted_most_frequent_first() {
    let files = site(
        "NodeName=g1 CPUs=64 RealMemory=512000 Gres=gpu:a100:4(S:0-1),tmp:100\n\
         NodeName=n[1-3] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=96000\n\
         NodeName=m1 Procs=4\n",
    );
    let nodes = files.site_nodes();
    assert_eq!(
        nodes.to_string(),
        "5 nodes: 3 x 32 CPUs, 96000 MB; 1 x 4 CPUs, memory not known; 1 x 64 CPUs, 512000 MB, gpu:a100:4,tmp:100"
    );
    let (kind, count) = &nodes.kinds[0];
    assert_eq!(
        (kind.cpus, kind.threads_per_core, kind.memory, *count),
        (32, 2, Some(96000), 3)
    );
}

#[test]
fn cpus_are_counted_as_slurm_counts_them() {
    for (line, cpus) in [
        ("", 1),
        ("CPUs=12", 12),
        ("Sockets=2 CoresPerSocket=4", 8),
        ("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 16),
        ("CPUs=7 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 32),
        ("CPUs=24 CoresPerSocket=6 ThreadsPerCore=2", 24),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16),
        ("CPUs=7 CoresPerSocket=2", 2),
        ("CPUs=0 Sockets=0", 1),
        ("CPUs=99999999999999999999", 1),
    ] {
        let files = site(&format!("NodeName=n1 {line}\n"));
        assert_eq!(files.site_nodes().kinds[0].0.cpus, cpus, "{line}");
    }
}

#[test]
fn included_files_are_read_wherever_they_are_on_the_controller() {
    let files = ScratchSite::with(&[
        (
            "slurm.conf",
            "ClusterName=Big\nInclude nodes.conf\ninclude /etc/slurm/parts/%c.conf\nInclude missing.conf\n\
             Include conf.d/*\n Include nodes.conf\n",
        ),
        ("nodes.conf", "NodeName=n[1-2]\nInclude slurm.conf\n"),
        ("parts/big.conf", "PartitionName=p Nodes=ALL\n"),
    ])
    .read();
    assert_eq!(sizes(&files), [("p", 2)]);
    let found = whats(&files);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[0].starts_with("nodes.conf:2: Include slurm.conf: it includes itself"));
    assert!(found[1].starts_with("slurm.conf:4: Include missing.conf: No such file"));
    assert!(found[2].starts_with("slurm.conf:5: Include conf.d/*: Slurm includes no patterns"));
    assert!(found[3].contains("\"Include nodes.conf\" (slurm.conf:6)"));
}

#[test]
fn files_that_include_each_other_often_end() {
    let line = |name: &str| format!("Include {name}\n").repeat(9);
    let files: Vec<(String, String)> = (0..9)
        .map(|level| {
            (
                format!("{level}.conf"),
                line(&format!("{}.conf", level + 1)),
            )
        })
        .collect();
    let mut all: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    all.push(("slurm.conf", "ClusterName=c\nInclude 0.conf\n"));
    let files = ScratchSite::with(&all).read();
    assert!(whats(&files).iter().any(|it| it.contains("too many files")));
}

#[test]
fn records_are_as_scontrol_shows_them() {
    let files = ScratchSite::with(&[
        (
            "slurm.conf",
            "DefMemPerCPU=0\nPreemptMode=SUSPEND,GANG\nNodeName=n1 CPUs=2 State=UNKNOWN\n\
             PartitionName=a Nodes=n1 Shared=YES State=up\nPartitionName=b Nodes=n1 OverSubscribe=Force:1\n\
             PartitionName=c Exclusive=TOPO PreemptMode=OFF State=DRAIN\n",
        ),
        ("cgroup.conf", "ConstrainRAMSpace=yes # ours\n"),
    ])
    .read();
    let settings = files.settings();
    assert_eq!(settings.get("SelectTypeParameters"), "CR_CORE_MEMORY");
    assert_eq!(settings.get("DefMemPerCPU"), "UNLIMITED");
    assert_eq!(settings.get("ConstrainRAMSpace"), "yes");
    let partitions = files.partition_records();
    let shown = |key| {
        partitions
            .iter()
            .map(|it| it.get(key))
            .collect::<Vec<&str>>()
    };
    assert_eq!(shown("OverSubscribe"), ["YES:4", "FORCE:1", "EXCLUSIVE"]);
    assert_eq!(shown("ExclusiveTopo"), ["NO", "NO", "YES"]);
    assert_eq!(shown("PreemptMode"), ["SUSPEND", "SUSPEND", "OFF"]);
    assert_eq!(shown("State"), ["UP", "UP", "DRAIN"]);
    let nodes = files.node_records();
    assert_eq!(nodes[0].items("Partitions").collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(nodes[0].get("State"), "IDLE");
}

#[test]
fn a_missing_file_is_one_line_of_error() {
    let error = read(Path::new("/no/such/slurm.conf")).expect_err("there is none");
    assert_eq!(
        error,
        "/no/such/slurm.conf: No such file or directory (os error 2)"
    );
    let site = ScratchSite::with(&[("slurm.conf/file", "")]);
    assert!(read(&site.path("slurm.conf")).is_err());
}
