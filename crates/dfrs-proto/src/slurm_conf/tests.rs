//! Each check by what makes it speak. What real configurations lead to is in tests/configurations.

use super::*;
use crate::conf::{Config, Mode};

const DFRS_CONF: &str = "Mode=full\nSwapPerNode=2000\nPartition=main\n";

fn config(text: &str) -> Config {
    Config::parse(text, "dfrs.conf").expect("a right dfrs.conf")
}

/// Partition `main` with two nodes, with which all is well.
fn good() -> SlurmFacts {
    let node = |name: &str| SlurmNode {
        name: name.to_owned(),
        ..SlurmNode::default()
    };
    SlurmFacts {
        partitions: vec![partition("main", &[0, 1])],
        nodes: ["n1", "n2", "n3"].map(node).to_vec(),
        ..SlurmFacts::default()
    }
}

fn partition(name: &str, nodes: &[usize]) -> SlurmPartition {
    SlurmPartition {
        name: name.to_owned(),
        is_forced_to_one: true,
        takes_jobs: true,
        nodes: nodes.to_vec(),
        tier: 1,
        ..SlurmPartition::default()
    }
}

/// What is found, by check and verdict.
fn found(change: impl FnOnce(&mut SlurmFacts), text: &str) -> Vec<(&'static str, Verdict)> {
    let mut facts = good();
    change(&mut facts);
    let findings = examine(&facts, Some(&config(text)));
    let refused = findings.iter().any(|it| it.verdict == Verdict::Refused);
    assert_eq!(refusal(&facts, &config(text)).is_some(), refused);
    for finding in &findings {
        assert!(!finding.what.contains('\n') && !finding.remedy.is_empty());
    }
    findings.iter().map(|it| (it.check, it.verdict)).collect()
}

#[track_caller]
fn leads_to(check: &'static str, verdict: Verdict, change: impl FnOnce(&mut SlurmFacts)) {
    assert_eq!(found(change, DFRS_CONF), [(check, verdict)]);
}

#[test]
fn good_configuration_has_no_findings() {
    assert_eq!(found(|_| {}, DFRS_CONF), []);
    assert_eq!(examine(&SlurmFacts::default(), None), []);
}

#[test]
fn what_carried_jobs_lack_is_said_where_jobs_are_carried() {
    let lacks: [fn(&mut SlurmFacts); 3] = [
        |it| it.appends_output = false,
        |it| it.requeue_exit_hold = "1-124".into(),
        |it| it.cgroups.signals_children = true,
    ];
    let carries = "Mode=full\nSwapPerNode=2000\nPartition=main Mobility=carry\n";
    assert_eq!(found(|_| {}, carries), []);
    for lack in lacks {
        assert_eq!(found(lack, carries), [("carrying", Verdict::Warning)]);
        assert_eq!(found(lack, DFRS_CONF), []);
    }
}

#[test]
fn incompatible_settings_are_refused() {
    use Verdict::Refused;
    leads_to("select", Refused, |it| {
        it.select_type = "select/linear".into();
    });
    leads_to("select", Refused, |it| it.counts_memory = false);
    leads_to("select", Refused, |it| it.counts_cores = false);
    leads_to("slurm_starts", Refused, |it| it.is_withheld = false);
    leads_to("gang", Refused, |it| it.slices_time = true);
    leads_to("processes", Refused, |it| {
        it.proctrack_type = "proctrack/linuxproc".into();
    });
    leads_to("processes", Refused, |it| {
        it.gather_type = "jobacct_gather/linux".into();
    });
    leads_to("processes", Refused, |it| {
        it.task_plugin = "task/affinity".into();
        it.nodes
            .iter_mut()
            .for_each(|it| it.cpu_bind = "none".into());
    });
    leads_to("cgroups", Refused, |it| {
        it.cgroups.plugin = "disabled".into();
    });
    leads_to("swap_space", Refused, |it| {
        it.cgroups.constrains_swap = true;
    });
    leads_to("oversubscribe", Refused, |it| {
        it.partitions[0].is_forced_to_one = false;
    });
    leads_to("exclusive_topology", Refused, |it| {
        it.partitions[0].has_exclusive_topology = true;
    });
    leads_to("shared_nodes", Refused, |it| {
        it.partitions.push(partition("debug", &[1, 2]));
    });
    assert_eq!(found(|_| {}, "Partition=mian"), [("named", Refused)]);
}

/// Partition `main` shares nodes with `batch`, whose jobs preempt its jobs.
fn preempted(facts: &mut SlurmFacts) {
    facts.preempt_type = "preempt/partition_prio".into();
    facts.preempt_parameters = "send_user_signal".into();
    facts.partitions[0].has_preemption = true;
    facts.partitions[0].grace_seconds = 120;
    facts.partitions.push(SlurmPartition {
        is_forced_to_one: false,
        shares_no_cores: true,
        tier: 2,
        ..partition("batch", &[1, 2])
    });
}

#[test]
fn preemption_on_shared_nodes_needs_grace_time_and_harmless_signals() {
    assert_eq!(found(preempted, DFRS_CONF), []);
    let changed = |change: fn(&mut SlurmFacts)| {
        let change = |it: &mut SlurmFacts| {
            preempted(it);
            change(it);
        };
        found(change, DFRS_CONF)
    };
    let warned = [("shared_nodes", Verdict::Warning)];
    assert_eq!(changed(|it| it.partitions[0].grace_seconds = 79), warned);
    assert_eq!(changed(|it| it.preempt_parameters.clear()), warned);
    assert_eq!(changed(|it| it.preempt_type.clear()), warned);
    let of_22_05 = |it: &mut SlurmFacts| {
        it.preempt_parameters.clear();
        it.slurmctld_parameters = "preempt_send_user_signal".into();
    };
    assert_eq!(changed(of_22_05), []);
}

#[test]
fn shadow_mode_requires_only_scheduling_settings() {
    let change = |it: &mut SlurmFacts| {
        it.proctrack_type = "proctrack/linuxproc".into();
        it.is_withheld = false;
        it.cgroups.constrains_swap = true;
    };
    let text = DFRS_CONF.replace("full", "shadow");
    let later = ["slurm_starts", "processes", "swap_space"].map(|it| (it, Verdict::Later));
    assert_eq!(found(change, &text), later);
    assert_eq!(config(&text).mode, Mode::Shadow);
}

#[test]
fn partitions_may_share_nodes_with_inactive_or_managed_ones() {
    let change = |it: &mut SlurmFacts| {
        it.partitions.push(SlurmPartition {
            takes_jobs: false,
            ..partition("down", &[0])
        });
        it.partitions.push(partition("long", &[0, 1]));
        it.partitions.push(partition("apart", &[2]));
    };
    let both = format!("{DFRS_CONF}Partition=long\n");
    assert_eq!(found(change, &both), []);
    let whole = format!("{DFRS_CONF}Partition=long Policy=DEMT\n");
    assert_eq!(found(change, &whole), [("whole_nodes", Verdict::Refused)]);
}

/// `SuspendTime` for all, with programs.
fn saving(facts: &mut SlurmFacts) {
    facts.power.has_programs = true;
    facts.power.idle = Idle::GoesDown;
}

#[test]
fn idle_power_down_is_refused_unless_all_nodes_are_excepted() {
    use Verdict::Refused;
    leads_to("power_saving", Refused, saving);
    leads_to("power_saving", Refused, |it| {
        it.power.has_programs = true;
        it.partitions[0].idle = Idle::GoesDown;
    });
    leads_to("power_saving", Refused, |it| {
        it.power.has_programs = true;
        it.power.excepted_partitions = "main".into();
        it.partitions[0].powers_down_on_idle = true;
    });
    for nodes in ["n1", "n[1-2]:1", "n[2-3]", "ALL"] {
        leads_to("power_saving", Refused, |it| {
            saving(it);
            it.power.excepted_nodes = nodes.into();
        });
    }
    let excepted: [fn(&mut SlurmFacts); 6] = [
        |it| it.power.excepted_partitions = "other, main".into(),
        |it| it.power.excepted_nodes = "n[1-2]".into(),
        |it| it.power.excepted_nodes = "n3:1,n2,n1".into(),
        |it| {
            it.power.excepted_nodes = "n1".into();
            it.power.excepted_partitions = "down".into();
            it.partitions.push(SlurmPartition {
                takes_jobs: false,
                ..partition("down", &[1])
            });
        },
        |it| it.partitions[0].idle = Idle::StaysUp,
        |it| it.power.has_programs = false,
    ];
    for except in excepted {
        let change = |it: &mut SlurmFacts| {
            saving(it);
            except(it);
        };
        assert_eq!(found(change, DFRS_CONF), []);
    }
}

#[test]
fn degrading_settings_are_warnings() {
    use Verdict::Warning;
    leads_to("wall", Warning, |it| it.cgroups.constrains_ram = false);
    for percent in [300.0, 90.0] {
        leads_to("wall", Warning, |it| {
            it.cgroups.allowed_ram_percent = percent;
        });
    }
    leads_to("wall", Warning, |it| it.cgroups.max_ram_percent = 98.0);
    leads_to("suspend_grace", Warning, |it| {
        it.preempt_parameters = "youngest_first,suspend_grace_time=6".into();
    });
    leads_to("stepmgr", Warning, |it| {
        it.slurmctld_parameters = "a,enable_stepmgr".into();
    });
    leads_to("topology", Warning, |it| {
        it.topology_plugin = "topology/tree".into();
    });
    leads_to("delivery", Warning, |it| it.is_delivery_known = false);
    leads_to("preemption", Warning, |it| {
        it.preempt_type = "preempt/qos".into();
        it.partitions[0].has_preemption = true;
    });
    leads_to("default_memory", Warning, |it| {
        it.has_default_memory = false
    });
    leads_to("slurm_starts", Warning, |it| {
        it.scheduler_parameters = "defer".into();
    });
    let ranked = |it: &mut SlurmFacts| {
        it.partitions.push(SlurmPartition {
            tier: 2,
            ..partition("high", &[2])
        });
    };
    let both = format!("{DFRS_CONF}Partition=high\n");
    assert_eq!(found(ranked, &both), [("tiers", Warning)]);
    let alike = |it: &mut SlurmFacts| it.partitions.push(partition("high", &[2]));
    assert_eq!(found(alike, &both), []);
    let moving = DFRS_CONF.replace("=main", "=main Mobility=restart");
    let never = |it: &mut SlurmFacts| it.requeues = false;
    assert_eq!(found(never, &moving), [("requeue", Warning)]);
}

#[test]
fn a_short_grace_and_swap_that_nothing_uses_are_fine() {
    let short = |it: &mut SlurmFacts| it.preempt_parameters = "suspend_grace_time=5".into();
    assert_eq!(found(short, DFRS_CONF), []);
    let swap = |it: &mut SlurmFacts| it.cgroups.constrains_swap = true;
    let found = found(swap, &DFRS_CONF.replace("2000", "0"));
    assert_eq!(found, [("swap_space", Verdict::Warning)]);
}

#[test]
fn the_cpu_bind_of_nodes_comes_before_that_of_the_partition() {
    let bind = |partition: &'static str, nodes: [&'static str; 2]| {
        move |it: &mut SlurmFacts| {
            it.task_plugin = "task/affinity,task/cgroup".into();
            it.partitions[0].cpu_bind = partition.into();
            for (node, bind) in it.nodes.iter_mut().zip(nodes) {
                node.cpu_bind = bind.into();
            }
        }
    };
    let warned = [("binding", Verdict::Warning)];
    assert_eq!(found(bind("", ["", ""]), DFRS_CONF), warned);
    assert_eq!(found(bind("none", ["", "cores"]), DFRS_CONF), warned);
    assert_eq!(found(bind("cores", ["none", ""]), DFRS_CONF), warned);
    assert_eq!(found(bind("none", ["", ""]), DFRS_CONF), []);
    assert_eq!(found(bind("cores", ["none", "none"]), DFRS_CONF), []);
    let threaded = |it: &mut SlurmFacts| {
        bind("none", ["", ""])(it);
        it.nodes[0].threads_per_core = 2;
    };
    assert_eq!(found(threaded, DFRS_CONF), warned);
}

#[test]
fn partitions_are_not_checked_without_dfrs_conf() {
    let mut facts = good();
    facts.partitions[0].is_forced_to_one = false;
    facts.select_type = "select/linear".into();
    let checks: Vec<&str> = examine(&facts, None).iter().map(|it| it.check).collect();
    assert_eq!(checks, ["select"]);
}

#[test]
fn jobs_without_an_extra_cannot_show_their_yield_there() {
    let text = format!("{DFRS_CONF}ShowYieldIn=Extra\n");
    let old = |it: &mut SlurmFacts| it.has_extra = false;
    assert_eq!(found(old, &text), [("extra", Verdict::Refused)]);
    assert_eq!(found(old, DFRS_CONF), []);
    assert_eq!(found(|_| {}, &text), []);
}

#[test]
fn a_node_is_judged_by_its_own_cgroup_conf() {
    let cgroups = CgroupConf {
        plugin: "disabled".into(),
        constrains_ram: false,
        constrains_swap: true,
        ..CgroupConf::default()
    };
    let checks = |parks| -> Vec<(&str, Verdict)> {
        let findings = examine_cgroups(&cgroups, parks);
        findings.iter().map(|it| (it.check, it.verdict)).collect()
    };
    use Verdict::{Refused, Warning};
    let of = |swap| {
        [
            ("cgroups", Refused),
            ("wall", Warning),
            ("swap_space", swap),
        ]
    };
    assert_eq!(checks(true), of(Refused));
    assert_eq!(checks(false), of(Warning));
    assert_eq!(examine_cgroups(&CgroupConf::default(), true), []);
}
