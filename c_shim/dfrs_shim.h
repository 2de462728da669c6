/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfrs_shim.h - the contract between the plugin (Rust) and Slurm (C).
 *
 * Plain data in, plain calls out. No Slurm header is included here and no Slurm record crosses this
 * line; the same file serves every Slurm version. Everything with "#if SLURM_VERSION_NUMBER" is
 * behind it. Functions that return int return 0, or a Slurm error number (dfrs_strerror() names
 * it). Functions take and release slurmctld's locks themselves, unless they say otherwise, and may
 * be called from any thread that holds none.
 */
#ifndef DFRS_SHIM_H
#define DFRS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "not set", as Slurm's NO_VAL */
#define DFRS_NO_VALUE 0xfffffffeu

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
	DFRS_JOB_CONFIGURING = 1 << 1, /* nodes are being prepared: do not suspend or requeue */
	DFRS_JOB_BATCH = 1 << 2, /* has a script; others (srun, salloc) cannot be requeued */
	DFRS_JOB_REQUEUE = 1 << 3, /* may be requeued (JobRequeue, --requeue, --no-requeue) */
	DFRS_JOB_EXCLUSIVE = 1 << 4, /* asked for whole nodes */
	DFRS_JOB_HELD = 1 << 5, /* priority 0 */
	DFRS_JOB_ARRAY_MASTER = 1 << 6, /* pending record that stands for several array tasks */
	DFRS_JOB_GRES = 1 << 7, /* asks for GRES */
	DFRS_JOB_WARNED = 1 << 8, /* its warning signal was sent in this run */
	DFRS_JOB_NO_NODE_LIMIT = 1 << 9, /* max_nodes was not given by the user */
	/* Step records or a prolog are still there, or slurmd would take its launch for the run that
	 * has just ended: too early to restart it. */
	DFRS_JOB_STEPS_ALIVE = 1 << 10,
	/* Pending, and asks for what exact placement does not cover (GRES, a reservation list, burst
	 * buffers, --contiguous, --switches, --core-spec, --reboot, -m arbitrary, --nodelist with
	 * fewer nodes than asked for, --constraint with counts, parentheses or brackets, a
	 * federation): dfrs_job_gate() and dfrs_job_start() refuse it with ESLURM_NOT_SUPPORTED. */
	DFRS_JOB_SPECIAL = 1 << 11,
	DFRS_JOB_ALL_ELIGIBLE = 1 << 12, /* --nodelist: it must get all of its eligible nodes */
	DFRS_JOB_NOWHERE = 1 << 13, /* pending, and no node is eligible now */
};

/* dfrs_array_split() splits at most so many tasks off in one call. */
#define DFRS_SPLIT_LIMIT 100u

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

typedef struct {
	uint32_t job_id;
	uint32_t array_job_id; /* 0: not of an array */
	uint32_t array_task_id; /* DFRS_NO_VALUE: not (yet) one task of an array */
	uint32_t user_id;
	uint32_t priority;
	uint32_t state, flags;
	uint32_t reason; /* Slurm's wait reason number */
	uint32_t restarts; /* how often it was requeued */
	uint32_t tasks; /* -n, at least 1 */
	uint32_t cpus_per_task; /* -c, at least 1 */
	uint32_t tasks_per_node; /* --ntasks-per-node; 0: not given */
	uint32_t min_nodes, max_nodes; /* -N; max_nodes 0: not given */
	/* MiB per node, or per CPU if memory_per_cpu. 0: neither given nor defaulted, and then Slurm's
	 * rule is that the job gets all of the memory of each of its nodes. */
	uint64_t memory;
	bool memory_per_cpu;
	uint32_t warn_signal; /* --signal; 0: none */
	uint32_t warn_seconds;
	uint32_t time_limit; /* minutes; DFRS_NO_VALUE: none, or the partition's */
	/* A requeue sets submit_time to its own second: keep the first one. */
	int64_t submit_time, begin_time, start_time, end_time, suspend_time; /* UNIX seconds, 0: none */
	/* Of a running job, UNIX seconds (else 0): when it last started or began a step; now
	 * while its prolog runs. Its processes may still be being launched. Of steps that a stepmgr of
	 * the job's own keeps (SlurmctldParameters=enable_stepmgr) slurmctld knows nothing. */
	int64_t last_launch;
	uint32_t place_offset, place_count; /* dfrs_snapshot_t.places: where it is, while it holds nodes */
	/* dfrs_snapshot_t.eligible: the nodes that a pending job may use: its partition's, without
	 * --exclude, within --nodelist and a plain --constraint (names joined by & and |), and as
	 * reservations leave them until the job's time limit. Count 0 without DFRS_JOB_NOWHERE:
	 * all of the partition. What nodes are like (sockets, temporary disk, ...) is not looked
	 * at: dfrs_job_start() fails if they do not do. */
	uint32_t eligible_offset, eligible_count;
	/* Offsets into dfrs_snapshot_t.strings. partition: the one of DFRS's that it is or may be
	 * in, the first if it waits in several. */
	uint32_t partition, comment, name, node_list;
} dfrs_job_t;

typedef struct {
	uint32_t index;
	uint32_t state; /* nodes that are powered down or on their way count as DOWN */
	uint32_t cpus; /* that jobs may use */
	uint64_t memory; /* MiB that jobs may use */
	uint64_t allocated_memory; /* MiB that Slurm counts as used on it, by all jobs */
	uint32_t name; /* offset into strings */
} dfrs_node_t;

typedef struct {
	uint32_t slurm_version; /* SLURM_VERSION_NUMBER the shim was built for */
	int64_t now; /* UNIX seconds when it was taken */
	uint32_t job_count, node_count, place_count, eligible_count, string_bytes;
	dfrs_job_t *jobs; /* only of the partitions asked for; not ended, or ended and still completing */
	dfrs_node_t *nodes; /* nodes of these partitions only */
	dfrs_place_t *places;
	uint32_t *eligible; /* node indexes */
	char *strings; /* NUL-terminated; offset 0 is "" */
} dfrs_snapshot_t;

/* --- facts about this slurmctld ------------------------------------------------------------ */

extern const uint32_t dfrs_slurm_version;
/* False in slurmctld -c tests and the like, where no scheduler may run. */
bool dfrs_scheduling_enabled(void);
/* False for a while at start-up, at shutdown and in the backup controller: do nothing then. */
bool dfrs_is_primary(void);
/* Directory of slurm.conf, and StateSaveLocation. Copies at most size bytes, NUL-terminated. */
int dfrs_conf_directory(char *out, size_t size);
int dfrs_state_directory(char *out, size_t size);
uint32_t dfrs_slurm_user_id(void);
/* Empty if SelectType, SelectTypeParameters, SchedulerParameters and the named partitions are as
 * DFRS needs them; else one line on what to change. partitions: comma-separated names. */
void dfrs_conf_problem(const char *partitions, char *out, size_t size);
/* The newest of Slurm's update times (UNIX seconds), read without a lock. */
int64_t dfrs_last_update(void);
/* 0 if the running slurmctld's records are what this shim was compiled for; else fills error. */
int dfrs_layout_check(char *error, size_t size);
const char *dfrs_strerror(int rc);
void dfrs_log(int level, const char *message);

/* --- the snapshot -------------------------------------------------------------------------- */

/* partitions: comma-separated names. They are remembered: a job that waits in several partitions is
 * started in the first of these.
 * ENOMEM; ESLURM_NOT_SUPPORTED: a job's record is of another layout (see dfrs_layout_check()). */
int dfrs_snapshot(const char *partitions, dfrs_snapshot_t *out);
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

/* May this pending job start now as far as everything but resources is concerned (dependencies,
 * begin time, limits, holds, partition state, reservations, array throttle, deadlines)? As
 * backfill's own tests. 0: yes. EAGAIN: it was requeued so lately that it has to wait for the next
 * second. ESLURM_NOT_SUPPORTED: DFRS_JOB_SPECIAL. Else Slurm has set the job's reason. */
int dfrs_job_gate(uint32_t job_id);
/* Gives each of up to `most` tasks (and DFRS_SPLIT_LIMIT) of this array's pending record a record of
 * its own, with a job_id of its own; the record with this job_id keeps the rest, and at last is the
 * last task itself. A throttle (--array=...%n) is the gate's business. */
int dfrs_array_split(uint32_t job_id, uint32_t most);
/* Shown by squeue as the job's reason; of a pending job that is not held, Slurm's own reason becomes
 * Resources (text NULL: none). Does nothing if it already says so. Slurm's scheduling passes clear
 * it now and then: set it again in every cycle. */
int dfrs_job_set_reason(uint32_t job_id, const char *text);

/* --- actions; each checks that the job is in the state it needs ----------------------------- */

/* Starts a pending job on exactly these nodes with exactly so many tasks each (ascending nodes);
 * CPUs are no constraint, memory is. Nodes on which other jobs are completing may be used: count
 * what these still hold. Asks dfrs_job_gate() again. The
 * job may use all cores of its nodes; exclusive jobs have all CPUs.
 * ESLURM_NODES_BUSY: no memory, or a node cannot be used now. EAGAIN: as dfrs_job_gate(). An array's
 * tasks need records of their own first (ESLURM_NOT_SUPPORTED). */
int dfrs_job_start(uint32_t job_id, const dfrs_place_t *places, uint32_t count);
/* Suspends a running job; it keeps its nodes, its memory and its priority. Its processes get SIGTSTP
 * now and SIGSTOP about two seconds later. */
int dfrs_job_suspend(uint32_t job_id);
int dfrs_job_resume(uint32_t job_id);
/* Gives a suspended job's memory back to Slurm's accounting; fills memory[i] (MiB) for the job's
 * i-th node, in the snapshot's order, so that the caller can keep it. *count: in: room, out: used. */
int dfrs_job_release_memory(uint32_t job_id, uint64_t *memory, uint32_t *count);
/* Takes it again, also for a job that an operator has resumed in between; ESLURM_NODES_BUSY if it
 * does not fit on one of the nodes (nothing changed then). */
int dfrs_job_claim_memory(uint32_t job_id, const uint64_t *memory, uint32_t count);
/* Sends a running job its own --signal, else the fallback to its batch script (which must be
 * prepared for it); once per run, see DFRS_JOB_WARNED. */
int dfrs_job_warn(uint32_t job_id, uint32_t fallback_signal);
/* Ends a running or suspended batch job and puts it back into the queue; also one that has completed
 * since it was warned. A suspended one must be thawed to be ended. */
int dfrs_job_requeue(uint32_t job_id);
/* After a requeue: lets it start before Slurm's own delay has passed. EAGAIN: not everything of the
 * former run is gone yet, see DFRS_JOB_COMPLETING and DFRS_JOB_STEPS_ALIVE. */
int dfrs_job_clear_begin_time(uint32_t job_id);
/* Ends whatever a node still runs, or remembers, of a pending job. A slurmd that once had a job's batch
 * script takes the same job's next one for a second copy until it is told this. Said once: said again
 * to a node that did not answer, it would end the job's next run. */
int dfrs_job_abort_left_behind(uint32_t job_id, const char *node);
/* Running and suspended jobs of these partitions whose cores Slurm counts (after a restart, a
 * reconfigure, an operator's resume) are hidden from it again. Returns how many. Cheap when there is
 * nothing to do: call it in every pass before starting jobs. */
int dfrs_hide_cores(const char *partitions);
/* Adds this many seconds, rounded down to minutes, to a job's time limit and those of its steps (a
 * job's limit counts virtual time); EINVAL if that is none. Jobs without a limit stay so. The
 * longer limit survives a requeue. */
int dfrs_job_extend_time(uint32_t job_id, uint32_t seconds);

/* --- to the nodes --------------------------------------------------------------------------- */

/* Sends data to the UNIX socket `address` (%n: node name) on each node of node_list (a comma-separated
 * or Slurm's ranged list), through the slurmds. Blocks up to Slurm's message timeout: never call it
 * with a lock. 0 if all got it; else failed holds the names of those that did not, separated by
 * commas (or node_list, if they do not fit). */
int dfrs_push(const char *node_list, const char *address, const char *data, uint32_t length,
	      char *failed, size_t failed_size);

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

#endif
