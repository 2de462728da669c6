//! Where generated traces go.

use std::path::{Path, PathBuf};

use dfrs_lab::outputs;

/// Standard output, a file, or a file for each seed.
pub enum OutputTarget<'a> {
    Standard,
    File(&'a Path),
    Numbered(&'a Path),
}

impl<'a> OutputTarget<'a> {
    /// Where so many traces go, if the user named this file.
    pub fn new(file: Option<&'a Path>, count: u32) -> Result<Self, String> {
        match file {
            None if count > 1 => {
                Err("--count writes a file for each trace; give --output FILE".into())
            }
            None => Ok(Self::Standard),
            Some(file) if count > 1 => Ok(Self::Numbered(file)),
            Some(file) => Ok(Self::File(file)),
        }
    }

    /// Writes the trace of this seed, and returns what is for standard output.
    pub fn put(&self, seed: u64, text: String) -> Result<String, String> {
        let path = match self {
            Self::Standard => return Ok(text),
            Self::File(path) => path.to_path_buf(),
            Self::Numbered(path) => numbered(path, seed),
        };
        outputs::write(&path, &text).map(|()| String::new())
    }
}

/// `some/trace.csv` becomes `some/trace-7.csv`.
fn numbered(path: &Path, seed: u64) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| {
        part.map_or(String::new(), |part| part.to_string_lossy().into_owned())
    };
    let stem = part(path.file_stem());
    let name = match part(path.extension()) {
        none if none.is_empty() => format!("{stem}-{seed}"),
        extension => format!("{stem}-{seed}.{extension}"),
    };
    path.with_file_name(name)
}
