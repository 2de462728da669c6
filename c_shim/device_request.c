/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_request.c - how many devices (GRES, mostly GPUs) a job asks for on each of its nodes, and what it asks for
 * with each of them. A number for the whole job or for each task is one for each node where it is plain how many nodes
 * the job gets, and it divides evenly among these.
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

uint32_t dfrs_device_nodes(const job_record_t *job)
{
	if (!job->gres_list_req || !job->details)
		return 0;
	/* There is one device for all of its tasks. */
	if (dfrs_devices_any(job, is_single))
		return 1;
	return dfrs_fixed_nodes(job);
}

dfrs_spread_t dfrs_device_spread(const job_record_t *job)
{
	dfrs_spread_t spread = { .nodes = dfrs_device_nodes(job) };

	if (job->details)
		spread.tasks = dfrs_tasks_on_each(job, spread.nodes);
	return spread;
}

uint64_t dfrs_devices_on_each(const dfrs_spread_t *spread, const gres_job_state_t *asked)
{
	if (asked->gres_per_node)
		return asked->gres_per_node;
	/* Slurm itself makes a number for the whole job of one for each task (_test_gres_cnt() of 22.05 to 26.05). */
	if (asked->gres_per_task)
		return asked->gres_per_task * spread->tasks;
	return (spread->nodes && !(asked->gres_per_job % spread->nodes)) ? asked->gres_per_job / spread->nodes : 0;
}

/* A walk over what a job asks for. */
typedef struct {
	dfrs_spread_t spread;
	dfrs_device_visitor_t visit;
	void *context;
	uint64_t sum;
} asked_walk_t;

static int walk_asked(const job_record_t *job, ListForF each, asked_walk_t *walk)
{
	if (!job->gres_list_req)
		return 0;
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

static int add_memory(void *record, void *argument)
{
	const gres_job_state_t *asked = ((const gres_state_t *) record)->gres_data;
	asked_walk_t *walk = argument;

	walk->sum += asked->mem_per_gres * dfrs_devices_on_each(&walk->spread, asked);
	return 0;
}

uint64_t dfrs_memory_asked(const job_record_t *job)
{
	asked_walk_t walk = { 0 };

	if (!job->details->pn_min_memory)
		(void) walk_asked(job, add_memory, &walk);
	return walk.sum ? walk.sum : job->details->pn_min_memory;
}

/* CPUs that each of these devices brings. */
static uint32_t cpus_with(const gres_job_state_t *asked)
{
	return asked->cpus_per_gres;
}

static int add_cpus(void *record, void *argument)
{
	const gres_job_state_t *asked = ((const gres_state_t *) record)->gres_data;
	asked_walk_t *walk = argument;

	walk->sum += cpus_with(asked) * dfrs_devices_on_each(&walk->spread, asked);
	return 0;
}

uint32_t dfrs_device_cpus(const job_record_t *job)
{
	asked_walk_t walk = { 0 };
	uint64_t tasks;

	(void) walk_asked(job, add_cpus, &walk);
	tasks = MAX(walk.spread.tasks, 1);
	return (uint32_t) MIN((walk.sum + tasks - 1) / tasks, INFINITE16 - 1);
}

static bool brings_cpus(const job_record_t *job, const gres_state_t *state)
{
	return cpus_with(state->gres_data);
}

bool dfrs_devices_bring_cpus(const job_record_t *job)
{
	return dfrs_devices_any(job, brings_cpus);
}

bool dfrs_device_cpus_open(const job_record_t *job)
{
	return job->details && dfrs_devices_bring_cpus(job) && !dfrs_device_spread(job).tasks;
}
