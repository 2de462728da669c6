//! `dfrs gaming`: what a user gains by submitting work so as to get more of the machine.

use clap::Args;
use dfrs_core::Span;
use dfrs_lab::gaming::{self, GamingTrial};
use dfrs_lab::options::seconds;
use dfrs_proto::conf::DEFAULT_POLICY;
use dfrs_sim::Scheduler;
use dfrs_sim::trace::MAX_NODES;

/// Shows what a user gains by gaming.
///
/// Twenty users submit jobs at random for twelve hours, and one more has work of a kind: submitted as it is, or as a
/// chain of pieces of 140 s that resubmit themselves, as 64 jobs instead of one, or with ten times the CPUs that it
/// can use. All have time limits, one to five times too long. For each kind and each of three rules, and for EASY on
/// shared nodes with exact run times: the stretch of that work (until all of it is done, over what it takes
/// alone), the CPU that it had until then, in nodes, and the mean stretch of the others' jobs, each for the honest
/// submission and the other; and how many times as soon the work is done by that (geometric mean over the seeds).
/// Exit code 2: bad input.
#[derive(Args)]
pub struct GamingArguments {
    /// How many samples there are of each kind
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// Number of nodes, at least those of the largest job
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(4..=i64::from(MAX_NODES)))]
    nodes: u32,
    /// What the others need of the CPU of all nodes, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    load: u32,
    /// A policy of DFRS
    #[arg(long, default_value = DEFAULT_POLICY)]
    policy: String,
    /// Time in which a job that comes back makes no progress
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    penalty: Span,
}

/// Simulates, and returns a table.
pub fn run(arguments: &GamingArguments) -> Result<String, String> {
    let scheduler = arguments.policy.parse::<Scheduler>();
    let scheduler = scheduler.map_err(|error| format!("dfrs gaming: --policy: {error}"))?;
    let Scheduler::Dfrs(policy) = scheduler else {
        return Err(format!(
            "dfrs gaming: --policy={scheduler} is a batch scheduler, under which no job follows on another; give a policy of DFRS"
        ));
    };
    gaming::table(&GamingTrial {
        seeds: arguments.seeds,
        nodes: arguments.nodes,
        load: arguments.load,
        policy,
        penalty: arguments.penalty,
    })
}
