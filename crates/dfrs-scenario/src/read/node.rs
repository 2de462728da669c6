//! Lines of nodes.

use dfrs_core::{Bytes, Node, NodeIndex, NodeState};

use super::draft::Draft;
use crate::names::{expand, pieces};
use crate::units;
use crate::words::{Fields, SizeBudget};

/// The words for nodes that take no tasks.
pub(crate) const DRAINING: &str = "draining";
/// See [`DRAINING`].
pub(crate) const DOWN: &str = "down";

impl Draft {
    pub(super) fn read_nodes(
        &mut self,
        words: &[&str],
        budget: &mut SizeBudget,
    ) -> Result<(), String> {
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
            let names = expand(piece, budget)?;
            budget.take_items(names.len() as u64)?;
            for name in names {
                self.declare(Node {
                    name,
                    ..node.clone()
                })?;
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
    node.swap = fields.value("swap", units::bytes)?.unwrap_or(Bytes::ZERO);
    node.held_memory = fields.value("held", units::bytes)?.unwrap_or(Bytes::ZERO);
    node.ending_memory = fields.value("ending", units::bytes)?.unwrap_or(Bytes::ZERO);
    node.rigid = fields.value("rigid", units::amounts)?.unwrap_or_default();
    node.state = match (fields.flag(DRAINING)?, fields.flag(DOWN)?) {
        (false, false) => NodeState::Up,
        (true, false) => NodeState::Draining,
        (false, true) => NodeState::Down,
        (true, true) => return Err("a node is draining or down, not both".into()),
    };
    fields.finish()?;
    Ok(node)
}
