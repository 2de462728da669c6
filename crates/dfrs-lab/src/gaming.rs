//! What a user gains by submitting work so as to get more of the machine.

use dfrs_core::{Policy, Span};
use dfrs_sim::gaming::{BackgroundLoad, Cheat, Comparison, compare};
use dfrs_sim::{Needs, Scheduler, SimSettings};

/// What is tried.
pub struct GamingTrial {
    /// How many samples there are of each kind, at least 1.
    pub seeds: u64,
    /// Number of nodes, at least 4.
    pub nodes: u32,
    /// What the others need of the CPU of all nodes, in percent, at least 1.
    pub load: u32,
    /// The policy.
    pub policy: Policy,
    /// Time in which a job that comes back makes no progress.
    pub penalty: Span,
}

/// What holds of users: its name, whether jobs inherit, and what CPU they count with.
const RULES: [(&str, bool, Needs); 3] = [
    ("by job", false, Needs::Requested),
    ("by user", true, Needs::Requested),
    ("by user, needs measured", true, Needs::Measured),
];

/// What sites have, with exact run times: it knows no user, and no job follows on another under it.
const BATCH: &str = "EASY/shared";

/// A line for each kind of work and each rule, and for EASY on shared nodes.
///
/// # Errors
///
/// One line: a simulation does not come to its end.
pub fn table(trial: &GamingTrial) -> Result<String, String> {
    let scheduler = Scheduler::Dfrs(trial.policy.clone());
    let mut text = format!(
        "{:<21} {:<24} {:>15} {:>13} {:>15} {:>5}\n{:<21} {:<24} {:>15} {:>13} {:>15} {:>5}\n",
        "",
        "",
        "stretch",
        "CPU",
        "others' stretch",
        "",
        "work",
        "fair",
        "honest  cheat",
        "honest cheat",
        "honest  cheat",
        "gain"
    );
    let batch: Scheduler = BATCH.parse().map_err(|error| format!("{BATCH}: {error}"))?;
    for cheat in Cheat::ALL {
        for (name, fair_by_user, needs) in RULES {
            let settings = SimSettings {
                penalty: trial.penalty,
                fair_by_user,
                needs,
                ..SimSettings::new(trial.nodes)
            };
            let scheduler = scheduler.at_penalty(settings.penalty);
            text += &compared(cheat, name, trial, &scheduler, &settings)?;
        }
        if !cheat.resubmits() {
            let settings = SimSettings::new(trial.nodes);
            text += &compared(cheat, BATCH, trial, &batch, &settings)?;
        }
    }
    Ok(text)
}

fn compared(
    cheat: Cheat,
    name: &str,
    trial: &GamingTrial,
    scheduler: &Scheduler,
    settings: &SimSettings,
) -> Result<String, String> {
    let others = BackgroundLoad {
        load: f64::from(trial.load) / 100.0,
        with_limits: true,
    };
    let found = compare(cheat, 1..trial.seeds + 1, others, scheduler, settings)
        .map_err(|error| format!("dfrs gaming: {}: {error}", cheat.name()))?;
    Ok(row(cheat, name, &found))
}

fn row(cheat: Cheat, name: &str, found: &Comparison) -> String {
    let (honest, other) = (&found.honest, &found.cheat);
    format!(
        "{:<21} {:<24} {:>8.2} {:>6.2} {:>6.2} {:>6.2} {:>8.2} {:>6.2} {:>5.2}\n",
        cheat.name(),
        name,
        honest.stretch,
        other.stretch,
        honest.cpu,
        other.cpu,
        honest.background_stretch,
        other.background_stretch,
        found.gain
    )
}
