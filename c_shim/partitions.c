/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partitions.c - which partitions are DFRS's, and which of them a job is in.
 */
#include "internal.h"

#include "bits.h"

#include <pthread.h>

static pthread_mutex_t remembered_lock = PTHREAD_MUTEX_INITIALIZER;
static char *remembered, *remembered_whole;

bool dfrs_listed(const char *list, const char *name)
{
	size_t length;

	if (!list || !name || !*name)
		return false;
	length = strlen(name);
	while (*list) {
		size_t part = strcspn(list, ",");

		if ((part == length) && !strncmp(list, name, length))
			return true;
		list += part;
		list += (*list == ',');
	}
	return false;
}

typedef struct {
	const job_record_t *job;
	dfrs_is_ours_t is_ours;
	const void *context;
	part_record_t *found;
} search_t;

/* Whether the partition takes jobs, and ones of this length and size. One that does not now may later: where
 * none does, the job waits for the first. */
static bool takes(const part_record_t *partition, const job_record_t *job)
{
	uint32_t nodes = job->details ? job->details->min_nodes : 0;
	bool has_limit = (job->time_limit != NO_VAL) && (partition->max_time != INFINITE);

	return (partition->state_up & PARTITION_SCHED) && partition->node_bitmap &&
	       (!has_limit || (job->time_limit <= partition->max_time)) &&
	       (nodes <= partition->max_nodes);
}

static int find_ours(void *record, void *argument)
{
	part_record_t *partition = record;
	search_t *search = argument;

	if (!search->is_ours(partition, search->context))
		return 0;
	if (takes(partition, search->job)) {
		search->found = partition;
		return -1; /* ends the walk */
	}
	if (!search->found)
		search->found = partition;
	return 0;
}

static int find_others(void *record, void *argument)
{
	search_t *search = argument;

	if (search->is_ours(record, search->context))
		return 0;
	search->found = record;
	return -1;
}

static bool has_others(const job_record_t *job, search_t search)
{
	(void) list_for_each_ro(job->part_ptr_list, find_others, &search);
	return search.found;
}

part_record_t *dfrs_choose_partition(const job_record_t *job, dfrs_is_ours_t is_ours,
				     const void *context)
{
	search_t search = { .job = job, .is_ours = is_ours, .context = context };
	bool chooses = IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) && job->part_ptr_list;

	if (chooses && job->het_job_id && has_others(job, search))
		return NULL;
	/* A running job is in one partition. A pending one may wait in several; part_ptr may be any of
	 * them, as the last user of the record left it. */
	if (chooses)
		(void) list_for_each_ro(job->part_ptr_list, find_ours, &search);
	else if (job->part_ptr && is_ours(job->part_ptr, context))
		search.found = job->part_ptr;
	return search.found;
}

static bool is_listed(const part_record_t *partition, const void *partitions)
{
	return dfrs_listed(partitions, partition->name);
}

part_record_t *dfrs_managed_partition(const job_record_t *job, const char *partitions)
{
	return dfrs_choose_partition(job, is_listed, partitions);
}

static void remember(char **names, const char *partitions)
{
	pthread_mutex_lock(&remembered_lock);
	if (!*names || strcmp(*names, partitions)) {
		free(*names);
		*names = strdup(partitions);
	}
	pthread_mutex_unlock(&remembered_lock);
}

void dfrs_remember_partitions(const char *partitions)
{
	remember(&remembered, partitions);
}

void dfrs_remember_whole(const char *partitions)
{
	remember(&remembered_whole, partitions);
}

bool dfrs_gives_whole_nodes(const part_record_t *partition)
{
	bool whole;

	pthread_mutex_lock(&remembered_lock);
	whole = dfrs_listed(remembered_whole, partition->name);
	pthread_mutex_unlock(&remembered_lock);
	return whole;
}

part_record_t *dfrs_remembered_partition(const job_record_t *job)
{
	part_record_t *partition;

	pthread_mutex_lock(&remembered_lock);
	partition = dfrs_managed_partition(job, remembered);
	pthread_mutex_unlock(&remembered_lock);
	return partition;
}

/* --- sizes of nodes ------------------------------------------------------------------------------------ */

static dfrs_sizes_t count_sizes(const part_record_t *partition)
{
	dfrs_sizes_t sizes = { .min_threads = 1, .max_threads = 1 };
	bool any = false;

	if (!partition || !partition->node_bitmap)
		return sizes;
	DFRS_FOR_EACH_BIT(index, partition->node_bitmap) {
		const node_record_t *node = node_record_table_ptr[index];
		uint32_t threads;

		if (!node)
			continue;
		threads = dfrs_threads(node);
		if (!any || (node->cpus_efctv < sizes.min_cpus))
			sizes.min_cpus = node->cpus_efctv;
		if (!any || (threads < sizes.min_threads))
			sizes.min_threads = threads;
		sizes.max_cpus = MAX(sizes.max_cpus, node->cpus_efctv);
		sizes.max_memory = MAX(sizes.max_memory, dfrs_node_memory(node));
		sizes.max_sockets = MAX(sizes.max_sockets, node->tot_sockets);
		sizes.max_threads = MAX(sizes.max_threads, threads);
		any = true;
	}
	return sizes;
}

dfrs_sizes_t dfrs_node_sizes(const part_record_t *partition)
{
	static dfrs_sizes_t sizes;
	static const part_record_t *counted;
	static uint64_t turn;

	/* Jobs of one partition are mostly looked at one after the other. */
	if ((counted != partition) || (turn != dfrs_lock_generation())) {
		sizes = count_sizes(partition);
		counted = partition;
		turn = dfrs_lock_generation();
	}
	return sizes;
}
