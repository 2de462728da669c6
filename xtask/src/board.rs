//! `cargo xtask board`: the panels of monitoring/grafana-dfrs.json as pictures, of what a Prometheus has.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use dfrs_report::{Axis, Chart, Series, Style};
use serde::Deserialize;

const BOARD: &str = "monitoring/grafana-dfrs.json";
/// How many points a line has, about.
const POINTS: f64 = 300.0;
/// Width and height of a panel that is alone in its picture.
const PANEL: (u32, u32) = (900, 400);
/// Width and height of what the whole board is measured in: half of it is as wide as a picture of one panel.
const UNIT: (u32, u32) = (75, 50);

/// Draws the board's panels over time, and all of them as one picture, board.svg. Needs promtool
/// (docker/prometheus prints where it is).
#[derive(Args)]
pub struct Arguments {
    /// Prometheus, as http://127.0.0.1:9090
    server: String,
    /// From when on, in UNIX seconds
    #[arg(long)]
    from: f64,
    /// Until when
    #[arg(long)]
    to: f64,
    /// Only panels whose titles contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Where to write them
    #[arg(long, default_value = "target/board")]
    output: PathBuf,
    /// The program that asks
    #[arg(long, default_value = "promtool")]
    promtool: PathBuf,
}

#[derive(Deserialize)]
struct Board {
    panels: Vec<Panel>,
}

#[derive(Deserialize)]
struct Panel {
    title: String,
    r#type: String,
    #[serde(rename = "gridPos")]
    place: Place,
    #[serde(rename = "fieldConfig")]
    field: Field,
    targets: Vec<Target>,
}

/// In [`UNIT`]s from the top left.
#[derive(Deserialize)]
struct Place {
    x: u32,
    y: u32,
    w: u32,
    h: u32,
}

#[derive(Deserialize)]
struct Field {
    defaults: Defaults,
}

#[derive(Deserialize)]
struct Defaults {
    unit: String,
}

#[derive(Deserialize)]
struct Target {
    expr: String,
    #[serde(rename = "legendFormat")]
    legend: String,
}

/// What promtool prints: a series, with its labels.
#[derive(Deserialize)]
struct Answer {
    metric: BTreeMap<String, String>,
    values: Vec<(f64, String)>,
}

/// Draws them and prints their names.
///
/// # Errors
///
/// What cannot be read, asked or written.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let path = crate::root().join(BOARD);
    let text = fs::read_to_string(&path).map_err(|error| format!("{BOARD}: {error}"))?;
    let board: Board = serde_json::from_str(&text).map_err(|error| format!("{BOARD}: {error}"))?;
    fs::create_dir_all(&arguments.output)
        .map_err(|error| format!("{}: {error}", arguments.output.display()))?;
    let wanted =
        |panel: &&Panel| panel.r#type == "timeseries" && panel.title.contains(&arguments.only);
    let mut drawn = Vec::new();
    for panel in board.panels.iter().filter(wanted) {
        let picture = chart(panel, arguments)?.to_svg();
        write(arguments, &file_name(&panel.title), &picture)?;
        drawn.push((&panel.place, picture));
    }
    if drawn.is_empty() {
        return Err(format!(
            "{BOARD}: no panel's title contains '{}'",
            arguments.only
        ));
    }
    if !arguments.only.is_empty() {
        return Ok(());
    }
    write(arguments, "board.svg", &together(&drawn))
}

fn write(arguments: &Arguments, name: &str, picture: &str) -> Result<(), String> {
    let file = arguments.output.join(name);
    fs::write(&file, picture).map_err(|error| format!("{}: {error}", file.display()))?;
    println!("{}", file.display());
    Ok(())
}

/// Panels at their places on the board, with no room above the first.
fn together(panels: &[(&Place, String)]) -> String {
    let top = panels.iter().map(|(place, _)| place.y).min().unwrap_or(0);
    let end = |extent: fn(&Place) -> u32| panels.iter().map(|(place, _)| extent(place)).max();
    let width = end(|place| place.x + place.w).unwrap_or(0) * UNIT.0;
    let height = (end(|place| place.y + place.h).unwrap_or(0) - top) * UNIT.1;
    let mut all = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (place, picture) in panels {
        let (x, y) = (place.x * UNIT.0, (place.y - top) * UNIT.1);
        let (w, h) = (place.w * UNIT.0, place.h * UNIT.1);
        let own = format!("width=\"{}\" height=\"{}\"", PANEL.0, PANEL.1);
        let there = format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        all.push_str(&picture.replacen(&own, &there, 1));
    }
    all.push_str("</svg>\n");
    all
}

fn file_name(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    format!("{}.svg", words.join("-"))
}

fn chart(panel: &Panel, arguments: &Arguments) -> Result<Chart, String> {
    let (unit, scale) = match panel.field.defaults.unit.as_str() {
        "short" => ("", 1.0),
        "percentunit" => ("1 is all", 1.0),
        "bytes" => ("MB", 1e-6),
        unit => (unit, 1.0),
    };
    let minutes = (arguments.to - arguments.from) / 60.0;
    let mut chart = Chart::new(
        &panel.title,
        Axis::linear("minutes").with_range(0.0, minutes),
        Axis::linear(unit).with_range(0.0, 0.0),
    );
    for target in &panel.targets {
        for answer in ask(&target.expr, arguments)? {
            let points = answer.values.iter().filter_map(|(at, value)| {
                let value: f64 = value.parse().ok().filter(|value: &f64| value.is_finite())?;
                Some(((at - arguments.from) / 60.0, value * scale))
            });
            let name = legend(&target.legend, &answer.metric);
            chart = chart.with(Series::new(&name, points.collect()).styled(Style::Line));
        }
    }
    Ok(chart)
}

/// With the labels that it names.
fn legend(format: &str, labels: &BTreeMap<String, String>) -> String {
    labels
        .iter()
        .fold(format.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{{{name}}}}}"), value)
        })
}

fn ask(expression: &str, arguments: &Arguments) -> Result<Vec<Answer>, String> {
    let step = ((arguments.to - arguments.from) / POINTS).max(1.0);
    let expression =
        expression.replace("$__rate_interval", &format!("{}s", (4.0 * step).max(20.0)));
    let output = Command::new(&arguments.promtool)
        .args(["query", "range", "-o", "json"])
        .args([
            format!("--start={}", arguments.from),
            format!("--end={}", arguments.to),
            format!("--step={step}s"),
        ])
        .args([&arguments.server, &expression])
        .output()
        .map_err(|error| format!("{}: {error}", arguments.promtool.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("promtool: {expression}: {}", said.trim()));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("promtool: {expression}: answers strangely: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_have_their_labels_and_files_a_plain_name() {
        let labels = BTreeMap::from([("state".to_owned(), "parked".to_owned())]);
        assert_eq!(legend("{{state}} jobs", &labels), "parked jobs");
        assert_eq!(file_name("Locks held, p99"), "locks-held-p99.svg");
    }

    #[test]
    fn panels_are_at_their_places() {
        let place = |x, y, w| Place { x, y, w, h: 8 };
        let chart = |title| Chart::new(title, Axis::linear(""), Axis::linear("")).to_svg();
        let (left, right) = (place(0, 4, 12), place(12, 12, 8));
        let all = together(&[(&left, chart("one")), (&right, chart("two"))]);
        assert!(
            all.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1500 800\"")
        );
        assert!(all.contains("x=\"0\" y=\"0\" width=\"900\" height=\"400\""));
        assert!(all.contains("x=\"900\" y=\"400\" width=\"600\" height=\"400\""));
        assert_eq!(all.matches("</svg>").count(), 3);
    }

    #[test]
    fn the_board_is_understood() {
        let text = fs::read_to_string(crate::root().join(BOARD)).expect("a board");
        let board: Board = serde_json::from_str(&text).expect("panels");
        let mut titles: Vec<&str> = board
            .panels
            .iter()
            .map(|panel| panel.title.as_str())
            .collect();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(
            titles.len(),
            board.panels.len(),
            "each has a title of its own"
        );
        for panel in board.panels {
            assert!(!panel.targets.is_empty(), "{}", panel.title);
        }
    }
}
