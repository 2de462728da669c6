/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.c - the records in which select/cons_tres counts what is in use.
 *
 * DFRS shares CPUs among more tasks than there are cores, so cores must be no constraint in its
 * partitions while memory stays one. OverSubscribe=FORCE:<n> would do it with one row of cores per
 * n, but then every job that ends has all rows rebuilt, under the job write lock. FORCE:1 has one
 * row and a short cut; DFRS's jobs are put into that row without any core ("hidden").
 *
 * The plugin is loaded privately, so its records are found with dlsym(). The names and meanings used
 * here are those of select/cons_common in 22.05 and of select/cons_tres since.
 */
#include "internal.h"

#include "bits.h"
#include "loaded.h"

#include <pthread.h>

typedef struct {
	node_use_record_t **nodes;
	part_res_record_t **parts;
	dfrs_add_job_t add_job;
	dfrs_rm_job_t rm_job;
} cons_tres_t;

/* What dlsym() finds is what the headers declare. */
#define SAME_TYPE(type, declared) \
	_Static_assert(__builtin_types_compatible_p(type, __typeof__(&declared)), #declared)
SAME_TYPE(node_use_record_t **, select_node_usage);
SAME_TYPE(part_res_record_t **, select_part_record);
SAME_TYPE(dfrs_rm_job_t, job_res_rm_job);
SAME_TYPE(dfrs_add_job_t, job_res_add_job);

static cons_tres_t cons_tres;
static pthread_once_t bind_once = PTHREAD_ONCE_INIT;

static void bind_library(void)
{
	void *library = dfrs_loaded_library("select_cons_tres.so");
	cons_tres_t found;

	if (!library)
		return;
	found.nodes = dlsym(library, "select_node_usage");
	found.parts = dlsym(library, "select_part_record");
	found.add_job = dlsym(library, "job_res_add_job");
	found.rm_job = dlsym(library, "job_res_rm_job");
	if (found.nodes && found.parts && found.add_job && found.rm_job)
		cons_tres = found;
}

bool dfrs_select_ready(void)
{
	pthread_once(&bind_once, bind_library);
	return cons_tres.nodes && *cons_tres.nodes && *cons_tres.parts;
}

uint32_t dfrs_select_take_claims(int node_index)
{
	uint32_t claims = (*cons_tres.nodes)[node_index].node_state;

	(*cons_tres.nodes)[node_index].node_state = NODE_CR_AVAILABLE;
	return claims;
}

void dfrs_select_add_claims(int node_index, uint32_t claims)
{
	(*cons_tres.nodes)[node_index].node_state += claims;
}

static void add_cores_held(bitstr_t **held, const part_res_record_t *partition, int node_index)
{
	for (int row = 0; partition->row && (row < partition->num_rows); row++) {
		bitstr_t **cores = partition->row[row].row_bitmap;

		if (!cores || !cores[node_index] || (dfrs_next_bit(cores[node_index], 0) < 0))
			continue;
		if (!*held)
			*held = bit_copy(cores[node_index]);
		else if (bit_size(*held) == bit_size(cores[node_index]))
			bit_or(*held, cores[node_index]);
	}
}

uint32_t dfrs_select_others_cpus(int node_index, dfrs_is_ours_t is_ours, const void *context)
{
	const node_record_t *node = node_record_table_ptr[node_index];
	bitstr_t *held = NULL;
	uint32_t cores = 0;

	for (part_res_record_t *it = *cons_tres.parts; it; it = it->next)
		if (!is_ours(it->part_ptr, context))
			add_cores_held(&held, it, node_index);
	if (held)
		cores = (uint32_t) bit_set_count(held);
	FREE_NULL_BITMAP(held);
	return cores * MAX(node->tpc, 1);
}

uint64_t dfrs_select_memory(int node_index)
{
	return (*cons_tres.nodes)[node_index].alloc_memory;
}

dfrs_list_t dfrs_select_devices(int node_index)
{
	const node_record_t *node = node_record_table_ptr[node_index];
	dfrs_list_t devices = (*cons_tres.nodes)[node_index].gres_list;

	return (devices || !node) ? devices : node->gres_list;
}

void dfrs_select_add_memory(int node_index, uint64_t memory)
{
	(*cons_tres.nodes)[node_index].alloc_memory += memory;
}

void dfrs_select_take_memory(int node_index, uint64_t memory)
{
	uint64_t *allocated = &(*cons_tres.nodes)[node_index].alloc_memory;

	*allocated -= MIN(*allocated, memory);
}

static void remove_job(job_record_t *job, job_res_job_action_t action)
{
	(void) DFRS_RM_JOB(cons_tres.rm_job, *cons_tres.parts, *cons_tres.nodes, job, action);
}

/* Adds the job as one that uses no core. whole_node would stand for all cores of its nodes. */
static void add_job_hidden(job_record_t *job, job_res_job_action_t action)
{
	job_resources_t *resources = job->job_resrcs;
	bitstr_t *cores = resources->core_bitmap;
	uint8_t whole_node = resources->whole_node;

	resources->core_bitmap = bit_alloc(bit_size(cores));
	resources->whole_node = 0;
	(void) cons_tres.add_job(job, action);
	FREE_NULL_BITMAP(resources->core_bitmap);
	resources->core_bitmap = cores;
	resources->whole_node = whole_node;
}

void dfrs_select_remove(job_record_t *job)
{
	remove_job(job, JOB_RES_ACTION_NORMAL);
}

void dfrs_select_add_hidden(job_record_t *job)
{
	add_job_hidden(job, JOB_RES_ACTION_NORMAL);
}

static part_res_record_t *find_part(const part_record_t *partition)
{
	part_res_record_t *part = *cons_tres.parts;

	while (part && (part->part_ptr != partition))
		part = part->next;
	return part;
}

/* How often the job is in the rows. More than once: an operator resumed a job that was suspended
 * twice, by DFRS and by an operator. */
static uint32_t times_in_rows(const job_record_t *job)
{
	part_res_record_t *part = find_part(job->part_ptr);
	uint32_t times = 0;

	for (int row = 0; part && part->row && (row < part->num_rows); row++)
		for (uint32_t i = 0; i < part->row[row].num_jobs; i++)
			times += (part->row[row].job_list[i] == job->job_resrcs);
	return times;
}

/* Takes back how the job counts on its nodes (node_state), as job_res_rm_job() of 22.05 and 24.11 does for
 * jobs that it finds in a row. */
static void uncount(const job_resources_t *resources)
{
	uint32_t host = 0;

	DFRS_FOR_EACH_BIT(node, resources->node_bitmap) {
		uint16_t *state = &(*cons_tres.nodes)[node].node_state;

		if (host >= resources->nhosts)
			break;
		if (resources->cpus[host++])
			*state -= MIN(*state, resources->node_req);
	}
}

/* Cores of one node: where they begin in the job's own bits, and how many there are. */
typedef struct {
	uint32_t first, count;
} cores_t;

/* Counts all of the node's cores as the job's and as used in its row, as the job is bound to none
 * and others are not to have what it runs on; returns whether one was not. may_set is false:
 * nothing is changed. */
static bool show_node(const job_resources_t *resources, bitstr_t *row, cores_t cores, bool may_set)
{
	bool differs = false;

	for (uint32_t core = 0; core < MIN(cores.count, bit_size(row)); core++) {
		bool is_its_own = bit_test(resources->core_bitmap, cores.first + core);

		if (is_its_own && bit_test(row, core))
			continue;
		differs = true;
		if (!may_set)
			break;
		/* When it ends, Slurm takes out of the row what its record names. */
		bit_set(resources->core_bitmap, cores.first + core);
		bit_set(row, core);
	}
	return differs;
}

/* show_node() for all of the job's nodes but these. A job without cores fits into the first row, so
 * that all that are hidden are there; when one ends, Slurm takes its cores out of it, also where
 * others have the same. */
static bool show_elsewhere(const job_record_t *job, const bitstr_t *but, bool may_set)
{
	const job_resources_t *resources = job->job_resrcs;
	part_res_record_t *part = find_part(job->part_ptr);
	bitstr_t **rows = (part && part->row) ? part->row->row_bitmap : NULL;
	cores_t cores = { 0 };
	bool differs = false;

	DFRS_FOR_EACH_BIT(node, resources->node_bitmap) {
		const node_record_t *record = node_record_table_ptr[node];

		cores.count = record ? record->tot_cores : 0;
		if (cores.first + cores.count > bit_size(resources->core_bitmap))
			break;
		if (rows && rows[node] && !bit_test((bitstr_t *) but, node))
			differs |= show_node(resources, rows[node], cores, may_set);
		cores.first += cores.count;
	}
	return differs;
}

bool dfrs_select_uncovered(const job_record_t *job, const bitstr_t *managed)
{
	return show_elsewhere(job, managed, false);
}

void dfrs_select_hide(job_record_t *job, const bitstr_t *managed)
{
	uint32_t times = times_in_rows(job);

	/* A running job that found no row ("job overflow") counts on its nodes all the same. */
	if (!times && IS_JOB_RUNNING(job))
		uncount(job->job_resrcs);
	/* RESUME stands for "cores only", in both directions. */
	for (; times > 0; times--)
		remove_job(job, JOB_RES_ACTION_RESUME);
	/* Of before the partition was OverSubscribe=FORCE: no job of such a partition starts beside one that shares
	 * no core, or no node (_verify_node_state() of 22.05 and 24.11). Slurm keeps this with the job. */
	job->job_resrcs->node_req = NODE_CR_AVAILABLE;
	add_job_hidden(job, JOB_RES_ACTION_RESUME);
	(void) show_elsewhere(job, managed, true);
}

bool dfrs_select_visible(const part_record_t *partition, const bitstr_t *managed, uint32_t jobs)
{
	part_res_record_t *part = find_part(partition);
	uint32_t in_rows = 0;

	if (!part || !part->row)
		return jobs > 0;
	for (int row = 0; row < part->num_rows; row++) {
		in_rows += part->row[row].num_jobs;
		if (!part->row[row].row_bitmap)
			continue;
		DFRS_FOR_EACH_BIT(node, managed) {
			bitstr_t *cores = part->row[row].row_bitmap[node];

			if (cores && (dfrs_next_bit(cores, 0) >= 0))
				return true;
		}
	}
	return in_rows < jobs;
}
