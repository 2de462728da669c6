//! What the simulated world is like.

use clap::{Args, ValueEnum};
use dfrs_core::{RunTimeHint, Span};
use dfrs_sim::trace::{NODE_CPUS, Trace, TraceJob, scaled};
use dfrs_sim::{
    Batch, CouplingLoss, Estimates, Needs, Scheduler, SimSettings, false_limits, round_limits,
    use_less,
};

use crate::options::period;
use crate::run_options::RunOptions;

/// Options about the world, the same for all policies.
#[derive(Args, Clone, Debug)]
pub struct SimOptions {
    #[command(flatten)]
    run: RunOptions,
    /// How EASY and Conservative know how long jobs run
    #[arg(long, value_enum, default_value_t = KnownTimes::Perfect)]
    estimates: KnownTimes,
    /// Give each job without a time limit one as users do: its run time times a number from 1 to 5, drawn
    /// by --seed, and then the next of 15 minutes, 1 hour, 4 hours, 1 day and 1 week. For --estimates user
    /// and --run-time-hint
    #[arg(long)]
    round_limits: bool,
    /// Let such a share of the jobs, drawn by --seed, ask for a day whatever they need: limits that lie
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    false_limits: f64,
    /// Let jobs use less CPU than they asked for: in each of one to four phases a part between this and all,
    /// drawn by --seed. Decisions do not know it, unless --needs measured
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = hundredths)]
    least_use: u8,
    /// What CPU jobs count with in decisions of DFRS: what they asked for, or what they were seen to use, with
    /// headroom
    #[arg(long, value_enum, default_value_t = CountedNeeds::Requested)]
    needs: CountedNeeds,
    /// Let jobs on n nodes at yield y take 1 + LOSS (1 - y) log2 n times as long as the yield explains, as programs do whose
    /// tasks wait for each other: 2 was measured for steps of 1 ms, 0.2 for steps of 10 ms. Between powers of two
    /// log2 is linear here. Decisions do not know it
    #[arg(long, value_name = "LOSS", default_value = "0", value_parser = coupling_loss)]
    coupling_loss: CouplingLoss,
    /// CPUs of a node, for the batch schedulers that share nodes (EASY/shared and the like): a task has as
    /// many whole ones as its CPU need is. In a dump of sacct --cpus-per-node says it
    #[arg(long, value_name = "NUMBER", default_value_t = NODE_CPUS, conflicts_with = "cpus_per_node", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    node_cpus: u32,
    /// How many seconds a turn takes under EASY/gang2 and the like
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = period)]
    time_slice: Span,
    /// Leave equal jobs where they are in remaps, as the plugin does and the papers do not
    #[arg(long)]
    keep_equal_jobs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KnownTimes {
    /// Exactly
    Perfect,
    /// From their users: the requested time of SWF (field 9), the limit of CSV, the time limit in a dump of
    /// sacct; exactly where it is unknown
    User,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CountedNeeds {
    /// What they asked for
    Requested,
    /// What they were seen to use, with headroom
    Measured,
}

impl SimOptions {
    /// Time between remaps; none: the policies' own.
    pub fn period(&self) -> Option<Span> {
        self.run.period
    }

    /// The settings for so many nodes.
    pub fn settings(&self, nodes: u32) -> SimSettings {
        SimSettings {
            estimates: match self.estimates {
                KnownTimes::Perfect => Estimates::Perfect,
                KnownTimes::User => Estimates::User,
            },
            time_slice: self.time_slice,
            needs: match self.needs {
                CountedNeeds::Requested => Needs::Requested,
                CountedNeeds::Measured => Needs::Measured,
            },
            coupling_loss: self.coupling_loss,
            ..self.run.settings(nodes)
        }
    }

    /// The scheduler as it runs.
    pub fn complete(&self, scheduler: &Scheduler) -> Scheduler {
        self.run.complete(scheduler, self.keep_equal_jobs)
    }

    /// The options without those that make no difference to this scheduler: two worlds that are
    /// equal then have the same schedules.
    pub fn relevant_to(&self, scheduler: &Scheduler) -> Self {
        let policy = match scheduler {
            Scheduler::Batch(_) => return self.for_batch(),
            Scheduler::Dfrs(policy) => policy,
        };
        let run = self.run.relevant_to(policy);
        let asks_users = asks_users(&run) || policy.reserves();
        Self {
            run,
            estimates: KnownTimes::Perfect,
            round_limits: self.round_limits && asks_users,
            false_limits: if asks_users { self.false_limits } else { 0.0 },
            time_slice: Span::ZERO,
            // A job that uses all of its request needs all of it.
            needs: if self.least_use == 100 {
                CountedNeeds::Requested
            } else {
                self.needs
            },
            ..self.clone()
        }
    }

    /// Refuses what a policy does not simulate.
    ///
    /// # Errors
    ///
    /// One line: jobs use less than they asked for, and a batch scheduler would give the rest to others.
    pub fn check(&self, policies: &[Scheduler]) -> Result<(), String> {
        let shares_cores =
            |policy: &&Scheduler| matches!(policy, Scheduler::Batch(Batch::EasyForce(_)));
        match policies.iter().find(shares_cores) {
            Some(policy) if self.uses_less() => Err(format!(
                "--least-use: {policy} does not give to others what a job leaves of its cores; leave out one of them"
            )),
            _ => Ok(()),
        }
    }

    fn for_batch(&self) -> Self {
        let asks_users = self.estimates == KnownTimes::User;
        Self {
            run: RunOptions {
                seed: if asks_users { self.run.seed } else { 0 },
                ..RunOptions::none()
            },
            estimates: self.estimates,
            round_limits: self.round_limits && asks_users,
            false_limits: if asks_users { self.false_limits } else { 0.0 },
            node_cpus: self.node_cpus,
            time_slice: self.time_slice,
            keep_equal_jobs: false,
            // A job that has its CPUs for itself is as fast, whatever it uses of them; for others `check` refuses it.
            least_use: 100,
            needs: CountedNeeds::Requested,
            // A job of a batch scheduler does not wait for CPU either, or for turns that are not
            // those of its other tasks; under EASY/force2 to EASY/force9 it does, and loses nothing: that favours them.
            coupling_loss: CouplingLoss::NONE,
        }
    }

    /// What users should know about the estimates of the trace, and about options that have no
    /// effect.
    pub fn notes(&self, file: &str, trace: &Trace) -> String {
        if let Some(option) = self.unused_limit_option() {
            return format!(
                "{file}: note: of all schedulers only the policy default asks for time limits here, so {option} changes no other schedule; see --run-time-hint limits and --estimates user\n"
            );
        }
        let knows_none = trace.jobs.iter().all(|job| job.estimate.is_none());
        if asks_users(&self.run) && knows_none {
            return format!(
                "{file}: note: no job has a time limit, so --run-time-hint limits says nothing; see --round-limits\n"
            );
        }
        if self.estimates == KnownTimes::Perfect {
            return String::new();
        }
        let jobs = &trace.jobs;
        let unknown = jobs.iter().filter(|job| job.estimate.is_none()).count();
        let exceeded =
            |job: &&TraceJob| job.estimate.is_some_and(|estimate| estimate < job.runtime);
        let exceeded = jobs.iter().filter(exceeded).count();
        let mut notes = String::new();
        if unknown > 0 {
            notes += &format!(
                "{file}: note: jobs without an estimate, whose run times are taken as known: {unknown} of {}\n",
                jobs.len()
            );
        }
        if exceeded > 0 {
            notes += &format!(
                "{file}: note: jobs that ran longer than estimated, and are not stopped: {exceeded} of {}\n",
                jobs.len()
            );
        }
        notes
    }

    /// An option about limits that makes no difference but to the policies that always know them.
    fn unused_limit_option(&self) -> Option<&'static str> {
        let limits_unused = !asks_users(&self.run) && self.estimates == KnownTimes::Perfect;
        let given = [
            ("--false-limits", self.false_limits > 0.0),
            ("--round-limits", self.round_limits),
        ];
        let found = given
            .iter()
            .find(|(_, is_given)| limits_unused && *is_given);
        found.map(|(option, _)| *option)
    }

    /// Whether jobs use less than they requested.
    pub fn uses_less(&self) -> bool {
        self.least_use < 100
    }

    /// Whether jobs on several nodes take longer than their yields explain.
    pub fn loses_by_coupling(&self) -> bool {
        !self.coupling_loss.is_none()
    }

    /// What is drawn follows from it.
    pub fn seed(&self) -> u64 {
        self.run.seed
    }

    /// CPUs of a node where the trace does not say.
    pub fn node_cpus(&self) -> u32 {
        self.node_cpus
    }

    /// Draws what the jobs of the trace can do, and limits for those that have none if they are to have some.
    pub fn draw(&self, trace: &mut Trace) {
        if self.round_limits {
            round_limits(self.run.seed, trace);
        }
        if self.false_limits > 0.0 {
            false_limits(self.run.seed, self.false_limits, trace);
        }
        use_less(self.run.seed, self.least_use, trace);
        self.run.mobility.draw(self.run.seed, trace);
    }
}

/// Whether policies are to know the time limits of users.
fn asks_users(run: &RunOptions) -> bool {
    run.policy_settings.all().run_time_hint != RunTimeHint::Nothing
}

/// A share.
fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "allowed: a number from 0 to 1".into())
}

/// A share in hundredths, above 0.
fn hundredths(text: &str) -> Result<u8, String> {
    scaled(text.as_bytes(), 2)
        .and_then(|hundredths| u8::try_from(hundredths).ok())
        .filter(|hundredths| (1..=100).contains(hundredths))
        .ok_or_else(|| "allowed: a number from 0.01 to 1".into())
}

/// The most that a coupling loss may be.
const MAX_LOSS: u32 = 100;

fn coupling_loss(text: &str) -> Result<CouplingLoss, String> {
    scaled(text.as_bytes(), 2)
        .and_then(|hundredths| u32::try_from(hundredths).ok())
        .filter(|hundredths| *hundredths <= MAX_LOSS * 100)
        .map(CouplingLoss::from_hundredths)
        .ok_or_else(|| format!("allowed: a number from 0 to {MAX_LOSS}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    #[test]
    fn least_use_is_refused_when_cores_are_shared_by_a_batch_scheduler() {
        let check = |arguments: &[&str], policy: &str| {
            let command = SimOptions::augment_args(Command::new("sim").no_binary_name(true));
            // The options of dumps are of another group.
            let command = command.arg(clap::Arg::new("cpus_per_node"));
            let matches = command.try_get_matches_from(arguments).expect("options");
            let options = SimOptions::from_arg_matches(&matches).expect("options");
            options.check(&[policy.parse().expect("a policy")])
        };
        let error = check(&["--least-use", "0.5"], "EASY/force4").expect_err("refused");
        assert!(error.starts_with("--least-use: EASY/force4 "), "{error}");
        assert_eq!(check(&["--least-use", "0.5"], "EASY/gang4"), Ok(()));
        assert_eq!(check(&[], "EASY/force4"), Ok(()));
    }
}
