//! Whether a node can carry jobs, where plugstack.conf says that they run below the carrier.

use std::path::Path;

use super::compute_node::slurm_conf_sibling;
use super::finding::DoctorFindings;
use super::host::{FileOwner, Host};

const PLUGIN: &str = "spank_dfrs_carry.so";
/// Where the plugin and dfrsd take criu from, if nothing else is said.
const CRIU: &str = "/usr/sbin/criu";
/// Who else may write to a file or directory.
const WRITE_BY_OTHERS: u32 = 0o022;

/// Examines the directory of images and criu. Says nothing where the plugin is not configured.
pub fn examine(host: &impl Host, findings: &mut DoctorFindings) {
    let Some((file, text)) = slurm_conf_sibling(host, "plugstack.conf") else {
        return;
    };
    let Some(line) = text.lines().find(|line| is_plugin(line)) else {
        return;
    };
    let option = |key: &str| {
        let mut words = line.split_whitespace();
        words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    };
    let is_roots = |owner: FileOwner| owner.uid == 0 && owner.mode & WRITE_BY_OTHERS == 0;
    let mut topic = findings.topic("carrying");
    let criu = option("criu").unwrap_or(CRIU);
    match host.owner(Path::new(criu)).map(is_roots) {
        Ok(true) => {}
        Ok(false) => topic.error(
            format!("{criu} can be changed by others than root: no job is carried"),
            format!("chown root: {criu}; chmod 755 {criu}"),
        ),
        Err(error) => topic.error(
            format!("{criu}: {error}: no job is carried, and none is restored here"),
            "install criu, or write criu=PATH into plugstack.conf's line",
        ),
    }
    let Some(images) = option("images") else {
        topic.error(
            format!("{}: {PLUGIN} has no images=", file.display()),
            "write images=DIRECTORY behind it, the same as in dfrsd's --images",
        );
        return;
    };
    let has_lock = host.owner(&Path::new(images).join("lock")).is_ok();
    match host.owner(Path::new(images)).map(is_roots) {
        Ok(true) if has_lock => {}
        Ok(true) => topic.error(
            format!("{images}: there is no file lock: jobs that were requeued are held"),
            format!("mount it; where it is mounted and new: touch {images}/lock"),
        ),
        Ok(false) => topic.error(
            format!("{images}: others than root can write there"),
            format!("chown root: {images}; chmod 700 {images}"),
        ),
        Err(error) => topic.error(
            format!("{images}: {error}"),
            format!("mount it, or make it: install -d -m 700 {images}"),
        ),
    }
    topic.done(format!("images in {images}, {criu}"));
}

/// Whether a line of plugstack.conf loads the plugin.
fn is_plugin(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("required" | "optional"))
        && words
            .next()
            .is_some_and(|path| Path::new(path).ends_with(PLUGIN))
}
