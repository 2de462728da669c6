//! Which traces a study has.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use dfrs_sim::generate::Lublin;
use dfrs_sim::trace::MAX_NODES;
use toml::Spanned;
use toml::de::DeValue;

use super::super::document::{Document, StudyValue};
use super::super::sources::{Block, TraceOrigin};
use crate::input::SwfModel;

/// The most traces of a block.
const MAX_RANGE: u64 = 100_000;
const KNOWN: [&str; 9] = [
    "name", "generate", "file", "jobs", "nodes", "seeds", "loads", "model", "weeks",
];

pub fn read(document: &Document, value: &Spanned<DeValue>) -> Result<Vec<Block>, String> {
    let DeValue::Array(blocks) = value.get_ref() else {
        let what = "traces is no list of tables; write [[traces]] with two brackets";
        return Err(document.refuse(&value.span(), what));
    };
    let mut found: Vec<Block> = Vec::new();
    for value in blocks.iter() {
        let block = block(document, value)?;
        if found.iter().any(|other| other.name == block.name) {
            let name = &block.name;
            let what =
                format!("there are other traces of the name {name}; give these another name = …");
            return Err(document.refuse(&value.span(), what));
        }
        found.push(block);
    }
    Ok(found)
}

/// What the entries of a block say, one by one.
#[derive(Default)]
struct TraceEntries {
    name: Option<String>,
    generate: bool,
    files: Vec<PathBuf>,
    jobs: Option<u32>,
    nodes: Option<u32>,
    seeds: Option<Vec<u64>>,
    loads: Vec<f64>,
    model: Option<SwfModel>,
    weeks: Option<Vec<u64>>,
}

fn block(document: &Document, value: &Spanned<DeValue>) -> Result<Block, String> {
    let mut given = TraceEntries::default();
    let span = value.span();
    for (name, value) in super::entries(document, "traces", value, &KNOWN)? {
        let items = document.items(name, value)?;
        let one = || match items.as_slice() {
            [item] => Ok(item),
            _ => Err(document.refuse(&value.span(), format!("{name} has one value"))),
        };
        match name {
            "name" => given.name = Some(one()?.text.clone()),
            "generate" => given.generate = generate(document, one()?)?,
            "file" => {
                let items = items.iter();
                given.files = items
                    .map(|item| sibling_path(document.path, &item.text))
                    .collect();
            }
            "jobs" => given.jobs = Some(number(document, name, one()?, 1_000_000)?),
            "nodes" => given.nodes = Some(number(document, name, one()?, MAX_NODES)?),
            "seeds" => given.seeds = Some(range(document, name, &items)?),
            "loads" => given.loads = loads(document, &items)?,
            "model" => given.model = Some(model(document, one()?)?),
            _ => given.weeks = Some(range(document, name, &items)?),
        }
    }
    given.block().map_err(|what| document.refuse(&span, what))
}

impl TraceEntries {
    /// The block, or what does not go together.
    fn block(self) -> Result<Block, String> {
        let misplaced = |names: &[(&str, bool)], of: &str| {
            let found = names.iter().find(|(_, is_given)| *is_given);
            found.map(|(name, _)| format!("{name} is for {of}; leave it out"))
        };
        let (name, origin) = match (self.generate, self.files.is_empty()) {
            (true, true) => {
                let of_files = [
                    ("model", self.model.is_some()),
                    ("weeks", self.weeks.is_some()),
                ];
                if let Some(what) = misplaced(&of_files, "traces from a file") {
                    return Err(what);
                }
                let origin = TraceOrigin::Lublin {
                    jobs: self.jobs.unwrap_or(1_000),
                    nodes: self.nodes.unwrap_or(Lublin::default().nodes),
                    seeds: self.seeds.unwrap_or_else(|| vec![1]),
                };
                ("lublin".into(), origin)
            }
            (false, false) => {
                let generated = [
                    ("jobs", self.jobs.is_some()),
                    ("seeds", self.seeds.is_some()),
                ];
                if let Some(what) = misplaced(&generated, "generated traces") {
                    return Err(what);
                }
                let name = self.files[0].file_name().unwrap_or_default();
                let name = name.to_string_lossy();
                let name = name.split('.').next().unwrap_or_default().to_owned();
                let origin = TraceOrigin::Files {
                    paths: self.files,
                    model: self.model.unwrap_or(SwfModel::Processors),
                    nodes: self.nodes,
                    weeks: self.weeks,
                };
                (name, origin)
            }
            (true, false) => return Err("has both generate and file; choose one".into()),
            (false, true) => {
                return Err(
                    "says not which traces; add generate = \"lublin\" or file = \"…\"".into(),
                );
            }
        };
        Ok(Block {
            name: self.name.unwrap_or(name),
            origin,
            loads: self.loads,
        })
    }
}

fn generate(document: &Document, item: &StudyValue) -> Result<bool, String> {
    match item.text.as_str() {
        "lublin" => Ok(true),
        other => Err(document.refuse(&item.span, format!("generate is {other}; allowed: lublin"))),
    }
}

fn model(document: &Document, item: &StudyValue) -> Result<SwfModel, String> {
    SwfModel::from_str(&item.text, false).map_err(|_| {
        let what = format!("model is {}; allowed: processors, hpc2n", item.text);
        document.refuse(&item.span, what)
    })
}

/// A file that is named relative to that of the study.
fn sibling_path(study: &Path, file: &str) -> PathBuf {
    study.parent().unwrap_or(Path::new("")).join(file)
}

fn number(document: &Document, name: &str, item: &StudyValue, max: u32) -> Result<u32, String> {
    let number = item
        .text
        .parse()
        .ok()
        .filter(|number| (1..=max).contains(number));
    number.ok_or_else(|| {
        let what = format!(
            "{name} is {}; allowed: whole numbers from 1 to {max}",
            item.text
        );
        document.refuse(&item.span, what)
    })
}

fn loads(document: &Document, items: &[StudyValue]) -> Result<Vec<f64>, String> {
    let load = |item: &StudyValue| {
        let load = item
            .text
            .parse()
            .ok()
            .filter(|load| *load > 0.0 && *load <= 1000.0);
        load.ok_or_else(|| {
            let what = format!(
                "loads: {} is none; allowed: numbers above 0, to 1000",
                item.text
            );
            document.refuse(&item.span, what)
        })
    };
    items.iter().map(load).collect()
}

/// Whole numbers, or a text such as 1..40, both included, or 1..181 step 18.
fn range(document: &Document, name: &str, items: &[StudyValue]) -> Result<Vec<u64>, String> {
    let mut found: Vec<u64> = Vec::new();
    for item in items {
        let numbers = numbers(&item.text).ok_or_else(|| {
            let what = format!(
                "{name}: {} is none; allowed: 7, or from and to as in \"1..40\" (40 included) or \"1..181 step 18\", at most {MAX_RANGE}",
                item.text
            );
            document.refuse(&item.span, what)
        })?;
        if let Some(twice) = numbers.iter().find(|number| found.contains(number)) {
            return Err(document.refuse(
                &item.span,
                format!("{name} has {twice} twice; name it once"),
            ));
        }
        found.extend(numbers);
    }
    Ok(found)
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    let Some((first, rest)) = text.split_once("..") else {
        return Some(vec![text.trim().parse().ok()?]);
    };
    let (last, step) = rest.split_once("step").unwrap_or((rest, "1"));
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let step: u64 = step.trim().parse().ok().filter(|step| *step > 0)?;
    let count = last.checked_sub(first)? / step;
    (count < MAX_RANGE).then(|| (0..=count).map(|place| first + place * step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_includes_both_ends() {
        assert_eq!(numbers("3..5"), Some(vec![3, 4, 5]));
        assert_eq!(numbers("2..20 step 9"), Some(vec![2, 11, 20]));
        assert_eq!(numbers("7"), Some(vec![7]));
        for none in [
            "",
            "a",
            "5..3",
            "1..4 step 0",
            "1..",
            "-1",
            "0..99999999999",
        ] {
            assert_eq!(numbers(none), None, "{none}");
        }
    }
}
