/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.c - one job and one node, as in the snapshot.
 */
#include "look.h"

/* --- nodes --------------------------------------------------------------------------------------------- */

static uint32_t node_state(const node_record_t *node, int index)
{
	if (IS_NODE_DOWN(node) || IS_NODE_FUTURE(node) || IS_NODE_NO_RESPOND(node) ||
	    IS_NODE_POWERED_DOWN(node) || IS_NODE_POWERING_DOWN(node) ||
	    IS_NODE_POWERING_UP(node) || IS_NODE_UNKNOWN(node) ||
	    (up_node_bitmap && !bit_test(up_node_bitmap, index)))
		return DFRS_NODE_DOWN;
	/* Not NODE_STATE_MAINT: reservations keep others off, and their own jobs start there. */
	if (IS_NODE_DRAIN(node) || IS_NODE_FAIL(node) ||
	    (avail_node_bitmap && !bit_test(avail_node_bitmap, index)))
		return DFRS_NODE_DRAINING;
	return DFRS_NODE_UP;
}

void dfrs_record_node(dfrs_node_t *entry, const node_record_t *node, int index)
{
	memset(entry, 0, sizeof(*entry));
	entry->index = (uint32_t) index;
	entry->state = node_state(node, index);
	entry->all_cpus = node->cpus_efctv ? node->cpus_efctv : node->cpus;
	entry->cpus = entry->all_cpus;
	entry->memory = dfrs_node_memory(node);
	/* Slurm goes by this: node->weight is only kept for its state file. */
	entry->weight = node->config_ptr ? node->config_ptr->weight : 1;
	if (dfrs_select_ready())
		entry->allocated_memory = dfrs_select_memory(index);
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

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

bool dfrs_record_wanted(const job_record_t *job)
{
	if (IS_JOB_REVOKED(job))
		return false; /* runs on another cluster of a federation */
	return (job_state(job) != DFRS_JOB_ENDED) || IS_JOB_COMPLETING(job);
}

static bool steps_alive(const job_record_t *job, time_t now)
{
	/* A job that waits for its first run has no steps: most jobs, whose lists need not be locked. */
	bool ran = !IS_JOB_PENDING(job) || job->restart_cnt;

	return (ran && job->step_list && list_count(job->step_list)) ||
	       (job->details && job->details->prolog_running) ||
	       (IS_JOB_PENDING(job) && dfrs_too_early(job, now));
}

bool dfrs_reason_is_hold(const job_record_t *job)
{
	return (job->state_reason == WAIT_HELD) || (job->state_reason == WAIT_HELD_USER);
}

bool dfrs_on_hold(const job_record_t *job)
{
	return !job->priority && dfrs_reason_is_hold(job);
}

bool dfrs_has_limit(const job_record_t *job)
{
	return (job->time_limit != NO_VAL) && (job->time_limit != INFINITE);
}

bool dfrs_has_deadline(const job_record_t *job)
{
	return job->deadline && (job->deadline != NO_VAL);
}

/* Slurm itself warns when a job's end is nearer than its --signal time and 30 s (job_time_limit() of 22.05
 * and 24.11). */
#define SLURM_WARNS_EARLIER 60

/* end: when its time limit ends it. */
static bool warned_early(const job_record_t *job, time_t now, time_t end)
{
	return (job->warn_flags & WARN_SENT) && (dfrs_users_signal(job) == job->warn_signal) &&
	       (!dfrs_has_limit(job) || (now + job->warn_time + SLURM_WARNS_EARLIER < end));
}

bool dfrs_warned(const job_record_t *job, time_t now)
{
	return IS_JOB_RUNNING(job) && warned_early(job, now, job->end_time);
}

bool dfrs_ended_after_warning(const job_record_t *job)
{
	/* The record's end_time is when the job ended; end_time_exp is as it was until its limits are
	 * counted off. */
	return dfrs_ended_by_itself(job) && IS_JOB_COMPLETING(job) &&
	       warned_early(job, job->end_time, job->end_time_exp);
}

static uint32_t job_flags(const job_record_t *job, time_t now)
{
	const dfrs_details_t *details = job->details;
	uint32_t flags = 0;

	if (IS_JOB_COMPLETING(job))
		flags |= DFRS_JOB_COMPLETING;
	if (dfrs_is_changing(job))
		flags |= DFRS_JOB_CONFIGURING;
	if (job->batch_flag)
		flags |= DFRS_JOB_BATCH;
	if (job->priority == 0)
		flags |= DFRS_JOB_HELD;
	if (dfrs_on_hold(job))
		flags |= DFRS_JOB_ON_HOLD;
	/* Users may hold their running jobs as well (update_job() of 22.05 to 26.05). */
	if (dfrs_on_hold(job) && (job->state_reason == WAIT_HELD))
		flags |= DFRS_JOB_ADMIN_HOLD;
	if (IS_JOB_PENDING(job) && !dfrs_single_record(job))
		flags |= DFRS_JOB_ARRAY_MASTER;
	if (steps_alive(job, now))
		flags |= DFRS_JOB_STEPS_ALIVE;
	/* Slurm starts a cron job that is requeued at its next time, and cancels a pending one whose limit
	 * ends after its deadline (deadline_ok() of 22.05 and 24.11). */
	if (details && details->requeue && !(job->bit_flags & CRON_JOB) && !dfrs_has_deadline(job))
		flags |= DFRS_JOB_REQUEUE;
	if (job->bit_flags & CRON_JOB)
		flags |= DFRS_JOB_CRON;
	if (job->gres_list_alloc && list_count(job->gres_list_alloc))
		flags |= DFRS_JOB_HOLDS_GRES;
	if (job->het_job_id)
		flags |= DFRS_JOB_COMPONENT;
	if (details && dfrs_whole_nodes(details->whole_node))
		flags |= DFRS_JOB_EXCLUSIVE;
	if (details && dfrs_is_exclusive_user(job))
		flags |= DFRS_JOB_EXCLUSIVE_USER;
	if (details && details->req_node_bitmap)
		flags |= DFRS_JOB_ALL_ELIGIBLE;
	if (details && (dfrs_memory_asked(job) & MEM_PER_CPU))
		flags |= DFRS_JOB_MEMORY_PER_CPU;
	if (dfrs_warned(job, now))
		flags |= DFRS_JOB_WARNED;
	if (dfrs_sized_by_nodes(job))
		flags |= DFRS_JOB_SIZED_BY_NODES;
	if (details && details->contiguous)
		flags |= DFRS_JOB_CONTIGUOUS;
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

static void fill_array(dfrs_job_t *entry, const job_record_t *job)
{
	const job_record_t *array;

	entry->array_job_id = job->array_job_id;
	if (job->array_task_id != NO_VAL)
		entry->array_task = job->array_task_id;
	if (entry->state != DFRS_JOB_PENDING)
		return;
	array = dfrs_find_job(job->array_job_id);
	if (array && array->array_recs)
		entry->array_throttle = array->array_recs->max_run_tasks;
}

/* Counted when a job first needs it. */
static const dfrs_sizes_t *sizes_of(dfrs_scoped_t *partition)
{
	if (!partition->sizes.max_threads)
		partition->sizes = dfrs_node_sizes(partition->record);
	return &partition->sizes;
}

/* CPUs of a task, where its partition's nodes differ as on those whose cores have most threads. On
 * other nodes a task holds less. */
static void fill_cpus(dfrs_job_t *entry, const job_record_t *job, dfrs_scoped_t *partition)
{
	const dfrs_details_t *details = job->details;
	uint32_t threads = dfrs_constrains_cores(details) ? sizes_of(partition)->max_threads : 1;

	entry->cpus_per_task = dfrs_cpus_per_task(job, threads);
	entry->idle_cpus = entry->cpus_per_task -
			   dfrs_memory_cpus(details, threads, entry->cpus_per_task);
}

/* As under Slurm, a node has no more tasks of a job that constrains cores than it has cores for:
 * srun would wait for more. Where nodes differ this is for the largest, and a start on others is
 * refused. */
static void bound_by_cores(dfrs_job_t *entry, const job_record_t *job, dfrs_scoped_t *partition)
{
	const dfrs_details_t *details = job->details;
	const dfrs_sizes_t *sizes;
	uint32_t max;

	if (!dfrs_constrains_cores(details) || dfrs_overcommits(details) ||
	    (entry->flags & DFRS_JOB_SIZED_BY_NODES))
		return;
	sizes = sizes_of(partition);
	max = sizes->max_cpus / dfrs_cpus_per_task(job, sizes->min_threads);
	if ((sizes->max_threads > 1) && max &&
	    (!entry->tasks_per_node || (entry->tasks_per_node > max)))
		entry->tasks_per_node = max;
}

/* No step has more tasks on a node (step_create() of 22.05 and 24.11), so no job is laid out with
 * more. The bound also limits the cost of a job with millions of tasks that request nothing. */
static void bound_tasks_per_node(dfrs_job_t *entry)
{
	uint32_t max = slurm_conf.max_tasks_per_node;

	if (entry->flags & DFRS_JOB_SIZED_BY_NODES)
		return; /* their number on each node is given */
	if (max && (entry->tasks > max) &&
	    (!entry->tasks_per_node || (entry->tasks_per_node > max)))
		entry->tasks_per_node = max;
}

/* The partition gives each job so many nodes at least. A job does not get more nodes than tasks
 * here. */
static void raise_min_nodes(dfrs_job_t *entry, uint32_t least)
{
	bool sized_by_nodes = entry->flags & DFRS_JOB_SIZED_BY_NODES;

	if ((least <= entry->min_nodes) || (!sized_by_nodes && (least > entry->tasks)))
		return;
	entry->min_nodes = least;
	if (sized_by_nodes && (entry->state == DFRS_JOB_PENDING))
		entry->tasks = least * MAX(entry->tasks_per_node, 1);
}

/* As get_node_cnts() of 22.05 and 24.11, without the limits of associations. */
static void fill_nodes(dfrs_job_t *entry, const job_record_t *job, const part_record_t *partition)
{
	const dfrs_details_t *details = job->details;
	uint32_t rules = job->qos_ptr ? job->qos_ptr->flags : 0;
	uint32_t for_devices = dfrs_device_nodes(job);

	entry->min_nodes = MAX(details->min_nodes, 1);
	if (details->max_nodes < NO_VAL)
		entry->max_nodes = details->max_nodes;
	/* On more nodes it would have other devices than it asks for. */
	if (for_devices && (entry->state == DFRS_JOB_PENDING))
		entry->max_nodes = for_devices;
	if (!(rules & QOS_FLAG_PART_MIN_NODE))
		raise_min_nodes(entry, partition->min_nodes);
	if ((partition->max_nodes < NO_VAL) &&
	    !(entry->max_nodes && (rules & QOS_FLAG_PART_MAX_NODE)))
		entry->partition_nodes = partition->max_nodes;
}

/* --ntasks-per-socket: no more on a node than one of the partition's has sockets for. */
static void bound_by_sockets(dfrs_job_t *entry, const job_record_t *job, dfrs_scoped_t *partition)
{
	uint32_t each = dfrs_tasks_per_socket(job->details), max;

	if (!each || dfrs_sized_by_nodes(job))
		return;
	max = each * MAX(sizes_of(partition)->max_sockets, 1);
	if (!entry->tasks_per_node || (entry->tasks_per_node > max))
		entry->tasks_per_node = max;
}

static void fill_request(dfrs_job_t *entry, const job_record_t *job, dfrs_scoped_t *partition,
			 time_t now)
{
	const dfrs_details_t *details = job->details;

	entry->tasks = dfrs_tasks(job);
	fill_cpus(entry, job, partition);
	entry->tasks_per_node = dfrs_tasks_per_node(details);
	if (!entry->tasks_per_node && dfrs_overcommits(details))
		entry->tasks_per_node = 1;
	bound_tasks_per_node(entry);
	bound_by_cores(entry, job, partition);
	bound_by_sockets(entry, job, partition);
	fill_nodes(entry, job, partition->record);
	entry->memory = dfrs_memory_asked(job) & ~MEM_PER_CPU;
	entry->submit_time = details->submit_time;
	/* job_independent() sets it when that is over, and each of them takes it away (22.05 to 26.05). */
	if (details->begin_time <= now)
		entry->eligible_time = details->begin_time;
}

/* See dfrs_job_t.label. As filter_by_node_mcs() goes by it (22.05 and 24.11). */
static uint32_t mcs_label(const job_record_t *job)
{
	uint64_t digest;

	if (!job->mcs_label || !job->details ||
	    (slurm_mcs_get_select((job_record_t *) job) != 1))
		return 0;
	digest = dfrs_digest_text(DFRS_DIGEST_START, job->mcs_label);
	return (uint32_t) (digest ^ (digest >> 32)) | 1;
}

static uint32_t limit_minutes(const job_record_t *job, const part_record_t *partition)
{
	uint32_t limit = dfrs_time_limit(job, partition);

	return ((limit == NO_VAL) || (limit == INFINITE)) ? 0 : limit;
}

static uint32_t partition_minutes(const part_record_t *partition)
{
	bool has_limit = (partition->max_time != NO_VAL) && (partition->max_time != INFINITE);

	return has_limit ? partition->max_time : 0;
}

void dfrs_record_job(dfrs_job_t *entry, const job_record_t *job, dfrs_scoped_t *partition,
		     time_t now)
{
	memset(entry, 0, sizeof(*entry));
	entry->job_id = job->job_id;
	entry->priority = job->priority;
	entry->state = job_state(job);
	entry->flags = job_flags(job, now);
	if ((entry->state == DFRS_JOB_PENDING) || !job->details)
		entry->unsupported = dfrs_unsupported(job);
	entry->restarts = job->restart_cnt;
	entry->user = job->user_id;
	entry->label = mcs_label(job);
	if (job->array_job_id)
		fill_array(entry, job);
	entry->tasks = entry->cpus_per_task = entry->min_nodes = 1;
	if (job->details)
		fill_request(entry, job, partition, now);
	/* "Prefer": nodes that share their CPUs need no more than this. */
	if (job->bit_flags & USE_MIN_NODES)
		entry->max_nodes = entry->min_nodes;
	entry->switches = job->req_switch;
	entry->switch_seconds = job->req_switch ? job->wait4switch : 0;
	entry->warn_seconds = job->warn_time;
	entry->limit_minutes = limit_minutes(job, partition->record);
	entry->partition_minutes = partition_minutes(partition->record);
	if (dfrs_has_deadline(job))
		entry->deadline = job->deadline;
	if ((entry->state != DFRS_JOB_PENDING) && dfrs_has_limit(job))
		entry->end_time = job->end_time;
	entry->grace_end = dfrs_grace_end(job);
	if (entry->state == DFRS_JOB_RUNNING) {
		entry->last_launch = last_launch(job, now);
		/* Each suspension and each resumption sets it (_job_suspend_op(), Slurm 22.05 to 24.11). */
		entry->resumed = job->suspend_time;
	}
}

/* --- places -------------------------------------------------------------------------------------------- */

/* CPUs that a task of the job holds on this node. */
static uint32_t cpus_per_task_on(const job_record_t *job, const node_record_t *node)
{
	return node ? dfrs_cpus_per_task(job, dfrs_threads(node)) : 1;
}

/* Whether the job has the CPUs that its tasks are to hold. A job that constrains cores, and that
 * was started by a DFRS that did not know, has fewer: then each of its tasks has what the job
 * requested. */
static bool holds_cores(const dfrs_job_t *entry, const job_record_t *job,
			const job_resources_t *resources)
{
	uint32_t host = 0, tasks = 0;

	if (!dfrs_constrains_cores(job->details))
		return false;
	DFRS_FOR_EACH_BIT(index, resources->node_bitmap) {
		if (host >= resources->nhosts)
			break;
		tasks += resources->cpus[host++] /
			 cpus_per_task_on(job, node_record_table_ptr[index]);
	}
	return tasks >= entry->tasks;
}

dfrs_places_t dfrs_places_of(const dfrs_job_t *entry, const job_record_t *job)
{
	const job_resources_t *resources = job->job_resrcs;
	bool completing = entry->flags & DFRS_JOB_COMPLETING;
	dfrs_places_t walk = {
		.cpus_per_task = job->details ? dfrs_cpus_per_task(job, 1) : 1,
		.node = -1,
		.host = -1,
	};

	if (!resources || !resources->node_bitmap || !resources->cpus)
		return walk;
	if (!completing && (entry->state != DFRS_JOB_RUNNING) &&
	    (entry->state != DFRS_JOB_SUSPENDED))
		return walk;
	walk.resources = resources;
	if (job->details && holds_cores(entry, job, resources))
		walk.constrained = job;
	/* Where its processes may still be. */
	walk.only = completing ? job->node_bitmap_cg : NULL;
	return walk;
}

bool dfrs_next_place(dfrs_places_t *walk, dfrs_place_t *place)
{
	const job_resources_t *resources = walk->resources;

	while (resources &&
	       ((walk->node = dfrs_next_bit(resources->node_bitmap, walk->node + 1)) >= 0)) {
		uint32_t cpus, each;

		if (++walk->host >= (int) resources->nhosts)
			return false;
		cpus = resources->cpus[walk->host];
		if (!cpus || (walk->only && !bit_test((bitstr_t *) walk->only, walk->node)))
			continue; /* given up by resizing; or through there */
		each = walk->constrained ? cpus_per_task_on(walk->constrained,
							node_record_table_ptr[walk->node]) :
				       walk->cpus_per_task;
		*place = (dfrs_place_t) {
			.node = (uint32_t) walk->node,
			.tasks = (cpus + each - 1) / each,
			.cpus = cpus,
			.memory = resources->memory_allocated ?
				resources->memory_allocated[walk->host] : 0,
		};
		return true;
	}
	return false;
}
