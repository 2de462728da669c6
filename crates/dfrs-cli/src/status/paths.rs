//! Where the status file and the journal are.

use std::env;
use std::path::{Path, PathBuf};

use dfrs_proto::conf::Config;
use dfrs_proto::status::FILE;

use crate::doctor::slurm::SlurmSettings;

/// Slurm's own default of StateSaveLocation.
const DEFAULT: &str = "/var/spool";

/// The file that was named, or that the configuration says.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    match named {
        Some(path) if path.is_dir() => Ok(path.join(FILE)),
        Some(path) => Ok(path.to_owned()),
        None => configured(&slurm_conf()),
    }
}

/// The journal that dfrs.conf names.
pub(crate) fn journal() -> Result<PathBuf, String> {
    journal_of(&dfrs_conf(), "name the journal, or ").map(|(journal, _)| journal)
}

/// The journal that this dfrs.conf names, and all of it. `or`: what else the reader may do if there is none.
pub(crate) fn journal_of(dfrs_conf: &Path, or: &str) -> Result<(PathBuf, Config), String> {
    let file = dfrs_conf.display();
    let text = std::fs::read_to_string(dfrs_conf).map_err(|error| {
        format!("{file}: {error}; {or}set SLURM_CONF to the slurm.conf beside it")
    })?;
    let config = Config::parse(&text, &file.to_string())
        .map_err(|error| format!("{file}:{}: {}; {or}mend it", error.line, error.what))?;
    match &config.journal {
        Some(journal) => Ok((journal.clone(), config)),
        None => Err(format!(
            "{file}: names no journal; add Journal=/PATH for slurmctld to write, 'scontrol reconfigure', and try again"
        )),
    }
}

/// Where dfrs.conf is.
pub(crate) fn dfrs_conf() -> PathBuf {
    slurm_conf().with_file_name("dfrs.conf")
}

fn slurm_conf() -> PathBuf {
    let named = env::var_os("SLURM_CONF").filter(|path| !path.is_empty());
    named.map_or_else(|| "/etc/slurm/slurm.conf".into(), PathBuf::from)
}

fn configured(slurm_conf: &Path) -> Result<PathBuf, String> {
    let dfrs_conf = slurm_conf.with_file_name("dfrs.conf");
    if let Ok(text) = std::fs::read_to_string(&dfrs_conf) {
        let config = Config::parse(&text, &dfrs_conf.to_string_lossy());
        if let Some(directory) = config.ok().and_then(|config| config.status_directory) {
            return Ok(directory.join(FILE));
        }
    }
    let text = std::fs::read_to_string(slurm_conf).map_err(|error| {
        format!(
            "{}: {error}; set SLURM_CONF, or say where the status file is",
            slurm_conf.display()
        )
    })?;
    Ok(Path::new(&state_save_location(&text)).join(FILE))
}

/// The last one that the text gives.
pub(super) fn state_save_location(slurm_conf: &str) -> String {
    let settings = SlurmSettings::parse(slurm_conf);
    let location = Some(settings.get("StateSaveLocation")).filter(|value| !value.is_empty());
    location.unwrap_or(DEFAULT).to_owned()
}
