/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arrays.c - array tasks get records of their own.
 */
#include "internal.h"

/* Returns the record of what is left of the array; NULL: nothing left to split. */
static job_record_t *split_one(job_record_t *job)
{
	job_record_t *rest;
	int task;

	if (!job || !IS_JOB_PENDING(job) || !job->details || dfrs_single_record(job))
		return NULL;
	task = bit_ffs(job->array_recs->task_id_bitmap);
	if ((task < 0) || !job->array_recs->task_cnt)
		return NULL;
	job_array_pre_sched(job); /* sets array_job_id and array_task_id */
	if (job->array_recs->task_cnt == 1) {
		(void) dfrs_split_last_record(job);
		return NULL;
	}
	rest = dfrs_split_record(job);
	if (rest) {
		dfrs_state_set(rest, JOB_PENDING);
		rest->start_time = 0;
	}
	return rest;
}

static int check_splittable(const job_record_t *job)
{
	if (!job || !job->array_recs)
		return ESLURM_INVALID_JOB_ID;
	return IS_JOB_PENDING(job) ? SLURM_SUCCESS : ESLURM_JOB_NOT_PENDING;
}

int dfrs_array_split(uint32_t job_id, uint32_t max)
{
	uint32_t done = 0;
	int rc;

	dfrs_lock_write();
	rc = check_splittable(dfrs_find_job(job_id));
	if (!rc)
		last_job_update = time(NULL);
	/* The record that keeps the rest keeps the id. */
	while (!rc && (done < max) && split_one(dfrs_find_job(job_id))) {
		done++;
		dfrs_next_piece_write();
	}
	dfrs_unlock_write();
	return rc;
}
