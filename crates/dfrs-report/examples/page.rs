//! Writes a page with everything in it to standard output: `cargo run -p dfrs-report --example
//! page`.

use dfrs_report::{Axis, Bars, Cell, Chart, Page, Series, Style, Table, compared, significant};

fn main() {
    let curve = |start: f64, growth: f64| -> Vec<(f64, f64)> {
        (1..10)
            .map(|tenth| f64::from(tenth) / 10.0)
            .map(|load| (load, start * (growth * load).exp()))
            .collect()
    };
    let names = [
        "FCFS",
        "EASY",
        "EASY/no-shadow",
        "Greedy*/OPT=MIN",
        "GreedyP*/OPT=MIN",
        "GreedyPM*/OPT=MIN",
        "/per/OPT=MIN/MINVT=600",
        "GreedyPM*/per/OPT=MIN/MINVT=600",
    ];
    let lines = names.iter().enumerate().map(|(place, name)| {
        let place = u32::try_from(place).map_or(0.0, f64::from);
        Series::new(
            name,
            curve(2000.0 / 2f64.powf(place * 1.3), 1.0 + place / 4.0),
        )
    });
    let log = lines.fold(
        Chart::new(
            "Degradation from bound by load",
            Axis::linear("offered load").with_range(0.1, 0.9),
            Axis::log("average degradation from bound"),
        ),
        Chart::with,
    );
    let steps = (0..200u32).map(|hour| {
        let swing = (f64::from(hour) / 24.0 * std::f64::consts::TAU).sin();
        (
            f64::from(hour),
            80.0 + 40.0 * swing + f64::from(hour * 7919 % 17),
        )
    });
    let days = (0..9u32).map(|day| (f64::from(day * 24), format!("day {}", day + 1)));
    let time = Chart::new(
        "Nodes in use",
        Axis::linear("").with_ticks(days.collect()),
        Axis::linear("nodes").with_range(0.0, 128.0),
    )
    .with(Series::new("used", steps.collect()).styled(Style::Area))
    .with(Series::level("there are", 128.0));
    let bars = Bars::new(
        "Memory moved",
        Axis::linear("GB/s"),
        names.iter().map(|name| (*name).into()).collect(),
    )
    .with(
        "pauses",
        (0..8u32)
            .map(|place| Some(0.1 * f64::from(place)))
            .collect(),
    )
    .with(
        "migrations",
        (0..8u32)
            .map(|place| (place > 2).then(|| 0.05 * f64::from(place)))
            .collect(),
    );
    let mut table = Table::new(
        "A published value beside a reproduced one.",
        &["policy", "published", "reproduced", "difference"],
    );
    for (name, published, reproduced) in [
        ("FCFS", Some(448.74), 451.2),
        ("`EASY`", Some(410.06), 12.3),
        ("new", None, 1.7),
    ] {
        table.row(
            [Cell::text(name)]
                .into_iter()
                .chain(compared(published, reproduced, |value| {
                    significant(value, 4)
                })),
        );
    }
    let mut page = Page::new(
        "Every building block",
        "Charts, tables and text on one page.",
    );
    page.facts(&[
        ("350×", "smaller largest stretch"),
        ("0.35 GB/s", "moved on average"),
        ("12", "jobs worse off"),
    ]);
    page.section("Charts");
    page.figure(&log.to_svg(), "Lines with markers over a logarithmic axis.");
    page.figure(&time.to_svg(), "Steps over time.");
    page.figure(&bars.to_svg(), "Bars in groups.");
    page.section("Tables");
    page.table(&table);
    page.section("Text");
    page.text("A paragraph with `code` in it.");
    page.notice("What must not be overlooked.");
    page.list(["one", "two"]);
    println!("{}", page.to_html());
}
