//! Lines of nodes: adjacent nodes that are alike in one.

use std::borrow::Cow;
use std::convert::identity;
use std::fmt;

use dfrs_core::{Bytes, Node, NodeState};

use crate::names::{declared, fold};
use crate::read::{DOWN, DRAINING};
use crate::units::{show_amounts, show_bytes, show_cores};
use crate::words::WrittenLine;

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
            node.weight,
        )
    };
    of(one) == of(next) && one.rigid == next.rigid
}

fn settings(node: &Node) -> String {
    let mut line = WrittenLine::default();
    line.value("cpu", Some(show_cores(node.cpu)));
    line.value("memory", Some(show_bytes(node.memory)));
    line.value_unless(Bytes::ZERO, "swap", node.swap, show_bytes);
    line.value_unless(Bytes::ZERO, "held", node.held_memory, show_bytes);
    line.value_unless(Bytes::ZERO, "ending", node.ending_memory, show_bytes);
    line.value_unless(1, "weight", node.weight, identity);
    line.value_unless(&[][..], "rigid", &node.rigid, show_amounts);
    line.flag(DRAINING, node.state == NodeState::Draining);
    line.flag(DOWN, node.state == NodeState::Down);
    line.text()
}
