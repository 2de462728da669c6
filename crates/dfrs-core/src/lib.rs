//! The decisions of dynamic fractional resource scheduling (DFRS): pure functions from a
//! snapshot of a cluster to a plan.
//!
//! No I/O, no clock, no thread, no global, no `unsafe`, and no iteration over a hash map:
//! the same input always gives the same plan. The plugin and the simulator are two drivers of
//! this one crate.
//!
//! ```
//! use dfrs_core::{
//!     Action, Bytes, Cluster, Cores, Events, Job, JobId, Node, Policy, Roster, Time, check, decide,
//! };
//!
//! let node = Node::new("n0", Cores::from_cores(4), Bytes::from_mebibytes(8192));
//! let mut roster = Roster::new(Cluster { nodes: vec![node; 2], jobs: Vec::new() });
//! roster.insert(Job::new(JobId(17), Time::ZERO, 2, Cores::from_cores(4), Bytes::from_mebibytes(4096)));
//!
//! let policy: Policy = "GreedyPM*/per/OPT=MIN/MINVT=600".parse()?;
//! let decision = decide(&policy, &mut roster, Time::ZERO, &Events::submitted([JobId(17)]));
//! let plan = decision.plan();
//! assert!(matches!(plan.actions[0].action, Action::Start(JobId(17), _)));
//! assert_eq!(check(decision.cluster(), &plan), []);
//! decision.adopt();
//! assert!(roster.job(JobId(17)).is_some_and(Job::is_running));
//! # Ok::<(), dfrs_core::PolicyError>(())
//! ```
//!
//! - [`model`], [`Roster`], [`Events`]: what a decision looks at; [`Decision`]: what it comes to,
//!   as changes, yields, a [`plan`] of actions, each with its reason, and the reasons of jobs that
//!   wait.
//! - [`decide()`]: which algorithm acts when (TPDS, Section 4.4); [`policy`]: the papers' names;
//!   [`decide_while()`]: a decision that the caller can stop.
//! - [`greedy`], [`packing`]: where tasks go; [`yields`]: how CPU is shared; [`priority`]: which
//!   job comes first.
//! - [`check()`]: what must hold of every plan.
//! - [`Experience`]: what users' time limits have been worth so far.
//! - [`Measured`]: what a job needs, from what it was seen to use; [`shares_of_requests`]: what it
//!   then gets.
//! - [`Histories`]: what users have had lately, which their next jobs inherit.
//! - [`Pauses`]: for how long jobs are paused, and when that is too long.
//! - [`Progress`]: how far a job is; the one place where shares are integrated over time.
//!
//! TPDS is Stillwell, Vivien, Casanova: Dynamic Fractional Resource Scheduling versus Batch
//! Scheduling, IEEE TPDS 23(3), 2012; IPDPS 2010 is their Dynamic Fractional Resource Scheduling
//! for HPC Workloads.
#![forbid(unsafe_code)]

mod blocked;
pub mod check;
mod constraints;
pub mod decide;
mod decision;
mod demand;
mod drain;
mod events;
mod experience;
mod failures;
mod fit_cache;
mod greatest;
pub mod greedy;
mod headroom;
mod histories;
mod least_cost_preemption;
mod leaving;
mod load_limits;
mod mapping;
pub mod model;
mod needs;
mod node_index;
mod node_set;
pub mod packing;
mod pauses;
pub mod plan;
pub mod policy;
mod preempt;
pub mod priority;
mod progress;
mod question;
mod record;
mod remap;
mod room;
mod roster;
mod shared_list;
mod space;
mod staged_changes;
mod stop;
mod target;
mod together;
mod transition;
pub mod units;
mod usage;
pub mod yields;

pub use check::{
    NamedNode, Severity, Shortage, Step, Violation, ViolationKind, check, check_cluster,
    jobs_at_fault,
};
pub use constraints::{Constraints, Placed, Term};
pub use decide::{decide, decide_while};
pub use decision::Decision;
pub use events::Events;
pub use experience::Experience;
pub use histories::Histories;
pub use model::{
    Cluster, Job, JobId, JobState, Layout, Mapping, Mobility, Node, NodeIndex, NodeState, Run,
    UnknownMobility,
};
pub use needs::{GrantedYield, Interval, Measured, Need, shares_of_requests};
pub use node_set::NodeSet;
pub use pauses::{LONGEST_PAUSE, Pauses};
pub use plan::{Action, Blocked, Plan, PlannedAction, Reason};
pub use policy::{
    Budget, FurtherGoal, Grace, LeastYield, LoadCeiling, MappingProblem, MappingSearch,
    Optimisation, POLICY_SETTINGS, Periodic, Policy, PolicyError, PolicyParts, PolicyReader,
    PolicySetting, Retry, RunTimeHint, Settings, Submission,
};
pub use priority::{Priority, PriorityFunction};
pub use progress::{Progress, Rate};
pub use record::DecisionRecord;
pub use roster::Roster;
pub use shared_list::SharedList;
pub use stop::Stopped;
pub use together::{NodeGroups, Together};
pub use units::{Amount, Bytes, Cores, Span, Time, Weight, Yield};
pub use yields::yields_of;
