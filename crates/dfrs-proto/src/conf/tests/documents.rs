//! What documents say of the keys is what the keys declare.

use crate::conf::Config;
use crate::conf::key::{Key, Preset};
use crate::conf::keys::{GLOBAL_KEYS, OF_STUDIES, PARTITION, PARTITION_KEYS};

const MANUAL: &str = include_str!("../../../../../docs/configuration.md");
const SAMPLE: &str = include_str!("../../../../../slurm-conf/dfrs.conf");

/// The keys of the whole file that are for operation.
fn operation() -> impl Iterator<Item = &'static Key<Config>> {
    let is_of_study =
        |key: &Key<Config>| OF_STUDIES.iter().any(|(other, _)| other.name == key.name);
    GLOBAL_KEYS
        .iter()
        .copied()
        .filter(move |key| !is_of_study(key))
}

/// The first and the third column of the table of keys for this.
fn table(of: &str) -> Vec<(&'static str, &'static str)> {
    let begin = format!("<!-- keys for {of}");
    let (_, rest) = MANUAL.split_once(&begin).expect("has the table");
    let (table, _) = rest
        .split_once("<!-- end of the keys -->")
        .expect("has the table's end");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    cells.map(|cells| (cells[1], cells[3])).collect()
}

/// The same as the declaration has it: the default as far as it is one text.
fn row<Of>(key: &Key<Of>, place: &str) -> (String, &'static str) {
    let preset = match key.preset {
        Preset::Text(text) => text,
        Preset::Follows(_) | Preset::Left => "",
    };
    (format!("`{}`{place}", key.name), preset)
}

fn compare(of: &str, expected: &[(String, &str)]) {
    let table = table(of);
    let names = table.iter().map(|(name, _)| *name);
    assert!(
        names.eq(expected.iter().map(|(name, _)| name.as_str())),
        "docs/configuration.md has not these keys for {of}, in this order: {expected:?}"
    );
    for ((name, shown), (_, preset)) in table.iter().zip(expected) {
        assert!(shown.contains(preset), "the default of {name} is {preset}");
    }
}

#[test]
fn manual_has_the_table_of_keys() {
    let of_partition = PARTITION_KEYS.iter().map(|key| match key.name {
        name if name == PARTITION.name => row(key, ""),
        _ => row(key, " (on a `Partition` line)"),
    });
    let operation: Vec<_> = operation().map(|key| row(key, "")).collect();
    let all = operation.into_iter().chain(of_partition);
    compare("operation", &all.collect::<Vec<_>>());
    let studies = OF_STUDIES.iter().map(|(key, _)| row(key, ""));
    compare("study", &studies.collect::<Vec<_>>());
}

#[test]
fn sample_file_has_the_keys_of_operators() {
    let names = operation().map(|key| key.name);
    let all = names.chain(PARTITION_KEYS.iter().map(|key| key.name));
    let is_missing = |name: &&str| {
        let mut before = ["\n", "\n#", " "].iter();
        !before.any(|before| SAMPLE.contains(&format!("{before}{name}=")))
    };
    let missing: Vec<&str> = all.filter(is_missing).collect();
    assert!(
        missing.is_empty(),
        "slurm-conf/dfrs.conf has no {missing:?}"
    );
}

#[test]
fn sample_file_shows_defaults() {
    let is_key = |line: &&str| line.contains('=') && !line.starts_with("# ");
    let lines = SAMPLE.lines().filter(is_key);
    let shown: Vec<&str> = lines.map(|line| line.trim_start_matches('#')).collect();
    Config::parse(&shown.join("\n"), "dfrs.conf").expect("each line is right");
    for key in operation() {
        let Preset::Text(preset) = key.preset else {
            continue;
        };
        let line = shown.iter().find_map(|line| line.strip_prefix(key.name));
        let value = line
            .and_then(|line| line.strip_prefix('='))
            .expect(key.name);
        // An example where the default is none, or has a name.
        let is_default = value == preset || preset == "none" || value == "default";
        assert!(is_default, "{}={value}, not {preset}", key.name);
    }
}
