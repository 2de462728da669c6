//! Talking to a running daemon: status, and messages by hand.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dfrs_node_proto::framing::Frame;
use dfrs_node_proto::report::{JobStatus, NodeStatus};
use dfrs_proto::message::{MAX_MESSAGE_BYTES, Message};

use crate::options::Address;

/// How long a daemon may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests from the daemon what it enforces.
///
/// # Errors
///
/// One line, if there is no daemon, it refuses, or its answer is not understood.
pub fn status(address: &Address) -> Result<NodeStatus, String> {
    let socket = address.socket();
    let failed = |error: String| format!("no status from {}: {error}", socket.display());
    let request = Message::Status
        .encode()
        .map_err(|error| failed(error.to_string()))?;
    let mut stream = deliver(&socket, request)?;
    let answer = Frame::read_from(&mut stream)
        .map_err(|error| failed(format!("{error} (only root and SlurmUser are answered)")))?;
    serde_json::from_slice(&answer.data).map_err(|error| failed(error.to_string()))
}

/// Sends the message in `file`, or from standard input, after checking it.
///
/// # Errors
///
/// One line, if it cannot be read, is no message, or cannot be delivered.
pub fn send(address: &Address, file: Option<&PathBuf>) -> Result<(), String> {
    let source = file.map_or("standard input".to_string(), |file| {
        file.display().to_string()
    });
    let bytes = read_all(file).map_err(|error| format!("cannot read {source}: {error}"))?;
    Message::decode(&bytes).map_err(|error| format!("{source}: {error}"))?;
    deliver(&address.socket(), bytes).map(|_| ())
}

fn read_all(file: Option<&PathBuf>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = MAX_MESSAGE_BYTES as u64 + 1;
    match file {
        Some(file) => std::fs::File::open(file)?
            .take(limit)
            .read_to_end(&mut bytes)?,
        None => std::io::stdin().take(limit).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

fn deliver(socket: &Path, data: Vec<u8>) -> Result<UnixStream, String> {
    let failed = |error: String| format!("cannot talk to dfrsd at {}: {error}", socket.display());
    let mut stream = UnixStream::connect(socket).map_err(|error| failed(error.to_string()))?;
    let timeouts = stream
        .set_read_timeout(Some(ANSWER_TIMEOUT))
        .and(stream.set_write_timeout(Some(ANSWER_TIMEOUT)));
    timeouts.map_err(|error| failed(error.to_string()))?;
    let frame = Frame {
        uid: rustix::process::geteuid().as_raw(),
        data,
    };
    frame
        .write_to(&mut stream)
        .map_err(|error| failed(error.to_string()))?;
    Ok(stream)
}

/// The status as a table, and what is wrong.
pub fn table(status: &NodeStatus) -> String {
    let mut text = headline(status);
    text.push_str(&jobs(status));
    for trouble in &status.troubles {
        let _ = writeln!(text, "trouble: {trouble}");
    }
    text
}

fn jobs(status: &NodeStatus) -> String {
    let mut text = String::new();
    if status.jobs.is_empty() {
        return text + "no jobs\n";
    }
    let _ = writeln!(
        text,
        "{:>10} {:>7} {:>9} {:<8} {:>10} {:>12} {:>9} {:>9} {:>5}",
        "JOB", "SHARE", "CAP/CORES", "STATE", "CPU/S", "THROTTLED/S", "RAM/MIB", "SWAP/MIB", "NEED"
    );
    for job in &status.jobs {
        text.push_str(&row(job));
    }
    text
}

fn headline(status: &NodeStatus) -> String {
    let orders = match (
        status.generation,
        status.heard_seconds_ago,
        status.time_to_live,
    ) {
        (Some(generation), Some(ago), Some(limit)) => {
            format!("generation {generation} received {ago:.1} s ago, valid for {limit} s")
        }
        _ => "no orders received yet".to_string(),
    };
    let open = if status.failed_open {
        ", ALL CAPS LIFTED: no valid orders from slurmctld for too long"
    } else {
        ""
    };
    format!(
        "node {} (cgroup {}): {:.2} cores for jobs, {} MiB swap; {orders}{open}\n",
        status.node,
        status.cgroup,
        status.capacity_cores,
        status.swap_bytes >> 20
    )
}

fn row(job: &JobStatus) -> String {
    let state = match (job.present, job.parked, job.frozen) {
        (false, _, _) => "absent",
        (_, true, _) => "parked",
        (_, _, true) => "freezing",
        _ => "running",
    };
    let number = |value: Option<f64>, digits: usize| match value {
        Some(value) => format!("{value:.digits$}"),
        None => "-".to_string(),
    };
    let mebibytes = |bytes: Option<u64>| number(bytes.map(|bytes| bytes as f64 / 1_048_576.0), 1);
    format!(
        "{:>10} {:>7} {:>9} {:<8} {:>10} {:>12} {:>9} {:>9} {:>5}\n",
        job.id,
        number(job.share, 3),
        number(job.cap_cores, 3),
        state,
        number(job.cpu_seconds, 2),
        number(job.throttled_seconds, 2),
        mebibytes(job.resident_bytes),
        mebibytes(job.swap_bytes),
        job.need
            .map_or("-".into(), |eighths| format!("{eighths}/8"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_with(jobs: Vec<JobStatus>) -> NodeStatus {
        NodeStatus {
            v: 1,
            software: None,
            node: "n1".into(),
            cgroup: "v2".into(),
            generation: Some(5),
            heard_seconds_ago: Some(1.25),
            time_to_live: Some(60),
            failed_open: false,
            capacity_cores: 2.0,
            slurm_cpus: Some(2),
            swap_bytes: 512 << 20,
            jobs,
            troubles: Vec::new(),
        }
    }

    #[test]
    fn table_shows_a_dash_for_unknown_values() {
        let job = JobStatus {
            id: 17,
            share: Some(0.25),
            cap_cores: Some(0.5),
            present: true,
            frozen: false,
            parked: false,
            cpu_seconds: Some(12.345),
            throttled_seconds: None,
            resident_bytes: Some(3 << 19),
            swap_bytes: Some(0),
            need: Some(3),
            limit_bytes: None,
        };
        let text = table(&status_with(vec![job]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "node n1 (cgroup v2): 2.00 cores for jobs, 512 MiB swap; generation 5 received 1.2 s ago, valid for 60 s"
        );
        let fields: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(
            fields,
            [
                "17", "0.250", "0.500", "running", "12.35", "-", "1.5", "0.0", "3/8"
            ]
        );
        assert_eq!(lines[1].split_whitespace().count(), fields.len());
    }

    #[test]
    fn troubles_are_shown_below_the_jobs() {
        let status = NodeStatus {
            troubles: vec!["swap: there is none".into()],
            ..status_with(vec![])
        };
        assert!(table(&status).ends_with("no jobs\ntrouble: swap: there is none\n"));
    }

    #[test]
    fn table_of_an_idle_node_shows_no_jobs() {
        assert!(table(&status_with(vec![])).ends_with("no jobs\n"));
    }

    #[test]
    fn missing_socket_is_a_one_line_error() {
        let address = Address {
            node: Some("n1".into()),
            socket_dir: "/no/such/directory".into(),
        };
        let error = status(&address).unwrap_err();
        assert!(
            error.contains("/no/such/directory/n1/dfrsd.sock") && !error.contains('\n'),
            "{error}"
        );
    }
}
