//! A study as its file says it.

mod traces;

use std::path::{Path, PathBuf};

use dfrs_sim::Scheduler;
use toml::Spanned;
use toml::de::DeValue;

use super::document::{Document, StudyValue};
use super::measures as all_measures;
use super::options;
use super::sources::Block;
use crate::policy_arg::PolicyArg;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The measures of a study that names none.
const DEFAULT_MEASURES: [&str; 2] = ["max_stretch", "mean_stretch"];
/// The dimension that is no option.
pub const POLICY: &str = "policy";

/// What is to be run, and what is to be reported.
#[derive(Debug)]
pub struct Study {
    pub(super) path: PathBuf,
    pub(super) blocks: Vec<Block>,
    pub(super) policies: Vec<PolicyArg>,
    /// The options that are not as they are by default, in the order of the file.
    pub(super) options: Vec<SweptOption>,
    /// With which runs others are compared: names of options, or `policy`, and their values.
    pub(super) baseline: Vec<(String, String)>,
    pub(super) measures: Vec<&'static str>,
    /// Whether the offline bound is wanted.
    pub(super) bound: bool,
}

impl Study {
    /// What one of its policies is called, whatever the period.
    pub(super) fn name_of(&self, policy: &Scheduler) -> String {
        let mut asked = self.policies.iter();
        let found = asked.find(|asked| asked.policy == *policy);
        found.map_or_else(|| policy.to_string(), PolicyArg::name)
    }
}

/// An option and its values, one after the other.
#[derive(Clone, Debug)]
pub struct SweptOption {
    pub name: String,
    pub values: Vec<String>,
}

/// Reads a study.
///
/// # Errors
///
/// One line that names the line of the file.
pub fn read(path: &Path) -> Result<Study, String> {
    let in_file = |what: String| format!("{}: {what}", path.display());
    let unreadable = |error| {
        in_file(format!(
            "cannot be read: {error}; check the path and its permissions"
        ))
    };
    let found = path.metadata().map_err(unreadable)?;
    if !found.is_file() || found.len() > MAX_BYTES {
        return Err(in_file(format!(
            "is no file of at most {MAX_BYTES} bytes; give a study (docs/study.md)"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(Document { path, text: &text })
}

fn parse(document: Document) -> Result<Study, String> {
    let table = document.table()?;
    let known = [
        "traces", "policies", "options", "baseline", "measures", "bound",
    ];
    let mut study = Study {
        path: document.path.into(),
        blocks: Vec::new(),
        policies: Vec::new(),
        options: Vec::new(),
        baseline: Vec::new(),
        measures: DEFAULT_MEASURES.to_vec(),
        bound: false,
    };
    let entries = document.entries("a study", table.get_ref(), &known)?;
    for (name, value) in &entries {
        match *name {
            "traces" => study.blocks = traces::read(&document, value)?,
            "policies" => study.policies = policies(&document, value)?,
            "options" => study.options = choices(&document, value)?,
            "measures" => study.measures = measures(&document, value)?,
            "bound" => study.bound = switch(&document, name, value)?,
            _ => {}
        }
    }
    for (name, is_missing, example) in [
        (
            "traces",
            study.blocks.is_empty(),
            "[[traces]] with generate = \"lublin\"",
        ),
        (
            "policies",
            study.policies.is_empty(),
            "policies = [\"EASY\"]",
        ),
    ] {
        if is_missing {
            let file = document.path.display();
            return Err(format!(
                "{file}: names no {name}; add {example}, see docs/study.md"
            ));
        }
    }
    // What it is compared with depends on all others.
    if let Some((_, value)) = entries.iter().find(|(name, _)| *name == "baseline") {
        study.baseline = baseline(&document, value, &study)?;
    }
    let known = |measure: &&str| study.bound || !["bound", "degradation"].contains(measure);
    if let Some(unknown) = study.measures.iter().find(|measure| !known(measure)) {
        let file = document.path.display();
        return Err(format!(
            "{file}: {unknown} needs the offline bound; add bound = true"
        ));
    }
    Ok(study)
}

fn policies(document: &Document, value: &Spanned<DeValue>) -> Result<Vec<PolicyArg>, String> {
    let mut found: Vec<PolicyArg> = Vec::new();
    for item in document.items("policies", value)? {
        let asked: PolicyArg = item
            .text
            .parse()
            .map_err(|error| document.refuse(&item.span, error))?;
        let policy = &asked.policy;
        if found.iter().any(|other| other.policy == *policy) {
            return Err(
                document.refuse(&item.span, format!("{policy} is there twice; name it once"))
            );
        }
        found.push(asked);
    }
    Ok(found)
}

fn choices(document: &Document, value: &Spanned<DeValue>) -> Result<Vec<SweptOption>, String> {
    let names = options::names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut choices = Vec::new();
    for (name, value) in entries(document, "options", value, &names)? {
        let mut values: Vec<String> = Vec::new();
        for StudyValue { text, span } in document.items(name, value)? {
            options::parse([(name, text.as_str())].into_iter())
                .map_err(|error| document.refuse(&span, error))?;
            if values.contains(&text) {
                let what = format!("{name} is {text} twice; name each value once");
                return Err(document.refuse(&span, what));
            }
            values.push(text);
        }
        choices.push(SweptOption {
            name: name.into(),
            values,
        });
    }
    Ok(choices)
}

fn measures(document: &Document, value: &Spanned<DeValue>) -> Result<Vec<&'static str>, String> {
    let items = document.items("measures", value)?;
    let known = |item: StudyValue| {
        let found = all_measures().find(|measure| *measure == item.text);
        found.ok_or_else(|| {
            let known: Vec<&str> = all_measures().collect();
            let (measure, known) = (&item.text, known.join(", "));
            let what = format!("there is no measure of the name {measure}; allowed: {known}");
            document.refuse(&item.span, what)
        })
    };
    items.into_iter().map(known).collect()
}

/// A policy, or a table of options, each of which must be one of the values that the study has.
fn baseline(
    document: &Document,
    value: &Spanned<DeValue>,
    study: &Study,
) -> Result<Vec<(String, String)>, String> {
    let policies: Vec<String> = study.policies.iter().map(PolicyArg::name).collect();
    let mut dimensions: Vec<(&str, &[String])> = vec![(POLICY, &policies)];
    let options = study.options.iter();
    dimensions.extend(options.map(|choice| (choice.name.as_str(), choice.values.as_slice())));
    let names: Vec<&str> = dimensions.iter().map(|(name, _)| *name).collect();
    let entries = match value.get_ref() {
        DeValue::Table(_) => entries(document, "baseline", value, &names)?,
        _ => vec![(POLICY, value)],
    };
    let mut found = Vec::new();
    for (name, value) in entries {
        let item = document.item(name, value)?;
        let values = dimensions.iter().find(|(known, _)| *known == name);
        let values = values.map_or(&[][..], |(_, values)| values);
        let text = if name == POLICY {
            name_in_study(study, &item.text)
        } else {
            item.text.clone()
        };
        let value = values
            .iter()
            .find(|value| value.eq_ignore_ascii_case(&text));
        let value = value.ok_or_else(|| {
            let (value, values) = (&item.text, values.join(", "));
            let what = format!("baseline: {name} is {value}, which is not run; allowed: {values}");
            document.refuse(&item.span, what)
        })?;
        found.push((name.to_owned(), value.clone()));
    }
    Ok(found)
}

/// The study's name for this policy, which may be spelt otherwise.
fn name_in_study(study: &Study, name: &str) -> String {
    let meant = name.parse::<PolicyArg>().ok();
    let same = |asked: &&PolicyArg| {
        meant
            .as_ref()
            .is_some_and(|meant| meant.policy == asked.policy)
    };
    let asked = study.policies.iter().find(same);
    asked.map_or_else(|| name.to_owned(), PolicyArg::name)
}

/// The entries of something that must be a table.
fn entries<'t, 'a>(
    document: &Document<'a>,
    name: &str,
    value: &'t Spanned<DeValue<'a>>,
    known: &[&str],
) -> Result<Vec<(&'t str, &'t Spanned<DeValue<'a>>)>, String> {
    match value.get_ref() {
        DeValue::Table(table) => document.entries(name, table, known),
        _ => Err(document.refuse(
            &value.span(),
            format!("{name} is no table; write [{name}] and its entries below"),
        )),
    }
}

fn switch(document: &Document, name: &str, value: &Spanned<DeValue>) -> Result<bool, String> {
    match value.get_ref() {
        DeValue::Boolean(is_set) => Ok(*is_set),
        _ => Err(document.refuse(&value.span(), format!("{name}: allowed: true, false"))),
    }
}
