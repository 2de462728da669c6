//! What jobs used, and what they need.

use super::*;

impl Reconciler {
    pub(super) fn measure(
        &mut self,
        job: &mut Job,
        directory: &JobDirectory,
        cap: Option<Quota>,
        now: Now,
    ) {
        let setting = Setting {
            share: job.share.map(|share| share.fraction()),
            cap_cores: cap.map(Quota::cores),
            capacity_cores: self.capacity,
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

    /// What the job needs, if that is asked and it runs; who comes back, or asked for something else, is
    /// measured anew.
    pub(super) fn follow_need(&mut self, job: &mut Job, reading: CpuUse, now: Now) {
        let request = job.request.filter(|_| !job.frozen);
        let request = request.map(|share| cores(share.fraction() * self.capacity));
        let is_same = |meter: &NeedMeter| Some(meter.request()) == request;
        match &mut job.needs {
            Some(meter) if is_same(meter) => meter.read(now.monotonic, reading, job.capped),
            needs => {
                *needs =
                    request.and_then(|request| NeedMeter::start(request, now.monotonic, reading));
            }
        }
        self.say_need(job);
    }

    pub(super) fn say_need(&mut self, job: &mut Job) {
        let (before, need) = (job.said_need, job.need());
        if before == need {
            return;
        }
        let said = self.facts.set_need(job.id, before, need);
        if self.complaints.check(job.subject("need"), said).is_some() {
            job.said_need = need;
        }
    }

    /// Whether there is a job to ask about.
    pub(super) fn say_news_of_needs(&mut self) {
        let news = self.jobs.values().map(Job::has_news_of_need);
        let news = news.fold((false, false), |all, one| (all.0 | one.0, all.1 | one.1));
        if news == self.news_of_needs {
            return;
        }
        let said = self.facts.set_news_of_needs(news.0, news.1);
        if self.complaints.check("news of needs", said).is_some() {
            self.news_of_needs = news;
        }
    }

    pub(super) fn read_meter(&self, job: &mut Job, directory: &JobDirectory, now: Now) {
        if let Some(meter) = &mut job.meter {
            meter.read(now, self.cgroups.cpu_use(directory));
        }
    }

    pub(super) fn end_interval(&mut self, job: &mut Job, memory: MemoryUse, reason: IntervalEnd) {
        if let Some(meter) = job.meter.take() {
            let measurement = meter.finish(&self.settings.node, job.id, memory, reason);
            self.complaints
                .check("measurements", self.measurements.append(&measurement));
        }
    }
}
