//! What an SWF trace is on nodes.

use clap::ValueEnum;
use dfrs_sim::trace::Model;

/// How SWF traces are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SwfModel {
    /// A processor is a node, and no job requires memory
    Processors,
    /// The papers' rule for HPC2N: dual-core nodes with 2 GB, jobs with the memory of the trace
    Hpc2n,
}

impl SwfModel {
    /// Refuses a model for a file that is no SWF; `what` says what it is.
    ///
    /// # Errors
    ///
    /// One line without the file's name.
    pub(crate) fn for_no_swf(self, what: &str) -> Result<(), String> {
        match self {
            Self::Processors => Ok(()),
            Self::Hpc2n => Err(format!(
                "is {what}, and --model hpc2n is for SWF; leave it out"
            )),
        }
    }
}

impl From<SwfModel> for Model {
    fn from(model: SwfModel) -> Self {
        match model {
            SwfModel::Processors => Self::Processors,
            SwfModel::Hpc2n => Self::Hpc2n,
        }
    }
}
