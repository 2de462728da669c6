/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reservation.c - in which of its reservations a job waits and starts. Slurm tries one that names several
 * (--reservation=a,b) in each of them, one after the other (_queue_resv_list() of 22.05 and 24.11). DFRS plans with one:
 * the one in which most of its nodes have the memory for one of its tasks.
 */
#include "internal.h"

#include "bits.h"

/* Whether jobs may start in it now. */
static bool is_open(const slurmctld_resv_t *reservation, time_t now)
{
	if (!reservation->node_bitmap)
		return false;
	return (reservation->flags & RESERVE_FLAG_FLEX) ||
	       ((reservation->start_time <= now) && (now < reservation->end_time));
}

typedef struct {
	const job_record_t *job;
	time_t now;
	const bitstr_t *nodes; /* that are wanted; NULL: any */
	slurmctld_resv_t *best; /* NULL: none yet */
	uint32_t most; /* of its nodes */
} search_t;

static bool has_memory(const job_record_t *job, int index)
{
	const node_record_t *node = node_record_table_ptr[index];

	return node && (dfrs_select_memory(index) +
				dfrs_memory_request(job, node, dfrs_cpus_per_task(job, dfrs_threads(node))) <=
			dfrs_node_memory(node));
}

static uint32_t count_roomy(const slurmctld_resv_t *reservation, const job_record_t *job)
{
	uint32_t count = 0;

	DFRS_FOR_EACH_BIT(index, reservation->node_bitmap)
		count += bit_test(job->part_ptr->node_bitmap, index) && has_memory(job, index);
	return count;
}

/* The first of those that are as good. */
static int compare_roomy(void *record, void *argument)
{
	slurmctld_resv_t *reservation = record;
	search_t *search = argument;
	uint32_t count;

	if (!is_open(reservation, search->now))
		return 0;
	count = count_roomy(reservation, search->job);
	if (!search->best || (count > search->most)) {
		search->best = reservation;
		search->most = count;
	}
	return 0;
}

slurmctld_resv_t *dfrs_reservation(const job_record_t *job, time_t now)
{
	search_t search = { .job = job, .now = now };

	if (!job->resv_list || !IS_JOB_PENDING(job) || !job->details || !job->part_ptr ||
	    !job->part_ptr->node_bitmap)
		return job->resv_ptr;
	(void) list_for_each_ro(job->resv_list, compare_roomy, &search);
	return search.best ? search.best : list_peek(job->resv_list);
}

/* Ends the walk with the first that has all of the wanted nodes. */
static int holds_all(void *record, void *argument)
{
	slurmctld_resv_t *reservation = record;
	search_t *search = argument;

	if (!is_open(reservation, search->now) ||
	    (!(reservation->flags & RESERVE_FLAG_FLEX) &&
	     !bit_super_set((bitstr_t *) search->nodes, reservation->node_bitmap)))
		return 0;
	search->best = reservation;
	return -1;
}

int dfrs_enter_reservation(job_record_t *job, const bitstr_t *nodes, time_t now)
{
	search_t search = { .job = job, .now = now, .nodes = nodes };

	if (!job->resv_list)
		return SLURM_SUCCESS;
	(void) list_for_each_ro(job->resv_list, holds_all, &search);
	if (!search.best)
		return ESLURM_RESERVATION_INVALID;
	/* Not the name, which is that of all of them (job_queue_rec_resv_list() of 22.05 and 24.11). */
	job->resv_ptr = search.best;
	job->resv_id = search.best->resv_id;
	return SLURM_SUCCESS;
}
