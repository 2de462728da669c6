mod configurations;
mod files;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::cgroup::{self, Hierarchy};
use super::finding::{DoctorFindings, FindingLevel};
use super::host::{FileOwner, Host, LocalHost, NOT_IN_PATH};
use super::slurm::records;
use super::{compute_node, controller, library};

/// What scontrol printed in the mini-Slurm of each release, with slurm-conf/slurm-dfrs.conf's lines.
const RECORDED: [(&str, [&str; 4]); 2] = [
    (
        "22.05.8",
        [
            include_str!("recorded/22.05/config.txt"),
            include_str!("recorded/22.05/nodes.txt"),
            include_str!("recorded/22.05/partitions.txt"),
            include_str!("recorded/22.05/reservations.txt"),
        ],
    ),
    (
        "24.11.5",
        [
            include_str!("recorded/24.11/config.txt"),
            include_str!("recorded/24.11/nodes.txt"),
            include_str!("recorded/24.11/partitions.txt"),
            include_str!("recorded/24.11/reservations.txt"),
        ],
    ),
];
const DFRS_CONF: &str = "Mode=full\nSwapPerNode=2000\nJournal=/var/log/slurm/j\nPartition=main\n";
const STATUS: &str = include_str!("../status/example.json");

/// A machine that answers from memory.
#[derive(Clone, Default)]
struct Recorded {
    answers: BTreeMap<String, String>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    owners: BTreeMap<PathBuf, FileOwner>,
}

impl Host for Recorded {
    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        if self.answers.is_empty() {
            return Err(format!("{program} {NOT_IN_PATH}"));
        }
        let call = format!("{program} {}", arguments.join(" "));
        let answer = self.answers.get(&call).cloned();
        answer.ok_or_else(|| format!("{call} fails: not recorded"))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).cloned();
        bytes.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn owner(&self, path: &Path) -> io::Result<FileOwner> {
        let owner = self.owners.get(path).copied();
        owner.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
}

impl Recorded {
    fn answer(&mut self, call: &str, text: impl Into<String>) {
        self.answers.insert(call.to_owned(), text.into());
    }

    fn file(&mut self, path: &str, text: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), text.into());
    }

    fn change(&mut self, call: &str, from: &str, to: &str) {
        let text = self.answers.get_mut(call).expect("was recorded");
        assert!(text.contains(from), "{from:?} is not in {text}");
        *text = text.replace(from, to);
    }

    fn controller(&self) -> DoctorFindings {
        let mut findings = DoctorFindings::default();
        controller::examine(self, &mut findings);
        findings
    }

    fn node(&self) -> DoctorFindings {
        let mut findings = DoctorFindings::default();
        compute_node::examine(self, None, &mut findings);
        findings
    }
}

const CONFIG: &str = "scontrol show config";
const NODES: &str = "scontrol --all --oneliner show nodes";
const PARTITIONS: &str = "scontrol --all --oneliner show partitions";
const RESERVATIONS: &str = "scontrol --all --oneliner show reservations";

/// A controller on which all is well, and what slurmctld's library has for each release.
fn good(release: usize) -> Recorded {
    let (version, [config, nodes, partitions, reservations]) = RECORDED[release];
    let mut host = Recorded::default();
    host.answer(CONFIG, config);
    host.answer(NODES, nodes);
    host.answer(PARTITIONS, partitions);
    host.answer(RESERVATIONS, reservations);
    host.answer("scontrol show hostnames n2", "n2\n");
    host.file("/etc/slurm/dfrs.conf", DFRS_CONF);
    let log = FileOwner {
        uid: 64030,
        mode: 0o755,
        is_directory: true,
    };
    host.owners.insert("/var/log/slurm".into(), log);
    let mut status: dfrs_proto::status::Status = serde_json::from_str(STATUS).expect("an example");
    status.written = crate::status::now();
    status.software = env!("CARGO_PKG_VERSION").to_owned();
    status.nodes.silent_names.clear();
    status.nodes.can_park = status.nodes.up;
    let status = serde_json::to_vec(&status).expect("JSON");
    host.file("/var/lib/slurm/slurmctld/dfrs_status.json", status);
    host.file(
        "/usr/lib/x86_64-linux-gnu/slurm-wlm/sched_dfrs.so",
        plugin(version),
    );
    host
}

/// The smallest library with the symbol by which Slurm knows a release: `recorded/plugin.so` is
/// `const unsigned plugin_version = 0x00DF5500; const char plugin_type[] = "sched/none";`, compiled by
/// `gcc -shared -nostdlib -s -Os`.
fn plugin(version: &str) -> Vec<u8> {
    let numbers: Vec<u32> = version
        .split('.')
        .map(|n| n.parse().expect("a number"))
        .collect();
    let number = numbers[0] << 16 | numbers[1] << 8 | numbers[2];
    let mut file = include_bytes!("recorded/plugin.so").to_vec();
    let mark = 0x00DF_5500_u32.to_le_bytes();
    let at = file.windows(4).position(|bytes| bytes == mark);
    let at = at.expect("the mark of the recorded library");
    file[at..at + 4].copy_from_slice(&number.to_le_bytes());
    file
}

fn worst(findings: &DoctorFindings) -> FindingLevel {
    let levels = findings.0.iter().map(|finding| finding.level);
    levels.max().expect("something was found")
}

#[test]
fn good_controller_has_only_ok_findings() {
    for release in 0..RECORDED.len() {
        let findings = good(release).controller();
        let text = findings.text();
        assert_eq!(worst(&findings), FindingLevel::Ok, "{text}");
        assert!(
            text.contains("ok       partition: main: Nodes=n[1-4]\n"),
            "{text}"
        );
        assert!(
            text.contains("ok       reservation: maint has 1 of 4 nodes"),
            "{text}"
        );
        assert_eq!(findings.outcome(false).code, 0);
    }
}

/// Whether a change leads to a line with these words.
#[track_caller]
fn leads_to(level: FindingLevel, words: &str, change: impl Fn(&mut Recorded)) {
    for release in 0..RECORDED.len() {
        let mut host = good(release);
        change(&mut host);
        let findings = host.controller();
        let text = findings.text();
        let found = findings.0.iter().any(|finding| {
            let line = format!("{}: {}", finding.about, finding.what);
            finding.level == level && line.contains(words) && finding.remedy.is_some()
        });
        assert!(found, "no {level:?} with {words:?} in\n{text}");
        assert_eq!(findings.outcome(true).code, worst(&findings).code());
    }
}

#[test]
fn configuration_refused_by_plugin_is_an_error() {
    type Change = fn(&mut Recorded);
    let refused: [(&str, Change); 8] = [
        ("SelectType=select/linear", |host| {
            host.change(CONFIG, "select/cons_tres", "select/linear");
        }),
        ("SelectTypeParameters: memory has to be counted", |host| {
            host.change(CONFIG, "CR_CORE_MEMORY", "CR_CORE");
        }),
        ("SchedulerParameters=bf_interval=5", |host| {
            host.change(CONFIG, "sched_interval=-1,defer,", "");
        }),
        ("PreemptMode=GANG", |host| {
            host.change(
                CONFIG,
                "PreemptMode             = OFF",
                "PreemptMode = GANG,SUSPEND",
            );
        }),
        ("PartitionName=main has no OverSubscribe=FORCE:1", |host| {
            host.change(PARTITIONS, "OverSubscribe=FORCE:1", "OverSubscribe=NO");
        }),
        ("power saving", |host| {
            host.change(
                CONFIG,
                "ResumeProgram           = (null)",
                "ResumeProgram = /r",
            );
            host.change(
                CONFIG,
                "SuspendProgram          = (null)",
                "SuspendProgram = /s",
            );
            host.change(
                CONFIG,
                "SuspendTime             = INFINITE",
                "SuspendTime = 300 sec",
            );
        }),
        ("partition: dfrs.conf: Partition=mian", |host| {
            host.file("/etc/slurm/dfrs.conf", DFRS_CONF.replace("main", "mian"));
        }),
        ("PartitionName=debug shares nodes", |host| {
            host.change(NODES, "Partitions=main", "Partitions=main,debug");
            let debug = "PartitionName=debug Nodes=n[1-4] State=UP\n";
            let both = format!("{}{debug}", host.answers[PARTITIONS]);
            host.answer(PARTITIONS, both);
        }),
    ];
    for (words, change) in refused {
        leads_to(FindingLevel::Error, words, change);
    }
}

#[test]
fn missing_program_is_reported_as_not_in_path() {
    let error = LocalHost.run("no-such-program-of-slurm", &[]);
    assert_eq!(
        error,
        Err("no-such-program-of-slurm is not in PATH".to_owned())
    );
    let text = Recorded::default().controller().text();
    let line = "error    slurm: scontrol is not in PATH; install Slurm's client commands, or add";
    assert!(text.contains(line), "{text}");
}

#[test]
fn fault_that_stops_dfrs_is_an_error() {
    leads_to(
        FindingLevel::Error,
        "slurm: scontrol show config fails",
        |host| {
            host.answers.remove(CONFIG);
        },
    );
    leads_to(
        FindingLevel::Error,
        "ProctrackType=proctrack/linuxproc",
        |host| {
            host.change(CONFIG, "proctrack/cgroup", "proctrack/linuxproc");
        },
    );
    leads_to(FindingLevel::Error, "ConstrainSwapSpace=yes", |host| {
        host.change(
            CONFIG,
            "ConstrainSwapSpace      = no",
            "ConstrainSwapSpace = yes",
        );
    });
    leads_to(FindingLevel::Error, "dfrs.conf:1: ", |host| {
        host.file("/etc/slurm/dfrs.conf", "Modus=full\n");
    });
    leads_to(FindingLevel::Error, "Journal: /var/log/slurm", |host| {
        host.owners.clear();
    });
    leads_to(FindingLevel::Error, "SlurmUser cannot write", |host| {
        host.owners.values_mut().for_each(|owner| owner.uid = 0);
    });
    leads_to(FindingLevel::Error, "was built for Slurm 23.11.4", |host| {
        let path = "/usr/lib/x86_64-linux-gnu/slurm-wlm/sched_dfrs.so";
        host.file(path, plugin("23.11.4"));
    });
    leads_to(FindingLevel::Error, "library: no sched_dfrs.so", |host| {
        host.files
            .retain(|path, _| path.extension() != Some("so".as_ref()));
    });
    leads_to(
        FindingLevel::Error,
        "dfrsd: not responding on 1 of",
        |host| {
            let old = host.files[Path::new("/var/lib/slurm/slurmctld/dfrs_status.json")].clone();
            let mut status: dfrs_proto::status::Status =
                serde_json::from_slice(&old).expect("ours");
            status.nodes.silent_names = vec!["n2".to_owned()];
            let new = serde_json::to_vec(&status).expect("JSON");
            host.file("/var/lib/slurm/slurmctld/dfrs_status.json", new);
        },
    );
    leads_to(FindingLevel::Error, "plugin: was written", |host| {
        let text = STATUS.replacen("\"written\":", "\"written\":1.0,\"was\":", 1);
        host.file("/var/lib/slurm/slurmctld/dfrs_status.json", text);
    });
}

#[test]
fn burst_buffer_plugin_replaces_scheduler_options() {
    for (release, (version, _)) in RECORDED.iter().enumerate() {
        let mut host = good(release);
        host.change(CONFIG, "sched_interval=-1,defer,", "");
        host.change(
            CONFIG,
            "BurstBufferType         = (null)",
            "BurstBufferType = burst_buffer/dfrs",
        );
        let text = host.controller().text();
        assert!(
            text.contains("error    library: no burst_buffer_dfrs.so"),
            "{text}"
        );
        let path = "/usr/lib/x86_64-linux-gnu/slurm-wlm/burst_buffer_dfrs.so";
        host.file(path, plugin(version));
        let findings = host.controller();
        assert_eq!(worst(&findings), FindingLevel::Ok, "{}", findings.text());
    }
}

#[test]
fn shadow_mode_reports_scheduler_options_as_todo() {
    for release in 0..RECORDED.len() {
        let mut host = good(release);
        host.change(CONFIG, "sched_interval=-1,defer,", "");
        host.file("/etc/slurm/dfrs.conf", DFRS_CONF.replace("full", "shadow"));
        let findings = host.controller();
        assert_eq!(worst(&findings), FindingLevel::Todo, "{}", findings.text());
        assert_eq!(findings.outcome(false).code, 0);
        assert!(
            findings.text().contains("before Mode=full: write"),
            "{}",
            findings.text()
        );
    }
}

#[test]
fn steps_before_first_start_are_todo_not_error() {
    for release in 0..RECORDED.len() {
        let mut host = good(release);
        host.change(CONFIG, "sched/dfrs", "sched/backfill");
        host.change(CONFIG, "sched_interval=-1,defer,", "");
        host.files
            .remove(Path::new("/var/lib/slurm/slurmctld/dfrs_status.json"));
        let findings = host.controller();
        let text = findings.text();
        for line in [
            "to do    scheduler: slurm.conf: SchedulerType=sched/backfill; write SchedulerType=sched/dfrs",
            "to do    scheduler: slurm.conf: SchedulerParameters=bf_interval=5",
            "to do    plugin: slurmctld does not run it yet",
        ] {
            assert!(text.contains(line), "no {line:?} in\n{text}");
        }
        assert_eq!(findings.outcome(false).code, 0, "{text}");
        // What would not work then is an error as ever.
        host.change(CONFIG, "select/cons_tres", "select/linear");
        assert_eq!(host.controller().outcome(false).code, 2);
    }
}

#[test]
fn remedy_warns_of_lost_jobs_and_restarts() {
    for (from, to, words) in [
        ("select/cons_tres", "select/linear", "loses all jobs"),
        ("proctrack/cgroup", "proctrack/linuxproc", "all slurmds"),
        (
            "jobacct_gather/cgroup",
            "jobacct_gather/linux",
            "all slurmds",
        ),
        ("= task/cgroup", "= task/none", "all slurmds"),
        ("RAMSpace       = yes", "RAMSpace = no", "all slurmds"),
        ("SwapSpace      = no", "SwapSpace = yes", "all slurmds"),
    ] {
        let mut host = good(0);
        host.change(CONFIG, from, to);
        let text = host.controller().text();
        assert!(text.contains(words), "{to}: no {words:?} in\n{text}");
    }
}

/// DFRS has two partitions, one of a higher tier, and this in its dfrs.conf.
fn rank_partitions(host: &mut Recorded, line: &str) {
    let text = host.answers[PARTITIONS].clone();
    let low = text.replace("PartitionName=main", "PartitionName=low");
    let high = text.replace("PriorityTier=1", "PriorityTier=10");
    host.answer(PARTITIONS, format!("{}\n{low}", high.trim_end()));
    let conf = format!("{DFRS_CONF}Partition=low\n{line}");
    host.file("/etc/slurm/dfrs.conf", conf);
}

#[test]
fn degrading_configuration_is_a_warning() {
    leads_to(FindingLevel::Warning, "binds tasks to cores", |host| {
        host.change(
            CONFIG,
            "TaskPlugin              = task/cgroup",
            "TaskPlugin = task/cgroup,task/affinity",
        );
    });
    leads_to(FindingLevel::Warning, "to the same first threads", |host| {
        host.change(
            CONFIG,
            "TaskPlugin              = task/cgroup",
            "TaskPlugin = task/cgroup,task/affinity",
        );
        host.change(
            PARTITIONS,
            "PreemptMode=OFF",
            "CpuBind=none PreemptMode=OFF",
        );
        host.change(NODES, "ThreadsPerCore=1", "ThreadsPerCore=2");
    });
    leads_to(
        FindingLevel::Warning,
        "jobs of main neither preempt",
        |host| {
            host.change(CONFIG, "PreemptType ", "PreemptType = preempt/qos\nOther ");
            host.change(PARTITIONS, "PreemptMode=OFF", "PreemptMode=REQUEUE");
        },
    );
    leads_to(
        FindingLevel::Warning,
        "before those of low under Slurm",
        |host| {
            rank_partitions(host, "");
        },
    );
    leads_to(
        FindingLevel::Warning,
        "a job without a memory request",
        |host| {
            host.change(
                CONFIG,
                "DefMemPerNode           = 250",
                "DefMemPerNode = UNLIMITED",
            );
        },
    );
    leads_to(
        FindingLevel::Warning,
        "nodes: draining: n1, n2, n3, n4",
        |host| {
            host.change(NODES, "State=IDLE", "State=IDLE+DRAIN");
        },
    );
    leads_to(
        FindingLevel::Warning,
        "nodes: down: n1, n2, n3, n4",
        |host| {
            host.change(NODES, "State=IDLE", "State=DOWN*+CLOUD");
        },
    );
    for (plugin, known) in [
        (
            "topology/tree",
            "DFRS counts leaf switches for jobs with --switches",
        ),
        (
            "topology/block",
            "DFRS knows no topology but that of topology/tree",
        ),
    ] {
        leads_to(FindingLevel::Warning, known, |host| {
            let text = host.answers[CONFIG].replace("TopologyPlugin ", "TopologyParam_ ");
            let text = format!("TopologyPlugin = {plugin}\n{text}");
            host.answer(CONFIG, text);
        });
    }
    for spec in ["CoreSpecCount=2", "CPUSpecList=0-1"] {
        leads_to(
            FindingLevel::Warning,
            "may run on these cores, too",
            |host| {
                let line = format!("{spec} ThreadsPerCore=1");
                host.change(NODES, "ThreadsPerCore=1", &line);
            },
        );
    }
    leads_to(FindingLevel::Warning, "Mode=off", |host| {
        host.file("/etc/slurm/dfrs.conf", DFRS_CONF.replace("full", "off"));
    });
    leads_to(FindingLevel::Warning, "JobRequeue=0", |host| {
        host.change(CONFIG, "JobRequeue              = 1", "JobRequeue = 0");
        let text = DFRS_CONF.replace("=main", "=main Mobility=checkpoint");
        host.file("/etc/slurm/dfrs.conf", text);
    });
    for lack in ["JobFileAppend=0", "RequeueExitHold=:"] {
        leads_to(FindingLevel::Warning, lack, |host| {
            let text = DFRS_CONF.replace("=main", "=main Mobility=carry");
            host.file("/etc/slurm/dfrs.conf", text);
        });
    }
}

#[test]
fn powered_down_nodes_are_not_reported_as_down() {
    for state in ["IDLE+CLOUD+POWERED_DOWN", "IDLE+POWERING_DOWN"] {
        leads_to(
            FindingLevel::Warning,
            "nodes: powered down: n1, n2",
            |host| {
                host.change(NODES, "State=IDLE", &format!("State={state}"));
                let text = host.controller().text();
                assert!(text.contains("state=power_up"), "{text}");
                assert!(!text.contains("nodes: down"), "{text}");
            },
        );
    }
}

fn good_node() -> Recorded {
    let mut host = Recorded::default();
    host.file("/proc/sys/kernel/hostname", "n1.cluster\n");
    host.file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    host.file(
        "/proc/swaps",
        "Filename Type Size Used Priority\n/dev/sda2 partition 2048000 0 -2\n",
    );
    host.file("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
    host.file(
        "/sys/fs/cgroup/cgroup.controllers",
        "cpuset cpu io memory pids\n",
    );
    let conf = include_str!("../../../../slurm-conf/cgroup.conf");
    host.file("/etc/slurm/cgroup.conf", conf);
    let status = concat!(
        r#"{"v":1,"software":"VERSION","node":"n1","cgroup":"v2","generation":5,"heard_seconds_ago":1.0,"#,
        r#""time_to_live":60,"failed_open":false,"capacity_cores":4.0,"slurm_cpus":4,"swap_bytes":0,"jobs":[]}"#
    );
    let status = status.replace("VERSION", env!("CARGO_PKG_VERSION"));
    host.answer("dfrsd status --json --node n1", status);
    host.file("/proc/meminfo", "MemTotal:        2048000 kB\n");
    host.answer(
        NODE,
        "NodeName=n1 RealMemory=2000 MemSpecLimit=500 State=IDLE\n",
    );
    host
}

const NODE: &str = "scontrol --oneliner show node n1";

#[test]
fn finding_of_dfrsd_and_doctor_is_reported_once() {
    let mut host = good_node();
    host.file("/proc/swaps", "/dev/zram0 partition 2048000 0 100\n");
    let zram_trouble =
        dfrs_node_proto::swap::Swap::parse("/dev/zram0 partition 2048000 0 100\n").warning();
    let troubles = format!(
        r#""jobs":[],"troubles":["swap: {}"]"#,
        zram_trouble.expect("zram")
    );
    host.change("dfrsd status --json --node n1", r#""jobs":[]"#, &troubles);
    let text = host.node().text();
    assert_eq!(text.matches("all of it is zram").count(), 1, "{text}");
}

#[test]
fn compute_node_checks_report_each_fault() {
    let mut host = good_node();
    host.file("/etc/slurm/dfrs.conf", DFRS_CONF);
    let findings = host.node();
    assert_eq!(worst(&findings), FindingLevel::Ok, "{}", findings.text());
    assert_eq!(findings.0.len(), 5, "{}", findings.text());
    let kept = "Slurm gives 1500 to jobs; parked ones may keep 250 MiB in RAM";
    assert!(findings.text().contains(kept), "{}", findings.text());
    type Change = fn(&mut Recorded);
    let troubles: [(FindingLevel, &str, Change); 12] = [
        (
            FindingLevel::Warning,
            "memory: Slurm gives 2000 of 2000 MiB",
            |host| {
                host.change(NODE, "MemSpecLimit=500", "MemSpecLimit=0");
            },
        ),
        (
            FindingLevel::Warning,
            "swap: zram is filled before the disk",
            |host| {
                let disk = "/dev/sda2 partition 2048000 0 -2\n";
                let zram = "/dev/zram0 partition 2048000 0 100\n";
                host.file("/proc/swaps", format!("{zram}{disk}"));
            },
        ),
        (
            FindingLevel::Warning,
            "swap: zswap keeps parked memory",
            |host| {
                host.file(
                    "/proc/mounts",
                    "cgroup /sys/fs/cgroup/memory cgroup rw,memory,cpu,freezer 0 0\n",
                );
                host.file("/sys/module/zswap/parameters/enabled", "Y\n");
            },
        ),
        (
            FindingLevel::Warning,
            "dfrsd: parking: cannot see other users' processes",
            |host| {
                let trouble = r#""jobs":[],"troubles":["parking: cannot see other users' processes; let it"]"#;
                host.change("dfrsd status --json --node n1", r#""jobs":[]"#, trouble);
            },
        ),
        (
            FindingLevel::Warning,
            "swap: 2000 MiB, and SwapPerNode in dfrs.conf is 2001 MiB",
            |host| {
                let conf = DFRS_CONF.replace("SwapPerNode=2000", "SwapPerNode=2001");
                host.file("/etc/slurm/dfrs.conf", conf);
            },
        ),
        (FindingLevel::Warning, "swap: there is none", |host| {
            host.file("/proc/swaps", "Filename Type Size Used Priority\n");
        }),
        (FindingLevel::Warning, "swap: all of it is zram", |host| {
            host.file("/proc/swaps", "/dev/zram0 partition 2048000 0 100\n");
        }),
        (FindingLevel::Error, "no cgroup controller memory", |host| {
            host.file("/sys/fs/cgroup/cgroup.controllers", "cpu pids\n");
        }),
        (
            FindingLevel::Warning,
            "Linux 5.10.0 has no memory.reclaim",
            |host| {
                host.file("/proc/sys/kernel/osrelease", "5.10.0\n");
            },
        ),
        (
            FindingLevel::Error,
            "dfrsd status --json --node n1 fails",
            |host| {
                host.answers.clear();
                host.answer(CONFIG, "");
            },
        ),
        (
            FindingLevel::Warning,
            "no orders from slurmctld since it started",
            |host| {
                host.change(
                    "dfrsd status --json --node n1",
                    "\"generation\":5",
                    "\"generation\":null",
                );
            },
        ),
        (
            FindingLevel::Error,
            "takes orders from uid=0, and SlurmUser is uid=64030",
            |host| {
                host.answer(CONFIG, "SlurmUser = slurm(64030)\n");
                let owner = FileOwner {
                    uid: 0,
                    mode: 0o600,
                    is_directory: false,
                };
                host.owners.insert("/run/dfrs/n1/dfrsd.sock".into(), owner);
            },
        ),
    ];
    for (level, words, change) in troubles {
        let mut host = good_node();
        change(&mut host);
        let findings = host.node();
        let is_it = |finding: &super::finding::DoctorFinding| {
            finding.level == level && format!("{}: {}", finding.about, finding.what).contains(words)
        };
        assert!(
            findings.0.iter().any(is_it),
            "{words:?}:\n{}",
            findings.text()
        );
    }
}

#[test]
fn node_that_carries_needs_criu_and_its_directory() {
    let owned = |uid, mode| FileOwner {
        uid,
        mode,
        is_directory: false,
    };
    let mut host = good_node();
    let line = "required /usr/lib/slurm/spank_dfrs_carry.so images=/images partitions=main\n";
    host.file("/etc/slurm/plugstack.conf", format!("#{line}"));
    assert!(!host.node().text().contains("carrying"));
    host.file("/etc/slurm/plugstack.conf", line);
    let error = |host: &Recorded, words: &str| {
        let findings = host.node();
        let text = findings.text();
        assert_eq!(worst(&findings), FindingLevel::Error, "{text}");
        assert!(text.contains(&format!("carrying: {words}")), "{text}");
    };
    error(&host, "/usr/sbin/criu: ");
    host.owners
        .insert("/usr/sbin/criu".into(), owned(1000, 0o755));
    error(&host, "/usr/sbin/criu can be changed by others");
    host.owners.insert("/usr/sbin/criu".into(), owned(0, 0o755));
    error(&host, "/images: ");
    host.owners.insert("/images".into(), owned(0, 0o770));
    error(&host, "/images: others than root can write there");
    host.owners.insert("/images".into(), owned(0, 0o700));
    error(&host, "/images: there is no file lock");
    host.owners.insert("/images/lock".into(), owned(0, 0o600));
    let text = host.node().text();
    let all_is_well = "ok       carrying: images in /images, /usr/sbin/criu";
    assert!(text.contains(all_is_well), "{text}");
    host.file(
        "/etc/slurm/plugstack.conf",
        line.replace("images=/images", "criu=/opt/criu"),
    );
    error(
        &host,
        "/etc/slurm/plugstack.conf: spank_dfrs_carry.so has no images=",
    );
    error(&host, "/opt/criu: ");
}

#[test]
fn cgroup_v1_is_used_when_both_are_mounted() {
    let mounts = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n\
        cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
        cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n";
    let hierarchy = Hierarchy::of_mounts(mounts);
    assert_eq!(
        hierarchy,
        Hierarchy::V1(vec!["memory".into(), "cpu".into()])
    );
    let mut findings = DoctorFindings::default();
    cgroup::examine(&hierarchy, "", "6.1", &mut findings.topic("kernel"));
    assert!(
        findings.text().contains("no cgroup controller freezer"),
        "{}",
        findings.text()
    );
    assert_eq!(
        Hierarchy::of_mounts("proc /proc proc rw 0 0\n"),
        Hierarchy::None
    );
}

#[test]
fn plugin_release_is_read_from_its_version_symbol() {
    assert_eq!(
        library::release(&plugin("24.11.5")),
        Ok("24.11.5".to_owned())
    );
    assert_eq!(
        library::release(&plugin("22.05.8")),
        Ok("22.05.8".to_owned())
    );
    let good = plugin("24.11.5");
    for length in 0..good.len() {
        let _ = library::release(&good[..length]); // whatever it says, it does not panic
    }
    assert!(library::release(b"#!/bin/sh").is_err());
}

#[test]
fn scontrol_words_without_key_extend_the_previous_field() {
    let line = "NodeName=n1 OS=Linux 6.1 #1 SMP State=IDLE Reason=disk State=DOWN here [root]";
    let record = &records(line)[0];
    assert_eq!(record.get("OS"), "Linux 6.1 #1 SMP");
    assert_eq!(record.get("State"), "IDLE");
}

#[test]
fn control_characters_in_findings_are_replaced() {
    let mut findings = DoctorFindings::default();
    findings
        .topic("nodes")
        .warning("a\nok       b", "c\u{1b}[31m");
    assert_eq!(findings.text().lines().count(), 1);
    let json = findings.outcome(true).output;
    assert!(
        json.starts_with(
            r#"{"version":1,"worst":"warning","findings":[{"level":"warning","about":"nodes""#
        ),
        "{json}"
    );
}
