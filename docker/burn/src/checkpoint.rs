//! The checkpoint file: one line, `dfrs-burn 1 WORK_DONE`, in CPU seconds.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

const HEADER: &str = "dfrs-burn 1 ";

/// Why a checkpoint could not be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is there and is not a checkpoint.
    #[error(
        "checkpoint {path}: not a checkpoint of dfrs-burn; remove it to start from the beginning"
    )]
    Malformed {
        /// The file.
        path: String,
    },
}

/// Replaces the checkpoint at `path` in one step, so that it is whole at any moment.
///
/// # Errors
/// When the file beside it cannot be written or renamed.
pub fn save(path: &Path, done: Duration) -> Result<(), CheckpointError> {
    let io_error = |source| CheckpointError::Io {
        path: path.display().to_string(),
        source,
    };
    let partial = path.with_extension("partial");
    fs::write(&partial, format!("{HEADER}{:.9}\n", done.as_secs_f64())).map_err(io_error)?;
    fs::rename(&partial, path).map_err(io_error)
}

/// The CPU seconds of work that were done at the last checkpoint; `None` if there is none.
///
/// # Errors
/// When the file cannot be read or is not a checkpoint.
pub fn load(path: &Path) -> Result<Option<Duration>, CheckpointError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text)
            .map(Some)
            .ok_or_else(|| CheckpointError::Malformed {
                path: path.display().to_string(),
            }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CheckpointError::Io {
            path: path.display().to_string(),
            source,
        }),
    }
}

fn parse(text: &str) -> Option<Duration> {
    let seconds: f64 = text
        .strip_prefix(HEADER)?
        .strip_suffix('\n')?
        .parse()
        .ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_checkpoint_is_restored() {
        let path = std::env::temp_dir().join(format!("dfrs-burn-test-{}", std::process::id()));
        assert_eq!(load(&path).unwrap(), None);
        save(&path, Duration::from_millis(1234)).unwrap();
        assert_eq!(load(&path).unwrap(), Some(Duration::from_millis(1234)));
        fs::write(&path, "something else").unwrap();
        assert!(matches!(
            load(&path),
            Err(CheckpointError::Malformed { .. })
        ));
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn malformed_checkpoints_are_refused() {
        for text in [
            "",
            "dfrs-burn 1 \n",
            "dfrs-burn 1 -1\n",
            "dfrs-burn 1 1.5",
            "dfrs-burn 2 1\n",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
