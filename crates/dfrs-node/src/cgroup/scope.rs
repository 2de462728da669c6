//! Where Slurm's scope is in the tree of cgroup v2.
//!
//! slurmd makes it below `system.slice`, or below the container's own group that it lives in; a
//! release or a site may have another slice. So it is looked for, but only where root alone can
//! have made it: a user who has a systemd of their own could make one of that name, with jobs in
//! it, and dfrsd would treat it as the real one.

use std::path::{Path, PathBuf};

use super::CgroupError;
use super::files::{self, failed};
use super::trust::is_trusted;

/// How far below the root it may be: a container in a pod in a slice is at 6.
const MAX_DEPTH: usize = 8;
/// How many directories are looked at for it, at most.
const MAX_VISITED: usize = 4096;
/// How many directories that are not trusted are looked at, to report what was found there.
const MAX_VISITED_OF_OTHERS: usize = 256;
/// What systemd hands to users.
const USER_SLICE: &str = "user.slice";
/// Where slurmd's unit has it, as Slurm 22.05 to 25.05 do by themselves.
const SYSTEM_SLICE: &str = "system.slice";

/// What a search found; paths are relative to the root.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FoundScopes {
    /// Slurm's scopes, the best first: one, unless slurmd was restarted with another `CgroupSlice`,
    /// or by another build, while jobs ran: these stay where they are.
    pub scopes: Vec<PathBuf>,
    /// A directory of that name that a user other than root made, or could have.
    pub ignored: Option<PathBuf>,
}

/// Looks for the scopes of `node` below `root`. One that names the node comes before one that names
/// none (a Slurm built for one `slurmd` a host), one below `system.slice` before others, a high one
/// before a low one. Another node's is never taken; one that names none and is lower than the best may be that
/// of a container, and is not taken beside it.
///
/// # Errors
///
/// If a directory that may hold it cannot be read.
pub fn find(root: &Path, node: &str) -> Result<FoundScopes, CgroupError> {
    let search = ScopeSearch {
        root,
        named: format!("{node}_slurmstepd.scope"),
    };
    search.run()
}

struct ScopeSearch<'a> {
    root: &'a Path,
    named: String,
}

/// What is better comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScopeCandidate {
    nameless: bool,
    unusual: bool,
    depth: usize,
    path: PathBuf,
}

impl ScopeSearch<'_> {
    fn run(&self) -> Result<FoundScopes, CgroupError> {
        let (mut candidates, mut others, mut ignored) = (Vec::new(), Vec::new(), None);
        let mut level = Vec::new();
        if self.is_trusted(self.root)? {
            level.push(self.root.to_path_buf());
        }
        let mut visited = 0;
        for depth in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for directory in level {
                visited += 1;
                if visited > MAX_VISITED {
                    break;
                }
                for (name, path) in files::subdirectories(&directory)? {
                    let trusted = name != USER_SLICE && self.is_trusted(&path)?;
                    match (self.is_ours(&name), trusted) {
                        (true, true) => {
                            candidates.push(self.candidate(&name, &path, depth));
                        }
                        (true, false) => ignored = ignored.or(Some(path)),
                        (false, true) if !name.ends_with("slurmstepd.scope") => next.push(path),
                        (false, true) => {}
                        (false, false) => others.push(path),
                    }
                }
            }
            level = next;
        }
        let ignored = ignored.or_else(|| self.find_among(others));
        Ok(FoundScopes {
            scopes: chosen(candidates),
            ignored: ignored.map(|path| self.below(&path)),
        })
    }

    fn is_ours(&self, name: &str) -> bool {
        name == self.named || name == "slurmstepd.scope"
    }

    fn is_trusted(&self, path: &Path) -> Result<bool, CgroupError> {
        is_trusted(path).map_err(failed("look at", path))
    }

    fn candidate(&self, name: &str, path: &Path, depth: usize) -> ScopeCandidate {
        let path = self.below(path);
        ScopeCandidate {
            nameless: name != self.named,
            unusual: !path.starts_with(SYSTEM_SLICE),
            depth,
            path,
        }
    }

    /// The first of that name in directories that are not trusted: only to report it, so what
    /// cannot be read there does not matter, and neither does what is missed.
    fn find_among(&self, mut level: Vec<PathBuf>) -> Option<PathBuf> {
        let mut visited = 0;
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for directory in level {
                visited += 1;
                if visited > MAX_VISITED_OF_OTHERS {
                    return None;
                }
                for (name, path) in files::subdirectories(&directory).unwrap_or_default() {
                    if self.is_ours(&name) {
                        return Some(path);
                    }
                    next.push(path);
                }
            }
            level = next;
        }
        None
    }

    fn below(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root).unwrap_or(path).to_path_buf()
    }
}

/// The best, and what may be the same node's beside it.
fn chosen(mut candidates: Vec<ScopeCandidate>) -> Vec<PathBuf> {
    candidates.sort();
    let Some(best) = candidates.first() else {
        return Vec::new();
    };
    let (nameless, depth) = (best.nameless, best.depth);
    let is_ours = |other: &ScopeCandidate| {
        let is_of_another_build = other.nameless != nameless && other.depth == depth;
        is_of_another_build || (other.nameless == nameless && (!nameless || other.depth == depth))
    };
    candidates.retain(is_ours);
    candidates
        .into_iter()
        .map(|candidate| candidate.path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn made(paths: &[&str]) -> Scratch {
        let scratch = Scratch::new();
        for path in paths {
            fs::create_dir_all(scratch.path().join(path)).unwrap();
        }
        scratch
    }

    fn open_to_all(scratch: &Scratch, path: &str) {
        fs::set_permissions(scratch.path().join(path), fs::Permissions::from_mode(0o777)).unwrap();
    }

    fn found(scratch: &Scratch) -> (Option<String>, Option<String>) {
        let text = |path: PathBuf| path.to_str().unwrap().to_string();
        let found = find(scratch.path(), "n1").unwrap();
        let best = found.scopes.into_iter().next();
        (best.map(text), found.ignored.map(text))
    }

    fn is(path: &str) -> Option<String> {
        Some(path.to_string())
    }

    #[test]
    fn scope_is_chosen_by_name_slice_and_depth() {
        let order = [
            "system.slice/n1_slurmstepd.scope",
            "system.slice/docker-0a.scope/system.slice/n1_slurmstepd.scope",
            "other.slice/n1_slurmstepd.scope",
            "system.slice/slurmstepd.scope",
            "other.slice/slurmstepd.scope",
        ];
        for (at, best) in order.iter().enumerate() {
            let scratch = made(&order[at..]);
            fs::create_dir_all(scratch.path().join("system.slice/n10_slurmstepd.scope")).unwrap();
            assert_eq!(found(&scratch), (is(best), None));
        }
    }

    #[test]
    fn all_scopes_of_the_node_precede_those_of_containers() {
        let taken = |paths: &[&str]| {
            let scopes = find(made(paths).path(), "n1").unwrap().scopes;
            scopes
                .iter()
                .map(|path| path.to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let all = [
            "system.slice/n1_slurmstepd.scope",
            "other.slice/n1_slurmstepd.scope",
            "system.slice/slurmstepd.scope",
        ];
        assert_eq!(taken(&all), all);
        let container = "system.slice/docker-0a.scope/system.slice/slurmstepd.scope";
        assert_eq!(taken(&[container]), [container]);
        assert_eq!(taken(&[all[2], container]), [all[2]]);
        assert_eq!(taken(&[all[0], container]), [all[0]]);
    }

    #[test]
    fn scope_in_user_slice_is_ignored_and_reported() {
        let users = "user.slice/user-1000.slice/user@1000.service/n1_slurmstepd.scope";
        let scratch = made(&[users, "system.slice"]);
        assert_eq!(found(&scratch), (None, is(users)));
        fs::create_dir_all(scratch.path().join("system.slice/slurmstepd.scope")).unwrap();
        assert_eq!(
            found(&scratch),
            (is("system.slice/slurmstepd.scope"), is(users))
        );
    }

    #[test]
    fn scope_is_ignored_when_its_path_is_writable_by_others() {
        let scratch = made(&["system.slice/n1_slurmstepd.scope"]);
        open_to_all(&scratch, "system.slice/n1_slurmstepd.scope");
        let scope = "system.slice/n1_slurmstepd.scope";
        assert_eq!(found(&scratch), (None, is(scope)));
        let scratch = made(&[scope]);
        open_to_all(&scratch, "system.slice");
        assert_eq!(found(&scratch), (None, is(scope)));
        let scratch = made(&[scope]);
        open_to_all(&scratch, "");
        assert_eq!(found(&scratch), (None, None));
    }

    #[test]
    fn many_directories_of_a_user_hide_nothing() {
        let scratch = made(&["a.slice/b.slice/slurmstepd.scope"]);
        for number in 0..2 * MAX_VISITED_OF_OTHERS {
            let path = format!("user.slice/user-1000.slice/{number}");
            fs::create_dir_all(scratch.path().join(path)).unwrap();
        }
        assert_eq!(
            found(&scratch),
            (is("a.slice/b.slice/slurmstepd.scope"), None)
        );
    }
}
