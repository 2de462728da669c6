/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.c - devices (GRES, mostly GPUs): how many a node has, and how Slurm is made to give a job as many on each of
 * its nodes as it asks for. They are counted by kind; which ones a job gets is Slurm's choice.
 */
#include "internal.h"

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

static int is_near_cores(void *record, void *argument)
{
	const gres_state_t *state = record, *kind = argument;
	const gres_node_state_t *has = state->gres_data;

	for (uint16_t i = 0; (state->plugin_id == kind->plugin_id) && has->topo_core_bitmap && (i < has->topo_cnt); i++)
		if (has->topo_core_bitmap[i])
			return -1;
	return 0;
}

static bool any_near_cores(const gres_state_t *kind)
{
	for (int i = 0; dfrs_select_ready() && (i < node_record_count); i++) {
		dfrs_list_t kinds = node_record_table_ptr[i] ? dfrs_select_devices(i) : NULL;

		if (kinds && list_find_first_ro(kinds, is_near_cores, (void *) kind))
			return true;
	}
	return false;
}

bool dfrs_devices_near_cores(const gres_state_t *kind)
{
	static uint64_t turn;
	static uint32_t known;
	static bool near;

	/* Jobs of one kind are mostly looked at one after the other. */
	if ((turn != dfrs_lock_generation()) || (known != kind->plugin_id)) {
		turn = dfrs_lock_generation();
		known = kind->plugin_id;
		near = any_near_cores(kind);
	}
	return near;
}

/* --- what ending jobs still use -------------------------------------------------------------------------- */

typedef struct {
	const job_record_t *job;
	const bitstr_t *nodes; /* on which it is to start */
	bool whole;	       /* it gets all devices there */
} start_t;

/* Devices without a type may be of any, and parts of them (shards) are not asked for. */
static int is_same_kind(void *record, void *argument)
{
	const gres_state_t *state = record, *other = argument;
	uint32_t type = ((const gres_job_state_t *) state->gres_data)->type_id;
	uint32_t others = ((const gres_job_state_t *) other->gres_data)->type_id;

	return gres_id_shared(other->config_flags) ||
	       ((state->plugin_id == other->plugin_id) && (!type || !others || (type == others)));
}

static dfrs_list_t held_by(const job_record_t *job)
{
	return job->gres_list_alloc ? job->gres_list_alloc : job->gres_list_req;
}

static int is_held_by(void *record, void *argument)
{
	dfrs_list_t held = held_by(argument);

	return held && list_find_first_ro(held, is_same_kind, record);
}

static bool holds_what_is_wanted(job_record_t *job, const start_t *start)
{
	dfrs_list_t held = held_by(job);

	if (start->whole)
		return held && list_count(held);
	return list_find_first_ro(start->job->gres_list_req, is_held_by, job);
}

static int still_uses(void *record, void *argument)
{
	job_record_t *job = record;
	const start_t *start = argument;

	return (job != start->job) && IS_JOB_COMPLETING(job) && job->node_bitmap_cg &&
	       bit_overlap_any(job->node_bitmap_cg, (bitstr_t *) start->nodes) &&
	       holds_what_is_wanted(job, start);
}

bool dfrs_devices_still_used(const job_record_t *job, const dfrs_place_t *places, uint32_t count, bool whole)
{
	bitstr_t *nodes;
	start_t start = { .job = job, .whole = whole || dfrs_whole_nodes(job->details->whole_node) };
	bool used;

	if ((!job->gres_list_req && !start.whole) || !cg_node_bitmap)
		return false;
	nodes = bit_alloc(node_record_count);
	for (uint32_t i = 0; i < count; i++)
		if (places[i].node < (uint32_t) node_record_count)
			bit_set(nodes, (int) places[i].node);
	start.nodes = nodes;
	used = bit_overlap_any(nodes, cg_node_bitmap) && list_find_first_ro(job_list, still_uses, &start);
	FREE_NULL_BITMAP(nodes);
	return used;
}

/* --- the request that leaves no choice ----------------------------------------------------------------- */

struct dfrs_devices {
	uint32_t count;
	job_record_t *job;
	dfrs_spread_t spread;
	char *cpus_per_tres, *mem_per_tres;
	dfrs_list_t list; /* of the kinds below */
	dfrs_list_t sums; /* of kinds, by which Slurm counts CPUs */
	struct {
		gres_job_state_t *asked;
		gres_job_state_t was; /* its numbers; what it points to stays with `asked` */
	} kinds[];
};

static void put_numbers(gres_job_state_t *asked, const gres_job_state_t *numbers)
{
	asked->gres_per_node = numbers->gres_per_node;
	asked->gres_per_job = numbers->gres_per_job;
	asked->gres_per_task = numbers->gres_per_task;
	asked->gres_per_socket = numbers->gres_per_socket;
	asked->mem_per_gres = numbers->mem_per_gres;
	asked->cpus_per_gres = numbers->cpus_per_gres;
	asked->ntasks_per_gres = numbers->ntasks_per_gres;
}

/* One task on each node, and all of the node's devices with it. */
static int ask_on_each_node(void *record, void *argument)
{
	gres_job_state_t *asked = ((gres_state_t *) record)->gres_data;
	dfrs_devices_t *devices = argument;
	gres_job_state_t wanted = {
		.gres_per_node = dfrs_devices_on_each(&devices->spread, asked),
		.ntasks_per_gres = NO_VAL16,
		/* Else Slurm goes by a default, which it remembers, and which the job's own --mem may be below. */
		.mem_per_gres = (!asked->mem_per_gres && dfrs_memory_per_device(devices->job, record)) ? 1 : 0,
	};

	devices->kinds[devices->count].asked = asked;
	devices->kinds[devices->count++].was = *asked;
	put_numbers(asked, &wanted);
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
	devices->spread = dfrs_device_spread(job);
	/* What Slurm takes from there it also takes away (gres_select_util_job_set_defs() of 22.05 and 24.11). */
	devices->cpus_per_tres = job->cpus_per_tres;
	devices->mem_per_tres = job->mem_per_tres;
	job->cpus_per_tres = job->mem_per_tres = NULL;
	devices->sums = job->gres_list_req_accum;
	job->gres_list_req_accum = NULL;
	devices->list = job->gres_list_req;
	(void) list_for_each(devices->list, ask_on_each_node, devices);
	return devices;
}

void dfrs_devices_restore(dfrs_devices_t *devices)
{
	bool is_there;

	if (!devices)
		return;
	/* A job that starts on whole nodes has another list then, and this one is freed (_handle_exclusive_gres() and
	 * select_nodes() of 22.05 to 26.05). */
	is_there = (devices->job->gres_list_req == devices->list);
	for (uint32_t i = 0; is_there && (i < devices->count); i++)
		put_numbers(devices->kinds[i].asked, &devices->kinds[i].was);
	xfree(devices->job->cpus_per_tres);
	xfree(devices->job->mem_per_tres);
	devices->job->cpus_per_tres = devices->cpus_per_tres;
	devices->job->mem_per_tres = devices->mem_per_tres;
	FREE_NULL_LIST(devices->job->gres_list_req_accum);
	devices->job->gres_list_req_accum = devices->sums;
	xfree(devices);
}
