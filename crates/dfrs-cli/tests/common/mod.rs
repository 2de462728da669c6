//! What tests of the command line share.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory that is removed when the test ends.
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory; `test` distinguishes it from those of other tests of the same file.
    pub fn new(test: &str) -> Self {
        let (file, process) = (env!("CARGO_CRATE_NAME"), std::process::id());
        let path = std::env::temp_dir().join(format!("dfrs-{file}-{test}-{process}"));
        let _ = std::fs::remove_dir_all(&path); // of an earlier process with this number
        std::fs::create_dir_all(&path).expect("temporary directory");
        Self(path)
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Writes a file in it: its path.
    pub fn file(&self, name: &str, content: &(impl AsRef<[u8]> + ?Sized)) -> String {
        std::fs::write(self.0.join(name), content).expect("temporary file");
        self.path(name)
    }

    /// Code, standard output and standard error of `dfrs` in it.
    pub fn dfrs(&self, arguments: &[&str]) -> (i32, String, String) {
        outcome(program(arguments).current_dir(&self.0))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file that is removed when the test ends.
pub struct ScratchFile {
    path: String,
    _directory: Scratch,
}

impl ScratchFile {
    /// With this name and content.
    pub fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let directory = Scratch::new(name);
        Self {
            path: directory.file(name, content.as_ref()),
            _directory: directory,
        }
    }

    /// Code, standard output and standard error of a command about it, with `FILE` for its path.
    pub fn dfrs(&self, command: &str, options: &[&str]) -> (i32, String, String) {
        let (code, output, errors) = dfrs(&[&[command, &self.path], options].concat());
        let anonymized = |text: String| text.replace(&self.path, "FILE");
        (code, anonymized(output), anonymized(errors))
    }

    /// What it holds.
    pub fn content(&self) -> String {
        std::fs::read_to_string(&self.path).expect("the file")
    }
}

/// Code, standard output and standard error.
pub fn dfrs(arguments: &[&str]) -> (i32, String, String) {
    outcome(&mut program(arguments))
}

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_dfrs"));
    program.args(arguments);
    program
}

/// Code, standard output and standard error of a program.
pub fn outcome(program: &mut Command) -> (i32, String, String) {
    let output = program.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().unwrap_or(-1);
    (code, text(output.stdout), text(output.stderr))
}
