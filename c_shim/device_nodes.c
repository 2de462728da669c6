/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_nodes.c - how many nodes a job gets that asks for devices for all of its nodes together, or for each task, and
 * leaves the number of nodes open: the fewest that have as many, so that tasks and devices divide evenly among
 * them. By what nodes are configured with, not by what is free: the number stays as it is while the job waits.
 */
#include "internal.h"

/* --- the most that a node of a partition has ------------------------------------------------------------- */

#define REMEMBERED 32

/* Of one kind; valid while the lock is held. */
typedef struct {
	const part_record_t *partition;
	const char *name, *type;
	uint64_t most;
} kind_t;

static struct {
	uint64_t turn;
	kind_t kinds[REMEMBERED];
	uint32_t count;
} remembered;

static bool is_kind(const kind_t *kind, const char *name, const char *type)
{
	return !xstrcmp(kind->name, name) && !xstrcmp(kind->type, type);
}

static void note_count(const dfrs_counted_t *counted, void *context)
{
	kind_t *kind = context;

	if (is_kind(kind, counted->name, counted->type))
		kind->most = MAX(kind->most, counted->count);
}

static void count_most(kind_t *kind, const bitstr_t *among)
{
	for (int i = 0; i < node_record_count; i++)
		if (bit_test(kind->partition->node_bitmap, i) && (!among || bit_test((bitstr_t *) among, i)))
			dfrs_devices_of_node(i, note_count, kind);
}

/* Counted once for each partition and kind while the lock is held, as long as these are few. Of nodes that are up, if
 * some have any: one that is down for long is not to be waited for. */
static uint64_t most_on_a_node(const part_record_t *partition, const char *name, const char *type)
{
	kind_t kind = { .partition = partition, .name = name, .type = type };

	if (remembered.turn != dfrs_lock_generation()) {
		remembered.turn = dfrs_lock_generation();
		remembered.count = 0;
	}
	for (uint32_t i = 0; i < remembered.count; i++)
		if ((remembered.kinds[i].partition == partition) && is_kind(&remembered.kinds[i], name, type))
			return remembered.kinds[i].most;
	count_most(&kind, avail_node_bitmap);
	if (!kind.most)
		count_most(&kind, NULL);
	if (remembered.count < REMEMBERED)
		remembered.kinds[remembered.count++] = kind;
	return kind.most;
}

/* --- the fewest nodes ------------------------------------------------------------------------------------ */

typedef struct {
	const job_record_t *job;
	const part_record_t *partition;
	dfrs_spread_t spread; /* one that is tried */
} trial_t;

/* Whether a node has not, or need not have, as many of this as the job would get there. */
static int is_too_much(void *record, void *argument)
{
	const gres_state_t *state = record;
	const gres_job_state_t *asked = state->gres_data;
	const trial_t *trial = argument;
	uint64_t each = dfrs_devices_on_each(&trial->spread, asked);

	return !each || (each > most_on_a_node(trial->partition, state->gres_name, asked->type_name));
}

/* Whether its largest node has the CPUs and the memory of so many tasks, without what devices bring. */
static bool fits(const trial_t *trial)
{
	const dfrs_details_t *details = trial->job->details;
	uint32_t by_socket = dfrs_tasks_per_socket(details);
	dfrs_sizes_t sizes = dfrs_node_sizes(trial->partition);
	uint64_t cpus = (uint64_t) trial->spread.tasks * dfrs_cpus_given(details);
	uint64_t memory = details->pn_min_memory;
	uint32_t each = dfrs_tasks_per_node(details), most = slurm_conf.max_tasks_per_node;

	if (memory & MEM_PER_CPU)
		memory = (memory & ~MEM_PER_CPU) * cpus;
	if ((each && (trial->spread.tasks > each)) || (most && (trial->spread.tasks > most)))
		return false;
	if (by_socket && (trial->spread.tasks > by_socket * MAX(sizes.max_sockets, 1)))
		return false;
	return (cpus <= sizes.max_cpus) && (memory <= sizes.max_memory);
}

/* Asked for as a number for each node or socket. */
static bool is_by_node(const job_record_t *job, const gres_state_t *state)
{
	const gres_job_state_t *asked = state->gres_data;

	return asked->gres_per_node || asked->gres_per_socket;
}

/* Whether it may not use all nodes of its partition: not even the largest of these may have as many. */
static bool is_choosy(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;

	return details->feature_list || details->exc_node_bitmap || details->pn_min_tmp_disk || job->resv_name ||
	       dfrs_constrains_cores(details);
}

uint32_t dfrs_fewest_device_nodes(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;
	trial_t trial = { .job = job, .partition = dfrs_remembered_partition(job) };
	uint32_t tasks = dfrs_tasks(job), most = MIN(tasks, (uint32_t) node_record_count);

	if (!trial.partition)
		trial.partition = job->part_ptr;
	if (!trial.partition || !trial.partition->node_bitmap || is_choosy(job) || dfrs_overcommits(details) ||
	    dfrs_devices_any(job, is_by_node))
		return 0;
	if (details->max_nodes && (details->max_nodes < NO_VAL))
		most = MIN(most, details->max_nodes);
	for (uint32_t nodes = MAX(MAX(details->min_nodes, trial.partition->min_nodes), 1); nodes <= most; nodes++) {
		if (tasks % nodes)
			continue;
		trial.spread.nodes = nodes;
		trial.spread.tasks = tasks / nodes;
		if (fits(&trial) && !list_find_first_ro(job->gres_list_req, is_too_much, &trial))
			return nodes;
	}
	return 0;
}
