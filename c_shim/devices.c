/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.c - devices (GRES, mostly GPUs): how many a node has, and how many a job gets on each of its nodes. They are
 * counted by kind; which ones a job gets is Slurm's choice.
 */
#include "internal.h"

/* --- what a job asks for ------------------------------------------------------------------------------- */

static bool is_for_one_node(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;

	return details && ((details->max_nodes == 1) ||
			   (!dfrs_sized_by_nodes(job) && (dfrs_tasks(job) == 1)));
}

/* On each of the job's nodes; 0: that cannot be said before these are chosen. Slurm itself makes a number for the
 * whole job of one for each task (_test_gres_cnt() of 22.05 to 24.11). */
static uint64_t on_each_node(const job_record_t *job, const gres_job_state_t *asked)
{
	if (asked->gres_per_node)
		return asked->gres_per_node;
	return ((asked->gres_per_job == 1) || is_for_one_node(job)) ? asked->gres_per_job : 0;
}

/* A walk over what a job asks for. */
typedef struct {
	const job_record_t *job;
	dfrs_device_visitor_t visit;
	void *context;
	uint64_t memory;
	dfrs_device_form_t is_asked;
	bool found;
} asked_walk_t;

static int walk_asked(const job_record_t *job, ListForF each, asked_walk_t *walk)
{
	walk->job = job;
	return job->gres_list_req ? list_for_each_ro(job->gres_list_req, each, walk) : 0;
}

static int visit_asked(void *record, void *argument)
{
	const gres_state_t *state = record;
	const gres_job_state_t *asked = state->gres_data;
	asked_walk_t *walk = argument;
	dfrs_counted_t counted = {
		.name = state->gres_name,
		.type = asked->type_name,
		.count = on_each_node(walk->job, asked),
	};

	walk->visit(&counted, walk->context);
	return 0;
}

void dfrs_devices_asked(const job_record_t *job, dfrs_device_visitor_t visit, void *context)
{
	asked_walk_t walk = { .visit = visit, .context = context };

	(void) walk_asked(job, visit_asked, &walk);
}

static int add_memory(void *record, void *argument)
{
	const gres_job_state_t *asked = ((const gres_state_t *) record)->gres_data;
	asked_walk_t *walk = argument;

	walk->memory += asked->mem_per_gres * on_each_node(walk->job, asked);
	return 0;
}

uint64_t dfrs_memory_asked(const job_record_t *job)
{
	asked_walk_t walk = { 0 };

	if (!job->details->pn_min_memory)
		(void) walk_asked(job, add_memory, &walk);
	return walk.memory ? walk.memory : job->details->pn_min_memory;
}

/* --- forms that cannot be honoured ------------------------------------------------------------------------ */

static int test_form(void *record, void *argument)
{
	const gres_state_t *state = record;
	asked_walk_t *walk = argument;

	walk->found |= walk->is_asked(walk->job, state);
	return 0;
}

bool dfrs_devices_any(const job_record_t *job, dfrs_device_form_t is_asked)
{
	asked_walk_t walk = { .is_asked = is_asked };

	(void) walk_asked(job, test_form, &walk);
	return walk.found;
}

bool dfrs_devices_uneven(const job_record_t *job, const gres_state_t *state)
{
	return !on_each_node(job, state->gres_data);
}

/* --- what a node has ------------------------------------------------------------------------------------- */

typedef struct {
	dfrs_device_visitor_t visit;
	void *context;
} node_walk_t;

static void visit_counts(const node_walk_t *walk, dfrs_counted_t *counted, const gres_node_state_t *has,
			 uint64_t available, uint64_t allocated)
{
	/* Of what is not used up there is enough for all. */
	counted->count = (has->no_consume && available) ? UINT32_MAX : available;
	counted->allocated = has->no_consume ? 0 : allocated;
	walk->visit(counted, walk->context);
}

static int visit_node_kind(void *record, void *argument)
{
	const gres_state_t *state = record;
	const gres_node_state_t *has = state->gres_data;
	const node_walk_t *walk = argument;
	dfrs_counted_t counted = { .name = state->gres_name };

	if (gres_id_shared(state->config_flags))
		return 0;
	visit_counts(walk, &counted, has, has->gres_cnt_avail, has->gres_cnt_alloc);
	for (uint16_t i = 0; i < has->type_cnt; i++) {
		counted.type = has->type_name[i];
		if (counted.type)
			visit_counts(walk, &counted, has, has->type_cnt_avail[i], has->type_cnt_alloc[i]);
	}
	return 0;
}

void dfrs_devices_of_node(int node_index, dfrs_device_visitor_t visit, void *context)
{
	dfrs_list_t kinds = dfrs_select_ready() ? dfrs_select_devices(node_index) : NULL;
	node_walk_t walk = { .visit = visit, .context = context };

	if (kinds)
		(void) list_for_each_ro(kinds, visit_node_kind, &walk);
}

/* --- the request that leaves no choice ----------------------------------------------------------------- */

struct dfrs_devices {
	uint32_t count;
	job_record_t *job;
	char *cpus_per_tres, *mem_per_tres;
	dfrs_list_t sums; /* of kinds, by which Slurm counts CPUs */
	struct {
		gres_job_state_t *asked;
		gres_job_state_t was; /* its numbers; what it points to stays with `asked` */
	} kinds[];
};

/* One task on each node, and all of the node's devices with it. */
static int ask_on_each_node(void *record, void *argument)
{
	gres_job_state_t *asked = ((gres_state_t *) record)->gres_data;
	dfrs_devices_t *devices = argument;
	uint64_t wanted = on_each_node(devices->job, asked);

	devices->kinds[devices->count].asked = asked;
	devices->kinds[devices->count++].was = *asked;
	asked->gres_per_node = wanted;
	asked->gres_per_job = asked->gres_per_task = asked->mem_per_gres = 0;
	return 0;
}

dfrs_devices_t *dfrs_devices_ask(job_record_t *job)
{
	int kinds = job->gres_list_req ? list_count(job->gres_list_req) : 0;
	dfrs_devices_t *devices;

	if (!kinds)
		return NULL;
	devices = xmalloc(sizeof(*devices) + (size_t) kinds * sizeof(devices->kinds[0]));
	devices->job = job;
	/* What Slurm takes from there it also takes away (gres_select_util_job_set_defs() of 22.05 and 24.11). */
	devices->cpus_per_tres = job->cpus_per_tres;
	devices->mem_per_tres = job->mem_per_tres;
	job->cpus_per_tres = job->mem_per_tres = NULL;
	devices->sums = job->gres_list_req_accum;
	job->gres_list_req_accum = NULL;
	(void) list_for_each(job->gres_list_req, ask_on_each_node, devices);
	return devices;
}

void dfrs_devices_restore(dfrs_devices_t *devices)
{
	if (!devices)
		return;
	for (uint32_t i = 0; i < devices->count; i++) {
		gres_job_state_t *asked = devices->kinds[i].asked;
		const gres_job_state_t *was = &devices->kinds[i].was;

		asked->gres_per_node = was->gres_per_node;
		asked->gres_per_job = was->gres_per_job;
		asked->gres_per_task = was->gres_per_task;
		asked->mem_per_gres = was->mem_per_gres;
	}
	xfree(devices->job->cpus_per_tres);
	xfree(devices->job->mem_per_tres);
	devices->job->cpus_per_tres = devices->cpus_per_tres;
	devices->job->mem_per_tres = devices->mem_per_tres;
	FREE_NULL_LIST(devices->job->gres_list_req_accum);
	devices->job->gres_list_req_accum = devices->sums;
	xfree(devices);
}
