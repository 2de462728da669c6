//! Lines of jobs.

use dfrs_core::{Job, JobId, JobState, Layout, Mobility, NodeGroups, NodeSet, Together};

use super::draft::Draft;
use crate::error::shown;
use crate::ids;
use crate::mappings;
use crate::units;
use crate::words::Fields;

fn mobility(text: &str) -> Result<Mobility, &'static str> {
    text.parse()
        .map_err(|_| "checkpoint, carry, park, restart or never")
}

/// How many nodes the lists of a layout have.
fn listed(layout: &Layout) -> usize {
    let sets = layout.eligible.iter().chain(&layout.preferred);
    let rule = layout.together.as_ref().map(Together::groups);
    let groups = rule.into_iter().chain(&layout.few_of);
    let in_groups = groups.flat_map(|groups| groups.iter());
    sets.chain(in_groups).map(|set| set.len()).sum()
}

impl Draft {
    pub(super) fn read_jobs(&mut self, words: &[&str]) -> Result<(), String> {
        let Some((list, settings)) = words.split_first() else {
            return Err("'job' is followed by a number, e.g. job 7 cpu=2 memory=8G".into());
        };
        let ids = ids::expand(list, &mut self.budget)?;
        let job = self.read_job(settings)?;
        self.budget.take_items(ids.len() as u64)?;
        let mapped = job.mapping().map_or(0, dfrs_core::Mapping::node_count);
        let nodes = (ids.len() as u64).saturating_mul((listed(&job.layout) + mapped) as u64);
        self.budget.take_many(nodes)?;
        let jobs = ids.into_iter().map(|id| Job { id, ..job.clone() });
        self.cluster.jobs.extend(jobs);
        Ok(())
    }

    /// A job without an identity.
    fn read_job(&mut self, settings: &[&str]) -> Result<Job, String> {
        let mut fields = Fields::new(settings)?;
        let job = Job {
            id: JobId(0),
            submit: fields.value_or_default("submit", units::time)?,
            tasks: fields.value("tasks", units::count)?.unwrap_or(1),
            cpu: fields.required("cpu", units::cores)?,
            memory: fields.required("memory", units::bytes)?,
            memory_per_node: fields.value_or_default("memory-per-node", units::bytes)?,
            layout: self.read_layout(&mut fields)?,
            mobility: fields.value_or_default("mobility", mobility)?,
            virtual_time: fields.value_or_default("virtual-time", units::span)?,
            delay: fields.value_or_default("delay", units::span)?,
            limit: fields.value("limit", units::span)?,
            state: self.read_state(&mut fields)?,
            locked: fields.flag("locked")?,
            weight: fields.value_or_default("weight", units::weight)?,
            starved: fields.flag("comes-first")?,
            recent_moves: fields.value_or_default("recent-moves", units::count)?,
            rigid: fields.value_or_default("rigid", units::amounts)?,
            rigid_per_node: fields.value_or_default("rigid-per-node", units::amounts)?,
        };
        fields.finish()?;
        Ok(job)
    }

    fn read_layout(&mut self, fields: &mut Fields<'_>) -> Result<Layout, String> {
        Ok(Layout {
            max_tasks_per_node: fields.value("max-tasks-per-node", units::count)?,
            max_nodes: fields.value("max-nodes", units::count)?,
            min_nodes: fields.value("min-nodes", units::count)?,
            eligible: self.read_set("eligible", fields)?,
            together: self.read_together(fields)?,
            preferred: self.read_set("prefer", fields)?,
            few_of: self.read_groups("few-of", fields)?,
        })
    }

    fn read_together(&mut self, fields: &mut Fields<'_>) -> Result<Option<Together>, String> {
        let consecutive = self.read_groups("consecutive", fields)?;
        let groups = self.read_groups("groups", fields)?;
        let most = fields.value("max-groups", units::count)?;
        match (consecutive, groups, most) {
            (None, None, None) => Ok(None),
            (Some(groups), None, None) => Ok(Some(Together::Consecutive(groups))),
            (None, Some(groups), Some(most)) => Ok(Some(Together::AtMost(most, groups))),
            _ => Err(
                "give either consecutive=NODES;NODES, or max-groups=N and groups=NODES;NODES"
                    .into(),
            ),
        }
    }

    /// Lists of nodes with `;` between them.
    fn read_groups(
        &mut self,
        word: &'static str,
        fields: &mut Fields<'_>,
    ) -> Result<Option<NodeGroups>, String> {
        let Some(text) = fields.text(word)? else {
            return Ok(None);
        };
        let last = self.last_groups.entry(word).or_default();
        if last.0 != text {
            let mut groups = Vec::new();
            for list in text.split(';').filter(|list| !list.is_empty()) {
                let nodes = self.directory.list(list, &mut self.budget)?;
                groups.push(nodes.into_iter().collect::<NodeSet>());
            }
            *last = (text.to_owned(), groups.into_iter().collect());
        }
        Ok(Some(last.1.clone()))
    }

    fn read_set(
        &mut self,
        word: &'static str,
        fields: &mut Fields<'_>,
    ) -> Result<Option<NodeSet>, String> {
        let Some(list) = fields.text(word)? else {
            return Ok(None);
        };
        let last = self.last_lists.entry(word).or_default();
        if last.0 != list {
            let nodes = self.directory.list(list, &mut self.budget)?;
            *last = (list.to_owned(), nodes.into_iter().collect());
        }
        Ok(Some(last.1.clone()))
    }

    /// Pending unless another state is given.
    fn read_state(&mut self, fields: &mut Fields<'_>) -> Result<JobState, String> {
        let running = fields.text("running")?;
        let parked = fields.text("parked")?;
        let paused = fields.flag("paused")?;
        let mut mapping = |text| mappings::read(text, &self.directory, &mut self.budget);
        match (running, parked, paused) {
            (None, None, false) => Ok(JobState::Pending),
            (Some(text), None, false) => Ok(JobState::Running(mapping(text)?)),
            (None, Some(text), false) => Ok(JobState::Parked(mapping(text)?)),
            (None, None, true) => Ok(JobState::Paused),
            _ => {
                let text = running.or(parked).unwrap_or_default();
                Err(format!(
                    "a job is running, parked or paused, not several of these; leave one beside {}",
                    shown(text)
                ))
            }
        }
    }
}
