//! `dfrs explain`: what the running plugin knows of one job.

#[cfg(test)]
mod tests;
mod text;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use dfrs_proto::explain::{ExplainRequest, ExplainResponse, MAX_RESPONSE_BYTES, SOCKET, VERSION};

use crate::report::CommandOutcome;
use crate::status::paths;

/// How long the plugin may take: longer than it takes to say that it is busy.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(20);
/// Exit code: the plugin answers, but not about this job.
const REFUSED: u8 = 1;

/// Says what a job gets and why: where it is, its share of the CPU, why it waits or was paused.
///
/// Queries the running plugin, on the host of slurmctld. Users see their own jobs, root and
/// SlurmUser all. Exit code 0: the job is explained. 1: there is no such job of yours. 2: the
/// plugin does not answer.
#[derive(Args)]
pub struct ExplainArguments {
    /// Slurm's job id, as 17; a task of an array as 17_3
    job: JobArg,
    /// The directory of the plugin's socket, by default that of the status file (see dfrs status)
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// Print one object
    #[arg(long)]
    json: bool,
}

/// A job, or a task of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JobArg {
    id: u32,
    task: Option<u32>,
}

impl FromStr for JobArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, task) = match text.split_once('_') {
            Some((id, task)) => (id, Some(task.parse())),
            None => (text, None),
        };
        match (id.parse(), task.transpose()) {
            (Ok(id), Ok(task)) => Ok(Self { id, task }),
            _ => Err("allowed: a job id as 17, or 17_3 for a task of an array".to_owned()),
        }
    }
}

/// Queries the plugin and prints its answer.
pub fn run(arguments: &ExplainArguments) -> Result<CommandOutcome, String> {
    let path = paths::find(arguments.directory.as_deref())?.with_file_name(SOCKET);
    let query = ExplainRequest {
        version: VERSION,
        job: arguments.job.id,
        task: arguments.job.task,
    };
    let in_file = |problem| format!("{}: {problem}", path.display());
    let line = request(&path, &query).map_err(in_file)?;
    let answer: ExplainResponse = serde_json::from_slice(&line).map_err(|error| {
        in_file(format!(
            "unreadable answer: {error}; use the dfrs that came with the plugin"
        ))
    })?;
    Ok(match answer {
        ExplainResponse::Job(job) if arguments.json => {
            (serde_json::to_string(&job).unwrap_or_default() + "\n").into()
        }
        ExplainResponse::Job(job) => text::of(&job).into(),
        ExplainResponse::Refused(why) => {
            let error = format!("dfrs: job {}: {why}", shown(arguments.job));
            CommandOutcome::failed(error, REFUSED)
        }
    })
}

fn shown(job: JobArg) -> String {
    let task = job.task.map(|task| format!("_{task}"));
    format!("{}{}", job.id, task.unwrap_or_default())
}

fn request(path: &Path, query: &ExplainRequest) -> Result<Vec<u8>, String> {
    let hint = "does slurmctld run DFRS on this host, and may you reach that directory? (StatusDirectory in dfrs.conf)";
    let stream = UnixStream::connect(path).map_err(|error| format!("{error}; {hint}"))?;
    let exchange = || {
        stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
        stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
        let mut line = serde_json::to_vec(query)?;
        line.push(b'\n');
        (&stream).write_all(&line)?;
        let mut answer = Vec::new();
        (&stream)
            .take(MAX_RESPONSE_BYTES as u64)
            .read_to_end(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer =
        exchange().map_err(|error| format!("{error}; perhaps too many requests: try again"))?;
    if answer.is_empty() {
        return Err("closed at once: too many requests, try again".to_owned());
    }
    Ok(answer)
}
