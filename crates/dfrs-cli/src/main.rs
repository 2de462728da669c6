//! `dfrs`, the command line of slurm-dfrs: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    dfrs_cli::run()
}
