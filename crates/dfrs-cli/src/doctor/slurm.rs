//! What scontrol prints, in the forms that are alike from 22.05 to 24.11.

use std::collections::BTreeMap;

/// `Key = value` lines: `scontrol show config`, and files like cgroup.conf.
#[derive(Debug, Default)]
pub struct SlurmSettings(BTreeMap<String, String>);

impl SlurmSettings {
    /// The last value of each key; lines of other kinds are passed over.
    pub fn parse(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| {
            let (key, value) = line.split('#').next()?.split_once('=')?;
            Some((key.trim().to_ascii_lowercase(), value.trim().to_owned()))
        });
        Self(pairs.collect())
    }

    /// These; of those that come twice the last counts.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        Self(by_key(pairs))
    }

    /// The value; empty if there is none, or Slurm says `(null)`.
    pub fn get(&self, key: &str) -> &str {
        or_empty(self.0.get(&key.to_ascii_lowercase()))
    }

    /// Whether its value is this one, in any case.
    pub fn is(&self, key: &str, value: &str) -> bool {
        self.get(key).eq_ignore_ascii_case(value)
    }

    /// Whether a comma-separated list has this item, in any case.
    pub fn lists(&self, key: &str, item: &str) -> bool {
        items(self.get(key)).any(|found| found.eq_ignore_ascii_case(item))
    }

    /// The number in `slurm(64030)`.
    pub fn uid(&self, key: &str) -> Option<u32> {
        let (_, number) = self.get(key).split_once('(')?;
        number.trim_end_matches(')').parse().ok()
    }
}

/// One line of `scontrol --oneliner show ...`.
#[derive(Debug)]
pub struct ScontrolRecord(BTreeMap<String, String>);

/// All lines.
pub fn records(text: &str) -> Vec<ScontrolRecord> {
    let lines = text.lines().filter(|line| line.contains('='));
    lines.map(ScontrolRecord::parse).collect()
}

impl ScontrolRecord {
    /// With these fields.
    pub fn of<'a>(fields: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        Self(by_key(fields))
    }

    /// Words with `=` begin a field, others go on with the last one (`OS=Linux 6.1 ...`). Of fields that come
    /// twice the first counts: what users write, as reasons, comes last.
    fn parse(line: &str) -> Self {
        let mut fields: Vec<(&str, String)> = Vec::new();
        for word in line.split_whitespace() {
            match (word.split_once('='), fields.last_mut()) {
                (Some((key, value)), _) => fields.push((key, value.to_owned())),
                (None, Some((_, value))) => {
                    value.push(' ');
                    value.push_str(word);
                }
                (None, None) => {}
            }
        }
        let mut record = BTreeMap::new();
        for (key, value) in fields {
            record.entry(key.to_ascii_lowercase()).or_insert(value);
        }
        Self(record)
    }

    /// The value; empty if there is none, or Slurm says `(null)`.
    pub fn get(&self, key: &str) -> &str {
        or_empty(self.0.get(&key.to_ascii_lowercase()))
    }

    /// The items of a comma-separated list.
    pub fn items(&self, key: &str) -> impl Iterator<Item = &str> {
        items(self.get(key))
    }
}

/// Values by their keys in lower case; of those that come twice the last counts.
fn by_key<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> BTreeMap<String, String> {
    let pairs = pairs.into_iter();
    let pairs = pairs.map(|(key, value)| (key.to_ascii_lowercase(), value));
    pairs.collect()
}

fn or_empty(value: Option<&String>) -> &str {
    match value.map(String::as_str) {
        None | Some("(null)") => "",
        Some(value) => value,
    }
}

fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}
