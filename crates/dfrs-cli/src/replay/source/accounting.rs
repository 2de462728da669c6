//! From a dump of sacct.

use std::io::BufRead;
use std::path::Path;

use dfrs_sim::trace::sacct::{
    Assumed, CpuRule, Dump, MemoryRule, Rules, SiteTrace, read_dump, to_trace,
};

use super::{Source, bytes};
use crate::replay::SiteOptions;
use crate::replay::show::{Clock, number, percent};

/// The dump, which `file` names to people, of a site with so many nodes.
pub fn read(
    file: &Path,
    input: impl BufRead,
    (options, nodes): (&SiteOptions, Option<u32>),
    strict: bool,
) -> Result<Source, String> {
    let site = options.site(nodes)?;
    let rules = options.rules();
    let dump = read_dump(input, strict).map_err(|error| error.to_string())?;
    if rules.memory == MemoryRule::Measured && !dump.has_memory {
        return Err("has no column MaxRSS, which --memory measured needs; add it to --format, or leave out --memory".into());
    }
    let taken = to_trace(&dump, &site, &rules);
    if let (true, Some(first)) = (strict, taken.misfits.first()) {
        return Err(format!(
            "{first}; give what the nodes really are, or leave out --strict to skip such jobs"
        ));
    }
    if taken.trace.jobs.is_empty() {
        let first = taken.misfits.first().map(|misfit| format!(" ({misfit})"));
        return Err(format!(
            "no job fits on such nodes{}; give what the nodes really are",
            first.unwrap_or_default()
        ));
    }
    let assumed = assumptions(&dump, &rules, &taken.assumed);
    let too_many = too_many_cpus(&taken, site.nodes, site.cpus_per_node);
    let as_it_was = taken.trace.as_it_was();
    let mut source = Source {
        kind: "a dump of Slurm's accounting",
        batch_unit: "CPUs, wherever they are free (a job's memory counts as the CPUs that go with it)",
        batch: (taken.by_cpus, site.nodes.saturating_mul(site.cpus_per_node)),
        nodes: site.nodes,
        node_cpus: f64::from(site.cpus_per_node),
        node_memory: Some(bytes(site.memory_per_node)),
        cpus: taken.cpus.iter().copied().map(f64::from).collect(),
        told_of: Vec::new(),
        as_it_was: as_it_was.map(|records| ("as it was".to_owned(), records)),
        trace: taken.trace,
        clock: if dump.unix_time {
            Clock::Utc
        } else {
            Clock::Local
        },
        left_out: Vec::new(),
        assumed,
        told: String::new(),
    };
    source.note(file, too_many);
    source.note(file, dump.odd_limits.note());
    let told: Vec<String> = dump.bad.iter().map(ToString::to_string).collect();
    source.leave_out(file, "lines that make no sense", dump.bad_lines, &told);
    let misfits: Vec<String> = taken.misfits.iter().map(ToString::to_string).collect();
    let count = taken.misfits.len();
    source.leave_out(
        file,
        "jobs that had more than such nodes have",
        count,
        &misfits,
    );
    source.leave_out(file, "jobs that had not ended", dump.unfinished, &[]);
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

/// In sentences: how jobs were taken.
fn assumptions(dump: &Dump, rules: &Rules, assumed: &Assumed) -> Vec<String> {
    let jobs = dump.runs.len();
    let of_jobs = |count: usize| format!("{} of {} jobs", number(count), number(jobs));
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
    let mut counted = |count: usize, what: &str| {
        if count > 0 {
            all.push(format!("{} {what}", of_jobs(count)));
        }
    };
    counted(
        assumed.cpu_not_measured,
        "have no measured CPU time: they need all CPUs that they had.",
    );
    counted(
        assumed.cpu_raised,
        "used less than a hundredth of their CPUs' time. If that is not so at your site, its accounting does not see their processes, and `--cpu requested` is right.",
    );
    counted(
        assumed.cpu_lowered,
        "used more CPU time than their CPUs have: they need all of them.",
    );
    counted(
        assumed.memory_not_requested,
        "asked for no memory, or for all of the nodes' (`--mem=0` looks the same), and the dump does not say what Slurm kept for them: what was measured counts, with the headroom.",
    );
    counted(
        assumed.memory_kept,
        "asked for no memory, or for all of the nodes': what Slurm kept for them (`AllocTRES`) counts.",
    );
    counted(
        assumed.memory_not_measured,
        "have no measured memory: what they asked for counts.",
    );
    counted(
        assumed.memory_unknown,
        "neither asked for memory nor had it measured: the same share of the node's memory as of its CPUs counts.",
    );
    counted(
        dump.repeated,
        "are later runs of the same job (requeued or resized); each run counts as a job.",
    );
    counted(
        dump.components,
        "are components of heterogeneous jobs; each counts as a job, which may start without the others.",
    );
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
    let records = taken.trace.as_it_was()?;
    let mut changes: Vec<_> = records
        .iter()
        .zip(&taken.cpus)
        .flat_map(|(record, cpus)| [(record.start, true, *cpus), (record.finish, false, *cpus)])
        .collect();
    changes.sort_unstable(); // at one time, what ends comes first
    let (mut now, mut most) = (0u64, 0u64);
    for (_, comes, cpus) in changes {
        let cpus = u64::from(cpus);
        now = if comes {
            now + cpus
        } else {
            now.saturating_sub(cpus)
        };
        most = most.max(now);
    }
    let there_are = u64::from(nodes) * u64::from(cpus_per_node);
    (most > there_are).then(|| {
        format!("Jobs had up to {most} CPUs at one time, and {nodes} nodes of {cpus_per_node} CPUs have {there_are}: check `--nodes` and `--cpus-per-node`, or choose the partitions with `sacct --partition`.")
    })
}
