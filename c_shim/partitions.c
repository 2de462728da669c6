/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partitions.c - which partitions are DFRS's, and which of them a job is in.
 */
#include "internal.h"

#include <pthread.h>

static pthread_mutex_t remembered_lock = PTHREAD_MUTEX_INITIALIZER;
static char *remembered;

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
	const char *partitions;
	part_record_t *found;
} search_t;

bool dfrs_takes(const part_record_t *partition, const job_record_t *job)
{
	uint32_t nodes = job->details ? job->details->min_nodes : 0;
	bool has_limit = (job->time_limit != NO_VAL) && (partition->max_time != INFINITE);

	return (partition->state_up & PARTITION_SCHED) && partition->node_bitmap &&
	       (!has_limit || (job->time_limit <= partition->max_time)) &&
	       (nodes <= partition->max_nodes);
}

static int find_listed(void *record, void *argument)
{
	part_record_t *partition = record;
	search_t *search = argument;

	if (!dfrs_listed(search->partitions, partition->name))
		return 0;
	if (dfrs_takes(partition, search->job)) {
		search->found = partition;
		return -1; /* ends the walk */
	}
	if (!search->found)
		search->found = partition;
	return 0;
}

part_record_t *dfrs_managed_partition(const job_record_t *job, const char *partitions)
{
	search_t search = { .job = job, .partitions = partitions };

	/* A running job is in one partition. A pending one may wait in several; whoever looked at
	 * it last left any of them in part_ptr. */
	if (IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) && job->part_ptr_list)
		(void) list_for_each_ro(job->part_ptr_list, find_listed, &search);
	else if (job->part_ptr)
		(void) find_listed(job->part_ptr, &search);
	return search.found;
}

void dfrs_remember_partitions(const char *partitions)
{
	pthread_mutex_lock(&remembered_lock);
	if (!remembered || strcmp(remembered, partitions)) {
		free(remembered);
		remembered = strdup(partitions);
	}
	pthread_mutex_unlock(&remembered_lock);
}

part_record_t *dfrs_remembered_partition(const job_record_t *job)
{
	part_record_t *partition;

	pthread_mutex_lock(&remembered_lock);
	partition = dfrs_managed_partition(job, remembered);
	pthread_mutex_unlock(&remembered_lock);
	return partition;
}
