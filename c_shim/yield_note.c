/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yield_note.c - what a job gets, where existing tools look: AdminComment or Extra.
 */
#include "internal.h"

/* NULL: this Slurm has no such field. */
static char **field_of(job_record_t *job, uint32_t field)
{
	return (field == DFRS_FIELD_EXTRA) ? dfrs_extra(job) : &job->admin_comment;
}

bool dfrs_has_extra(void)
{
	return dfrs_knows_extra();
}

/* What the field is to have: to be freed. */
static char *wanted_text(const char *text, uint32_t yield)
{
	char *wanted = dfrs_without_note(text, &dfrs_note_yield);
	char number[16];

	snprintf(number, sizeof(number), "%u.%02u", yield / 100, yield % 100);
	if (yield != DFRS_NO_YIELD)
		dfrs_add_note(&wanted, &dfrs_note_yield, number);
	return wanted;
}

/* Gives the field of this job its text, if `may_write`. Returns whether that is another. */
static bool set_note(job_record_t *job, uint32_t yield, uint32_t field, bool may_write)
{
	char **text, *wanted;
	bool differs;

	if (!job || IS_JOB_FINISHED(job))
		return false;
	text = field_of(job, field);
	if (!text || ((yield == DFRS_NO_YIELD) && (!*text || !strstr(*text, dfrs_note_yield.before))))
		return false;
	wanted = wanted_text(*text, yield);
	differs = strcmp(*text ? *text : "", wanted) != 0;
	if (differs && may_write) {
		xfree(*text);
		if (*wanted)
			*text = xstrdup(wanted);
		last_job_update = time(NULL);
	}
	xfree(wanted);
	return differs;
}

typedef struct {
	const uint32_t *job_ids, *yields;
	uint32_t field;
} updates_t;

static bool update_one(const void *what, uint32_t position, bool may_write)
{
	const updates_t *updates = what;

	return set_note(dfrs_find_job(updates->job_ids[position]), updates->yields[position], updates->field, may_write);
}

void dfrs_jobs_set_yield(const uint32_t *job_ids, const uint32_t *yields, uint32_t count, uint32_t field)
{
	const updates_t updates = { job_ids, yields, field };

	if (job_ids && yields)
		dfrs_change_differing(count, update_one, &updates);
}
