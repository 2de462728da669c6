//! Where the tasks of a job are: `n0,n[2-3]*4`, or `n0*1+4` for a job of several kinds of tasks.

use dfrs_core::{Mapping, Part, Run};

use crate::error::shown;
use crate::names::{Labels, NOTHING, NodeNames, pieces};
use crate::units::count;
use crate::words::SizeBudget;

/// A mapping; adjacent nodes with as many tasks are one piece of the list.
pub(crate) fn show(mapping: &Mapping, labels: &Labels) -> String {
    let parts: Vec<Part<'_>> = mapping.parts().collect();
    let pieces = parts
        .chunk_by(|one, next| one.tasks == next.tasks)
        .map(|alike| {
            let nodes = labels.list(alike.iter().map(|part| part.node));
            let counts: Vec<String> = alike[0].tasks.iter().map(u32::to_string).collect();
            match &alike[0].tasks {
                [1] => nodes,
                // Only the last of several names would have the tasks.
                _ if pieces(&nodes).len() > 1 => each(&nodes, &counts.join("+")),
                _ => format!("{nodes}*{}", counts.join("+")),
            }
        });
    let pieces: Vec<String> = pieces.collect();
    match pieces.is_empty() {
        true => NOTHING.into(),
        false => pieces.join(","),
    }
}

/// So many tasks on the nodes of each piece of the list.
fn each(nodes: &str, counts: &str) -> String {
    let pieces = pieces(nodes).into_iter();
    let pieces: Vec<String> = pieces.map(|piece| format!("{piece}*{counts}")).collect();
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
    let mut by_kind: Vec<Vec<Run>> = Vec::new();
    for piece in pieces(text) {
        let (nodes, counts) = counts_of(piece)?;
        if by_kind.is_empty() {
            by_kind.resize(counts.len(), Vec::new());
        }
        if by_kind.len() != counts.len() {
            let piece = shown(piece);
            return Err(format!(
                "{piece} has another number of kinds of tasks than the first; write all, as in *1+0"
            ));
        }
        for node in directory.piece(nodes, budget)? {
            budget.take_many(counts.len() as u64)?;
            for (runs, tasks) in by_kind.iter_mut().zip(&counts) {
                runs.push(Run {
                    node,
                    tasks: *tasks,
                });
            }
        }
    }
    let by_kind: Vec<Mapping> = by_kind.into_iter().map(Mapping::new).collect();
    Ok(Mapping::of_kinds(&by_kind))
}

/// The nodes of a piece, and how many tasks of each kind are on each.
fn counts_of(piece: &str) -> Result<(&str, Vec<u32>), String> {
    let Some((nodes, counts)) = piece.rsplit_once('*').filter(|_| !piece.ends_with('"')) else {
        return Ok((piece, vec![1]));
    };
    let counts: Result<Vec<u32>, _> = counts.split('+').map(count).collect();
    match counts {
        Ok(counts) if counts.iter().any(|count| *count > 0) => Ok((nodes, counts)),
        _ => Err(format!(
            "{} has no number of tasks behind *; write e.g. n0*2, or n0*1+4 for two kinds",
            shown(piece)
        )),
    }
}
