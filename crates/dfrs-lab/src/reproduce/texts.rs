//! What the report says of experiments and claims: `texts.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// All of it.
#[derive(Debug, Default, Deserialize)]
pub struct ReportTexts {
    notes: BTreeMap<String, String>,
    experiments: BTreeMap<String, ExperimentText>,
    claims: BTreeMap<String, ClaimText>,
    /// Where the results on moldable jobs differ, and why.
    pub demt_differences: Vec<String>,
}

/// What is said of an experiment or a figure.
#[derive(Debug, Default, Deserialize)]
pub struct ExperimentText {
    /// Title in the report.
    pub title: String,
    /// What was done and what the paper says about it.
    pub about: String,
    #[serde(default)]
    differences: Vec<String>,
}

impl ExperimentText {
    /// Where it differs from what was published, and why.
    pub fn differences(&'static self) -> impl Iterator<Item = &'static str> {
        let differences = self.differences.iter();
        differences.map(|text| TEXTS.notes.get(text).unwrap_or(text).as_str())
    }
}

/// A sentence of a paper, about what was measured.
#[derive(Debug, Default, Deserialize)]
pub struct ClaimText {
    /// Where it stands.
    pub place: String,
    /// What it says.
    pub statement: String,
}

/// The texts; none if they are not what a test wants them to be.
pub static TEXTS: LazyLock<ReportTexts> =
    LazyLock::new(|| toml::from_str(include_str!("texts.toml")).unwrap_or_default());

static NO_EXPERIMENT: LazyLock<ExperimentText> = LazyLock::new(ExperimentText::default);
static NO_CLAIM: LazyLock<ClaimText> = LazyLock::new(ClaimText::default);

impl ReportTexts {
    /// Of the experiment or figure of this name.
    pub fn experiment(&'static self, name: &str) -> &'static ExperimentText {
        self.experiments.get(name).unwrap_or(&NO_EXPERIMENT)
    }

    /// Of the claim of this name.
    pub fn claim(&'static self, name: &str) -> &'static ClaimText {
        self.claims.get(name).unwrap_or(&NO_CLAIM)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::reproduce::{claims, moldable, names};

    #[test]
    fn every_experiment_and_every_claim_has_its_text() {
        let texts: ReportTexts = toml::from_str(include_str!("texts.toml")).expect("is right");
        let experiments: BTreeSet<&str> = texts.experiments.keys().map(String::as_str).collect();
        assert_eq!(experiments, BTreeSet::from_iter(names()));
        let checked = claims::names().chain(moldable::claim_names());
        let claims: BTreeSet<&str> = texts.claims.keys().map(String::as_str).collect();
        assert_eq!(claims, checked.collect());
    }
}
