//! From a dump of sacct.

use std::io::BufRead;

use dfrs_core::Bytes;
use dfrs_sim::trace::most_at_once;
use dfrs_sim::trace::sacct::{
    Assumed, CpuRule, Dump, LeftOut, MemoryRule, Rules, Site, SiteTrace, read_dump, to_trace,
};

use super::log_jobs::{DUMP_KIND, LogJobs, recorded};
use crate::input::log_file::{LogFile, LogPurpose};
use crate::show::{TimeBase, of_jobs, percent, sentence_about, significant};

/// The dump, as jobs with a task on each node that they had.
pub(super) fn read(log: &LogFile, input: impl BufRead) -> Result<LogJobs, String> {
    let file = log.file;
    let site = log.site.site(log.nodes)?;
    let rules = log.site.rules();
    let dump = read_dump(input, log.strict).map_err(|error| error.to_string())?;
    if rules.memory == MemoryRule::Measured && !dump.has_memory {
        return Err("has no column MaxRSS, which --memory measured needs; add it to --format, or leave out --memory".into());
    }
    let taken = to_trace(&dump, &site, &rules);
    refuse_left_out(&taken, log.strict)?;
    let jobs = taken.trace.jobs.len();
    let assumed = assumptions(&dump, &rules, &taken.assumed, jobs);
    let too_many = too_many_cpus(&taken, site.nodes, site.cpus_per_node);
    // A comparison of schedulers gives all the same jobs, a replay gives each what it would make of
    // them: batch schedulers count CPUs, and DFRS's caps hold jobs to theirs.
    let (batch, capped) = match log.purpose {
        LogPurpose::Simulation => (None, Vec::new()),
        LogPurpose::Replay => {
            let all_cpus = site.nodes.saturating_mul(site.cpus_per_node);
            (Some((taken.by_cpus, all_cpus)), taken.capped)
        }
    };
    let mut source = LogJobs {
        kind: DUMP_KIND,
        batch_unit: "CPUs, wherever they are free (a job's memory counts as the CPUs that go with it)",
        batch,
        nodes: site.nodes,
        node_cpus: f64::from(site.cpus_per_node),
        node_memory: Some(bytes(site.memory_per_node)),
        cpus: taken.cpus.iter().copied().map(f64::from).collect(),
        as_it_was: recorded(log.purpose, &taken.trace),
        trace: taken.trace,
        clock: if dump.unix_time {
            TimeBase::Utc
        } else {
            TimeBase::Local
        },
        capped,
        assumed,
        ..LogJobs::default()
    };
    source.note(file, too_many);
    for caution in cautions(&dump, &taken.assumed, jobs) {
        source.caution(file, Some(caution));
    }
    source.note(file, dump.invalid_limits.note());
    let malformed: Vec<String> = dump.bad.iter().map(ToString::to_string).collect();
    source.leave_out(file, "malformed lines", dump.bad_lines, &malformed);
    for (why, left_out) in [
        (GENERIC, &taken.generic),
        ("jobs that had more than such nodes have", &taken.misfits),
    ] {
        let lines: Vec<String> = left_out.lines.iter().map(ToString::to_string).collect();
        source.leave_out_ran(file, why, left_out.core_time.seconds(), &lines);
    }
    source.note(file, gpus_left_out(&dump, &site, &rules));
    source.leave_out(file, "jobs that had not ended", dump.unfinished, &[]);
    source.leave_out(
        file,
        "jobs that had ended, and sacct does not say when (sacctmgr show runawayjobs)",
        dump.endless,
        &[],
    );
    source.leave_out(
        file,
        "jobs that ended before they started",
        dump.never_ran,
        &[],
    );
    source.leave_out(
        file,
        "steps whose job is not in the dump",
        dump.stray_steps,
        &[],
    );
    Ok(source)
}

/// What is said of jobs after their number: `name: text` a line.
const SAID: &str = include_str!("accounting.txt");

fn said(name: &str) -> &'static str {
    let mut lines = SAID.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(known, _)| *known == name);
    debug_assert!(found.is_some(), "accounting.txt has no line for {name}");
    found.map_or("", |(_, text)| text)
}

/// Why jobs with devices are left out: GPUs count only where options say how many there are, others do not.
const GENERIC: &str = "jobs that had GPUs or other devices";

/// A sentence on how jobs with GPUs are not left out, where they are.
fn gpus_left_out(dump: &Dump, site: &Site, rules: &Rules) -> Option<String> {
    let had_gpus = dump.runs.iter().filter(|run| run.gpus.is_some()).count();
    (had_gpus > 0 && site.gpus.is_none() && !rules.keep_gres).then(|| {
        format!(
            "{} had GPUs and are left out: --gpus-per-node, and --gpu-nodes where not all nodes have some, give them theirs.",
            of_jobs(had_gpus, dump.runs.len())
        )
    })
}

/// Refuses the dump if no job is left of it, or with `strict` if any is left out.
fn refuse_left_out(taken: &SiteTrace, strict: bool) -> Result<(), String> {
    let first = |left_out: &LeftOut| left_out.lines.first().map(ToString::to_string);
    let (generic, misfit) = (first(&taken.generic), first(&taken.misfits));
    if let (true, Some(first)) = (strict, &misfit) {
        return Err(format!(
            "{first}; give what the nodes really are, or leave out --strict to skip such jobs"
        ));
    }
    if let (true, Some(first)) = (strict, &generic) {
        return Err(format!(
            "{first}, which is not simulated; for GPUs give --gpus-per-node, leave out --strict to skip such jobs, or --keep-gres takes them as if they had none"
        ));
    }
    if !taken.trace.jobs.is_empty() {
        return Ok(());
    }
    Err(match (misfit, generic) {
        (None, Some(first)) => format!(
            "no job is left: all had GPUs or other devices ({first}), which are not simulated; for GPUs give --gpus-per-node, choose other partitions with sacct --partition, or --keep-gres takes jobs as if they had none"
        ),
        (first, _) => format!(
            "no job fits on such nodes{}; give what the nodes really are",
            first.map_or(String::new(), |first| format!(" ({first})"))
        ),
    })
}

/// In sentences: what jobs did that no simulation here does.
fn cautions(dump: &Dump, assumed: &Assumed, jobs: usize) -> Vec<String> {
    let mut all = Vec::new();
    if assumed.overused > 0 {
        all.push(format!(
            "{} used more CPU time than their CPUs have, up to {}% of it, {} core-hours beyond it in all: nothing bound them to what they asked for. DFRS's caps do: dfrs replay lets them run as many times longer under DFRS, and dfrs sim as long as they did.",
            of_jobs(assumed.overused, jobs),
            assumed.max_overuse_percent,
            significant(assumed.overused_time.seconds() / 3600.0, 2),
        ));
    }
    let mut counted = |count, name| all.extend(sentence_about(count, jobs, said(name)));
    counted(assumed.memory_lowered, "memory-lowered");
    counted(assumed.impossible, "impossible");
    counted(assumed.gres_ignored, "gres-ignored");
    counted(assumed.with_gpus, "with-gpus");
    counted(assumed.licenses_ignored, "licenses-ignored");
    counted(dump.overlapping, "overlapping");
    if !dump.has_gres {
        all.push("The dump does not say whether jobs had GPUs or other devices (column AllocTRES): those that had count as if they had none.".into());
    }
    all
}

/// In sentences: how so many jobs were taken, which are left of the dump.
fn assumptions(dump: &Dump, rules: &Rules, assumed: &Assumed, jobs: usize) -> Vec<String> {
    let mut all = vec![
        "A job has one task on each node that it had, with its share of the CPUs and of the memory; tasks of one job may come together on one node. How long it ran at the site is its run time when it gets all the CPU it needs.".to_owned(),
    ];
    all.push(match rules.cpu {
        CpuRule::Measured => "A job's CPU need is what it used on average (`TotalCPU` over its run time and its CPUs), at least a hundredth of its CPUs. A job that alternates between computing and waiting would at times have used more. The plugin takes what jobs ask for: `--cpu requested`.".into(),
        CpuRule::Requested => "A job's CPU need is all CPUs that it had, as the plugin takes it.".to_owned(),
    });
    all.push(match rules.memory {
        MemoryRule::Requested => "A job's memory requirement is what it asked for (`ReqMem`, `AllocTRES`), because Slurm keeps that for it, used or not. `--memory measured` shows what would be possible if jobs asked for what they use.".into(),
        MemoryRule::Measured => format!("A job's memory requirement is what it used at most (`MaxRSS`) and {} more, but not more than it asked for. Jobs really ask for more (`--memory requested`), and Slurm keeps that for them.", percent(f64::from(rules.headroom_percent) / 100.0)),
    });
    let mut counted = |count, name| all.extend(sentence_about(count, jobs, said(name)));
    counted(assumed.cpu_not_measured, "cpu-not-measured");
    counted(assumed.cpu_raised, "cpu-raised");
    counted(
        assumed
            .cpu_lowered
            .saturating_sub(assumed.overused + assumed.impossible),
        "cpu-lowered",
    );
    counted(assumed.memory_not_requested, "memory-not-requested");
    counted(assumed.memory_allocated, "memory-allocated");
    counted(assumed.memory_not_measured, "memory-not-measured");
    counted(assumed.memory_unknown, "memory-unknown");
    let runs = dump.runs.len();
    let mut counted = |count, name| all.extend(sentence_about(count, runs, said(name)));
    counted(dump.repeated, "repeated");
    counted(dump.components, "components");
    if !dump.has_memory {
        all.push("The dump does not say how much memory jobs used (column `MaxRSS`): what they asked for counts.".into());
    }
    if dump.steps == 0 {
        all.push("The dump has no lines of steps (was `sacct -X` used?): no memory was measured, and CPU time only where sacct sums it up for the job.".into());
    }
    if !dump.eligible {
        all.push("The dump does not say when jobs became eligible (column `Eligible`): waiting for other jobs, for a time to begin or for a limit counts as waiting for the scheduler, and under EASY and DFRS such jobs start at once.".into());
    }
    if !dump.unix_time {
        all.push("Times are local and taken as they stand: a job that ran while the clock went back or forth is an hour off. `SLURM_TIME_FORMAT=%s` avoids that.".into());
    }
    all
}

/// A sentence if more CPUs were in use at one time than the options say there are.
fn too_many_cpus(taken: &SiteTrace, nodes: u32, cpus_per_node: u32) -> Option<String> {
    let records = taken.trace.recorded_schedule()?;
    let changes = records.iter().zip(&taken.cpus).flat_map(|(record, cpus)| {
        let cpus = u64::from(*cpus);
        [(record.start, true, cpus), (record.finish, false, cpus)]
    });
    let peak = most_at_once(changes.collect());
    let there_are = u128::from(nodes) * u128::from(cpus_per_node);
    (peak > there_are).then(|| {
        format!("Jobs had up to {peak} CPUs at one time, and {nodes} nodes of {cpus_per_node} CPUs have {there_are}: check `--nodes` and `--cpus-per-node`, or choose the partitions with `sacct --partition`.")
    })
}

/// Memory in bytes for people who count in powers of 2, as Slurm does.
fn bytes(bytes: Bytes) -> f64 {
    // Precise enough: to be looked at.
    bytes.0 as f64
}
