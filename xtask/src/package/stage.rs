//! One package on its way: its files in a directory, laid out as its format wants them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use super::{PackageFormat, files_in, tool};

/// Files that are never changed, and programs.
pub(super) const PLAIN: u32 = 0o644;
pub(super) const PROGRAM: u32 = 0o755;
/// Maintainer of the changelog and the package, unless DEBFULLNAME and DEBEMAIL are set.
const DEFAULT_MAINTAINER: &str = "The slurm-dfrs authors <root@localhost>";

pub(super) struct PackageStage {
    /// The name of the templates in packaging/.
    pub(super) template: &'static str,
    pub(super) format: PackageFormat,
    pub(super) name: String,
    /// Holds the files.
    pub(super) root: PathBuf,
    /// Where the package goes.
    pub(super) output: PathBuf,
    /// Debian's control file, which has the name and the description for all formats.
    pub(super) control: String,
    /// What is replaced in templates.
    words: Vec<(&'static str, String)>,
    /// Files that administrators change, as they are installed.
    pub(super) configuration: Vec<String>,
    /// Programs and libraries.
    pub(super) objects: Vec<PathBuf>,
}

impl PackageStage {
    /// An empty one; `words` are replaced in templates.
    pub(super) fn new(
        template: &'static str,
        output: &Path,
        format: PackageFormat,
        words: &[(&'static str, &str)],
    ) -> Result<Self, String> {
        let words = words.iter().map(|(from, to)| (*from, (*to).to_owned()));
        let mut stage = Self {
            template,
            format,
            name: String::new(),
            root: PathBuf::new(),
            output: output.to_owned(),
            control: String::new(),
            words: words.collect(),
            configuration: Vec::new(),
            objects: Vec::new(),
        };
        stage.control = stage.template("control")?;
        let first = stage.control.lines().next().unwrap_or_default();
        let name = first.strip_prefix("Package: ");
        stage.name = name
            .ok_or("a control file begins with Package:")?
            .to_owned();
        stage.root = output.join(format.name()).join(&stage.name);
        if stage.root.exists() {
            fs::remove_dir_all(&stage.root)
                .map_err(|error| format!("{}: {error}", stage.root.display()))?;
        }
        Ok(stage)
    }

    /// A file of packaging/ that belongs to this package, with its words.
    pub(super) fn template(&self, ending: &str) -> Result<String, String> {
        let mut text = read(&self.of_packaging(ending))?;
        for (from, to) in &self.words {
            text = text.replace(from, to);
        }
        Ok(text)
    }

    fn of_packaging(&self, ending: &str) -> PathBuf {
        crate::root().join(format!("packaging/{}.{ending}", self.template))
    }

    pub(super) fn documents(&self) -> String {
        format!("usr/share/doc/{}", self.name)
    }

    /// A program, without symbols that only debuggers need.
    pub(super) fn program(&mut self, from: &Path, to: &str) -> Result<(), String> {
        self.object(from, to, PROGRAM)
    }

    /// As `program()`, for a library.
    pub(super) fn library(&mut self, from: &Path, to: &str) -> Result<(), String> {
        self.object(from, to, self.format.library_mode())
    }

    fn object(&mut self, from: &Path, to: &str, mode: u32) -> Result<(), String> {
        let target = self.place(to)?;
        let strip = ["--strip-unneeded", "--remove-section=.comment", "-o"];
        tool(Command::new("strip").args(strip).arg(&target).arg(from))?;
        set_mode(&target, mode)?;
        self.objects.push(target);
        Ok(())
    }

    pub(super) fn file(&mut self, from: &Path, to: &str) -> Result<(), String> {
        let bytes = fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        self.write(to, &bytes, PLAIN)
    }

    /// A file of packaging/ that administrators change.
    pub(super) fn configuration(&mut self, ending: &str, to: &str) -> Result<(), String> {
        self.configuration.push(format!("/{to}"));
        self.file(&self.of_packaging(ending), to)
    }

    /// All pages of a directory.
    pub(super) fn manual(&mut self, from: &Path, section: u8) -> Result<(), String> {
        for page in files_in(from, &section.to_string())? {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            let text = read(&page)?;
            let to = format!("usr/share/man/man{section}/{name}.gz");
            self.compressed(text.as_bytes(), &to)?;
        }
        Ok(())
    }

    /// A document.
    pub(super) fn document(&mut self, from: &Path, below: &str) -> Result<(), String> {
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let to = match below {
            "" => format!("{}/{name}", self.documents()),
            below => format!("{}/{below}/{name}", self.documents()),
        };
        self.file(from, &to)
    }

    /// As small as it gets and without its time.
    pub(super) fn compressed(&self, bytes: &[u8], to: &str) -> Result<(), String> {
        let plain = to.trim_end_matches(".gz");
        self.write(plain, bytes, PLAIN)?;
        let path = self.root.join(plain);
        tool(Command::new("gzip").args(["-9", "-n"]).arg(&path)).map(|_| ())
    }

    fn place(&self, to: &str) -> Result<PathBuf, String> {
        let path = self.root.join(to);
        let directory = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        Ok(path)
    }

    pub(super) fn write(&self, to: &str, bytes: &[u8], mode: u32) -> Result<(), String> {
        let path = self.place(to)?;
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        set_mode(&path, mode)
    }

    /// All directories as they have to be, whatever the umask is here.
    pub(super) fn open_directories(&self) -> Result<(), String> {
        let mut chmod = Command::new("chmod");
        tool(chmod.args(["-R", "u=rwX,go=rX"]).arg(&self.root)).map(|_| ())
    }

    /// The name without the word, and the sentences, of the control file's description.
    pub(super) fn description(&self) -> Result<(&str, &str), String> {
        let (_, description) = self
            .control
            .split_once("Description:")
            .ok_or("a control file has a description")?;
        let (summary, sentences) = description.split_once('\n').unwrap_or((description, ""));
        Ok((summary.trim(), sentences))
    }

    /// Makes the package and returns its file.
    pub(super) fn build(self) -> Result<PathBuf, String> {
        match self.format {
            PackageFormat::Deb => super::deb::build(self),
            PackageFormat::Rpm => super::rpm::build(self),
        }
    }
}

/// What is packaged: a commit, or, where the source came without git, a version.
pub(super) fn name_of_source() -> String {
    commit("%h").unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// When that was made, in UNIX seconds.
pub(super) fn seconds_of_source() -> Result<String, String> {
    if let Some(seconds) = commit("%ct") {
        return Ok(seconds);
    }
    let changelog = crate::root().join("CHANGELOG.md");
    let seconds = fs::metadata(&changelog)
        .and_then(|about| about.modified())
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .ok_or_else(|| format!("{}: its time cannot be read", changelog.display()))?;
    Ok(seconds.as_secs().to_string())
}

/// The time of the source as date(1) writes it in this format.
pub(super) fn date_of_source(format: &str) -> Result<String, String> {
    let mut date = Command::new("date");
    date.env("LC_ALL", "C").args([
        "--utc",
        &format!("--date=@{}", seconds_of_source()?),
        &format!("+{format}"),
    ]);
    Ok(tool(&mut date)?.trim().to_owned())
}

fn commit(format: &str) -> Option<String> {
    let root = crate::root();
    let mut git = Command::new("git");
    git.args(["log", "-1", &format!("--format={format}")])
        .current_dir(root);
    if let Some(above) = root.parent() {
        // What was unpacked within another repository is none of its commits.
        git.env("GIT_CEILING_DIRECTORIES", above);
    }
    let text = tool(&mut git).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The builder's name and address, by Debian's own variables.
pub(super) fn builder() -> String {
    let variable = |name| {
        std::env::var(name)
            .ok()
            .filter(|value: &String| !value.is_empty())
    };
    match (variable("DEBFULLNAME"), variable("DEBEMAIL")) {
        (Some(name), Some(mail)) => format!("{name} <{mail}>"),
        _ => DEFAULT_MAINTAINER.to_owned(),
    }
}

pub(super) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn set_mode(path: &Path, mode: u32) -> Result<(), String> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|error| format!("{}: {error}", path.display()))
}
