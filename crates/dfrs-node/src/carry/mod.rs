//! Carries a batch job to another node: inspects and dumps it here, restores it there.
//!
//! A job of a partition that `spank_dfrs_carry.so` serves runs below `dfrs-carrier`, in a PID, a
//! mount and an IPC namespace of its own. [`inspect()`] says whether it can be carried, [`dump()`]
//! makes an image of it (criu) and leaves it stopped; after Slurm has requeued it, [`restore()`] puts
//! the image in the place of its batch script on the next node. [`release()`] undoes a dump.

mod cgroups;
mod command;
mod connections;
mod criu;
mod dump;
mod groups;
mod held;
mod image;
mod inspect;
mod mend;
mod processor;
mod procfs;
mod record;
mod release;
mod restore;
mod signals;
mod stage;
mod tree;
mod worker;

pub use command::{CarryCommand, run};
pub use criu::{Criu, PROGRAM as CRIU};
pub use dump::{CarryFailure, Dumped, dump};
pub use image::{Images, KEPT_AFTER_RESTORE};
pub use inspect::{Inspection, Obstacle, SitePolicy, inspect};
pub use release::{release, release_job};
pub use restore::{NewStart, restore};
pub use signals::{HOLD, RELEASE};
pub use stage::run_as_script;
pub use tree::{JobTree, Namespaces};
pub use worker::{CarryOutcome, CarryRequest, CarryTask, CarryThreads, CarryWorker, ImageSettings};
