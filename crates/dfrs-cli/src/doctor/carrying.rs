//! Whether a node can carry jobs, where plugstack.conf says that they run below the carrier.

use std::path::Path;

use super::compute_node::slurm_conf_sibling;
use super::finding::DoctorFindings;
use super::host::Host;

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
    let mut topic = findings.topic("carrying");
    let criu = option("criu").unwrap_or(CRIU);
    match host.owner(Path::new(criu)) {
        Ok(owner) if owner.uid == 0 && owner.mode & WRITE_BY_OTHERS == 0 => {}
        Ok(_) => topic.error(
            format!(
                "{criu} can be changed by others than root, and runs as root: no job is carried"
            ),
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
    let named = |text: &dyn std::fmt::Display| format!("{images}: {text}");
    match host.owner(Path::new(images)) {
        Ok(owner) if owner.uid != 0 || owner.mode & WRITE_BY_OTHERS != 0 => topic.error(
            named(&"others than root can write there"),
            format!("chown root: {images}; chmod 700 {images}"),
        ),
        Ok(_) if host.owner(&Path::new(images).join("lock")).is_err() => topic.error(
            named(&"there is no file lock: jobs that were requeued are held"),
            format!("mount it; where it is mounted and new: touch {images}/lock"),
        ),
        Ok(_) => {}
        Err(error) => topic.error(
            named(&error),
            "mount it, or make it: install -d -m 700 (docs/carry.md)",
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
