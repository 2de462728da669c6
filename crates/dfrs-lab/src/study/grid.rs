//! All runs of a study: every trace under every policy with every combination of options.

use std::collections::BTreeMap;

use dfrs_core::Span;
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::metrics::{SimSummary, StrandedGpus, StretchesByClass, compare_with_best};
use dfrs_sim::{Scheduler, Sink, offline_bound, simulate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file::{Study, SweptOption};
use super::options::{self, StudyOptions};
use super::sources::{self, StudyTrace, TraceFiles};
use crate::overload;
use crate::policy_arg;
use crate::runs::Runs;
use crate::sim::results::fields;

/// One combination of options.
pub struct StudySetting {
    /// The values of the study's options.
    pub values: Vec<String>,
    options: StudyOptions,
}

/// One trace under one policy with one setting.
pub struct StudyRow<'a> {
    pub source: &'a StudyTrace<'a>,
    pub setting: &'a StudySetting,
    pub policy: &'a Scheduler,
    pub nodes: u32,
    pub summary: SimSummary,
    classes: StretchesByClass,
}

/// What came of a run.
#[derive(Clone, Serialize, Deserialize)]
struct StudyOutcome {
    summary: SimSummary,
    classes: StretchesByClass,
}

/// A study that is ready to run.
pub struct Grid<'a> {
    study: &'a Study,
    sources: Vec<StudyTrace<'a>>,
    settings: Vec<StudySetting>,
    files: TraceFiles,
    notes: String,
}

/// All that a result depends on.
#[derive(Serialize)]
struct StudyRun<'a> {
    trace: String,
    policy: String,
    /// Printed for the developer: what is added to the options is in it.
    options: String,
    nodes: u32,
    stretch_bound: Span,
    #[serde(skip)]
    place: StudyCell<'a>,
}

#[derive(Clone, Copy)]
struct StudyCell<'a> {
    source: &'a StudyTrace<'a>,
    setting: &'a StudySetting,
    policy: &'a Scheduler,
}

/// All that the offline bound depends on.
#[derive(Serialize)]
struct StudyBound<'a> {
    bound_of: String,
    nodes: u32,
    stretch_bound: Span,
    #[serde(skip)]
    place: (&'a StudyTrace<'a>, &'a StudySetting),
}

/// Refuses policies that cannot run at the period of each setting, or run there twice.
fn check_policies(study: &Study, settings: &[StudySetting]) -> Result<(), String> {
    let at = |setting: &StudySetting| {
        let options = &setting.options.sim_options;
        let policies = policy_arg::at_period(&study.policies, options.period())?;
        options.check(&policies).map(|()| policies)
    };
    let all: Result<Vec<_>, _> = settings.iter().map(at).collect();
    all?.iter()
        .try_for_each(|policies| refuse_duplicates(policies))
}

/// Refuses a policy that runs twice under one name, with and without its period.
fn refuse_duplicates(policies: &[Scheduler]) -> Result<(), String> {
    let mut behind = policies.iter();
    while let Some(policy) = behind.next() {
        if behind.clone().any(|other| other == policy) {
            return Err(format!("policies: {policy} is there twice; name it once"));
        }
    }
    Ok(())
}

impl<'a> Grid<'a> {
    /// Reads the files that the study names.
    ///
    /// # Errors
    ///
    /// One line: a file cannot be read, or policies and options do not go together.
    pub fn new(study: &'a Study) -> Result<Self, String> {
        let sources = sources::all(study);
        let settings = settings(&study.options)
            .map_err(|error| format!("{}: options: {error}", study.path.display()))?;
        if study.bound
            && settings
                .iter()
                .any(|one| one.options.sim_options.uses_less())
        {
            return Err(format!(
                "{}: the offline bound takes it that jobs use all that they asked for; leave out bound, or least-use",
                study.path.display()
            ));
        }
        check_policies(study, &settings)
            .map_err(|error| format!("{}: {error}", study.path.display()))?;
        let mut files = TraceFiles::default();
        for source in &sources {
            for setting in &settings {
                files.prepare(study, source, &setting.options)?;
            }
        }
        let notes = files.notes();
        Ok(Self {
            study,
            sources,
            settings,
            files,
            notes,
        })
    }

    /// What people should know about the traces.
    pub fn notes(&self) -> &str {
        &self.notes
    }

    /// How many runs there are, in words.
    pub fn size(&self) -> String {
        let (traces, policies) = (self.sources.len(), self.study.policies.len());
        let settings = self.settings.len();
        format!(
            "{} runs: {traces} traces, {policies} policies, {settings} combinations of options",
            traces * policies * settings
        )
    }

    /// Does what is not done yet, each run that is the same under several settings once.
    pub(super) fn execute(&'a self, runs: &mut Runs) -> Result<Vec<StudyRow<'a>>, String> {
        let mut wanted: Vec<StudyRun> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut rows = Vec::new();
        for source in &self.sources {
            for setting in &self.settings {
                let (trace, nodes) = self.files.identity(source, &setting.options)?;
                for asked in &self.study.policies {
                    let place = StudyCell {
                        source,
                        setting,
                        policy: &asked.policy,
                    };
                    let run = place.run(&trace, nodes);
                    let key = serde_json::to_string(&run).map_err(|error| error.to_string())?;
                    let number = *known.entry(key).or_insert(wanted.len());
                    if number == wanted.len() {
                        wanted.push(run);
                    }
                    rows.push((place, number));
                }
            }
        }
        let outcomes = runs.execute("study", &wanted, |run| self.simulate(&run.place))?;
        let mut rows: Vec<StudyRow> = rows
            .into_iter()
            .map(|(place, number)| StudyRow {
                source: place.source,
                setting: place.setting,
                policy: place.policy,
                nodes: wanted[number].nodes,
                summary: outcomes[number].summary.clone(),
                classes: outcomes[number].classes.clone(),
            })
            .collect();
        self.compare(runs, &mut rows)?;
        Ok(rows)
    }

    fn simulate(&self, place: &StudyCell) -> Result<StudyOutcome, String> {
        let options = &place.setting.options;
        let (mut trace, nodes) = self.files.get(place.source, options)?;
        options.sim_options.draw(&mut trace);
        let settings = options.sim_options.settings(nodes);
        let scheduler = options.sim_options.complete(place.policy);
        let name = scheduler.to_string();
        let mut stranded = StrandedGpus::of(&trace, nodes, &scheduler);
        let mut notice = stranded.as_mut().map(|stranded| {
            |event: &JournalEvent| {
                stranded.take(event);
                Ok(())
            }
        });
        let sink = notice.as_mut().map(|notice| notice as Sink);
        let outcome = simulate(&trace, &scheduler, &settings, sink)
            .map_err(|error| format!("{} under {name}: {error}", place.source.name))?;
        let bound = options.stretch_bound;
        Ok(StudyOutcome {
            summary: SimSummary {
                stranded_gpus: stranded.map(|stranded| stranded.share()),
                ..SimSummary::new(name, &trace, nodes, &outcome, bound)
            },
            classes: StretchesByClass::new(&trace, &outcome.jobs, bound),
        })
    }

    /// With the best policy of the same trace and setting, and with the offline bound if it is wanted.
    fn compare(&'a self, runs: &mut Runs, rows: &mut [StudyRow]) -> Result<(), String> {
        let bounds = match self.study.bound {
            true => self.bounds(runs)?,
            false => Vec::new(),
        };
        for (number, rows) in rows.chunks_mut(self.study.policies.len()).enumerate() {
            let mut summaries: Vec<SimSummary> =
                rows.iter().map(|row| row.summary.clone()).collect();
            compare_with_best(&mut summaries);
            for (row, mut summary) in rows.iter_mut().zip(summaries) {
                if let Some(bound) = bounds.get(number) {
                    summary.compare_with_bound(*bound);
                }
                row.summary = summary;
            }
        }
        Ok(())
    }

    /// The bounds, for each trace and setting.
    fn bounds(&'a self, runs: &mut Runs) -> Result<Vec<f64>, String> {
        let mut wanted: Vec<StudyBound> = Vec::new();
        let mut known: BTreeMap<(String, u32, Span), usize> = BTreeMap::new();
        let mut numbers = Vec::new();
        for source in &self.sources {
            for setting in &self.settings {
                let (trace, nodes) = self.files.identity(source, &setting.options)?;
                let bound = setting.options.stretch_bound;
                let key = (trace.clone(), nodes, bound);
                let number = *known.entry(key).or_insert(wanted.len());
                if number == wanted.len() {
                    wanted.push(StudyBound {
                        bound_of: trace,
                        nodes,
                        stretch_bound: bound,
                        place: (source, setting),
                    });
                }
                numbers.push(number);
            }
        }
        let bounds = runs.execute("offline bounds", &wanted, |run| {
            let (source, setting) = run.place;
            let (trace, nodes) = self.files.get(source, &setting.options)?;
            overload::refuse_bound(&self.study.path, &trace, nodes)?;
            Ok(offline_bound(&trace, nodes, run.stretch_bound))
        })?;
        Ok(numbers.into_iter().map(|number| bounds[number]).collect())
    }
}

impl StudyRow<'_> {
    /// All that was measured, by the names of columns; what is not known is null.
    pub fn measured(&self) -> Result<Value, String> {
        let mut measured = fields(&self.summary)?;
        for (name, value) in &self.classes.0 {
            measured[name] = (*value).into();
        }
        Ok(measured)
    }
}

impl<'a> StudyCell<'a> {
    fn run(self, trace: &str, nodes: u32) -> StudyRun<'a> {
        let options = &self.setting.options;
        let sim_options = options.sim_options.relevant_to(self.policy);
        StudyRun {
            trace: trace.to_owned(),
            policy: self.policy.to_string(),
            options: format!("{sim_options:?}"),
            nodes,
            stretch_bound: options.stretch_bound,
            place: self,
        }
    }
}

/// All combinations of the values; the last option changes fastest.
fn settings(choices: &[SweptOption]) -> Result<Vec<StudySetting>, String> {
    let mut combinations: Vec<Vec<&str>> = vec![Vec::new()];
    for choice in choices {
        let longer = combinations.into_iter().flat_map(|values| {
            choice.values.iter().map(move |value| {
                let mut values = values.clone();
                values.push(value);
                values
            })
        });
        combinations = longer.collect();
    }
    let setting = |values: Vec<&str>| {
        let named = choices.iter().map(|choice| choice.name.as_str());
        Ok(StudySetting {
            options: options::parse(named.zip(values.iter().copied()))?,
            values: values.into_iter().map(String::from).collect(),
        })
    };
    combinations.into_iter().map(setting).collect()
}
