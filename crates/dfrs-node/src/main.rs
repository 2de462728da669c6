//! `dfrsd`, the node daemon of slurm-dfrs.

use std::process::ExitCode;

use clap::Parser;
use dfrs_node::options::{Command, Options};
use dfrs_node::{carry, client, daemon};

fn main() -> ExitCode {
    if let Some(code) = carry::run_as_script() {
        return code;
    }
    let options = Options::parse();
    let result = match &options.command {
        None => daemon::serve(&options.serve),
        Some(Command::Send { address, file }) => client::send(address, file.as_ref()),
        Some(Command::Status { address, json }) => client::status(address).and_then(|status| {
            let text = if *json {
                serde_json::to_string(&status).map_err(|error| error.to_string())? + "\n"
            } else {
                client::table(&status)
            };
            print!("{text}");
            Ok(())
        }),
        Some(Command::Carry(command)) => carry::run(command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dfrsd: {error}");
            ExitCode::FAILURE
        }
    }
}
