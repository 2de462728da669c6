//! Lines of nodes.

use dfrs_core::{Node, NodeIndex, NodeState};

use super::draft::Draft;
use crate::names::{expand, pieces};
use crate::units;
use crate::words::Fields;

/// The words for nodes that take no tasks.
pub(crate) const DRAINING: &str = "draining";
/// See [`DRAINING`].
pub(crate) const DOWN: &str = "down";

impl Draft {
    pub(super) fn read_nodes(&mut self, words: &[&str]) -> Result<(), String> {
        let Some((list, settings)) = words.split_first() else {
            return Err("'nodes' is followed by names, e.g. nodes n[0-99] cpu=4 memory=64G".into());
        };
        if !self.cluster.jobs.is_empty() {
            return Err("nodes are declared before the jobs; move this line up".into());
        }
        let node = read_node(settings)?;
        for piece in pieces(list) {
            if piece.starts_with('#') {
                return Err(format!(
                    "'{piece}' is a position, not a name; quote it if it is one"
                ));
            }
            let names = expand(piece, &mut self.budget)?;
            self.budget.take_items(names.len() as u64)?;
            for name in names {
                let node = node.clone();
                self.declare(Node { name, ..node })?;
            }
        }
        Ok(())
    }

    fn declare(&mut self, node: Node) -> Result<(), String> {
        let index = u32::try_from(self.cluster.nodes.len());
        let index = index.map_err(|_| "too many nodes")?;
        self.directory.add(node.name.clone(), NodeIndex(index));
        self.cluster.nodes.push(node);
        Ok(())
    }
}

/// A node without a name.
fn read_node(settings: &[&str]) -> Result<Node, String> {
    let mut fields = Fields::new(settings)?;
    let mut node = Node::new(
        "",
        fields.required("cpu", units::cores)?,
        fields.required("memory", units::bytes)?,
    );
    node.swap = fields.value_or_default("swap", units::bytes)?;
    node.held_memory = fields.value_or_default("held", units::bytes)?;
    node.ending_memory = fields.value_or_default("ending", units::bytes)?;
    node.weight = fields.value("weight", units::count)?.unwrap_or(node.weight);
    node.rigid = fields.value_or_default("rigid", units::amounts)?;
    node.state = match (fields.flag(DRAINING)?, fields.flag(DOWN)?) {
        (false, false) => NodeState::Up,
        (true, false) => NodeState::Draining,
        (false, true) => NodeState::Down,
        (true, true) => return Err("a node is draining or down, not both".into()),
    };
    fields.finish()?;
    Ok(node)
}
