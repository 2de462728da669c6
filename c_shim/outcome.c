/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outcome.c - how a job ended.
 */
#include "internal.h"

static int outcome(const job_record_t *job, int64_t submit_time)
{
	if (!job || !job->details || (job->details->submit_time != submit_time))
		return DFRS_OUTCOME_UNKNOWN;
	if (!IS_JOB_FINISHED(job))
		return DFRS_OUTCOME_ALIVE;
	if (IS_JOB_COMPLETE(job))
		return DFRS_OUTCOME_COMPLETED;
	if (IS_JOB_CANCELLED(job) || IS_JOB_DEADLINE(job))
		return DFRS_OUTCOME_CANCELLED;
	return DFRS_OUTCOME_FAILED;
}

int dfrs_job_outcome(uint32_t job_id, int64_t submit_time)
{
	int result;

	dfrs_lock_read();
	result = outcome(dfrs_find_job(job_id), submit_time);
	dfrs_unlock_read();
	return result;
}
