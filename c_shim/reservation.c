/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reservation.c - in which of its reservations a job waits and starts. Slurm tries one that names several
 * (--reservation=a,b) in each of them, one after the other (_queue_resv_list() of 22.05 and 24.11). DFRS plans with one:
 * the one in which most of its nodes have the memory for one of its tasks.
 */
#include "internal.h"

#include "bits.h"

/* Whether its jobs may be on any nodes. */
static bool is_of_any_nodes(const slurmctld_resv_t *reservation)
{
	return reservation->flags & (RESERVE_FLAG_ANY_NODES | RESERVE_FLAG_FLEX);
}

/* Whether jobs may start in it now. */
static bool is_open(const slurmctld_resv_t *reservation, time_t now)
{
	if (!reservation->node_bitmap && !is_of_any_nodes(reservation))
		return false;
	return (reservation->flags & RESERVE_FLAG_FLEX) ||
	       ((reservation->start_time <= now) && (now < reservation->end_time));
}

/* Whether it has all of these nodes. */
static bool has_nodes(const slurmctld_resv_t *reservation, const bitstr_t *nodes)
{
	return is_of_any_nodes(reservation) || bit_super_set((bitstr_t *) nodes, reservation->node_bitmap);
}

typedef struct {
	const job_record_t *job;
	time_t now;
	bitstr_t *nodes; /* that the job may use, or is to start on */
	uint32_t cpus;	 /* of one of its tasks */
	uint64_t memory; /* as dfrs_memory_asked() */
	slurmctld_resv_t *best; /* NULL: none yet */
	uint32_t most; /* of its nodes */
} search_t;

/* Where cores have several threads this is about what dfrs_memory_request() says. */
static bool has_memory(const search_t *search, int index)
{
	const node_record_t *node = node_record_table_ptr[index];
	uint64_t memory = search->memory;

	if (!node)
		return false;
	if (memory & MEM_PER_CPU)
		memory = (memory & ~MEM_PER_CPU) *
			 dfrs_memory_cpus(search->job->details, dfrs_threads(node), search->cpus);
	else if (!memory)
		memory = dfrs_node_memory(node);
	return dfrs_select_memory(index) + memory <= dfrs_node_memory(node);
}

static uint32_t count_roomy(const slurmctld_resv_t *reservation, const search_t *search)
{
	uint32_t count = 0;

	DFRS_FOR_EACH_BIT(index, search->nodes)
		count += (is_of_any_nodes(reservation) || bit_test(reservation->node_bitmap, index)) &&
			 has_memory(search, index);
	return count;
}

/* The first of those that are as good. */
static int compare_roomy(void *record, void *argument)
{
	slurmctld_resv_t *reservation = record;
	search_t *search = argument;
	const bitstr_t *wanted = search->job->details->req_node_bitmap;
	uint32_t count;

	if (!is_open(reservation, search->now) || (wanted && !has_nodes(reservation, wanted)))
		return 0;
	count = count_roomy(reservation, search);
	if (!search->best || (count > search->most)) {
		search->best = reservation;
		search->most = count;
	}
	return 0;
}

/* Nodes of its partition that are up and that it does not exclude. */
static bitstr_t *usable_nodes(const part_record_t *partition, const dfrs_details_t *details)
{
	bitstr_t *nodes = bit_copy(partition->node_bitmap);

	bit_and(nodes, avail_node_bitmap);
	if (details->exc_node_bitmap)
		bit_and_not(nodes, details->exc_node_bitmap);
	if (details->req_node_bitmap)
		bit_and(nodes, details->req_node_bitmap);
	return nodes;
}

slurmctld_resv_t *dfrs_reservation(const job_record_t *job, time_t now)
{
	const part_record_t *partition;
	search_t search = { .job = job, .now = now };

	if (!job->resv_list || !IS_JOB_PENDING(job) || !job->details)
		return job->resv_ptr;
	partition = dfrs_remembered_partition(job);
	if (!partition || !partition->node_bitmap)
		return list_peek(job->resv_list);
	search.nodes = usable_nodes(partition, job->details);
	search.cpus = dfrs_cpus_per_task(job, 1);
	search.memory = dfrs_memory_asked(job);
	(void) list_for_each_ro(job->resv_list, compare_roomy, &search);
	FREE_NULL_BITMAP(search.nodes);
	return search.best ? search.best : list_peek(job->resv_list);
}

/* Ends the walk with the first that has all of the wanted nodes. */
static int holds_all(void *record, void *argument)
{
	slurmctld_resv_t *reservation = record;
	search_t *search = argument;

	if (!is_open(reservation, search->now) || !has_nodes(reservation, search->nodes))
		return 0;
	search->best = reservation;
	return -1;
}

int dfrs_enter_reservation(job_record_t *job, bitstr_t *nodes, time_t now)
{
	search_t search = { .job = job, .now = now, .nodes = nodes };

	(void) list_for_each_ro(job->resv_list, holds_all, &search);
	if (!search.best)
		return ESLURM_RESERVATION_INVALID;
	/* Not the name, which is that of all of them (job_queue_rec_resv_list() of 22.05 and 24.11). */
	job->resv_ptr = search.best;
	job->resv_id = search.best->resv_id;
	return SLURM_SUCCESS;
}
