//! What a node daemon says about itself: its status, and its measurements.
//!
//! Readers ignore fields that they do not know; a field is never given another meaning.

use serde::{Deserialize, Serialize};

/// What one daemon enforces at this moment; the answer to [`dfrs_proto::message::Message::Status`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Version of this record, [`dfrs_proto::message::VERSION`].
    pub v: u32,
    /// slurm-dfrs's version; none from one that did not say it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Slurm's name of the node.
    pub node: String,
    /// `v1` or `v2`.
    pub cgroup: String,
    /// Generation of the state that is enforced; none before the first message.
    pub generation: Option<u64>,
    /// Seconds since the last state for this node was received; none before the first.
    pub heard_seconds_ago: Option<f64>,
    /// Seconds for which that state is valid.
    pub time_to_live: Option<u32>,
    /// The state expired: caps are lifted until a new one comes.
    pub failed_open: bool,
    /// CPU capacity in cores that shares are taken of.
    pub capacity_cores: f64,
    /// CPUs that Slurm counts, as the last message says.
    pub slurm_cpus: Option<u32>,
    /// Swap of the node in bytes; 0: no job can be parked here.
    pub swap_bytes: u64,
    /// Jobs named by the state, and jobs of which the node still holds something; by id.
    pub jobs: Vec<JobStatus>,
    /// What is wrong, as the log says it, as long as it is so: one line each, subject first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// A job on a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobStatus {
    /// Slurm's job id.
    pub id: u32,
    /// Promised fraction of the capacity; none if the job is uncapped.
    pub share: Option<f64>,
    /// The cap in the kernel, in cores; none if there is none (yet).
    pub cap_cores: Option<f64>,
    /// The job's cgroup was found.
    pub present: bool,
    /// The job is to be frozen by the plugin's orders.
    pub frozen: bool,
    /// The job is frozen and its memory was reclaimed.
    pub parked: bool,
    /// CPU time used so far, in seconds; none if it cannot be read.
    pub cpu_seconds: Option<f64>,
    /// Time for which it was held back by its cap so far, in seconds summed over its CPUs.
    pub throttled_seconds: Option<f64>,
    /// Memory in RAM, in bytes.
    pub resident_bytes: Option<u64>,
    /// Memory in swap, in bytes.
    pub swap_bytes: Option<u64>,
    /// Eighths of its request that the job needs here; none if that is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<u8>,
    /// While it is parked, the memory limit in bytes that holds it to what stays in RAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
}

/// Why a [`Measurement`] ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntervalEnd {
    /// The job's share or frozen state changed, or its cap was lifted.
    Change,
    /// The interval lasted as long as one may.
    Period,
    /// The job's cgroup is gone.
    End,
    /// The daemon stops.
    Stop,
}

/// What a job used in an interval in which nothing changed; one line of a measurement file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Slurm's name of the node.
    pub node: String,
    /// Slurm's job id.
    pub job: u32,
    /// UNIX time in seconds at which the interval began.
    pub start: f64,
    /// UNIX time in seconds of its end.
    pub end: f64,
    /// Why it ended.
    pub reason: IntervalEnd,
    /// Promised fraction of the capacity; none: the job was not capped.
    pub share: Option<f64>,
    /// The cap in cores that was in the kernel; none: none.
    pub cap_cores: Option<f64>,
    /// Cores that shares are taken of.
    pub capacity_cores: f64,
    /// The job was frozen.
    pub frozen: bool,
    /// CPU seconds used in the interval, by the kernel's accounting.
    pub cpu_seconds: f64,
    /// Seconds in which the cap held it back, summed over CPUs; none if the kernel does not say.
    pub throttled_seconds: Option<f64>,
    /// Bytes in RAM at the end of the interval.
    pub resident_bytes: Option<u64>,
    /// Bytes in swap at the end of the interval.
    pub swap_bytes: Option<u64>,
}

impl Measurement {
    /// Fraction of the capacity that was used; none for an empty interval.
    pub fn measured_share(&self) -> Option<f64> {
        let available = (self.end - self.start) * self.capacity_cores;
        (available > 0.0).then(|| self.cpu_seconds / available)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = concat!(
        r#"{"node":"n1","job":17,"start":100.0,"end":110.0,"reason":"change","share":0.25,"cap_cores":0.5,"#,
        r#""capacity_cores":2.0,"frozen":false,"cpu_seconds":4.0,"throttled_seconds":null,"#,
        r#""resident_bytes":1048576,"swap_bytes":0}"#
    );

    #[test]
    fn golden_measurement_both_ways() {
        let measurement: Measurement = serde_json::from_str(GOLDEN).unwrap();
        assert_eq!(serde_json::to_string(&measurement).unwrap(), GOLDEN);
        assert_eq!(measurement.measured_share(), Some(0.2));
    }

    #[test]
    fn an_empty_interval_has_no_share() {
        let mut measurement: Measurement = serde_json::from_str(GOLDEN).unwrap();
        measurement.end = measurement.start;
        assert_eq!(measurement.measured_share(), None);
    }
}
