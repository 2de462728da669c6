//! The files of tests/configurations, as `scontrol` shows each, and what the doctor says then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;

/// What a file says: words of slurm.conf and cgroup.conf, partitions, nodes, and dfrs.conf.
#[derive(Clone, Default)]
struct Site {
    words: BTreeMap<String, String>,
    partitions: BTreeMap<String, Words>,
    nodes: Words,
    dfrs_conf: String,
}

/// The fields of one line, without its name.
type Words = Vec<(String, String)>;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/configurations")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn words(line: &str) -> Words {
    let pairs = line.split_whitespace().filter_map(|it| it.split_once('='));
    pairs
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

impl Site {
    /// With what this file says besides, or instead.
    fn with(mut self, text: &str) -> Self {
        let (slurms, dfrs_conf) = text.split_once("[dfrs.conf]\n").unwrap_or((text, ""));
        if !dfrs_conf.is_empty() {
            self.dfrs_conf = dfrs_conf.to_owned();
        }
        let is_setting = |line: &&str| line.contains('=') && !line.starts_with('#');
        for line in slurms.lines().filter(is_setting) {
            let mut all = words(line);
            match line.split_once('=').expect("has one").0 {
                "NodeName" => self.nodes = all.split_off(1),
                "PartitionName" => {
                    let rest = all.split_off(1);
                    self.partitions.insert(all.remove(0).1, rest);
                }
                key => {
                    let value = line.split_once('=').expect("has one").1;
                    self.words.insert(key.to_owned(), shown(key, value));
                }
            }
        }
        self
    }

    /// A controller whose `scontrol` shows this configuration, with all else as recorded for this
    /// release.
    fn host(&self, release: usize) -> Recorded {
        let mut host = good(release);
        let (_, [config, nodes, partitions, _]) = RECORDED[release];
        let is_other = |line: &&str| {
            let key = line.split_once('=').map_or("", |(key, _)| key.trim());
            !self.words.contains_key(key)
        };
        let kept: Vec<&str> = config.lines().filter(is_other).collect();
        let settings = self
            .words
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"));
        host.answer(
            CONFIG,
            format!("{}\n{}", kept.join("\n"), settings.collect::<String>()),
        );
        let shown = self.partitions.iter();
        let shown = shown.map(|(name, fields)| {
            let name = [("PartitionName".to_owned(), name.clone())];
            record(partitions.trim_end(), name.iter().chain(fields), "")
        });
        host.answer(PARTITIONS, shown.collect::<String>());
        let shown = nodes.lines().enumerate().map(|(index, node)| {
            let of = self.partitions_of(index + 1);
            let of = [("Partitions".to_owned(), of)];
            record(node, self.nodes.iter().chain(&of), "+POWERED_DOWN")
        });
        host.answer(NODES, shown.collect::<String>());
        host.file("/etc/slurm/dfrs.conf", self.dfrs_conf.clone());
        host
    }

    /// The partitions whose `Nodes=n[FIRST-LAST]` has this number.
    fn partitions_of(&self, node: usize) -> String {
        let has = |fields: &Words| {
            let nodes = fields.iter().find(|(key, _)| key == "Nodes");
            let range = nodes.and_then(|(_, list)| list.strip_prefix("n[")?.strip_suffix(']'));
            let (first, last) = range.and_then(|it| it.split_once('-')).expect("n[1-4]");
            let number = |text: &str| text.parse::<usize>().expect("a number");
            (number(first)..=number(last)).contains(&node)
        };
        let names = self.partitions.iter().filter(|(_, fields)| has(fields));
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        names.join(",")
    }
}

/// The line that `scontrol show config` prints.
fn shown(key: &str, value: &str) -> String {
    match key {
        "SuspendTime" => format!("{value} sec"),
        "AllowedRAMSpace" | "MaxRAMPercent" => format!("{value}.0%"),
        _ => value.to_owned(),
    }
}

/// A line with these fields instead of its own. Nodes of `State=CLOUD` begin in the state `asleep`.
fn record<'a>(
    line: &str,
    fields: impl Iterator<Item = &'a (String, String)> + Clone,
    asleep: &str,
) -> String {
    let keys: Vec<&str> = fields.clone().map(|(key, _)| key.as_str()).collect();
    let is_kept = |word: &&str| {
        let key = word.split_once('=').map_or("", |(key, _)| key);
        !keys.contains(&key)
    };
    let kept: Vec<&str> = line.split_whitespace().filter(is_kept).collect();
    let new_fields = fields.map(|(key, value)| match value.as_str() {
        "CLOUD" => format!("{key}=IDLE+CLOUD{asleep}"),
        _ => format!("{key}={value}"),
    });
    // The name of what the line is about comes first.
    let mut line_fields: Vec<String> = new_fields.collect();
    line_fields.extend(kept.iter().map(|&word| word.to_owned()));
    line_fields.join(" ") + "\n"
}

fn comment<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key))
}

#[test]
fn known_configurations_have_their_expected_verdict() {
    let base = Site::default().with(&read(&directory().join("base.txt")));
    let entries = std::fs::read_dir(directory()).expect("the configurations");
    let mut looked_at = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|it| it != "conf") {
            continue;
        }
        let text = read(&path);
        let verdict = match comment(&text, "# verdict: ") {
            Some("fine") => FindingLevel::Ok,
            Some("later") => FindingLevel::Todo,
            Some("warned") => FindingLevel::Warning,
            Some("refused") => FindingLevel::Error,
            other => panic!("{}: verdict {other:?}", path.display()),
        };
        let expected = comment(&text, "# says: ");
        assert_eq!(
            expected.is_none(),
            verdict == FindingLevel::Ok,
            "{}",
            path.display()
        );
        let site = base.clone().with(&text);
        for release in 0..RECORDED.len() {
            let findings = site.host(release).controller();
            let output = findings.text();
            let name = path.display();
            assert_eq!(worst(&findings), verdict, "{name}:\n{output}");
            assert!(
                output.contains(expected.unwrap_or_default()),
                "{name}:\n{output}"
            );
        }
        looked_at += 1;
    }
    assert!(looked_at > 30, "{looked_at} configurations");
}
