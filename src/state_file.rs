//! The ledger's file in StateSaveLocation: written atomically, versioned, and ignorable.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use dfrs_agent::state::{State, Store};
use serde::{Deserialize, Serialize};

/// Grows when an older plugin could not understand the file.
const VERSION: u32 = 1;
const NAME: &str = "dfrs_state";

#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    state: State,
}

/// Where the file is in Slurm's StateSaveLocation.
#[must_use]
pub fn path_in(state_directory: &Path) -> PathBuf {
    state_directory.join(NAME)
}

/// The file as the agent's store.
pub struct StateFile(pub PathBuf);

impl Store for StateFile {
    fn save(&mut self, state: &State) -> Result<(), String> {
        save(&self.0, state)
    }
}

/// Reads the state; a file that is not there is an empty one.
///
/// # Errors
///
/// One line on what is wrong with the file; the caller goes on with an empty state.
pub fn load(path: &Path) -> Result<State, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(State::default()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let contents: Contents =
        serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    if contents.version != VERSION {
        return Err(format!(
            "{}: version {}, this plugin writes {VERSION}",
            path.display(),
            contents.version
        ));
    }
    Ok(contents.state)
}

/// Replaces the file by `state`: readers see the old or the new one, whole.
///
/// # Errors
///
/// The system's, with the file's name.
pub fn save(path: &Path, state: &State) -> Result<(), String> {
    let new = path.with_extension("new");
    let describe = |error: std::io::Error| format!("{}: {error}", new.display());
    let contents = Contents {
        version: VERSION,
        state: state.clone(),
    };
    let bytes =
        serde_json::to_vec(&contents).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut file = File::create(&new).map_err(describe)?;
    file.write_all(&bytes)
        .and_then(|()| file.sync_data())
        .map_err(describe)?;
    fs::rename(&new, path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use dfrs_agent::ledger::Record;
    use dfrs_agent::life::Life;
    use dfrs_core::Time;

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("dfrs-state-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        path
    }

    #[test]
    fn what_was_saved_is_loaded() {
        let directory = directory("round-trip");
        let path = path_in(&directory);
        let mut state = State {
            partitions: vec!["dfrs".into()],
            ..State::default()
        };
        state
            .ledger
            .insert(7, Record::new(5, Time(9), Life::default()));
        assert_eq!(load(&path), Ok(State::default()));
        save(&path, &state).expect("saves");
        assert_eq!(load(&path), Ok(state));
        fs::remove_dir_all(directory).expect("cleans up");
    }

    #[test]
    fn a_broken_file_is_one_line_of_error() {
        let directory = directory("broken");
        let path = path_in(&directory);
        for text in [
            "",
            "{",
            "{\"version\":99,\"state\":{\"partitions\":[],\"ledger\":{\"jobs\":{}}}}",
            "\u{0}\u{0}",
        ] {
            fs::write(&path, text).expect("writes");
            let error = load(&path).expect_err("is refused");
            assert!(
                error.contains("dfrs_state") && !error.contains('\n'),
                "{error}"
            );
        }
        fs::remove_dir_all(directory).expect("cleans up");
    }
}
