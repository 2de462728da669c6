/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot.c - copies what DFRS needs to know out of slurmctld, under read locks.
 */
#include "internal.h"

#include <errno.h>

/* The arrays of dfrs_snapshot_t while they grow. */
typedef struct {
	dfrs_snapshot_t *out;
	const char *partitions;
	bitstr_t *nodes; /* of these partitions */
	uint32_t job_room, node_room, place_room, eligible_room, string_room;
	bool no_memory, wrong_layout;
} builder_t;

/* Makes room for `more` elements behind the first `used`. */
static bool reserve(builder_t *builder, void **array, uint32_t used, uint32_t more, uint32_t *room,
		    size_t element)
{
	uint64_t wanted = (uint64_t) used + more;
	uint64_t larger = *room ? *room : 64;
	void *grown;

	if (wanted <= *room)
		return true;
	while (larger < wanted)
		larger *= 2;
	grown = (larger <= UINT32_MAX) ? realloc(*array, larger * element) : NULL;
	if (!grown) {
		builder->no_memory = true;
		return false;
	}
	*array = grown;
	*room = (uint32_t) larger;
	return true;
}

/* Stores a string; returns its offset. NULL and "" are at offset 0. */
static uint32_t store(builder_t *builder, const char *text)
{
	dfrs_snapshot_t *out = builder->out;
	size_t length = text ? strlen(text) : 0;
	uint32_t offset = out->string_bytes;

	if (!length || (length >= UINT32_MAX / 2))
		return 0;
	if (!reserve(builder, (void **) &out->strings, out->string_bytes, (uint32_t) length + 1,
		     &builder->string_room, 1))
		return 0;
	memcpy(out->strings + offset, text, length + 1);
	out->string_bytes += (uint32_t) length + 1;
	return offset;
}

/* --- nodes ------------------------------------------------------------------------------------- */

static uint32_t node_state(const node_record_t *node, int index)
{
	if (IS_NODE_DOWN(node) || IS_NODE_FUTURE(node) || IS_NODE_NO_RESPOND(node) ||
	    IS_NODE_POWERED_DOWN(node) || IS_NODE_POWERING_DOWN(node) ||
	    IS_NODE_POWERING_UP(node) || IS_NODE_UNKNOWN(node) ||
	    (up_node_bitmap && !bit_test(up_node_bitmap, index)))
		return DFRS_NODE_DOWN;
	if (IS_NODE_DRAIN(node) || IS_NODE_FAIL(node) || IS_NODE_MAINT(node) ||
	    (avail_node_bitmap && !bit_test(avail_node_bitmap, index)))
		return DFRS_NODE_DRAINING;
	return DFRS_NODE_UP;
}

static int add_partition_nodes(void *record, void *argument)
{
	part_record_t *partition = record;
	builder_t *builder = argument;

	if (partition->node_bitmap && dfrs_listed(builder->partitions, partition->name))
		bit_or(builder->nodes, partition->node_bitmap);
	return 0;
}

static void add_nodes(builder_t *builder)
{
	dfrs_snapshot_t *out = builder->out;
	node_record_t *node;

	builder->nodes = bit_alloc(MAX(node_record_count, 1));
	if (part_list)
		(void) list_for_each_ro(part_list, add_partition_nodes, builder);
	for (int i = 0; (node = next_node(&i)); i++) {
		dfrs_node_t *entry;

		if (!bit_test(builder->nodes, i))
			continue;
		if (!reserve(builder, (void **) &out->nodes, out->node_count, 1, &builder->node_room,
			     sizeof(*out->nodes)))
			return;
		entry = &out->nodes[out->node_count++];
		memset(entry, 0, sizeof(*entry));
		entry->index = (uint32_t) i;
		entry->state = node_state(node, i);
		entry->cpus = node->cpus_efctv ? node->cpus_efctv : node->cpus;
		entry->memory = dfrs_node_memory(node);
		if (dfrs_select_ready())
			entry->allocated_memory = dfrs_select_memory(i);
		entry->name = store(builder, node->name);
	}
}

/* --- jobs -------------------------------------------------------------------------------------- */

static uint32_t job_state(const job_record_t *job)
{
	if (IS_JOB_PENDING(job))
		return DFRS_JOB_PENDING;
	if (IS_JOB_RUNNING(job))
		return DFRS_JOB_RUNNING;
	if (IS_JOB_SUSPENDED(job))
		return DFRS_JOB_SUSPENDED;
	return DFRS_JOB_ENDED;
}

static bool interesting(const job_record_t *job)
{
	if (IS_JOB_REVOKED(job))
		return false; /* runs on another cluster of a federation */
	return (job_state(job) != DFRS_JOB_ENDED) || IS_JOB_COMPLETING(job);
}

static uint32_t job_flags(const job_record_t *job, time_t now)
{
	const dfrs_details_t *details = job->details;
	uint32_t flags = 0;

	if (IS_JOB_COMPLETING(job))
		flags |= DFRS_JOB_COMPLETING;
	if (IS_JOB_CONFIGURING(job))
		flags |= DFRS_JOB_CONFIGURING;
	if (job->batch_flag)
		flags |= DFRS_JOB_BATCH;
	if (job->priority == 0)
		flags |= DFRS_JOB_HELD;
	if (IS_JOB_PENDING(job) && !dfrs_single_record(job))
		flags |= DFRS_JOB_ARRAY_MASTER;
	if (job->gres_list_req && list_count(job->gres_list_req))
		flags |= DFRS_JOB_GRES;
	if (job->warn_flags & WARN_SENT)
		flags |= DFRS_JOB_WARNED;
	if ((job->step_list && list_count(job->step_list)) || (details && details->prolog_running) ||
	    (IS_JOB_PENDING(job) && dfrs_too_early(job, now)))
		flags |= DFRS_JOB_STEPS_ALIVE;
	if (!details)
		return flags | DFRS_JOB_SPECIAL;
	if (details->requeue)
		flags |= DFRS_JOB_REQUEUE;
	if (dfrs_whole_nodes(details->whole_node))
		flags |= DFRS_JOB_EXCLUSIVE;
	if ((details->max_nodes == 0) || (details->max_nodes >= NO_VAL))
		flags |= DFRS_JOB_NO_NODE_LIMIT;
	if (details->req_node_bitmap)
		flags |= DFRS_JOB_ALL_ELIGIBLE;
	if (dfrs_special(job))
		flags |= DFRS_JOB_SPECIAL;
	return flags;
}

static int note_step_start(void *record, void *argument)
{
	const step_record_t *step = record;
	time_t *newest = argument;

	*newest = MAX(*newest, step->start_time);
	return 0;
}

/* See dfrs_job_t.last_launch. */
static time_t last_launch(const job_record_t *job, time_t now)
{
	time_t newest = job->start_time;

	if ((job->state_reason == WAIT_PROLOG) || (job->details && job->details->prolog_running))
		return now;
	if (job->step_list)
		(void) list_for_each_ro(job->step_list, note_step_start, &newest);
	return newest;
}

static void copy_request(dfrs_job_t *entry, const dfrs_details_t *details)
{
	entry->tasks = dfrs_tasks(details);
	entry->cpus_per_task = dfrs_cpus_per_task(details);
	if (details->ntasks_per_node && (details->ntasks_per_node < INFINITE16 - 1))
		entry->tasks_per_node = details->ntasks_per_node;
	entry->min_nodes = MAX(details->min_nodes, 1);
	if (details->max_nodes < NO_VAL)
		entry->max_nodes = details->max_nodes;
	entry->memory = details->pn_min_memory & ~MEM_PER_CPU;
	entry->memory_per_cpu = (details->pn_min_memory & MEM_PER_CPU) != 0;
	entry->submit_time = details->submit_time;
	entry->begin_time = details->begin_time;
}

static void add_place(builder_t *builder, dfrs_job_t *entry, int node_index, uint32_t cpus,
		      uint64_t memory)
{
	dfrs_snapshot_t *out = builder->out;
	dfrs_place_t *place;

	if (!reserve(builder, (void **) &out->places, out->place_count, 1, &builder->place_room,
		     sizeof(*out->places)))
		return;
	place = &out->places[out->place_count++];
	place->node = (uint32_t) node_index;
	place->tasks = (cpus + entry->cpus_per_task - 1) / entry->cpus_per_task;
	place->cpus = cpus;
	place->memory = memory;
	entry->place_count++;
}

/* Where the job is; for one that is completing: where its processes may still be. */
static void add_places(builder_t *builder, dfrs_job_t *entry, const job_record_t *job)
{
	const job_resources_t *resources = job->job_resrcs;
	bool completing = IS_JOB_COMPLETING(job);
	bitstr_t *nodes = completing ? job->node_bitmap_cg : NULL;
	int host = -1;

	entry->place_offset = builder->out->place_count;
	if (!resources || !resources->node_bitmap || !resources->cpus)
		return;
	if (!completing && (entry->state != DFRS_JOB_RUNNING) && (entry->state != DFRS_JOB_SUSPENDED))
		return;
	for (int i = 0; next_node(&i); i++) {
		if (!bit_test(resources->node_bitmap, i))
			continue;
		host++;
		if (!resources->cpus[host] || (completing && nodes && !bit_test(nodes, i)))
			continue; /* given up by resizing; or through there */
		add_place(builder, entry, i, resources->cpus[host],
			  resources->memory_allocated ? resources->memory_allocated[host] : 0);
	}
}

static void add_eligible(builder_t *builder, dfrs_job_t *entry, const job_record_t *job,
			 part_record_t *partition)
{
	dfrs_snapshot_t *out = builder->out;
	bitstr_t *nodes;

	entry->eligible_offset = out->eligible_count;
	if ((entry->state == DFRS_JOB_ENDED) || !job->details)
		return;
	nodes = dfrs_eligible_nodes(job, partition, out->now);
	if (!nodes)
		return;
	for (int i = 0; next_node(&i); i++) {
		if (!bit_test(nodes, i))
			continue;
		if (!reserve(builder, (void **) &out->eligible, out->eligible_count, 1,
			     &builder->eligible_room, sizeof(*out->eligible)))
			break;
		out->eligible[out->eligible_count++] = (uint32_t) i;
		entry->eligible_count++;
	}
	FREE_NULL_BITMAP(nodes);
	if (!entry->eligible_count)
		entry->flags |= DFRS_JOB_NOWHERE;
}

static int add_job(void *record, void *argument)
{
	job_record_t *job = record;
	builder_t *builder = argument;
	dfrs_snapshot_t *out = builder->out;
	part_record_t *partition;
	dfrs_job_t *entry;

	if (!dfrs_is_job(job)) {
		builder->wrong_layout = true;
		return -1;
	}
	if (!interesting(job))
		return 0;
	partition = dfrs_managed_partition(job, builder->partitions);
	if (!partition)
		return 0;
	if (!reserve(builder, (void **) &out->jobs, out->job_count, 1, &builder->job_room,
		     sizeof(*out->jobs)))
		return -1;
	entry = &out->jobs[out->job_count++];
	memset(entry, 0, sizeof(*entry));
	entry->job_id = job->job_id;
	entry->array_job_id = job->array_job_id;
	entry->array_task_id = job->array_job_id ? job->array_task_id : DFRS_NO_VALUE;
	entry->user_id = job->user_id;
	entry->priority = job->priority;
	entry->state = job_state(job);
	entry->flags = job_flags(job, out->now);
	entry->reason = job->state_reason;
	entry->restarts = job->restart_cnt;
	entry->tasks = entry->cpus_per_task = entry->min_nodes = 1;
	if (job->details)
		copy_request(entry, job->details);
	entry->time_limit = ((job->time_limit == NO_VAL) || (job->time_limit == INFINITE)) ?
		DFRS_NO_VALUE : job->time_limit;
	entry->warn_signal = job->warn_signal;
	entry->warn_seconds = job->warn_time;
	if (entry->state != DFRS_JOB_PENDING) {
		entry->start_time = job->start_time;
		entry->end_time = job->end_time;
	}
	if (entry->state == DFRS_JOB_RUNNING)
		entry->last_launch = last_launch(job, out->now);
	if (entry->state == DFRS_JOB_SUSPENDED)
		entry->suspend_time = job->suspend_time;
	entry->partition = store(builder, partition->name);
	entry->comment = store(builder, job->comment);
	entry->name = store(builder, job->name);
	if (entry->state != DFRS_JOB_PENDING)
		entry->node_list = store(builder, job->nodes);
	add_places(builder, entry, job);
	add_eligible(builder, entry, job, partition);
	return builder->no_memory ? -1 : 0;
}

int dfrs_snapshot(const char *partitions, dfrs_snapshot_t *out)
{
	builder_t builder = { .out = out, .partitions = partitions };

	if (!partitions || !out)
		return EINVAL;
	memset(out, 0, sizeof(*out));
	out->slurm_version = SLURM_VERSION_NUMBER;
	dfrs_remember_partitions(partitions);
	if (!reserve(&builder, (void **) &out->strings, 0, 1, &builder.string_room, 1))
		return ENOMEM;
	out->strings[0] = '\0';
	out->string_bytes = 1;

	dfrs_lock_read();
	out->now = time(NULL);
	add_nodes(&builder);
	if (job_list && !builder.no_memory)
		(void) list_for_each_ro(job_list, add_job, &builder);
	dfrs_unlock_read();

	FREE_NULL_BITMAP(builder.nodes);
	if (!builder.no_memory && !builder.wrong_layout)
		return SLURM_SUCCESS;
	dfrs_snapshot_free(out);
	return builder.wrong_layout ? ESLURM_NOT_SUPPORTED : ENOMEM;
}

void dfrs_snapshot_free(dfrs_snapshot_t *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->jobs);
	free(snapshot->nodes);
	free(snapshot->places);
	free(snapshot->eligible);
	free(snapshot->strings);
	memset(snapshot, 0, sizeof(*snapshot));
}
