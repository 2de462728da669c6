//! Lines of jobs.

use dfrs_core::{Bytes, Job, JobId, JobState, Layout, Mobility, NodeSet, Span, Time, Weight};

use super::draft::Draft;
use crate::error::shown;
use crate::ids;
use crate::mappings;
use crate::units;
use crate::words::{Fields, SizeBudget};

fn mobility(text: &str) -> Result<Mobility, &'static str> {
    let all = [
        Mobility::Checkpoint,
        Mobility::Park,
        Mobility::Restart,
        Mobility::Never,
    ];
    let mut all = all.into_iter();
    let found = all.find(|mobility| mobility.to_string() == text);
    found.ok_or("checkpoint, park, restart or never")
}

impl Draft {
    pub(super) fn read_jobs(
        &mut self,
        words: &[&str],
        budget: &mut SizeBudget,
    ) -> Result<(), String> {
        let Some((list, settings)) = words.split_first() else {
            return Err("'job' is followed by a number, e.g. job 7 cpu=2 memory=8G".into());
        };
        let ids = ids::expand(list, budget)?;
        let job = self.read_job(settings, budget)?;
        budget.take_items(ids.len() as u64)?;
        let listed = job.layout.eligible.as_ref().map_or(0, |nodes| nodes.len());
        let mapped = job.mapping().map_or(0, dfrs_core::Mapping::node_count);
        budget.take_many((ids.len() as u64).saturating_mul((listed + mapped) as u64))?;
        let jobs = ids.into_iter().map(|id| Job { id, ..job.clone() });
        self.cluster.jobs.extend(jobs);
        Ok(())
    }

    /// A job without an identity.
    fn read_job(&mut self, settings: &[&str], budget: &mut SizeBudget) -> Result<Job, String> {
        let mut fields = Fields::new(settings)?;
        let job = Job {
            id: JobId(0),
            submit: fields.value("submit", units::time)?.unwrap_or(Time::ZERO),
            tasks: fields.value("tasks", units::count)?.unwrap_or(1),
            cpu: fields.required("cpu", units::cores)?,
            memory: fields.required("memory", units::bytes)?,
            memory_per_node: fields
                .value("memory-per-node", units::bytes)?
                .unwrap_or(Bytes::ZERO),
            layout: self.read_layout(&mut fields, budget)?,
            mobility: fields.value("mobility", mobility)?.unwrap_or_default(),
            virtual_time: fields
                .value("virtual-time", units::span)?
                .unwrap_or(Span::ZERO),
            delay: fields.value("delay", units::span)?.unwrap_or(Span::ZERO),
            limit: fields.value("limit", units::span)?,
            state: self.read_state(&mut fields, budget)?,
            locked: fields.flag("locked")?,
            weight: fields
                .value("weight", units::weight)?
                .unwrap_or(Weight::ONE),
            starved: fields.flag("comes-first")?,
            recent_moves: fields.value("recent-moves", units::count)?.unwrap_or(0),
            rigid: fields.value("rigid", units::amounts)?.unwrap_or_default(),
        };
        fields.finish()?;
        Ok(job)
    }

    fn read_layout(
        &mut self,
        fields: &mut Fields<'_>,
        budget: &mut SizeBudget,
    ) -> Result<Layout, String> {
        Ok(Layout {
            max_tasks_per_node: fields.value("max-tasks-per-node", units::count)?,
            max_nodes: fields.value("max-nodes", units::count)?,
            min_nodes: fields.value("min-nodes", units::count)?,
            eligible: self.read_eligible(fields, budget)?,
        })
    }

    fn read_eligible(
        &mut self,
        fields: &mut Fields<'_>,
        budget: &mut SizeBudget,
    ) -> Result<Option<NodeSet>, String> {
        let Some(list) = fields.text("eligible")? else {
            return Ok(None);
        };
        if self.last_list.0 != list {
            let nodes = self.directory.list(list, budget)?;
            self.last_list = (list.to_owned(), nodes.into_iter().collect());
        }
        Ok(Some(self.last_list.1.clone()))
    }

    /// Pending unless another state is given.
    fn read_state(
        &self,
        fields: &mut Fields<'_>,
        budget: &mut SizeBudget,
    ) -> Result<JobState, String> {
        let running = fields.text("running")?;
        let parked = fields.text("parked")?;
        let paused = fields.flag("paused")?;
        let mut mapping = |text| mappings::read(text, &self.directory, budget);
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
