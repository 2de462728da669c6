//! `dfrs exporter`: the status file as metrics for Prometheus.

mod metrics;
mod server;
#[cfg(test)]
mod tests;
mod textfile;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use dfrs_proto::status::Status;

use crate::report::Outcome;
use crate::status;

/// Serves what the status file says as metrics for Prometheus (OpenMetrics), over HTTP.
///
/// The metrics are at /metrics; /healthz says whether the exporter itself runs. There is neither encryption
/// nor a password: leave it on the loopback address, or put a proxy before it. With --once they are printed
/// in Prometheus's older text format, for node_exporter's textfile collector. A status file that cannot be
/// read is a metric, too: dfrs_status_readable is 0 then.
#[derive(Args)]
pub struct Arguments {
    /// The status file, or its directory; by default what dfrs.conf and slurm.conf in SLURM_CONF's directory
    /// or /etc/slurm say
    file: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9817")]
    listen: SocketAddr,
    /// Print the metrics and end
    #[arg(long, conflicts_with = "listen")]
    once: bool,
}

/// Prints, or serves until it is ended.
pub fn run(arguments: &Arguments) -> Outcome {
    let told = status::place::find(arguments.file.as_deref()).and_then(|path| {
        if arguments.once {
            return Ok(textfile::of(&exposition(&path)));
        }
        server::serve(arguments.listen, &path).map(|()| String::new())
    });
    Outcome::of(told.map(|output| (output, String::new())))
}

/// The metrics of now, in OpenMetrics' text format.
fn exposition(path: &Path) -> String {
    metrics::encoded(read(path).as_ref().ok(), status::now())
}

fn read(path: &Path) -> Result<Status, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    status::parse(&text, path)
}
