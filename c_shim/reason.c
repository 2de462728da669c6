/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reason.c - the reason that users see.
 */
#include "internal.h"

/* What reasons of DFRS's begin with; others are left alone. */
static const char prefix[] = "DFRS:";
/* The cause of a hold that Slurm does not know: it has only the exit code (RequeueExitHold). */
static const char not_restored[] = "DFRS: its image could not be restored";

static bool has_reason(const job_record_t *job, const char *text)
{
	if (!text)
		return !job->state_desc || strncmp(job->state_desc, prefix, sizeof(prefix) - 1);
	return job->state_desc && !strcmp(job->state_desc, text);
}

/* Slurm's own reasons keep a job pending whatever room there is: that it is held, also by Slurm,
 * whose description gives the cause ("launch failed requeued held"); that it waits for other jobs,
 * or for a time that its user gave. */
static bool keeps_slurm_reason(const job_record_t *job, time_t now)
{
	const dfrs_details_t *details = job->details;

	if (!IS_JOB_PENDING(job))
		return false;
	if (!job->priority || !details)
		return true;
	if ((job->state_reason == WAIT_DEPENDENCY) || (job->state_reason == WAIT_DEP_INVALID))
		return details->dependency && *details->dependency;
	return (details->begin_time > now) && !dfrs_is_begin_of_requeue(job);
}

/* The reason of a job that is over is only removed. */
static bool reason_differs(const job_record_t *job, const char *text)
{
	return job && (!text || !IS_JOB_FINISHED(job)) && !has_reason(job, text);
}

static void reset_reason(job_record_t *job, const char *text)
{
	if (!IS_JOB_PENDING(job) || !job->priority)
		return;
	if (text)
		job->state_reason = WAIT_RESOURCES;
	else if (job->state_reason == WAIT_RESOURCES)
		job->state_reason = WAIT_NO_REASON; /* others are none of DFRS's */
}

static void set_reason(job_record_t *job, const char *text)
{
	xfree(job->state_desc);
	if (text)
		job->state_desc = xstrdup(text);
	reset_reason(job, text);
	last_job_update = time(NULL);
}

/* Returns whether it differs from the one that the job has. */
static bool update(job_record_t *job, const char *wanted, bool may_write)
{
	bool is_cause = wanted && !strncmp(wanted, not_restored, sizeof(not_restored) - 1);
	bool is_slurms = job && !is_cause && keeps_slurm_reason(job, time(NULL));
	const char *text = is_slurms ? NULL : wanted;
	bool differs = reason_differs(job, text);

	if (differs && may_write)
		set_reason(job, text);
	return differs;
}

void dfrs_show_reason(job_record_t *job, const char *text)
{
	(void) update(job, text, true);
}

typedef struct {
	const uint32_t *job_ids;
	const char *const *texts;
} updates_t;

static bool update_one(const void *what, uint32_t position, bool may_write)
{
	const updates_t *updates = what;

	return update(dfrs_find_job(updates->job_ids[position]), updates->texts[position], may_write);
}

void dfrs_jobs_set_reason(const uint32_t *job_ids, const char *const *texts, uint32_t count)
{
	const updates_t updates = { job_ids, texts };

	if (job_ids && texts)
		dfrs_change_differing(count, update_one, &updates);
}
