/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hide.c - hides the cores of DFRS's jobs from Slurm again, after a restart of slurmctld, a
 * reconfigure or an operator's resume. On nodes that are none of DFRS's any more they count.
 */
#include "bits.h"
#include "look.h"

typedef struct {
	const char *partitions;
	dfrs_scope_t scope;
	uint32_t *job_ids;
	uint32_t count, room;
	/* Nodes of the partitions, as they were when the lock was taken this time. */
	bitstr_t *managed;
	uint64_t turn;
} hide_t;

/* --- what is to be hidden -------------------------------------------------------------------------------- */

bool dfrs_holds_cores(const job_record_t *job)
{
	/* Jobs that an operator has suspended (priority 0) are not in the rows, those of DFRS are. */
	bool is_parked = IS_JOB_SUSPENDED(job) && (job->priority || dfrs_on_hold(job));

	return (IS_JOB_RUNNING(job) || is_parked) &&
	       !IS_JOB_COMPLETING(job) && job->job_resrcs && job->job_resrcs->core_bitmap;
}

void dfrs_note_cores(const dfrs_scope_t *scope, dfrs_scoped_t *partition, const job_record_t *job)
{
	if (!dfrs_holds_cores(job))
		return;
	partition->holders++;
	/* Rarely: a node was given to other partitions. */
	if (scope->holds_others && dfrs_select_ready())
		partition->uncovered |= dfrs_select_uncovered(job, scope->own);
}

bool dfrs_cores_differ(const dfrs_scope_t *scope, const dfrs_scoped_t *partition)
{
	return dfrs_select_ready() &&
	       (partition->uncovered ||
		dfrs_select_visible(partition->record, scope->own, partition->holders));
}

static dfrs_scoped_t *partition_of(const hide_t *hide, const job_record_t *job)
{
	return (dfrs_is_job(job) && dfrs_holds_cores(job)) ? dfrs_scope_of(&hide->scope, job) : NULL;
}

static int note_job(void *record, void *argument)
{
	hide_t *hide = argument;
	dfrs_scoped_t *partition = partition_of(hide, record);

	if (partition)
		dfrs_note_cores(&hide->scope, partition, record);
	return 0;
}

static int collect_job(void *record, void *argument)
{
	job_record_t *job = record;
	hide_t *hide = argument;
	const dfrs_scoped_t *partition = partition_of(hide, job);

	if (!partition || !partition->differs)
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

/* Jobs of those partitions in which something is to be hidden. */
static void collect(hide_t *hide)
{
	dfrs_lock_read();
	dfrs_scope_open(&hide->scope, hide->partitions, time(NULL));
	if (dfrs_select_ready() && job_list) {
		(void) list_for_each_ro(job_list, note_job, hide);
		for (uint32_t i = 0; i < hide->scope.count; i++)
			hide->scope.partitions[i].differs =
				dfrs_cores_differ(&hide->scope, &hide->scope.partitions[i]);
		(void) list_for_each_ro(job_list, collect_job, hide);
	}
	dfrs_scope_close(&hide->scope);
	dfrs_unlock_read();
}

/* --- hiding it --------------------------------------------------------------------------------------------- */

static bool is_to_hide(const job_record_t *job, const char *partitions)
{
	return dfrs_holds_cores(job) && job->part_ptr &&
	       dfrs_listed(partitions, job->part_ptr->name);
}

static int add_managed(void *record, void *argument)
{
	const part_record_t *partition = record;
	hide_t *hide = argument;

	if (partition->node_bitmap && dfrs_listed(hide->partitions, partition->name))
		bit_or(hide->managed, partition->node_bitmap);
	return 0;
}

static const bitstr_t *managed_nodes(hide_t *hide)
{
	if (hide->managed && (hide->turn == dfrs_lock_generation()))
		return hide->managed;
	FREE_NULL_BITMAP(hide->managed);
	hide->managed = bit_alloc(MAX(node_record_count, 1));
	(void) list_for_each_ro(part_list, add_managed, hide);
	hide->turn = dfrs_lock_generation();
	return hide->managed;
}

int dfrs_hide_cores(const char *partitions)
{
	hide_t hide = { .partitions = partitions };
	int hidden = 0;

	collect(&hide);
	if (!hide.count)
		return 0;
	dfrs_lock_write();
	for (uint32_t i = 0; i < hide.count; i++) {
		job_record_t *job = dfrs_find_job(hide.job_ids[i]);

		if (job && dfrs_select_ready() && is_to_hide(job, partitions)) {
			dfrs_select_hide(job, managed_nodes(&hide));
			hidden++;
		}
		dfrs_next_piece_write();
	}
	dfrs_unlock_write();
	FREE_NULL_BITMAP(hide.managed);
	free(hide.job_ids);
	return hidden;
}
