//! What jobs used, cut into intervals in which nothing was changed for them.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dfrs_node_proto::report::{IntervalEnd, Measurement};

use crate::Now;
use crate::cgroup::{CpuUse, MemoryUse};

/// What was in force for a job; a change ends an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Promised fraction of the capacity.
    pub share: Option<f64>,
    /// The cap in the kernel, in cores.
    pub cap_cores: Option<f64>,
    /// Cores that shares are taken of.
    pub capacity_cores: f64,
    /// The job is to be frozen.
    pub frozen: bool,
}

/// One interval of one job, under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Meter {
    setting: Setting,
    started: Now,
    first: CpuUse,
    latest: CpuUse,
    latest_at: Now,
}

impl Meter {
    /// An interval that begins `now`; none if the kernel does not report the CPU time.
    pub fn start(setting: Setting, now: Now, cpu: CpuUse) -> Option<Meter> {
        cpu.used_seconds?;
        Some(Meter {
            setting,
            started: now,
            first: cpu,
            latest: cpu,
            latest_at: now,
        })
    }

    /// Takes a reading. One that lacks the CPU time (the job is just ending) changes nothing.
    pub fn read(&mut self, now: Now, cpu: CpuUse) {
        if cpu.used_seconds.is_some() {
            self.latest = cpu;
            self.latest_at = now;
        }
    }

    /// Whether the interval has to end: the setting is another, or it has lasted for `period`.
    pub fn ends(&self, setting: &Setting, now: Now, period: Duration) -> Option<IntervalEnd> {
        if *setting != self.setting {
            return Some(IntervalEnd::Change);
        }
        let lasted = now.monotonic.saturating_sub(self.started.monotonic);
        (lasted >= period).then_some(IntervalEnd::Period)
    }

    /// The interval up to the latest reading. Its length is by the monotonic clock, so a step of the
    /// wall clock does not falsify a share.
    pub fn finish(
        &self,
        node: &str,
        job: u32,
        memory: MemoryUse,
        reason: IntervalEnd,
    ) -> Measurement {
        let lasted = self
            .latest_at
            .monotonic
            .saturating_sub(self.started.monotonic)
            .as_secs_f64();
        let used = difference(self.latest.used_seconds, self.first.used_seconds);
        Measurement {
            node: node.to_string(),
            job,
            start: self.started.unix,
            end: self.started.unix + lasted,
            reason,
            share: self.setting.share,
            cap_cores: self.setting.cap_cores,
            capacity_cores: self.setting.capacity_cores,
            frozen: self.setting.frozen,
            cpu_seconds: used.unwrap_or(0.0),
            throttled_seconds: difference(
                self.latest.throttled_seconds,
                self.first.throttled_seconds,
            ),
            resident_bytes: memory.resident_bytes,
            swap_bytes: memory.swapped_bytes,
        }
    }
}

/// A counter that began within the interval (a v1 cap was just made) began at 0.
fn difference(latest: Option<f64>, first: Option<f64>) -> Option<f64> {
    latest.map(|latest| (latest - first.unwrap_or(0.0)).max(0.0))
}

/// The file to which measurements are appended, if there is one.
#[derive(Debug, Default)]
pub struct MeasurementFile {
    open: Option<(PathBuf, File)>,
    /// Whether its last line may have been written in part: the next one does not go on there.
    is_torn: bool,
}

impl MeasurementFile {
    /// Appends to `path`, which is made if need be; without a path measurements go nowhere.
    ///
    /// # Errors
    ///
    /// One line, if the file cannot be opened.
    pub fn open(path: Option<&Path>) -> Result<MeasurementFile, String> {
        let Some(path) = path else {
            return Ok(MeasurementFile::default());
        };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o640)
            .open(path)
            .map_err(|error| format!("cannot open measurement file {}: {error}", path.display()))?;
        Ok(MeasurementFile {
            open: Some((path.to_path_buf(), file)),
            is_torn: false,
        })
    }

    /// Appends one line, in one write, so that a reader never sees half of it.
    ///
    /// # Errors
    ///
    /// One line, if it cannot be written.
    pub fn append(&mut self, measurement: &Measurement) -> Result<(), String> {
        let Some((path, file)) = &mut self.open else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(measurement).map_err(|error| error.to_string())?;
        line.push(b'\n');
        if std::mem::take(&mut self.is_torn) {
            line.insert(0, b'\n');
        }
        file.write_all(&line).map_err(|error| {
            self.is_torn = true;
            format!("cannot write {}: {error}", path.display())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    const SETTING: Setting = Setting {
        share: Some(0.25),
        cap_cores: Some(0.5),
        capacity_cores: 2.0,
        frozen: false,
    };

    fn at(seconds: u64) -> Now {
        Now {
            monotonic: Duration::from_secs(seconds),
            unix: 1000.0 + seconds as f64,
        }
    }

    fn cpu(used: f64, throttled: Option<f64>) -> CpuUse {
        CpuUse {
            used_seconds: Some(used),
            throttled_seconds: throttled,
        }
    }

    #[test]
    fn an_interval_is_the_difference_of_two_readings() {
        let mut meter = Meter::start(SETTING, at(1), cpu(10.0, None)).unwrap();
        meter.read(at(5), cpu(12.0, Some(3.0)));
        meter.read(at(6), CpuUse::default());
        let memory = MemoryUse {
            resident_bytes: Some(7),
            swapped_bytes: None,
        };
        let measured = meter.finish("n1", 17, memory, IntervalEnd::End);
        assert_eq!((measured.start, measured.end), (1001.0, 1005.0));
        assert_eq!(
            (measured.cpu_seconds, measured.throttled_seconds),
            (2.0, Some(3.0))
        );
        assert_eq!(measured.measured_share(), Some(0.25));
        assert_eq!(measured.resident_bytes, Some(7));
    }

    #[test]
    fn interval_ends_after_its_period_or_a_change() {
        let meter = Meter::start(SETTING, at(0), cpu(0.0, None)).unwrap();
        let period = Duration::from_secs(10);
        assert_eq!(meter.ends(&SETTING, at(9), period), None);
        assert_eq!(
            meter.ends(&SETTING, at(10), period),
            Some(IntervalEnd::Period)
        );
        let frozen = Setting {
            frozen: true,
            ..SETTING
        };
        assert_eq!(
            meter.ends(&frozen, at(1), period),
            Some(IntervalEnd::Change)
        );
    }

    #[test]
    fn without_cpu_accounting_nothing_is_invented() {
        assert_eq!(Meter::start(SETTING, at(0), CpuUse::default()), None);
    }

    #[test]
    fn lines_are_appended() {
        let scratch = Scratch::new();
        let path = scratch.path().join("measurements");
        let measured = Meter::start(SETTING, at(0), cpu(0.0, None))
            .unwrap()
            .finish("n1", 17, MemoryUse::default(), IntervalEnd::Stop);
        for _ in 0..2 {
            MeasurementFile::open(Some(&path))
                .unwrap()
                .append(&measured)
                .unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(
            serde_json::from_str::<Measurement>(text.lines().next().unwrap()).unwrap(),
            measured
        );
        let error = MeasurementFile::open(Some(scratch.path())).unwrap_err();
        assert!(error.contains("measurement file"), "{error}");
    }
}
