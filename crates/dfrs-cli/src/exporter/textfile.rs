//! Prometheus's older text format (0.0.4), which node_exporter's textfile collector and promtool read: there
//! the metadata of a counter has the name of its sample, and there are neither units nor an end mark.

/// From OpenMetrics' text format.
pub(super) fn of(open_metrics: &str) -> String {
    let types = open_metrics.lines().filter_map(|line| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        Some((name, kind))
    });
    let types: Vec<(&str, &str)> = types.collect();
    let suffix = |name: &str| {
        let kind = types.iter().find(|(typed, _)| *typed == name);
        match kind {
            Some((_, "counter")) => "_total",
            Some((_, "info")) => "_info",
            _ => "",
        }
    };
    let mut text = String::new();
    for line in open_metrics.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "EOF"] | ["#", "UNIT", ..] => continue,
            ["#", "TYPE", name, "info"] => text += &format!("# TYPE {name}_info gauge"),
            ["#", word, name, rest] => {
                text += &format!("# {word} {name}{} {rest}", suffix(name));
            }
            _ => text += line,
        }
        text.push('\n');
    }
    text
}
