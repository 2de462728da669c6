/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prep_scale.c - nodes that exist only in slurmctld's tables: the PrEp plugin prep/scale.
 *
 * Submission, choice of nodes, start, end and accounting are slurmctld's own; what is left out is the
 * nodes. The plugin is called when a job starts and says that its prolog goes on for now, so
 * that slurmctld never sends the job anywhere; soon after, a thread ends that prolog. Another call
 * says that a job has ended; the thread then reports for each of its nodes, as a slurmd would, that
 * all is cleaned up. Nodes are kept up whatever the messages to them come to.
 *
 * What happens is written to the file that SCALE_EVENTS names, a line each, times in microseconds
 * of the clock of the day:
 *
 *   start TIME JOB NAME   the job got its nodes; a task of an array is ARRAY_TASK
 *   wait TIME DURATION    how long a caller waited for slurmctld's locks, with the intent to write
 */
#include "../../../c_shim/slurm_headers.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#if __has_include("src/interfaces/prep.h")
#include "src/interfaces/prep.h"
#else
#include "src/common/prep.h"
#endif
#include "src/common/run_in_daemon.h"

/* Between two looks at jobs that have started or ended, and between two tries of the locks. */
#define TICK_MICROSECONDS 100000
#define PROBE_MICROSECONDS 10000
/* Nodes are looked at every so many ticks. */
#define NODE_TICKS 10
/* Nodes answered "then": no message that failed before it counts against them. */
#define ANSWERED_AHEAD (24 * 60 * 60)

const char plugin_name[] = "Nodes that exist only in slurmctld's tables";
const char plugin_type[] = "prep/scale";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Job ids in the order in which they came. */
typedef struct {
	uint32_t *ids;
	size_t count, room;
} queue_t;

/* Guards the queues and the file. Taken within slurmctld's locks, never the other way round. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static queue_t started, ended;
static FILE *events;
static volatile bool stopping;
static pthread_t nodes_thread, locks_thread;

static int64_t microseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void push(queue_t *queue, uint32_t id)
{
	if (queue->count == queue->room) {
		queue->room = queue->room ? 2 * queue->room : 1024;
		xrecalloc(queue->ids, queue->room, sizeof(*queue->ids));
	}
	queue->ids[queue->count++] = id;
}

static queue_t take(queue_t *queue)
{
	queue_t taken;

	pthread_mutex_lock(&mutex);
	taken = *queue;
	*queue = (queue_t) { 0 };
	pthread_mutex_unlock(&mutex);
	return taken;
}

/* --- nodes ------------------------------------------------------------------------------------- */

static void bring_up(node_record_t *node, int index)
{
	uint32_t base = node->run_job_cnt ? NODE_STATE_ALLOCATED : NODE_STATE_IDLE;
	uint32_t flags = node->node_state & NODE_STATE_FLAGS & ~NODE_STATE_NO_RESPOND;

	node->node_state = flags | base;
	node->protocol_version = SLURM_PROTOCOL_VERSION;
	bit_set(up_node_bitmap, index);
	if (base == NODE_STATE_IDLE)
		bit_set(idle_node_bitmap, index);
	make_node_avail(node);
	last_node_update = time(NULL);
}

static void keep_nodes_up(void)
{
	time_t now = time(NULL);

	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node = node_record_table_ptr[i];

		if (!node)
			continue;
		node->last_response = now + ANSWERED_AHEAD;
		if (!node->boot_time)
			node->boot_time = now;
		if (IS_NODE_NO_RESPOND(node) || IS_NODE_UNKNOWN(node) || IS_NODE_DOWN(node))
			bring_up(node, i);
	}
}

/* --- jobs -------------------------------------------------------------------------------------- */

/* As when the last prolog has ended, except that nothing is launched. */
static void end_prolog(job_record_t *job)
{
	if (!IS_JOB_RUNNING(job) || !IS_JOB_CONFIGURING(job))
		return;
	job->prep_prolog_cnt = 0;
	if (job->details)
		job->details->prolog_running = 0;
	job->state_reason = WAIT_NO_REASON;
	job_config_fini(job);
}

/* As when the slurmd of each of the job's nodes has reported the end of the epilog. */
static void end_epilogs(job_record_t *job)
{
	uint32_t id = job->job_id;
	bitstr_t *nodes;

	if (!IS_JOB_COMPLETING(job) || !job->node_bitmap_cg)
		return;
	nodes = bit_copy(job->node_bitmap_cg);
	for (int i = bit_ffs(nodes); (i >= 0) && (i < node_record_count); i++)
		if (bit_test(nodes, i))
			(void) job_epilog_complete(id, node_record_table_ptr[i]->name, 0);
	FREE_NULL_BITMAP(nodes);
}

static void serve(queue_t queue, void (*serve_job)(job_record_t *))
{
	for (size_t i = 0; i < queue.count; i++) {
		job_record_t *job = find_job_record(queue.ids[i]);

		if (job)
			serve_job(job);
	}
	xfree(queue.ids);
}

static void *run_nodes(void *unused)
{
	slurmctld_lock_t locks = DFRS_WRITE_LOCKS;

	for (unsigned tick = 0; !stopping; tick++) {
		queue_t prologs = take(&started), epilogs = take(&ended);

		if (prologs.count || epilogs.count || !(tick % NODE_TICKS)) {
			lock_slurmctld(locks);
			if (!(tick % NODE_TICKS))
				keep_nodes_up();
			serve(prologs, end_prolog);
			serve(epilogs, end_epilogs);
			unlock_slurmctld(locks);
		}
		pthread_mutex_lock(&mutex);
		fflush(events);
		pthread_mutex_unlock(&mutex);
		usleep(TICK_MICROSECONDS);
	}
	return NULL;
}

/* --- locks ------------------------------------------------------------------------------------- */

static void *run_locks(void *unused)
{
	slurmctld_lock_t locks = DFRS_WRITE_LOCKS;

	while (!stopping) {
		int64_t begin = microseconds(CLOCK_MONOTONIC), waited;

		lock_slurmctld(locks);
		waited = microseconds(CLOCK_MONOTONIC) - begin;
		unlock_slurmctld(locks);
		pthread_mutex_lock(&mutex);
		fprintf(events, "wait %" PRId64 " %" PRId64 "\n", microseconds(CLOCK_REALTIME), waited);
		pthread_mutex_unlock(&mutex);
		usleep(PROBE_MICROSECONDS);
	}
	return NULL;
}

/* --- what slurmctld calls ------------------------------------------------------------------------ */

extern int init(void)
{
	const char *file = getenv("SCALE_EVENTS");

	if (!running_in_slurmctld())
		return SLURM_SUCCESS;
	events = file ? fopen(file, "a") : NULL;
	if (!events) {
		error("prep/scale: SCALE_EVENTS names no file that can be written: %s",
		      file ? file : "not set");
		return SLURM_ERROR;
	}
	pthread_create(&nodes_thread, NULL, run_nodes, NULL);
	pthread_setname_np(nodes_thread, "scale_nodes");
	pthread_create(&locks_thread, NULL, run_locks, NULL);
	pthread_setname_np(locks_thread, "scale_locks");
	return SLURM_SUCCESS;
}

extern void fini(void)
{
	if (!events)
		return;
	stopping = true;
	pthread_join(nodes_thread, NULL);
	pthread_join(locks_thread, NULL);
	fclose(events);
	events = NULL;
}

/* Called from a thread that may have waited for the locks since the start: the job's own record
 * knows the second in which it was. */
extern int prep_p_prolog_slurmctld(job_record_t *job, bool *async)
{
	int64_t second = (int64_t) job->start_time * 1000000;
	int64_t now = MIN(microseconds(CLOCK_REALTIME), second + 999999);

	pthread_mutex_lock(&mutex);
	push(&started, job->job_id);
	if (job->array_task_id != NO_VAL)
		fprintf(events, "start %" PRId64 " %u_%u %s\n", now, job->array_job_id,
			job->array_task_id, job->name);
	else
		fprintf(events, "start %" PRId64 " %u %s\n", now, job->job_id, job->name);
	pthread_mutex_unlock(&mutex);
	*async = true;
	return SLURM_SUCCESS;
}

extern int prep_p_epilog_slurmctld(job_record_t *job, bool *async)
{
	pthread_mutex_lock(&mutex);
	push(&ended, job->job_id);
	pthread_mutex_unlock(&mutex);
	*async = false;
	return SLURM_SUCCESS;
}

extern void prep_p_required(prep_call_type_t type, bool *required)
{
	*required = running_in_slurmctld() &&
		    ((type == PREP_PROLOG_SLURMCTLD) || (type == PREP_EPILOG_SLURMCTLD));
}

extern void prep_p_register_callbacks(prep_callbacks_t *callbacks)
{
}

extern int prep_p_prolog(job_env_t *environment, slurm_cred_t *credential)
{
	return SLURM_SUCCESS;
}

extern int prep_p_epilog(job_env_t *environment, slurm_cred_t *credential)
{
	return SLURM_SUCCESS;
}
