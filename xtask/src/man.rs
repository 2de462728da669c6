//! `cargo xtask man`: manual pages and completions, from the programs' own help, and of dfrs.conf and the
//! plugin from docs/, by pandoc. Nothing of it is kept in the repository, so that nothing can be stale.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use clap::{Args, Command, CommandFactory};
use clap_complete::{Shell, generate_to};
use clap_mangen::Man;

use crate::{files, program};

const SOURCE: &str = concat!("slurm-dfrs ", env!("CARGO_PKG_VERSION"));

#[derive(Args)]
pub struct ManArguments {
    /// Where to write them: below it man/man1, man/man5, man/man7, man/man8 and completions
    #[arg(default_value = "target/man")]
    directory: PathBuf,
}

/// A page that is made of a document.
struct ManDocument {
    name: &'static str,
    section: u8,
    /// One line on what it is about.
    about: &'static str,
    see_also: &'static str,
    source: &'static str,
}

const DOCUMENTS: [ManDocument; 2] = [
    ManDocument {
        name: "dfrs.conf",
        section: 5,
        about: "configuration of DFRS, the fractional scheduler for Slurm",
        see_also: "dfrs(1), sched_dfrs(7), dfrsd(8), slurm.conf(5), and the pages in /usr/share/doc/slurm-dfrs",
        source: "docs/configuration.md",
    },
    ManDocument {
        name: "sched_dfrs",
        section: 7,
        about: "scheduler plugin for Slurm with which jobs share nodes",
        see_also: "dfrs(1), dfrs.conf(5), dfrsd(8), slurm.conf(5), and the pages in /usr/share/doc/slurm-dfrs",
        source: "docs/install.md",
    },
];

/// Writes them all.
///
/// # Errors
///
/// What cannot be written, or what pandoc says.
pub fn run(arguments: &ManArguments) -> Result<(), String> {
    let directory = &arguments.directory;
    write_commands(directory).map_err(|error| files::failed(directory, &error))?;
    DOCUMENTS
        .iter()
        .try_for_each(|document| write_document(document, directory))
}

/// The programs, and the sections of the manual that they belong to.
fn programs() -> [(Command, u8); 2] {
    let dfrsd = dfrs_node::options::Options::command();
    [(dfrs_cli::command(), 1), (dfrsd, 8)]
}

/// Writes the programs' pages and completions below a directory.
fn write_commands(directory: &Path) -> std::io::Result<()> {
    let completions = directory.join("completions");
    fs::create_dir_all(&completions)?;
    for (mut program, section) in programs() {
        let pages = directory.join(format!("man/man{section}"));
        fs::create_dir_all(&pages)?;
        let name = program.get_name().to_owned();
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            generate_to(shell, &mut program.clone(), &name, &completions)?;
        }
        program.build();
        page(&program, &name, section, &pages)?;
        for command in commands(&program) {
            let name = format!("{name}-{}", command.get_name());
            page(command, &name, section, &pages)?;
        }
    }
    Ok(())
}

fn write_document(document: &ManDocument, directory: &Path) -> Result<(), String> {
    let section = document.section.to_string();
    let mut pandoc = process::Command::new("pandoc");
    pandoc.current_dir(crate::root()).args([
        "--standalone",
        "--from=gfm",
        "--to=man",
        "--lua-filter=packaging/man.lua",
    ]);
    for (key, value) in [
        ("title", document.name),
        ("section", &section),
        ("footer", SOURCE),
        ("header", "slurm-dfrs"),
        ("about", document.about),
        ("see-also", document.see_also),
    ] {
        pandoc.arg(format!("--metadata={key}={value}"));
    }
    let page = program::output(pandoc.arg(document.source))?;
    let file = format!("man/man{section}/{}.{section}", document.name);
    files::write(&directory.join(file), page)
}

/// The commands that are shown; help is no page of its own.
fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    let all = program.get_subcommands();
    all.filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn page(command: &Command, name: &str, section: u8, directory: &Path) -> std::io::Result<()> {
    // The synopsis has "dfrs sim", the title "dfrs-sim".
    let called = command.get_bin_name().unwrap_or(name).to_owned();
    let page = Man::new(
        command
            .clone()
            .bin_name(called)
            .disable_help_subcommand(true),
    )
    .title(name)
    .section(section.to_string())
    .source(SOURCE)
    .manual("slurm-dfrs");
    let mut text = Vec::new();
    page.render(&mut text)?;
    // What is long and has no blanks cannot be adjusted.
    let text = String::from_utf8_lossy(&text).replacen(".SH NAME", ".ad l\n.SH NAME", 1);
    fs::write(directory.join(format!("{name}.{section}")), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without roff's own marks.
    fn plain(text: &str) -> String {
        text.replace("\\-", "-")
            .replace("\\fB", "")
            .replace("\\fI", "")
            .replace("\\fR", "")
    }

    #[test]
    fn each_command_has_a_page_with_all_its_options_and_is_completed() {
        let directory = std::env::temp_dir().join(format!("dfrs-man-{}", std::process::id()));
        write_commands(&directory).expect("can be written");
        let mut pages = 0;
        for (mut program, section) in programs() {
            program.build();
            let name = program.get_name().to_owned();
            let bash = fs::read_to_string(directory.join(format!("completions/{name}.bash")));
            let bash = bash.expect("completions");
            for command in commands(&program) {
                let file = format!("man/man{section}/{name}-{}.{section}", command.get_name());
                let page = fs::read_to_string(directory.join(&file)).expect("a page");
                let page = plain(&page);
                assert!(bash.contains(command.get_name()), "{file}");
                let visible = command.get_arguments().filter(|it| !it.is_hide_set());
                for option in visible.filter_map(|argument| argument.get_long()) {
                    assert!(page.contains(&format!("--{option}")), "{file}: --{option}");
                    assert!(bash.contains(&format!("--{option}")), "{file}: --{option}");
                }
                let about = command.get_about().expect("says what it does").to_string();
                let first = about
                    .split_whitespace()
                    .take(3)
                    .collect::<Vec<_>>()
                    .join(" ");
                assert!(page.contains(&first), "{file}: {first}");
                pages += 1;
            }
            let main = directory.join(format!("man/man{section}/{name}.{section}"));
            assert!(main.exists());
        }
        assert!(pages >= 14, "{pages}");
        fs::remove_dir_all(directory).expect("cleans up");
    }
}
