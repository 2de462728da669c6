//! Jobs with tasks of different kinds, e.g. one master and many workers.
//!
//! A job's own fields describe its first kind of tasks, and [`Job::further_kinds`] the others. Each
//! kind keeps rules of its own, as the components of a heterogeneous job do in Slurm; tasks of all
//! kinds may share nodes. The job starts, pauses and moves as a whole, and has one yield.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::mapping::Part;
use crate::model::{Job, JobState, Layout};
use crate::units::{Amount, Bytes, Cores};

/// Tasks of a job that are alike. The fields mean what those of the same names mean in [`Job`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKind {
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// CPU need of one task: the most it can use.
    pub cpu: Cores,
    /// Memory requirement of one task.
    pub memory: Bytes,
    /// Memory required once on each node that tasks of this kind use, whatever other kinds are
    /// there.
    #[serde(default)]
    pub memory_per_node: Bytes,
    /// Where its tasks may go. Tasks of other kinds do not count.
    #[serde(default)]
    pub layout: Layout,
    /// Requirements of one task in the nodes' further rigid resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid: Vec<Amount>,
    /// Needs of one task in the nodes' further fluid resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fluid: Vec<Amount>,
}

impl TaskKind {
    /// So many tasks with the papers' properties and no others; change the rest field by field.
    #[must_use]
    pub fn new(tasks: u32, cpu: Cores, memory: Bytes) -> Self {
        Self {
            tasks,
            cpu,
            memory,
            ..Self::default()
        }
    }

    /// Memory that `tasks` of its tasks require on one node.
    #[must_use]
    pub fn memory_on(&self, tasks: u32) -> Bytes {
        if tasks == 0 {
            Bytes::ZERO
        } else {
            self.memory.times(tasks) + self.memory_per_node
        }
    }
}

impl Job {
    /// Adds one more kind of tasks to the job.
    ///
    /// ```
    /// use dfrs_core::{Bytes, Cores, Job, JobId, TaskKind, Time};
    ///
    /// let gibibytes = |count: u64| Bytes::from_mebibytes(1024 * count);
    /// let job = Job::new(JobId(17), Time::ZERO, 1, Cores::from_cores(4), gibibytes(32))
    ///     .with_kind(TaskKind::new(16, Cores::from_cores(1), gibibytes(2)));
    /// assert_eq!(job.total_tasks(), 17);
    /// ```
    #[must_use]
    pub fn with_kind(mut self, kind: TaskKind) -> Self {
        self.further_kinds.push(kind);
        self
    }

    /// Whether all its tasks are alike.
    #[must_use]
    #[inline]
    pub const fn has_one_kind(&self) -> bool {
        self.further_kinds.is_empty()
    }

    /// Whether the job's tasks may be on several nodes. A kind of one task, taken as a job of its
    /// own ([`Self::by_kind`]), may not.
    #[must_use]
    #[inline]
    pub(crate) fn may_span_nodes(&self) -> bool {
        (self.tasks > 1 || !self.has_one_kind()) && self.layout.nodes() > 1
    }

    /// The job's kinds of tasks, the first one first; their positions are the kinds' numbers.
    pub fn kinds(&self) -> impl ExactSizeIterator<Item = TaskKind> + '_ {
        (0..1 + self.further_kinds.len()).map(|kind| match kind {
            0 => TaskKind {
                tasks: self.tasks,
                cpu: self.cpu,
                memory: self.memory,
                memory_per_node: self.memory_per_node,
                layout: self.layout.clone(),
                rigid: self.rigid.clone(),
                fluid: self.fluid.clone(),
            },
            _ => self.further_kinds[kind - 1].clone(),
        })
    }

    /// Number of tasks of each kind.
    pub(crate) fn task_counts(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(self.tasks).chain(self.further_kinds.iter().map(|kind| kind.tasks))
    }

    /// Memory requirement of one task, and number of tasks, of each kind.
    pub(crate) fn memory_by_kind(&self) -> impl Iterator<Item = (Bytes, u32)> {
        let further = self.further_kinds.iter();
        std::iter::once((self.memory, self.tasks))
            .chain(further.map(|kind| (kind.memory, kind.tasks)))
    }

    /// Layout of each kind.
    pub(crate) fn layouts(&self) -> impl Iterator<Item = &Layout> {
        std::iter::once(&self.layout).chain(self.further_kinds.iter().map(|kind| &kind.layout))
    }

    /// Number of tasks of all kinds.
    #[must_use]
    pub fn total_tasks(&self) -> u64 {
        self.task_counts().map(u64::from).sum()
    }

    /// Sum of the CPU needs of all tasks, in millionths of a core.
    pub(crate) fn total_cpu(&self) -> u128 {
        let further = self.further_kinds.iter();
        std::iter::once((self.cpu, self.tasks))
            .chain(further.map(|kind| (kind.cpu, kind.tasks)))
            .map(|(cpu, tasks)| u128::from(cpu.0) * u128::from(tasks))
            .sum()
    }

    /// Memory that the job takes at least, wherever its tasks are.
    pub(crate) fn least_memory(&self) -> Bytes {
        let further = self.further_kinds.iter();
        std::iter::once((self.tasks, self.memory, self.memory_per_node, &self.layout))
            .chain(
                further.map(|kind| (kind.tasks, kind.memory, kind.memory_per_node, &kind.layout)),
            )
            .map(|(tasks, memory, memory_per_node, layout)| {
                let fewest_nodes = tasks.div_ceil(layout.tasks_per_node().max(1));
                memory.times(tasks) + memory_per_node.times(fewest_nodes)
            })
            .sum()
    }

    /// Memory that a part of the job requires.
    #[must_use]
    #[inline]
    pub fn memory_of(&self, part: Part<'_>) -> Bytes {
        let first = self.memory_on(part.first());
        if self.has_one_kind() {
            return first;
        }
        let further = self
            .further(part)
            .map(|(kind, tasks)| kind.memory_on(tasks));
        first + further.sum()
    }

    /// Sum of the CPU needs of a part of the job.
    #[must_use]
    #[inline]
    pub fn cpu_of(&self, part: Part<'_>) -> Cores {
        let first = self.cpu.times(part.first());
        if self.has_one_kind() {
            return first;
        }
        let further = self
            .further(part)
            .map(|(kind, tasks)| kind.cpu.times(tasks));
        first + further.sum()
    }

    /// What a part of the job requires of a further rigid resource.
    pub(crate) fn rigid_of(&self, part: Part<'_>, resource: usize) -> Amount {
        self.amount_of(part, resource, &self.rigid, |kind| &kind.rigid)
    }

    /// What a part of the job needs of a further fluid resource.
    pub(crate) fn fluid_of(&self, part: Part<'_>, resource: usize) -> Amount {
        self.amount_of(part, resource, &self.fluid, |kind| &kind.fluid)
    }

    /// What a part of the job needs of a fluid resource; the first is the CPU.
    #[inline]
    pub(crate) fn need_of(&self, part: Part<'_>, resource: usize) -> u64 {
        match resource {
            0 => self.cpu_of(part).0,
            _ => self.fluid_of(part, resource - 1).0,
        }
    }

    fn amount_of(
        &self,
        part: Part<'_>,
        resource: usize,
        first: &[Amount],
        further: impl Fn(&TaskKind) -> &Vec<Amount>,
    ) -> Amount {
        let of = |amounts: &[Amount], tasks: u32| {
            let amount = amounts.get(resource).copied().unwrap_or_default();
            amount.times(tasks)
        };
        let further = self
            .further(part)
            .map(|(kind, tasks)| of(further(kind), tasks));
        of(first, part.first()) + further.sum()
    }

    /// How many further rigid resources its tasks may require.
    #[inline]
    pub(crate) fn rigid_resources(&self) -> usize {
        if self.has_one_kind() {
            return self.rigid.len();
        }
        let further = self.further_kinds.iter().map(|kind| kind.rigid.len());
        further.fold(self.rigid.len(), usize::max)
    }

    /// How many further fluid resources its tasks may need.
    #[inline]
    pub(crate) fn fluid_resources(&self) -> usize {
        if self.has_one_kind() {
            return self.fluid.len();
        }
        let further = self.further_kinds.iter().map(|kind| kind.fluid.len());
        further.fold(self.fluid.len(), usize::max)
    }

    /// The further kinds, and how many tasks of each the part has.
    fn further<'a>(&'a self, part: Part<'a>) -> impl Iterator<Item = (&'a TaskKind, u32)> {
        let tasks = part.tasks.iter().skip(1).copied();
        self.further_kinds.iter().zip(tasks)
    }

    /// One job of one kind for each of its kinds, to be placed one by one. They are pending.
    pub(crate) fn by_kind(&self) -> Vec<Cow<'_, Self>> {
        if self.has_one_kind() {
            return vec![Cow::Borrowed(self)];
        }
        let single = |kind: TaskKind| Self {
            id: self.id,
            submit: self.submit,
            tasks: kind.tasks,
            cpu: kind.cpu,
            memory: kind.memory,
            memory_per_node: kind.memory_per_node,
            layout: kind.layout,
            mobility: self.mobility,
            virtual_time: self.virtual_time,
            delay: self.delay,
            limit: self.limit,
            state: JobState::Pending,
            locked: self.locked,
            weight: self.weight,
            starved: self.starved,
            recent_moves: self.recent_moves,
            rigid: kind.rigid,
            fluid: kind.fluid,
            further_kinds: Vec::new(),
        };
        self.kinds().map(|kind| Cow::Owned(single(kind))).collect()
    }
}
