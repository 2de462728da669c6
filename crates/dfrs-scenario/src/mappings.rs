//! Where the tasks of a job are: `n0,n[2-3]*4`.

use dfrs_core::{Mapping, Run};

use crate::error::shown;
use crate::names::{Labels, NOTHING, NodeNames, pieces};
use crate::units::count;
use crate::words::SizeBudget;

/// A mapping; adjacent nodes with as many tasks are one piece of the list.
pub(crate) fn show(mapping: &Mapping, labels: &Labels) -> String {
    let alike = mapping.runs().chunk_by(|one, next| one.tasks == next.tasks);
    let pieces = alike.map(|alike| {
        let nodes = labels.list(alike.iter().map(|run| run.node));
        match alike[0].tasks {
            1 => nodes,
            tasks => each(&nodes, tasks),
        }
    });
    let pieces: Vec<String> = pieces.collect();
    match pieces.is_empty() {
        true => NOTHING.into(),
        false => pieces.join(","),
    }
}

/// So many tasks on the nodes of each piece of the list.
fn each(nodes: &str, tasks: u32) -> String {
    let pieces = pieces(nodes).into_iter();
    let pieces: Vec<String> = pieces.map(|piece| format!("{piece}*{tasks}")).collect();
    pieces.join(",")
}

/// Reads a mapping.
pub(crate) fn read(
    text: &str,
    directory: &NodeNames,
    budget: &mut SizeBudget,
) -> Result<Mapping, String> {
    if text == NOTHING {
        return Ok(Mapping::default());
    }
    let mut runs: Vec<Run> = Vec::new();
    for piece in pieces(text) {
        let (nodes, tasks) = tasks_of(piece)?;
        for node in directory.piece(nodes, budget)? {
            budget.take_many(1)?;
            runs.push(Run { node, tasks });
        }
    }
    Ok(Mapping::new(runs))
}

/// The nodes of a piece, and how many tasks are on each.
fn tasks_of(piece: &str) -> Result<(&str, u32), String> {
    let Some((nodes, tasks)) = piece.rsplit_once('*').filter(|_| !piece.ends_with('"')) else {
        return Ok((piece, 1));
    };
    match count(tasks) {
        Ok(tasks) if tasks > 0 => Ok((nodes, tasks)),
        _ => Err(format!(
            "{} has no number of tasks behind *; write e.g. n0*2",
            shown(piece)
        )),
    }
}
