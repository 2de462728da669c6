//! `Journal`: where every event and decision is recorded.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::path;

pub(super) const KEY: Key<Config> = Key {
    name: "Journal",
    purpose: KeyPurpose::Operation,
    values: "an absolute path, `none`",
    preset: Preset::Text("none"),
    meaning: "Where slurmctld (as SlurmUser) records every event: [the journal](journal.md). An \
        existing journal is continued.",
    sample: Some(KeySample {
        comment: "One JSON line per event, for \"dfrs replay\", \"dfrs check\" and programs of your \
            own.",
        line: "#Journal=/var/log/slurm/dfrs-journal.jsonl",
    }),
    read: |config, given| {
        config.journal = given.path("a file's", |path| !path.ends_with('/'))?;
        Ok(())
    },
    show: |config| Some(path(config.journal.as_deref())),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn journal_is_a_file() {
        assert_eq!(printed("", "Journal"), "none");
        assert_eq!(printed("Journal=/a", "Journal"), "/a");
        for bad in ["a", "/a/"] {
            assert_eq!(
                mistake(&format!("Journal={bad}")),
                format!("Journal={bad} is wrong; allowed: a file's absolute path, or none")
            );
        }
    }
}
