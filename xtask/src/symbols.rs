//! `cargo xtask symbols`: what the plugin exports and what it needs, against Slurm installations.
//!
//! Slurm loads its plugins lazily: a symbol that is missing kills slurmctld in the middle of a
//! call, not when it starts. And a symbol too many in a plugin may take the place of Slurm's own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program;

/// All that `sched_dfrs.so` is to show: what is a scheduler plugin's (`src/interfaces/sched_plugin.c` of Slurm
/// 24.11), and what `burst_buffer_dfrs.so` calls.
const EXPORTS: &str = "\
    dfrs_ends dfrs_refuses dfrs_withholds fini init plugin_name plugin_type plugin_version \
    sched_p_reconfig";

/// The exports of `burst_buffer_dfrs.so` (`src/interfaces/burst_buffer.c`).
const BURST_BUFFER_EXPORTS: &str = "\
    bb_p_build_het_job_script bb_p_get_status bb_p_get_system_size bb_p_job_begin \
    bb_p_job_cancel bb_p_job_get_est_start bb_p_job_revoke_alloc bb_p_job_set_tres_cnt \
    bb_p_job_start_stage_out bb_p_job_test_post_run bb_p_job_test_stage_in \
    bb_p_job_test_stage_out bb_p_job_try_stage_in bb_p_job_validate bb_p_job_validate2 \
    bb_p_load_state bb_p_reconfig bb_p_run_script bb_p_state_pack bb_p_xlate_bb_2_tres_str \
    fini init plugin_name plugin_type plugin_version";

/// Where slurmctld is below an installation's root; Debian has it behind an alternatives link.
const DAEMONS: [&str; 3] = [
    "usr/sbin/slurmctld-wlm",
    "usr/sbin/slurmctld",
    "sbin/slurmctld",
];

/// Directories that may hold libslurmfull.so.
const LIBRARIES: [&str; 4] = [
    "usr/lib/x86_64-linux-gnu/slurm-wlm",
    "usr/lib64/slurm",
    "usr/lib/slurm",
    "lib/slurm",
];

#[derive(clap::Args)]
pub struct SymbolsArguments {
    /// The plugin, sched_dfrs.so or burst_buffer_dfrs.so
    plugin: PathBuf,
    /// Roots of installations to check against, e.g. / or a chroot
    roots: Vec<PathBuf>,
}

/// Checks the plugin.
///
/// # Errors
///
/// One line for each kind of symbol that is missing or too many.
pub fn run(arguments: &SymbolsArguments) -> Result<(), String> {
    let mut problems = Vec::new();
    let exported = symbols(&arguments.plugin, "--defined-only")?;
    let is_burst_buffer = arguments.plugin.ends_with("burst_buffer_dfrs.so");
    let names = match is_burst_buffer {
        true => BURST_BUFFER_EXPORTS,
        false => EXPORTS,
    };
    let expected: BTreeSet<String> = names.split(' ').map(str::to_owned).collect();
    if exported != expected {
        problems.push(format!(
            "{}: exports {}; it must export {}",
            arguments.plugin.display(),
            list(&exported),
            list(&expected)
        ));
    }
    let table = nm(&arguments.plugin, "--undefined-only")?;
    let needed = names_in(table.lines().filter(|line| !is_of_the_system(line)));
    for root in &arguments.roots {
        let provided = provided_by(root)?;
        let missing: BTreeSet<String> = needed.difference(&provided).cloned().collect();
        if missing.is_empty() {
            println!(
                "{}: provides all of Slurm that the plugin needs",
                root.display()
            );
        } else {
            problems.push(format!(
                "{}: does not provide {}",
                root.display(),
                list(&missing)
            ));
        }
    }
    crate::refuse(&problems)
}

/// Symbols with a version are the C library's and GCC's; the weak ones may be absent.
fn is_of_the_system(line: &str) -> bool {
    let mut fields = line.split_whitespace().rev();
    let (symbol, kind) = (fields.next(), fields.next());
    symbol.is_some_and(|symbol| symbol.contains('@')) || matches!(kind, Some("w" | "v"))
}

fn provided_by(root: &Path) -> Result<BTreeSet<String>, String> {
    let daemon = first_file(root, DAEMONS.iter().map(PathBuf::from), "slurmctld")?;
    let library = first_file(
        root,
        LIBRARIES
            .iter()
            .map(|directory| Path::new(directory).join("libslurmfull.so")),
        "libslurmfull.so",
    )?;
    let mut all = symbols(&daemon, "--defined-only")?;
    all.append(&mut symbols(&library, "--defined-only")?);
    Ok(all)
}

fn first_file(
    root: &Path,
    candidates: impl Iterator<Item = PathBuf>,
    what: &str,
) -> Result<PathBuf, String> {
    candidates
        .map(|candidate| root.join(candidate))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            format!(
                "{}: no {what} below it: is Slurm installed there?",
                root.display()
            )
        })
}

/// Names of a file's dynamic symbols.
fn symbols(file: &Path, kind: &str) -> Result<BTreeSet<String>, String> {
    Ok(names_in(nm(file, kind)?.lines()))
}

/// The names in lines of nm, without their versions.
fn names_in<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    lines
        .filter_map(|line| line.split_whitespace().next_back())
        .filter_map(|symbol| symbol.split('@').next())
        .map(str::to_owned)
        .collect()
}

fn nm(file: &Path, kind: &str) -> Result<String, String> {
    program::text(Command::new("nm").args(["--dynamic", kind]).arg(file))
}

fn list(names: &BTreeSet<String>) -> String {
    Vec::from_iter(names.iter().map(String::as_str)).join(", ")
}
