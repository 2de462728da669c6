//! `StatusDirectory`: where the status file is.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::path;

pub(super) const KEY: Key<Config> = Key {
    name: "StatusDirectory",
    purpose: KeyPurpose::Operation,
    values: "an absolute path, `none`",
    preset: Preset::Text("none"),
    meaning: "Where slurmctld keeps [the status file](observing.md#dfrs-status), a directory that \
        SlurmUser can write to. `none`: in StateSaveLocation.",
    sample: Some(KeySample {
        comment: "A directory for dfrs_status.json, which users may read; else it is in \
            StateSaveLocation.",
        line: "#StatusDirectory=/var/lib/slurm/status",
    }),
    read: |config, given| {
        config.status_directory = given.path("a directory's", |_| true)?;
        Ok(())
    },
    show: |config| Some(path(config.status_directory.as_deref())),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn status_directory_is_absolute() {
        assert_eq!(printed("", "StatusDirectory"), "none");
        assert_eq!(printed("StatusDirectory=/a/", "StatusDirectory"), "/a/");
        assert_eq!(
            mistake("StatusDirectory=run"),
            "StatusDirectory=run is wrong; allowed: a directory's absolute path, or none"
        );
    }
}
