//! This library in slurmctld's memory. After `fini()` slurmctld unloads it (`plugin_unload()` in
//! src/common/plugin.c, 22.05 and 24.11), and no thread may run its code any more, unless it stays.

/// Has the library stay in memory for the rest of the process, for threads that `fini()` cannot wait for.
pub(crate) fn keep_loaded() {
    // What is linked into a test is never unloaded.
    #[cfg(not(no_slurm))]
    crate::shim::keep_loaded();
}
