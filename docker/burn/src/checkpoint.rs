//! The checkpoint file: one line, `dfrs-burn 1 WORK_DONE`, in CPU seconds.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

const HEADER: &str = "dfrs-burn 1 ";

/// Replaces the checkpoint at `path` in one step, so that it is whole at any moment.
///
/// # Errors
/// When the file beside it cannot be written or renamed.
pub fn save(path: &Path, done: Duration) -> Result<(), String> {
    let partial = path.with_extension("partial");
    let saved = fs::write(&partial, format!("{HEADER}{:.9}\n", done.as_secs_f64()))
        .and_then(|()| fs::rename(&partial, path));
    saved.map_err(|error| failed(path, &error))
}

/// The CPU seconds of work that were done at the last checkpoint; `None` if there is none.
///
/// # Errors
/// When the file cannot be read or is not a checkpoint.
pub fn load(path: &Path) -> Result<Option<Duration>, String> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text).map(Some).ok_or_else(|| {
            let what = "not a checkpoint of dfrs-burn; remove it to start from the beginning";
            failed(path, &what)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

fn failed(path: &Path, what: &dyn Display) -> String {
    format!("checkpoint {}: {what}", path.display())
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
        let error = load(&path).unwrap_err();
        assert!(error.contains(": not a checkpoint of dfrs-burn"), "{error}");
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
