/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requeue.c - warns a job, puts it back into the queue, lets it start again; and its time limit.
 */
#include "internal.h"
#include "look.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The job's own --signal, however far off its end is; or the fallback to its script. */
static int warn(job_record_t *job, uint32_t fallback)
{
	int rc;

	if (!IS_JOB_RUNNING(job) || IS_JOB_CONFIGURING(job))
		return ESLURM_JOB_NOT_RUNNING;
	if ((job->warn_flags & WARN_SENT) && (dfrs_users_signal(job) == job->warn_signal) &&
	    (job->preempt_time || !dfrs_warned(job, time(NULL))))
		return SLURM_SUCCESS; /* by Slurm, just now */
	if (dfrs_users_signal(job)) {
		/* What it wrote after an earlier warning is old: Slurm gave that near an end which has moved since,
		 * or DFRS for a pause that came to nothing. */
		job->warn_flags &= ~WARN_SENT;
		send_job_warn_signal(job, true);
		return SLURM_SUCCESS;
	}
	if (!job->batch_flag)
		return ESLURM_BATCH_ONLY;
	if (!fallback || (fallback > SIGRTMAX))
		return EINVAL;
	rc = job_signal(job, (uint16_t) fallback, KILL_JOB_BATCH, 0, false);
	if (!rc) {
		job->warn_signal = 0;
		job->warn_flags |= WARN_SENT; /* a requeue takes it away */
	}
	return rc;
}

static int warn_and_note(job_record_t *job, void *context)
{
	const uint32_t *fallback = context;
	int rc = warn(job, *fallback);

	if (!rc)
		dfrs_note_warned(job);
	return rc;
}

int dfrs_job_warn(uint32_t job_id, uint32_t fallback_signal)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_JOB, warn_and_note, &fallback_signal);
}

static int requeue(job_record_t *job, void *context)
{
	if (IS_JOB_PENDING(job))
		return ESLURM_JOB_PENDING;
	if (dfrs_is_changing(job))
		return ESLURM_TRANSITION_STATE_NO_UPDATE;
	if (!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job))
		return ESLURM_JOB_NOT_RUNNING;
	return dfrs_requeue_operation(job);
}

int dfrs_job_requeue(uint32_t job_id)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_SAVED, requeue, NULL);
}

/* What shells return for a command that a signal has ended, less the signal. */
#define SHELLS_SIGNALS 128

static bool died_of_warning(const job_record_t *job, uint32_t fallback)
{
	int signal = dfrs_users_signal(job) ? dfrs_users_signal(job) : (int) fallback;
	int status = (int) job->exit_code;

	if (!IS_JOB_FAILED(job) || !signal)
		return false;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == signal;
	return WIFEXITED(status) && (WEXITSTATUS(status) == SHELLS_SIGNALS + signal);
}

/* Not by its time limit, scancel or its nodes. That its memory was exceeded counts, too, as where Slurm preempts. */
bool dfrs_ended_by_itself(const job_record_t *job)
{
	return IS_JOB_COMPLETE(job) || IS_JOB_FAILED(job) || IS_JOB_OOM(job);
}

bool dfrs_continues_when_requeued(const job_record_t *job)
{
	return job->details && job->details->requeue && job->batch_flag && !(job->bit_flags & CRON_JOB);
}

typedef struct {
	int64_t submit_time;
	const dfrs_warning_t *warning;
	bool *succeeded;
} warned_run_t;

static int requeue_warned(job_record_t *job, void *context)
{
	const warned_run_t *run = context;
	const dfrs_warning_t *warning = run->warning;

	if (warning->was_sent && IS_JOB_PENDING(job) && job->restart_cnt) {
		/* Slurm was faster, see dfrs_job_ends(). */
		*run->succeeded = !job->exit_code;
		return SLURM_SUCCESS;
	}
	if (job->details->submit_time != run->submit_time)
		return ESLURM_INVALID_JOB_ID;
	if (!(warning->was_sent && dfrs_ended_by_itself(job)) && !died_of_warning(job, warning->fallback))
		return ESLURM_JOB_FINISHED;
	*run->succeeded = IS_JOB_COMPLETE(job);
	/* What Slurm would do when it has completed is done now. */
	dfrs_state_unset_flag(job, JOB_REQUEUE);
	return dfrs_requeue_operation(job);
}

int dfrs_job_requeue_warned(uint32_t job_id, int64_t submit_time, const dfrs_warning_t *warning,
			    bool *succeeded)
{
	warned_run_t run = { .submit_time = submit_time, .warning = warning, .succeeded = succeeded };

	return dfrs_change_job(job_id, DFRS_CHANGES_SAVED, requeue_warned, &run);
}

/* The number behind a key in a list of options; `missing` if it is not there. */
static int option(const char *options, const char *key, int missing)
{
	const char *found = options ? strstr(options, key) : NULL;

	return found ? atoi(found + strlen(key)) : missing;
}

/* Seconds that Slurm has a job wait that it requeues (batch_requeue_fini() of 22.05 to 26.05). */
static int requeue_delay(void)
{
	return MAX(option(slurm_conf.authinfo, "cred_expire=", 120),
		   option(slurm_conf.sched_params, "requeue_delay=", 0)) + 1;
}

bool dfrs_is_begin_of_requeue(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;

	return !(job->bit_flags & CRON_JOB) &&
	       (details->begin_time - details->submit_time <= requeue_delay());
}

static int clear_begin_time(job_record_t *job, void *context)
{
	if (!IS_JOB_PENDING(job))
		return ESLURM_JOB_NOT_PENDING;
	if (IS_JOB_COMPLETING(job) || job->details->prolog_running ||
	    (job->step_list && list_count(job->step_list)) || dfrs_too_early(job, time(NULL)))
		return EAGAIN;
	if (!dfrs_is_begin_of_requeue(job))
		return SLURM_SUCCESS;
	job->details->begin_time = 0;
	if (job->state_reason == WAIT_TIME)
		job->state_reason = WAIT_NO_REASON;
	return SLURM_SUCCESS;
}

int dfrs_job_clear_begin_time(uint32_t job_id)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_JOB, clear_begin_time, NULL);
}

static int abort_orphaned(job_record_t *job, void *name)
{
	node_record_t *node = find_node_record(name);

	if (!node)
		return ESLURM_INVALID_NODE_NAME;
	if (!IS_JOB_PENDING(job))
		return ESLURM_JOB_NOT_PENDING;
	dfrs_abort_job_on_node(job, node);
	return SLURM_SUCCESS;
}

int dfrs_job_abort_orphaned(uint32_t job_id, const char *node)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_NOTHING, abort_orphaned, (char *) node);
}

/* --- the time limit ------------------------------------------------------------------------------- */

static int extend_step(void *record, void *argument)
{
	step_record_t *step = record;
	const uint32_t *minutes = argument;

	if (step->time_limit && (step->time_limit != NO_VAL) && (step->time_limit != INFINITE))
		step->time_limit += *minutes;
	return 0;
}

/* Minutes that are added to a limit, or were, and the limit before that. */
typedef struct {
	uint32_t minutes;
	dfrs_limit_t before;
} extension_t;

static int extend_time(job_record_t *job, void *context)
{
	extension_t *extension = context;
	uint32_t minutes = extension->minutes;

	if (!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job))
		return ESLURM_JOB_NOT_RUNNING;
	extension->before = (dfrs_limit_t) { .minutes = job->time_limit, .set_by = job->limit_set.time };
	if (!dfrs_has_limit(job))
		return SLURM_SUCCESS;
	if (!minutes || (job->time_limit + (uint64_t) minutes >= NO_VAL))
		return EINVAL;
	acct_policy_alter_job(job, job->time_limit + minutes);
	job->time_limit += minutes;
	job->limit_set.time = ADMIN_SET_LIMIT;
	if (!job->preempt_time) {
		job->end_time += (time_t) minutes * 60;
		job->end_time_exp = job->end_time;
	}
	if (job->step_list)
		(void) list_for_each(job->step_list, extend_step, &minutes);
	if (IS_JOB_RUNNING(job))
		srun_timeout(job);
	return SLURM_SUCCESS;
}

int dfrs_job_extend_time(uint32_t job_id, uint32_t seconds, dfrs_limit_t *before)
{
	extension_t extension = { .minutes = seconds / 60 };
	int rc = dfrs_change_job(job_id, DFRS_CHANGES_JOB, extend_time, &extension);

	*before = extension.before;
	return rc;
}

/* The job's next run is to have the same limit as its first. Slurm takes what counted towards
 * limits of associations and QOS off as soon as a job completes (deallocate_nodes() of 22.05 and
 * 24.11): by the longer one. */
static bool will_run_again(const job_record_t *job)
{
	return IS_JOB_PENDING(job) || (IS_JOB_FINISHED(job) && (job->bit_flags & CRON_JOB));
}

static int take_back_time(job_record_t *job, void *context)
{
	const extension_t *extension = context;
	const dfrs_limit_t *before = &extension->before;
	uint32_t least;

	if (!will_run_again(job))
		return ESLURM_JOB_NOT_PENDING;
	if (!dfrs_has_limit(job))
		return SLURM_SUCCESS;
	least = MIN(job->time_limit, MAX(before->minutes, 1));
	job->time_limit -= MIN(extension->minutes, job->time_limit - least);
	/* The limit is as before, and so is the mark of its setter: limits hold for it again, or Slurm
	 * may replace it by a default. */
	if (job->time_limit == before->minutes)
		job->limit_set.time = (uint16_t) before->set_by;
	return SLURM_SUCCESS;
}

int dfrs_job_take_back_time(uint32_t job_id, uint32_t minutes, const dfrs_limit_t *before)
{
	extension_t extension = { .minutes = minutes, .before = *before };

	return dfrs_change_job(job_id, DFRS_CHANGES_JOB, take_back_time, &extension);
}
