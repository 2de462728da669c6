/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate.c - everything but resources that decides whether a pending job may start; array tasks; the
 * reason that users see.
 */
#include "internal.h"

#include <errno.h>

/* As backfill does at the top of its loop over the queue (_attempt_backfill() of 22.05 and 24.11):
 * an association's administrator may have taken the QOS away since the job was submitted. */
static bool qos_valid(const job_record_t *job)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK };
	slurmdb_assoc_rec_t *assoc;
	bool valid = true;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_QOS))
		return true;
	assoc_mgr_lock(&locks);
	assoc = job->assoc_ptr;
	if (job->qos_ptr && assoc && !job->limit_set.qos)
		valid = (job->qos_ptr->id < g_qos_count) && assoc->usage &&
			assoc->usage->valid_qos &&
			bit_test(assoc->usage->valid_qos, job->qos_ptr->id);
	assoc_mgr_unlock(&locks);
	return valid;
}

/* What select_nodes() asks, too, but too late: when room has been made. */
static bool partition_allows(job_record_t *job)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK };
	bool allows;

	assoc_mgr_lock(&locks);
	allows = (dfrs_partition_allows_qos(job) == SLURM_SUCCESS) &&
		 (part_policy_valid_acct(job->part_ptr,
					 job->assoc_ptr ? job->assoc_ptr->acct : NULL, job) ==
		  SLURM_SUCCESS);
	assoc_mgr_unlock(&locks);
	if (!allows || validate_group(job->part_ptr, job->user_id))
		return allows;
	xfree(job->state_desc);
	job->state_reason = WAIT_ACCOUNT;
	return false;
}

int dfrs_gate(job_record_t *job, time_t now)
{
	part_record_t *partition;

	if (!job || !job->details || IS_JOB_REVOKED(job))
		return ESLURM_INVALID_JOB_ID;
	if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return ESLURM_JOB_NOT_PENDING;
	if (!job->priority)
		return ESLURM_JOB_HELD;
	partition = dfrs_remembered_partition(job);
	if (!partition)
		return ESLURM_INVALID_PARTITION_NAME;
	job->part_ptr = partition;
	job->last_sched_eval = now;
	if (dfrs_special(job))
		return ESLURM_NOT_SUPPORTED;
	/* First, as in Slurm's queue: jobs whose association or QOS is gone come no further. */
	if (!job_independent(job))
		return ESLURM_DEPENDENCY;
	if (!qos_valid(job)) {
		(void) job_fail_qos(job, __func__, false); /* sets its reason */
		last_job_update = now;
		return ESLURM_INVALID_QOS;
	}
	if (!partition_allows(job))
		return ESLURM_INVALID_QOS;
	if (!acct_policy_job_runnable_pre_select(job, false) || !dfrs_least_within_limits(job))
		return ESLURM_ACCOUNTING_POLICY;
	if (!job_array_start_test(job))
		return ESLURM_ACCOUNTING_POLICY;
	if (job_limits_check(&job, true) != WAIT_NO_REASON)
		return ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE;
	if (!(partition->state_up & PARTITION_SCHED) || !partition->node_bitmap)
		return ESLURM_PARTITION_DOWN;
	if (license_job_test(job, now, true))
		return ESLURM_INVALID_LICENSES;
	if (job->deadline && (job->deadline != NO_VAL) && !deadline_ok(job, "dfrs"))
		return ESLURM_JOB_NOT_PENDING;
	if (dfrs_too_early(job, now))
		return EAGAIN;
	return SLURM_SUCCESS;
}

int dfrs_job_gate(uint32_t job_id)
{
	int rc;

	dfrs_lock_write();
	rc = dfrs_gate(dfrs_find_job(job_id), time(NULL));
	dfrs_unlock_write();
	return rc;
}

/* --- arrays ------------------------------------------------------------------------------------ */

/* Returns the record of what is left of the array; NULL: nothing left to split. */
static job_record_t *split_one(job_record_t *job)
{
	job_record_t *rest;
	int task;

	if (!job || !IS_JOB_PENDING(job) || !job->details || dfrs_single_record(job))
		return NULL;
	task = bit_ffs(job->array_recs->task_id_bitmap);
	if ((task < 0) || !job->array_recs->task_cnt)
		return NULL;
	job_array_pre_sched(job); /* sets array_job_id and array_task_id */
	if (job->array_recs->task_cnt == 1) {
		(void) dfrs_split_last_record(job);
		return NULL;
	}
	rest = dfrs_split_record(job);
	if (rest) {
		dfrs_state_set(rest, JOB_PENDING);
		rest->start_time = 0;
	}
	return rest;
}

int dfrs_array_split(uint32_t job_id, uint32_t most)
{
	job_record_t *job;
	int rc = SLURM_SUCCESS;

	dfrs_lock_write();
	job = dfrs_find_job(job_id);
	if (!job || !job->array_recs)
		rc = ESLURM_INVALID_JOB_ID;
	else if (!IS_JOB_PENDING(job))
		rc = ESLURM_JOB_NOT_PENDING;
	for (uint32_t done = 0; !rc && job && (done < MIN(most, DFRS_SPLIT_LIMIT)); done++)
		job = split_one(job);
	if (!rc)
		last_job_update = time(NULL);
	dfrs_unlock_write();
	return rc;
}

/* --- the reason -------------------------------------------------------------------------------- */

static bool says(const job_record_t *job, const char *text)
{
	if (!text)
		return !job->state_desc;
	return job->state_desc && !strcmp(job->state_desc, text);
}

int dfrs_job_set_reason(uint32_t job_id, const char *text)
{
	job_record_t *job;
	bool done;

	dfrs_lock_read();
	job = dfrs_find_job(job_id);
	done = job && says(job, text);
	dfrs_unlock_read();
	if (done)
		return SLURM_SUCCESS;

	dfrs_lock_write();
	job = dfrs_find_job(job_id);
	if (job && !IS_JOB_FINISHED(job) && !says(job, text)) {
		xfree(job->state_desc);
		if (text)
			job->state_desc = xstrdup(text);
		if (IS_JOB_PENDING(job) && job->priority)
			job->state_reason = text ? WAIT_RESOURCES : WAIT_NO_REASON;
		last_job_update = time(NULL);
	}
	dfrs_unlock_write();
	return job ? SLURM_SUCCESS : ESLURM_INVALID_JOB_ID;
}
