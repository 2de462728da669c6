// Generated from c_shim/dfrs_shim.h by `cargo xtask bindings`; do not edit.

pub const DFRS_NO_VALUE: u32 = 4294967294;
pub const DFRS_SPLIT_LIMIT: u32 = 100;
pub const DFRS_JOB_PENDING: _bindgen_ty_1 = 0;
pub const DFRS_JOB_RUNNING: _bindgen_ty_1 = 1;
pub const DFRS_JOB_SUSPENDED: _bindgen_ty_1 = 2;
pub const DFRS_JOB_ENDED: _bindgen_ty_1 = 3;
pub type _bindgen_ty_1 = ::std::os::raw::c_uint;
pub const DFRS_JOB_COMPLETING: _bindgen_ty_2 = 1;
pub const DFRS_JOB_CONFIGURING: _bindgen_ty_2 = 2;
pub const DFRS_JOB_BATCH: _bindgen_ty_2 = 4;
pub const DFRS_JOB_REQUEUE: _bindgen_ty_2 = 8;
pub const DFRS_JOB_EXCLUSIVE: _bindgen_ty_2 = 16;
pub const DFRS_JOB_HELD: _bindgen_ty_2 = 32;
pub const DFRS_JOB_ARRAY_MASTER: _bindgen_ty_2 = 64;
pub const DFRS_JOB_GRES: _bindgen_ty_2 = 128;
pub const DFRS_JOB_WARNED: _bindgen_ty_2 = 256;
pub const DFRS_JOB_NO_NODE_LIMIT: _bindgen_ty_2 = 512;
pub const DFRS_JOB_STEPS_ALIVE: _bindgen_ty_2 = 1024;
pub const DFRS_JOB_SPECIAL: _bindgen_ty_2 = 2048;
pub const DFRS_JOB_ALL_ELIGIBLE: _bindgen_ty_2 = 4096;
pub const DFRS_JOB_NOWHERE: _bindgen_ty_2 = 8192;
pub type _bindgen_ty_2 = ::std::os::raw::c_uint;
pub const DFRS_NODE_UP: _bindgen_ty_3 = 0;
pub const DFRS_NODE_DRAINING: _bindgen_ty_3 = 1;
pub const DFRS_NODE_DOWN: _bindgen_ty_3 = 2;
pub type _bindgen_ty_3 = ::std::os::raw::c_uint;
pub const DFRS_LOG_ERROR: _bindgen_ty_4 = 0;
pub const DFRS_LOG_INFO: _bindgen_ty_4 = 1;
pub const DFRS_LOG_VERBOSE: _bindgen_ty_4 = 2;
pub const DFRS_LOG_DEBUG: _bindgen_ty_4 = 3;
pub type _bindgen_ty_4 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_place_t {
    pub node: u32,
    pub tasks: u32,
    pub cpus: u32,
    pub memory: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_place_t"][::std::mem::size_of::<dfrs_place_t>() - 24usize];
    ["Alignment of dfrs_place_t"][::std::mem::align_of::<dfrs_place_t>() - 8usize];
    ["Offset of field: dfrs_place_t::node"][::std::mem::offset_of!(dfrs_place_t, node) - 0usize];
    ["Offset of field: dfrs_place_t::tasks"][::std::mem::offset_of!(dfrs_place_t, tasks) - 4usize];
    ["Offset of field: dfrs_place_t::cpus"][::std::mem::offset_of!(dfrs_place_t, cpus) - 8usize];
    ["Offset of field: dfrs_place_t::memory"]
        [::std::mem::offset_of!(dfrs_place_t, memory) - 16usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_job_t {
    pub job_id: u32,
    pub array_job_id: u32,
    pub array_task_id: u32,
    pub user_id: u32,
    pub priority: u32,
    pub state: u32,
    pub flags: u32,
    pub reason: u32,
    pub restarts: u32,
    pub tasks: u32,
    pub cpus_per_task: u32,
    pub tasks_per_node: u32,
    pub min_nodes: u32,
    pub max_nodes: u32,
    pub memory: u64,
    pub memory_per_cpu: bool,
    pub warn_signal: u32,
    pub warn_seconds: u32,
    pub time_limit: u32,
    pub submit_time: i64,
    pub begin_time: i64,
    pub start_time: i64,
    pub end_time: i64,
    pub suspend_time: i64,
    pub last_launch: i64,
    pub place_offset: u32,
    pub place_count: u32,
    pub eligible_offset: u32,
    pub eligible_count: u32,
    pub partition: u32,
    pub comment: u32,
    pub name: u32,
    pub node_list: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_job_t"][::std::mem::size_of::<dfrs_job_t>() - 160usize];
    ["Alignment of dfrs_job_t"][::std::mem::align_of::<dfrs_job_t>() - 8usize];
    ["Offset of field: dfrs_job_t::job_id"][::std::mem::offset_of!(dfrs_job_t, job_id) - 0usize];
    ["Offset of field: dfrs_job_t::array_job_id"]
        [::std::mem::offset_of!(dfrs_job_t, array_job_id) - 4usize];
    ["Offset of field: dfrs_job_t::array_task_id"]
        [::std::mem::offset_of!(dfrs_job_t, array_task_id) - 8usize];
    ["Offset of field: dfrs_job_t::user_id"][::std::mem::offset_of!(dfrs_job_t, user_id) - 12usize];
    ["Offset of field: dfrs_job_t::priority"]
        [::std::mem::offset_of!(dfrs_job_t, priority) - 16usize];
    ["Offset of field: dfrs_job_t::state"][::std::mem::offset_of!(dfrs_job_t, state) - 20usize];
    ["Offset of field: dfrs_job_t::flags"][::std::mem::offset_of!(dfrs_job_t, flags) - 24usize];
    ["Offset of field: dfrs_job_t::reason"][::std::mem::offset_of!(dfrs_job_t, reason) - 28usize];
    ["Offset of field: dfrs_job_t::restarts"]
        [::std::mem::offset_of!(dfrs_job_t, restarts) - 32usize];
    ["Offset of field: dfrs_job_t::tasks"][::std::mem::offset_of!(dfrs_job_t, tasks) - 36usize];
    ["Offset of field: dfrs_job_t::cpus_per_task"]
        [::std::mem::offset_of!(dfrs_job_t, cpus_per_task) - 40usize];
    ["Offset of field: dfrs_job_t::tasks_per_node"]
        [::std::mem::offset_of!(dfrs_job_t, tasks_per_node) - 44usize];
    ["Offset of field: dfrs_job_t::min_nodes"]
        [::std::mem::offset_of!(dfrs_job_t, min_nodes) - 48usize];
    ["Offset of field: dfrs_job_t::max_nodes"]
        [::std::mem::offset_of!(dfrs_job_t, max_nodes) - 52usize];
    ["Offset of field: dfrs_job_t::memory"][::std::mem::offset_of!(dfrs_job_t, memory) - 56usize];
    ["Offset of field: dfrs_job_t::memory_per_cpu"]
        [::std::mem::offset_of!(dfrs_job_t, memory_per_cpu) - 64usize];
    ["Offset of field: dfrs_job_t::warn_signal"]
        [::std::mem::offset_of!(dfrs_job_t, warn_signal) - 68usize];
    ["Offset of field: dfrs_job_t::warn_seconds"]
        [::std::mem::offset_of!(dfrs_job_t, warn_seconds) - 72usize];
    ["Offset of field: dfrs_job_t::time_limit"]
        [::std::mem::offset_of!(dfrs_job_t, time_limit) - 76usize];
    ["Offset of field: dfrs_job_t::submit_time"]
        [::std::mem::offset_of!(dfrs_job_t, submit_time) - 80usize];
    ["Offset of field: dfrs_job_t::begin_time"]
        [::std::mem::offset_of!(dfrs_job_t, begin_time) - 88usize];
    ["Offset of field: dfrs_job_t::start_time"]
        [::std::mem::offset_of!(dfrs_job_t, start_time) - 96usize];
    ["Offset of field: dfrs_job_t::end_time"]
        [::std::mem::offset_of!(dfrs_job_t, end_time) - 104usize];
    ["Offset of field: dfrs_job_t::suspend_time"]
        [::std::mem::offset_of!(dfrs_job_t, suspend_time) - 112usize];
    ["Offset of field: dfrs_job_t::last_launch"]
        [::std::mem::offset_of!(dfrs_job_t, last_launch) - 120usize];
    ["Offset of field: dfrs_job_t::place_offset"]
        [::std::mem::offset_of!(dfrs_job_t, place_offset) - 128usize];
    ["Offset of field: dfrs_job_t::place_count"]
        [::std::mem::offset_of!(dfrs_job_t, place_count) - 132usize];
    ["Offset of field: dfrs_job_t::eligible_offset"]
        [::std::mem::offset_of!(dfrs_job_t, eligible_offset) - 136usize];
    ["Offset of field: dfrs_job_t::eligible_count"]
        [::std::mem::offset_of!(dfrs_job_t, eligible_count) - 140usize];
    ["Offset of field: dfrs_job_t::partition"]
        [::std::mem::offset_of!(dfrs_job_t, partition) - 144usize];
    ["Offset of field: dfrs_job_t::comment"]
        [::std::mem::offset_of!(dfrs_job_t, comment) - 148usize];
    ["Offset of field: dfrs_job_t::name"][::std::mem::offset_of!(dfrs_job_t, name) - 152usize];
    ["Offset of field: dfrs_job_t::node_list"]
        [::std::mem::offset_of!(dfrs_job_t, node_list) - 156usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_node_t {
    pub index: u32,
    pub state: u32,
    pub cpus: u32,
    pub memory: u64,
    pub allocated_memory: u64,
    pub name: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_node_t"][::std::mem::size_of::<dfrs_node_t>() - 40usize];
    ["Alignment of dfrs_node_t"][::std::mem::align_of::<dfrs_node_t>() - 8usize];
    ["Offset of field: dfrs_node_t::index"][::std::mem::offset_of!(dfrs_node_t, index) - 0usize];
    ["Offset of field: dfrs_node_t::state"][::std::mem::offset_of!(dfrs_node_t, state) - 4usize];
    ["Offset of field: dfrs_node_t::cpus"][::std::mem::offset_of!(dfrs_node_t, cpus) - 8usize];
    ["Offset of field: dfrs_node_t::memory"][::std::mem::offset_of!(dfrs_node_t, memory) - 16usize];
    ["Offset of field: dfrs_node_t::allocated_memory"]
        [::std::mem::offset_of!(dfrs_node_t, allocated_memory) - 24usize];
    ["Offset of field: dfrs_node_t::name"][::std::mem::offset_of!(dfrs_node_t, name) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dfrs_snapshot_t {
    pub slurm_version: u32,
    pub now: i64,
    pub job_count: u32,
    pub node_count: u32,
    pub place_count: u32,
    pub eligible_count: u32,
    pub string_bytes: u32,
    pub jobs: *mut dfrs_job_t,
    pub nodes: *mut dfrs_node_t,
    pub places: *mut dfrs_place_t,
    pub eligible: *mut u32,
    pub strings: *mut ::std::os::raw::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_snapshot_t"][::std::mem::size_of::<dfrs_snapshot_t>() - 80usize];
    ["Alignment of dfrs_snapshot_t"][::std::mem::align_of::<dfrs_snapshot_t>() - 8usize];
    ["Offset of field: dfrs_snapshot_t::slurm_version"]
        [::std::mem::offset_of!(dfrs_snapshot_t, slurm_version) - 0usize];
    ["Offset of field: dfrs_snapshot_t::now"]
        [::std::mem::offset_of!(dfrs_snapshot_t, now) - 8usize];
    ["Offset of field: dfrs_snapshot_t::job_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, job_count) - 16usize];
    ["Offset of field: dfrs_snapshot_t::node_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, node_count) - 20usize];
    ["Offset of field: dfrs_snapshot_t::place_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, place_count) - 24usize];
    ["Offset of field: dfrs_snapshot_t::eligible_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, eligible_count) - 28usize];
    ["Offset of field: dfrs_snapshot_t::string_bytes"]
        [::std::mem::offset_of!(dfrs_snapshot_t, string_bytes) - 32usize];
    ["Offset of field: dfrs_snapshot_t::jobs"]
        [::std::mem::offset_of!(dfrs_snapshot_t, jobs) - 40usize];
    ["Offset of field: dfrs_snapshot_t::nodes"]
        [::std::mem::offset_of!(dfrs_snapshot_t, nodes) - 48usize];
    ["Offset of field: dfrs_snapshot_t::places"]
        [::std::mem::offset_of!(dfrs_snapshot_t, places) - 56usize];
    ["Offset of field: dfrs_snapshot_t::eligible"]
        [::std::mem::offset_of!(dfrs_snapshot_t, eligible) - 64usize];
    ["Offset of field: dfrs_snapshot_t::strings"]
        [::std::mem::offset_of!(dfrs_snapshot_t, strings) - 72usize];
};
impl Default for dfrs_snapshot_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    pub static dfrs_slurm_version: u32;
}
unsafe extern "C" {
    pub fn dfrs_scheduling_enabled() -> bool;
}
unsafe extern "C" {
    pub fn dfrs_is_primary() -> bool;
}
unsafe extern "C" {
    pub fn dfrs_conf_directory(
        out: *mut ::std::os::raw::c_char,
        size: usize,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_state_directory(
        out: *mut ::std::os::raw::c_char,
        size: usize,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_slurm_user_id() -> u32;
}
unsafe extern "C" {
    pub fn dfrs_conf_problem(
        partitions: *const ::std::os::raw::c_char,
        out: *mut ::std::os::raw::c_char,
        size: usize,
    );
}
unsafe extern "C" {
    pub fn dfrs_last_update() -> i64;
}
unsafe extern "C" {
    pub fn dfrs_layout_check(
        error: *mut ::std::os::raw::c_char,
        size: usize,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_strerror(rc: ::std::os::raw::c_int) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    pub fn dfrs_log(level: ::std::os::raw::c_int, message: *const ::std::os::raw::c_char);
}
unsafe extern "C" {
    pub fn dfrs_snapshot(
        partitions: *const ::std::os::raw::c_char,
        out: *mut dfrs_snapshot_t,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_snapshot_free(snapshot: *mut dfrs_snapshot_t);
}
pub const DFRS_OUTCOME_UNKNOWN: _bindgen_ty_5 = 0;
pub const DFRS_OUTCOME_ALIVE: _bindgen_ty_5 = 1;
pub const DFRS_OUTCOME_COMPLETED: _bindgen_ty_5 = 2;
pub const DFRS_OUTCOME_CANCELLED: _bindgen_ty_5 = 3;
pub const DFRS_OUTCOME_FAILED: _bindgen_ty_5 = 4;
pub type _bindgen_ty_5 = ::std::os::raw::c_uint;
unsafe extern "C" {
    pub fn dfrs_job_outcome(job_id: u32, submit_time: i64) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_gate(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_array_split(job_id: u32, most: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_set_reason(
        job_id: u32,
        text: *const ::std::os::raw::c_char,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_start(
        job_id: u32,
        places: *const dfrs_place_t,
        count: u32,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_suspend(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_resume(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_release_memory(
        job_id: u32,
        memory: *mut u64,
        count: *mut u32,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_claim_memory(
        job_id: u32,
        memory: *const u64,
        count: u32,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_warn(job_id: u32, fallback_signal: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_requeue(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_clear_begin_time(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_abort_left_behind(
        job_id: u32,
        node: *const ::std::os::raw::c_char,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_hide_cores(partitions: *const ::std::os::raw::c_char) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_extend_time(job_id: u32, seconds: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_push(
        node_list: *const ::std::os::raw::c_char,
        address: *const ::std::os::raw::c_char,
        data: *const ::std::os::raw::c_char,
        length: u32,
        failed: *mut ::std::os::raw::c_char,
        failed_size: usize,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_count_cycle(microseconds: u32, queue_length: u32, depth: u32, started: u32);
}
unsafe extern "C" {
    pub fn dfrs_backfill_start(
        hidden_partitions: *const ::std::os::raw::c_char,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_backfill_stop();
}
unsafe extern "C" {
    pub fn dfrs_backfill_reconfigure(hidden_partitions: *const ::std::os::raw::c_char);
}
unsafe extern "C" {
    pub fn dfrs_keep_loaded() -> ::std::os::raw::c_int;
}
