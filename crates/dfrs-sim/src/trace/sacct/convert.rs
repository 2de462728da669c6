//! What ran at a site, as traces for the simulator.

use dfrs_core::{Amount, Bytes, Cores, Span};

use super::{Dump, SacctRun};
use crate::trace::bad_line::BadLine;
use crate::trace::{MAX_SECONDS, NODE_CPU, NODE_GPUS, NODE_MEMORY, Trace, TraceJob};

/// The smallest CPU need that is believed, as one part of so many of what the job had.
const MIN_CPU_PART: u64 = 100;

/// The machine: equal nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Number of nodes, at least 1.
    pub nodes: u32,
    /// CPUs of a node as Slurm counts them, at least 1.
    pub cpus_per_node: u32,
    /// Memory of a node that jobs can have, above 0.
    pub memory_per_node: Bytes,
    /// Its GPUs; without, jobs that had some are taken as the rules say.
    pub gpus: Option<SiteGpus>,
}

/// Where the GPUs of a site are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteGpus {
    /// GPUs of each node that has some, at least 1.
    pub per_node: u32,
    /// Nodes that have some, at least 1 and at most all.
    pub nodes: u32,
}

/// What a job's CPU need is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuRule {
    /// The CPU time that the job used over that of the CPUs that it had: at least a hundredth of
    /// these and at most all; all of them where it was not measured.
    #[default]
    Measured,
    /// All CPUs that it had.
    Requested,
}

/// What a job's memory requirement is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryRule {
    /// What the job requested, which Slurm keeps for it, used or not. Where it requested nothing:
    /// what Slurm kept for it, if the dump says so (all of its nodes where memory is shared out),
    /// else what was measured, with the headroom.
    #[default]
    Requested,
    /// What was measured, with the headroom, and at most what the job requested; where nothing was
    /// measured, what it requested.
    Measured,
}

/// How jobs of a dump are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The CPU need.
    pub cpu: CpuRule,
    /// The memory requirement.
    pub memory: MemoryRule,
    /// What is added to measured memory, in hundredths of it.
    pub headroom_percent: u32,
    /// Jobs that had devices are taken as if they had none. Otherwise they are left out, but for those that had
    /// GPUs alone where the site says how many nodes have.
    pub keep_gres: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            cpu: CpuRule::default(),
            memory: MemoryRule::default(),
            headroom_percent: 20,
            keep_gres: false,
        }
    }
}

/// For how many jobs something had to be assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// Their CPU time was not measured: they need all CPUs that they had.
    pub cpu_not_measured: usize,
    /// Jobs that used less than a hundredth of their CPUs' time, and need a hundredth.
    pub cpu_raised: usize,
    /// Jobs that used more CPU time than their CPUs have, and need all of them.
    pub cpu_lowered: usize,
    /// Jobs that did so by more than what clocks and samples explain: nothing bound them to their
    /// CPUs, as caps would.
    pub overused: usize,
    /// CPU time that these used beyond that of their CPUs.
    pub overused_time: Span,
    /// The most that one of these used, in percent of the time of its CPUs; 0 if there are none.
    pub max_overuse_percent: u64,
    /// Jobs that requested no memory (or all of the node's, which looks the same), and of which the
    /// dump does not say what Slurm kept for them; what was measured counts.
    pub memory_not_requested: usize,
    /// Jobs that requested none either, but for which what Slurm kept for them counts.
    pub memory_allocated: usize,
    /// Jobs whose memory was not measured though measurements count; what they requested counts.
    pub memory_not_measured: usize,
    /// Neither: the same share of the node's memory as of its CPUs.
    pub memory_unknown: usize,
    /// Jobs that had more memory than they requested, by what was measured; what they requested
    /// counts.
    pub memory_lowered: usize,
    /// Jobs that had devices, which do not count.
    pub gres_ignored: usize,
    /// Jobs that had GPUs, which count.
    pub with_gpus: usize,
    /// Jobs that used more CPU time than all CPUs of their nodes have, which cannot be; they need
    /// all that they had.
    pub impossible: usize,
    /// Jobs that had licences or burst buffers, which do not count.
    pub licenses_ignored: usize,
}

/// Runs that are not in the traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Why, by lines of the dump.
    pub lines: Vec<BadLine>,
    /// CPU time that the CPUs of these had.
    pub core_time: Span,
}

impl LeftOut {
    fn add(&mut self, run: &SacctRun, what: String) {
        self.core_time = sum(self.core_time, run.core_time());
        let line = run.line;
        self.lines.push(BadLine { line, what });
    }
}

impl Assumed {
    /// Counts the run if it used more than it had. How long it would have run with no more than its CPUs.
    fn check_usage(&mut self, run: &SacctRun, site: &Site) -> Span {
        let more_memory = run
            .requested
            .zip(run.resident)
            .is_some_and(|(asked, measured)| measured > asked);
        self.memory_lowered += usize::from(more_memory);
        let had = run.core_time();
        let used = run.cpu_time.unwrap_or_default();
        if had <= Span::ZERO || !is_beyond(used, had, run.cpus) {
            return run.elapsed();
        }
        let on_nodes = run.nodes.saturating_mul(site.cpus_per_node);
        let there_is = Span(run.elapsed().0.saturating_mul(i64::from(on_nodes)));
        if is_beyond(used, there_is, on_nodes) {
            self.impossible += 1;
            return run.elapsed();
        }
        self.overused += 1;
        self.overused_time = sum(self.overused_time, Span(used.0 - had.0));
        let times = |number: i64| i128::from(number) * i128::from(used.0) / i128::from(had.0);
        let percent = u64::try_from(times(100)).unwrap_or(u64::MAX);
        self.max_overuse_percent = self.max_overuse_percent.max(percent);
        let longer = i64::try_from(times(run.elapsed().0)).unwrap_or(i64::MAX);
        Span(longer.min(MAX_SECONDS * 1_000_000))
    }
}

/// Whether so much CPU time is more than so many CPUs had, by more than what clocks and samples explain: elapsed
/// times are whole seconds, and CPU time is sampled at another time than these are.
fn is_beyond(used: Span, had: Span, cpus: u32) -> bool {
    let explained = (had.0 / 20).saturating_add(i64::from(cpus) * 1_000_000);
    used.0.saturating_sub(had.0) > explained
}

/// A dump as the simulator takes it.
#[derive(Clone, Debug, Default)]
pub struct SiteTrace {
    /// For DFRS: each job has one task for each node that it had, with its share of the CPUs and of the
    /// memory.
    pub trace: Trace,
    /// For batch schedulers: the same jobs in the same order, a task for each CPU that Slurm would count
    /// as taken (by the job's CPUs or by its memory, whichever is more). A node is a CPU.
    pub by_cpus: Trace,
    /// CPUs that each of them had, in the same order.
    pub cpus: Vec<u32>,
    /// How long each of them would have run with no more than these, in the same order: as long as it did, or as
    /// many times longer as it used more CPU time than they had.
    pub capped: Vec<Span>,
    /// Runs that no node of the site could have held.
    pub misfits: LeftOut,
    /// Runs that had devices, unless the rules keep them.
    pub generic: LeftOut,
    /// What had to be assumed.
    pub assumed: Assumed,
}

/// Makes traces of a dump. O(n).
pub fn to_trace(dump: &Dump, site: &Site, rules: &Rules) -> SiteTrace {
    let mut all = SiteTrace::default();
    for run in &dump.runs {
        let gpus = site.gpus.zip(run.gpus);
        if let (Some(gres), None, false) = (&run.gres, gpus, rules.keep_gres) {
            all.generic.add(run, format!("job {} had {gres}", run.id));
            continue;
        }
        if let Some(what) = misfit(run, site) {
            all.misfits.add(run, what);
            continue;
        }
        all.assumed.gres_ignored += usize::from(run.gres.is_some() && gpus.is_none());
        all.assumed.with_gpus += usize::from(gpus.is_some());
        all.assumed.licenses_ignored += usize::from(run.licenses.is_some());
        let capped = all.assumed.check_usage(run, site);
        let cpu = cpu_need(run, site, rules, &mut all.assumed);
        let bytes = memory(run, site, rules, &mut all.assumed);
        let memory = share(NODE_MEMORY, bytes.0, site.memory_per_node.0);
        // Slurm keeps the CPUs that the job requested, used or not.
        let on_each = u64::from(run.cpus.div_ceil(run.nodes.max(1)));
        let kept = Cores(on_each * NODE_CPU.0 / u64::from(site.cpus_per_node.max(1)));
        all.trace.jobs.push(TraceJob {
            allocated_cpu: kept.clamp(cpu, NODE_CPU),
            gpus: gpus.map_or(Amount(0), |(site, gpus)| {
                let on_each = gpus.div_ceil(run.nodes.max(1));
                Amount(NODE_GPUS.0 * u64::from(on_each) / u64::from(site.per_node.max(1)))
            }),
            ..job(run, run.nodes, cpu, memory)
        });
        let taken = cpus_taken(run, site, bytes);
        all.by_cpus
            .jobs
            .push(job(run, taken, NODE_CPU, Bytes::ZERO));
        all.cpus.push(run.cpus);
        all.capped.push(capped);
    }
    all.trace.nodes = Some(site.nodes);
    all.trace.gpu_nodes = site.gpus.map(|gpus| gpus.nodes);
    all.trace.has_memory = true;
    all.by_cpus.nodes = Some(site.nodes.saturating_mul(site.cpus_per_node));
    all
}

fn sum(one: Span, other: Span) -> Span {
    Span(one.0.saturating_add(other.0))
}

fn job(run: &SacctRun, tasks: u32, cpu: Cores, memory: Bytes) -> TraceJob {
    let job = TraceJob::new(&run.id, run.submit, tasks, cpu, memory, run.elapsed());
    let estimate = run.limit.filter(|limit| *limit > Span::ZERO);
    TraceJob {
        estimate,
        waited: Some(run.start.since(run.submit)),
        suspended: run.suspended,
        ..job
    }
}

fn misfit(run: &SacctRun, site: &Site) -> Option<String> {
    let SacctRun {
        id, nodes, cpus, ..
    } = run;
    let has = if run.nodes > site.nodes {
        format!("{nodes} nodes, there are {} (--nodes)", site.nodes)
    } else if u64::from(*cpus) > u64::from(*nodes) * u64::from(site.cpus_per_node) {
        format!(
            "{cpus} CPUs on {nodes} nodes, a node has {} (--cpus-per-node)",
            site.cpus_per_node
        )
    } else if run
        .requested
        .is_some_and(|asked| asked > site.memory_per_node)
    {
        let mebibytes = |bytes: Bytes| bytes.0 >> 20;
        format!(
            "{}M of memory on a node, which has {}M (--memory-per-node)",
            run.requested.map_or(0, mebibytes),
            mebibytes(site.memory_per_node)
        )
    } else {
        let gpus = site.gpus.zip(run.gpus);
        gpus.and_then(|(site, gpus)| gpu_misfit(run, site, gpus))?
    };
    Some(format!("job {id} had {has}"))
}

fn gpu_misfit(run: &SacctRun, site: SiteGpus, gpus: u32) -> Option<String> {
    let (nodes, SiteGpus { per_node, .. }) = (run.nodes, site);
    if nodes > site.nodes {
        return Some(format!(
            "{gpus} GPUs on {nodes} nodes, {} have some (--gpu-nodes)",
            site.nodes
        ));
    }
    (gpus.div_ceil(nodes.max(1)) > per_node)
        .then(|| format!("{gpus} GPUs on {nodes} nodes, a node has {per_node} (--gpus-per-node)"))
}

/// CPU need of one task: of its share of the job's CPUs, the part that was used.
fn cpu_need(run: &SacctRun, site: &Site, rules: &Rules, assumed: &mut Assumed) -> Cores {
    let had = u128::from(run.elapsed().0.unsigned_abs()) * u128::from(run.cpus);
    let used = match (rules.cpu, run.cpu_time) {
        (CpuRule::Requested, _) => had,
        (CpuRule::Measured, Some(time)) if had > 0 => u128::from(time.0.unsigned_abs()),
        (CpuRule::Measured, _) => {
            assumed.cpu_not_measured += 1;
            had
        }
    };
    let least = had.div_ceil(u128::from(MIN_CPU_PART));
    assumed.cpu_raised += usize::from(used < least);
    assumed.cpu_lowered += usize::from(used > had);
    let (used, had) = if had == 0 {
        (1, 1)
    } else {
        (used.clamp(least, had), had)
    };
    let on_a_node = u128::from(NODE_CPU.0) * u128::from(run.cpus) * used;
    let all = u128::from(run.nodes) * u128::from(site.cpus_per_node) * had;
    // Rounded down, as memory is: as many such jobs as a node has room for are to have it.
    let need = u64::try_from(on_a_node / all.max(1)).unwrap_or(u64::MAX);
    Cores(need.clamp(1, NODE_CPU.0))
}

/// Memory that is required on each node.
fn memory(run: &SacctRun, site: &Site, rules: &Rules, assumed: &mut Assumed) -> Bytes {
    let kept = run.allocated.map(|bytes| bytes.min(site.memory_per_node));
    let asked = run.requested.or(kept);
    let measured = run.resident.map(|bytes| {
        let percent = u128::from(rules.headroom_percent) + 100;
        let bytes = u128::from(bytes.0) * percent / 100;
        let max = asked.unwrap_or(site.memory_per_node);
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)).min(max)
    });
    let counts_kept = run.requested.is_none() && kept.is_some();
    match (rules.memory, asked, measured) {
        (MemoryRule::Requested, Some(asked), _) => {
            assumed.memory_allocated += usize::from(counts_kept);
            asked
        }
        (MemoryRule::Measured, _, Some(measured)) => measured,
        (MemoryRule::Requested, None, Some(measured)) => {
            assumed.memory_not_requested += 1;
            measured
        }
        (MemoryRule::Measured, Some(asked), None) => {
            assumed.memory_allocated += usize::from(counts_kept);
            assumed.memory_not_measured += usize::from(!counts_kept);
            asked
        }
        (_, None, None) => {
            assumed.memory_unknown += 1;
            let nodes_cpus = u64::from(run.nodes) * u64::from(site.cpus_per_node);
            share(site.memory_per_node, u64::from(run.cpus), nodes_cpus)
        }
    }
}

/// `all` × `part` / `whole`, rounded down, so that three thirds are not more than all; at most `all`.
fn share(all: Bytes, part: u64, whole: u64) -> Bytes {
    let bytes = u128::from(all.0) * u128::from(part) / u128::from(whole.max(1));
    Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)).min(all)
}

/// CPUs that the job takes from others under a batch scheduler: those that it had or, if more, as many as
/// go with the memory that it requires on each node.
fn cpus_taken(run: &SacctRun, site: &Site, memory: Bytes) -> u32 {
    let all = u128::from(site.memory_per_node.0.max(1));
    let on_each = (u128::from(site.cpus_per_node) * u128::from(memory.0)).div_ceil(all);
    let by_memory = on_each.min(u128::from(site.cpus_per_node)) * u128::from(run.nodes);
    run.cpus.max(u32::try_from(by_memory).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::Time;

    const GIB: u64 = 1 << 30;
    const SITE: Site = Site {
        nodes: 4,
        cpus_per_node: 32,
        memory_per_node: Bytes(128 * GIB),
        gpus: None,
    };

    fn run() -> SacctRun {
        SacctRun {
            line: 7,
            id: "17".into(),
            submit: Time::from_seconds(0),
            start: Time::from_seconds(50),
            end: Time::from_seconds(150),
            suspended: Span::ZERO,
            nodes: 2,
            cpus: 16,
            requested: Some(Bytes(64 * GIB)),
            allocated: None,
            resident: Some(Bytes(10 * GIB)),
            cpu_time: Some(Span::from_seconds(400)),
            limit: Some(Span::from_seconds(600)),
            gres: None,
            gpus: None,
            licenses: None,
        }
    }

    fn converted(run: SacctRun, rules: Rules) -> SiteTrace {
        let runs = vec![run];
        let dump = Dump {
            runs,
            ..Dump::default()
        };
        to_trace(&dump, &SITE, &rules)
    }

    fn of(run: SacctRun, rules: Rules) -> (TraceJob, Assumed) {
        let all = converted(run, rules);
        (all.trace.jobs[0].clone(), all.assumed)
    }

    const MEASURED: Rules = Rules {
        cpu: CpuRule::Measured,
        memory: MemoryRule::Measured,
        headroom_percent: 20,
        keep_gres: false,
    };

    #[test]
    fn a_job_has_a_task_on_each_node_with_what_it_used() {
        // 8 of 32 CPUs on each node, a quarter of their time.
        let (job, assumed) = of(run(), Rules::default());
        assert_eq!((job.tasks, job.cpu), (2, Cores(62_500)));
        assert_eq!(job.memory, Bytes(NODE_MEMORY.0 / 2));
        assert_eq!(job.runtime, Span::from_seconds(100));
        assert_eq!(job.estimate, Some(Span::from_seconds(600)));
        assert_eq!(assumed, Assumed::default());
        let (job, _) = of(run(), MEASURED);
        assert_eq!(job.memory, Bytes(NODE_MEMORY.0 * 12 / 128));
        let requested = Rules {
            cpu: CpuRule::Requested,
            ..MEASURED
        };
        assert_eq!(of(run(), requested).0.cpu, Cores(250_000));
    }

    #[test]
    fn the_site_and_batch_schedulers_get_the_same_jobs() {
        let all = converted(run(), Rules::default());
        let record = &all.trace.recorded_schedule().expect("records")[0];
        assert_eq!(
            (record.start, record.finish),
            (Time::from_seconds(50), Time::from_seconds(150))
        );
        // Half of the memory of two nodes is that of 32 CPUs.
        assert_eq!(
            (all.by_cpus.jobs[0].tasks, all.by_cpus.nodes),
            (32, Some(128))
        );
        let taken = |requested: Option<u64>, rules: Rules| {
            let mut run = run();
            run.requested = requested.map(|count| Bytes(count * GIB));
            converted(run, rules).by_cpus.jobs[0].tasks
        };
        assert_eq!(taken(Some(1), Rules::default()), 16);
        // 44 of 128 GiB go with 11 of 32 CPUs; measured, it is 12 GiB.
        assert_eq!(taken(Some(44), Rules::default()), 22);
        assert_eq!(taken(Some(44), MEASURED), 16);
        let mut unknown = run();
        (unknown.requested, unknown.resident) = (None, None);
        assert_eq!(
            converted(unknown, Rules::default()).by_cpus.jobs[0].tasks,
            16
        );
    }

    #[test]
    fn cpu_needs_are_bounded_by_what_the_job_had() {
        let cpu = |time: Option<i64>| {
            let mut run = run();
            run.cpu_time = time.map(Span::from_seconds);
            let (job, assumed) = of(run, MEASURED);
            let counts = (
                assumed.cpu_not_measured,
                assumed.cpu_raised,
                assumed.cpu_lowered,
            );
            (job.cpu.0, counts)
        };
        assert_eq!(cpu(None), (250_000, (1, 0, 0)));
        assert_eq!(cpu(Some(1600)), (250_000, (0, 0, 0)));
        assert_eq!(cpu(Some(1601)), (250_000, (0, 0, 1)));
        assert_eq!(cpu(Some(16)), (2_500, (0, 0, 0)));
        assert_eq!(cpu(Some(15)), (2_500, (0, 1, 0)));
        let mut at_once = run();
        at_once.end = at_once.start;
        let (job, assumed) = of(at_once, MEASURED);
        assert_eq!((job.cpu.0, assumed.cpu_not_measured), (250_000, 1));
    }

    #[test]
    fn missing_memory_is_assumed_and_counted() {
        let memory = |requested: Option<u64>, resident: Option<u64>, rules: Rules| {
            let mut run = run();
            run.requested = requested.map(|count| Bytes(count * GIB));
            run.resident = resident.map(|count| Bytes(count * GIB));
            let (job, assumed) = of(run, rules);
            let counts = (
                assumed.memory_not_requested,
                assumed.memory_not_measured,
                assumed.memory_unknown,
            );
            (job.memory.0 / (NODE_MEMORY.0 / 128), counts)
        };
        let asked = Rules::default();
        assert_eq!(memory(None, Some(10), asked), (12, (1, 0, 0)));
        assert_eq!(memory(None, None, asked), (32, (0, 0, 1)));
        assert_eq!(memory(Some(5), None, asked), (5, (0, 0, 0)));
        assert_eq!(memory(Some(5), None, MEASURED), (5, (0, 1, 0)));
        assert_eq!(memory(Some(11), Some(10), MEASURED), (11, (0, 0, 0)));
        assert_eq!(memory(None, Some(10), MEASURED), (12, (0, 0, 0)));
        assert_eq!(memory(None, Some(120), MEASURED), (128, (0, 0, 0)));
        assert_eq!(memory(None, None, MEASURED), (32, (0, 0, 1)));
    }

    #[test]
    fn job_without_a_memory_request_has_its_allocated_memory() {
        let memory = |kept: u64, rules: Rules| {
            let mut run = run();
            (run.requested, run.allocated) = (None, Some(Bytes(kept * GIB)));
            run.resident = Some(Bytes(10 * GIB));
            let (job, assumed) = of(run, rules);
            assert_eq!(assumed.memory_not_requested, 0);
            (
                job.memory.0 / (NODE_MEMORY.0 / 128),
                assumed.memory_allocated,
            )
        };
        assert_eq!(memory(100, Rules::default()), (100, 1));
        // The job ran on a larger node than the site's.
        assert_eq!(memory(200, Rules::default()), (128, 1));
        assert_eq!(memory(100, MEASURED), (12, 0));
    }

    #[test]
    fn job_that_exceeds_the_site_is_left_out_and_reported() {
        let misfit_of = |change: &dyn Fn(&mut SacctRun)| {
            let mut run = run();
            change(&mut run);
            let all = converted(run, Rules::default());
            assert!(all.trace.jobs.is_empty() && all.cpus.is_empty());
            assert!(all.misfits.core_time > Span::ZERO);
            all.misfits.lines[0].to_string()
        };
        assert!(
            misfit_of(&|run| run.nodes = 5)
                .contains("line 7: job 17 had 5 nodes, there are 4 (--nodes)")
        );
        assert!(
            misfit_of(&|run| run.cpus = 65)
                .contains("65 CPUs on 2 nodes, a node has 32 (--cpus-per-node)")
        );
        let memory = misfit_of(&|run| run.requested = Some(Bytes(129 * GIB)));
        assert!(
            memory.contains("132096M of memory on a node, which has 131072M"),
            "{memory}"
        );
    }

    #[test]
    fn jobs_with_generic_resources_are_left_out_unless_they_are_kept() {
        let mut with_gpus = run();
        with_gpus.gres = Some("gres/gpu=4".into());
        let all = converted(with_gpus.clone(), Rules::default());
        assert!(all.trace.jobs.is_empty() && all.by_cpus.jobs.is_empty());
        assert_eq!(
            all.generic.lines[0].to_string(),
            "line 7: job 17 had gres/gpu=4"
        );
        assert_eq!(all.generic.core_time, Span::from_seconds(1600));
        let keep = Rules {
            keep_gres: true,
            ..Rules::default()
        };
        let kept = converted(with_gpus, keep);
        assert_eq!((kept.trace.jobs.len(), kept.assumed.gres_ignored), (1, 1));
        assert_eq!(kept.generic, LeftOut::default());
        let mut licensed = run();
        licensed.licenses = Some("license/solver=2".into());
        assert_eq!(of(licensed, Rules::default()).1.licenses_ignored, 1);
    }

    #[test]
    fn gpus_count_where_the_site_says_how_many_nodes_have() {
        let of = |gpus: u32, nodes: u32, rules: Rules| {
            let mut run = run();
            run.gres = Some(format!("gres/gpu={gpus}").into());
            (run.gpus, run.nodes) = (Some(gpus), nodes);
            let dump = Dump {
                runs: vec![run],
                ..Dump::default()
            };
            let gpus = Some(SiteGpus {
                per_node: 4,
                nodes: 2,
            });
            to_trace(&dump, &Site { gpus, ..SITE }, &rules)
        };
        let all = of(3, 2, Rules::default());
        // Three on two nodes are two on one of them.
        assert_eq!(all.trace.jobs[0].gpus, Amount(NODE_GPUS.0 / 2));
        assert_eq!((all.assumed.with_gpus, all.assumed.gres_ignored), (1, 0));
        assert_eq!(all.trace.gpu_nodes, Some(2));
        let misfit = |gpus, nodes| of(gpus, nodes, Rules::default()).misfits.lines[0].to_string();
        assert!(misfit(9, 2).contains("9 GPUs on 2 nodes, a node has 4 (--gpus-per-node)"));
        assert!(misfit(3, 3).contains("3 GPUs on 3 nodes, 2 have some (--gpu-nodes)"));
    }

    #[test]
    fn overuse_of_cpu_and_memory_is_counted() {
        let used = |cpu_seconds: i64, memory: u64| {
            let mut run = run();
            run.cpu_time = Some(Span::from_seconds(cpu_seconds));
            run.resident = Some(Bytes(memory * GIB));
            of(run, Rules::default()).1
        };
        // The job had 1600 s of CPU and requested 64 GiB on each node.
        let assumed = used(6400, 65);
        assert_eq!((assumed.overused, assumed.memory_lowered), (1, 1));
        assert_eq!(assumed.overused_time, Span::from_seconds(4800));
        assert_eq!(assumed.max_overuse_percent, 400);
        // The job's two nodes had 6400 s, a twentieth, and a second for each of 64 CPUs.
        assert_eq!((used(6784, 1).overused, used(6784, 1).impossible), (1, 0));
        assert_eq!((used(6785, 1).overused, used(6785, 1).impossible), (0, 1));
        let capped = |cpu_seconds: i64| {
            let mut run = run();
            run.cpu_time = Some(Span::from_seconds(cpu_seconds));
            converted(run, Rules::default()).capped[0]
        };
        for (cpu_seconds, seconds) in [
            (400, 100),
            (1696, 100),
            (2400, 150),
            (6400, 400),
            (6785, 100),
        ] {
            assert_eq!(
                capped(cpu_seconds),
                Span::from_seconds(seconds),
                "{cpu_seconds}"
            );
        }
        // A second for each of 16 CPUs, and a twentieth.
        let assumed = used(1696, 64);
        assert_eq!((assumed.overused, assumed.cpu_lowered), (0, 1));
        assert_eq!(assumed.memory_lowered, 0);
        assert_eq!(used(1697, 64).overused, 1);
        let mut short = run();
        short.end = short.start;
        assert_eq!(of(short, Rules::default()).1.overused, 0);
    }

    #[test]
    fn extreme_numbers_do_not_overflow() {
        let mut largest = run();
        largest.end = Time::from_seconds(crate::trace::MAX_SECONDS);
        largest.nodes = 4;
        largest.cpus = 128;
        largest.requested = Some(Bytes(128 * GIB));
        largest.cpu_time = Some(Span(i64::MAX));
        largest.resident = Some(Bytes(u64::MAX));
        let (job, _) = of(
            largest,
            Rules {
                headroom_percent: u32::MAX,
                ..MEASURED
            },
        );
        assert_eq!((job.cpu, job.memory), (NODE_CPU, NODE_MEMORY));
    }
}
