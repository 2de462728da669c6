//! What `dfrs trial` takes from Slurm itself, where no files are given.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dfrs_sim::trace::sacct::COLUMNS;

use crate::doctor::host::{Host, LocalHost};
use crate::doctor::slurm::SlurmSettings;

/// Where the dump is kept, for further looks.
pub const DUMP_FILE: &str = "dfrs-trial.txt";

/// The slurm.conf that slurmctld reads.
///
/// # Errors
///
/// One line: scontrol does not answer.
pub fn slurm_conf() -> Result<PathBuf, String> {
    let said = LocalHost.run("scontrol", &["show", "config"]);
    let said = said.map_err(|error| format!("dfrs trial: {error}; give --slurm-conf"))?;
    match SlurmSettings::parse(&said).get("SLURM_CONF") {
        "" => {
            Err("dfrs trial: scontrol does not say where slurm.conf is; give --slurm-conf".into())
        }
        path => Ok(path.into()),
    }
}

/// Has sacct write its jobs of the last 30 days to [`DUMP_FILE`] in this directory.
///
/// # Errors
///
/// One line: the file is there or cannot be written, or sacct fails.
pub fn dump(directory: &Path) -> Result<PathBuf, String> {
    let path = directory.join(DUMP_FILE);
    let file = File::create_new(&path).map_err(|error| {
        format!(
            "dfrs trial: {}: {error}; give it as DUMP, or take it away",
            path.display()
        )
    })?;
    write(file).map_err(|error| {
        // An empty or broken one would be in the way next time.
        let _ = std::fs::remove_file(&path);
        format!("dfrs trial: {error}; give a DUMP (docs/replay.md)")
    })?;
    Ok(path)
}

fn write(file: File) -> Result<(), String> {
    let mut sacct = Command::new("sacct");
    sacct.args(["--allusers", "--duplicates", "--parsable2", "--noconvert"]);
    sacct.args(["--starttime=now-30days", "--endtime=now"]);
    sacct.arg(format!("--format={COLUMNS}"));
    sacct.env("SLURM_TIME_FORMAT", "%s").env("LC_ALL", "C");
    sacct.stdin(Stdio::null()).stdout(file);
    let output = sacct
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("sacct cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| !line.trim().is_empty());
    Err(format!(
        "sacct fails: {}",
        line.unwrap_or("it says nothing").trim()
    ))
}
