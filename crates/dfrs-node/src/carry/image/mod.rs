//! Images of jobs on disk: made, checked and removed so that none is lost, doubled or read by
//! others.
//!
//! An image is the directory `IMAGES/JOB`, root's, mode 0700: criu's files, `manifest.json`, and
//! last of all `ready`, one line `ROOT_PID UID RESTARTS`. Only with `ready` it is an image; from
//! then on it is the job, until a start has restored it, which a [mark] says. It stays for a
//! while: slurmctld may forget that start. Of the file `IMAGES/lock`, which is made when a site sets
//! the directory up, and which is missing where it is not mounted, the byte JOB is locked in a dump
//! or a restore of a job.

pub mod manifest;
mod mark;
mod room;

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::cgroup::trust::{is_trusted, is_trusted_down_to};
use crate::log;
use manifest::{ImageFile, Manifest, file_names};
use mark::RestoreMark;

/// Mode of an image's directory.
const DIRECTORY_MODE: u32 = 0o700;
/// Mode of its files.
const FILE_MODE: u32 = 0o600;

/// How the names of files end that criu reads.
const IMAGE_FILE: &str = ".img";
const READY: &str = "ready";
const MANIFEST: &str = "manifest.json";
/// `F_WRLCK` and `SEEK_SET` (fcntl(2)).
const WRITE_LOCK: libc::c_short = 1;
const FROM_THE_BEGINNING: libc::c_short = 0;
/// In the directory of all images.
const LOCK: &str = "lock";
/// criu's log of a dump.
pub const DUMP_LOG: &str = "dump.log";
/// criu's log of a restore.
pub const RESTORE_LOG: &str = "restore.log";
/// What criu prints.
pub const OUTPUT: &str = "criu.out";
/// Files in the directory that are not the image's.
const NOT_PART: [&str; 5] = [READY, MANIFEST, DUMP_LOG, RESTORE_LOG, OUTPUT];
/// So long an image stays after it was restored: an administrator may want to use it again, if
/// slurmctld has forgotten that start.
pub const KEPT_AFTER_RESTORE: Duration = Duration::from_secs(600);
/// The same where another image needs its room: by then slurmctld has saved that the job runs
/// (`SAVE_MAX_WAIT` of `slurmctld/state_save.c`, 5 s).
const KEPT_WITHOUT_ROOM: Duration = Duration::from_secs(60);
/// So long its mark stays.
const MARK_KEPT: Duration = Duration::from_secs(86_400);

/// The directory with all images.
#[derive(Debug, Clone)]
pub struct Images {
    directory: PathBuf,
    quota_bytes: Option<u64>,
}

/// An image in the making. Unless it is sealed it goes when it is dropped.
#[derive(Debug)]
pub struct NewImage {
    path: PathBuf,
    sealed: bool,
    _lock: File,
}

/// An image that is ready.
#[derive(Debug)]
pub struct ReadyImage {
    path: PathBuf,
    manifest: Manifest,
    _lock: File,
}

impl Images {
    /// The directory, which all nodes see; with a quota for all images in it, in bytes.
    ///
    /// # Errors
    ///
    /// If it, or one above it, can be written to by others than root; one line.
    pub fn open(directory: &Path, quota_bytes: Option<u64>) -> Result<Images, String> {
        let named = |text: &str| format!("{}: {text}", directory.display());
        let below = directory.strip_prefix("/");
        let below = below.map_err(|_| named("give the whole path of the images"))?;
        match is_trusted_down_to(Path::new("/"), below) {
            Ok(true) if !directory.join(LOCK).exists() => Err(named(
                "no file 'lock' is in it: mount it, or, to set it up for the first time, make that \
                 file once (touch)",
            )),
            Ok(true) => Ok(Images {
                directory: directory.to_owned(),
                quota_bytes,
            }),
            Ok(false) => Err(named(
                "it is not there, or it or a directory above it is not root's alone to write to",
            )),
            Err(error) => Err(named(&error.to_string())),
        }
    }

    /// Where a job's image is.
    pub fn path(&self, job: u32) -> PathBuf {
        self.directory.join(job.to_string())
    }

    /// Refuses an image of the job that would be larger than what is free, or than the quota leaves,
    /// when images that were restored before are removed: its own, too, as it runs.
    ///
    /// # Errors
    ///
    /// How much is missing; one line.
    pub fn check_room(&self, job: u32, bytes: u64) -> Result<(), String> {
        let check = |least_age| {
            self.remove_old(least_age);
            room::check(&self.directory, self.quota_bytes, bytes)
        };
        check(KEPT_AFTER_RESTORE).or_else(|_| {
            self.remove_restored_before(job, Duration::ZERO)?;
            check(KEPT_WITHOUT_ROOM)
        })
    }

    /// Begins an image of the job's run after so many requeues. What a dump left that was cut off is
    /// removed, and the image that this run has gone on from.
    ///
    /// # Errors
    ///
    /// If there is an image already, another dump is under way, or the directory cannot be made.
    pub fn begin(&self, job: u32, restarts: u32) -> Result<NewImage, String> {
        let path = self.path(job);
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let lock = self.lock(job)?;
        match DirBuilder::new().mode(DIRECTORY_MODE).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other.map_err(failed)?,
        }
        check_directory(&path)?;
        refuse_later(&path, restarts)?;
        if path.join(READY).exists() && mark_of(&path)?.is_none() {
            return Err(format!(
                "{}: there is an image already; `dfrsd release` removes it where the job still runs",
                path.display()
            ));
        }
        remove_files(&path).map_err(failed)?;
        Ok(NewImage {
            path,
            sealed: false,
            _lock: lock,
        })
    }

    /// The image of a job; none if there is none, or the job has gone on from it.
    ///
    /// # Errors
    ///
    /// If there is one that cannot be trusted or read, or is in use, or the job may have gone on
    /// from it.
    pub fn ready(&self, job: u32) -> Result<Option<ReadyImage>, String> {
        let path = self.path(job);
        let named = |text: String| format!("{}: {text}", path.display());
        let is_ready = || is_there(&path.join(READY));
        if !is_ready()? {
            return Ok(None);
        }
        let lock = self.lock(job)?;
        // It may have been removed before it was locked.
        if !is_ready()? {
            return Ok(None);
        }
        check_directory(&path)?;
        match mark_of(&path)? {
            None => {}
            Some(RestoreMark { is_sure: true, .. }) => return Ok(None),
            Some(RestoreMark { restarts, .. }) => {
                return Err(named(format!(
                    "the start after {restarts} requeues may have gone on from it"
                )));
            }
        }
        let read = |name: &str| {
            let text = fs::read_to_string(path.join(name));
            text.map_err(|error| named(format!("{name}: {error}")))
        };
        let manifest = Manifest::parse(&read(MANIFEST)?).map_err(named)?;
        if read(READY)? != ready_line(&manifest) {
            return Err(named("ready and manifest.json do not agree".to_owned()));
        }
        if manifest.job != job {
            let of = log::job(manifest.job);
            return Err(named(format!("it is the image of {of}")));
        }
        Ok(Some(ReadyImage {
            path,
            manifest,
            _lock: lock,
        }))
    }

    /// Removes what there is of a job's image, `ready` first. Without one nothing happens.
    ///
    /// # Errors
    ///
    /// If it cannot be removed, or a dump or a restore is under way.
    pub fn remove(&self, job: u32) -> Result<(), String> {
        self.with_locked(job, remove)
    }

    /// Removes the image of a job that is not to go on from it; if it has, its mark stays: slurmctld
    /// may forget that start, and the job's end.
    ///
    /// # Errors
    ///
    /// As [`Self::remove`].
    pub fn discard(&self, job: u32) -> Result<(), String> {
        self.with_locked(job, |path| match mark_of(path)? {
            Some(RestoreMark { is_sure: true, .. }) => leave_mark(path),
            _ => remove(path),
        })
    }

    /// Takes the image back, or what there is of one, for the job's run after so many requeues, which
    /// is to go on where it is: nothing else can go on from it after that.
    ///
    /// # Errors
    ///
    /// As [`Self::remove`]; and if a later run has gone on from it, or made it: what is left of this
    /// one must not go on then.
    pub fn take_back(&self, job: u32, restarts: u32) -> Result<(), String> {
        self.with_locked(job, |path| {
            refuse_later(path, restarts)?;
            remove(path)
        })
    }

    /// Whether a dump of the job was cut off, or its image is complete, and it has not gone on from
    /// that.
    ///
    /// # Errors
    ///
    /// If that cannot be seen; one line.
    pub fn has_remains(&self, job: u32) -> Result<bool, String> {
        let path = self.path(job);
        Ok(mark_of(&path)?.is_none() && is_there(&path)?)
    }

    /// The job's run after so many requeues is here: it has gone on from the image that it was to
    /// restore.
    ///
    /// # Errors
    ///
    /// If that cannot be noted; one line.
    pub fn confirm_restored(&self, job: u32, restarts: u32) -> Result<(), String> {
        let path = self.path(job);
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let own = RestoreMark {
            restarts,
            is_sure: false,
        };
        if mark_of(&path)? != Some(own) {
            return Ok(());
        }
        // Held while it is restored.
        let _lock = self.lock(job)?;
        match mark_of(&path)? == Some(own) {
            true => mark::end(&path).map_err(failed),
            false => Ok(()),
        }
    }

    /// Removes images from which jobs have gone on long ago, but for their marks, and marks of a day
    /// ago. What cannot be removed stays. O(images).
    pub fn remove_restored(&self) {
        self.remove_old(KEPT_AFTER_RESTORE);
    }

    /// Removes an image from which the job has gone on, if that was so long ago, but for its mark;
    /// and that, if it is a day old.
    fn remove_restored_before(&self, job: u32, least_age: Duration) -> Result<(), String> {
        let age = |path: &Path| mark::age(path).filter(|age| *age >= least_age);
        if age(&self.path(job)).is_none() {
            return Ok(());
        }
        self.with_locked(job, |path| match age(path) {
            Some(age) if age >= MARK_KEPT => remove(path),
            Some(_) => leave_mark(path),
            None => Ok(()),
        })
    }

    /// Removes images that were restored so long ago, and marks of a day ago. O(images).
    fn remove_old(&self, least_age: Duration) {
        let entries = fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten();
        let jobs = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        for job in jobs {
            // What cannot be removed is counted.
            let _ = self.remove_restored_before(job, least_age);
        }
    }

    /// Does something with the directory of a job's image, if there is one: of root's, and locked
    /// meanwhile.
    fn with_locked(
        &self,
        job: u32,
        act: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<(), String> {
        let path = self.path(job);
        if !is_there(&path)? {
            return Ok(());
        }
        let _lock = self.lock(job)?;
        check_directory(&path)?;
        act(&path)
    }

    /// Locks a job's image until what is returned is dropped.
    fn lock(&self, job: u32) -> Result<File, String> {
        let named = |text: &str| format!("{}: {text}", self.path(job).display());
        let failed = |error: io::Error| named(&error.to_string());
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.directory.join(LOCK))
            .map_err(failed)?;
        let byte = libc::flock {
            l_type: WRITE_LOCK,
            l_whence: FROM_THE_BEGINNING,
            l_start: libc::off_t::from(job),
            l_len: 1,
            l_pid: 0,
        };
        match fcntl(&file, FcntlArg::F_OFD_SETLK(&byte)) {
            Ok(_) => {
                // A client of NFS goes by names that it has looked up before, for a minute, unless
                // the directory with them is opened.
                for directory in [self.directory.clone(), self.path(job)] {
                    let _ = File::open(directory);
                }
                Ok(file)
            }
            Err(Errno::EAGAIN | Errno::EACCES) => {
                Err(named("another dump or restore of it is under way"))
            }
            Err(error) => Err(failed(error.into())),
        }
    }
}

impl NewImage {
    /// Where its files are to be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it an image: all of it is on disk, described, and marked as ready. The manifest's size
    /// and files are filled in.
    ///
    /// # Errors
    ///
    /// If that fails; the image is removed. One line.
    pub fn seal(mut self, mut manifest: Manifest) -> Result<Manifest, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path.display());
        manifest.files.clear();
        for name in file_names(&self.path).map_err(failed)? {
            let file = File::open(self.path.join(&name)).map_err(failed)?;
            file.set_permissions(Permissions::from_mode(FILE_MODE))
                .and_then(|()| file.sync_all())
                .map_err(failed)?;
            let described = ImageFile::describe(&self.path, &name).map_err(failed)?;
            manifest.files.push(described);
        }
        manifest.bytes = manifest.files.iter().map(|file| file.bytes).sum();
        let text = serde_json::to_string_pretty(&manifest).map_err(|error| error.to_string())?;
        write_synced(&self.path, MANIFEST, &(text + "\n")).map_err(failed)?;
        sync_directory(&self.path).map_err(failed)?;
        if let Some(above) = self.path.parent() {
            sync_directory(above).map_err(failed)?;
        }
        write_synced(&self.path, READY, &ready_line(&manifest)).map_err(failed)?;
        // From here on the image may be seen: it stays even if the last step cannot be confirmed.
        self.sealed = true;
        sync_directory(&self.path).map_err(failed)?;
        Ok(manifest)
    }
}

impl Drop for NewImage {
    fn drop(&mut self) {
        if !self.sealed {
            // What stays is no image, and goes with the next one.
            let _ = remove(&self.path);
        }
    }
}

impl ReadyImage {
    /// Where its files are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether its files are root's alone and as they were dumped.
    ///
    /// # Errors
    ///
    /// The first that is not; one line.
    pub fn check_files(&self) -> Result<(), String> {
        let named = |text: String| format!("{}: {text}", self.path.display());
        let names = file_names(&self.path).map_err(|error| named(error.to_string()))?;
        let known = &self.manifest.files;
        // Beside the image lie criu's statistics of a restore, and marks that were cut off.
        let unknown = |name: &&String| {
            name.ends_with(IMAGE_FILE) && known.iter().all(|file| file.name != **name)
        };
        if let Some(name) = names.iter().find(unknown) {
            return Err(named(format!("{name} is not in its manifest.json")));
        }
        known
            .iter()
            .try_for_each(|file| file.check(&self.path))
            .map_err(named)
    }

    /// What was restored is about to go on, in the start after so many requeues: from now on no
    /// other start does from this image.
    ///
    /// # Errors
    ///
    /// If that cannot be noted, and what was restored must not go on then; one line.
    pub fn begin_restored(&self, restarts: u32) -> Result<(), String> {
        mark::begin(&self.path, restarts)
            .map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// It has gone on.
    ///
    /// # Errors
    ///
    /// If that cannot be noted; one line.
    pub fn end_restored(self) -> Result<(), String> {
        mark::end(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

fn ready_line(manifest: &Manifest) -> String {
    format!(
        "{} {} {}\n",
        manifest.root_pid, manifest.uid, manifest.restarts
    )
}

fn is_there(path: &Path) -> Result<bool, String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => other
            .map(|_| true)
            .map_err(|error| format!("{}: {error}", path.display())),
    }
}

fn mark_of(path: &Path) -> Result<Option<RestoreMark>, String> {
    mark::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Refuses what is in a directory if it is of later than the job's run after so many requeues.
fn refuse_later(path: &Path, restarts: u32) -> Result<(), String> {
    let restored = mark_of(path)?.map(|mark| mark.restarts);
    // One that cannot be read is none that could be restored.
    let made = fs::read_to_string(path.join(READY)).ok();
    let made = made.and_then(|line| line.split_whitespace().last()?.parse().ok());
    match restored.max(made) {
        Some(later) if later > restarts => Err(format!(
            "{}: the job went on from it elsewhere after {later} requeues; what is left here is of \
             before, and must not go on",
            path.display()
        )),
        _ => Ok(()),
    }
}

/// Refuses a directory of an image that is not root's alone.
fn check_directory(path: &Path) -> Result<(), String> {
    let named = |text: &str| format!("{}: {text}", path.display());
    let is_ours = is_trusted(path).map_err(|error| named(&error.to_string()))?;
    let found = fs::symlink_metadata(path).map_err(|error| named(&error.to_string()))?;
    match is_ours && found.mode() & 0o7777 == DIRECTORY_MODE {
        true => Ok(()),
        false => Err(named("not a directory of root's with mode 0700")),
    }
}

/// Removes an image's directory.
fn remove(path: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: cannot be removed: {error}", path.display());
    remove_files(path).map_err(failed)?;
    fs::remove_dir(path).map_err(failed)
}

/// Removes what is in an image's directory but its mark.
fn leave_mark(path: &Path) -> Result<(), String> {
    remove_but_marks(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Removes the files in a directory; last those by which it is known for one that was restored.
fn remove_files(path: &Path) -> io::Result<()> {
    remove_but_marks(path)?;
    for name in mark::NAMES {
        remove_file(&path.join(name))?;
    }
    Ok(())
}

/// Removes the others: first `ready`, for good. There are no directories in an image.
fn remove_but_marks(path: &Path) -> io::Result<()> {
    if remove_file(&path.join(READY))? {
        sync_directory(path)?;
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if !mark::NAMES.iter().any(|name| entry.file_name() == *name) {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}

/// Whether it was there.
fn remove_file(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => other.map(|()| true),
    }
}

/// Writes a file that is there as a whole, and on disk, or not at all.
fn write_synced(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    let part = directory.join(format!("{name}.part"));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(FILE_MODE)
        .open(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(part, directory.join(name))
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests;
