//! What jobs used, and what they need.

use super::*;

impl Reconciler {
    pub(super) fn measure(
        &mut self,
        job: &mut NodeJob,
        directory: &JobDirectory,
        cap: Option<Quota>,
        now: Now,
    ) {
        let setting = Setting {
            share: job.share.map(|share| share.fraction()),
            cap_cores: cap.map(Quota::cores),
            capacity_cores: self.capacity_cores,
            frozen: job.frozen,
        };
        let reading = self.cgroups.cpu_use(directory);
        if let Some(meter) = &mut job.meter {
            meter.read(now, reading);
        }
        self.follow_need(job, reading, now);
        let period = self.settings.measure_period;
        if let Some(reason) = job
            .meter
            .as_ref()
            .and_then(|meter| meter.ends(&setting, now, period))
        {
            self.end_interval(job, self.cgroups.memory_use(directory), reason);
        }
        if job.meter.is_none() {
            job.meter = Meter::start(setting, now, reading);
        }
    }

    /// What the job needs, if that is requested and it runs; a job that comes back, or that
    /// requests something else, is measured from the start.
    pub(super) fn follow_need(&mut self, job: &mut NodeJob, reading: CpuUse, now: Now) {
        let request = job.request.filter(|_| !job.frozen);
        let request = request.map(|share| cores(share.fraction() * self.capacity_cores));
        let is_same = |meter: &NeedMeter| Some(meter.request()) == request;
        match &mut job.needs {
            Some(meter) if is_same(meter) => meter.read(now.monotonic, reading, job.capped),
            needs => {
                *needs =
                    request.and_then(|request| NeedMeter::start(request, now.monotonic, reading));
            }
        }
        self.report_need(job);
    }

    pub(super) fn report_need(&mut self, job: &mut NodeJob) {
        let (before, need) = (job.reported_need, job.need());
        if before == need {
            return;
        }
        let result = self.facts.set_need(job.id, before, need);
        if self.warnings.check(job.subject("need"), result).is_some() {
            job.reported_need = need;
        }
    }

    /// Whether there is a job to query.
    pub(super) fn report_need_changes(&mut self) {
        let news = self.jobs.values().map(NodeJob::need_changes);
        let news = news.fold((false, false), |all, one| (all.0 | one.0, all.1 | one.1));
        if news == self.reported_need_changes {
            return;
        }
        let result = self.facts.set_need_changes(news.0, news.1);
        if self.warnings.check("reported needs", result).is_some() {
            self.reported_need_changes = news;
        }
    }

    pub(super) fn read_meter(&self, job: &mut NodeJob, directory: &JobDirectory, now: Now) {
        if let Some(meter) = &mut job.meter {
            meter.read(now, self.cgroups.cpu_use(directory));
        }
    }

    pub(super) fn end_interval(
        &mut self,
        job: &mut NodeJob,
        memory: MemoryUse,
        reason: IntervalEnd,
    ) {
        if let Some(meter) = job.meter.take() {
            let measurement = meter.finish(&self.settings.node, job.id, memory, reason);
            self.warnings
                .check("measurements", self.measurements.append(&measurement));
        }
    }
}
