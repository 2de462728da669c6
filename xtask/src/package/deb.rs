//! A package for Debian, by dpkg-deb.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::stage::{
    PLAIN, PROGRAM, PackageStage, builder, date_of_source, name_of_source, read, seconds_of_source,
};
use super::{binary, tool};

/// Makes it and returns its file.
pub(super) fn build(stage: PackageStage) -> Result<PathBuf, String> {
    let architecture = tool(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let version = env!("CARGO_PKG_VERSION");
    let documents = stage.documents();
    let copyright = read(&crate::root().join("packaging/copyright"))?;
    stage.write(
        &format!("{documents}/copyright"),
        copyright.as_bytes(),
        PLAIN,
    )?;
    stage.compressed(
        changelog(&stage.name)?.as_bytes(),
        &format!("{documents}/changelog.gz"),
    )?;
    for script in ["preinst", "postinst", "prerm", "postrm"] {
        if let Ok(text) = stage.template(script) {
            stage.write(&format!("DEBIAN/{script}"), text.as_bytes(), PROGRAM)?;
        }
    }
    let control = control(&stage, version, architecture)?;
    stage.write("DEBIAN/control", control.as_bytes(), PLAIN)?;
    if !stage.configuration.is_empty() {
        let list = stage.configuration.join("\n") + "\n";
        stage.write("DEBIAN/conffiles", list.as_bytes(), PLAIN)?;
    }
    checksums(&stage)?;
    let file = stage
        .output
        .join(format!("{}_{version}_{architecture}.deb", stage.name));
    stage.open_directories()?;
    let mut dpkg = Command::new("dpkg-deb");
    // The same contents make the same package, whenever it is made.
    dpkg.env("SOURCE_DATE_EPOCH", seconds_of_source()?)
        .args(["--build", "--root-owner-group", "-Zxz"])
        .arg(&stage.root)
        .arg(&file);
    tool(&mut dpkg)?;
    Ok(file)
}

/// With what the programs need.
fn control(stage: &PackageStage, version: &str, architecture: &str) -> Result<String, String> {
    let mut needs = Vec::new();
    for object in &stage.objects {
        needs.extend(binary::needs(object)?);
    }
    needs.sort();
    needs.dedup();
    let needs = needs.join(", ");
    let (before, description) = stage
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
    Ok(format!("{}\nDescription:{description}", fields.join("\n")))
}

fn changelog(name: &str) -> Result<String, String> {
    Ok(format!(
        "{name} ({}) unstable; urgency=medium\n\n  * Of {}; what changed is in CHANGELOG.md of the source.\n\n -- {}  {}\n",
        env!("CARGO_PKG_VERSION"),
        name_of_source(),
        builder(),
        date_of_source("%a, %d %b %Y %H:%M:%S +0000")?
    ))
}

fn checksums(stage: &PackageStage) -> Result<(), String> {
    let script =
        "find . -type f ! -path './DEBIAN/*' -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 md5sum";
    let sums = Command::new("sh")
        .args(["-c", script])
        .current_dir(&stage.root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("sh cannot be run: {error}"))?;
    stage.write("DEBIAN/md5sums", &sums.stdout, PLAIN)
}
