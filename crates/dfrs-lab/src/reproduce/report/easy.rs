//! The section on what the papers call EASY.

use dfrs_report::{Cell, Page, Table, significant};

use crate::reproduce::cells::label;
use crate::reproduce::claims::mean;
use crate::reproduce::experiment::{BEST, EASY, EASY_PUBLISHED, EASY_SHARED};
use crate::reproduce::measure::Measure;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

/// Adds the section if the runs that it needs are there.
pub fn section(page: &mut Page, results: &Results) {
    if let Some(finding) = finding(results) {
        page.section("The published EASY is not EASY");
        text(page);
        page.table(&finding);
    }
}

fn text(page: &mut Page) {
    page.text(
        "EASY backfilling lets a later job start now if it fits and does not delay the first job of the queue: because it \
         ends before the time at which the first can start, or because it uses nodes that are left over then. In the \
         simulator that the papers' authors have published, the first of these two rules never fires. Their EASY is a weaker \
         scheduler than the one that is widely known. Here it is called `EASY/no-shadow` and stands beside the papers' \
         numbers for EASY; `EASY` is the real one, with no published counterpart. Both give each task a node of its own, as the papers \
         do. `EASY/shared` is the real one where jobs share nodes, each with whole CPUs and memory of its own, as Slurm is \
         configured at many sites: on workloads with small jobs it is the strongest of them.",
    );
    page.text(
        "What follows from it: the claim of orders of magnitude in largest stretch stands against the real EASY too, with a \
         smaller factor. The claim of comparable or better utilization was made against the weaker EASY, and the tables and \
         figures below show what is left of it.",
    );
}

/// The policies on the unscaled traces, beside what the authors' own simulator gives.
fn finding(results: &Results) -> Option<Table> {
    // Measured with the authors' published simulator on 100 other traces of the same model: largest
    // stretch, mean stretch, underutilization, degradation from bound.
    let authors: [(&str, [Option<f64>; 4]); 5] = [
        (
            "FCFS",
            [Some(10_732.0), Some(1717.0), Some(0.423), Some(4557.0)],
        ),
        (
            EASY_PUBLISHED,
            [Some(10_098.0), Some(1007.0), Some(0.386), Some(4368.0)],
        ),
        (EASY, [Some(3810.0), Some(148.0), Some(0.253), Some(1633.0)]),
        (EASY_SHARED, [None; 4]),
        (BEST, [None, Some(1.77), Some(0.4995), Some(4.6)]),
    ];
    let measures = [
        Measure::MaxStretch,
        Measure::MeanStretch,
        Measure::Underutilization,
        Measure::DegradationFromBound,
    ];
    let mut heads = vec!["policy"];
    heads.extend(measures.iter().flat_map(|_| ["theirs", "here"]));
    let mut table = Table::new(
        "Averages over the unscaled synthetic traces, with a penalty of 300 s. “theirs”: with the authors' published \
         simulator on 100 other traces of the same model, for EASY as defined with backfilling by both rules, and with the first \
         job of the queue counted in the demand, which it forgets under EASY (without it: 0.351 and 0.112).",
        &heads,
    )
    .group("", 1);
    for measure in measures {
        table = table.group(measure.title(), 2);
    }
    for (policy, values) in authors {
        let mut row = vec![Cell::text(label(policy))];
        for (measure, value) in measures.into_iter().zip(values) {
            let ours = mean(results, TraceSet::Unscaled, policy, measure)?;
            row.push(Cell::number(
                value.map_or("–".into(), |value| significant(value, 3)),
            ));
            row.push(Cell::number(significant(ours, 3)));
        }
        table.row(row);
    }
    Some(table)
}
