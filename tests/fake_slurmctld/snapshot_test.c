/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot_test.c - the shim's calls for many jobs, on records that change.
 *
 * usage: looks SCENARIO
 *
 * random: after each of many random changes what deltas have said is what a complete snapshot says, and
 * nothing else was copied. many: what is copied of 30,000 jobs. slices: for how long locks are held. room:
 * which jobs wait for nothing else. arrays: so many tasks get records as were requested. parked:
 * what reasons of nodes say of parked jobs. fit: which nodes have what a job needs. threads: how
 * many CPUs a task holds. comment: how much of a long one is read. bounds: on how many nodes a job
 * may be, and until when. warned: which jobs have ended of their warning. words: which of Slurm's
 * words stay. names: which cores a job has in name. yields: where they are shown. requests: what
 * only newer versions have, and is refused. begin: when a requeued job may begin. devices: which
 * jobs hold some. topology: which leaf switches nodes have, and which nodes jobs want together. preference: which nodes
 * they prefer. sets: nodes of many jobs of which no two may have the same ones. limits: what is taken off a time limit again. cores: which jobs reservations of cores keep off. several:
 * in which of its reservations a job waits. listed: which lists of nodes can be. hetjobs: which components of heterogeneous jobs wait for ever, and what
 * they show. overlapping: which reservations keep jobs of others off. preemption: whether a start may end jobs. grace:
 * what becomes of jobs that Slurm preempts. dependencies: jobs after one that was warned.
 * Prints what was found; a test looks at it.
 */
#include "mutations.h"
#include "client_view.h"

#include "internal.h"
#include "withhold.h"

#include <stdio.h>

#define PARTITIONS "dfrs,dfrs2"

static void print_bounds(const char *what);

static dfrs_snapshot_t look(dfrs_view_t *view, known_t *known)
{
	dfrs_snapshot_t snapshot;
	int rc = dfrs_snapshot(view, PARTITIONS, &snapshot);

	if (rc) {
		printf("dfrs_snapshot: %d\n", rc);
		_exit(5);
	}
	if (known)
		take_in(known, &snapshot);
	return snapshot;
}

/* --- random ---------------------------------------------------------------------------------------------- */

static known_t delta, full;

static void compare_with_complete(dfrs_view_t *view, uint32_t round)
{
	dfrs_view_t *fresh = dfrs_view_create();
	dfrs_snapshot_t changes = look(view, &delta), all = look(fresh, &full);
	char when[64];

	snprintf(when, sizeof(when), "after round %u they differ:", round);
	compare(&delta, &full, when);
	if (changes.jobs_seen != all.job_count)
		printf("seen %u of %u\n", changes.jobs_seen, all.job_count);
	dfrs_snapshot_free(&changes);
	dfrs_snapshot_free(&all);
	dfrs_view_destroy(fresh);
}

static void random_changes(void)
{
	dfrs_view_t *view = dfrs_view_create();

	make_nodes(70);
	labels_select = true;
	for (uint32_t round = 0; round < 3000; round++) {
		/* Mostly one, so that each is looked at by itself. */
		for (uint32_t edits = below(4) ? 1 : below(60); edits; edits--)
			mutate_anything(round < 1500 ? 60 : 600);
		if (!below(200))
			dfrs_view_forget(view);
		compare_with_complete(view, round);
	}
	dfrs_view_destroy(view);
	printf("rounds compared\n");
}

/* --- many ------------------------------------------------------------------------------------------------ */

#define WAITING 20000
#define RUNNING 10000

static void print_changes(const char *what, dfrs_snapshot_t snapshot)
{
	printf("%s: complete %d jobs %u gone %u nodes %u sets %u indexes %u of %u\n", what,
	       snapshot.complete, snapshot.job_count, snapshot.gone_count, snapshot.node_count,
	       snapshot.set_count, snapshot.index_count, snapshot.jobs_seen);
	dfrs_snapshot_free(&snapshot);
}

static void make_many(void)
{
	make_nodes(2000);
	for (uint32_t id = 1; id <= WAITING; id++)
		exclude_node(new_job(id), (int) id % 20);
	for (uint32_t id = WAITING + 1; id <= WAITING + RUNNING; id++)
		run_job(new_job(id), (int) id % 2000, 1);
}

static void many(void)
{
	dfrs_view_t *view = dfrs_view_create();

	make_many();
	print_changes("first", look(view, NULL));
	print_changes("unchanged", look(view, NULL));
	for (uint32_t id = 100; id < 110; id++)
		find_job_record(id)->priority++;
	remove_job(find_job_record(200));
	print_changes("changed", look(view, NULL));
	cores_are_visible = true;
	printf("cores visible %d\n", look(view, NULL).cores_visible);
	dfrs_view_forget(view);
	print_changes("forgotten", look(view, NULL));
	dfrs_view_destroy(view);
}

/* --- slices ---------------------------------------------------------------------------------------------- */

#define REASONS 30000

static void pass_a_millisecond(void)
{
	monotonic_nanoseconds += 1000000;
}

static _Atomic uint64_t reads, writes, longest_write;

static void count_lock(bool is_write, uint64_t waited, uint64_t held)
{
	(void) waited;
	if (!is_write) {
		reads++;
		return;
	}
	writes++;
	longest_write = MAX(longest_write, held);
}

__attribute__((constructor)) static void observe_locks(void)
{
	dfrs_observe_locks(count_lock);
}

/* Since the last call. */
static void print_locks(const char *what)
{
	printf("%s: reads %" PRIu64 " writes %" PRIu64 " longest lately %" PRIu64 "\n", what, reads,
	       writes, longest_write);
	reads = writes = longest_write = 0;
}

static void slices(void)
{
	static uint32_t ids[REASONS];
	static const char *texts[REASONS];
	int results[40];

	make_many();
	for (uint32_t i = 0; i < REASONS; i++) {
		ids[i] = i + 1;
		texts[i] = (i % 2) ? "DFRS: waits for memory" : "DFRS: waits for the next decision";
	}
	on_gate = pass_a_millisecond;
	dfrs_remember_partitions(PARTITIONS);
	print_locks("start");
	dfrs_jobs_gate(ids, 40, results);
	print_locks("gate of 40 at a millisecond each");
	dfrs_jobs_set_reason(ids, texts, REASONS);
	print_locks("reasons");
	dfrs_jobs_set_reason(ids, texts, REASONS);
	print_locks("the same reasons");
	printf("job 2 says %s\n", find_job_record(2)->state_desc);
	print_counts();
}

/* --- cores ----------------------------------------------------------------------------------------------- */

/* Cores that jobs of so many CPUs are given by name on a node, one after the other. */
static void name_cores(const char *what, uint32_t count, int cpus)
{
	const node_record_t *node = node_record_table_ptr[0];
	bitstr_t *cores = bit_alloc(count + 1);

	/* Of the node before. */
	bit_set(cores, 0);
	dfrs_name_cores(cores, 1, count, node, (uint32_t) cpus);
	printf("%s:", what);
	for (uint32_t core = 0; core < count; core++)
		if (bit_test(cores, core + 1))
			printf(" %u", core);
	printf(bit_test(cores, 0) ? "\n" : ", and takes another node's\n");
	FREE_NULL_BITMAP(cores);
}

static void names(void)
{
	node_record_t *node;

	make_nodes(1);
	node = node_record_table_ptr[0];
	node->cpus = node->cpus_efctv = 4;
	name_cores("one", 4, 1);
	name_cores("two more", 4, 2);
	name_cores("two in the end", 4, 2);
	name_cores("all", 4, 4);
	name_cores("more than there are", 4, 6);
	node->cpus = node->cpus_efctv = 8;
	name_cores("three of two threads", 4, 3);
	name_cores("one of two threads", 4, 1);
	node->cpus_efctv = 6;
	node->node_spec_bitmap = bit_alloc(4);
	bit_nset(node->node_spec_bitmap, 0, 2);
	name_cores("beside one of the system's", 4, 4);
	name_cores("beside it again", 4, 4);
	name_cores("all but that", 4, 6);
}

/* --- words ----------------------------------------------------------------------------------------------- */

/* What squeue shows of job 1 after DFRS has something to say, and after it has nothing more to. */
static void print_words_of(const char *text, const char *what, uint32_t reason, const char *description)
{
	static const uint32_t id = 1;
	const char *const texts[] = { text, NULL };
	job_record_t *job = find_job_record(id);

	xfree(job->state_desc);
	job->state_desc = description ? xstrdup(description) : NULL;
	job->state_reason = reason;
	for (int i = 0; i < 2; i++) {
		dfrs_jobs_set_reason(&id, &texts[i], 1);
		printf("%s, %s: %s%s\n", what, texts[i] ? "then" : "at last",
		       job->state_desc ? job->state_desc : "(none)",
		       (job->state_reason == reason) ? "" : ", another reason");
	}
}

static void print_words(const char *what, uint32_t reason, const char *description)
{
	print_words_of("DFRS: was requeued, starts again", what, reason, description);
}

static void words(void)
{
	job_record_t *job;
	dfrs_details_t *details;

	make_nodes(1);
	job = new_job(1);
	details = job->details;
	print_words("waits", WAIT_RESOURCES, NULL);
	print_words("its node failed", FAIL_DOWN_NODE, NULL);
	details->begin_time = wall_clock + 60;
	print_words("requeued", WAIT_TIME, NULL);
	details->begin_time = wall_clock + 86400;
	print_words("begins tomorrow", WAIT_TIME, NULL);
	details->begin_time = 0;
	details->dependency = xstrdup("afterok:7(unfulfilled)");
	print_words("depends", WAIT_DEPENDENCY, NULL);
	print_words("never satisfied", WAIT_DEP_INVALID, NULL);
	xfree(details->dependency);
	job->priority = 0;
	print_words("launch failed", WAIT_HELD_USER, "launch failed requeued held");
	print_words("special exit", WAIT_HELD_USER, "job requeued in special exit state");
	print_words_of("DFRS: its image could not be restored on n1", "not restored", WAIT_HELD_USER,
		       "job requeued in special exit state");
	print_words("held by its user", WAIT_HELD_USER, NULL);
	print_words("held by an administrator", WAIT_HELD, NULL);
	print_words("held since", WAIT_HELD_USER, "DFRS: waits for memory");
	job->job_state = JOB_SUSPENDED;
	print_words("suspended", WAIT_NO_REASON, NULL);
}

/* --- room ------------------------------------------------------------------------------------------------ */

static void print_reason(const char *what, uint32_t reason)
{
	static const uint32_t id = 1;
	job_record_t *job = find_job_record(id);
	bool waits_for_room = false;

	job->state_reason = reason;
	dfrs_jobs_wait_for_room(&id, 1, &waits_for_room);
	printf("%s: %s%s\n", what, waits_for_room ? "room" : "held back",
	       (job->state_reason == reason) && !strcmp(job->state_desc, "as it was") ? "" : ", CHANGED");
}

static void print_reasons(void)
{
	print_reason("no reason", WAIT_NO_REASON);
	print_reason("priority", WAIT_PRIORITY);
	print_reason("resources", WAIT_RESOURCES);
	print_reason("its node failed", FAIL_DOWN_NODE);
	print_reason("dependency", WAIT_DEPENDENCY);
	print_reason("dependency never satisfied", WAIT_DEP_INVALID);
	print_reason("association", WAIT_ASSOC_MAX_JOBS);
	print_reason("QOS", WAIT_QOS_GRP_CPU);
	print_reason("array", WAIT_ARRAY_TASK_LIMIT);
	print_reason("licences", WAIT_LICENSES);
	print_reason("reservation", WAIT_RESERVATION);
	print_reason("account gone", FAIL_ACCOUNT);
}

static void room(void)
{
	static const uint32_t gone = 2;
	bool waits = true;
	job_record_t *job;
	part_record_t *partition;

	make_nodes(2);
	job = new_job(1);
	job->state_desc = xstrdup("as it was");
	partition = job->part_ptr;
	partition->state_up = PARTITION_UP;
	dfrs_remember_partitions(PARTITIONS);
	last_job_update = 0;
	print_locks("start");
	print_reasons();
	job->details->begin_time = wall_clock + 1;
	print_reason("begins later", WAIT_TIME);
	job->details->begin_time = wall_clock;
	print_reason("begins now", WAIT_TIME);
	job->priority = 0;
	print_reason("held", WAIT_NO_REASON);
	job->priority = 1;
	partition->state_up = PARTITION_DOWN;
	print_reason("partition down", WAIT_NO_REASON);
	partition->state_up = PARTITION_UP;
	job->job_state = JOB_RUNNING;
	print_reason("runs", WAIT_NO_REASON);
	dfrs_jobs_wait_for_room(&gone, 1, &waits);
	printf("gone: %d, jobs have changed: %d\n", waits, last_job_update != 0);
	print_locks("all of it");
}

/* --- arrays ---------------------------------------------------------------------------------------------- */

#define ARRAY 7
#define TASKS 100

static uint32_t next_id = 1000;

/* As slurmctld: a new record takes the rest and the id of the array. */
job_record_t *split_off(job_record_t *job) __asm__("job_array_split");
job_record_t *split_off(job_record_t *job)
{
	job_record_t *rest;
	uint32_t array = job->job_id;

	rename_job(job, next_id++);
	rest = new_job(array);
	rest->array_job_id = array;
	rest->array_recs = job->array_recs;
	job->array_recs = NULL;
	bit_clear(rest->array_recs->task_id_bitmap, job->array_task_id);
	rest->array_recs->task_cnt--;
	return rest;
}

job_record_t *split_last(job_record_t *job) __asm__("job_array_post_sched");
job_record_t *split_last(job_record_t *job)
{
	FREE_NULL_BITMAP(job->array_recs->task_id_bitmap);
	job->array_recs->task_cnt = 0;
	return job;
}

void before_split(job_record_t *job) __asm__("job_array_pre_sched");
void before_split(job_record_t *job)
{
	job->array_task_id = bit_ffs(job->array_recs->task_id_bitmap);
}

static void arrays(void)
{
	job_record_t *job;
	dfrs_view_t *view = dfrs_view_create();

	make_nodes(10);
	job = new_job(ARRAY);
	job->array_job_id = ARRAY;
	job->array_recs = xmalloc(sizeof(*job->array_recs));
	job->array_recs->task_id_bitmap = bit_alloc(TASKS);
	bit_set_all(job->array_recs->task_id_bitmap);
	job->array_recs->task_cnt = TASKS;
	print_changes("an array", look(view, NULL));
	printf("split %d\n", dfrs_array_split(ARRAY, 37));
	print_changes("37 tasks split off", look(view, NULL));
	printf("left %u\n", find_job_record(ARRAY)->array_recs->task_cnt);
	printf("split %d\n", dfrs_array_split(ARRAY, 1000));
	print_changes("all", look(view, NULL));
	printf("single %d\n", dfrs_single_record(find_job_record(ARRAY)));
	dfrs_view_destroy(view);
}

/* --- parked ---------------------------------------------------------------------------------------------- */

static void set_reason(node_record_t *node, const char *reason)
{
	xfree(node->reason);
	node->reason = reason ? xstrdup(reason) : NULL;
	node->reason_time = reason ? 17 : 0;
	node->reason_uid = reason ? 1000 : NO_VAL;
}

static void print_parked(const char *what, uint32_t parked)
{
	static const char *const names[] = { "n0" };
	const node_record_t *node = node_record_table_ptr[0];

	dfrs_nodes_set_parked(names, &parked, 1);
	printf("%s: %s, by %d at %ld\n", what, node->reason ? node->reason : "(none)",
	       (int) node->reason_uid, (long) node->reason_time);
}

static void parked(void)
{
	node_record_t *node;
	static const char *const gone[] = { "n1" };
	uint32_t one = 1;

	make_nodes(1);
	node = node_record_table_ptr[0];
	slurm_conf.slurm_user_id = 64030;
	set_reason(node, NULL);
	print_parked("up", 2);
	node->node_state |= NODE_STATE_DRAIN;
	set_reason(node, "disk swap");
	print_locks("start");
	last_node_update = 0;
	print_parked("drains", 2);
	printf("nodes have changed %d\n", last_node_update == wall_clock);
	print_locks("drains");
	print_parked("the same", 2);
	print_locks("the same");
	print_parked("one", 1);
	set_reason(node, "fan, too");
	print_parked("another reason", 1);
	xstrcat(node->reason, " : reboot issued");
	print_parked("goes on", 1);
	print_parked("none", 0);
	print_parked("still none", 0);
	set_reason(node, "[DFRS: 1.5 parked] [DFRS: x parked] [DFRS: 1 parke");
	print_parked("others' brackets", 0);
	set_reason(node, NULL);
	print_parked("without a reason", 12);
	print_parked("without a reason and none", 0);
	print_parked("down with it", 3);
	node->node_state = NODE_STATE_DOWN | NODE_STATE_NO_RESPOND;
	print_parked("down", 3);
	node->node_state = NODE_STATE_IDLE | NODE_STATE_REBOOT_REQUESTED;
	set_reason(node, "update");
	print_parked("to be rebooted", 3);
	node->node_state = NODE_STATE_IDLE;
	print_parked("no longer", 3);
	dfrs_nodes_set_parked(gone, &one, 1);
	dfrs_nodes_set_parked(NULL, NULL, 0);
}

/* --- fit ------------------------------------------------------------------------------------------------- */

static config_record_t *first_configuration(void)
{
	return list_peek(config_list);
}

/* Which nodes the only job may use. */
static void print_nodes(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);
	const dfrs_job_t *job = snapshot.jobs;

	printf("%s:", what);
	if (!job->eligible) {
		printf(" all");
	} else {
		const dfrs_node_set_t *set = &snapshot.sets[job->eligible - 1];

		for (uint32_t i = 0; i < set->count; i++)
			printf(" %u", snapshot.indexes[set->offset + i]);
	}
	printf("; CPUs %u, label %d%s\n", snapshot.nodes[0].cpus, job->label != 0,
	       (job->free_until == 1) ? ", always too soon" : "");
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

/* A reservation of node 0 that always begins in half an hour, and lasts for as long. */
static void float_reservation(job_record_t *job)
{
	slurmctld_resv_t *reservation = xmalloc(sizeof(*reservation));

	reservation->resv_id = 17;
	reservation->flags = RESERVE_FLAG_TIME_FLOAT;
	reservation->ctld_flags = RESV_CTLD_FULL_NODE;
	reservation->start_time = 1800;
	reservation->duration = 30;
	reservation->node_bitmap = bit_alloc(node_record_count);
	bit_set(reservation->node_bitmap, 0);
	resv_list = list_create(NULL);
	list_append(resv_list, reservation);
	job->time_limit = 30;
	print_nodes("done before a floating reservation");
	job->time_limit = 31;
	print_nodes("not done before it");
	job->resv_ptr = reservation;
	print_nodes("in it");
	job->resv_ptr = NULL;
}

/* Of these nodes, for an hour from half an hour ago on. */
static slurmctld_resv_t *reserve(uint32_t id, const char *nodes, uint64_t flags)
{
	slurmctld_resv_t *reservation = xmalloc(sizeof(*reservation));

	reservation->resv_id = id;
	reservation->flags = flags;
	reservation->ctld_flags = RESV_CTLD_FULL_NODE;
	reservation->start_time = wall_clock - 1800;
	reservation->end_time = wall_clock + 1800;
	reservation->node_bitmap = bit_alloc(node_record_count);
	for (; *nodes; nodes++)
		bit_set(reservation->node_bitmap, *nodes - '0');
	list_append(resv_list, reservation);
	return reservation;
}

/* Nodes 0 and 1 are reserved plainly, 2 and 3 for maintenance. */
static void overlapping(void)
{
	slurmctld_resv_t *own, *other;
	job_record_t *job;

	make_nodes(5);
	job = new_job(1);
	other = reserve(1, "01", 0);
	(void) reserve(2, "23", RESERVE_FLAG_MAINT);
	print_nodes("in none");
	own = job->resv_ptr = reserve(3, "1234", 0);
	print_nodes("plain");
	own->flags = RESERVE_FLAG_OVERLAP;
	print_nodes("overlaps");
	own->flags = RESERVE_FLAG_MAINT;
	print_nodes("maintains");
	own->flags = 0;
	job->resv_ptr = other;
	print_nodes("in the other");
	run_job(job, 1, 1);
	job->node_bitmap = bit_copy(job->job_resrcs->node_bitmap);
	job->resv_ptr = own;
	print_bounds("runs in a plain one");
	own->flags = RESERVE_FLAG_OVERLAP;
	print_bounds("runs in one that overlaps");
}

/* A job names three reservations: of nodes 0 and 1, of 2 and 3 (which begins later), and of 4. */
static void several(void)
{
	slurmctld_resv_t *first, *later;
	job_record_t *job;

	make_nodes(6);
	job = new_job(1);
	first = reserve(1, "01", 0);
	later = reserve(2, "23", 0);
	later->start_time = wall_clock + 60;
	job->resv_list = list_create(NULL);
	list_append(job->resv_list, first);
	list_append(job->resv_list, later);
	list_append(job->resv_list, reserve(3, "4", 0));
	print_nodes("first");
	job->details->req_node_bitmap = bit_alloc(node_record_count);
	bit_set(job->details->req_node_bitmap, 4);
	print_nodes("that of a node by name");
	FREE_NULL_BITMAP(job->details->req_node_bitmap);
	bit_nclear(avail_node_bitmap, 0, 1);
	print_nodes("the first has no node that is up");
	bit_nset(avail_node_bitmap, 0, 1);
	allocated_memory[1] = dfrs_node_memory(node_record_table_ptr[1]);
	print_nodes("as many free in the last");
	allocated_memory[0] = dfrs_node_memory(node_record_table_ptr[0]);
	print_nodes("none free in the first");
	wall_clock = later->start_time;
	print_nodes("more free in the other");
	wall_clock = later->end_time;
	print_nodes("all are over");
}

/* So many cores of each of its nodes. */
static void reserve_cores(slurmctld_resv_t *reservation, uint32_t first, uint32_t last)
{
	reservation->ctld_flags = 0;
	reservation->core_bitmap = bit_alloc(32 * node_record_count);
	for (int i = 0; i < node_record_count; i++)
		if (bit_test(reservation->node_bitmap, i))
			bit_nset(reservation->core_bitmap, 32 * i + first, 32 * i + last);
}

/* Two cores of nodes 0 and 1, and all others of node 1. */
static void cores(void)
{
	job_record_t *job;

	make_nodes(3);
	job = new_job(1);
	reserve_cores(reserve(1, "01", 0), 0, 1);
	print_nodes("two of 32");
	job->details->cpus_per_task = 30;
	print_nodes("-c 30");
	job->details->cpus_per_task = 31;
	print_nodes("-c 31");
	job->details->cpus_per_task = 1;
	job->details->whole_node = WHOLE_NODE_REQUIRED;
	print_nodes("--exclusive");
	job->details->whole_node = 0;
	job->details->pn_min_memory = 0;
	print_nodes("--mem=0");
	job->details->pn_min_memory = 1000;
	dfrs_remember_whole("dfrs");
	print_nodes("whole nodes");
	dfrs_remember_whole("");
	reserve_cores(reserve(2, "1", 0), 2, 31);
	print_nodes("all of one");
	((slurmctld_resv_t *) list_peek(resv_list))->flags = RESERVE_FLAG_MAINT;
	print_nodes("maintenance");
	((slurmctld_resv_t *) list_peek(resv_list))->flags = 0;
	job->resv_ptr = reserve(3, "12", 0);
	print_nodes("in another one");
	(void) list_delete_ptr(resv_list, job->resv_ptr);
	job->resv_ptr = NULL;
	run_job(job, 0, 1);
	job->node_bitmap = bit_copy(job->job_resrcs->node_bitmap);
	print_bounds("runs");
	job->details->whole_node = WHOLE_NODE_REQUIRED;
	print_bounds("runs with --exclusive");
}

/* Even nodes have more of everything than odd ones. */
static void fit(void)
{
	dfrs_details_t *details;
	multi_core_data_t parts = { .sockets_per_node = NO_VAL16, .cores_per_socket = NO_VAL16,
				    .threads_per_core = NO_VAL16 };
	job_record_t *job;

	make_nodes(4);
	*first_configuration() = (config_record_t) {
		.magic = CONFIG_MAGIC, .node_bitmap = first_configuration()->node_bitmap,
		.cpus = 16, .tmp_disk = 500, .tot_sockets = 2, .cores = 4, .threads = 2,
	};
	job = new_job(1);
	details = job->details;
	print_nodes("nothing");
	details->pn_min_tmp_disk = 500;
	print_nodes("--tmp=500");
	details->pn_min_tmp_disk = 501;
	print_nodes("--tmp=501");
	details->pn_min_tmp_disk = 0;
	details->pn_min_cpus = 16;
	print_nodes("--mincpus=16");
	details->pn_min_cpus = 0;
	details->mc_ptr = &parts;
	print_nodes("no -B");
	parts.sockets_per_node = 2;
	print_nodes("--sockets-per-node=2");
	parts.cores_per_socket = 5;
	print_nodes("-B 2:5");
	parts.cores_per_socket = 4;
	parts.threads_per_core = 2;
	print_nodes("-B 2:4:2");
	parts.threads_per_core = 3;
	print_nodes("-B 2:4:3");
	details->mc_ptr = NULL;
	job->part_ptr->max_cpus_per_node = 8;
	print_nodes("MaxCPUsPerNode=8, and another partition without it");
	find_part_record("dfrs2")->max_cpus_per_node = 12;
	print_nodes("MaxCPUsPerNode=8 and 12");
	job->mcs_label = xstrdup("secret");
	print_nodes("with a label");
	labels_select = true;
	print_nodes("with a label that selects");
	float_reservation(job);
}

/* --- threads --------------------------------------------------------------------------------------------- */

static void print_cpus(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);
	const dfrs_job_t *job = snapshot.jobs;

	printf("%s: %u CPUs, %u idle, at most %u tasks\n", what, job->cpus_per_task,
	       job->idle_cpus, job->tasks_per_node);
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void print_parts(const char *what, dfrs_details_t *details, uint16_t threads_per_core,
		      uint16_t ntasks_per_core)
{
	char line[100];

	details->mc_ptr->threads_per_core = threads_per_core;
	details->mc_ptr->ntasks_per_core = ntasks_per_core;
	for (uint16_t cpus = 1; cpus <= 3; cpus++) {
		details->cpus_per_task = cpus;
		snprintf(line, sizeof(line), "%s -c %u", what, cpus);
		print_cpus(line);
	}
}

/* Nodes of 32 CPUs, two of each core. */
static void use_threads(void)
{
	multi_core_data_t parts = { .sockets_per_node = NO_VAL16, .cores_per_socket = NO_VAL16 };
	dfrs_details_t *details;

	make_nodes(2);
	details = new_job(1)->details;
	for (int i = 0; i < 2; i++)
		node_record_table_ptr[i]->tpc = 2;
	slurm_conf.select_type_param = DFRS_SELECTS_CORES | DFRS_SELECTS_MEMORY;
	print_cpus("no parts");
	details->mc_ptr = &parts;
	print_parts("plain", details, NO_VAL16, INFINITE16);
	print_parts("--threads-per-core=1", details, 1, INFINITE16);
	print_parts("--threads-per-core=2", details, 2, INFINITE16);
	print_parts("--ntasks-per-core=1", details, NO_VAL16, 1);
	print_parts("--ntasks-per-core=2", details, NO_VAL16, 2);
	for (int i = 0; i < 2; i++)
		node_record_table_ptr[i]->tpc = 4;
	print_parts("two of four", details, 2, INFINITE16);
	for (int i = 0; i < 2; i++)
		node_record_table_ptr[i]->tpc = 2;
	slurm_conf.select_type_param = DFRS_SELECTS_CORES_OR_CPUS & ~DFRS_SELECTS_CORES;
	print_parts("by CPUs", details, 1, 1);
	slurm_conf.select_type_param = DFRS_SELECTS_CORES | DFRS_SELECTS_MEMORY;
	node_record_table_ptr[1]->tpc = 4;
	print_parts("of two or four", details, 1, INFINITE16);
	details->mc_ptr = NULL;
}

/* --- comment --------------------------------------------------------------------------------------------- */

#define LONG_COMMENT 100000000

static void print_comment(const char *what, dfrs_view_t *view)
{
	dfrs_snapshot_t snapshot = look(view, NULL);

	printf("%s: jobs %u, of the comment %zu\n", what, snapshot.job_count,
	       snapshot.job_count ? strlen(snapshot.strings + snapshot.jobs->comment) : 0);
	dfrs_snapshot_free(&snapshot);
}

/* Longer than any that a user can give. */
static void comment(void)
{
	dfrs_view_t *view = dfrs_view_create();
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	job->comment = xmalloc(LONG_COMMENT + 1);
	memset(job->comment, 'x', LONG_COMMENT);
	print_comment("long", view);
	job->comment[1023] = 'y';
	print_comment("another in what is read", view);
	job->comment[1024] = 'y';
	print_comment("another in what is not", view);
	dfrs_view_destroy(view);
}

/* --- yields ---------------------------------------------------------------------------------------------- */

static const char *text_of(const char *text)
{
	return text ? text : "(none)";
}

static void show_yield(const char *what, uint32_t yield, uint32_t field)
{
	static const uint32_t ids[] = { 1, 2 };
	const uint32_t yields[] = { yield, yield };
	job_record_t *job = find_job_record(1);
	char **extra = dfrs_extra(job);

	last_job_update = 0;
	dfrs_jobs_set_yield(ids, yields, 2, field);
	printf("%s: %s, %s%s\n", what, text_of(job->admin_comment), text_of(extra ? *extra : NULL),
	       last_job_update ? "" : ", as before");
}

/* There is no job 2. */
static void yields(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	run_job(job, 0, 1);
	printf("has extra %d\n", dfrs_has_extra());
	print_locks("start");
	show_yield("none", DFRS_NO_YIELD, DFRS_FIELD_ADMIN_COMMENT);
	print_locks("none");
	show_yield("all", 100, DFRS_FIELD_ADMIN_COMMENT);
	print_locks("all");
	show_yield("the same", 100, DFRS_FIELD_ADMIN_COMMENT);
	print_locks("the same");
	show_yield("less", 7, DFRS_FIELD_ADMIN_COMMENT);
	xfree(job->admin_comment);
	job->admin_comment = xstrdup("ticket 17 [DFRS: yield 0.07] again");
	show_yield("others' words", 50, DFRS_FIELD_ADMIN_COMMENT);
	show_yield("in extra", 50, DFRS_FIELD_EXTRA);
	show_yield("no longer in extra", DFRS_NO_YIELD, DFRS_FIELD_EXTRA);
	show_yield("no longer", DFRS_NO_YIELD, DFRS_FIELD_ADMIN_COMMENT);
	job->job_state = JOB_COMPLETE;
	show_yield("over", 50, DFRS_FIELD_ADMIN_COMMENT);
	dfrs_jobs_set_yield(NULL, NULL, 1, DFRS_FIELD_ADMIN_COMMENT);
}

/* --- warned ---------------------------------------------------------------------------------------------- */

static int ask_to_requeue(const char *what, time_t submit_time, bool was_sent)
{
	const dfrs_warning_t warning = { .fallback = 10, .was_sent = was_sent };
	bool succeeded = false;
	int rc = dfrs_job_requeue_warned(1, submit_time, &warning, &succeeded);

	printf("%s: %s%s\n", what, (rc == ESLURM_JOB_FINISHED) ? "has ended" : rc ? "no" : "requeued",
	       succeeded ? ", succeeded" : "");
	return rc;
}

static void requeue_one(const char *what, uint32_t state, uint32_t exit_code, int own_signal)
{
	job_record_t *job = find_job_record(1);

	job->job_state = state;
	job->exit_code = exit_code;
	job->warn_signal = own_signal;
	(void) ask_to_requeue(what, job->details->submit_time, false);
}

/* One that was warned for sure. */
static void requeue_known(const char *what, uint32_t state, uint32_t exit_code)
{
	job_record_t *job = find_job_record(1);

	job->job_state = state;
	job->exit_code = exit_code;
	(void) ask_to_requeue(what, job->details->submit_time, true);
}

static void warned(void)
{
	make_nodes(1);
	new_job(1);
	/* As wait() says it. */
	requeue_one("killed by the fallback", JOB_FAILED, 10, 0);
	requeue_one("completing", JOB_FAILED | JOB_COMPLETING, 10, 0);
	requeue_one("with a core", JOB_FAILED, 10 | 0x80, 0);
	requeue_one("its last command was killed", JOB_FAILED, (128 + 10) << 8, 0);
	requeue_one("killed by its own", JOB_FAILED, 15, 15);
	requeue_one("killed by another", JOB_FAILED, 10, 15);
	requeue_one("returned 10", JOB_FAILED, 10 << 8, 0);
	requeue_one("cancelled", JOB_CANCELLED, 10, 0);
	requeue_one("over its limit", JOB_TIMEOUT, 10, 0);
	requeue_one("runs", JOB_RUNNING, 0, 0);
	requeue_known("saved", JOB_COMPLETE | JOB_COMPLETING | JOB_REQUEUE, 0);
	printf("saved: left to Slurm %d\n", !!(find_job_record(1)->job_state & JOB_REQUEUE));
	requeue_known("saved, and is gone", JOB_COMPLETE, 0);
	requeue_known("failed", JOB_FAILED, 1 << 8);
	requeue_known("out of memory", JOB_OOM, 0);
	requeue_known("warned and cancelled", JOB_CANCELLED, 0);
	requeue_known("warned and over its limit", JOB_TIMEOUT, 0);
	requeue_known("warned and lost its node", JOB_NODE_FAIL, 0);
	requeue_known("never began", JOB_PENDING, 0);
	find_job_record(1)->restart_cnt = 1;
	requeue_known("Slurm was faster", JOB_PENDING, 0);
	find_job_record(1)->job_state = JOB_COMPLETE;
	printf("of another submission: %d\n",
	       ask_to_requeue("later", find_job_record(1)->details->submit_time + 1, true) ==
		       ESLURM_INVALID_JOB_ID);
	print_counts();
}

/* --- begin ----------------------------------------------------------------------------------------------- */

static void clear_begin(const char *what, time_t after)
{
	dfrs_details_t *details = find_job_record(1)->details;
	int rc;

	details->begin_time = details->submit_time + after;
	rc = dfrs_job_clear_begin_time(1);
	printf("%s: %d, %s\n", what, rc, details->begin_time ? "later" : "at once");
}

static void begin(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	job->restart_cnt = 1;
	job->details->submit_time = wall_clock - 10;
	clear_begin("requeued", 121);
	clear_begin("its user said when", 86400);
	slurm_conf.authinfo = xstrdup("socket=/run/munge,cred_expire=300");
	clear_begin("credentials live longer", 301);
	slurm_conf.sched_params = xstrdup("defer,requeue_delay=500");
	clear_begin("requeues wait longer", 501);
	job->bit_flags |= CRON_JOB;
	clear_begin("crontab says when", 60);
}

/* --- devices --------------------------------------------------------------------------------------------- */

static void print_flags(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);
	uint32_t flags = snapshot.jobs->flags;

	printf("%s: requeue %d cron %d devices %d component %d\n", what, !!(flags & DFRS_JOB_REQUEUE),
	       !!(flags & DFRS_JOB_CRON), !!(flags & DFRS_JOB_HOLDS_GRES), !!(flags & DFRS_JOB_COMPONENT));
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void devices(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	job->details->requeue = 1;
	print_flags("plain");
	job->bit_flags |= CRON_JOB;
	print_flags("of a crontab");
	job->gres_list_alloc = list_create(NULL);
	print_flags("no devices");
	list_append(job->gres_list_alloc, job);
	print_flags("a device");
	FREE_NULL_LIST(job->gres_list_alloc);
	job->het_job_id = 1;
	print_flags("of a heterogeneous job");
}

/* --- requests -------------------------------------------------------------------------------------------- */

static void print_request(const char *what)
{
	const char *text = dfrs_unsupported_text(dfrs_unsupported(find_job_record(1)));

	printf("%s: %s\n", what, text ? text : "supported");
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
static void request_licence(const char *what, uint16_t resource)
{
	job_record_t *job = find_job_record(1);
	licenses_t *licence = xmalloc(sizeof(*licence));

	licence->id.hres_id = resource;
	job->license_list = list_create(xfree_ptr);
	list_append(job->license_list, licence);
	print_request(what);
	FREE_NULL_LIST(job->license_list);
}
#endif

/* More tasks than 32 bits hold. */
static void print_tasks(job_record_t *job)
{
	dfrs_details_t as_before = *job->details;

	job->details->min_nodes = job->details->num_tasks = 65536;
	job->details->ntasks_per_node = 65533;
	job->details->overcommit = 1;
	printf("many: %u tasks\n", dfrs_tasks(job));
	job->details->min_nodes = 131072;
	printf("too many: %u tasks\n", dfrs_tasks(job));
	job->details->overcommit = 0;
	job->details->num_tasks = 0;
	job->details->min_nodes = 1;
	job->details->min_cpus = NO_VAL - 1;
	job->details->cpus_per_task = 2;
	printf("many CPUs: %u tasks\n", dfrs_tasks(job));
	*job->details = as_before;
}

/* In place of Slurm's: of names that commas separate, one list at a time. */
static char listed_names[64], *rest_of_list;

dfrs_hostlist_t hostlist_create(const char *names)
{
	(void) snprintf(listed_names, sizeof(listed_names), "%s", names);
	rest_of_list = listed_names;
	return (dfrs_hostlist_t) listed_names;
}

char *hostlist_shift(dfrs_hostlist_t list)
{
	char *name = strsep(&rest_of_list, ",");

	return name ? strdup(name) : NULL;
}

/* SLURM_HOSTFILE, of a job of so many tasks. */
static void print_listed(job_record_t *job, char *nodes, uint32_t tasks)
{
	job->details->req_nodes = nodes;
	job->details->num_tasks = tasks;
	print_request(nodes ? nodes : "none");
}

static void listed(void)
{
	job_record_t *job;

	make_nodes(3);
	job = new_job(1);
	job->details->task_dist = SLURM_DIST_ARBITRARY;
	print_listed(job, NULL, 1);
	job->details->req_node_bitmap = bit_alloc(node_record_count);
	bit_set(job->details->req_node_bitmap, 0);
	bit_set(job->details->req_node_bitmap, 2);
	print_listed(job, "n2,n0", 2);
	print_listed(job, "n2,n0,n0,n2", 4);
	print_listed(job, "n2,n0,n2", 3);
	print_listed(job, "n0,n2", 4);
	job->details->req_nodes = NULL;
}

static void requests(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	print_request("plain");
	job->details->task_dist = SLURM_DIST_PLANE;
	print_request("blocks of tasks");
	job->details->max_nodes = 1;
	print_request("blocks of tasks on one node");
	job->details->task_dist = SLURM_DIST_CYCLIC;
	job->details->max_nodes = 0;
	print_request("one by one");
	print_tasks(job);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	job->details->segment_size = 4;
	print_request("segments");
	job->details->segment_size = 0;
	job->resv_port_cnt = 2;
	print_request("ports");
	job->resv_port_cnt = NO_VAL16;
	print_request("no ports");
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	job->qos_list = list_create(NULL);
	list_append(job->qos_list, job);
	print_request("one QOS");
	list_append(job->qos_list, job);
	print_request("two QOS");
	FREE_NULL_LIST(job->qos_list);
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
	request_licence("licence", NO_VAL16);
	request_licence("hierarchical", 0);
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	job->details->mem_update_delay = 60;
	print_request("memory updates");
#endif
}

/* --- GPUs ------------------------------------------------------------------------------------------------ */

static void print_device_counts(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);
	const dfrs_job_t *job = &snapshot.jobs[0];

	printf("%s: memory %" PRIu64 " devices", what, job->memory);
	for (uint32_t i = 0; i < snapshot.device_count; i++) {
		const dfrs_device_t *devices = &snapshot.devices[i];

		printf("%s %s %" PRIu64 "/%" PRIu64, (i == job->device_offset) ? ";" : "",
		       snapshot.strings + devices->kind, devices->allocated, devices->count);
	}
	printf("\n");
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

/* The node has four GPUs of two types; the job asks for two of one type in different forms. */
static void gpus(void)
{
	static char *types[] = { "a100", "v100" };
	static uint64_t available[] = { 3, 1 }, allocated[] = { 2, 0 };
	gres_node_state_t *has = xmalloc(sizeof(*has));
	gres_job_state_t *asked = xmalloc(sizeof(*asked));
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	job->details->pn_min_memory = 0;
	has->gres_cnt_avail = 4;
	has->gres_cnt_alloc = 2;
	has->type_cnt = 2;
	has->type_name = types;
	has->type_cnt_avail = available;
	has->type_cnt_alloc = allocated;
	node_record_table_ptr[0]->gres_list = add_devices(NULL, "gpu", has);
	job->gres_list_req = add_devices(NULL, "gpu", asked);
	asked->type_name = "a100";
	asked->mem_per_gres = 100;
	asked->gres_per_node = 2;
	print_device_counts("on each node");
	asked->gres_per_node = 0;
	asked->gres_per_job = 2;
	print_device_counts("for one task");
	job->details->num_tasks = 2;
	job->details->max_nodes = 1;
	print_device_counts("on one node");
	print_request("on one node");
	job->details->max_nodes = 2;
	print_request("on one or two nodes");
	job->bit_flags |= JOB_NTASKS_SET;
	print_request("on some nodes");
	asked->gres_per_node = 1;
	asked->gres_per_socket = 1;
	print_request("by socket");
	asked->gres_per_socket = 0;
	asked->cpus_per_gres = 4;
	print_request("with CPUs");
	asked->cpus_per_gres = 0;
	asked->ntasks_per_gres = job->details->ntasks_per_tres = 2;
	print_request("with tasks");
	asked->ntasks_per_gres = job->details->ntasks_per_tres = NO_VAL16;
	job->bit_flags |= GRES_ENFORCE_BIND;
	print_request("bound");
	job->bit_flags = 0;
	job->part_ptr->job_defaults_list = list_create(NULL);
	print_request("with defaults");
	FREE_NULL_LIST(job->part_ptr->job_defaults_list);
	print_request("plain");
	has->no_consume = true;
	print_device_counts("not used up");
}

/* --- bounds ---------------------------------------------------------------------------------------------- */

/* Seconds from now; 0: none. */
static long from_now(int64_t when)
{
	return when ? (long) (when - wall_clock) : 0;
}

static void print_bounds(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);
	const dfrs_job_t *job = snapshot.jobs;

	printf("%s: nodes %u-%u of %u free until %ld reservation %ld tasks on a node %u\n", what,
	       job->min_nodes, job->max_nodes, job->partition_nodes, from_now(job->free_until),
	       from_now(job->reservation_end), job->tasks_per_node);
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void bound_nodes(job_record_t *job)
{
	part_record_t *partition = job->part_ptr;

	job->bit_flags |= JOB_NTASKS_SET;
	partition->max_nodes = INFINITE;
	print_bounds("no bounds");
	partition->max_nodes = 2;
	print_bounds("partition");
	job->details->max_nodes = 1;
	print_bounds("fewer");
	job->details->max_nodes = 3;
	print_bounds("more");
	partition->min_nodes = 2;
	print_bounds("one task");
	job->details->num_tasks = 2;
	print_bounds("two tasks");
	job->details->mc_ptr = xmalloc(sizeof(*job->details->mc_ptr));
	job->details->mc_ptr->ntasks_per_socket = 3;
	node_record_table_ptr[1]->tot_sockets = 4;
	print_bounds("three a socket");
	for (int i = 0; i < node_record_count; i++)
		node_record_table_ptr[i]->tot_sockets = 2 + i;
	print_bounds("five sockets at most");
	job->details->ntasks_per_node = 5;
	print_bounds("five a node");
	job->details->ntasks_per_node = 0;
	job->details->mc_ptr->ntasks_per_socket = INFINITE16;
}

static void bound_end(job_record_t *job)
{
	slurmctld_resv_t *own = xmalloc(sizeof(*own));

	own->ctld_flags = RESV_CTLD_FULL_NODE;
	own->start_time = wall_clock - 100;
	own->end_time = wall_clock + 100;
	own->node_bitmap = bit_alloc(node_record_count);
	bit_nset(own->node_bitmap, 0, node_record_count - 1);
	list_append(resv_list, own);
	job->resv_ptr = own;
	run_job(job, 0, 1);
	print_bounds("in its own reservation");
	slurm_conf.resv_over_run = INFINITE16;
	print_bounds("it may overrun");
	slurm_conf.resv_over_run = 0;
	own->flags = RESERVE_FLAG_FLEX;
	print_bounds("flexible");
	own->flags = 0;
	own->end_time = wall_clock - 1;
	print_bounds("over");
	job->resv_ptr = NULL;
	own->start_time = wall_clock + 20;
	own->end_time = wall_clock + 100;
	print_bounds("another's");
}

static void print_max_time(part_record_t *partition, uint32_t max_time)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot;

	partition->max_time = max_time;
	snapshot = look(view, NULL);
	printf("MaxTime %u\n", snapshot.jobs->partition_minutes);
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void bounds(void)
{
	job_record_t *job;

	make_nodes(4);
	job = new_job(1);
	print_max_time(job->part_ptr, 1440);
	print_max_time(job->part_ptr, INFINITE);
	bound_nodes(job);
	bound_end(job);
}

/* --- limits ---------------------------------------------------------------------------------------------- */

static dfrs_limit_t before;

static void extend(job_record_t *job, uint32_t limit, uint16_t set_by, uint32_t minutes)
{
	job->job_state = JOB_RUNNING;
	job->time_limit = limit;
	job->limit_set.time = set_by;
	if (dfrs_job_extend_time(1, minutes * 60, &before))
		printf("is not extended\n");
}

static void take_back(const char *what, job_record_t *job, uint32_t state)
{
	int rc;

	job->job_state = state;
	rc = dfrs_job_take_back_time(1, 50, &before);
	printf("%s: %s, %u minutes, set by %u\n", what, rc ? "no" : "yes", job->time_limit,
	       job->limit_set.time);
}

static void limits(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	run_job(job, 0, 1);
	extend(job, 30, 0, 50);
	printf("runs: %u minutes, set by %u\n", job->time_limit, job->limit_set.time);
	take_back("runs on", job, JOB_RUNNING);
	take_back("parked", job, JOB_SUSPENDED);
	take_back("requeued", job, JOB_PENDING);
	extend(job, 30, 1, 50);
	take_back("of its partition, still completing", job, JOB_PENDING | JOB_COMPLETING);
	take_back("again", job, JOB_PENDING);
	extend(job, 30, 0, 50);
	job->time_limit += 60;
	take_back("an operator gave more", job, JOB_PENDING);
	extend(job, 30, 0, 50);
	job->time_limit = 20;
	take_back("an operator gave less", job, JOB_PENDING);
	extend(job, 30, 0, 50);
	job->time_limit = INFINITE;
	take_back("an operator gave all", job, JOB_PENDING);
	extend(job, 30, 0, 50);
	take_back("over", job, JOB_COMPLETE);
	job->bit_flags |= CRON_JOB;
	take_back("of crontab", job, JOB_COMPLETE | JOB_COMPLETING);
}

/* --- preemption ------------------------------------------------------------------------------------------ */

/* As Slurm's, where no node has room: it ends others' jobs only if it is not at that already. */
static int find_no_room(const job_record_t *job)
{
	bool ends_others = job->details->preempt_start_time <= time(NULL);

	printf("looks for room: %s\n", ends_others ? "ends others" : "ends none");
	printf("looks for %u switches, contiguous %u\n", job->req_switch, job->details->contiguous);
	bit_set(cg_node_bitmap, 0);
	return ESLURM_NODES_BUSY;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
int select_nodes(job_node_select_t *selection, bool test_only, bool submission, uint32_t flags)
{
	return find_no_room(selection->job_ptr);
}
#else
int select_nodes(job_record_t *job, bool test_only, bitstr_t **nodes, char **error, bool submission,
		 uint32_t flags)
{
	return find_no_room(job);
}
#endif

/* Without it no job comes as far as its start. */
bool job_array_start_test(job_record_t *job)
{
	return true;
}

static void preemption(void)
{
	dfrs_place_t place = { .node = 0, .tasks = 1 };
	job_record_t *job;
	int rc;

	make_nodes(2);
	if (!cg_node_bitmap)
		cg_node_bitmap = bit_alloc(2);
	job = new_job(1);
	job->part_ptr->state_up = PARTITION_UP;
	dfrs_remember_partitions(PARTITIONS);
	job->details->preempt_start_time = 17;
	rc = dfrs_job_start(1, &place, 1, false);
	printf("started: %s, since %ld\n", (rc == ESLURM_NODES_BUSY) ? "no room" : "other error",
	       (long) job->details->preempt_start_time);
	printf("completing: %d of 2\n", bit_set_count(cg_node_bitmap));
}

/* --- topology ---------------------------------------------------------------------------------------------- */

static void print_leaves(const char *what, dfrs_view_t *view)
{
	dfrs_snapshot_t snapshot = look(view, NULL);

	printf("%s:", what);
	for (uint32_t i = 0; i < snapshot.node_count; i++)
		printf(" %s@%s", snapshot.strings + snapshot.nodes[i].name,
		       snapshot.strings + snapshot.nodes[i].leaf);
	printf("\n");
	dfrs_snapshot_free(&snapshot);
}

static void print_switches(void)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);

	printf("asks for %u switches for %u s, %s\n", snapshot.jobs[0].switches,
	       snapshot.jobs[0].switch_seconds,
	       (snapshot.jobs[0].flags & DFRS_JOB_CONTIGUOUS) ? "contiguous" : "any nodes");
	printf("%s\n", snapshot.jobs[0].unsupported ? "refused" : "supported");
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void topology(void)
{
	dfrs_place_t place = { .node = 0, .tasks = 1 };
	dfrs_view_t *view = dfrs_view_create();
	job_record_t *job;
	unsigned calls;

	make_nodes(4);
	if (!cg_node_bitmap)
		cg_node_bitmap = bit_alloc(4);
	print_leaves("flat", view);
	has_switches = true;
	print_leaves("within a minute", view);
	wall_clock += 60;
	print_leaves("tree", view);
	calls = calls_of("get_node_addr");
	print_leaves("unchanged", view);
	printf("looked up again: %u\n", calls_of("get_node_addr") - calls);
	dfrs_view_destroy(view);
	job = new_job(1);
	job->part_ptr->state_up = PARTITION_UP;
	print_switches();
	job->details->contiguous = 1;
	job->req_switch = 2;
	job->wait4switch = 300;
	print_switches();
	dfrs_remember_partitions(PARTITIONS);
	(void) dfrs_job_start(1, &place, 1, false);
	printf("still asks for %u switches, contiguous %u\n", job->req_switch, job->details->contiguous);
}

/* --- preference -------------------------------------------------------------------------------------------- */

static void print_preference(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot = look(view, NULL);
	const dfrs_job_t *job = snapshot.jobs;
	const dfrs_node_set_t *set = &snapshot.sets[job->preferred - 1];

	printf("%s:", what);
	for (uint32_t i = 0; job->preferred && (i < set->count); i++)
		printf(" %u", snapshot.indexes[set->offset + i]);
	printf("; weights");
	for (uint32_t i = 0; i < snapshot.node_count; i++)
		printf(" %u", snapshot.nodes[i].weight);
	printf("; %s, %s\n", job->eligible ? "some nodes" : "any node", job->unsupported ? "refused" : "supported");
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void prefer(job_record_t *job, const char *name, bool grouped)
{
	job_feature_t *feature;

	set_features(&job->details->prefer, &job->details->prefer_list);
	feature = list_peek(job->details->prefer_list);
	xfree(feature->name);
	feature->name = xstrdup(name);
	feature->paren = grouped;
	xfree(job->details->prefer);
	job->details->prefer = xstrdup(name);
}

static void preference(void)
{
	job_record_t *job;

	make_nodes(4);
	job = new_job(1);
	print_preference("none");
	prefer(job, "fast", false);
	print_preference("fast");
	prefer(job, "no such", false);
	print_preference("no such");
	prefer(job, "fast", true);
	print_preference("grouped");
	prefer(job, "large", false);
	node_record_table_ptr[1]->config_ptr = list_peek(config_list);
	node_record_table_ptr[1]->config_ptr->weight = 7;
	print_preference("large");
}

/* As many classes of both kinds as jobs, so that the table of classes grows now and then. */
static void sets(void)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot;

	make_nodes(70);
	for (uint32_t id = 1; id <= 300; id++) {
		job_record_t *job = new_job(id);

		exclude_node(job, (int) id % 70);
		bit_set(job->details->exc_node_bitmap, id / 70);
		prefer(job, "fast", false);
		xfree(job->details->prefer);
		job->details->prefer = xstrdup_printf("fast,%u", id);
	}
	snapshot = look(view, NULL);
	for (uint32_t i = 0; i < snapshot.job_count; i++) {
		const dfrs_job_t *job = &snapshot.jobs[i];
		uint32_t excluded = (job->job_id % 70 == job->job_id / 70) ? 1 : 2;

		if (!job->eligible || (job->eligible > snapshot.set_count) ||
		    (snapshot.sets[job->eligible - 1].count != 70 - excluded))
			printf("job %u: other nodes\n", job->job_id);
		if (!job->preferred || (job->preferred > snapshot.set_count) ||
		    (snapshot.sets[job->preferred - 1].count != 35))
			printf("job %u: prefers others\n", job->job_id);
	}
	printf("%u jobs with sets of their own\n", snapshot.job_count);
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

/* --- grace time ------------------------------------------------------------------------------------------- */

static void print_grace(const char *what, const job_record_t *job)
{
	printf("%s: signal %u, of its user %u, grace ends at %ld, warned %d, ends %s\n", what, job->warn_signal,
	       dfrs_users_signal(job), (long) dfrs_grace_end(job), dfrs_warned(job, 1000),
	       (job->end_time == 1300) ? "then" : (job->end_time == 5000) ? "by its limit" : "late");
}

/* As Slurm's, under send_user_signal. */
static void begin_to_preempt(job_record_t *job, time_t end)
{
	job->preempt_time = 1000;
	job->end_time = end;
	if (job->warn_signal)
		job->warn_flags |= WARN_SENT;
}

static void grace(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	job->job_state = JOB_RUNNING;
	job->warn_time = 0;
	job->warn_signal = 0;
	job->end_time = job->end_time_exp = 5000;
	dfrs_preemption_prepare(job);
	print_grace("without grace time", job);
	job->part_ptr->grace_time = 300;
	dfrs_preemption_prepare(job);
	print_grace("with grace time", job);
	begin_to_preempt(job, 1300);
	print_grace("preempted", job);
	printf("running: %s\n", dfrs_job_forget_preemption(1) ? "refused" : "forgotten");
	job->job_state = JOB_SUSPENDED;
	printf("suspended: %s\n", dfrs_job_forget_preemption(1) ? "refused" : "forgotten");
	print_grace("parked", job);
	printf("gone: %s\n", dfrs_job_forget_preemption(17) ? "refused" : "forgotten");
	job->job_state = JOB_RUNNING;
	job->end_time = 5000;
	job->warn_signal = 10;
	dfrs_preemption_prepare(job);
	begin_to_preempt(job, 1300);
	print_grace("with a signal of its own", job);
	dfrs_preemption_forget(job);
	print_grace("not preempted", job);
	job->job_state = JOB_PENDING;
	print_grace("requeued", job);
}

/* --- dependencies ----------------------------------------------------------------------------------------- */

static int all_withheld = DFRS_WITHHOLDS_JOB;

/* backfill.c is none of this program's. */
int dfrs_job_withheld(const void *record)
{
	return all_withheld;
}

static unsigned requeued_by_then;

static void note_requeued(void)
{
	requeued_by_then = calls_of("job_requeue") + calls_of("job_requeue_internal");
}

/* What becomes of the first job when Slurm is asked whether the second may start. */
static void print_gate(const char *what, uint32_t state)
{
	unsigned before = calls_of("job_requeue") + calls_of("job_requeue_internal");
	uint32_t id = 2;
	int result;

	find_job_record(1)->job_state = state;
	dfrs_jobs_gate(&id, 1, &result);
	printf("%s: %s\n", what, (requeued_by_then == before + 1) ? "requeued first" : "left");
}

static void dependencies(void)
{
	job_record_t *job;

	make_nodes(1);
	job = new_job(1);
	job->batch_flag = 1;
	job->details->requeue = 1;
	(void) new_job(2);
	dfrs_remember_partitions(PARTITIONS);
	on_gate = note_requeued;
	print_gate("ended without a warning", JOB_COMPLETE);
	dfrs_note_warned(job);
	print_gate("runs", JOB_RUNNING);
	printf("runs: %s\n", dfrs_jobs_requeue_saved() ? "ends soon" : "goes on");
	print_gate("completing", JOB_COMPLETE | JOB_COMPLETING);
	print_gate("completed later", JOB_COMPLETE);
	dfrs_note_warned(job);
	print_gate("completed", JOB_COMPLETE);
	dfrs_note_warned(job);
	print_gate("marked by Slurm", JOB_COMPLETE | JOB_COMPLETING | JOB_REQUEUE);
	dfrs_note_warned(job);
	print_gate("failed", JOB_FAILED);
	dfrs_note_warned(job);
	print_gate("cancelled", JOB_CANCELLED);
	dfrs_note_warned(job);
	job->restart_cnt++;
	print_gate("completed in its next run", JOB_COMPLETE);
	dfrs_note_warned(job);
	wall_clock += 3600;
	job->job_state = JOB_RUNNING;
	printf("ran on: %s\n", dfrs_jobs_requeue_saved() ? "ends soon" : "goes on");
	print_gate("succeeded later", JOB_COMPLETE);
	dfrs_note_warned(job);
	job->details->requeue = 0;
	print_gate("not to be requeued", JOB_COMPLETE);
	printf("then: %s\n", dfrs_jobs_requeue_saved() ? "ends soon" : "goes on");
	job->details->requeue = 1;
	dfrs_note_warned(job);
	all_withheld = DFRS_WITHHOLDS_NOTHING;
	print_gate("DFRS is off", JOB_COMPLETE);
}

/* --- heterogeneous jobs ---------------------------------------------------------------------------------- */

static void print_components(const char *what)
{
	printf("%s:", what);
	for (uint32_t id = 1; id <= 2; id++) {
		job_record_t *job = find_job_record(id);
		bool ours = dfrs_managed_partition(job, PARTITIONS);
		bool waits = dfrs_hetjob_cannot_start(job, PARTITIONS);

		printf(" %u %s, %s, %s;", id, ours ? "ours" : "not ours",
		       waits ? "waits for ever" : "goes on", job->state_desc ? job->state_desc : "no reason");
	}
	printf("\n");
}

static void add_to_partition(job_record_t *job, const char *partition)
{
	if (!job->part_ptr_list)
		job->part_ptr_list = list_create(NULL);
	list_append(job->part_ptr_list, find_part_record((char *) partition));
}

static void hetjobs(void)
{
	job_record_t *job, *leader;

	make_nodes(4);
	leader = new_job(1);
	job = new_job(2);
	leader->part_ptr = job->part_ptr = find_part_record("other");
	print_components("two jobs");
	leader->het_job_id = job->het_job_id = 1;
	job->het_job_offset = 1;
	print_components("without a list");
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, leader);
	list_append(leader->het_job_list, job);
	print_components("elsewhere");
	job->part_ptr = find_part_record("dfrs");
	print_components("one here");
	leader->part_ptr = job->part_ptr;
	job->part_ptr = find_part_record("other");
	print_components("the leader here");
	leader->part_ptr = job->part_ptr;
	print_components("moved away");
	add_to_partition(job, "dfrs");
	add_to_partition(job, "other");
	print_components("in either");
	list_flush(job->part_ptr_list);
	add_to_partition(job, "dfrs");
	add_to_partition(job, "dfrs2");
	print_components("in two of ours");
	job->job_state = JOB_RUNNING;
	print_components("running");
	job->job_state = JOB_PENDING;
	leader->priority = 0;
	leader->state_desc = xstrdup("held by its user");
	print_components("held");
}

int main(int argc, char **argv)
{
	const char *scenario = (argc == 2) ? argv[1] : "";

	if (!strcmp(scenario, "random"))
		random_changes();
	else if (!strcmp(scenario, "many"))
		many();
	else if (!strcmp(scenario, "slices"))
		slices();
	else if (!strcmp(scenario, "room"))
		room();
	else if (!strcmp(scenario, "arrays"))
		arrays();
	else if (!strcmp(scenario, "parked"))
		parked();
	else if (!strcmp(scenario, "comment"))
		comment();
	else if (!strcmp(scenario, "fit"))
		fit();
	else if (!strcmp(scenario, "threads"))
		use_threads();
	else if (!strcmp(scenario, "cores"))
		cores();
	else if (!strcmp(scenario, "listed"))
		listed();
	else if (!strcmp(scenario, "several"))
		several();
	else if (!strcmp(scenario, "overlapping"))
		overlapping();
	else if (!strcmp(scenario, "bounds"))
		bounds();
	else if (!strcmp(scenario, "topology"))
		topology();
	else if (!strcmp(scenario, "preference"))
		preference();
	else if (!strcmp(scenario, "sets"))
		sets();
	else if (!strcmp(scenario, "names"))
		names();
	else if (!strcmp(scenario, "words"))
		words();
	else if (!strcmp(scenario, "warned"))
		warned();
	else if (!strcmp(scenario, "yields"))
		yields();
	else if (!strcmp(scenario, "requests"))
		requests();
	else if (!strcmp(scenario, "begin"))
		begin();
	else if (!strcmp(scenario, "devices"))
		devices();
	else if (!strcmp(scenario, "gpus"))
		gpus();
	else if (!strcmp(scenario, "hetjobs"))
		hetjobs();
	else if (!strcmp(scenario, "limits"))
		limits();
	else if (!strcmp(scenario, "preemption"))
		preemption();
	else if (!strcmp(scenario, "grace"))
		grace();
	else if (!strcmp(scenario, "dependencies"))
		dependencies();
	else
		return 2;
	return 0;
}
