//! From scenarios to text.

mod job;
mod node;
mod outcome;
mod policy;

use std::fmt;

use dfrs_core::Events;

use crate::ids;
use crate::names::Labels;
use crate::read::SEPARATOR;
use crate::scenario::Scenario;
use crate::units::show_time;

/// The text of several scenarios: a file.
pub fn print(scenarios: &[Scenario]) -> String {
    let texts: Vec<String> = scenarios.iter().map(Scenario::to_string).collect();
    texts.join("\n")
}

/// The text as a part of one line.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(char::is_control).map(str::trim).collect();
    words.join(" ").trim().to_owned()
}

impl fmt::Display for Scenario {
    /// The text that reads as this scenario.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{}",
            format!("scenario {}", one_line(&self.title)).trim_end()
        )?;
        for note in &self.notes {
            writeln!(formatter, "{}", format!("# {}", one_line(note)).trim_end())?;
        }
        writeln!(formatter, "policy {}", policy::show(&self.policy))?;
        writeln!(formatter, "now {}", show_time(self.now))?;
        node::write(&self.cluster.nodes, formatter)?;
        let labels = Labels::of(&self.cluster);
        job::write(&self.cluster.jobs, &labels, formatter)?;
        write_events(&self.events, formatter)?;
        if let Some(outcome) = &self.expected {
            writeln!(formatter, "{SEPARATOR}")?;
            for line in outcome.lines(&self.cluster) {
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
