//! `dfrs exporter`: the status file, or what a node's dfrsd says, as metrics for Prometheus.

mod connections;
mod metrics;
mod node;
mod server;
#[cfg(test)]
mod tests;
mod textfile;
mod writer;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::doctor::host::{Host, LocalHost, query_dfrsd};
use crate::status;

/// Serves what the status file says as metrics for Prometheus (OpenMetrics), over HTTP.
///
/// The metrics are at /metrics; /healthz says whether the exporter itself runs. There is neither encryption
/// nor a password: leave it on the loopback address, or put a proxy before it. With --once they are printed
/// in Prometheus's older text format, for node_exporter's textfile collector. A status file that cannot be
/// read is a metric, too: dfrs_status_readable is 0 then.
///
/// With --node the metrics are about a node, and come from the dfrsd there: run it there as root or
/// SlurmUser.
#[derive(Args)]
pub struct ExporterArguments {
    /// The status file, or its directory; by default what dfrs.conf and slurm.conf in SLURM_CONF's directory
    /// or /etc/slurm say
    file: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9817")]
    listen: SocketAddr,
    /// Print the metrics and end
    #[arg(long, conflicts_with = "listen")]
    once: bool,
    /// Those of this host's dfrsd, or of the one of this node
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, conflicts_with = "file")]
    node: Option<Option<String>>,
}

/// Prints, or serves until it is ended.
pub fn run(arguments: &ExporterArguments) -> Result<(String, String), String> {
    match &arguments.node {
        Some(node) => publish(arguments, &|| node_exposition(&LocalHost, node.as_deref())),
        None => status::paths::find(arguments.file.as_deref())
            .and_then(|path| publish(arguments, &|| exposition(&path))),
    }
}

/// The metrics of now, in OpenMetrics' text format, and why there are none to speak of.
struct Exposition {
    text: String,
    trouble: Option<String>,
}

/// Prints what `metrics` returns once, with what is wrong, or serves it to all clients.
fn publish(
    arguments: &ExporterArguments,
    metrics: &(dyn Fn() -> Exposition + Sync),
) -> Result<(String, String), String> {
    if arguments.once {
        let now = metrics();
        let trouble = now.trouble.map(|trouble| format!("{trouble}\n"));
        return Ok((textfile::of(&now.text), trouble.unwrap_or_default()));
    }
    server::serve(arguments.listen, &|| metrics().text).map(|()| Default::default())
}

/// The metrics of this status file.
fn exposition(path: &Path) -> Exposition {
    let status = status::read(path);
    Exposition {
        text: metrics::encoded(status.as_ref().ok(), status::now()),
        trouble: status.err(),
    }
}

/// The metrics of a node.
fn node_exposition(host: &impl Host, node: Option<&str>) -> Exposition {
    let node_status = query_dfrsd(host, node);
    let trouble = node_status.as_ref().err().map(ToString::to_string);
    Exposition {
        text: node::encoded(node_status.ok()),
        trouble,
    }
}
