//! What has been seen of slurmctld, kept by the shim from one look to the next.

use std::ffi::CStr;
use std::ptr::NonNull;

use dfrs_agent::slurm::port::SlurmError;

use super::bindings;
use super::c_values::result;

/// The shim's record of it, freed with this.
pub(super) struct View(NonNull<bindings::dfrs_view_t>);

// SAFETY: nothing in a view belongs to a thread; it has one owner.
unsafe impl Send for View {}

impl View {
    /// Nothing has been seen. None: out of memory.
    pub(super) fn new() -> Option<Self> {
        // SAFETY: takes nothing.
        NonNull::new(unsafe { bindings::dfrs_view_create() }).map(Self)
    }

    /// The next look shows everything.
    pub(super) fn forget(&mut self) {
        // SAFETY: made by dfrs_view_create() and not destroyed.
        unsafe { bindings::dfrs_view_forget(self.0.as_ptr()) }
    }

    /// Has `read` look at what has changed in these partitions, comma-separated.
    ///
    /// # Errors
    ///
    /// Out of memory, or records of another layout: nothing was read.
    pub(super) fn look<R>(
        &mut self,
        partitions: &CStr,
        read: impl FnOnce(&bindings::dfrs_snapshot_t) -> R,
    ) -> Result<R, SlurmError> {
        let mut raw = bindings::dfrs_snapshot_t::default();
        let (view, names) = (self.0.as_ptr(), partitions.as_ptr());
        // SAFETY: the view is as above; reads the NUL-terminated list and fills `raw`, which it
        // owns from then on.
        result(unsafe { bindings::dfrs_snapshot(view, names, &raw mut raw) })?;
        let read = read(&raw);
        // SAFETY: frees what dfrs_snapshot() has allocated; nothing points to it any more.
        unsafe { bindings::dfrs_snapshot_free(&raw mut raw) };
        Ok(read)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: made by dfrs_view_create(), destroyed once.
        unsafe { bindings::dfrs_view_destroy(self.0.as_ptr()) }
    }
}
