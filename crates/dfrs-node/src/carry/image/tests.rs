use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use super::*;
use crate::scratch::Scratch;

/// Images in a directory of the test's own, which is below a directory for all.
fn images(scratch: &Scratch) -> Images {
    fs::write(scratch.path().join("lock"), "").unwrap();
    Images {
        directory: scratch.path().to_owned(),
        quota_bytes: None,
    }
}

fn manifest() -> Manifest {
    Manifest {
        version: manifest::VERSION,
        job: 7,
        uid: 1000,
        restarts: 2,
        root_pid: 301,
        node: "n1".to_owned(),
        cpu_flags: BTreeSet::from(["sse".to_owned()]),
        processes: Vec::new(),
        bytes: 0,
        files: Vec::new(),
    }
}

fn sealed(images: &Images) -> Manifest {
    let image = images.begin(7, 2).unwrap();
    fs::write(image.path().join("core-301.img"), "core").unwrap();
    fs::write(image.path().join("pages-1.img"), "pages").unwrap();
    fs::write(image.path().join(DUMP_LOG), "log").unwrap();
    image.seal(manifest()).unwrap()
}

#[test]
fn sealed_image_is_ready_with_its_files_and_private() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    assert!(images.ready(7).unwrap().is_none());
    let manifest = sealed(&images);
    assert_eq!(manifest.bytes, 9);
    let path = images.path(7);
    assert_eq!(
        fs::read_to_string(path.join("ready")).unwrap(),
        "301 1000 2\n"
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(mode(&path), 0o700);
    for name in ["ready", "manifest.json", "core-301.img", "pages-1.img"] {
        assert_eq!(mode(&path.join(name)), 0o600, "{name}");
    }
    let image = images.ready(7).unwrap().unwrap();
    assert_eq!(image.manifest(), &manifest);
    image.check_files().unwrap();
    // What a restore writes does not matter.
    fs::write(path.join(RESTORE_LOG), "log").unwrap();
    image.check_files().unwrap();
}

#[test]
fn restored_image_is_none_and_goes_with_the_next() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    sealed(&images);
    let image = images.ready(7).unwrap().unwrap();
    image.begin_restored(3).unwrap();
    let path = images.path(7);
    assert_eq!(fs::read_to_string(path.join("restoring")).unwrap(), "3\n");
    // Its dfrsd is killed.
    drop(image);
    let error = images.ready(7).unwrap_err();
    assert!(error.contains("after 3 requeues may have"), "{error}");
    images.confirm_restored(7, 4).unwrap();
    assert!(images.ready(7).is_err());
    images.confirm_restored(7, 3).unwrap();
    assert!(images.ready(7).unwrap().is_none());
    images.confirm_restored(7, 3).unwrap();
    // It stays for a while.
    images.remove_restored();
    images.check_room(8, u64::MAX).unwrap_err();
    assert!(path.join("pages-1.img").exists());
    let restored_before = |age| {
        let mark = File::options().write(true).open(path.join("restored"));
        let then = std::time::SystemTime::now() - age;
        mark.unwrap().set_modified(then).unwrap();
    };
    let names = || fs::read_dir(&path).unwrap().count();
    restored_before(KEPT_WITHOUT_ROOM);
    images.remove_restored();
    assert!(names() > 1);
    images.check_room(8, 0).unwrap();
    assert!(names() > 1);
    images.check_room(8, u64::MAX).unwrap_err();
    assert_eq!((names(), path.join("restored").exists()), (1, true));
    drop(images.begin(7, 3).unwrap());
    sealed(&images);
    let image = images.ready(7).unwrap().unwrap();
    image.begin_restored(3).unwrap();
    image.end_restored().unwrap();
    images.check_room(7, u64::MAX).unwrap_err();
    assert_eq!(names(), 1, "it runs, and needs the room itself");
    restored_before(KEPT_AFTER_RESTORE);
    images.remove_restored();
    assert_eq!(names(), 1);
    restored_before(MARK_KEPT);
    images.check_room(8, 0).unwrap();
    assert!(!path.exists());
    drop(images.begin(7, 3).unwrap());
}

#[test]
fn mark_of_a_start_stays_when_the_job_is_over() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    let marks = || {
        images.discard(7).unwrap();
        let names = fs::read_dir(images.path(7)).into_iter().flatten().flatten();
        names
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect::<Vec<_>>()
    };
    sealed(&images);
    assert!(marks().is_empty(), "it is not to go on from it");
    sealed(&images);
    images.ready(7).unwrap().unwrap().begin_restored(3).unwrap();
    assert!(marks().is_empty(), "it was held, and is over");
    sealed(&images);
    let image = images.ready(7).unwrap().unwrap();
    image.begin_restored(3).unwrap();
    image.end_restored().unwrap();
    assert_eq!(marks(), ["restored"]);
    assert!(!images.has_remains(7).unwrap());
}

#[test]
fn image_that_was_tried_before_can_be_restored() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    sealed(&images);
    // criu's of a restore, and a mark for which there was no room.
    for name in ["stats-restore", "restoring.part"] {
        fs::write(images.path(7).join(name), "").unwrap();
    }
    images.ready(7).unwrap().unwrap().check_files().unwrap();
}

#[test]
fn run_that_went_on_elsewhere_does_not_go_on() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    // There is nothing: it was never dumped.
    images.take_back(7, 2).unwrap();
    sealed(&images);
    let image = images.ready(7).unwrap().unwrap();
    image.begin_restored(3).unwrap();
    let error = images.take_back(7, 2).unwrap_err();
    assert!(error.contains("under way"), "{error}");
    image.end_restored().unwrap();
    let error = images.take_back(7, 2).unwrap_err();
    assert!(error.contains("after 3 requeues"), "{error}");
    assert!(images.begin(7, 2).is_err());
    // The later run has made its own.
    drop(images.begin(7, 3).unwrap());
    sealed(&images);
    assert!(images.take_back(7, 1).is_err());
    assert!(images.ready(7).unwrap().is_some());
    images.take_back(7, 2).unwrap();
    assert!(!images.path(7).exists());
}

#[test]
fn image_that_is_not_sealed_goes() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    let image = images.begin(7, 2).unwrap();
    fs::write(image.path().join("pages-1.img"), "pages").unwrap();
    assert!(images.ready(7).unwrap().is_none());
    drop(image);
    assert!(!images.path(7).exists());
}

#[test]
fn remains_of_a_dump_that_was_cut_off_go_with_the_next() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    let mut image = images.begin(7, 2).unwrap();
    // Its process ends, and its lock with it.
    image.sealed = true;
    drop(image);
    fs::write(images.path(7).join("pages-9.img"), "old").unwrap();
    let manifest = sealed(&images);
    assert_eq!(manifest.files.len(), 2);
}

#[test]
fn ready_image_is_never_dumped_over() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    sealed(&images);
    let error = images.begin(7, 2).unwrap_err();
    assert!(error.contains("there is an image already"), "{error}");
    assert!(images.ready(7).unwrap().is_some());
    images.remove(7).unwrap();
    images.remove(7).unwrap();
    assert!(images.ready(7).unwrap().is_none());
}

#[test]
fn image_in_use_is_left_alone() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    sealed(&images);
    let image = images.ready(7).unwrap().unwrap();
    for error in [images.ready(7).err(), images.remove(7).err()] {
        assert!(error.unwrap().contains("under way"));
    }
    image.check_files().unwrap();
    // That of another job is free, and so is this one later.
    assert!(images.begin(8, 0).is_ok());
    drop(image);
    images.remove(7).unwrap();
    assert!(images.begin(7, 2).is_ok());
}

#[test]
fn lock_stays_when_an_image_goes() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    let image = images.begin(7, 2).unwrap();
    // What removes a directory must not take the lock of what begins there.
    assert!(images.begin(7, 2).unwrap_err().contains("under way"));
    fs::remove_dir_all(images.path(7)).unwrap();
    assert!(images.begin(7, 2).unwrap_err().contains("under way"));
    drop(image);
    let again = images.begin(7, 2).unwrap();
    assert!(images.remove(7).unwrap_err().contains("under way"));
    drop(again);
    images.remove(7).unwrap();
}

#[test]
fn damage_and_strange_files_are_found() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    let path = images.path(7);
    let spoil = |spoil: &dyn Fn(), expected: &str| {
        sealed(&images);
        spoil();
        let image = images.ready(7).unwrap().unwrap();
        let error = image.check_files().unwrap_err();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        drop(image);
        images.remove(7).unwrap();
    };
    let pages = path.join("pages-1.img");
    spoil(&|| fs::write(&pages, "pagez").unwrap(), "damaged");
    spoil(&|| fs::write(&pages, "pages and more").unwrap(), "damaged");
    spoil(&|| fs::remove_file(&pages).unwrap(), "No such file");
    spoil(
        &|| fs::set_permissions(&pages, Permissions::from_mode(0o644)).unwrap(),
        "mode 0600",
    );
    spoil(
        &|| {
            fs::rename(&pages, scratch.path().join("elsewhere")).unwrap();
            symlink(scratch.path().join("elsewhere"), &pages).unwrap();
        },
        "no file",
    );
    spoil(
        &|| fs::write(path.join("more.img"), "").unwrap(),
        "not in its manifest",
    );
}

#[test]
fn manifest_and_ready_have_to_agree() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    sealed(&images);
    let path = images.path(7);
    fs::write(path.join("ready"), "302 1000 2\n").unwrap();
    assert!(images.ready(7).unwrap_err().contains("do not agree"));
    fs::rename(&path, images.path(8)).unwrap();
    fs::write(images.path(8).join("ready"), "301 1000 2\n").unwrap();
    assert!(
        images
            .ready(8)
            .unwrap_err()
            .contains("the image of JobId=7")
    );
    fs::write(images.path(8).join("manifest.json"), "{}").unwrap();
    assert!(images.ready(8).unwrap_err().contains("manifest.json"));
    let mut other = manifest();
    other.version = 1;
    let text = serde_json::to_string(&other).unwrap();
    assert!(Manifest::parse(&text).unwrap_err().contains("version 1"));
}

#[test]
fn directories_of_others_are_refused() {
    let scratch = Scratch::new();
    let images = images(&scratch);
    fs::create_dir(images.path(7)).unwrap();
    fs::set_permissions(images.path(7), Permissions::from_mode(0o755)).unwrap();
    assert!(images.begin(7, 2).unwrap_err().contains("mode 0700"));
    symlink("/", images.path(8)).unwrap();
    assert!(images.begin(8, 0).is_err() && images.remove(8).is_err());
    for directory in ["images", "/nowhere/images", "/tmp"] {
        assert!(
            Images::open(Path::new(directory), None).is_err(),
            "{directory}"
        );
    }
    let error = Images::open(Path::new("/usr"), None).unwrap_err();
    assert!(error.contains("no file 'lock'"), "{error}");
}
