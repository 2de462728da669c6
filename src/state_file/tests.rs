//! Kept, torn, full and hanging.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

use dfrs_agent::job::ledger::LedgerRecord;
use dfrs_agent::job::life::Life;
use dfrs_agent::publish::state::{Head, PersistedJob};
use dfrs_core::{Experience, Span, Time};
use proptest::prelude::*;

use super::*;
use crate::log::CapturedLog as KeptLog;

/// Longer than anything takes: only a test that fails waits so long.
const FAILED: Duration = Duration::from_secs(60);

fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dfrs-state-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a temporary directory");
    path
}

fn record(virtual_time: i64) -> LedgerRecord {
    let mut record = LedgerRecord::new(5, Time(9), Life::default());
    record.progress = record.progress.with_virtual_time(Span(virtual_time));
    record
}

fn changes(jobs: &[(u32, Option<i64>)]) -> StateChanges {
    let kept = |virtual_time| PersistedJob::Record(Box::new(record(virtual_time)));
    StateChanges {
        head: None,
        jobs: jobs
            .iter()
            .map(|(id, time)| (*id, time.map(kept)))
            .collect(),
    }
}

fn with_head(in_order: bool) -> StateChanges {
    let head = Head {
        partitions: vec!["dfrs".into()],
        journal: None,
        experience: Experience::default(),
        in_order,
        ..Head::default()
    };
    StateChanges {
        head: Some(head),
        jobs: BTreeMap::new(),
    }
}

fn open(path: &Path) -> (StateFile, State) {
    StateFile::open(path, None, Box::new(|| {}), &Log::discarding()).expect("a thread")
}

#[test]
fn saved_state_survives_a_crash_at_any_time() {
    let directory = directory("round-trip");
    let path = path_in(&directory);
    let (mut file, mut state) = open(&path);
    assert_eq!(state, State::default());
    let waits = PersistedJob::Waits {
        submit_time: 7,
        admitted: true,
        shown: false,
    };
    let all = [
        with_head(false),
        changes(&[(1, Some(10)), (2, Some(20))]),
        changes(&[(1, None), (3, Some(30))]),
        StateChanges {
            head: None,
            jobs: BTreeMap::from([(4, Some(waits))]),
        },
        with_head(true),
    ];
    for changes in all {
        let number = file.save(changes.clone());
        assert!(file.wait(number), "it is durable");
        changes.apply_to(&mut state);
        assert_eq!(load(&path).as_ref(), Ok(&state), "as after a crash now");
    }
    file.finish();
    assert_eq!(open(&path).1, state);
    fs::remove_dir_all(directory).expect("cleans up");
}

#[test]
fn save_costs_the_changes_and_the_file_stays_in_proportion() {
    let directory = directory("growth");
    let path = path_in(&directory);
    let (mut file, _) = open(&path);
    let many: Vec<_> = (0..1000).map(|id| (id, Some(1))).collect();
    let number = file.save(changes(&many));
    assert!(file.wait(number));
    let whole = fs::metadata(&path).expect("is there").len();
    let (mut longest, mut before) = (whole, whole);
    for round in 0..3000 {
        let number = file.save(changes(&[(round % 1000, Some(i64::from(round)))]));
        assert!(file.wait(number));
        let after = fs::metadata(&path).expect("is there").len();
        assert!(after < before + 1000, "{before} {after}");
        longest = longest.max(after);
        before = after;
    }
    assert!(longest <= 2 * whole + 100_000, "{whole} {longest}");
    fs::remove_dir_all(directory).expect("cleans up");
}

#[test]
fn the_file_of_version_1_is_read_and_written_in_the_new_form() {
    let directory = directory("old");
    let path = path_in(&directory);
    let mut state = State::default();
    state.head.partitions = vec!["dfrs".into()];
    state.head.in_order = true;
    state.ledger.insert(7, record(3));
    let old = serde_json::json!({"version": 1, "state": state});
    fs::write(&path, old.to_string()).expect("writes");
    let (mut file, read) = open(&path);
    assert_eq!(read, state);
    let number = file.save(changes(&[(8, Some(1))]));
    assert!(file.wait(number));
    state.ledger.insert(8, record(1));
    assert_eq!(load(&path), Ok(state));
    fs::remove_dir_all(directory).expect("cleans up");
}

#[test]
fn unreadable_file_is_logged_once_and_never_overwritten() {
    let directory = directory("bad");
    let path = path_in(&directory);
    let other = "{\"version\":99,\"state\":{\"partitions\":[],\"ledger\":{\"jobs\":{}}}}";
    let texts = ["", "{", other, "\u{0}\u{0}", "00000000 {\"version\":2}\n"];
    for text in texts {
        fs::write(&path, text).expect("writes");
        let kept = KeptLog::default();
        let (mut file, state) =
            StateFile::open(&path, None, Box::new(|| {}), &kept.log()).expect("a thread");
        assert_eq!(state, State::default());
        let number = file.save(changes(&[(1, Some(1))]));
        assert!(file.wait(number));
        let errors = kept.errors();
        assert!(
            errors.len() == 1 && errors[0].contains(NAME) && !errors[0].contains('\n'),
            "{errors:?}"
        );
    }
    let bad = fs::read_dir(&directory).expect("is there").flatten();
    let mut kept: Vec<String> = bad
        .filter(|file| file.file_name().to_string_lossy().contains(".bad"))
        .map(|file| fs::read_to_string(file.path()).expect("reads"))
        .collect();
    kept.sort();
    let mut all = texts.map(str::to_owned).to_vec();
    all.sort();
    assert_eq!(kept, all);
    fs::remove_dir_all(directory).expect("cleans up");
}

/// A file in memory on a disk that fails or hangs on demand.
#[derive(Clone, Default)]
struct FakeDisk(Arc<(Mutex<Fake>, Condvar)>);

#[derive(Default)]
struct Fake {
    file: Vec<u8>,
    /// Bytes that there is still room for, if not for all.
    room: Option<usize>,
    hangs: bool,
    attempts: usize,
}

impl FakeDisk {
    fn change(&self, change: impl FnOnce(&mut Fake)) {
        change(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.1.notify_all();
    }

    fn wait_for(&self, condition: impl Fn(&Fake) -> bool) {
        let fake = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = self
            .0
            .1
            .wait_timeout_while(fake, FAILED, |now| !condition(now));
        let (_now, waited) = wait.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "timeout");
    }

    fn state(&self) -> Result<State, String> {
        let fake = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        log::read(&fake.file)
    }

    fn write(&self, write: impl FnOnce(&mut Fake) -> io::Result<()>) -> io::Result<()> {
        self.change(|fake| fake.attempts += 1);
        let fake = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fake = self
            .0
            .1
            .wait_while(fake, |now| now.hangs)
            .unwrap_or_else(PoisonError::into_inner);
        write(&mut fake)
    }
}

impl Disk for FakeDisk {
    fn replace(&mut self, bytes: &[u8], is_wanted: &dyn Fn() -> bool) -> io::Result<()> {
        self.write(|fake| {
            if fake.room.is_some_and(|room| room < bytes.len()) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            if is_wanted() {
                fake.file = bytes.to_vec();
            }
            Ok(())
        })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(|fake| {
            let fits = fake.room.unwrap_or(bytes.len()).min(bytes.len());
            fake.file.extend_from_slice(&bytes[..fits]);
            if fits < bytes.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        })
    }
}

#[test]
fn full_disk_is_logged_once_and_loses_no_change() {
    let (disk, kept) = (FakeDisk::default(), KeptLog::default());
    let state = State::default();
    let mut file = StateFile::start(Box::new(disk.clone()), &state, Box::new(|| {}), &kept.log())
        .expect("a thread");
    let number = file.save(changes(&[(1, Some(1))]));
    assert!(file.wait(number));
    disk.change(|fake| fake.room = Some(10));
    for id in 2..100 {
        let number = file.save(changes(&[(id, Some(1))]));
        assert!(!file.wait(number), "it says so without waiting");
    }
    let on_disk = disk.state().expect("the torn end is passed over");
    assert_eq!(on_disk.ledger.len(), 1);
    assert_eq!(kept.errors().len(), 1, "{:?}", kept.errors());
    disk.change(|fake| fake.room = None);
    file.finish();
    assert_eq!(disk.state().map(|state| state.ledger.len()), Ok(99));
}

#[test]
fn hanging_disk_is_logged_once_and_waited_for_once() {
    let (disk, kept) = (FakeDisk::default(), KeptLog::default());
    let state = State::default();
    let mut file = StateFile::start(Box::new(disk.clone()), &state, Box::new(|| {}), &kept.log())
        .expect("a thread");
    disk.change(|fake| fake.hangs = true);
    for id in 1..100 {
        let number = file.save(changes(&[(id, Some(1))]));
        assert!(!file.wait(number));
    }
    assert_eq!(kept.errors().len(), 1, "{:?}", kept.errors());
    assert!(kept.errors()[0].contains("hangs"));
    disk.change(|fake| fake.hangs = false);
    disk.wait_for(|fake| fake.attempts > 1);
    let last = file.save(changes(&[(100, Some(1))]));
    file.finish();
    assert_eq!(file.durable(), last);
    assert_eq!(disk.state().map(|state| state.ledger.len()), Ok(100));
}

#[test]
fn abandoned_writer_overwrites_nothing_when_its_disk_recovers() {
    let disk = FakeDisk::default();
    let state = State::default();
    let mut file = StateFile::start(
        Box::new(disk.clone()),
        &state,
        Box::new(|| {}),
        &Log::discarding(),
    )
    .expect("a thread");
    disk.change(|fake| fake.hangs = true);
    file.save(changes(&[(1, Some(1))]));
    disk.wait_for(|fake| fake.attempts == 1);
    file.finish();
    disk.change(|fake| fake.hangs = false);
    let mut again = StateFile::start(
        Box::new(disk.clone()),
        &state,
        Box::new(|| {}),
        &Log::discarding(),
    )
    .expect("a thread");
    let number = again.save(changes(&[(2, Some(2))]));
    assert!(again.wait(number));
    let ids = disk.state().map(|state| state.ledger.ids());
    assert_eq!(ids, Ok(vec![2]));
}

/// What may change in one save.
fn any_changes() -> impl Strategy<Value = StateChanges> {
    let kept = prop_oneof![
        any::<i64>().prop_map(|time| Some(PersistedJob::Record(Box::new(record(time))))),
        (any::<i64>(), any::<bool>()).prop_map(|(submit_time, shown)| Some(PersistedJob::Waits {
            submit_time,
            admitted: !shown,
            shown,
        })),
        Just(None),
    ];
    let jobs = prop::collection::btree_map(0_u32..6, kept, 0..5);
    (jobs, prop::option::of(any::<bool>())).prop_map(|(jobs, head)| StateChanges {
        head: head.and_then(|in_order| with_head(in_order).head),
        jobs,
    })
}

proptest! {
    /// Cut off at any byte, or with its last line damaged at any byte, a file is that of before the save
    /// that was under way.
    #[test]
    fn torn_write_loses_only_the_last_save(
        saves in prop::collection::vec(any_changes(), 1..6),
        damage in 1_u8..=255,
    ) {
        let mut state = State::default();
        let mut bytes = log::file(&Head::default(), &BTreeMap::new()).expect("writes");
        state.head.in_order = false;
        for changes in saves {
            let before = (bytes.len(), state.clone());
            bytes.extend(log::line(changes.clone()).expect("writes"));
            changes.apply_to(&mut state);
            state.ledger.take_changed();
            for cut in before.0..bytes.len() {
                prop_assert_eq!(&log::read(&bytes[..cut]), &Ok(before.1.clone()));
                let mut damaged = bytes.clone();
                damaged[cut] ^= damage;
                let read = log::read(&damaged);
                // A line's end in its middle makes two bad lines of it.
                prop_assert!(read.is_err() || read == Ok(before.1.clone()));
            }
            prop_assert_eq!(&log::read(&bytes), &Ok(state.clone()));
        }
    }
}
