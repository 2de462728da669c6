/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_request.c - how many devices (GRES, mostly GPUs) a job asks for on each of its nodes, and what it asks for
 * with each of them. A number for each socket is one for each node. A number for the whole job or for each task is one for
 * each node where it is plain how many nodes the job gets, and it divides evenly among these.
 */
#include "internal.h"

/* --- forms --------------------------------------------------------------------------------------------- */

typedef struct {
	const job_record_t *job;
	dfrs_device_form_t is_asked;
} form_search_t;

static int test_form(void *record, void *argument)
{
	const form_search_t *search = argument;

	return search->is_asked(search->job, record);
}

bool dfrs_devices_any(const job_record_t *job, dfrs_device_form_t is_asked)
{
	form_search_t search = { .job = job, .is_asked = is_asked };

	return job->gres_list_req && list_find_first_ro(job->gres_list_req, test_form, &search);
}

/* --- how many ------------------------------------------------------------------------------------------ */

static bool is_single(const job_record_t *job, const gres_state_t *state)
{
	const gres_job_state_t *asked = state->gres_data;

	return !asked->gres_per_node && !asked->gres_per_socket && (asked->gres_per_job == 1);
}

/* --ntasks-per-gpu; 0: not given. */
static uint32_t tasks_per_gpu(const job_record_t *job)
{
	uint16_t tasks = job->details->ntasks_per_tres;

	return (tasks == NO_VAL16) ? 0 : tasks;
}

static bool is_gpu(const gres_state_t *state)
{
	return !xstrcmp(state->gres_name, "gpu");
}

static int add_gpus_per_node(void *record, void *argument)
{
	const gres_state_t *state = record;

	if (is_gpu(state))
		*(uint64_t *) argument += ((const gres_job_state_t *) state->gres_data)->gres_per_node;
	return 0;
}

/* How many nodes have room for its tasks, if each GPU has some. 0: that is open. */
static uint32_t nodes_by_gpus(const job_record_t *job)
{
	uint32_t each = tasks_per_gpu(job), tasks = dfrs_tasks(job);
	uint64_t gpus = 0;

	if (!each || dfrs_sized_by_nodes(job))
		return 0;
	(void) list_for_each_ro(job->gres_list_req, add_gpus_per_node, &gpus);
	return (gpus && !(tasks % (each * gpus))) ? (uint32_t) (tasks / (each * gpus)) : 0;
}

/* What it has on its nodes; NULL: it is on none. */
static const job_resources_t *held(const job_record_t *job)
{
	const job_resources_t *resources = job->job_resrcs;

	return (dfrs_holds_nodes(job) && resources && resources->cpus && resources->nhosts) ? resources : NULL;
}

uint32_t dfrs_device_nodes(const job_record_t *job)
{
	const job_resources_t *resources = held(job);
	uint32_t nodes;

	if (!job->gres_list_req || !job->details)
		return 0;
	if (resources)
		return resources->nhosts;
	/* There is one device for all of its tasks. */
	if (dfrs_devices_any(job, is_single))
		return 1;
	nodes = dfrs_fixed_nodes(job);
	if (!nodes)
		nodes = nodes_by_gpus(job);
	return (nodes || dfrs_sized_by_nodes(job)) ? nodes : dfrs_fewest_device_nodes(job);
}

static uint32_t sockets_per_node(const dfrs_details_t *details)
{
	uint16_t sockets = details->mc_ptr ? details->mc_ptr->sockets_per_node : NO_VAL16;

	return (sockets == NO_VAL16) ? 0 : sockets;
}

dfrs_spread_t dfrs_device_spread(const job_record_t *job)
{
	dfrs_spread_t spread = { .nodes = dfrs_device_nodes(job) };

	if (job->details) {
		spread.sockets = sockets_per_node(job->details);
		spread.tasks = dfrs_tasks_on_each(job, spread.nodes);
		spread.overcommits = dfrs_overcommits(job->details);
	}
	return spread;
}

uint64_t dfrs_devices_on_each(const dfrs_spread_t *spread, const gres_job_state_t *asked)
{
	if (asked->gres_per_node)
		return asked->gres_per_node;
	if (asked->gres_per_socket)
		return asked->gres_per_socket * spread->sockets;
	/* Slurm itself makes a number for the whole job of one for each task (_test_gres_cnt() of 22.05 to 26.05). */
	if (asked->gres_per_task && !spread->overcommits)
		return asked->gres_per_task * spread->tasks;
	return (spread->nodes && !(asked->gres_per_job % spread->nodes)) ? asked->gres_per_job / spread->nodes : 0;
}

/* A walk over what a job asks for. */
typedef struct {
	const job_record_t *job;
	dfrs_spread_t spread;
	dfrs_device_visitor_t visit;
	void *context;
	uint64_t sum;
} asked_walk_t;

static int walk_asked(const job_record_t *job, ListForF each, asked_walk_t *walk)
{
	if (!job->gres_list_req)
		return 0;
	walk->job = job;
	walk->spread = dfrs_device_spread(job);
	return list_for_each_ro(job->gres_list_req, each, walk);
}

static int visit_asked(void *record, void *argument)
{
	const gres_state_t *state = record;
	const gres_job_state_t *asked = state->gres_data;
	const asked_walk_t *walk = argument;
	dfrs_counted_t counted = {
		.name = state->gres_name,
		.type = asked->type_name,
		.count = dfrs_devices_on_each(&walk->spread, asked),
	};

	walk->visit(&counted, walk->context);
	return 0;
}

void dfrs_devices_asked(const job_record_t *job, dfrs_device_visitor_t visit, void *context)
{
	asked_walk_t walk = { .visit = visit, .context = context };

	(void) walk_asked(job, visit_asked, &walk);
}

static int add_open(void *record, void *argument)
{
	asked_walk_t *walk = argument;

	walk->sum += !dfrs_devices_on_each(&walk->spread, ((const gres_state_t *) record)->gres_data);
	return 0;
}

bool dfrs_devices_open(const job_record_t *job)
{
	asked_walk_t walk = { 0 };

	(void) walk_asked(job, add_open, &walk);
	return walk.sum;
}

bool dfrs_devices_fit(const job_record_t *job, const dfrs_place_t *places, uint32_t count, bool whole)
{
	dfrs_spread_t spread = dfrs_device_spread(job);

	if (!spread.nodes)
		return true;
	for (uint32_t i = 0; !whole && spread.tasks && (i < count); i++)
		if (places[i].tasks != spread.tasks)
			return false;
	return count == spread.nodes;
}

/* --- what comes with them ------------------------------------------------------------------------------ */

static int is_of_type(void *record, void *argument)
{
	return ((const job_defaults_t *) record)->type == *(const uint16_t *) argument;
}

/* NO_VAL64: none. */
static uint64_t default_in(dfrs_list_t defaults, uint16_t type)
{
	const job_defaults_t *found = defaults ? list_find_first_ro(defaults, is_of_type, &type) : NULL;

	return found ? found->value : NO_VAL64;
}

/* Of the partition that it runs in, or that it is to be started in, else of slurm.conf (_set_gpu_defaults() of 22.05
 * to 26.05). */
static uint64_t default_of(const job_record_t *job, uint16_t type)
{
	const part_record_t *partition = NULL;
	uint64_t value;

	if (IS_JOB_PENDING(job) && job->part_ptr_list)
		partition = dfrs_remembered_partition(job);
	if (!partition)
		partition = job->part_ptr;
	value = partition ? default_in(partition->job_defaults_list, type) : NO_VAL64;
	if (value == NO_VAL64)
		value = default_in(slurm_conf.job_defaults_list, type);
	return (value == NO_VAL64) ? 0 : value;
}

/* With -c there is no default. */
static bool may_default_cpus(const job_record_t *job, const gres_state_t *state)
{
	return is_gpu(state) && !((const gres_job_state_t *) state->gres_data)->cpus_per_gres &&
	       (job->details->orig_cpus_per_task == NO_VAL16);
}

uint64_t dfrs_cpus_per_device(const job_record_t *job, const gres_state_t *state)
{
	return may_default_cpus(job, state) ? default_of(job, JOB_DEF_CPU_PER_GPU) :
					      ((const gres_job_state_t *) state->gres_data)->cpus_per_gres;
}

uint64_t dfrs_memory_per_device(const job_record_t *job, const gres_state_t *state)
{
	uint64_t asked = ((const gres_job_state_t *) state->gres_data)->mem_per_gres;

	return (!asked && is_gpu(state)) ? default_of(job, JOB_DEF_MEM_PER_GPU) : asked;
}

static int add_memory(void *record, void *argument)
{
	const gres_state_t *state = record;
	asked_walk_t *walk = argument;

	walk->sum += dfrs_memory_per_device(walk->job, state) * dfrs_devices_on_each(&walk->spread, state->gres_data);
	return 0;
}

uint64_t dfrs_memory_asked(const job_record_t *job)
{
	asked_walk_t walk = { 0 };

	/* A default for CPUs or nodes, which the record has, counts for less (_verify_node_state() of 22.05 to
	 * 26.05). */
	if (!(job->bit_flags & JOB_MEM_SET))
		(void) walk_asked(job, add_memory, &walk);
	return walk.sum ? walk.sum : job->details->pn_min_memory;
}

static int add_cpus(void *record, void *argument)
{
	const gres_state_t *state = record;
	asked_walk_t *walk = argument;

	walk->sum += dfrs_cpus_per_device(walk->job, state) * dfrs_devices_on_each(&walk->spread, state->gres_data);
	return 0;
}

/* 0: they are not the same on all of its nodes. */
static uint64_t cpus_on_each(const job_resources_t *resources)
{
	for (uint32_t host = 1; host < resources->nhosts; host++)
		if (resources->cpus[host] != resources->cpus[0])
			return 0;
	return resources->cpus[0];
}

/* CPUs on each of its nodes that a job holds which may have defaults: these may be others by now. 0: it holds none, or
 * its nodes differ. */
static uint64_t held_cpus(const job_record_t *job)
{
	const job_resources_t *resources = held(job);

	if (!resources || dfrs_whole_nodes(job->details->whole_node) || dfrs_constrains_cores(job->details) ||
	    !dfrs_devices_any(job, may_default_cpus))
		return 0;
	return cpus_on_each(resources);
}

uint32_t dfrs_device_cpus(const job_record_t *job)
{
	asked_walk_t walk = { 0 };
	uint64_t cpus, tasks;

	if (!job->gres_list_req)
		return 0;
	(void) walk_asked(job, add_cpus, &walk);
	cpus = walk.spread.tasks ? held_cpus(job) : 0;
	tasks = MAX(walk.spread.tasks, 1);
	cpus = cpus ? cpus : walk.sum;
	return (uint32_t) MIN((cpus + tasks - 1) / tasks, INFINITE16 - 1);
}

static bool asks_for_cpus(const job_record_t *job, const gres_state_t *state)
{
	return ((const gres_job_state_t *) state->gres_data)->cpus_per_gres;
}

bool dfrs_asks_for_device_cpus(const job_record_t *job)
{
	return dfrs_devices_any(job, asks_for_cpus);
}

static bool brings_cpus(const job_record_t *job, const gres_state_t *state)
{
	return dfrs_cpus_per_device(job, state);
}

bool dfrs_device_cpus_open(const job_record_t *job)
{
	return job->details && dfrs_devices_any(job, brings_cpus) && !dfrs_device_spread(job).tasks;
}

static int add_gpus(void *record, void *argument)
{
	const gres_state_t *state = record;
	asked_walk_t *walk = argument;

	walk->sum += is_gpu(state) ? dfrs_devices_on_each(&walk->spread, state->gres_data) : 0;
	return 0;
}

bool dfrs_device_tasks_open(const job_record_t *job)
{
	uint32_t each = job->details ? tasks_per_gpu(job) : 0;
	asked_walk_t walk = { 0 };

	if (!each)
		return false;
	(void) walk_asked(job, add_gpus, &walk);
	return !walk.spread.tasks || (walk.sum * each != walk.spread.tasks);
}
