//! Jobs that use less than they requested, or wait for their tasks on other nodes: how fast they
//! are, and what decisions learn of it.

use std::collections::BTreeMap;

use dfrs_core::{
    Cores, GrantedYield, Interval, Job, JobId, Measured, Need, Progress, Rate, Span, Time, Yield,
    shares_of_requests, yields_of,
};
use dfrs_proto::journal::WriteError;

use super::World;
use crate::coupling::CouplingLoss;
use crate::journal::position;
use crate::outcome::JobRecord;
use crate::settings::{Needs, SimSettings};
use crate::trace::{Trace, TraceJob};

/// How long an interval of a measurement is.
const INTERVAL: Span = Span::from_seconds(10);
/// After this a job that is held back has its request: its node sees it, and slurmctld receives its
/// report.
const REACTION: Span = Span::from_seconds(2);
/// Cores that are none: yields are real numbers.
const ROUNDING: f64 = 1e-9;

/// What jobs do, and what is known of it.
pub(super) struct Uses {
    needs: Needs,
    loss: CouplingLoss,
    /// Of each job of the trace.
    jobs: Vec<JobUsage>,
    /// The requests of jobs that run and are taken to need less.
    requests: BTreeMap<JobId, Cores>,
}

/// One job.
struct JobUsage {
    request: Cores,
    runtime: Span,
    /// Parts of the request that it can use, by phase; its present phase.
    uses: Vec<f64>,
    phase: usize,
    /// How far the job is as decisions and time limits count it, which see shares and not what is
    /// done with them.
    counted: Progress,
    measured: Measured,
    /// The interval under way: since when, until when it is counted, part of the request times microseconds.
    since: Time,
    until: Time,
    used: f64,
    throttled: bool,
    /// Whether the job has a place, and this share of its request.
    runs: bool,
    share: f64,
    /// On how many nodes.
    nodes: u32,
    /// Since when it is held back although it may need more than it is taken to need.
    held_back: Option<Time>,
    held_back_total: Span,
    times: u32,
    longest: Span,
}

impl JobUsage {
    /// The use of a job that is submitted.
    fn of(job: &TraceJob, now: Time) -> Self {
        let uses = job.uses.iter();
        let uses = uses.map(|part| f64::from((*part).clamp(1, 100)) / 100.0);
        Self {
            request: job.cpu,
            runtime: job.runtime,
            uses: uses.collect(),
            phase: 0,
            counted: Progress::new(now, None),
            measured: Measured::new(job.cpu),
            since: now,
            until: now,
            used: 0.0,
            throttled: false,
            runs: false,
            share: 0.0,
            nodes: 1,
            held_back: None,
            held_back_total: Span::ZERO,
            times: 0,
            longest: Span::ZERO,
        }
    }

    /// The part of its request that it can use now.
    fn demand(&self) -> f64 {
        self.uses.get(self.phase).copied().unwrap_or(1.0)
    }

    /// The part of its request that it uses now.
    fn uses(&self) -> f64 {
        if self.runs {
            self.demand().min(self.share)
        } else {
            0.0
        }
    }

    fn is_throttled(&self) -> bool {
        self.runs && self.share < self.demand() - ROUNDING
    }

    /// What is done at the end of the present phase.
    fn work(&self) -> Span {
        let phases = i128::try_from(self.uses.len().max(1)).unwrap_or(i128::MAX);
        let ended = i128::try_from(self.phase + 1).unwrap_or(i128::MAX);
        let work = i128::from(self.runtime.0) * ended / phases;
        Span(i64::try_from(work).unwrap_or(i64::MAX))
    }

    /// How fast it is.
    fn rate(&self, loss: CouplingLoss) -> Rate {
        let share = (self.share / self.demand()).min(1.0);
        Rate::of(Yield(loss.speed(share, self.nodes)))
    }

    fn cores(&self, part: f64) -> Cores {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a node's CPU"
        )]
        Cores((part.max(0.0) * self.request.0 as f64).round() as u64)
    }

    fn is_settled(&self) -> bool {
        let used = self.cores(self.uses());
        !self.runs || self.measured.is_settled(used, self.is_throttled())
    }

    fn count(&mut self, now: Time) {
        let elapsed = now.since(self.until.max(self.since)).max(Span::ZERO);
        self.used += self.uses() * elapsed.seconds();
        self.throttled |= self.is_throttled() && elapsed > Span::ZERO;
        self.until = self.until.max(now);
    }

    fn begin_interval(&mut self, now: Time) {
        (self.since, self.until) = (now, now);
        (self.used, self.throttled) = (0.0, false);
    }

    /// What it does changes now, in this way.
    fn change(&mut self, now: Time, change: impl FnOnce(&mut Self)) {
        self.count(now);
        if self.is_settled() && self.since < now {
            self.begin_interval(now);
        }
        change(self);
        self.follow_held_back(now);
    }

    fn follow_held_back(&mut self, now: Time) {
        let is_held_back = self.is_throttled() && self.measured.need().is_less();
        match (self.held_back, is_held_back) {
            (None, true) => {
                self.held_back = Some(now);
                self.times += 1;
            }
            (Some(since), false) => {
                self.held_back_total += now - since;
                self.longest = self.longest.max(now - since);
                self.held_back = None;
            }
            _ => {}
        }
    }

    /// When it is next looked at.
    fn next(&self) -> Option<Time> {
        match self.held_back {
            Some(since) => Some(since + REACTION),
            None => (!self.is_settled()).then_some(self.since + INTERVAL),
        }
    }

    /// Looks at it, if it is time. Returns whether its need is another one.
    fn measure(&mut self, now: Time) -> bool {
        let is_due = self.runs && self.next().is_some_and(|next| next <= now);
        if !is_due || self.since >= now {
            return false;
        }
        self.count(now);
        let before = self.measured.need();
        let lasted = now.since(self.since);
        let part = self.used / lasted.seconds().max(1e-6);
        let interval = Interval {
            lasted,
            used: self.cores(part),
            throttled: self.throttled,
        };
        let after = self.measured.note(&interval);
        self.begin_interval(now);
        self.follow_held_back(now);
        before != after
    }
}

impl Uses {
    /// Returns `None` if yields alone determine the speed.
    pub(super) fn of(trace: &Trace, settings: &SimSettings) -> Option<Self> {
        let loss = settings.coupling_loss;
        let any = trace.jobs.iter().any(|job| !job.uses.is_empty());
        let jobs = trace.jobs.iter();
        (any || !loss.is_none()).then(|| Self {
            needs: settings.needs,
            loss,
            jobs: jobs.map(|job| JobUsage::of(job, job.submit)).collect(),
            requests: BTreeMap::new(),
        })
    }

    /// The job at this place is submitted. Returns the work of its first phase.
    pub(super) fn submit(&mut self, place: usize, job: &TraceJob, now: Time) -> Span {
        let used = JobUsage::of(job, now);
        let work = used.work();
        self.jobs[place] = used;
        work
    }

    /// A job ends.
    pub(super) fn end(&mut self, id: JobId, record: &mut JobRecord, now: Time) {
        self.requests.remove(&id);
        let used = &mut self.jobs[position(id)];
        used.change(now, |used| used.runs = false);
        record.held_back = used.held_back_total;
        record.times_held_back = used.times;
        record.longest_held_back = used.longest;
    }
}

impl World<'_> {
    /// Jobs that have done the work of a phase begin the next one.
    pub(super) fn begin_phases(&mut self, now: Time) {
        let Some(uses) = &mut self.uses else { return };
        let loss = uses.loss;
        for job in self.system.running() {
            let place = position(job.id);
            let (used, progress) = (&mut uses.jobs[place], &mut self.progress[place]);
            while progress.finish() == Some(now) && used.phase + 1 < used.uses.len() {
                used.change(now, |used| used.phase += 1);
                progress.set_rate(now, used.rate(loss));
                progress.set_work(Some(used.work()));
            }
        }
    }

    /// When the next job is looked at.
    pub(super) fn next_measurement(&self, now: Time) -> Option<Time> {
        let uses = self.uses.as_ref()?;
        if uses.needs == Needs::Requested {
            return None;
        }
        let running = self.system.running();
        let next = running.filter_map(|job| uses.jobs[position(job.id)].next());
        // A job that is not measured before has just begun.
        next.map(|at| at.max(Time(now.0 + 1))).min()
    }

    /// Measures what is due. Returns whether a need is another one.
    pub(super) fn measure(&mut self, now: Time) -> bool {
        let Some(uses) = &mut self.uses else {
            return false;
        };
        if uses.needs == Needs::Requested {
            return false;
        }
        let running = self.system.running().map(|job| job.id);
        let changed = running.filter(|id| uses.jobs[position(*id)].measure(now));
        let changed: Vec<JobId> = changed.collect();
        for id in &changed {
            let used = &uses.jobs[position(*id)];
            let need = used.measured.need();
            set_need(
                &mut self.system,
                &mut uses.requests,
                *id,
                used.request,
                need,
            );
        }
        !changed.is_empty()
    }

    /// Where a job gets another place, or gives up its own, it needs what it requested.
    pub(super) fn restart_measurement(&mut self, id: JobId) {
        let Some(uses) = &mut self.uses else { return };
        let used = &mut uses.jobs[position(id)];
        used.measured = Measured::new(used.request);
        set_need(
            &mut self.system,
            &mut uses.requests,
            id,
            used.request,
            Need::WHOLE,
        );
    }

    /// The job gets a place, and begins there after this.
    pub(super) fn place_uses(&mut self, now: Time, job: &Job, stall: Span) {
        let Some(uses) = &mut self.uses else { return };
        let used = &mut uses.jobs[position(job.id)];
        used.change(now, |used| used.runs = true);
        used.nodes = nodes(job);
        used.counted.place(now, stall);
        used.begin_interval(now + stall);
    }

    /// The job gives up its place, and perhaps its work.
    pub(super) fn pause_uses(&mut self, now: Time, job: &Job, lost: bool) {
        let Some(uses) = &mut self.uses else { return };
        let used = &mut uses.jobs[position(job.id)];
        used.change(now, |used| used.runs = false);
        used.counted.pause(now);
        if lost {
            used.counted.lose();
            used.phase = 0;
            self.progress[position(job.id)].set_work(Some(used.work()));
        }
    }

    /// All shares, from where jobs are and what is known of their needs.
    pub(super) fn share_measured(&mut self, now: Time) -> Result<(), WriteError> {
        let Some(uses) = &mut self.uses else {
            return Ok(());
        };
        let loss = uses.loss;
        let cluster = self.system.cluster();
        let yields = yields_of(&self.policy, cluster, now);
        for met in shares_of_requests(cluster, &yields, &uses.requests) {
            let place = position(met.job);
            let used = &mut uses.jobs[place];
            let GrantedYield {
                of_request,
                of_need,
                ..
            } = met;
            let share = Rate::of(of_request).share().0;
            let starts = self.outcome.jobs[place].start == now;
            if starts || share != used.share {
                self.journal.share(now, met.job, share)?;
            }
            used.change(now, |used| used.share = share);
            used.counted.set_rate(now, Rate::of(of_need));
            self.progress[place].set_rate(now, used.rate(loss));
        }
        Ok(())
    }
}

/// How far a job is, as decisions count it: as it makes progress, or, where jobs use less than they
/// requested, by shares alone.
pub(super) fn counted(
    progress: &mut [Progress],
    uses: Option<&mut Uses>,
    id: JobId,
    now: Time,
) -> Span {
    let place = position(id);
    uses.map_or(&mut progress[place], |uses| &mut uses.jobs[place].counted)
        .virtual_time(now)
}

/// On how many nodes it has tasks.
fn nodes(job: &Job) -> u32 {
    let nodes = job.running_on().map_or(0, |mapping| mapping.iter().count());
    u32::try_from(nodes).unwrap_or(u32::MAX)
}

/// Decisions count the job with this need of its request from now on.
fn set_need(
    system: &mut dfrs_core::Roster,
    requests: &mut BTreeMap<JobId, Cores>,
    id: JobId,
    request: Cores,
    need: Need,
) {
    if need.is_less() {
        requests.insert(id, request);
    } else if requests.remove(&id).is_none() {
        return;
    }
    if let Some(job) = system.job(id) {
        let cpu = need.of(request);
        system.insert(Job { cpu, ..job.clone() });
    }
}
