/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - what the files of the shim share with one another.
 */
#ifndef DFRS_INTERNAL_H
#define DFRS_INTERNAL_H

#include "slurm_headers.h"

#include "dfrs_shim.h"

/* locks.c: the two lock sets that the shim takes; always one at a time, for one short call. */
void dfrs_lock_read(void);
void dfrs_unlock_read(void);
void dfrs_lock_write(void);
void dfrs_unlock_write(void);
/* What follows when a job was changed. */
typedef enum {
	DFRS_CHANGES_NOTHING, /* its record is as before */
	DFRS_CHANGES_JOB, /* others see that */
	DFRS_CHANGES_SAVED, /* and it is saved soon */
	DFRS_CHANGES_MEMORY, /* and so is what its nodes have left */
} dfrs_changes_t;
/* Changes the job, whose details are there, under the write locks. Returns 0, or why it did not. */
typedef int (*dfrs_job_change_t)(job_record_t *job, void *context);
/* Changes one job; what `changes` says follows if that returned 0. Returns the same, or ESLURM_INVALID_JOB_ID: there is
 * no such job. */
int dfrs_change_job(uint32_t job_id, dfrs_changes_t changes, dfrs_job_change_t change, void *context);
/* Between two pieces of long work under the lock: if it has been held for a few milliseconds, others
 * get it for a while. Nothing that was found before still holds then. */
void dfrs_next_piece_read(void);
void dfrs_next_piece_write(void);
/* Changes those of `count` things that are to be changed, in pieces: all are checked under the read
 * locks (may_write is false), and only those for which the answer is true under the write locks,
 * where they are checked and changed in one. If none is to be, nothing is locked for writing. */
typedef bool (*dfrs_change_t)(const void *what, uint32_t position, bool may_write);
void dfrs_change_differing(uint32_t count, dfrs_change_t change, const void *what);
/* Changes with each time that a lock is taken: what is found under the write lock holds as long as
 * this is the same. */
uint64_t dfrs_lock_generation(void);

/* note.c: what DFRS adds, in brackets and with a number, to texts that others wrote. */

/* number: the characters that it may have; the first is a digit. */
typedef struct {
	const char *before, *number, *after;
} dfrs_note_t;
/* How many parked jobs live on a node. */
extern const dfrs_note_t dfrs_note_parked;
/* What a job gets. */
extern const dfrs_note_t dfrs_note_yield;
/* The text without the note, also where others added text after it: to be freed. text may be
 * NULL. */
char *dfrs_without_note(const char *text, const dfrs_note_t *note);
/* Adds the note at the end of a text of Slurm's. */
void dfrs_add_note(char **text, const dfrs_note_t *note, const char *number);

/* fence.c: whether the thread was left behind by fini(), and must not touch Slurm's records. */
bool dfrs_fenced_off(void);

/* layout.c */

/* Whether this is a job record as the shim knows them. */
bool dfrs_is_job(const job_record_t *job);
/* The job with this id; NULL: there is none, or its record is of another layout. Needs a job lock. */
job_record_t *dfrs_find_job(uint32_t job_id);
/* Whether the jobs' records are of another layout. Needs a job lock. */
bool dfrs_jobs_wrong(void);
/* Whether slurmctld's table of handlers of requests, or one of its other globals, is of another layout. */
bool dfrs_table_wrong(void);

/* hetjobs.c */

/* Whether slurmctld is to refuse this component of a heterogeneous job: all of the partitions that it is for (by now
 * with names: its reservation's, or the default one) are among those in the list. Then ESLURM_NOT_SUPPORTED, with a
 * message for its user. */
int dfrs_check_hetjob(const job_desc_msg_t *request, const char *partitions, char **message);
/* Whether the job is of a heterogeneous one, of which a component waits that may run in these partitions only: it was
 * submitted when they were not DFRS's, or moved there. Backfill would keep nodes free for the other components for
 * ever. Also shows that as their reason, or removes it. Needs a job lock for writing. */
bool dfrs_hetjob_cannot_start(job_record_t *job, const char *partitions);

/* reason.c: shows the job's reason, or removes it, as dfrs_jobs_set_reason() does. Needs a job lock for writing. */
void dfrs_show_reason(job_record_t *job, const char *text);

/* partitions.c */

/* Whether a comma-separated list of names has this one. Either may be NULL. */
bool dfrs_listed(const char *list, const char *name);
typedef bool (*dfrs_is_ours_t)(const part_record_t *partition, const void *context);
/* The first of the job's partitions (in the job's order) that is ours and takes jobs of its length and size, or
 * the first that is ours; NULL: none. Also none for a component of a heterogeneous job that may wait in another
 * partition, too: there backfill starts it. */
part_record_t *dfrs_choose_partition(const job_record_t *job, dfrs_is_ours_t is_ours,
				     const void *context);
/* As dfrs_choose_partition(), among the partitions in the list. */
part_record_t *dfrs_managed_partition(const job_record_t *job, const char *partitions);
/* Remembers the partitions of the latest snapshot, for calls that name a job only. */
void dfrs_remember_partitions(const char *partitions);
/* Remembers which of them give jobs whole nodes, and returns of one whether it does. */
void dfrs_remember_whole(const char *partitions);
bool dfrs_gives_whole_nodes(const part_record_t *partition);
/* As dfrs_managed_partition(), for these. */
part_record_t *dfrs_remembered_partition(const job_record_t *job);

/* CPUs of a partition's smallest and largest node, the most memory for jobs (MiB) and the most sockets of one, and the
 * fewest and the most threads of a core as dfrs_threads() counts them; nothing and one thread if it has no nodes. */
typedef struct {
	uint32_t min_cpus, max_cpus, max_sockets, min_threads, max_threads;
	uint64_t max_memory;
} dfrs_sizes_t;

/* Counted once for each partition while the lock is held. partition may be NULL. */
dfrs_sizes_t dfrs_node_sizes(const part_record_t *partition);

/* requests.c: what a job requests, in plain numbers. All need a job lock; details must be there. */

/* Threads of each of the node's cores, where Slurm gives whole cores away; 1 where it gives CPUs. */
uint32_t dfrs_threads(const node_record_t *node);
/* Whether the job defines how its tasks lie on cores: --threads-per-core (--hint=nomultithread),
 * --ntasks-per-core. */
bool dfrs_constrains_cores(const dfrs_details_t *details);
/* -c, 1 without it. */
uint32_t dfrs_cpus_given(const dfrs_details_t *details);
/* CPUs that a task holds where cores have so many threads: -c, or those that its devices bring if these are more. Of a
 * job that is not to use all threads of its cores, or is to have tasks alone on theirs, those of all the cores that -c
 * takes, as select/cons_tres counts and srun inside the job expects (dist_tasks() of 22.05 to 26.05). */
uint32_t dfrs_cpus_per_task(const job_record_t *job, uint32_t threads);
/* CPUs that so many tasks of the job hold on one node: whole cores, if it constrains them. */
uint32_t dfrs_cpus_of_tasks(const job_record_t *job, uint32_t threads, uint32_t tasks);
/* Of so many CPUs held there those that --mem-per-cpu counts: not the threads that --threads-per-core leaves idle
 * (job_resources_get_node_cpu_cnt() of 22.05 and 24.11). */
uint32_t dfrs_memory_cpus(const dfrs_details_t *details, uint32_t threads, uint32_t cpus);
/* --ntasks-per-node; 0: not given. */
uint32_t dfrs_tasks_per_node(const dfrs_details_t *details);
/* --ntasks-per-socket; 0: not given. */
uint32_t dfrs_tasks_per_socket(const dfrs_details_t *details);
uint32_t dfrs_tasks(const job_record_t *job);
/* --overcommit: more tasks than CPUs. */
bool dfrs_overcommits(const dfrs_details_t *details);
/* Whether its nodes make its tasks, and how many nodes it gets is open: -N with a range and no -n. */
bool dfrs_sized_by_nodes(const job_record_t *job);
/* How many nodes it gets, whatever is free; 0: that is open. */
uint32_t dfrs_fixed_nodes(const job_record_t *job);
/* Its tasks on each of so many nodes (0: open), if that leaves no choice; else 0. */
uint32_t dfrs_tasks_on_each(const job_record_t *job, uint32_t nodes);
/* What of it exact placement does not cover; see dfrs_job_t.unsupported. Here details may be missing. */
uint32_t dfrs_unsupported(const job_record_t *job);
/* In words; NULL for 0. */
const char *dfrs_unsupported_text(uint32_t number);
/* Whether these features, of --constraint or --prefer, are none, or no more than names joined by & and |. */
bool dfrs_plain_features(dfrs_list_t features);
/* Whether it is on nodes, or its processes may still be there. */
bool dfrs_holds_nodes(const job_record_t *job);
/* Minutes, NO_VAL or INFINITE: its own limit, else the one that Slurm gives it when it starts in this partition. */
uint32_t dfrs_time_limit(const job_record_t *job, const part_record_t *partition);
/* Whether the job's record stands for one job, not for (the rest of) an array. */
bool dfrs_single_record(const job_record_t *job);
/* MiB that jobs may use on a node. */
uint64_t dfrs_node_memory(const node_record_t *node);
/* MiB that the job is to get on this node for so many CPUs. */
uint64_t dfrs_memory_request(const job_record_t *job, const node_record_t *node, uint32_t cpus);
/* Whether its nodes are being prepared, or get less memory: no time to suspend or requeue it. */
bool dfrs_is_changing(const job_record_t *job);
/* True if the job was requeued so lately that slurmd would still take its launch for the old run. */
bool dfrs_too_early(const job_record_t *job, time_t now);

/* device_request.c: devices (GRES) but those that jobs share (shards, MPS). All need a job lock. */

/* Some of one kind: all of this name, or those of one type. */
typedef struct {
	const char *name, *type; /* "gpu"; "a100", or NULL */
	uint64_t count, allocated; /* allocated: of a node's, those that jobs hold */
} dfrs_counted_t;
typedef void (*dfrs_device_visitor_t)(const dfrs_counted_t *counted, void *context);

/* Those that the job gets on each of its nodes. */
void dfrs_devices_asked(const job_record_t *job, dfrs_device_visitor_t visit, void *context);
/* How many nodes a job with devices gets or has, and how many tasks on each; 0: that is open. */
typedef struct {
	uint32_t nodes, tasks, sockets; /* sockets: --sockets-per-node */
	bool overcommits; /* more tasks than CPUs: these are not its tasks then, but what Slurm counts CPUs by */
} dfrs_spread_t;
dfrs_spread_t dfrs_device_spread(const job_record_t *job);
/* The nodes of dfrs_device_spread(); also 0: it asks for no devices. */
uint32_t dfrs_device_nodes(const job_record_t *job);
/* Of those asked for in this one form. 0: that is open before its nodes are chosen. */
uint64_t dfrs_devices_on_each(const dfrs_spread_t *spread, const gres_job_state_t *asked);
/* Whether that is open for any that it asks for. */
bool dfrs_devices_open(const job_record_t *job);
/* Whether it may get these places, or these nodes whole: as many, and as many tasks on each, as its devices are
 * counted for. */
bool dfrs_devices_fit(const job_record_t *job, const dfrs_place_t *places, uint32_t count, bool whole);
/* CPUs, and MiB, that come with each device asked for in this form: --cpus-per-gpu, --mem-per-gpu, or the defaults of
 * slurm.conf; 0: none. */
uint64_t dfrs_cpus_per_device(const job_record_t *job, const gres_state_t *state);
uint64_t dfrs_memory_per_device(const job_record_t *job, const gres_state_t *state);
/* CPUs for each task that its devices bring: those of a node, divided among its tasks there, rounded up; 0: none. */
uint32_t dfrs_device_cpus(const job_record_t *job);
/* Whether it asks for them itself, and whether they come and it is open to how many tasks. */
bool dfrs_asks_for_device_cpus(const job_record_t *job);
bool dfrs_device_cpus_open(const job_record_t *job);
/* Whether it has a number of tasks for each GPU (--ntasks-per-gpu), and a node need not have that many. */
bool dfrs_device_tasks_open(const job_record_t *job);
/* As pn_min_memory, with the memory that devices bring. */
uint64_t dfrs_memory_asked(const job_record_t *job);
/* Whether a kind that the job asks for is asked for in this form. */
typedef bool (*dfrs_device_form_t)(const job_record_t *job, const gres_state_t *state);
bool dfrs_devices_any(const job_record_t *job, dfrs_device_form_t is_asked);

/* device_nodes.c: the fewest nodes that have the devices of a pending job with an open number of nodes, so that tasks and
 * devices divide evenly among them; 0: there is no such number, or they are asked for by node. O(nodes) once for each
 * kind while the lock is held, and O(nodes that it could get). */
uint32_t dfrs_fewest_device_nodes(const job_record_t *job);

/* devices.c */

/* Those that the node has; a read lock suffices. */
void dfrs_devices_of_node(int node_index, dfrs_device_visitor_t visit, void *context);
/* Whether a node has devices of this kind, as a job's list has it, that are near some of its cores (Cores= of gres.conf).
 * O(nodes). */
bool dfrs_devices_near_cores(const gres_state_t *kind);
/* Whether another job is ending on one of these nodes that has or had devices of a kind that the job asks for, or any
 * if it gets whole nodes: Slurm counts them as free already. O(jobs) if any job is ending there. */
bool dfrs_devices_still_used(const job_record_t *job, const dfrs_place_t *places, uint32_t count, bool whole);
/* Has Slurm give the job as many on each node, and nothing else with them, until it is restored. NULL: it asks for
 * none. Needs the write locks. */
typedef struct dfrs_devices dfrs_devices_t;
dfrs_devices_t *dfrs_devices_ask(job_record_t *job);
void dfrs_devices_restore(dfrs_devices_t *devices);

/* reservation.c */

/* That which the job runs in, or is planned with while it waits; NULL: none. O(nodes) for a waiting job that names
 * several, else O(1). A read lock suffices. */
slurmctld_resv_t *dfrs_reservation(const job_record_t *job, time_t now);
/* Has a job that names several (resv_list) start in one that is open and has these nodes; ESLURM_RESERVATION_INVALID: none
 * does. Needs the write locks. */
int dfrs_enter_reservation(job_record_t *job, bitstr_t *nodes, time_t now);

/* gate.c: as dfrs_jobs_gate(), and sets the job's part_ptr to the partition it may start in. Needs the
 * write locks; job may be NULL. */
int dfrs_job_eligible(job_record_t *job, time_t now);

/* limits.c: associations and QOS, where slurmctld enforces them. All need the write locks. */

/* What a job has or is to have. memory: MiB on all nodes; 0: what Slurm makes of the request. */
typedef struct {
	uint64_t cpus, memory, nodes;
} dfrs_amounts_t;

/* Whether the job may have so much now. If not, its reason names the limit that it would exceed. */
bool dfrs_within_limits(job_record_t *job, const dfrs_amounts_t *amounts);
/* As above, for the least that the job can get wherever it is placed. */
bool dfrs_minimum_within_limits(job_record_t *job);

/* Until it is restored with what this returns, Slurm does not hold the job to limits of CPUs, memory
 * and nodes. */
uint16_t *dfrs_limits_lift(job_record_t *job);
void dfrs_limits_restore(job_record_t *job, uint16_t *limits);
/* Counts a job that has just started with what it holds now, in place of what it was counted with. */
void dfrs_limits_count_again(job_record_t *job);

/* select.c: the records of select/cons_tres. All need the write locks unless noted otherwise. */

/* Whether the plugin is loaded and has its records. */
bool dfrs_select_ready(void);
/* CPUs of the cores that jobs of partitions hold on the node for which is_ours() is false; a read lock suffices. */
uint32_t dfrs_select_others_cpus(int node_index, dfrs_is_ours_t is_ours, const void *context);
/* The node_req of all jobs on a node together: if it is not 0, a job is there that shares no core, and none of a
 * partition with OverSubscribe=FORCE may start (_verify_node_state() of 22.05 to 26.05). Returns it, and makes Slurm forget
 * it until dfrs_select_add_claims(). */
uint32_t dfrs_select_take_claims(int node_index);
void dfrs_select_add_claims(int node_index, uint32_t claims);
/* MiB counted as used on a node by all jobs; a read lock suffices. */
uint64_t dfrs_select_memory(int node_index);
/* The states of the kinds of devices of a node; NULL: it has none. A read lock suffices. */
dfrs_list_t dfrs_select_devices(int node_index);
void dfrs_select_add_memory(int node_index, uint64_t memory);
void dfrs_select_take_memory(int node_index, uint64_t memory);
/* Takes the job out of the records. */
void dfrs_select_remove(job_record_t *job);
/* Puts it back, with its memory and no core. */
void dfrs_select_add_hidden(job_record_t *job);
/* Makes the cores of a job that is in the records invisible to other jobs, and has it share them. On nodes that are
 * none of the managed ones they stay visible: others look only there whether a node is free. */
void dfrs_select_hide(job_record_t *job, const bitstr_t *managed);
/* Whether any core of the managed nodes counts as used by the partition, or a job is missing from its rows; a read
 * lock suffices. jobs: how many jobs of it hold nodes. */
bool dfrs_select_visible(const part_record_t *partition, const bitstr_t *managed, uint32_t jobs);
/* Whether a core that the job holds on another node counts as free; a read lock suffices. */
bool dfrs_select_uncovered(const job_record_t *job, const bitstr_t *managed);

/* hide.c: whether a job of a DFRS partition is in select/cons_tres's rows. Needs a job lock. */
bool dfrs_holds_cores(const job_record_t *job);

/* record.c: whether a hold gave it its reason; and has its priority. An operator's suspension takes the priority,
 * too, and gives no reason. */
bool dfrs_reason_is_hold(const job_record_t *job);
bool dfrs_on_hold(const job_record_t *job);
/* Whether the job has a time limit, or a deadline. */
bool dfrs_has_limit(const job_record_t *job);
bool dfrs_has_deadline(const job_record_t *job);

/* requeue.c: whether a job ended neither by its time limit nor by scancel or its nodes. */
bool dfrs_ended_by_itself(const job_record_t *job);
/* Whether DFRS requeues it if it ends by itself after a warning. */
bool dfrs_continues_when_requeued(const job_record_t *job);
/* Whether its begin time is no more than what Slurm gives jobs that it requeues, and not a later one that the job's
 * user or crontab gave. */
bool dfrs_is_begin_of_requeue(const job_record_t *job);

/* warned.c: both need the write locks. */

/* DFRS has warned the job. */
void dfrs_note_warned(const job_record_t *job);
/* As dfrs_jobs_requeue_saved(). */
void dfrs_requeue_saved(void);

/* cores.c: sets, of a job's bits from `first` on, which are those of the node's `count` cores, as many as hold its
 * CPUs there. Needs the write locks. */
void dfrs_name_cores(bitstr_t *cores, uint32_t first, uint32_t count, const node_record_t *node,
		     uint32_t cpus);

/* preemption.c: all but the first two need the write locks. */

/* The job's --signal; 0: none. */
uint16_t dfrs_users_signal(const job_record_t *job);
/* See dfrs_job_t.grace_end. */
int64_t dfrs_grace_end(const job_record_t *job);
/* Has Slurm send a job that starts nothing that ends its steps when it begins to preempt it, under
 * PreemptParameters=send_user_signal. */
void dfrs_preemption_prepare(job_record_t *job);
/* The job is not preempted any more: Slurm does not end it, and gives it a new end when it is resumed. */
void dfrs_preemption_forget(job_record_t *job);
/* The same of a suspended job, whose end does not come until it is resumed. */
void dfrs_preemption_keep_off(job_record_t *job);

/* start.c: whether this thread is having Slurm start a job. */
bool dfrs_is_starting(void);

/* backfill.c */
extern void *backfill_agent(void *argument);
extern void stop_backfill_agent(void);
extern void backfill_reconfig(void);

#endif
