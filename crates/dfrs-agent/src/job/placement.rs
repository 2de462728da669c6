//! Where a job's tasks are, by node name: what survives a restart of slurmctld, in which node
//! indexes may change.

use std::fmt;

use dfrs_core::{Mapping, NodeIndex, Run};
use serde::{Deserialize, Serialize};

use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// Some tasks of a job on one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTasks {
    /// Node name.
    pub node: String,
    /// Tasks there, at least 1.
    pub tasks: u32,
}

/// Where a job's tasks are: one spot a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPlacement(pub Vec<NodeTasks>);

impl fmt::Display for NodeTasks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.node)?;
        if self.tasks > 1 {
            write!(formatter, "({} tasks)", self.tasks)?;
        }
        Ok(())
    }
}

/// For the log: `n1(2 tasks),n2` are two tasks on n1 and one on n2.
impl fmt::Display for NamedPlacement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, spot) in self.0.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(formatter, "{comma}{spot}")?;
        }
        Ok(())
    }
}

impl NamedPlacement {
    /// The placement that `mapping` means. Runs on nodes that `observation` does not have are left
    /// out.
    pub fn from_mapping(mapping: &Mapping, observation: &Observation) -> Self {
        let spot = |run: &Run| {
            let node = observation.nodes().get(run.node.0 as usize)?;
            Some(NodeTasks {
                node: node.name.clone(),
                tasks: run.tasks,
            })
        };
        Self(mapping.runs().iter().filter_map(spot).collect())
    }

    /// Tasks on all nodes.
    pub fn tasks(&self) -> u32 {
        self.0.iter().map(|spot| spot.tasks).sum()
    }

    /// Where Slurm says that `job` is.
    pub fn of_job(job: &ObservedJob, observation: &Observation) -> Self {
        let spots = spots_of(job, observation).map(|(node, tasks)| NodeTasks {
            node: node.to_owned(),
            tasks,
        });
        Self(spots.collect())
    }

    /// Whether this is where Slurm says that `job` is.
    pub fn is_of(&self, job: &ObservedJob, observation: &Observation) -> bool {
        let spots = self.0.iter().map(|spot| (spot.node.as_str(), spot.tasks));
        spots.eq(spots_of(job, observation))
    }

    /// The core's mapping, or `None` if one of the nodes is no longer there.
    pub fn to_mapping(&self, observation: &Observation) -> Option<Mapping> {
        let run = |spot: &NodeTasks| {
            let position = observation.position_of(&spot.node)?;
            Some(Run {
                node: NodeIndex(u32::try_from(position).ok()?),
                tasks: spot.tasks,
            })
        };
        let runs: Option<Vec<Run>> = self.0.iter().map(run).collect();
        runs.map(Mapping::new)
    }
}

/// Where Slurm says that `job` is: nodes, and its tasks there.
fn spots_of<'a>(
    job: &ObservedJob,
    observation: &'a Observation,
) -> impl Iterator<Item = (&'a str, u32)> {
    job.places.iter().filter_map(|place| {
        let node = observation.node_at(place.node)?;
        Some((node.name.as_str(), place.tasks))
    })
}
