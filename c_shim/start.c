/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start.c - starts a pending job on given nodes with a given number of tasks on each.
 *
 * Slurm offers no such call. select_nodes() is given a request that leaves it no choice - all other
 * nodes excluded, one CPU and one MiB on each - and does all of its bookkeeping with it. Before
 * anything of the job leaves slurmctld, what it allocated is laid out again as requested, and the
 * figures that were derived from it are derived again.
 */
#include "internal.h"

#include <errno.h>

/* What is to be on one of the job's nodes. */
typedef struct {
	int node;
	uint16_t cpus;
	uint32_t tasks; /* that have these CPUs */
	uint64_t memory;
} node_alloc_t;

typedef struct {
	node_alloc_t *allocs; /* ascending nodes */
	uint32_t count;
	uint32_t cpus; /* of all of them */
	uint64_t memory;
} layout_t;

/* --- the layout ---------------------------------------------------------------------------------- */

/* One node's share of the job. Exclusive jobs own all CPUs of their nodes; one that is given whole nodes
 * has their memory, too, so that Slurm itself puts nothing beside it. */
static int fill_alloc(node_alloc_t *alloc, const job_record_t *job, const dfrs_place_t *place, bool whole)
{
	const dfrs_details_t *details = job->details;
	node_record_t *node = node_record_table_ptr[place->node];
	uint32_t threads, each;
	uint64_t cpus, held;

	if (!node || !job->part_ptr->node_bitmap ||
	    !bit_test(job->part_ptr->node_bitmap, place->node))
		return ESLURM_INVALID_NODE_NAME;
	threads = dfrs_threads(node);
	each = dfrs_cpus_per_task(job, threads);
	cpus = (uint64_t) place->tasks * each;
	held = (cpus < INFINITE16) ? dfrs_cpus_of_tasks(job, threads, place->tasks) : cpus;
	/* srun would wait for ever for cores that are not there (_pick_step_cores() of 24.11). */
	if (dfrs_constrains_cores(details) && !dfrs_overcommits(details) && (held > node->cpus_efctv))
		return ESLURM_NODES_BUSY;
	alloc->tasks = place->tasks;
	if ((whole || dfrs_whole_nodes(details->whole_node)) && (held < node->cpus_efctv)) {
		cpus = held = node->cpus_efctv;
		alloc->tasks = held / each;
	}
	if (!place->tasks || (held >= INFINITE16 - 1))
		return ESLURM_BAD_TASK_COUNT;
	alloc->node = (int) place->node;
	alloc->cpus = (uint16_t) held;
	alloc->memory = whole ? dfrs_node_memory(node) :
			      dfrs_memory_request(job, node, (uint32_t) cpus);
	if (dfrs_select_memory(alloc->node) + alloc->memory > dfrs_node_memory(node))
		return ESLURM_NODES_BUSY;
	return SLURM_SUCCESS;
}

static int fill_layout(layout_t *layout, const job_record_t *job, const dfrs_place_t *places,
		       uint32_t count, bool whole)
{
	int last = -1;

	layout->allocs = xcalloc(count, sizeof(*layout->allocs));
	for (uint32_t i = 0; i < count; i++) {
		node_alloc_t *alloc = &layout->allocs[i];
		int rc;

		if ((places[i].node >= (uint32_t) node_record_count) ||
		    ((int) places[i].node <= last))
			return ESLURM_INVALID_NODE_NAME;
		rc = fill_alloc(alloc, job, &places[i], whole);
		if (rc)
			return rc;
		last = alloc->node;
		layout->count++;
		layout->cpus += alloc->cpus;
		layout->memory += alloc->memory;
	}
	return layout->count ? SLURM_SUCCESS : ESLURM_INVALID_NODE_COUNT;
}

/* The limits of associations and QOS, for what the job is really going to get. */
static bool within_limits(job_record_t *job, const layout_t *layout)
{
	dfrs_amounts_t amounts = { .cpus = layout->cpus, .memory = layout->memory,
				   .nodes = layout->count };

	return dfrs_within_limits(job, &amounts);
}

/* Its nodes; the caller frees them. */
static bitstr_t *nodes_of(const layout_t *layout)
{
	bitstr_t *nodes = bit_alloc(node_record_count);

	for (uint32_t i = 0; i < layout->count; i++)
		bit_set(nodes, layout->allocs[i].node);
	return nodes;
}

/* Of a job that names several reservations, that which has its nodes. */
static int enter_reservation(job_record_t *job, const layout_t *layout, time_t now)
{
	bitstr_t *nodes;
	int rc;

	if (!job->resv_list)
		return SLURM_SUCCESS;
	nodes = nodes_of(layout);
	rc = dfrs_enter_reservation(job, nodes, now);
	FREE_NULL_BITMAP(nodes);
	return rc;
}

/* Whether this thread, and no other, is having Slurm start a job. */
static __thread bool starting;

bool dfrs_is_starting(void)
{
	return starting;
}

/* --- the request that leaves no choice ------------------------------------------------------------ */

/* What of a job's request is replaced while select_nodes() runs. features_use, feature_list_use: --prefer, or
 * --constraint: it is DFRS that has chosen the nodes. */
#define REQUEST_FIELDS(FIELD) \
	FIELD(exc_node_bitmap) FIELD(features_use) FIELD(feature_list_use) \
	FIELD(min_nodes) FIELD(max_nodes) FIELD(min_cpus) FIELD(max_cpus) \
	FIELD(num_tasks) FIELD(pn_min_cpus) FIELD(task_dist) FIELD(pn_min_memory) \
	FIELD(contiguous) FIELD(cpus_per_task) FIELD(orig_cpus_per_task) \
	FIELD(ntasks_per_node) FIELD(ntasks_per_tres) FIELD(overcommit)

#define DECLARE(field) __typeof__(((dfrs_details_t *) NULL)->field) field;
#define TAKE(field) .field = details->field,
#define PUT(field) details->field = request->field;

typedef struct {
	REQUEST_FIELDS(DECLARE)
} request_t;

static request_t take_request(const dfrs_details_t *details)
{
	return (request_t) { REQUEST_FIELDS(TAKE) };
}

static void put_request(dfrs_details_t *details, const request_t *request)
{
	REQUEST_FIELDS(PUT)
}

/* One task of one CPU and 1 MiB on each of the layout's nodes. */
static request_t skeleton(const layout_t *layout, const dfrs_details_t *details,
			  const request_t *user)
{
	request_t request = {
		.features_use = details->features,
		.feature_list_use = details->feature_list,
		.min_nodes = layout->count,
		.max_nodes = layout->count,
		.min_cpus = layout->count,
		.max_cpus = NO_VAL, /* exclusive jobs get more */
		.num_tasks = layout->count,
		.pn_min_cpus = 1,
		.task_dist = SLURM_DIST_BLOCK,
		.pn_min_memory = 1,
		/* The nodes follow each other. Without it topology/tree looks for few switches, and refuses
		 * nodes at switches that are not connected. */
		.contiguous = user->contiguous,
		.cpus_per_task = 1,
		.orig_cpus_per_task = 1, /* no DefCpuPerGPU */
	};

	request.exc_node_bitmap = nodes_of(layout);
	bit_not(request.exc_node_bitmap);
	if (user->exc_node_bitmap)
		bit_or(request.exc_node_bitmap, user->exc_node_bitmap);
	return request;
}

/* Seconds: any time that is not over during one call. */
#define PREEMPTION_UNDER_WAY 60

/* Slurm keeps jobs off nodes on which another one is completing. Its memory is still counted by
 * the caller, and its devices by dfrs_devices_still_used(); there is no other reason to wait for it here. */
static int select_on_completing_nodes(job_record_t *job)
{
	bitstr_t *completing = cg_node_bitmap;
	bitstr_t *none = bit_alloc(node_record_count);
	time_t preempting = job->details->preempt_start_time;
	int rc;

	cg_node_bitmap = none;
	job->bit_flags |= BACKFILL_TEST;
	/* With PreemptType= Slurm might end other jobs to make room. Where its record has this under way
	 * already, it ends none, and the start fails (select_nodes() and _preempt_jobs() of 22.05 and
	 * 24.11). */
	job->details->preempt_start_time = time(NULL) + PREEMPTION_UNDER_WAY;
	starting = true;
	rc = dfrs_select_nodes(job);
	starting = false;
	job->details->preempt_start_time = preempting;
	job->bit_flags &= ~BACKFILL_TEST;
	/* Nothing is to have ended meanwhile; if it has, its nodes are not to be thought free. */
	bit_or(completing, none);
	cg_node_bitmap = completing;
	FREE_NULL_BITMAP(none);
	return rc;
}

/* Jobs of other partitions that share no core keep theirs; only beside them Slurm starts no job of
 * OverSubscribe=FORCE. */
static int select_beside_others(job_record_t *job, const layout_t *layout)
{
	uint32_t *claims = xcalloc(layout->count, sizeof(*claims));
	int rc;

	for (uint32_t i = 0; i < layout->count; i++)
		claims[i] = dfrs_select_take_claims(layout->allocs[i].node);
	rc = select_on_completing_nodes(job);
	for (uint32_t i = 0; i < layout->count; i++)
		dfrs_select_add_claims(layout->allocs[i].node, claims[i]);
	xfree(claims);
	return rc;
}

static int allocate_skeleton(job_record_t *job, const layout_t *layout)
{
	request_t user = take_request(job->details);
	request_t request = skeleton(layout, job->details, &user);
	dfrs_devices_t *devices = dfrs_devices_ask(job);
	uint32_t switches = job->req_switch;
	uint16_t *limits;
	int rc;

	put_request(job->details, &request);
	/* It has these nodes because of that, or has waited for others for long enough. Slurm remembers where it
	 * found too many itself. */
	job->req_switch = 0;
	job->best_switch = true;
	/* The job is within its limits; the skeleton may request less than a QOS demands. */
	limits = dfrs_limits_lift(job);
	/* A job that is CONFIGURING before stays it, and no prolog message leaves with figures of
	 * the skeleton. */
	dfrs_state_set_flag(job, JOB_CONFIGURING);
	rc = select_beside_others(job, layout);
	dfrs_limits_restore(job, limits);
	if (rc)
		dfrs_state_unset_flag(job, JOB_CONFIGURING);
	FREE_NULL_BITMAP(job->details->exc_node_bitmap);
	put_request(job->details, &user);
	job->req_switch = switches;
	dfrs_devices_restore(devices);
	return rc;
}

/* --- laying it out again ---------------------------------------------------------------------------- */

/* As many cores of the node as the job requested, by name: CPU time is shared out by dfrsd, not by
 * binding. */
static void name_cores(job_resources_t *resources, uint32_t host, const node_alloc_t *alloc)
{
	uint16_t sockets = 0, cores = 0;
	int first = get_job_resources_offset(resources, host, 0, 0);

	if ((first < 0) || get_job_resources_cnt(resources, host, &sockets, &cores))
		return;
	dfrs_name_cores(resources->core_bitmap, (uint32_t) first, (uint32_t) sockets * cores,
			node_record_table_ptr[alloc->node], alloc->cpus);
}

/* Tasks on the host of this number: as many as have CPUs, or an even part of all if there are more. */
static uint16_t tasks_on(const job_record_t *job, const layout_t *layout, uint32_t host)
{
	uint32_t tasks = layout->allocs[host].tasks;
	uint32_t all = job->details->num_tasks;

	if (dfrs_overcommits(job->details) && (all != NO_VAL))
		tasks = MAX(tasks, (all + layout->count - 1 - host) / layout->count);
	return (uint16_t) MIN(tasks, INFINITE16 - 2);
}

static void lay_out(job_record_t *job, const layout_t *layout)
{
	job_resources_t *resources = job->job_resrcs;
	int total;

	dfrs_select_remove(job);
	if (!resources->memory_allocated)
		resources->memory_allocated = xcalloc(layout->count, sizeof(uint64_t));
	for (uint32_t host = 0; host < layout->count; host++) {
		const node_alloc_t *alloc = &layout->allocs[host];

		resources->cpus[host] = alloc->cpus;
		resources->memory_allocated[host] = alloc->memory;
		if (resources->tasks_per_node)
			resources->tasks_per_node[host] = tasks_on(job, layout, host);
		name_cores(resources, host, alloc);
	}
	resources->ncpus = layout->cpus;
	total = build_job_resources_cpu_array(resources);
	job->total_cpus = job->cpu_cnt = (total > 0) ? (uint32_t) total : layout->cpus;
	dfrs_select_add_hidden(job);
}

/* Whether the nodes have to be made ready first; then Slurm launches the job when they are. */
static bool must_wait_for_nodes(const job_record_t *job)
{
	return job->details->prolog_running || IS_JOB_POWER_UP_NODE(job) ||
	       !bit_super_set(job->node_bitmap, avail_node_bitmap);
}

static void launch(job_record_t *job)
{
	if (!must_wait_for_nodes(job)) {
		dfrs_state_unset_flag(job, JOB_CONFIGURING);
		if (slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC)
			launch_prolog(job);
	}
	if (!job->batch_flag)
		dfrs_notify_client(job);
	else if (!IS_JOB_CONFIGURING(job))
		launch_job(job);
}

/* No limit goes beyond the job's deadline: Slurm's own schedulers cut it when they start a job
 * (_attempt_backfill() of 22.05 and 24.11). */
static void cut_to_deadline(job_record_t *job, time_t now)
{
	uint32_t limit = dfrs_time_limit(job, job->part_ptr), minutes;

	if (!dfrs_has_deadline(job) || (job->deadline <= now))
		return;
	minutes = MAX((uint32_t) ((job->deadline - now) / 60), 1);
	if (limit > minutes)
		job->time_limit = minutes;
}

/* slurmctld sends the node that launches the job its number of tasks, and counts those of a job
 * whose size was open by its nodes (allocate_nodes() and build_node_details() of 22.05 and
 * 24.11). */
static void count_tasks(job_record_t *job, const layout_t *layout)
{
	dfrs_details_t *details = job->details;

	if (dfrs_sized_by_nodes(job) && details->ntasks_per_node && details->num_tasks)
		details->num_tasks = layout->count * details->ntasks_per_node;
}

/* Whether the job still requests as many tasks as it was planned with: `scontrol update` may have
 * changed that since. */
static bool is_as_planned(const job_record_t *job, const dfrs_place_t *places, uint32_t count,
			  bool whole)
{
	uint64_t tasks = 0;

	if (!dfrs_devices_fit(job, places, count, whole))
		return false;
	if (whole || dfrs_sized_by_nodes(job) || dfrs_overcommits(job->details))
		return true;
	for (uint32_t i = 0; i < count; i++)
		tasks += places[i].tasks;
	return tasks == dfrs_tasks(job);
}

/* Slurm leaves no default for CPUs or nodes in the record of a job whose memory comes with its devices: of 22.05 that
 * would be its batch step's limit (_verify_node_state(), and build_launch_job_msg() of 22.05). */
static void leave_memory_to_devices(job_record_t *job)
{
	if (dfrs_memory_asked(job) != job->details->pn_min_memory)
		job->details->pn_min_memory = 0;
}

static int start(job_record_t *job, layout_t *layout, const dfrs_place_t *places, uint32_t count,
		 bool whole)
{
	/* Checked again: since the caller's check another start may have used up a limit. */
	time_t now = time(NULL);
	int rc = dfrs_job_eligible(job, now);
	uint32_t limit;
	uint8_t whole_node;

	if (rc)
		return rc;
	if (!dfrs_single_record(job) || !dfrs_select_ready())
		return ESLURM_NOT_SUPPORTED;
	if (!is_as_planned(job, places, count, whole))
		return ESLURM_BAD_TASK_COUNT;
	/* Its holder may have ended since the caller looked. */
	if (dfrs_devices_still_used(job, places, count, whole))
		return ESLURM_NODES_BUSY;
	rc = fill_layout(layout, job, places, count, whole);
	if (rc)
		return rc;
	if (!within_limits(job, layout))
		return ESLURM_ACCOUNTING_POLICY;
	rc = enter_reservation(job, layout, now);
	if (rc)
		return rc;
	limit = job->time_limit;
	whole_node = job->details->whole_node;
	cut_to_deadline(job, now);
	if (whole)
		dfrs_want_whole_nodes(&job->details->whole_node);
	rc = allocate_skeleton(job, layout);
	if (rc) {
		job->time_limit = limit;
		job->details->whole_node = whole_node;
		return rc;
	}
	count_tasks(job, layout);
	leave_memory_to_devices(job);
	if (!job->job_resrcs || (job->job_resrcs->nhosts != layout->count)) {
		/* Not seen, and not to be guessed at: let it run as Slurm has laid it out. */
		error("dfrs: %pJ: Slurm allocated %s, not the nodes that DFRS planned; it runs there", job, job->nodes);
	} else {
		lay_out(job, layout);
		/* select_nodes() has counted the skeleton, and sent it to the database. */
		dfrs_limits_count_again(job);
		(void) jobacct_storage_g_job_start(acct_db_conn, job);
	}
	dfrs_preemption_prepare(job);
	info("dfrs: Started %pJ in %s on %s", job, job->part_ptr->name, job->nodes);
	launch(job);
	last_job_update = time(NULL);
	slurmctld_diag_stats.backfilled_jobs++;
	slurmctld_diag_stats.last_backfilled_jobs++;
	return SLURM_SUCCESS;
}

int dfrs_job_start(uint32_t job_id, const dfrs_place_t *places, uint32_t count, bool whole)
{
	layout_t layout = { 0 };
	int rc;

	if (!places || !count)
		return ESLURM_INVALID_NODE_COUNT;
	dfrs_lock_write();
	rc = start(dfrs_find_job(job_id), &layout, places, count, whole);
	dfrs_unlock_write();
	xfree(layout.allocs);
	if (!rc) {
		schedule_job_save();
		schedule_node_save();
	}
	return rc;
}
