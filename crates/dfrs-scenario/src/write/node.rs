//! Lines of nodes: adjacent nodes that are alike in one.

use std::borrow::Cow;
use std::fmt;

use dfrs_core::{Node, NodeState};

use crate::names::{declared, fold};
use crate::read::{DOWN, DRAINING};
use crate::units::{show_amounts, show_bytes, show_cores};

pub(super) fn write(nodes: &[Node], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    for alike in nodes.chunk_by(are_alike) {
        let names: Vec<Cow<'_, str>> = alike.iter().map(|node| declared(&node.name)).collect();
        let names = fold(names.iter().map(AsRef::as_ref));
        writeln!(formatter, "nodes {names} {}", settings(&alike[0]))?;
    }
    Ok(())
}

/// Whether two nodes differ in their names only.
fn are_alike(one: &Node, next: &Node) -> bool {
    let of = |node: &Node| {
        (
            node.cpu,
            node.memory,
            node.swap,
            node.held_memory,
            node.ending_memory,
            node.state,
        )
    };
    of(one) == of(next) && one.rigid == next.rigid
}

fn settings(node: &Node) -> String {
    let mut text = format!(
        "cpu={} memory={}",
        show_cores(node.cpu),
        show_bytes(node.memory)
    );
    if !node.swap.is_zero() {
        text += &format!(" swap={}", show_bytes(node.swap));
    }
    if !node.held_memory.is_zero() {
        text += &format!(" held={}", show_bytes(node.held_memory));
    }
    if !node.ending_memory.is_zero() {
        text += &format!(" ending={}", show_bytes(node.ending_memory));
    }
    if !node.rigid.is_empty() {
        text += &format!(" rigid={}", show_amounts(&node.rigid));
    }
    match node.state {
        NodeState::Up => text,
        NodeState::Draining => format!("{text} {DRAINING}"),
        NodeState::Down => format!("{text} {DOWN}"),
    }
}
