//! The machine of a trace as Slurm would have it, and its jobs as they would be submitted.

use std::fmt::Write;

use dfrs_agent::fixtures::job;
use dfrs_agent::slurm::records::{ObservedJob, ObservedNode};
use dfrs_core::{Policy, RunTimeHint, Span, Time};
use dfrs_proto::conf::{Config, keys};
use dfrs_sim::SimSettings;
use dfrs_sim::metrics::NODE_GB;
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_testbed::model::acts::Act;
use dfrs_testbed::model::{ClusterModel, JobSubmission, ModelSettings as Timing};

const SECOND: i64 = 1_000_000;
/// UNIX seconds at which the first second of the trace begins.
const TRACE_START_UNIX: i64 = 1_000_000;
/// A node has no more CPUs than this: Slurm knows whole ones only.
const MAX_CPUS: u64 = 1000;
/// A node's memory, in what the model takes for MiB: fine enough for every trace.
const NODE_MIB: u64 = 100_000_000;
const PARTITION: &str = "live";
/// Keys of dfrs.conf that other options say, beside those of studies.
const KEYS_WITH_OPTIONS: [(&str, &str); 5] = [
    ("Mode", "leave it out"),
    ("Policy", "give --policy"),
    ("Period", "give --period"),
    ("SwapPerNode", "give --swap"),
    ("Journal", "give --journal"),
];

/// A job's label in the model, by its position in the trace.
pub fn label(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// A job's position in the trace, by its label.
pub fn index(label: u32) -> usize {
    label as usize - 1
}

/// The key of a line of dfrs.conf.
fn key_of(line: &str) -> &str {
    line.split('=').next().unwrap_or(line).trim()
}

/// A key that another option says, and what to do in place of the line.
fn conflict(key: &str) -> Option<(&'static str, String)> {
    let fixed = KEYS_WITH_OPTIONS.map(|(known, remedy)| (known, remedy.to_owned()));
    let of_studies = keys::OF_STUDIES.into_iter();
    let of_studies =
        of_studies.map(|(key, setting)| (key.name, format!("give --{}", setting.word)));
    let mut all = fixed.into_iter().chain(of_studies);
    all.find(|(known, _)| known.eq_ignore_ascii_case(key))
}

/// The machine.
pub struct LiveCluster {
    nodes: u32,
    /// CPUs of a node.
    cpus: u32,
    /// In the unit of [`NODE_MIB`].
    swap: u64,
    /// In the same unit, a second.
    swap_speed: u64,
    /// The first second of the trace.
    first: Time,
}

impl LiveCluster {
    /// Nodes with so many CPUs that every task of the trace needs whole ones, if there are not too many.
    ///
    /// # Errors
    ///
    /// One line about an option.
    pub fn new(trace: &Trace, settings: &SimSettings, gigabytes: f64) -> Result<Self, String> {
        if !(0.001..=1e6).contains(&gigabytes) {
            return Err("--swap-speed: allowed: GB/s, from 0.001 to 1000000".into());
        }
        let divisor = trace.jobs.iter().map(|job| job.cpu.0);
        let divisor = divisor.fold(NODE_CPU.0, greatest_common_divisor);
        let cpus = (NODE_CPU.0 / divisor.max(1)).min(MAX_CPUS);
        let first = trace.jobs.iter().map(|job| job.submit.0).min().unwrap_or(0);
        let of_memory = |amount: f64| amount * as_real(NODE_MIB);
        Ok(Self {
            nodes: settings.nodes,
            cpus: u32::try_from(cpus).unwrap_or(1),
            swap: as_whole(of_memory(as_real(settings.swap.0) / as_real(NODE_MEMORY.0))),
            swap_speed: as_whole(of_memory(gigabytes / NODE_GB)),
            first: Time(first.div_euclid(SECOND) * SECOND),
        })
    }

    /// The model's time at the trace's 0.
    pub fn trace_zero(&self) -> Time {
        Time(TRACE_START_UNIX * SECOND - self.first.0)
    }

    /// The model's time at this time of the trace.
    pub fn time(&self, time: Time) -> Time {
        Time(self.trace_zero().0 + time.0)
    }

    /// The simulation's dfrs.conf: what options say, and these lines.
    ///
    /// # Errors
    ///
    /// One line about what is wrong with these lines or with the period.
    pub fn conf(&self, policy: &Policy, lines: &[String]) -> Result<String, String> {
        for line in lines {
            let key = key_of(line);
            if let Some((known, remedy)) = conflict(key) {
                return Err(format!("--live-conf {line}: not {known}; {remedy}"));
            }
        }
        let period = policy.settings.period;
        if period.0 % SECOND != 0 {
            return Err("--period: whole seconds are allowed with --live, as in dfrs.conf".into());
        }
        let mut text = format!("Mode=full\nPolicy=\"{policy}\"\n");
        let _ = writeln!(text, "Period={}", period.0 / SECOND); // a String takes all
        let _ = writeln!(text, "SwapPerNode={}", self.swap);
        for (key, setting) in keys::OF_STUDIES {
            let _ = writeln!(text, "{}={}", key.name, (setting.show)(&policy.settings));
        }
        let mut keys = lines.iter().map(|line| key_of(line));
        let sets_move_cost = keys.any(|key| key.eq_ignore_ascii_case("MoveCost"));
        if policy.weighs_moves() && !sets_move_cost {
            let _ = writeln!(text, "MoveCost={}", policy.settings.penalty.0 / SECOND);
        }
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "Partition={PARTITION}");
        let read = Config::parse(&text, "--live-conf");
        read.map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// The model of it; `is_safe`: slurmctld is never killed, and need not save what it knows.
    pub fn model(&self, timing: Timing, is_safe: bool) -> ClusterModel {
        let nodes = (0..self.nodes).map(|index| {
            let node = ObservedNode::plain(index, self.cpus, NODE_MIB);
            (node, PARTITION.to_owned())
        });
        let timing = Timing {
            swap_mib: self.swap,
            swap_mib_per_second: self.swap_speed.max(1),
            save_interval: if is_safe {
                Span(i64::MAX / 4)
            } else {
                timing.save_interval
            },
            ..timing
        };
        ClusterModel::new(nodes.collect(), timing, Time(TRACE_START_UNIX * SECOND))
    }

    /// All jobs, as they are submitted; with time limits only if the policy uses them.
    pub fn submissions(&self, trace: &Trace, policy: &Policy) -> Vec<(Time, Act)> {
        let has_limits = policy.reserves() || policy.settings.run_time_hint == RunTimeHint::Limits;
        let jobs = trace.jobs.iter().enumerate();
        jobs.map(|(index, job)| {
            let submission = JobSubmission {
                // Each job whose user is not known has a user of its own.
                user: job.user.unwrap_or_else(|| label(index)),
                ..JobSubmission::new(label(index), self.job(job, has_limits), job.runtime)
            };
            (self.time(job.submit), Act::Submit(Box::new(submission)))
        })
        .collect()
    }

    fn job(&self, of_trace: &TraceJob, has_limit: bool) -> ObservedJob {
        let cpus = of_trace.cpu.0 * u64::from(self.cpus) + NODE_CPU.0 / 2;
        let cpus = (cpus / NODE_CPU.0).max(1);
        let limit = of_trace.estimate.filter(|_| has_limit);
        let memory = u128::from(of_trace.memory.0) * u128::from(NODE_MIB);
        let memory = memory / u128::from(NODE_MEMORY.0) / u128::from(cpus);
        ObservedJob {
            submit_seconds: 0,
            partition: PARTITION.into(),
            comment: format!("dfrs:{}", of_trace.mobility),
            limit_minutes: limit.map_or(0, |limit| minutes(limit.max(of_trace.runtime))),
            ..job(0, 1)
        }
        .requesting(|request| {
            request.tasks = of_trace.tasks;
            request.cpus_per_task = u32::try_from(cpus).unwrap_or(1); // In Slurm none at all would be the whole node's.
            request.memory = u64::try_from(memory).unwrap_or(NODE_MIB).max(1);
        })
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

// Precise enough: amounts for people.
fn as_real(amount: u64) -> f64 {
    amount as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and far below 2^64"
)]
fn as_whole(amount: f64) -> u64 {
    amount.round() as u64
}

/// A time limit of whole minutes, and one more, as what it takes to launch a job counts for it: nothing is to
/// end at its limit that did not end there in the trace.
fn minutes(limit: Span) -> u32 {
    let minutes = limit.0 / (60 * SECOND) + 2;
    u32::try_from(minutes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores};

    fn cluster(needs: &[u64]) -> (LiveCluster, Trace) {
        let of_need = |need: &u64| {
            let memory = Bytes(NODE_MEMORY.0 / 10);
            TraceJob::new("a", Time(7_500_000), 1, Cores(*need), memory, Span(1))
        };
        let trace = Trace {
            jobs: needs.iter().map(of_need).collect(),
            ..Trace::default()
        };
        let cluster = LiveCluster::new(&trace, &SimSettings::new(2), 0.5).expect("a cluster");
        (cluster, trace)
    }

    #[test]
    fn node_cpus_make_all_needs_whole() {
        let cpus = |needs: &[u64]| cluster(needs).0.cpus;
        assert_eq!(cpus(&[1_000_000]), 1);
        assert_eq!(cpus(&[250_000, 1_000_000]), 4);
        assert_eq!(cpus(&[250_000, 333_000]), 1000);
        assert_eq!(cpus(&[333_333]), 1000);
    }

    #[test]
    fn jobs_have_the_needs_and_memory_of_the_trace() {
        let (cluster, trace) = cluster(&[250_000, 1_000_000]);
        let jobs: Vec<ObservedJob> = trace
            .jobs
            .iter()
            .map(|job| cluster.job(job, false))
            .collect();
        assert_eq!(
            (jobs[0].request.cpus_per_task, jobs[1].request.cpus_per_task),
            (1, 4)
        );
        assert_eq!(
            (jobs[0].request.memory, jobs[1].request.memory),
            (NODE_MIB / 10, NODE_MIB / 40)
        );
        assert_eq!(
            cluster.time(Time(7_500_000)),
            Time(TRACE_START_UNIX * SECOND + 500_000)
        );
    }

    #[test]
    fn conf_line_of_another_option_is_refused() {
        let (cluster, _) = cluster(&[1_000_000]);
        let conf = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            cluster.conf(&Policy::recommended(), &lines)
        };
        assert!(conf(&["SettleTime=5", "MovesPerHour=unlimited"]).is_ok());
        for (line, words) in [
            ("policy=Greedy*", "give --policy"),
            ("loadceiling=150%", "not LoadCeiling; give --load-ceiling"),
            ("Perod=5", "did you mean"),
            ("SettleTime=-1", "SettleTime"),
        ] {
            let error = conf(&[line]).expect_err(line);
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
    }
}
