/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hide.c - hides the cores of DFRS's jobs from Slurm again, after a restart of slurmctld, a
 * reconfigure or an operator's resume.
 */
#include "internal.h"

typedef struct {
	const char *partitions;
	uint32_t *job_ids;
	uint32_t count, room;
} hide_t;

bool dfrs_holds_cores(const job_record_t *job)
{
	/* Jobs that an operator has suspended (priority 0) are not in the rows, those of DFRS are. */
	bool is_parked = IS_JOB_SUSPENDED(job) && (job->priority || dfrs_on_hold(job));

	return (IS_JOB_RUNNING(job) || is_parked) &&
	       !IS_JOB_COMPLETING(job) && job->job_resrcs && job->job_resrcs->core_bitmap;
}

static bool is_to_hide(const job_record_t *job, const char *partitions)
{
	return dfrs_holds_cores(job) && job->part_ptr &&
	       dfrs_listed(partitions, job->part_ptr->name);
}

static int collect_job(void *record, void *argument)
{
	job_record_t *job = record;
	hide_t *hide = argument;

	if (!dfrs_is_job(job) || !is_to_hide(job, hide->partitions))
		return 0;
	if (hide->count == hide->room) {
		uint32_t room = hide->room ? 2 * hide->room : 256;
		uint32_t *larger = realloc(hide->job_ids, room * sizeof(*larger));

		if (!larger)
			return -1; /* the others in the next pass */
		hide->job_ids = larger;
		hide->room = room;
	}
	hide->job_ids[hide->count++] = job->job_id;
	return 0;
}

int dfrs_hide_cores(const char *partitions)
{
	hide_t hide = { .partitions = partitions };
	int hidden = 0;

	dfrs_lock_read();
	if (dfrs_select_ready() && job_list)
		(void) list_for_each_ro(job_list, collect_job, &hide);
	dfrs_unlock_read();
	if (!hide.count)
		return 0;

	dfrs_lock_write();
	for (uint32_t i = 0; i < hide.count; i++) {
		job_record_t *job = dfrs_find_job(hide.job_ids[i]);

		if (job && dfrs_select_ready() && is_to_hide(job, partitions)) {
			dfrs_select_hide(job);
			hidden++;
		}
		dfrs_next_piece_write();
	}
	dfrs_unlock_write();
	free(hide.job_ids);
	return hidden;
}
