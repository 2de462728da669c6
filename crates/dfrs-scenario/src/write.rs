//! From scenarios to text.

mod job;
mod node;
mod outcome;
mod policy;

use std::fmt;

use dfrs_core::{Cluster, Events, Policy, Time};

use crate::ids;
use crate::names::Labels;
use crate::read::SEPARATOR;
use crate::scenario::{Scenario, ScenarioOutcome};
use crate::units::show_time;

/// All that a decision depended on, and what it was: what the plugin's recorder writes. Its text
/// reads as a [`Scenario`]; nothing is copied to print it.
///
/// ```
/// use dfrs_core::{Cluster, Events, Policy, Time};
/// use dfrs_scenario::Snapshot;
///
/// let snapshot = Snapshot {
///     title: "a plan that was dropped",
///     notes: &["slurm-dfrs 0.1.0".into()],
///     policy: &Policy::recommended(),
///     now: Time::from_seconds(1000),
///     cluster: &Cluster::default(),
///     events: &Events::default(),
///     outcome: None,
/// };
/// assert!(snapshot.to_string().starts_with("scenario a plan that was dropped\n# slurm-dfrs 0.1.0\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// What it shows; line breaks become spaces.
    pub title: &'a str,
    /// What else there is to say about it; line breaks become spaces.
    pub notes: &'a [String],
    /// The policy and its settings. It must have a name, as all have that were read from one.
    pub policy: &'a Policy,
    /// When it was decided.
    pub now: Time,
    /// Nodes and jobs.
    pub cluster: &'a Cluster,
    /// What happened.
    pub events: &'a Events,
    /// What was decided, and which rules that broke.
    pub outcome: Option<&'a ScenarioOutcome>,
}

/// The text of several scenarios: a file.
#[must_use]
pub fn print(scenarios: &[Scenario]) -> String {
    let texts: Vec<String> = scenarios.iter().map(Scenario::to_string).collect();
    texts.join("\n")
}

/// The text as a part of one line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(char::is_control).map(str::trim).collect();
    words.join(" ").trim().to_owned()
}

impl fmt::Display for Snapshot<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{}",
            format!("scenario {}", one_line(self.title)).trim_end()
        )?;
        for note in self.notes {
            writeln!(formatter, "{}", format!("# {}", one_line(note)).trim_end())?;
        }
        writeln!(formatter, "policy {}", policy::show(self.policy))?;
        writeln!(formatter, "now {}", show_time(self.now))?;
        node::write(&self.cluster.nodes, formatter)?;
        let labels = Labels::of(self.cluster);
        job::write(&self.cluster.jobs, &labels, formatter)?;
        write_events(self.events, formatter)?;
        if let Some(outcome) = self.outcome {
            writeln!(formatter, "{SEPARATOR}")?;
            for line in outcome.lines(self.cluster) {
                writeln!(formatter, "{line}")?;
            }
        }
        Ok(())
    }
}

fn write_events(events: &Events, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    if events.ended {
        writeln!(formatter, "event ended")?;
    }
    if events.nodes_changed {
        writeln!(formatter, "event nodes")?;
    }
    if !events.submitted.is_empty() {
        let jobs = ids::fold(events.submitted.iter().copied(), " ");
        writeln!(formatter, "event submitted {jobs}")?;
    }
    if events.period {
        writeln!(formatter, "event period")?;
    }
    Ok(())
}
