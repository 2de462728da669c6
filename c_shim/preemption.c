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
	/* Slurm keeps it of an earlier run that was requeued, and would requeue this one when it completes
	 * (_slurm_rpc_complete_batch_script() of 24.11). */
	job->bit_flags &= ~DFRS_GRACE_PREEMPT;
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

void dfrs_preemption_forget(job_record_t *job)
{
	if (!job->preempt_time)
		return;
	job->preempt_time = 0;
	job->bit_flags &= ~DFRS_GRACE_PREEMPT;
	job->warn_flags &= ~WARN_SENT;
	/* Of these two Slurm has made the first one earlier. Without preempt_time it gives a job that is resumed a new
	 * end, if it has a time limit (_job_suspend_op() of 22.05 to 26.05). */
	job->end_time = MAX(job->end_time, job->end_time_exp);
}

/* In seconds. */
#define YEAR (365 * 24 * 60 * 60)

/* Slurm may choose a suspended job, too, although that frees nothing. If its end has passed meanwhile, it is requeued
 * at once; else DFRS sees it first. */
void dfrs_preemption_keep_off(job_record_t *job)
{
	dfrs_preemption_forget(job);
	if (job->part_ptr && job->part_ptr->grace_time)
		job->end_time = MAX(job->end_time, time(NULL) + YEAR);
}

static int keep_off(job_record_t *job, void *context)
{
	if (!IS_JOB_SUSPENDED(job))
		return ESLURM_JOB_NOT_SUSPENDED;
	dfrs_preemption_keep_off(job);
	return SLURM_SUCCESS;
}

int dfrs_job_forget_preemption(uint32_t job_id)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_SAVED, keep_off, NULL);
}
