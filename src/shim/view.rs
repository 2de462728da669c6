//! What has been seen of slurmctld, kept by the shim from one look to the next.

use std::ffi::CString;
use std::ptr::NonNull;

use dfrs_agent::slurm::observation::{Observation, SnapshotDelta};
use dfrs_agent::slurm::port::SlurmError;

use super::calls::{comma_separated, result};
use super::decode::{SharedNodeSets, apply};
use super::{bindings, hide_cores};

/// `ENOMEM`.
const NO_MEMORY: i32 = 12;

/// A view of these partitions. Belongs to one [`Observation`].
pub struct View {
    partitions: CString,
    /// The partitions whose jobs' cores are hidden.
    managed: CString,
    /// None: there was no memory for it.
    raw: Option<NonNull<bindings::dfrs_view_t>>,
    sets: SharedNodeSets,
    cores_visible: bool,
    /// The last changes may not have been taken in.
    is_stale: bool,
}

// SAFETY: nothing in a view belongs to a thread; it has one owner.
unsafe impl Send for View {}

impl View {
    /// Nothing has been seen. Slurm counts the cores of jobs in partitions that are given back.
    #[must_use]
    pub fn new(managed: &[String], given_back: &[String]) -> Self {
        // SAFETY: takes nothing.
        let raw = unsafe { bindings::dfrs_view_create() };
        Self {
            partitions: comma_separated(&[managed, given_back].concat()),
            managed: comma_separated(managed),
            raw: NonNull::new(raw),
            sets: SharedNodeSets::default(),
            cores_visible: false,
            is_stale: false,
        }
    }

    /// Brings `seen` up to date: one walk over jobs and nodes under read locks, then O(what changed).
    /// Where nothing has been seen yet, everything is looked at.
    ///
    /// # Errors
    ///
    /// Out of memory, or records of another layout; the next look shows everything then.
    pub fn look(&mut self, seen: &mut Observation) -> Result<SnapshotDelta, SlurmError> {
        let Some(view) = self.raw else {
            return Err(result(NO_MEMORY).err().unwrap_or_else(no_memory));
        };
        if seen.is_empty() || std::mem::replace(&mut self.is_stale, true) {
            // SAFETY: made by dfrs_view_create() and not destroyed.
            unsafe { bindings::dfrs_view_forget(view.as_ptr()) };
        }
        let mut raw = bindings::dfrs_snapshot_t::default();
        // SAFETY: the view is as above; reads the NUL-terminated list and fills `raw`, which it owns
        // from then on.
        let code = unsafe {
            bindings::dfrs_snapshot(view.as_ptr(), self.partitions.as_ptr(), &raw mut raw)
        };
        result(code)?;
        // SAFETY: just filled; all that this view has returned since it was forgotten was applied
        // to `seen`.
        let different = unsafe { apply(&raw, &mut self.sets, seen) };
        self.cores_visible = raw.cores_visible;
        self.is_stale = false;
        // SAFETY: frees what dfrs_snapshot() has allocated; nothing points to it any more.
        unsafe { bindings::dfrs_snapshot_free(&raw mut raw) };
        Ok(different)
    }

    /// Hides cores that Slurm counts for jobs of these partitions, if the last look has shown any. Returns
    /// whether it has.
    pub fn hide_cores(&mut self) -> bool {
        let visible = std::mem::take(&mut self.cores_visible);
        if visible {
            hide_cores(&self.managed);
        }
        visible
    }
}

fn no_memory() -> SlurmError {
    SlurmError {
        code: NO_MEMORY,
        text: "no memory".into(),
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(view) = self.raw {
            // SAFETY: made by dfrs_view_create(), destroyed once.
            unsafe { bindings::dfrs_view_destroy(view.as_ptr()) }
        }
    }
}
