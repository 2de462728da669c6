/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room.c - whether pending jobs wait for nothing but room, by what Slurm has noted of them: for
 * callers that may only read.
 */
#include "internal.h"

/* What Slurm leaves as the reason of a job that may start, or gives to one for which there is no
 * room. Slurm gives jobs reasons when they are submitted, in its scheduling passes, and when
 * something is done to them; every reason that is not named here keeps a job from starting whatever
 * room there is. */
static bool is_of_room(const job_record_t *job)
{
	switch (job->state_reason) {
	case WAIT_NO_REASON:
	case WAIT_PRIORITY:
	case WAIT_RESOURCES:
	case WAIT_NODE_NOT_AVAIL:
	/* The reason stays until a pass finds that the time has come; the time itself is looked at. */
	case WAIT_TIME:
	/* "defer": the next pass looks at it. */
	case FAIL_DEFER:
		return true;
	default:
		return dfrs_is_of_former_run(job->state_reason);
	}
}

static bool waits_for_room(const job_record_t *job, time_t now)
{
	const part_record_t *partition;

	if (!job || !job->details || IS_JOB_REVOKED(job) || !IS_JOB_PENDING(job) ||
	    IS_JOB_COMPLETING(job) || !job->priority)
		return false;
	partition = dfrs_remembered_partition(job);
	if (!partition || !(partition->state_up & PARTITION_SCHED) || !partition->node_bitmap)
		return false;
	return !dfrs_unsupported(job) && (job->details->begin_time <= now) && is_of_room(job);
}

void dfrs_jobs_wait_for_room(const uint32_t *job_ids, uint32_t count, bool *results)
{
	if (!job_ids || !results || !count)
		return;
	dfrs_lock_read();
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			dfrs_next_piece_read();
		results[i] = waits_for_room(dfrs_find_job(job_ids[i]), time(NULL));
	}
	dfrs_unlock_read();
}
