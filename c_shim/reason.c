/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reason.c - the reason that users see.
 */
#include "internal.h"

/* What reasons of DFRS's begin with; others are left alone. */
static const char prefix[] = "DFRS:";

static bool says(const job_record_t *job, const char *text)
{
	if (!text)
		return !job->state_desc || strncmp(job->state_desc, prefix, sizeof(prefix) - 1);
	return job->state_desc && !strcmp(job->state_desc, text);
}

/* What was said of a job that is over is only taken away. */
static bool is_to_say(const job_record_t *job, const char *text)
{
	return job && (!text || !IS_JOB_FINISHED(job)) && !says(job, text);
}

static void say(job_record_t *job, const char *text)
{
	xfree(job->state_desc);
	if (text)
		job->state_desc = xstrdup(text);
	if (IS_JOB_PENDING(job) && job->priority)
		job->state_reason = text ? WAIT_RESOURCES : WAIT_NO_REASON;
	last_job_update = time(NULL);
}

/* Fills positions with those of the jobs that say something else; returns how many these are. */
static uint32_t find_others(const uint32_t *job_ids, const char *const *texts, uint32_t count,
			    uint32_t *positions)
{
	uint32_t others = 0;

	dfrs_lock_read();
	for (uint32_t i = 0; i < count; i++) {
		if (is_to_say(dfrs_find_job(job_ids[i]), texts[i]))
			positions[others++] = i;
		dfrs_next_piece_read();
	}
	dfrs_unlock_read();
	return others;
}

void dfrs_jobs_set_reason(const uint32_t *job_ids, const char *const *texts, uint32_t count)
{
	uint32_t *positions = (job_ids && texts && count) ? calloc(count, sizeof(*positions)) : NULL;
	uint32_t others = positions ? find_others(job_ids, texts, count, positions) : 0;

	if (others)
		dfrs_lock_write();
	for (uint32_t i = 0; i < others; i++) {
		uint32_t position = positions[i];
		job_record_t *job = dfrs_find_job(job_ids[position]);

		if (is_to_say(job, texts[position]))
			say(job, texts[position]);
		dfrs_next_piece_write();
	}
	if (others)
		dfrs_unlock_write();
	free(positions);
}
