/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfrs_shim.h - the contract between the plugin (Rust) and Slurm (C).
 *
 * Plain data in, plain calls out. No Slurm header is included here and no Slurm record crosses this
 * line; the same file serves every Slurm version. Everything with "#if SLURM_VERSION_NUMBER" is
 * behind it. Functions that return int return 0, or a Slurm error number (dfrs_strerror() names
 * it). Functions take and release slurmctld's locks themselves, unless noted otherwise, and may be
 * called from any thread that holds none.
 */
#ifndef DFRS_SHIM_H
#define DFRS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "not set", as Slurm's NO_VAL */

/* dfrs_job_t.state */
enum {
	DFRS_JOB_PENDING = 0,
	DFRS_JOB_RUNNING = 1, /* also while CONFIGURING */
	DFRS_JOB_SUSPENDED = 2,
	DFRS_JOB_ENDED = 3, /* in any way; COMPLETING may still be set */
};

/* dfrs_job_t.flags */
enum {
	DFRS_JOB_COMPLETING = 1 << 0, /* its processes may still live on `places` */
	/* Its nodes are being prepared, or get less memory: do not suspend or requeue the job. */
	DFRS_JOB_CONFIGURING = 1 << 1,
	DFRS_JOB_BATCH = 1 << 2, /* has a script; others (srun, salloc) cannot be requeued */
	DFRS_JOB_REQUEUE = 1 << 3, /* may be requeued (JobRequeue, --requeue, --no-requeue) */
	DFRS_JOB_EXCLUSIVE = 1 << 4, /* requested whole nodes */
	DFRS_JOB_HELD = 1 << 5, /* priority 0 */
	/* Step records or a prolog are still there, or slurmd would take its launch for the run that
	 * has just ended: too early to restart it. */
	DFRS_JOB_STEPS_ALIVE = 1 << 6,
	DFRS_JOB_ALL_ELIGIBLE = 1 << 7, /* --nodelist: it must get all of its eligible nodes */
	DFRS_JOB_MEMORY_PER_CPU = 1 << 8, /* what `memory` is of */
	DFRS_JOB_ARRAY_MASTER = 1 << 9, /* pending record that stands for several array tasks */
	DFRS_JOB_EXCLUSIVE_USER = 1 << 10, /* wants no other users' jobs on its nodes */
	/* Runs, and got its warning signal long before its time limit could be the reason: from DFRS. */
	DFRS_JOB_WARNED = 1 << 11,
	/* -N with a range and no -n: its nodes make its tasks, one on each or tasks_per_node; `tasks` are
	 * those on min_nodes, or on the nodes that it has. */
	DFRS_JOB_SIZED_BY_NODES = 1 << 12,
	/* The priority was taken by a hold (scontrol hold, uhold), not by an operator's suspension. */
	DFRS_JOB_ON_HOLD = 1 << 13,
	/* Of scrontab: each of its runs is a submission of its own, under the same id. */
	DFRS_JOB_CRON = 1 << 14,
	/* Has devices (GRES), though it may not have requested them: --exclusive gives those of its
	 * nodes. */
	DFRS_JOB_HOLDS_GRES = 1 << 15,
	DFRS_JOB_ADMIN_HOLD = 1 << 16, /* on hold, by an operator and not by its user */
	DFRS_JOB_COMPONENT = 1 << 17, /* of a heterogeneous job */
	DFRS_JOB_CONTIGUOUS = 1 << 18, /* --contiguous: its nodes follow each other in Slurm's order */
};

/* dfrs_node_t.state */
enum { DFRS_NODE_UP = 0, DFRS_NODE_DRAINING = 1, DFRS_NODE_DOWN = 2 };

/* dfrs_log() levels */
enum { DFRS_LOG_ERROR = 0, DFRS_LOG_INFO = 1, DFRS_LOG_VERBOSE = 2, DFRS_LOG_DEBUG = 3 };

/* What a job holds, or is to hold, on one node. */
typedef struct {
	uint32_t node; /* index into Slurm's node table = dfrs_node_t.index */
	uint32_t tasks; /* tasks there; in snapshots: CPUs there divided by CPUs per task, rounded up */
	uint32_t cpus; /* CPUs there; ignored by dfrs_job_start() */
	/* MiB that Slurm counts for the job there; 0 while released; ignored by dfrs_job_start().
	 * For a job that is COMPLETING: what it had there. Slurm has already given that away, its
	 * processes perhaps not yet. */
	uint64_t memory;
} dfrs_place_t;

/* Devices (GRES) of one kind: of a node, or for a job on each of its nodes. */
typedef struct {
	/* Offset into dfrs_snapshot_t.strings: "gpu", or "gpu:a100" for those of a type. A node's devices with a type are
	 * in both; a job's only in the one that it asks for. */
	uint32_t kind;
	uint64_t count;
	uint64_t allocated; /* of a node: to any jobs; of a job: 0 */
} dfrs_device_t;

typedef struct {
	uint32_t job_id;
	uint32_t priority;
	uint32_t state, flags;
	/* Which request of it exact placement does not cover, and its text, an offset into
	 * dfrs_snapshot_t.strings; 0: none. dfrs_jobs_gate() and dfrs_job_start() refuse the job with
	 * ESLURM_NOT_SUPPORTED. */
	uint32_t unsupported, unsupported_text;
	uint32_t restarts; /* how often it was requeued */
	uint32_t user; /* the user's id */
	/* Stands for its MCS label; 0: it has none, or its label does not keep other jobs off its nodes
	 * (MCSParameters, --exclusive=mcs). Jobs with different ones are on no node together. */
	uint32_t label;
	uint32_t array_job_id; /* 0: not of an array */
	uint32_t array_task; /* its index in its array; 0 also if it has none, or stands for several */
	uint32_t array_throttle; /* pending: how many of its array may run at once; 0: all */
	uint32_t tasks; /* -n, at least 1 */
	/* That a task holds, at least 1: -c, or all of the cores that these take, for --threads-per-core,
	 * --hint=nomultithread and --ntasks-per-core=1. */
	uint32_t cpus_per_task;
	uint32_t idle_cpus; /* of these those that --mem-per-cpu does not count, less than all */
	/* --ntasks-per-node, and no more than steps may have (MaxTasksPerNode); 0: not given, and fewer. */
	uint32_t tasks_per_node;
	uint32_t min_nodes, max_nodes; /* -N; max_nodes 0: not given. min_nodes: at least its partition's MinNodes */
	uint32_t partition_nodes; /* its partition's MaxNodes; 0: none that holds for it */
	/* --switches: at most so many leaf switches, 0: any number; and for how long it waits for that, at most
	 * SchedulerParameters=max_switch_wait. */
	uint32_t switches, switch_seconds;
	uint32_t warn_seconds; /* --signal=...@seconds; 0: none */
	uint32_t limit_minutes; /* --time, else its partition's default; 0: no limit */
	uint32_t place_offset, place_count; /* dfrs_snapshot_t.places: where it is, while it holds nodes */
	uint32_t device_offset, device_count; /* dfrs_snapshot_t.devices */
	/* 0: it may use all nodes of its partition; else 1 + position in dfrs_snapshot_t.sets of those
	 * that it may use: its partition's, without --exclude, within --nodelist and a plain
	 * --constraint (names joined by & and |), with the CPUs, temporary disk, sockets, cores and threads
	 * that it wants of each, and as reservations leave them until the job's time limit: those of some cores keep
	 * it off only if it gets whole nodes, or where less is left than one of its tasks needs.
	 * dfrs_job_start() fails if they do not do for another reason. */
	uint32_t eligible;
	/* --prefer, if its features are plain: 1 + position in dfrs_snapshot_t.sets of nodes of its partition; 0: none */
	uint32_t preferred;
	/* Offsets into dfrs_snapshot_t.strings. partition: the one of DFRS's that it is or may be
	 * in, the first if it waits in several. */
	uint32_t partition, comment;
	uint32_t partition_minutes; /* that partition's MaxTime; 0: none */
	/* MiB per node, or per CPU. 0: neither given nor defaulted, and then Slurm's rule is that the
	 * job gets all of the memory of each of its nodes. */
	uint64_t memory;
	int64_t submit_time; /* UNIX seconds; a requeue sets it to its own second: keep the first one */
	/* UNIX seconds; 0: it is not, or never was. Since when it waits for no other job, time or release. */
	int64_t eligible_time;
	int64_t end_time; /* UNIX seconds at which its time limit ends it; 0: none, or it waits */
	/* UNIX seconds; 0: never. Of a job with nodes: until when these are free for it, that is when the
	 * first reservation of others begins on one of them (a time that has passed: it has begun). Of
	 * a waiting one: when the first reservation begins that keeps it from nodes; 1 if it is one
	 * that always begins so many seconds from now (TIME_FLOAT). */
	int64_t free_until;
	/* Slurm preempts it for a job of another partition: the end of its GraceTime, when it is requeued or killed,
	 * UNIX seconds; 0: it does not. */
	int64_t grace_end;
	int64_t deadline; /* --deadline, UNIX seconds; 0: none */
	int64_t reservation_end; /* of the reservation that it has nodes in, when Slurm ends it; 0: none, or past */
	/* Of a running job, UNIX seconds (else 0): when it last started or began a step; now while its
	 * prolog runs. Its processes may still be being launched. Steps that a stepmgr of the job's own
	 * keeps (SlurmctldParameters=enable_stepmgr) are unknown to slurmctld. */
	int64_t last_launch;
	int64_t resumed; /* of a running job, UNIX seconds: when it last came back from a suspension; 0: never */
} dfrs_job_t;

typedef struct {
	uint32_t index;
	/* Nodes that are powered down or on their way count as DOWN, and those that have left their partitions as
	 * DRAINING. */
	uint32_t state;
	uint32_t all_cpus; /* that Slurm gives to jobs of any partition */
	uint32_t cpus; /* that jobs may use; no more than MaxCPUsPerNode= of its partition */
	uint32_t others_cpus; /* of all_cpus, those that jobs of other partitions have for themselves */
	uint32_t name; /* offset into strings */
	uint32_t leaf; /* the address of its leaf switch, likewise; 0: Slurm knows none (topology/tree has them) */
	uint32_t device_offset, device_count; /* dfrs_snapshot_t.devices */
	uint32_t weight; /* of nodes that do, those of the lowest are taken first */
	uint64_t memory; /* MiB that jobs may use */
	uint64_t allocated_memory; /* MiB that Slurm counts as used on it, by all jobs */
} dfrs_node_t;

/* Nodes that jobs may use: equal sets are one. */
typedef struct {
	uint64_t digest; /* of its nodes: equal from one snapshot to the next for equal sets */
	uint32_t offset, count; /* dfrs_snapshot_t.indexes; count 0: no node at all */
} dfrs_node_set_t;

/* What has changed since the last snapshot of the same view. */
typedef struct {
	int64_t now; /* UNIX seconds when it was taken */
	/* The view was new or had been forgotten: here is all there is, and what the caller knows
	 * besides is gone. */
	bool complete;
	/* Other nodes are there than before: `nodes` has all of them. Else those that changed. */
	bool all_nodes;
	bool cores_visible; /* dfrs_hide_cores() has something to do */
	uint32_t job_count, gone_count, node_count, place_count, device_count, set_count, index_count;
	uint32_t string_bytes;
	uint32_t jobs_seen; /* of the requested partitions, changed or not */
	/* New and changed jobs of the requested partitions; not ended, or ended and still completing. */
	dfrs_job_t *jobs;
	uint32_t *gone; /* ids that were in an earlier one and are no such jobs any more */
	/* Of these partitions, and, draining, those that their jobs hold besides; ascending by index. */
	dfrs_node_t *nodes;
	dfrs_place_t *places;
	dfrs_device_t *devices;
	dfrs_node_set_t *sets; /* those that `jobs` refer to */
	uint32_t *indexes; /* of nodes, ascending in each set */
	char *strings; /* NUL-terminated; offset 0 is "" */
} dfrs_snapshot_t;

/* --- what slurm.conf and cgroup.conf say ---------------------------------------------------- */

/* dfrs_conf_t.flags */
enum {
	DFRS_CONF_WITHHELD = 1 << 0, /* burst_buffer_dfrs.so keeps Slurm's own schedulers away */
	DFRS_CONF_COUNTS_MEMORY = 1 << 1, /* SelectTypeParameters */
	DFRS_CONF_COUNTS_CORES = 1 << 2, /* or CPUs */
	DFRS_CONF_SLICES_TIME = 1 << 3, /* PreemptMode has GANG */
	DFRS_CONF_SAVES_POWER = 1 << 4, /* there are a SuspendProgram and a ResumeProgram */
	DFRS_CONF_CONSTRAINS_SWAP = 1 << 5, /* ConstrainSwapSpace */
};

/* dfrs_conf_partition_t.flags */
enum {
	DFRS_PARTITION_FORCED_TO_ONE = 1 << 0, /* OverSubscribe=FORCE:1 */
	DFRS_PARTITION_EXCLUSIVE_TOPOLOGY = 1 << 1, /* Exclusive=TOPO */
	DFRS_PARTITION_POWERS_DOWN_ON_IDLE = 1 << 2, /* PowerDownOnIdle */
	DFRS_PARTITION_TAKES_JOBS = 1 << 3, /* its state lets Slurm start jobs there */
	DFRS_PARTITION_SHARES_NO_CORES = 1 << 4, /* OverSubscribe=NO, or with 1: its jobs have cores of their own */
};

/* SuspendTime: none of its own, none at all, some */
enum { DFRS_IDLE_AS_ALL = 0, DFRS_IDLE_STAYS_UP = 1, DFRS_IDLE_GOES_DOWN = 2 };

typedef struct {
	char *name;
	uint32_t flags, idle;
	uint32_t member_offset, member_count; /* its nodes: dfrs_conf_t.members */
} dfrs_conf_partition_t;

/* Texts that Slurm does not have are NULL. */
typedef struct {
	uint32_t flags, idle;
	char *select_type, *scheduler_parameters, *proctrack_type, *task_plugin, *gather_type;
	char *excepted_nodes, *excepted_partitions; /* SuspendExcNodes, SuspendExcParts */
	char *cgroup_plugin;
	uint32_t partition_count, node_count, member_count;
	dfrs_conf_partition_t *partitions;
	char **nodes; /* names by index; NULL: there is no such node any more */
	uint32_t *members; /* indexes of nodes, ascending in each partition */
} dfrs_conf_t;

/* --- facts about this slurmctld ------------------------------------------------------------ */

/* False in slurmctld -c tests and the like, where no scheduler may run. */
bool dfrs_scheduling_enabled(void);
/* Has slurmctld accept heterogeneous jobs, which backfill starts in all partitions but DFRS's. It decides that once
 * per process, with the first request for one, and only for SchedulerType=sched/backfill (_sched_backfill() of 22.05
 * to 26.05). So it gets a first one, which is empty, while its configuration says so. Only within init(), whose
 * caller has the configuration write-locked. Once jobs are loaded this does nothing. */
void dfrs_accept_hetjobs(void);
/* False for a while at start-up, at shutdown and in the backup controller: do nothing then. */
bool dfrs_is_primary(void);
/* Directory of slurm.conf, and StateSaveLocation. Copies at most size bytes, NUL-terminated. */
int dfrs_conf_directory(char *out, size_t size);
int dfrs_state_directory(char *out, size_t size);
/* What slurmctld is configured to do, as far as DFRS depends on it. whole: names of those
 * partitions whose jobs get whole nodes, comma-separated; later snapshots use them. starts: DFRS
 * starts jobs, so that burst_buffer_dfrs.so has to be loaded; the call waits a moment for it. Never
 * NULL. */
dfrs_conf_t *dfrs_conf_look(const char *whole, bool starts);
void dfrs_conf_free(dfrs_conf_t *conf);
/* Whether Slurm's own schedulers are to leave a job alone, for burst_buffer_dfrs.so: withhold.h
 * defines the answers. job: a job_record_t; the caller has a job lock. */
int dfrs_job_withheld(const void *job);
/* Whether slurmctld is to refuse what is being submitted, for burst_buffer_dfrs.so: a component of a heterogeneous job
 * for DFRS's partitions only. request: a job_desc_msg_t with the partitions' names; the caller has the job lock for
 * writing. 0, or ESLURM_NOT_SUPPORTED and a message for the user, xmalloc()ed. */
int dfrs_job_refused(const void *request, char **message);
/* A job ends, for burst_buffer_dfrs.so: if it is one of DFRS's and ends by itself after a warning that was not due
 * by its time limit, Slurm queues it again as soon as it has completed, and it never counts as done
 * (job_hold_requeue()). job: a job_record_t; the caller has the job lock for writing. */
void dfrs_job_ends(void *job);
/* Whether a node that did not get a message is known (see dfrs_push()). If not, what nodes acknowledge
 * is worth nothing, and no job may be parked: Slurm 23.11. */
bool dfrs_delivery_known(void);
/* The newest of Slurm's update times (UNIX seconds), read without a lock. */
int64_t dfrs_last_update(void);
/* When partitions were last changed (UNIX seconds), read without a lock. */
int64_t dfrs_last_partition_update(void);
/* 0 if the running slurmctld's records are what this shim was compiled for; else fills error. */
int dfrs_layout_check(char *error, size_t size);
const char *dfrs_strerror(int rc);
void dfrs_log(int level, const char *message);

/* --- the snapshot -------------------------------------------------------------------------- */

/* What one caller has seen: a digest of every record that it was given, by which the next snapshot
 * knows what has changed. Nothing in it points to a record of Slurm's. One thread at a time. */
typedef struct dfrs_view dfrs_view_t;
/* NULL: no memory. */
dfrs_view_t *dfrs_view_create(void);
void dfrs_view_destroy(dfrs_view_t *view);
/* The next snapshot is complete. */
void dfrs_view_forget(dfrs_view_t *view);

/* What has changed since the view's last one. All of it is of one instant: the read locks are held
 * for one walk over the jobs and nodes, in which nothing is allocated for those that are as before.
 * partitions: comma-separated names. They are remembered: a job that waits in several partitions is
 * started in the first of these that takes jobs of its length and size. Other names than last time: complete.
 * ENOMEM; ESLURM_NOT_SUPPORTED: a job's record is of another layout (see dfrs_layout_check()); then
 * the view is forgotten. */
int dfrs_snapshot(dfrs_view_t *view, const char *partitions, dfrs_snapshot_t *out);
void dfrs_snapshot_free(dfrs_snapshot_t *snapshot);

/* How a job ended, for jobs that left the snapshot: a DFRS_OUTCOME_*. submit_time: as in the snapshot
 * it was last seen in, since Slurm may reuse ids. DFRS_OUTCOME_UNKNOWN: Slurm has forgotten it. */
enum {
	DFRS_OUTCOME_UNKNOWN = 0,
	DFRS_OUTCOME_ALIVE = 1, /* it has not ended */
	DFRS_OUTCOME_COMPLETED = 2, /* exit code 0 */
	DFRS_OUTCOME_CANCELLED = 3, /* also by its deadline, before it started */
	DFRS_OUTCOME_FAILED = 4, /* exit code, signal, time limit, memory, node, boot */
};
int dfrs_job_outcome(uint32_t job_id, int64_t submit_time);

/* --- pending jobs -------------------------------------------------------------------------- */

/* Calls for many jobs hold the locks for a few milliseconds at a time and let others in between:
 * the results for two jobs are of different instants. */

/* May these pending jobs start now as far as everything but resources is concerned (dependencies,
 * begin time, limits, holds, partition state, reservations, array throttle, deadlines)? As
 * backfill's own tests. results[i]: 0: yes. EAGAIN: the job was requeued so lately that it has to
 * wait for the next second. ESLURM_NOT_SUPPORTED: see dfrs_job_t.unsupported. Else Slurm has set the
 * job's reason. Checked for each job: what is its own (state, hold, dependencies, association's and
 * QOS's counts, array throttle, time and node limits, licences, deadline). Checked once for a slice
 * of jobs that agree in it: whether partition, QOS, account and user go together. */
void dfrs_jobs_gate(const uint32_t *job_ids, uint32_t count, int *results);
/* Do these pending jobs wait for nothing but room, as far as Slurm has noted what they wait for?
 * For callers that may not call dfrs_jobs_gate(): this takes the read locks and writes nothing.
 * Read are the state, a hold, the begin time, the partition's state, dfrs_job_t.unsupported, and the
 * reason that Slurm gave the job last (dependencies, limits, licences, reservations, array
 * throttle): an answer may be as old as that. */
void dfrs_jobs_wait_for_room(const uint32_t *job_ids, uint32_t count, bool *results);
/* Gives each of up to `max` tasks of this array's pending record a record of its own, with a job_id
 * of its own; the record with this job_id keeps the rest, and at last is the last task itself. A
 * throttle (--array=...%n) is the gate's business. */
int dfrs_array_split(uint32_t job_id, uint32_t max);
/* Shown by squeue as the jobs' reasons; of a pending job that is not held, Slurm's own reason
 * becomes Resources. texts[i] NULL: none; a reason that begins with "DFRS:" is removed, also from a
 * job that is over. Jobs that are gone, and those that already have the reason, are left alone; if
 * all are, nothing is locked for writing. Slurm's scheduling passes clear reasons now and then: set
 * them again in every cycle. */
void dfrs_jobs_set_reason(const uint32_t *job_ids, const char *const *texts, uint32_t count);

/* Where a job's yield is shown. */
enum {
	DFRS_FIELD_ADMIN_COMMENT = 0,
	/* From Slurm 23.02 on. */
	DFRS_FIELD_EXTRA = 1,
};
/* Whether this Slurm's jobs have DFRS_FIELD_EXTRA. */
bool dfrs_has_extra(void);
/* No yield is to be shown. */
#define DFRS_NO_YIELD UINT32_MAX

/* Shows the jobs' yields (in hundredths) in a field of their records, as a note in brackets at the
 * end of its other text; DFRS_NO_YIELD removes the note. A job that is over keeps the note that it
 * had. Jobs that are gone, and those that already have the note, are left alone; if all are,
 * nothing is locked for writing. */
void dfrs_jobs_set_yield(const uint32_t *job_ids, const uint32_t *yields, uint32_t count, uint32_t field);

/* --- nodes ----------------------------------------------------------------------------------- */

/* How many parked jobs live on these nodes. Where a node drains or is to be rebooted, a note in
 * brackets at the end of its reason shows the number, also in sinfo -R and scontrol; everywhere
 * else such a note is removed. The rest of the reason, its time and its user stay. Nodes that are
 * gone, and those that already have the note, are left alone; if all are, nothing is locked for
 * writing. A new reason replaces the former one with its note: set it again now and then. */
void dfrs_nodes_set_parked(const char *const *names, const uint32_t *parked, uint32_t count);

/* --- actions; each checks that the job is in the state it needs ----------------------------- */

/* Starts a pending job, whose time limit is cut to its deadline, on exactly these nodes with
 * exactly so many tasks each (ascending nodes); CPUs are no constraint, memory is. Nodes on which
 * other jobs are completing may be used: count what these still hold. Calls dfrs_jobs_gate() again.
 * The job may use all cores of its nodes; exclusive jobs have all CPUs. whole: the job has all CPUs
 * and all memory of its nodes, whatever it requests, and counts as exclusive from then on.
 * ESLURM_NODES_BUSY: no memory, or a node cannot be used now. EAGAIN: as dfrs_jobs_gate(). An
 * array's tasks need records of their own first (ESLURM_NOT_SUPPORTED). */
int dfrs_job_start(uint32_t job_id, const dfrs_place_t *places, uint32_t count, bool whole);
/* Suspends a running job; it keeps its nodes, its memory and its priority. Its processes get SIGTSTP
 * now and SIGSTOP about two seconds later. */
int dfrs_job_suspend(uint32_t job_id);
int dfrs_job_resume(uint32_t job_id);
/* Sends the nodes of a running job the resumption again: slurmctld sends it once. A running step
 * ignores it (_handle_resume() of slurmstepd). */
int dfrs_job_repeat_resumption(uint32_t job_id);
/* Gives a suspended job's memory back to Slurm's accounting; fills memory[i] (MiB) for the job's
 * i-th node, in the snapshot's order, so that the caller can keep it. *count: in: room, out: used. */
int dfrs_job_release_memory(uint32_t job_id, uint64_t *memory, uint32_t *count);
/* Takes it again, also for a job that an operator has resumed in between; ESLURM_NODES_BUSY if it
 * does not fit on one of the nodes (nothing changed then). */
int dfrs_job_claim_memory(uint32_t job_id, const uint64_t *memory, uint32_t count);
/* A parked job holds nothing that Slurm could give to others: it is not preempted. */
int dfrs_job_forget_preemption(uint32_t job_id);
/* Sends a running job its own --signal, else the fallback to its batch script (which must be
 * prepared for it); once per run, see DFRS_JOB_WARNED. */
int dfrs_job_warn(uint32_t job_id, uint32_t fallback_signal);
/* Ends a running or suspended batch job and puts it back into the queue. A suspended one must be thawed
 * to be ended. */
int dfrs_job_requeue(uint32_t job_id);
/* What is known of the warning of a job that is over (see dfrs_job_warn()). */
typedef struct {
	uint32_t fallback; /* the signal, if it has no --signal of its own */
	bool was_sent;	   /* for sure */
} dfrs_warning_t;

/* Puts a job back into the queue that has ended by itself after its warning, as Slurm does with one that it
 * preempts: whatever it returned, if the warning was sent for sure; else one that has failed by exactly that
 * signal: its script has died of it, or has returned what shells return for what has. While it completes, and
 * after that. submit_time: as in the snapshot it was last seen in. *succeeded: it has returned 0.
 * ESLURM_JOB_FINISHED: it has ended in another way. */
int dfrs_job_requeue_warned(uint32_t job_id, int64_t submit_time, const dfrs_warning_t *warning,
			    bool *succeeded);
/* The same at once of all jobs that were warned since slurmctld started and have succeeded since: before Slurm looks
 * which jobs wait for that. Whether others are likely to end soon. O(jobs that were warned and run). */
bool dfrs_jobs_requeue_saved(void);
/* After a requeue: lets it start before Slurm's own delay has passed. EAGAIN: not everything of the
 * former run is gone yet, see DFRS_JOB_COMPLETING and DFRS_JOB_STEPS_ALIVE. */
int dfrs_job_clear_begin_time(uint32_t job_id);
/* Ends whatever a node still runs, or remembers, of a pending job. A slurmd that once had a
 * job's batch script takes the same job's next one for a second copy until it gets this message.
 * The message is sent once: sent again to a node that did not answer, it would end the job's
 * next run. */
int dfrs_job_abort_orphaned(uint32_t job_id, const char *node);
/* Running and suspended jobs of these partitions whose cores Slurm counts (after a restart, a
 * reconfigure, a change of a partition, an operator's resume) are hidden from it again, in slices.
 * From then on they share their nodes, as all jobs of OverSubscribe=FORCE do. Returns how many. To
 * be called when a snapshot has cores_visible set, before jobs are started. */
int dfrs_hide_cores(const char *partitions);
/* A job's time limit as it was before DFRS added to it. */
typedef struct {
	uint32_t minutes;
	uint32_t set_by; /* the user who set it, as Slurm has noted; for dfrs_job_take_back_time() only */
} dfrs_limit_t;

/* Adds this many seconds, rounded down to minutes, to a job's time limit and those of its steps (a
 * job's limit counts virtual time); EINVAL if that is none. Jobs without a limit stay so. Fills before.
 * Slurm keeps the longer limit when it requeues the job. */
int dfrs_job_extend_time(uint32_t job_id, uint32_t seconds, dfrs_limit_t *before);
/* Takes so many minutes, which were added to it, off the limit of a job that is back in the queue,
 * or whose run of scrontab is over. Changes by others in between stay: no limit gets shorter than
 * what it was before the first addition, and one that is shorter by now is left alone. */
int dfrs_job_take_back_time(uint32_t job_id, uint32_t minutes, const dfrs_limit_t *before);

/* --- to the nodes --------------------------------------------------------------------------- */

/* Sends data to the UNIX socket `address` (%n: node name) on each node of node_list (a comma-separated
 * or Slurm's ranged list), through the slurmds. Blocks up to Slurm's message timeout: never call it
 * with a lock. 0 if all got it; else failed holds the names of those that did not, separated by
 * commas (or node_list, if they do not fit). */
int dfrs_push(const char *node_list, const char *address, const char *data, uint32_t length,
	      char *failed, size_t failed_size);

/* --- how long slurmctld's locks are held ------------------------------------------------------- */

/* Is called after each hold of the shim's own locks, not of backfill's, and without them. */
typedef void (*dfrs_lock_observer_t)(bool writes, uint64_t waited_microseconds,
				     uint64_t held_microseconds);

void dfrs_observe_locks(dfrs_lock_observer_t on_lock);

/* --- statistics that sdiag shows under "Backfilling stats" ------------------------------------ */

void dfrs_count_cycle(uint32_t microseconds, uint32_t queue_length, uint32_t depth, uint32_t started);

/* --- Slurm's own backfill, for all partitions but these ---------------------------------------- */

int dfrs_backfill_start(const char *hidden_partitions);
void dfrs_backfill_stop(void);
void dfrs_backfill_reconfigure(const char *hidden_partitions);

/* --- the library itself -------------------------------------------------------------------------- */

/* Keeps the plugin in memory for the rest of the process, though Slurm closes it after fini(): for
 * threads that fini() cannot wait for. Returns 0, or -1 with a line in the log. */
int dfrs_keep_loaded(void);

/* The thread belongs to this life of the plugin. */
void dfrs_fence_enter(void);
/* This life is over: threads that belong to it and still run are kept for ever at their next
 * dfrs_fence_pass(), with no lock of slurmctld's, and so before and after they take one. */
void dfrs_fence_close(void);
void dfrs_fence_pass(void);

#endif
