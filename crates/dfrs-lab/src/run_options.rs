//! Options that all commands have which simulate policies of DFRS: `dfrs sim`, `dfrs study`, `dfrs replay`.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use dfrs_core::{Bytes, POLICY_SETTINGS, Policy, PolicySetting, Settings, Span};
use dfrs_sim::trace::{NODE_MEMORY, scaled};
use dfrs_sim::{Cost, MobilityShares, Scheduler, SimSettings};

use crate::options::{period, seconds};

/// The most swap of a node, in nodes' memory.
const MAX_SWAP: i64 = 1000;

/// What giving up a place costs, who can, and what policies are set to.
#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    /// Seconds in which a resumed or migrated job makes no progress
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub penalty: Span,
    /// Seconds between periodic remaps; left out: what the policy's name says, else 600. Not with a policy whose
    /// name says another
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    pub period: Option<Span>,
    /// How jobs can move of which the trace does not say it: shares of the kinds checkpoint, carry, park,
    /// restart and never, for example park=0.7,checkpoint=0.2,never=0.1; what is left to 1 is checkpoint, the papers' free moves
    #[arg(long, value_name = "KIND=SHARE,…", default_value = "checkpoint=1")]
    pub mobility: MobilityShares,
    /// What the kinds of jobs, and live latencies and faults, are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// In place of the penalty for jobs that were parked: seconds (30), seconds for each GB of memory
    /// that the job has on a node, of which a whole node has 8 where the trace does not say (2/GB), or both (30+2/GB)
    #[arg(long, value_name = "COST")]
    pub park_cost: Option<Cost>,
    /// In place of the penalty for jobs that were checkpointed, when they come back or migrate: as
    /// --park-cost
    #[arg(long, value_name = "COST")]
    pub checkpoint_cost: Option<Cost>,
    /// In place of the penalty for jobs that were carried, when they come back or migrate: as
    /// --park-cost. The default was measured on local disks
    #[arg(long, value_name = "COST", default_value = "1+4/GB")]
    pub carry_cost: Cost,
    /// Swap of a node for parked jobs, as a multiple of its memory
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = swap)]
    pub swap: Bytes,
    /// What policies are set to.
    #[command(flatten)]
    pub policy_settings: GivenSettings,
}

impl RunOptions {
    /// Nothing costs anything, nothing is set, and there is no swap.
    pub fn none() -> Self {
        Self {
            penalty: Span::ZERO,
            period: None,
            mobility: MobilityShares::default(),
            seed: 0,
            park_cost: None,
            checkpoint_cost: None,
            carry_cost: Cost::default(),
            swap: Bytes::ZERO,
            policy_settings: GivenSettings::default(),
        }
    }

    /// The settings of simulations on so many nodes.
    pub fn settings(&self, nodes: u32) -> SimSettings {
        SimSettings {
            penalty: self.penalty,
            park_cost: self.park_cost,
            checkpoint_cost: self.checkpoint_cost,
            carry_cost: Some(self.carry_cost),
            swap: self.swap,
            ..SimSettings::new(nodes)
        }
    }

    /// The scheduler as it runs: a policy with its period, what is given for its settings, and the
    /// penalty if it weighs moves.
    pub fn complete(&self, scheduler: &Scheduler, keep_equal_jobs: bool) -> Scheduler {
        let mut scheduler = scheduler.at_period(self.period).at_penalty(self.penalty);
        if let Scheduler::Dfrs(policy) = &mut scheduler {
            policy.settings.keep_equal_jobs = keep_equal_jobs;
            self.policy_settings.put_into(&mut policy.settings);
        }
        scheduler
    }

    /// The options without settings that make no difference to this policy.
    pub fn relevant_to(&self, policy: &Policy) -> Self {
        Self {
            policy_settings: self.policy_settings.relevant_to(policy),
            ..self.clone()
        }
    }
}

/// Settings of policies, a flag for each, `none` by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenSettings(Settings);

impl GivenSettings {
    /// All of them, and defaults of what has no flag.
    pub fn all(&self) -> &Settings {
        &self.0
    }

    fn put_into(&self, settings: &mut Settings) {
        let none = Settings::default();
        for setting in POLICY_SETTINGS {
            if (setting.show)(&self.0) != (setting.show)(&none) {
                copy(setting, &self.0, settings);
            }
        }
    }

    fn relevant_to(&self, policy: &Policy) -> Self {
        let mut relevant = Settings::default();
        let settings = POLICY_SETTINGS.iter();
        for setting in settings.filter(|setting| (setting.matters_to)(policy)) {
            copy(setting, &self.0, &mut relevant);
        }
        Self(relevant)
    }
}

fn copy(setting: &PolicySetting, from: &Settings, to: &mut Settings) {
    let copied = (setting.read)(to, &(setting.show)(from));
    debug_assert_eq!(copied, Ok(()), "what is shown is read");
}

impl Args for GivenSettings {
    fn augment_args(command: Command) -> Command {
        POLICY_SETTINGS.iter().fold(command, |command, setting| {
            let read = |text: &str| {
                let read = (setting.read)(&mut Settings::default(), text);
                read.map(|()| text.to_owned())
            };
            let option = Arg::new(setting.word).long(setting.word);
            command.arg(
                option
                    .value_name(setting.value_name)
                    .help(setting.about)
                    .default_value("none")
                    .value_parser(read),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for GivenSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Settings::default();
        for setting in POLICY_SETTINGS {
            if let Some(text) = matches.get_one::<String>(setting.word) {
                let invalid = |error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error);
                (setting.read)(&mut given, text).map_err(invalid)?;
            }
        }
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A multiple of a node's memory.
fn swap(text: &str) -> Result<Bytes, String> {
    // A node's memory has 10^12 parts.
    scaled(text.as_bytes(), 6)
        .filter(|millionths| (0..=MAX_SWAP * 1_000_000).contains(millionths))
        .and_then(|millionths| u64::try_from(millionths).ok())
        .map(|millionths| Bytes(millionths * (NODE_MEMORY.0 / 1_000_000)))
        .ok_or_else(|| format!("allowed: a multiple of a node's memory, from 0 to {MAX_SWAP}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{LoadCeiling, RunTimeHint};

    fn given(words: &[&str]) -> Result<RunOptions, clap::Error> {
        let command = RunOptions::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(words)?;
        RunOptions::from_arg_matches(&matches)
    }

    #[test]
    fn policies_are_complete() {
        let options = given(&[
            "--load-ceiling=150%",
            "--run-time-hint=limits",
            "--period=30",
            "--penalty=7",
        ]);
        let options = options.expect("options");
        let of = |name: &str| {
            let scheduler = name.parse().expect("a policy");
            match options.complete(&scheduler, true) {
                Scheduler::Dfrs(policy) => policy.settings,
                Scheduler::Batch(_) => panic!("a batch scheduler"),
            }
        };
        let papers = of("GreedyPM*/per/OPT=MIN/MINVT=600");
        assert_eq!(papers.load_ceiling, Some(LoadCeiling::from_percent(150)));
        assert_eq!(papers.run_time_hint, RunTimeHint::Limits);
        assert_eq!(
            (papers.period, papers.penalty),
            (Span::from_seconds(30), Span::ZERO)
        );
        assert!(papers.keep_equal_jobs);
        assert_eq!(of("default").penalty, Span::from_seconds(7));
    }

    #[test]
    fn settings_matter_to_some_policies() {
        let options = given(&["--load-ceiling=150%", "--parallel-least-yield=0.5"]);
        let options = options.expect("options").policy_settings;
        let relevant = |name: &str| options.relevant_to(&name.parse().expect("a policy"));
        assert_eq!(relevant("GreedyPMC*/move-per/OPT=VT/MINVT=600"), options);
        assert_ne!(relevant("default"), options);
        assert_eq!(
            relevant("default").all().load_ceiling,
            options.all().load_ceiling
        );
    }

    #[test]
    fn wrong_value_of_a_setting_is_refused() {
        let error = given(&["--run-time-hint=users"]).expect_err("no hint");
        assert!(
            error.to_string().contains("allowed: none, limits"),
            "{error}"
        );
    }
}
