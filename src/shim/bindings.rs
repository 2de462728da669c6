// Generated from c_shim/dfrs_shim.h by `cargo xtask bindings`; do not edit.

pub const DFRS_NO_YIELD: u32 = 4294967295;
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
pub const DFRS_JOB_STEPS_ALIVE: _bindgen_ty_2 = 64;
pub const DFRS_JOB_ALL_ELIGIBLE: _bindgen_ty_2 = 128;
pub const DFRS_JOB_MEMORY_PER_CPU: _bindgen_ty_2 = 256;
pub const DFRS_JOB_ARRAY_MASTER: _bindgen_ty_2 = 512;
pub const DFRS_JOB_EXCLUSIVE_USER: _bindgen_ty_2 = 1024;
pub const DFRS_JOB_WARNED: _bindgen_ty_2 = 2048;
pub const DFRS_JOB_SIZED_BY_NODES: _bindgen_ty_2 = 4096;
pub const DFRS_JOB_ON_HOLD: _bindgen_ty_2 = 8192;
pub const DFRS_JOB_CRON: _bindgen_ty_2 = 16384;
pub const DFRS_JOB_HOLDS_GRES: _bindgen_ty_2 = 32768;
pub const DFRS_JOB_ADMIN_HOLD: _bindgen_ty_2 = 65536;
pub const DFRS_JOB_COMPONENT: _bindgen_ty_2 = 131072;
pub const DFRS_JOB_CONTIGUOUS: _bindgen_ty_2 = 262144;
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
pub struct dfrs_device_t {
    pub kind: u32,
    pub count: u64,
    pub allocated: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_device_t"][::std::mem::size_of::<dfrs_device_t>() - 24usize];
    ["Alignment of dfrs_device_t"][::std::mem::align_of::<dfrs_device_t>() - 8usize];
    ["Offset of field: dfrs_device_t::kind"][::std::mem::offset_of!(dfrs_device_t, kind) - 0usize];
    ["Offset of field: dfrs_device_t::count"]
        [::std::mem::offset_of!(dfrs_device_t, count) - 8usize];
    ["Offset of field: dfrs_device_t::allocated"]
        [::std::mem::offset_of!(dfrs_device_t, allocated) - 16usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_job_t {
    pub job_id: u32,
    pub priority: u32,
    pub state: u32,
    pub flags: u32,
    pub unsupported: u32,
    pub unsupported_text: u32,
    pub restarts: u32,
    pub user: u32,
    pub label: u32,
    pub array_job_id: u32,
    pub array_task: u32,
    pub array_throttle: u32,
    pub tasks: u32,
    pub cpus_per_task: u32,
    pub idle_cpus: u32,
    pub tasks_per_node: u32,
    pub min_nodes: u32,
    pub max_nodes: u32,
    pub partition_nodes: u32,
    pub switches: u32,
    pub switch_seconds: u32,
    pub warn_seconds: u32,
    pub limit_minutes: u32,
    pub place_offset: u32,
    pub place_count: u32,
    pub device_offset: u32,
    pub device_count: u32,
    pub eligible: u32,
    pub preferred: u32,
    pub partition: u32,
    pub comment: u32,
    pub partition_minutes: u32,
    pub memory: u64,
    pub submit_time: i64,
    pub eligible_time: i64,
    pub end_time: i64,
    pub free_until: i64,
    pub grace_end: i64,
    pub deadline: i64,
    pub reservation_end: i64,
    pub last_launch: i64,
    pub resumed: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_job_t"][::std::mem::size_of::<dfrs_job_t>() - 208usize];
    ["Alignment of dfrs_job_t"][::std::mem::align_of::<dfrs_job_t>() - 8usize];
    ["Offset of field: dfrs_job_t::job_id"][::std::mem::offset_of!(dfrs_job_t, job_id) - 0usize];
    ["Offset of field: dfrs_job_t::priority"]
        [::std::mem::offset_of!(dfrs_job_t, priority) - 4usize];
    ["Offset of field: dfrs_job_t::state"][::std::mem::offset_of!(dfrs_job_t, state) - 8usize];
    ["Offset of field: dfrs_job_t::flags"][::std::mem::offset_of!(dfrs_job_t, flags) - 12usize];
    ["Offset of field: dfrs_job_t::unsupported"]
        [::std::mem::offset_of!(dfrs_job_t, unsupported) - 16usize];
    ["Offset of field: dfrs_job_t::unsupported_text"]
        [::std::mem::offset_of!(dfrs_job_t, unsupported_text) - 20usize];
    ["Offset of field: dfrs_job_t::restarts"]
        [::std::mem::offset_of!(dfrs_job_t, restarts) - 24usize];
    ["Offset of field: dfrs_job_t::user"][::std::mem::offset_of!(dfrs_job_t, user) - 28usize];
    ["Offset of field: dfrs_job_t::label"][::std::mem::offset_of!(dfrs_job_t, label) - 32usize];
    ["Offset of field: dfrs_job_t::array_job_id"]
        [::std::mem::offset_of!(dfrs_job_t, array_job_id) - 36usize];
    ["Offset of field: dfrs_job_t::array_task"]
        [::std::mem::offset_of!(dfrs_job_t, array_task) - 40usize];
    ["Offset of field: dfrs_job_t::array_throttle"]
        [::std::mem::offset_of!(dfrs_job_t, array_throttle) - 44usize];
    ["Offset of field: dfrs_job_t::tasks"][::std::mem::offset_of!(dfrs_job_t, tasks) - 48usize];
    ["Offset of field: dfrs_job_t::cpus_per_task"]
        [::std::mem::offset_of!(dfrs_job_t, cpus_per_task) - 52usize];
    ["Offset of field: dfrs_job_t::idle_cpus"]
        [::std::mem::offset_of!(dfrs_job_t, idle_cpus) - 56usize];
    ["Offset of field: dfrs_job_t::tasks_per_node"]
        [::std::mem::offset_of!(dfrs_job_t, tasks_per_node) - 60usize];
    ["Offset of field: dfrs_job_t::min_nodes"]
        [::std::mem::offset_of!(dfrs_job_t, min_nodes) - 64usize];
    ["Offset of field: dfrs_job_t::max_nodes"]
        [::std::mem::offset_of!(dfrs_job_t, max_nodes) - 68usize];
    ["Offset of field: dfrs_job_t::partition_nodes"]
        [::std::mem::offset_of!(dfrs_job_t, partition_nodes) - 72usize];
    ["Offset of field: dfrs_job_t::switches"]
        [::std::mem::offset_of!(dfrs_job_t, switches) - 76usize];
    ["Offset of field: dfrs_job_t::switch_seconds"]
        [::std::mem::offset_of!(dfrs_job_t, switch_seconds) - 80usize];
    ["Offset of field: dfrs_job_t::warn_seconds"]
        [::std::mem::offset_of!(dfrs_job_t, warn_seconds) - 84usize];
    ["Offset of field: dfrs_job_t::limit_minutes"]
        [::std::mem::offset_of!(dfrs_job_t, limit_minutes) - 88usize];
    ["Offset of field: dfrs_job_t::place_offset"]
        [::std::mem::offset_of!(dfrs_job_t, place_offset) - 92usize];
    ["Offset of field: dfrs_job_t::place_count"]
        [::std::mem::offset_of!(dfrs_job_t, place_count) - 96usize];
    ["Offset of field: dfrs_job_t::device_offset"]
        [::std::mem::offset_of!(dfrs_job_t, device_offset) - 100usize];
    ["Offset of field: dfrs_job_t::device_count"]
        [::std::mem::offset_of!(dfrs_job_t, device_count) - 104usize];
    ["Offset of field: dfrs_job_t::eligible"]
        [::std::mem::offset_of!(dfrs_job_t, eligible) - 108usize];
    ["Offset of field: dfrs_job_t::preferred"]
        [::std::mem::offset_of!(dfrs_job_t, preferred) - 112usize];
    ["Offset of field: dfrs_job_t::partition"]
        [::std::mem::offset_of!(dfrs_job_t, partition) - 116usize];
    ["Offset of field: dfrs_job_t::comment"]
        [::std::mem::offset_of!(dfrs_job_t, comment) - 120usize];
    ["Offset of field: dfrs_job_t::partition_minutes"]
        [::std::mem::offset_of!(dfrs_job_t, partition_minutes) - 124usize];
    ["Offset of field: dfrs_job_t::memory"][::std::mem::offset_of!(dfrs_job_t, memory) - 128usize];
    ["Offset of field: dfrs_job_t::submit_time"]
        [::std::mem::offset_of!(dfrs_job_t, submit_time) - 136usize];
    ["Offset of field: dfrs_job_t::eligible_time"]
        [::std::mem::offset_of!(dfrs_job_t, eligible_time) - 144usize];
    ["Offset of field: dfrs_job_t::end_time"]
        [::std::mem::offset_of!(dfrs_job_t, end_time) - 152usize];
    ["Offset of field: dfrs_job_t::free_until"]
        [::std::mem::offset_of!(dfrs_job_t, free_until) - 160usize];
    ["Offset of field: dfrs_job_t::grace_end"]
        [::std::mem::offset_of!(dfrs_job_t, grace_end) - 168usize];
    ["Offset of field: dfrs_job_t::deadline"]
        [::std::mem::offset_of!(dfrs_job_t, deadline) - 176usize];
    ["Offset of field: dfrs_job_t::reservation_end"]
        [::std::mem::offset_of!(dfrs_job_t, reservation_end) - 184usize];
    ["Offset of field: dfrs_job_t::last_launch"]
        [::std::mem::offset_of!(dfrs_job_t, last_launch) - 192usize];
    ["Offset of field: dfrs_job_t::resumed"]
        [::std::mem::offset_of!(dfrs_job_t, resumed) - 200usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_node_t {
    pub index: u32,
    pub state: u32,
    pub all_cpus: u32,
    pub cpus: u32,
    pub others_cpus: u32,
    pub name: u32,
    pub leaf: u32,
    pub device_offset: u32,
    pub device_count: u32,
    pub weight: u32,
    pub memory: u64,
    pub allocated_memory: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_node_t"][::std::mem::size_of::<dfrs_node_t>() - 56usize];
    ["Alignment of dfrs_node_t"][::std::mem::align_of::<dfrs_node_t>() - 8usize];
    ["Offset of field: dfrs_node_t::index"][::std::mem::offset_of!(dfrs_node_t, index) - 0usize];
    ["Offset of field: dfrs_node_t::state"][::std::mem::offset_of!(dfrs_node_t, state) - 4usize];
    ["Offset of field: dfrs_node_t::all_cpus"]
        [::std::mem::offset_of!(dfrs_node_t, all_cpus) - 8usize];
    ["Offset of field: dfrs_node_t::cpus"][::std::mem::offset_of!(dfrs_node_t, cpus) - 12usize];
    ["Offset of field: dfrs_node_t::others_cpus"]
        [::std::mem::offset_of!(dfrs_node_t, others_cpus) - 16usize];
    ["Offset of field: dfrs_node_t::name"][::std::mem::offset_of!(dfrs_node_t, name) - 20usize];
    ["Offset of field: dfrs_node_t::leaf"][::std::mem::offset_of!(dfrs_node_t, leaf) - 24usize];
    ["Offset of field: dfrs_node_t::device_offset"]
        [::std::mem::offset_of!(dfrs_node_t, device_offset) - 28usize];
    ["Offset of field: dfrs_node_t::device_count"]
        [::std::mem::offset_of!(dfrs_node_t, device_count) - 32usize];
    ["Offset of field: dfrs_node_t::weight"][::std::mem::offset_of!(dfrs_node_t, weight) - 36usize];
    ["Offset of field: dfrs_node_t::memory"][::std::mem::offset_of!(dfrs_node_t, memory) - 40usize];
    ["Offset of field: dfrs_node_t::allocated_memory"]
        [::std::mem::offset_of!(dfrs_node_t, allocated_memory) - 48usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_node_set_t {
    pub digest: u64,
    pub offset: u32,
    pub count: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_node_set_t"][::std::mem::size_of::<dfrs_node_set_t>() - 16usize];
    ["Alignment of dfrs_node_set_t"][::std::mem::align_of::<dfrs_node_set_t>() - 8usize];
    ["Offset of field: dfrs_node_set_t::digest"]
        [::std::mem::offset_of!(dfrs_node_set_t, digest) - 0usize];
    ["Offset of field: dfrs_node_set_t::offset"]
        [::std::mem::offset_of!(dfrs_node_set_t, offset) - 8usize];
    ["Offset of field: dfrs_node_set_t::count"]
        [::std::mem::offset_of!(dfrs_node_set_t, count) - 12usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dfrs_snapshot_t {
    pub now: i64,
    pub complete: bool,
    pub all_nodes: bool,
    pub cores_visible: bool,
    pub job_count: u32,
    pub gone_count: u32,
    pub node_count: u32,
    pub place_count: u32,
    pub device_count: u32,
    pub set_count: u32,
    pub index_count: u32,
    pub string_bytes: u32,
    pub jobs_seen: u32,
    pub jobs: *mut dfrs_job_t,
    pub gone: *mut u32,
    pub nodes: *mut dfrs_node_t,
    pub places: *mut dfrs_place_t,
    pub devices: *mut dfrs_device_t,
    pub sets: *mut dfrs_node_set_t,
    pub indexes: *mut u32,
    pub strings: *mut ::std::os::raw::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_snapshot_t"][::std::mem::size_of::<dfrs_snapshot_t>() - 112usize];
    ["Alignment of dfrs_snapshot_t"][::std::mem::align_of::<dfrs_snapshot_t>() - 8usize];
    ["Offset of field: dfrs_snapshot_t::now"]
        [::std::mem::offset_of!(dfrs_snapshot_t, now) - 0usize];
    ["Offset of field: dfrs_snapshot_t::complete"]
        [::std::mem::offset_of!(dfrs_snapshot_t, complete) - 8usize];
    ["Offset of field: dfrs_snapshot_t::all_nodes"]
        [::std::mem::offset_of!(dfrs_snapshot_t, all_nodes) - 9usize];
    ["Offset of field: dfrs_snapshot_t::cores_visible"]
        [::std::mem::offset_of!(dfrs_snapshot_t, cores_visible) - 10usize];
    ["Offset of field: dfrs_snapshot_t::job_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, job_count) - 12usize];
    ["Offset of field: dfrs_snapshot_t::gone_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, gone_count) - 16usize];
    ["Offset of field: dfrs_snapshot_t::node_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, node_count) - 20usize];
    ["Offset of field: dfrs_snapshot_t::place_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, place_count) - 24usize];
    ["Offset of field: dfrs_snapshot_t::device_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, device_count) - 28usize];
    ["Offset of field: dfrs_snapshot_t::set_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, set_count) - 32usize];
    ["Offset of field: dfrs_snapshot_t::index_count"]
        [::std::mem::offset_of!(dfrs_snapshot_t, index_count) - 36usize];
    ["Offset of field: dfrs_snapshot_t::string_bytes"]
        [::std::mem::offset_of!(dfrs_snapshot_t, string_bytes) - 40usize];
    ["Offset of field: dfrs_snapshot_t::jobs_seen"]
        [::std::mem::offset_of!(dfrs_snapshot_t, jobs_seen) - 44usize];
    ["Offset of field: dfrs_snapshot_t::jobs"]
        [::std::mem::offset_of!(dfrs_snapshot_t, jobs) - 48usize];
    ["Offset of field: dfrs_snapshot_t::gone"]
        [::std::mem::offset_of!(dfrs_snapshot_t, gone) - 56usize];
    ["Offset of field: dfrs_snapshot_t::nodes"]
        [::std::mem::offset_of!(dfrs_snapshot_t, nodes) - 64usize];
    ["Offset of field: dfrs_snapshot_t::places"]
        [::std::mem::offset_of!(dfrs_snapshot_t, places) - 72usize];
    ["Offset of field: dfrs_snapshot_t::devices"]
        [::std::mem::offset_of!(dfrs_snapshot_t, devices) - 80usize];
    ["Offset of field: dfrs_snapshot_t::sets"]
        [::std::mem::offset_of!(dfrs_snapshot_t, sets) - 88usize];
    ["Offset of field: dfrs_snapshot_t::indexes"]
        [::std::mem::offset_of!(dfrs_snapshot_t, indexes) - 96usize];
    ["Offset of field: dfrs_snapshot_t::strings"]
        [::std::mem::offset_of!(dfrs_snapshot_t, strings) - 104usize];
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
pub const DFRS_CONF_WITHHELD: _bindgen_ty_5 = 1;
pub const DFRS_CONF_COUNTS_MEMORY: _bindgen_ty_5 = 2;
pub const DFRS_CONF_COUNTS_CORES: _bindgen_ty_5 = 4;
pub const DFRS_CONF_SLICES_TIME: _bindgen_ty_5 = 8;
pub const DFRS_CONF_SAVES_POWER: _bindgen_ty_5 = 16;
pub const DFRS_CONF_CONSTRAINS_SWAP: _bindgen_ty_5 = 32;
pub type _bindgen_ty_5 = ::std::os::raw::c_uint;
pub const DFRS_PARTITION_FORCED_TO_ONE: _bindgen_ty_6 = 1;
pub const DFRS_PARTITION_EXCLUSIVE_TOPOLOGY: _bindgen_ty_6 = 2;
pub const DFRS_PARTITION_POWERS_DOWN_ON_IDLE: _bindgen_ty_6 = 4;
pub const DFRS_PARTITION_TAKES_JOBS: _bindgen_ty_6 = 8;
pub const DFRS_PARTITION_SHARES_NO_CORES: _bindgen_ty_6 = 16;
pub type _bindgen_ty_6 = ::std::os::raw::c_uint;
pub const DFRS_IDLE_AS_ALL: _bindgen_ty_7 = 0;
pub const DFRS_IDLE_STAYS_UP: _bindgen_ty_7 = 1;
pub const DFRS_IDLE_GOES_DOWN: _bindgen_ty_7 = 2;
pub type _bindgen_ty_7 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dfrs_conf_partition_t {
    pub name: *mut ::std::os::raw::c_char,
    pub flags: u32,
    pub idle: u32,
    pub member_offset: u32,
    pub member_count: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_conf_partition_t"][::std::mem::size_of::<dfrs_conf_partition_t>() - 24usize];
    ["Alignment of dfrs_conf_partition_t"]
        [::std::mem::align_of::<dfrs_conf_partition_t>() - 8usize];
    ["Offset of field: dfrs_conf_partition_t::name"]
        [::std::mem::offset_of!(dfrs_conf_partition_t, name) - 0usize];
    ["Offset of field: dfrs_conf_partition_t::flags"]
        [::std::mem::offset_of!(dfrs_conf_partition_t, flags) - 8usize];
    ["Offset of field: dfrs_conf_partition_t::idle"]
        [::std::mem::offset_of!(dfrs_conf_partition_t, idle) - 12usize];
    ["Offset of field: dfrs_conf_partition_t::member_offset"]
        [::std::mem::offset_of!(dfrs_conf_partition_t, member_offset) - 16usize];
    ["Offset of field: dfrs_conf_partition_t::member_count"]
        [::std::mem::offset_of!(dfrs_conf_partition_t, member_count) - 20usize];
};
impl Default for dfrs_conf_partition_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dfrs_conf_t {
    pub flags: u32,
    pub idle: u32,
    pub select_type: *mut ::std::os::raw::c_char,
    pub scheduler_parameters: *mut ::std::os::raw::c_char,
    pub proctrack_type: *mut ::std::os::raw::c_char,
    pub task_plugin: *mut ::std::os::raw::c_char,
    pub gather_type: *mut ::std::os::raw::c_char,
    pub excepted_nodes: *mut ::std::os::raw::c_char,
    pub excepted_partitions: *mut ::std::os::raw::c_char,
    pub cgroup_plugin: *mut ::std::os::raw::c_char,
    pub partition_count: u32,
    pub node_count: u32,
    pub member_count: u32,
    pub partitions: *mut dfrs_conf_partition_t,
    pub nodes: *mut *mut ::std::os::raw::c_char,
    pub members: *mut u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_conf_t"][::std::mem::size_of::<dfrs_conf_t>() - 112usize];
    ["Alignment of dfrs_conf_t"][::std::mem::align_of::<dfrs_conf_t>() - 8usize];
    ["Offset of field: dfrs_conf_t::flags"][::std::mem::offset_of!(dfrs_conf_t, flags) - 0usize];
    ["Offset of field: dfrs_conf_t::idle"][::std::mem::offset_of!(dfrs_conf_t, idle) - 4usize];
    ["Offset of field: dfrs_conf_t::select_type"]
        [::std::mem::offset_of!(dfrs_conf_t, select_type) - 8usize];
    ["Offset of field: dfrs_conf_t::scheduler_parameters"]
        [::std::mem::offset_of!(dfrs_conf_t, scheduler_parameters) - 16usize];
    ["Offset of field: dfrs_conf_t::proctrack_type"]
        [::std::mem::offset_of!(dfrs_conf_t, proctrack_type) - 24usize];
    ["Offset of field: dfrs_conf_t::task_plugin"]
        [::std::mem::offset_of!(dfrs_conf_t, task_plugin) - 32usize];
    ["Offset of field: dfrs_conf_t::gather_type"]
        [::std::mem::offset_of!(dfrs_conf_t, gather_type) - 40usize];
    ["Offset of field: dfrs_conf_t::excepted_nodes"]
        [::std::mem::offset_of!(dfrs_conf_t, excepted_nodes) - 48usize];
    ["Offset of field: dfrs_conf_t::excepted_partitions"]
        [::std::mem::offset_of!(dfrs_conf_t, excepted_partitions) - 56usize];
    ["Offset of field: dfrs_conf_t::cgroup_plugin"]
        [::std::mem::offset_of!(dfrs_conf_t, cgroup_plugin) - 64usize];
    ["Offset of field: dfrs_conf_t::partition_count"]
        [::std::mem::offset_of!(dfrs_conf_t, partition_count) - 72usize];
    ["Offset of field: dfrs_conf_t::node_count"]
        [::std::mem::offset_of!(dfrs_conf_t, node_count) - 76usize];
    ["Offset of field: dfrs_conf_t::member_count"]
        [::std::mem::offset_of!(dfrs_conf_t, member_count) - 80usize];
    ["Offset of field: dfrs_conf_t::partitions"]
        [::std::mem::offset_of!(dfrs_conf_t, partitions) - 88usize];
    ["Offset of field: dfrs_conf_t::nodes"][::std::mem::offset_of!(dfrs_conf_t, nodes) - 96usize];
    ["Offset of field: dfrs_conf_t::members"]
        [::std::mem::offset_of!(dfrs_conf_t, members) - 104usize];
};
impl Default for dfrs_conf_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    pub fn dfrs_scheduling_enabled() -> bool;
}
unsafe extern "C" {
    pub fn dfrs_accept_hetjobs();
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
    pub fn dfrs_conf_look(whole: *const ::std::os::raw::c_char, starts: bool) -> *mut dfrs_conf_t;
}
unsafe extern "C" {
    pub fn dfrs_conf_free(conf: *mut dfrs_conf_t);
}
unsafe extern "C" {
    pub fn dfrs_job_withheld(job: *const ::std::os::raw::c_void) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_refused(
        request: *const ::std::os::raw::c_void,
        message: *mut *mut ::std::os::raw::c_char,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_ends(job: *mut ::std::os::raw::c_void);
}
unsafe extern "C" {
    pub fn dfrs_delivery_known() -> bool;
}
unsafe extern "C" {
    pub fn dfrs_last_update() -> i64;
}
unsafe extern "C" {
    pub fn dfrs_last_partition_update() -> i64;
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
#[repr(C)]
#[derive(Debug)]
pub struct dfrs_view {
    _unused: [u8; 0],
}
pub type dfrs_view_t = dfrs_view;
unsafe extern "C" {
    pub fn dfrs_view_create() -> *mut dfrs_view_t;
}
unsafe extern "C" {
    pub fn dfrs_view_destroy(view: *mut dfrs_view_t);
}
unsafe extern "C" {
    pub fn dfrs_view_forget(view: *mut dfrs_view_t);
}
unsafe extern "C" {
    pub fn dfrs_snapshot(
        view: *mut dfrs_view_t,
        partitions: *const ::std::os::raw::c_char,
        out: *mut dfrs_snapshot_t,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_snapshot_free(snapshot: *mut dfrs_snapshot_t);
}
pub const DFRS_OUTCOME_UNKNOWN: _bindgen_ty_8 = 0;
pub const DFRS_OUTCOME_ALIVE: _bindgen_ty_8 = 1;
pub const DFRS_OUTCOME_COMPLETED: _bindgen_ty_8 = 2;
pub const DFRS_OUTCOME_CANCELLED: _bindgen_ty_8 = 3;
pub const DFRS_OUTCOME_FAILED: _bindgen_ty_8 = 4;
pub type _bindgen_ty_8 = ::std::os::raw::c_uint;
unsafe extern "C" {
    pub fn dfrs_job_outcome(job_id: u32, submit_time: i64) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_jobs_gate(job_ids: *const u32, count: u32, results: *mut ::std::os::raw::c_int);
}
unsafe extern "C" {
    pub fn dfrs_jobs_wait_for_room(job_ids: *const u32, count: u32, results: *mut bool);
}
unsafe extern "C" {
    pub fn dfrs_array_split(job_id: u32, max: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_jobs_set_reason(
        job_ids: *const u32,
        texts: *const *const ::std::os::raw::c_char,
        count: u32,
    );
}
pub const DFRS_FIELD_ADMIN_COMMENT: _bindgen_ty_9 = 0;
pub const DFRS_FIELD_EXTRA: _bindgen_ty_9 = 1;
pub type _bindgen_ty_9 = ::std::os::raw::c_uint;
unsafe extern "C" {
    pub fn dfrs_has_extra() -> bool;
}
unsafe extern "C" {
    pub fn dfrs_jobs_set_yield(job_ids: *const u32, yields: *const u32, count: u32, field: u32);
}
unsafe extern "C" {
    pub fn dfrs_nodes_set_parked(
        names: *const *const ::std::os::raw::c_char,
        parked: *const u32,
        count: u32,
    );
}
unsafe extern "C" {
    pub fn dfrs_job_start(
        job_id: u32,
        places: *const dfrs_place_t,
        count: u32,
        whole: bool,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_suspend(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_resume(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_repeat_resumption(job_id: u32) -> ::std::os::raw::c_int;
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
    pub fn dfrs_job_forget_preemption(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_warn(job_id: u32, fallback_signal: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_requeue(job_id: u32) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_warning_t {
    pub fallback: u32,
    pub was_sent: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_warning_t"][::std::mem::size_of::<dfrs_warning_t>() - 8usize];
    ["Alignment of dfrs_warning_t"][::std::mem::align_of::<dfrs_warning_t>() - 4usize];
    ["Offset of field: dfrs_warning_t::fallback"]
        [::std::mem::offset_of!(dfrs_warning_t, fallback) - 0usize];
    ["Offset of field: dfrs_warning_t::was_sent"]
        [::std::mem::offset_of!(dfrs_warning_t, was_sent) - 4usize];
};
unsafe extern "C" {
    pub fn dfrs_job_requeue_warned(
        job_id: u32,
        submit_time: i64,
        warning: *const dfrs_warning_t,
        succeeded: *mut bool,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_jobs_requeue_saved() -> bool;
}
unsafe extern "C" {
    pub fn dfrs_job_clear_begin_time(job_id: u32) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_abort_orphaned(
        job_id: u32,
        node: *const ::std::os::raw::c_char,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_hide_cores(partitions: *const ::std::os::raw::c_char) -> ::std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dfrs_limit_t {
    pub minutes: u32,
    pub set_by: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dfrs_limit_t"][::std::mem::size_of::<dfrs_limit_t>() - 8usize];
    ["Alignment of dfrs_limit_t"][::std::mem::align_of::<dfrs_limit_t>() - 4usize];
    ["Offset of field: dfrs_limit_t::minutes"]
        [::std::mem::offset_of!(dfrs_limit_t, minutes) - 0usize];
    ["Offset of field: dfrs_limit_t::set_by"]
        [::std::mem::offset_of!(dfrs_limit_t, set_by) - 4usize];
};
unsafe extern "C" {
    pub fn dfrs_job_extend_time(
        job_id: u32,
        seconds: u32,
        before: *mut dfrs_limit_t,
    ) -> ::std::os::raw::c_int;
}
unsafe extern "C" {
    pub fn dfrs_job_take_back_time(
        job_id: u32,
        minutes: u32,
        before: *const dfrs_limit_t,
    ) -> ::std::os::raw::c_int;
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
pub type dfrs_lock_observer_t = ::std::option::Option<
    unsafe extern "C" fn(writes: bool, waited_microseconds: u64, held_microseconds: u64),
>;
unsafe extern "C" {
    pub fn dfrs_observe_locks(on_lock: dfrs_lock_observer_t);
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
unsafe extern "C" {
    pub fn dfrs_fence_enter();
}
unsafe extern "C" {
    pub fn dfrs_fence_close();
}
unsafe extern "C" {
    pub fn dfrs_fence_pass();
}
