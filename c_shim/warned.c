/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * warned.c - jobs that DFRS has warned. If one ends by itself, the next pass requeues it. It looks as if it were over
 * until then, at most 0.1 s, in which Slurm releases jobs that wait for its success; so one that has saved its work
 * and succeeded is requeued here as soon as that is seen (docs/adr/0039-a-warned-job-that-ends-is-requeued.md).
 */
#include "internal.h"
#include "withhold.h"

#include <stdatomic.h>

/* A warned job is expected to end in this time, in seconds; a longer CheckpointWait is rare. */
#define MAX_WAIT 600

typedef struct {
	uint32_t job_id;
	uint32_t run; /* its restart_cnt */
	time_t at;
} warned_t;

/* Changed under the write locks; whether there are some may be looked at without. */
static warned_t *warned;
static uint32_t size;
static _Atomic uint32_t count;

void dfrs_note_warned(const job_record_t *job)
{
	uint32_t known = 0;

	while ((known < count) && (warned[known].job_id != job->job_id))
		known++;
	if (known == size) {
		size = 2 * size + 16;
		xrecalloc(warned, size, sizeof(*warned));
	}
	warned[known] = (warned_t) { .job_id = job->job_id, .run = job->restart_cnt, .at = time(NULL) };
	if (known == count)
		count++;
}

/* The agent looks at one that has failed: it restarts. */
static void requeue_if_saved(job_record_t *job)
{
	bool is_marked = job->job_state & JOB_REQUEUE; /* Slurm requeues it */

	if (!IS_JOB_COMPLETE(job) || is_marked || (dfrs_job_withheld(job) != DFRS_WITHHOLDS_JOB) ||
	    !dfrs_continues_when_requeued(job) || (dfrs_requeue_operation(job) != SLURM_SUCCESS))
		return;
	info("dfrs: %pJ: ended with exit code 0 after the checkpoint signal: requeued, to continue from its checkpoint",
	     job);
	last_job_update = time(NULL);
	schedule_job_save(); /* has a lock of its own */
}

/* In the run in which it was warned. */
static bool still_runs(const warned_t *entry, const job_record_t *job)
{
	return job && (job->restart_cnt == entry->run) && (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job));
}

void dfrs_requeue_saved(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const warned_t entry = warned[i];
		job_record_t *job = dfrs_find_job(entry.job_id);

		if (still_runs(&entry, job))
			warned[kept++] = entry;
		else if (job && (job->restart_cnt == entry.run))
			requeue_if_saved(job);
	}
	count = kept;
}

bool dfrs_jobs_requeue_saved(void)
{
	bool some_ended = false, some_end_soon = false;
	time_t now = time(NULL);

	if (!count)
		return false;
	dfrs_lock_read();
	for (uint32_t i = 0; i < count; i++) {
		bool runs = still_runs(&warned[i], dfrs_find_job(warned[i].job_id));

		some_ended |= !runs;
		some_end_soon |= runs && (now - warned[i].at < MAX_WAIT);
	}
	dfrs_unlock_read();
	if (some_ended) {
		dfrs_lock_write();
		dfrs_requeue_saved();
		dfrs_unlock_write();
	}
	return some_end_soon;
}
