//! Lines of jobs and of their steps become runs.

use std::collections::BTreeMap;

use dfrs_core::{Bytes, Time};

use super::fields::{self, Per};
use super::header::{Column, Columns};
use super::state::SacctState;
use super::steps::{StepUsage, measure};
use super::{Dump, DumpError, SacctRun, array_ids, generic};
use crate::trace::MAX_TASKS;
use crate::trace::bad_line::{BadLine, MAX_REPORTED};
use crate::trace::values::shown;

/// The longest id of a job or step that is believed, in bytes.
const MAX_ID_BYTES: usize = 256;

/// What the line of a job says.
enum SacctJobLine {
    Ran(SacctRun),
    Unfinished,
    Endless,
    NeverRan,
}

/// The times of a line, as far as they are known.
struct Times {
    submit: Option<Time>,
    eligible: Option<Time>,
    start: Option<Time>,
    end: Option<Time>,
}

/// Collects the lines of a dump.
pub(super) struct Records {
    columns: Columns,
    strict: bool,
    dump: Dump,
    /// The steps of each run.
    steps: Vec<Vec<StepUsage>>,
    /// The last line of each job: its run, if it is one.
    latest: BTreeMap<String, Option<usize>>,
    /// Steps that came before their job.
    early: Vec<(String, StepUsage)>,
    /// The cluster of all lines so far, where they name one.
    cluster: Option<Vec<u8>>,
    /// Whether all times so far are instants rather than local time, once there is one.
    instants: Option<bool>,
    /// How many lines there were, whatever they say.
    lines: usize,
}

impl Records {
    pub fn new(columns: Columns, strict: bool) -> Self {
        let dump = Dump {
            eligible: columns.has(Column::Eligible),
            has_memory: columns.has(Column::MaxRss),
            has_gres: [Column::AllocatedTres, Column::RequestedTres, Column::Gres]
                .iter()
                .any(|column| columns.has(*column)),
            ..Dump::default()
        };
        Self {
            columns,
            strict,
            dump,
            steps: Vec::new(),
            latest: BTreeMap::new(),
            early: Vec::new(),
            cluster: None,
            instants: None,
            lines: 0,
        }
    }

    /// Takes the line.
    pub fn add(&mut self, line: usize, text: &[u8]) -> Result<(), DumpError> {
        self.lines += 1;
        let taken = match self.columns.fields(text) {
            Ok(fields) => {
                self.refuse_other_cluster(line, &fields)?;
                self.take(line, &fields)
            }
            Err(what) => Err(what),
        };
        taken.or_else(|what| self.refuse(BadLine { line, what }))
    }

    /// Jobs of several clusters have the same ids, and ran on different machines.
    fn refuse_other_cluster(&mut self, line: usize, fields: &[&[u8]]) -> Result<(), DumpError> {
        let cluster = self.columns.field(fields, Column::Cluster);
        let id = self.columns.field(fields, Column::JobId);
        if cluster.is_empty() || identity(id).is_err() {
            return Ok(());
        }
        let first = self.cluster.get_or_insert_with(|| cluster.to_owned());
        if first.as_slice() == cluster {
            return Ok(());
        }
        let text = |name: &[u8]| shown(name).trim_matches('"').to_owned();
        Err(DumpError::Clusters {
            line,
            first: text(first),
            other: text(cluster),
        })
    }

    fn take(&mut self, line: usize, fields: &[&[u8]]) -> Result<(), String> {
        let id = self.columns.field(fields, Column::JobId);
        let (job, step) = identity(id)?;
        if let Some(step) = step {
            let times = self.times(fields)?;
            let step = self.step(fields, &times, step)?;
            match self.latest.get(job) {
                Some(run) => self.add_step(*run, step),
                None => self.early.push((job.to_owned(), step)),
            }
            return Ok(());
        }
        let found = self
            .times(fields)
            .and_then(|times| self.job(line, job, fields, &times));
        if found.is_err() {
            // The steps that follow are not those of an earlier run.
            self.latest.insert(job.to_owned(), None);
        }
        let run = match found? {
            SacctJobLine::Ran(run) => {
                self.dump.runs.push(run);
                self.steps.push(Vec::new());
                Some(self.dump.runs.len() - 1)
            }
            SacctJobLine::Unfinished => {
                add_jobs(&mut self.dump.unfinished, job);
                None
            }
            SacctJobLine::Endless => {
                add_jobs(&mut self.dump.endless, job);
                None
            }
            SacctJobLine::NeverRan => {
                add_jobs(&mut self.dump.never_ran, job);
                None
            }
        };
        self.latest.insert(job.to_owned(), run);
        Ok(())
    }

    /// The times of a line, which are instants if those of the lines before are, and local if those are.
    fn times(&mut self, fields: &[&[u8]]) -> Result<Times, String> {
        let mut of = |column, name| self.time(self.columns.field(fields, column), name);
        Ok(Times {
            submit: of(Column::Submit, "Submit")?,
            eligible: of(Column::Eligible, "Eligible")?,
            start: of(Column::Start, "Start")?,
            end: of(Column::End, "End")?,
        })
    }

    fn time(&mut self, field: &[u8], name: &str) -> Result<Option<Time>, String> {
        let time = fields::time(field, name)?;
        let is_instant = fields::is_instant(field);
        if time.is_none() || *self.instants.get_or_insert(is_instant) == is_instant {
            return Ok(time);
        }
        let (this, before) = match is_instant {
            true => (
                "is UNIX seconds or has an offset from UTC",
                "are local time",
            ),
            false => ("is local time", "are not"),
        };
        Err(format!(
            "{name} {this}, and times before it {before}; make the whole dump with SLURM_TIME_FORMAT=%s"
        ))
    }

    fn job(
        &mut self,
        line: usize,
        id: &str,
        fields: &[&[u8]],
        times: &Times,
    ) -> Result<SacctJobLine, String> {
        let field = |column| self.columns.field(fields, column);
        let state = field(Column::State);
        let state = SacctState::of(state).ok_or_else(|| format!("State is {}", shown(state)))?;
        let Times {
            submit,
            eligible,
            start,
            end,
        } = *times;
        let nodes = fields::nodes(field(Column::Nodes))?.unwrap_or(0);
        let cpus = fields::count(field(Column::Cpus), "NCPUS")?.unwrap_or(0);
        let requested = fields::requested_memory(field(Column::RequestedMemory))?;
        let allocated = fields::allocated_memory(field(Column::AllocatedTres))?;
        let cpu_time = fields::cpu_time(field(Column::TotalCpu))?;
        let limit = fields::time_limit(field(Column::TimeLimit));
        if let (true, Err(what)) = (self.strict, &limit) {
            return Err(what.clone());
        }
        let suspended = fields::suspended(field(Column::Suspended))?;
        let resident = self.measured_memory(fields, true)?;
        let end = match (end, start) {
            _ if state.is_unfinished() => return Ok(SacctJobLine::Unfinished),
            (Some(end), _) => end,
            (None, Some(_)) => return Ok(SacctJobLine::Endless),
            (None, None) => return Ok(SacctJobLine::NeverRan),
        };
        let Some(start) = start else {
            return Ok(SacctJobLine::NeverRan);
        };
        let nothing = start == end && (state.is(b"CANCELLED") || cpus == 0 || nodes == 0);
        if nothing || state.is(b"REVOKED") {
            return Ok(SacctJobLine::NeverRan);
        }
        let submit = submit.ok_or("Submit is unknown")?;
        in_order(submit, start, "Start is before Submit")?;
        in_order(start, end, "End is before Start")?;
        if !(1..=MAX_TASKS).contains(&nodes) || cpus < nodes {
            return Err(format!(
                "NNodes is {nodes} and NCPUS {cpus}; a job that ran had at least one of each, and a CPU on each node"
            ));
        }
        let limit = limit.unwrap_or_else(|what| {
            self.dump.invalid_limits.add(BadLine { line, what });
            None
        });
        Ok(SacctJobLine::Ran(SacctRun {
            line,
            id: id.to_owned(),
            submit: eligible
                .filter(|eligible| (submit..=start).contains(eligible))
                .unwrap_or(submit),
            start,
            end,
            suspended: suspended.min(end.since(start)),
            nodes,
            cpus,
            // ReqMem is for as few nodes as the job could have; it may have had more.
            requested: requested
                .map(|asked| allocated.map_or(asked, |bytes| (bytes, Per::Job)))
                .map(|(bytes, per)| per_node(bytes, per, nodes, cpus)),
            allocated: allocated
                .filter(|_| requested.is_none())
                .map(|bytes| per_node(bytes, Per::Job, nodes, cpus)),
            resident,
            cpu_time,
            limit,
            gres: self.generic(fields),
            gpus: self.gpus(fields, nodes),
            licenses: generic::licenses(field(Column::AllocatedTres))
                .or_else(|| generic::licenses(field(Column::RequestedTres))),
        }))
    }

    /// The first device of the line of a job.
    fn generic(&self, fields: &[&[u8]]) -> Option<Box<str>> {
        let field = |column| self.columns.field(fields, column);
        generic::of_tres(field(Column::AllocatedTres))
            .or_else(|| generic::of_tres(field(Column::RequestedTres)))
            .or_else(|| generic::of_gres(field(Column::Gres)))
    }

    /// How many GPUs the line of a job says. Whether the columns of Slurm 20.11 count those of one node or of all is not
    /// known: they say it of jobs on one node only.
    fn gpus(&self, fields: &[&[u8]], nodes: u32) -> Option<u32> {
        let field = |column| self.columns.field(fields, column);
        let (allocated, requested) = (field(Column::AllocatedTres), field(Column::RequestedTres));
        let tres = [allocated, requested];
        match tres
            .into_iter()
            .find(|text| generic::of_tres(text).is_some())
        {
            Some(text) => generic::gpus_of_tres(text),
            None => generic::gpus_of_gres(field(Column::Gres)).filter(|_| nodes == 1),
        }
    }

    fn step(&self, fields: &[&[u8]], times: &Times, name: &str) -> Result<StepUsage, String> {
        let field = |column| self.columns.field(fields, column);
        // Components of a step are called 0+0 and 0+1.
        let has_tasks = name
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'+');
        Ok(StepUsage {
            start: times.start,
            end: times.end,
            memory: self.measured_memory(fields, has_tasks)?,
            cpu_time: fields::cpu_time(field(Column::TotalCpu))?,
        })
    }

    /// The most memory that the tasks of a line had on a node; `has_tasks` unless it is of a step that has
    /// one process on each node.
    fn measured_memory(&self, fields: &[&[u8]], has_tasks: bool) -> Result<Option<Bytes>, String> {
        let field = |column| self.columns.field(fields, column);
        let largest = fields::max_rss(field(Column::MaxRss))?;
        let nodes = fields::nodes(field(Column::Nodes))?.unwrap_or(1);
        let cpus = fields::count(field(Column::Cpus), "NCPUS")?.unwrap_or(1);
        let tasks = fields::count(field(Column::Tasks), "NTasks")?.filter(|tasks| *tasks > 0);
        // Without a number of tasks the job is taken to have one per CPU: never too little memory.
        let tasks = tasks.unwrap_or(if has_tasks { cpus } else { nodes });
        let on_a_node = u64::from(tasks.div_ceil(nodes.max(1)).max(1));
        Ok(largest.map(|bytes| Bytes(bytes.0.saturating_mul(on_a_node))))
    }

    /// Takes the step of a job that is there, and if it ran, of this run.
    fn add_step(&mut self, run: Option<usize>, step: StepUsage) {
        self.dump.steps += 1;
        if let Some(run) = run {
            self.steps[run].push(step);
        }
    }

    fn refuse(&mut self, bad: BadLine) -> Result<(), DumpError> {
        if self.strict {
            return Err(DumpError::Strict(bad));
        }
        self.dump.bad_lines += 1;
        if self.dump.bad.len() < MAX_REPORTED {
            self.dump.bad.push(bad);
        }
        Ok(())
    }

    /// All lines are taken.
    pub fn finish(mut self) -> Result<Dump, DumpError> {
        for (job, step) in std::mem::take(&mut self.early) {
            match self.latest.get(&job) {
                Some(run) => self.add_step(*run, step),
                None => self.dump.stray_steps += 1,
            }
        }
        for (run, steps) in self.dump.runs.iter_mut().zip(&self.steps) {
            measure(run, steps);
            self.dump.components += usize::from(run.id.contains('+'));
        }
        self.number_repeated_runs()?;
        let mut dump = self.dump;
        dump.unix_time = self.instants == Some(true);
        dump.bad.sort_by_key(|bad| bad.line);
        if self.lines == 0 {
            return Err(DumpError::HeaderOnly);
        }
        if dump.runs.is_empty() {
            return Err(DumpError::Empty(dump.bad.into_iter().next()));
        }
        dump.runs.sort_by_key(|run| (run.submit, run.line));
        Ok(dump)
    }

    /// Runs of one job get ids of their own, in the order in which they started; a run that is there
    /// twice is left out once.
    fn number_repeated_runs(&mut self) -> Result<(), DumpError> {
        let mut runs = std::mem::take(&mut self.dump.runs);
        runs.sort_by(|one, other| {
            let of = |run: &SacctRun| (run.start, run.end, run.line);
            one.id.cmp(&other.id).then(of(one).cmp(&of(other)))
        });
        let mut kept: Vec<SacctRun> = Vec::with_capacity(runs.len());
        let (mut first, mut number) = (0, 1);
        for run in runs {
            let same_job = kept.get(first).is_some_and(|first| first.id == run.id);
            let before = kept.last();
            match before {
                Some(before) if same_job && (before.start, before.end) == (run.start, run.end) => {
                    let (line, earlier) = (run.line, before.line);
                    let what = format!("this run of job {} is on line {earlier} already", run.id);
                    self.refuse(BadLine { line, what })?;
                }
                Some(_) if same_job => {
                    number += 1;
                    self.dump.repeated += 1;
                    self.dump.overlapping +=
                        usize::from(before.is_some_and(|before| before.end > run.start));
                    kept.push(run);
                    if let Some(run) = kept.last_mut() {
                        run.id = format!("{}#{number}", run.id);
                    }
                }
                _ => {
                    first = kept.len();
                    number = 1;
                    kept.push(run);
                }
            }
        }
        self.dump.runs = kept;
        Ok(())
    }
}

/// Counts all jobs that the line with this id stands for.
fn add_jobs(count: &mut usize, id: &str) {
    *count = count.saturating_add(array_ids::number_of_jobs(id));
}

/// The job and, if the line is one of a step, the step's name.
fn identity(text: &[u8]) -> Result<(&str, Option<&str>), String> {
    let id = std::str::from_utf8(text)
        .ok()
        .filter(|id| id.len() <= MAX_ID_BYTES)
        .filter(|id| id.starts_with(|first: char| first.is_ascii_digit()))
        .filter(|id| {
            id.bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'"')
        })
        .ok_or_else(|| {
            format!(
                "JobID is {}, expected is for example 123, 123_4, 123+0 or 123.batch",
                shown(text)
            )
        })?;
    Ok(match id.split_once('.') {
        Some((job, step)) => (job, Some(step)),
        None => (id, None),
    })
}

fn in_order(earlier: Time, later: Time, what: &str) -> Result<(), String> {
    if earlier <= later {
        return Ok(());
    }
    Err(format!(
        "{what}; if local time went back an hour, make the dump with SLURM_TIME_FORMAT=%s"
    ))
}

fn per_node(bytes: Bytes, per: Per, nodes: u32, cpus: u32) -> Bytes {
    match per {
        Per::Job => Bytes(bytes.0.div_ceil(u64::from(nodes))),
        Per::Node => bytes,
        Per::Cpu => Bytes(bytes.0.saturating_mul(u64::from(cpus.div_ceil(nodes)))),
    }
}
