/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_nodes.c - how many nodes a job gets that asks for devices for all of its nodes together, or for each task, and
 * leaves the number of nodes open: the fewest that have as many, so that tasks and devices divide evenly among
 * them. By what nodes are configured with, not by what is free: the number stays as it is while the job waits.
 */
#include "internal.h"

/* --- the most that a node of a partition has ------------------------------------------------------------- */

#define REMEMBERED 8

/* Of one kind; valid while the lock is held. */
typedef struct {
	const char *name, *type;
	uint64_t most;
} kind_t;

static struct {
	const part_record_t *partition;
	uint64_t turn;
	kind_t kinds[REMEMBERED];
	uint32_t count;
} remembered;

static void note_count(const dfrs_counted_t *counted, void *context)
{
	kind_t *kind = context;

	if (!xstrcmp(counted->name, kind->name) && !xstrcmp(counted->type, kind->type))
		kind->most = MAX(kind->most, counted->count);
}

static void count_most(const part_record_t *partition, kind_t *kind)
{
	for (int i = 0; i < node_record_count; i++)
		if (bit_test(partition->node_bitmap, i))
			dfrs_devices_of_node(i, note_count, kind);
}

/* Counted once for each partition and kind while the lock is held, as long as kinds are few. */
static uint64_t most_on_a_node(const part_record_t *partition, const char *name, const char *type)
{
	kind_t kind = { .name = name, .type = type };

	if ((remembered.partition != partition) || (remembered.turn != dfrs_lock_generation())) {
		remembered.partition = partition;
		remembered.turn = dfrs_lock_generation();
		remembered.count = 0;
	}
	for (uint32_t i = 0; i < remembered.count; i++)
		if (!xstrcmp(remembered.kinds[i].name, name) && !xstrcmp(remembered.kinds[i].type, type))
			return remembered.kinds[i].most;
	count_most(partition, &kind);
	if (remembered.count < REMEMBERED)
		remembered.kinds[remembered.count++] = kind;
	return kind.most;
}

/* --- the fewest nodes ------------------------------------------------------------------------------------ */

typedef struct {
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

/* Asked for as a number for each node or socket. */
static bool is_by_node(const job_record_t *job, const gres_state_t *state)
{
	const gres_job_state_t *asked = state->gres_data;

	return asked->gres_per_node || asked->gres_per_socket;
}

uint32_t dfrs_fewest_device_nodes(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;
	trial_t trial = { .partition = dfrs_remembered_partition(job) };
	uint32_t tasks = dfrs_tasks(job), most = MIN(tasks, (uint32_t) node_record_count);

	if (!trial.partition)
		trial.partition = job->part_ptr;
	/* Of the nodes with some features not even the largest may have as many. */
	if (!trial.partition || !trial.partition->node_bitmap || details->feature_list || dfrs_overcommits(details) ||
	    dfrs_devices_any(job, is_by_node))
		return 0;
	if (details->max_nodes && (details->max_nodes < NO_VAL))
		most = MIN(most, details->max_nodes);
	for (uint32_t nodes = MAX(details->min_nodes, 1); nodes <= most; nodes++) {
		trial.spread.nodes = nodes;
		trial.spread.tasks = (tasks % nodes) ? 0 : tasks / nodes;
		if (trial.spread.tasks && !list_find_first_ro(job->gres_list_req, is_too_much, &trial))
			return nodes;
	}
	return 0;
}
