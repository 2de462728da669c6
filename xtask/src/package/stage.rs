//! One package on its way: its files in a directory, then dpkg-deb.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{binary, files_in, tool};

/// Files that are never changed, and programs.
const PLAIN: u32 = 0o644;
const PROGRAM: u32 = 0o755;
/// Of the changelog and the control file, unless DEBFULLNAME and DEBEMAIL say who builds.
const NOBODY: &str = "The slurm-dfrs authors <nobody@localhost>";

pub(super) struct Stage {
    /// The name of the templates in packaging/.
    template: &'static str,
    name: String,
    root: PathBuf,
    output: PathBuf,
    control: String,
    configuration: Vec<String>,
    needs: Vec<String>,
}

impl Stage {
    /// An empty one; `words` are replaced in the control file.
    pub(super) fn new(
        template: &'static str,
        output: &Path,
        words: &[(&str, &str)],
    ) -> Result<Self, String> {
        let path = crate::root().join(format!("packaging/{template}.control"));
        let mut control = read(&path)?;
        for (from, to) in words {
            control = control.replace(from, to);
        }
        let first = control.lines().next().unwrap_or_default();
        let name = first.strip_prefix("Package: ");
        let name = name
            .ok_or("a control file begins with Package:")?
            .to_owned();
        let root = output.join(&name);
        if root.exists() {
            fs::remove_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
        }
        let stage = Self {
            template,
            name,
            root,
            output: output.to_owned(),
            control,
            configuration: Vec::new(),
            needs: Vec::new(),
        };
        let copyright = read(&crate::root().join("packaging/copyright"))?;
        let documents = stage.documents();
        stage.write(
            &format!("{documents}/copyright"),
            copyright.as_bytes(),
            PLAIN,
        )?;
        let changelog = format!("{documents}/changelog.gz");
        let text = stage.changelog()?;
        stage.compressed(text.as_bytes(), &changelog)?;
        Ok(stage)
    }

    fn documents(&self) -> String {
        format!("usr/share/doc/{}", self.name)
    }

    fn changelog(&self) -> Result<String, String> {
        let git = |format: &str| {
            let mut git = Command::new("git");
            tool(git.args(["log", "-1", format]).current_dir(crate::root()))
        };
        Ok(format!(
            "{} ({}) unstable; urgency=medium\n\n  * Of {}; what changed is in CHANGELOG.md of the source.\n\n -- {}  {}\n",
            self.name,
            env!("CARGO_PKG_VERSION"),
            git("--format=%h")?.trim(),
            builder(),
            git("--format=%cD")?.trim()
        ))
    }

    /// A program, without symbols that only debuggers need.
    pub(super) fn program(&mut self, from: &Path, to: &str) -> Result<(), String> {
        self.object(from, to, PROGRAM)
    }

    /// The same for a library.
    pub(super) fn library(&mut self, from: &Path, to: &str) -> Result<(), String> {
        self.object(from, to, PLAIN)
    }

    fn object(&mut self, from: &Path, to: &str, mode: u32) -> Result<(), String> {
        let target = self.place(to)?;
        let strip = ["--strip-unneeded", "--remove-section=.comment", "-o"];
        tool(Command::new("strip").args(strip).arg(&target).arg(from))?;
        self.needs.extend(binary::needs(&target)?);
        set_mode(&target, mode)
    }

    pub(super) fn file(&mut self, from: &Path, to: &str) -> Result<(), String> {
        let bytes = fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        self.write(to, &bytes, PLAIN)
    }

    /// A file of packaging/ that administrators change.
    pub(super) fn configuration(&mut self, ending: &str, to: &str) -> Result<(), String> {
        let from = crate::root().join(format!("packaging/{}.{ending}", self.template));
        self.configuration.push(format!("/{to}"));
        self.file(&from, to)
    }

    /// A maintainer's script of packaging/.
    pub(super) fn script(&mut self, which: &str) -> Result<(), String> {
        let from = crate::root().join(format!("packaging/{}.{which}", self.template));
        let text = read(&from)?;
        self.write(&format!("DEBIAN/{which}"), text.as_bytes(), PROGRAM)
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

    /// A file for people.
    pub(super) fn document(&mut self, from: &Path, below: &str) -> Result<(), String> {
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let to = match below {
            "" => format!("{}/{name}", self.documents()),
            below => format!("{}/{below}/{name}", self.documents()),
        };
        self.file(from, &to)
    }

    /// As small as it gets and without its time, as Debian wants it.
    fn compressed(&self, bytes: &[u8], to: &str) -> Result<(), String> {
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

    fn write(&self, to: &str, bytes: &[u8], mode: u32) -> Result<(), String> {
        let path = self.place(to)?;
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        set_mode(&path, mode)
    }

    /// Makes the package and returns its file.
    pub(super) fn build(mut self) -> Result<PathBuf, String> {
        let architecture = tool(Command::new("dpkg").arg("--print-architecture"))?;
        let architecture = architecture.trim();
        let version = env!("CARGO_PKG_VERSION");
        self.needs.sort();
        self.needs.dedup();
        let needs = self.needs.join(", ");
        let (before, description) = self
            .control
            .split_once("Description:")
            .ok_or("a control file has a description")?;
        let mut fields: Vec<String> = before.lines().map(str::to_owned).collect();
        match fields
            .iter_mut()
            .find(|field| field.starts_with("Depends: "))
        {
            Some(depends) => *depends = format!("{depends}, {needs}"),
            None => fields.push(format!("Depends: {needs}")),
        }
        fields.push(format!("Version: {version}"));
        fields.push(format!("Architecture: {architecture}"));
        fields.push(format!("Maintainer: {}", builder()));
        let control = format!("{}\nDescription:{description}", fields.join("\n"));
        self.write("DEBIAN/control", control.as_bytes(), PLAIN)?;
        if !self.configuration.is_empty() {
            let list = self.configuration.join("\n") + "\n";
            self.write("DEBIAN/conffiles", list.as_bytes(), PLAIN)?;
        }
        self.checksums()?;
        let file = self
            .output
            .join(format!("{}_{version}_{architecture}.deb", self.name));
        let mut dpkg = Command::new("dpkg-deb");
        dpkg.args(["--build", "--root-owner-group", "-Zxz"])
            .arg(&self.root)
            .arg(&file);
        // All directories as Debian has them, whatever the umask is here.
        tool(
            Command::new("chmod")
                .args(["-R", "u=rwX,go=rX"])
                .arg(&self.root),
        )?;
        tool(&mut dpkg)?;
        Ok(file)
    }

    fn checksums(&self) -> Result<(), String> {
        let script = "find . -type f ! -path './DEBIAN/*' -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 md5sum";
        let sums = Command::new("sh")
            .args(["-c", script])
            .current_dir(&self.root)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("sh cannot be run: {error}"))?;
        self.write("DEBIAN/md5sums", &sums.stdout, PLAIN)
    }
}

/// Who builds, as Debian's own tools ask it.
fn builder() -> String {
    let variable = |name| {
        std::env::var(name)
            .ok()
            .filter(|value: &String| !value.is_empty())
    };
    match (variable("DEBFULLNAME"), variable("DEBEMAIL")) {
        (Some(name), Some(mail)) => format!("{name} <{mail}>"),
        _ => NOBODY.to_owned(),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn set_mode(path: &Path, mode: u32) -> Result<(), String> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|error| format!("{}: {error}", path.display()))
}
