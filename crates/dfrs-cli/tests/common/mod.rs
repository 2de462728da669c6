//! What tests of the command line share.

use std::path::PathBuf;
use std::process::Command;

/// A directory that is removed when the test ends.
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory; `test` distinguishes it from those of other tests.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dfrs-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("temporary directory");
        Self(path)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Code, standard output and standard error.
pub fn dfrs(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dfrs"))
        .args(arguments)
        .output()
        .expect("dfrs runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().unwrap_or(-1);
    (code, text(output.stdout), text(output.stderr))
}
