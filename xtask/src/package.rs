//! `cargo xtask package`: packages of what was built, for Debian or for systems with RPM.

mod binary;
mod deb;
mod rpm;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};
use stage::{PLAIN, PROGRAM, PackageStage};

/// Packages a plugin, dfrsd and dfrs that were built (docker/build, or cargo build --release): the plugin for
/// exactly the Slurm that it was built for. Needs strip and, for .deb, dpkg-deb and objdump, for .rpm, rpmbuild.
#[derive(Args)]
pub struct PackageArguments {
    /// The directory with sched_dfrs.so (or libsched_dfrs.so), burst_buffer_dfrs.so, dfrsd and dfrs
    built: PathBuf,
    /// Where to write the packages
    #[arg(long, default_value = "target/package")]
    output: PathBuf,
    /// Which packages; several are separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "deb")]
    format: Vec<PackageFormat>,
}

/// What packages are for, and what follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PackageFormat {
    /// Debian and its relatives
    Deb,
    /// Fedora, RHEL, SUSE and their relatives
    Rpm,
}

impl PackageFormat {
    const fn name(self) -> &'static str {
        match self {
            Self::Deb => "deb",
            Self::Rpm => "rpm",
        }
    }

    /// Where Slurm's own packages have plugins.
    fn plugins(self) -> String {
        match self {
            Self::Deb => format!("usr/lib/{}-linux-gnu/slurm-wlm", std::env::consts::ARCH),
            Self::Rpm => "usr/lib64/slurm".to_owned(),
        }
    }

    const fn units(self) -> &'static str {
        match self {
            Self::Deb => "lib/systemd/system",
            Self::Rpm => "usr/lib/systemd/system",
        }
    }

    const fn zsh(self) -> &'static str {
        match self {
            Self::Deb => "usr/share/zsh/vendor-completions",
            Self::Rpm => "usr/share/zsh/site-functions",
        }
    }

    /// rpmbuild looks for what a library needs only if it may be executed.
    const fn library_mode(self) -> u32 {
        match self {
            Self::Deb => PLAIN,
            Self::Rpm => PROGRAM,
        }
    }
}

/// Writes three packages of each format and prints their names.
///
/// # Errors
///
/// What is missing, or a tool's output.
pub fn run(arguments: &PackageArguments) -> Result<(), String> {
    let pages = arguments.output.join("man");
    crate::man::write(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
    for format in &arguments.format {
        let packages = [
            command_line(arguments, *format, &pages)?,
            node(arguments, *format, &pages)?,
            plugin(arguments, *format, &pages)?,
        ];
        for package in packages {
            println!("{}", package.display());
        }
    }
    Ok(())
}

fn command_line(
    arguments: &PackageArguments,
    format: PackageFormat,
    pages: &Path,
) -> Result<PathBuf, String> {
    let mut stage = PackageStage::new("slurm-dfrs", &arguments.output, format, &[])?;
    stage.program(&arguments.built.join("dfrs"), "usr/bin/dfrs")?;
    stage.manual(&pages.join("man/man1"), 1)?;
    stage.manual(&pages.join("man/man5"), 5)?;
    completions(&mut stage, pages, "dfrs")?;
    let documents = files_in(&crate::root().join("docs"), "md")?;
    for document in documents {
        stage.document(&document, "")?;
    }
    for (directory, ending) in [
        ("slurm-conf", "conf"),
        ("monitoring", "yml"),
        ("monitoring", "json"),
    ] {
        for file in files_in(&crate::root().join(directory), ending)? {
            stage.document(&file, "examples")?;
        }
    }
    stage.build()
}

fn node(
    arguments: &PackageArguments,
    format: PackageFormat,
    pages: &Path,
) -> Result<PathBuf, String> {
    let mut stage = PackageStage::new("slurm-dfrs-node", &arguments.output, format, &[])?;
    stage.program(&arguments.built.join("dfrsd"), "usr/sbin/dfrsd")?;
    stage.manual(&pages.join("man/man8"), 8)?;
    completions(&mut stage, pages, "dfrsd")?;
    let unit = crate::root().join("crates/dfrs-node/dfrsd.service");
    stage.file(&unit, &format!("{}/dfrsd.service", format.units()))?;
    stage.configuration("default", "etc/default/dfrsd")?;
    stage.configuration("logrotate", "etc/logrotate.d/slurm-dfrs-node")?;
    stage.build()
}

fn plugin(
    arguments: &PackageArguments,
    format: PackageFormat,
    pages: &Path,
) -> Result<PathBuf, String> {
    let names = ["sched_dfrs.so", "libsched_dfrs.so"].map(|name| arguments.built.join(name));
    let found = names.into_iter().find(|path| path.exists());
    let library =
        found.ok_or_else(|| format!("{}: has no sched_dfrs.so", arguments.built.display()))?;
    let bytes = fs::read(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    let release = dfrs_cli::plugin_release(&bytes)
        .map_err(|problem| format!("{}: {problem}", library.display()))?;
    let next = next_micro(&release)?;
    let words = [("@SLURM@", release.as_str()), ("@NEXT@", &next)];
    let mut stage = PackageStage::new("slurm-dfrs-plugin", &arguments.output, format, &words)?;
    let directory = format.plugins();
    stage.library(&library, &format!("{directory}/sched_dfrs.so"))?;
    let withholder = "burst_buffer_dfrs.so";
    stage.library(
        &arguments.built.join(withholder),
        &format!("{directory}/{withholder}"),
    )?;
    stage.manual(&pages.join("man/man7"), 7)?;
    stage.configuration("logrotate", "etc/logrotate.d/slurm-dfrs-plugin")?;
    stage.build()
}

/// The release after one: 24.11.6 after 24.11.5.
fn next_micro(release: &str) -> Result<String, String> {
    let (series, micro) = release.rsplit_once('.').ok_or("a release has dots")?;
    let micro: u32 = micro
        .parse()
        .map_err(|error| format!("{release}: {error}"))?;
    Ok(format!("{series}.{}", micro + 1))
}

fn completions(stage: &mut PackageStage, pages: &Path, program: &str) -> Result<(), String> {
    let from = pages.join("completions");
    for (file, to) in [
        (
            format!("{program}.bash"),
            format!("usr/share/bash-completion/completions/{program}"),
        ),
        (
            format!("{program}.fish"),
            format!("usr/share/fish/vendor_completions.d/{program}.fish"),
        ),
        (
            format!("_{program}"),
            format!("{}/_{program}", stage.format.zsh()),
        ),
    ] {
        stage.file(&from.join(file), &to)?;
    }
    Ok(())
}

/// In order of their names.
fn files_in(directory: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == ending))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Runs a tool and returns what it prints.
fn tool(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name} cannot be run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{name}: {}", errors.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_for_one_micro_release() {
        assert_eq!(next_micro("24.11.5").as_deref(), Ok("24.11.6"));
        assert_eq!(next_micro("22.05.9").as_deref(), Ok("22.05.10"));
        assert!(next_micro("24").is_err());
    }
}
