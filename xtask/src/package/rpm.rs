//! A package for systems with RPM, by rpmbuild, which finds out itself what the programs need.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{PLAIN, PackageStage, builder, date_of_source, name_of_source, read};
use super::tool;
use crate::files;

/// Counts packages of one version; there is one.
const RELEASE: &str = "1";

/// Makes it and returns its file.
pub(super) fn build(stage: PackageStage) -> Result<PathBuf, String> {
    let licence = read(&crate::root().join("LICENSE"))?;
    let to = format!("usr/share/licenses/{}/LICENSE", stage.name);
    stage.write(&to, licence.as_bytes(), PLAIN)?;
    stage.open_directories()?;
    let work = stage.output.join("rpmbuild");
    let specification = work.join(format!("{}.spec", stage.name));
    let text = specification_of(&stage)?;
    std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    std::fs::write(&specification, text)
        .map_err(|error| format!("{}: {error}", specification.display()))?;
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let output = absolute(&stage.output)?;
    let mut rpmbuild = Command::new("rpmbuild");
    rpmbuild.arg("-bb").arg("--quiet");
    for (name, value) in [
        ("_topdir", absolute(&work)?.display().to_string()),
        ("_rpmdir", output.display().to_string()),
        (
            "_rpmfilename",
            "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm".to_owned(),
        ),
        ("staged", absolute(&stage.root)?.display().to_string()),
        // What is staged is stripped and compressed already.
        ("debug_package", "%{nil}".to_owned()),
        ("__os_install_post", "%{nil}".to_owned()),
        ("_build_id_links", "none".to_owned()),
    ] {
        rpmbuild.arg("--define").arg(format!("{name} {value}"));
    }
    tool(rpmbuild.arg(&specification)).map_err(|problem| {
        format!("{problem} (rpmbuild is in Debian's package rpm, elsewhere in rpm-build)")
    })?;
    let name = format!(
        "{}-{}-{RELEASE}.{}.rpm",
        stage.name,
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    );
    Ok(output.join(name))
}

/// Name and description are those of Debian's control file; `packaging/NAME.spec` has what the package requires,
/// and its scripts.
fn specification_of(stage: &PackageStage) -> Result<String, String> {
    let (summary, sentences) = stage.description()?;
    let summary = capitalized(summary);
    let own = stage.template("spec")?;
    let lines: Vec<&str> = own.lines().filter(|line| !line.starts_with('#')).collect();
    let scripts = lines.iter().position(|line| line.starts_with('%'));
    let (requires, scripts) = lines.split_at(scripts.unwrap_or(lines.len()));
    Ok(format!(
        "Name: {name}\nVersion: {version}\nRelease: {RELEASE}\nSummary: {summary}\nLicense: GPL-2.0-or-later\n\
         Group: System/Daemons\nPackager: {builder}\n{requires}\n\n%description\n{description}\n\n\
         %install\ncp -a %{{staged}}/. %{{buildroot}}/\n\n{scripts}\n\n%files\n{files}\n\n\
         %changelog\n* {date} {builder} - {version}-{RELEASE}\n- Of {source}; what changed is in CHANGELOG.md of the source.\n",
        name = stage.name,
        version = env!("CARGO_PKG_VERSION"),
        builder = builder(),
        requires = requires.join("\n").trim(),
        description = unescape_description(sentences),
        scripts = scripts.join("\n"),
        files = files(stage)?.join("\n"),
        date = date_of_source("%a %b %d %Y")?,
        source = name_of_source(),
    ))
}

/// Summaries begin with a capital, other than Debian's.
fn capitalized(summary: &str) -> String {
    let mut letters = summary.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Without Debian's blanks and dots.
fn unescape_description(sentences: &str) -> String {
    let lines = sentences.lines().map(|line| match line.trim() {
        "." => "",
        line => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn files(stage: &PackageStage) -> Result<Vec<String>, String> {
    let mut files = vec!["%defattr(-,root,root,-)".to_owned()];
    let documents = format!("/{}", stage.documents());
    let licences = format!("/usr/share/licenses/{}", stage.name);
    files.push(format!("%dir {licences}"));
    let mut directories = Vec::new();
    for path in files::below(&stage.root)? {
        let path = path.strip_prefix(&stage.root).unwrap_or(&path);
        let path = format!("/{}", path.display());
        let kind = if stage.configuration.contains(&path) {
            "%config(noreplace) "
        } else if path.starts_with(&licences) {
            "%license "
        } else if path.starts_with(&documents) {
            let directory = Path::new(&path).parent().unwrap_or(Path::new("/"));
            directories.push(format!("%dir {}", directory.display()));
            "%doc "
        } else {
            ""
        };
        files.push(format!("{kind}{path}"));
    }
    directories.sort();
    directories.dedup();
    files.extend(directories);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_of_debian_are_paragraphs() {
        assert_eq!(
            unescape_description(" One\n two.\n .\n Three.\n"),
            "One\ntwo.\n\nThree."
        );
    }
}
