/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preemption.c - jobs that Slurm is about to end for jobs of other partitions (PreemptType), as far as they have a
 * GraceTime before that: in it they can leave with their work.
 */
#include "internal.h"

#include <signal.h>

/* At the begin of the grace time Slurm sends its steps SIGTERM, which ends most programs, if a job has no --signal
 * (_job_check_grace_internal() of 22.05 to 26.05; with one only under send_user_signal). This one, which no user asks
 * for without a time, does nothing to a job that runs. */
#define HARMLESS_SIGNAL SIGCONT

static bool has_harmless_signal(const job_record_t *job)
{
	return (job->warn_signal == HARMLESS_SIGNAL) && !job->warn_time;
}

void dfrs_preemption_prepare(job_record_t *job)
{
	if (!job->warn_signal && job->part_ptr->grace_time)
		job->warn_signal = HARMLESS_SIGNAL;
}

uint16_t dfrs_users_signal(const job_record_t *job)
{
	return has_harmless_signal(job) ? 0 : job->warn_signal;
}

int64_t dfrs_grace_end(const job_record_t *job)
{
	bool holds = IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job);

	return (holds && job->preempt_time) ? job->end_time : 0;
}

/* Slurm gives a job that is resumed a new end only if none preempts it (_job_suspend_op() of 22.05 to 26.05). */
void dfrs_preemption_forget(job_record_t *job)
{
	if (!job->preempt_time)
		return;
	job->preempt_time = 0;
	job->bit_flags &= ~DFRS_GRACE_PREEMPT;
	job->warn_flags &= ~WARN_SENT;
}

int dfrs_job_forget_preemption(uint32_t job_id)
{
	job_record_t *job;
	int rc = ESLURM_INVALID_JOB_ID;

	dfrs_lock_write();
	job = dfrs_find_job(job_id);
	if (job && !IS_JOB_SUSPENDED(job)) {
		rc = ESLURM_JOB_NOT_SUSPENDED;
	} else if (job) {
		dfrs_preemption_forget(job);
		rc = SLURM_SUCCESS;
	}
	return dfrs_end_job_change(rc);
}
