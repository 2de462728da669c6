//! From decisions that the plugin recorded to text.

use dfrs_core::DecisionRecord;

use crate::scenario::{Scenario, ScenarioOutcome};
use crate::write::one_line;

/// How many characters of an error are shown.
const MAX_SHOWN: usize = 200;

/// Whether the text is a decision as the plugin records it, and no scenario file.
pub fn is_record(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// A recorded decision as a scenario file that expects what was decided. [`read()`](crate::read()) checks it,
/// as any other.
///
/// # Errors
///
/// Where the text is not what the plugin writes, in one line.
pub fn from_record(json: &str) -> Result<String, String> {
    let record: DecisionRecord<'static> = serde_json::from_str(json).map_err(|error| {
        // It may quote the text.
        let error: String = one_line(&error.to_string())
            .chars()
            .take(MAX_SHOWN)
            .collect();
        format!("is no decision as DFRS records it: {error}; use dfrs of the plugin's version")
    })?;
    let scenario = Scenario {
        title: record.title.into_owned(),
        notes: vec![record.program.into_owned()],
        policy: record.policy.into_owned(),
        now: record.now,
        cluster: record.cluster.into_owned(),
        events: record.events.into_owned(),
        expected: Some(ScenarioOutcome {
            plan: record.plan.into_owned(),
            blocked: record.blocked,
            violations: record.violations,
        }),
    };
    Ok(scenario.to_string())
}
