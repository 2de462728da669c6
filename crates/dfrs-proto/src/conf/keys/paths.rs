//! Keys whose value is a path.

use crate::conf::Config;
use crate::conf::key::{Key, Preset};
use crate::conf::value::set;

pub(super) const JOURNAL: Key<Config> = Key {
    name: "Journal",
    preset: Preset::Text("none"),
    read: |config, given| {
        let path = given.path("a file's", |path| !path.ends_with('/'));
        set(&mut config.journal, path)
    },
};

pub(super) const STATUS_DIRECTORY: Key<Config> = Key {
    name: "StatusDirectory",
    preset: Preset::Text("none"),
    read: |config, given| {
        let path = given.path("a directory's", |_| true);
        set(&mut config.status_directory, path)
    },
};

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn journal_is_a_file() {
        let journal = |lines: &str| config(lines).journal;
        assert_eq!(journal(""), None);
        assert_eq!(printed("", "Journal"), "none");
        assert_eq!(journal("Journal=\"/a b\""), Some(PathBuf::from("/a b")));
        assert_eq!(printed("Journal=/a", "Journal"), "/a");
        for bad in ["a", "/a/"] {
            assert_eq!(
                mistake(&format!("Journal={bad}")),
                format!("Journal={bad} is wrong; allowed: a file's absolute path, or none")
            );
        }
    }

    #[test]
    fn status_directory_is_absolute() {
        let directory = |lines: &str| config(lines).status_directory;
        assert_eq!(directory(""), None);
        assert_eq!(printed("", "StatusDirectory"), "none");
        assert_eq!(directory("StatusDirectory=/a"), Some(PathBuf::from("/a")));
        assert_eq!(printed("StatusDirectory=/a/", "StatusDirectory"), "/a/");
        assert_eq!(
            mistake("StatusDirectory=run"),
            "StatusDirectory=run is wrong; allowed: a directory's absolute path, or none"
        );
    }
}
