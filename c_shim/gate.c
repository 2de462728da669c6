/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate.c - everything but resources that decides whether a pending job may start.
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

/* What decides whether a job goes with its partition. */
typedef struct {
	const part_record_t *partition;
	const slurmdb_qos_rec_t *qos;
	const slurmdb_assoc_rec_t *association;
	uint32_t user;
} membership_t;

static bool is_member(job_record_t *job)
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

/* A check of select_nodes(), too, but there it comes too late: when room has been made. Of the jobs
 * of one user, which come one after the other, only the first is checked while the lock is held. */
static bool partition_allows(job_record_t *job)
{
	static membership_t allowed;
	static uint64_t turn;
	membership_t asked = { .partition = job->part_ptr, .qos = job->qos_ptr,
			       .association = job->assoc_ptr, .user = job->user_id };

	if ((turn == dfrs_lock_generation()) && (asked.partition == allowed.partition) &&
	    (asked.qos == allowed.qos) && (asked.association == allowed.association) &&
	    (asked.user == allowed.user))
		return true;
	if (!is_member(job))
		return false; /* each has its own reason set */
	allowed = asked;
	turn = dfrs_lock_generation();
	return true;
}

/* slurmctld's own scheduler, which shows this in squeue, does not come to these jobs. */
static bool licences_free(job_record_t *job, time_t now)
{
	if (!license_job_test(job, now, true))
		return true;
	xfree(job->state_desc);
	job->state_reason = WAIT_LICENSES;
	return false;
}

/* Slurm takes a dependency that has come true off for good. Jobs end only while the lock is not held. */
static bool is_independent(job_record_t *job)
{
	static uint64_t turn;

	if (turn != dfrs_lock_generation())
		dfrs_requeue_saved();
	turn = dfrs_lock_generation();
	/* As Slurm's own queue does: else it would be the first of them, which may not be open. */
	if (job->resv_list)
		job->resv_ptr = NULL;
	return job_independent(job);
}

int dfrs_job_eligible(job_record_t *job, time_t now)
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
	if (dfrs_unsupported(job))
		return ESLURM_NOT_SUPPORTED;
	/* First, as in Slurm's queue: jobs whose association or QOS is gone are checked no further. */
	if (!is_independent(job))
		return ESLURM_DEPENDENCY;
	if (!qos_valid(job)) {
		(void) job_fail_qos(job, __func__, false); /* sets its reason */
		last_job_update = now;
		return ESLURM_INVALID_QOS;
	}
	if (!partition_allows(job))
		return ESLURM_INVALID_QOS;
	if (!acct_policy_job_runnable_pre_select(job, false) || !dfrs_minimum_within_limits(job))
		return ESLURM_ACCOUNTING_POLICY;
	if (!job_array_start_test(job))
		return ESLURM_ACCOUNTING_POLICY;
	if (job_limits_check(&job, true) != WAIT_NO_REASON)
		return ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE;
	if (!(partition->state_up & PARTITION_SCHED) || !partition->node_bitmap)
		return ESLURM_PARTITION_DOWN;
	if (!licences_free(job, now))
		return ESLURM_INVALID_LICENSES;
	if (dfrs_has_deadline(job) && !deadline_ok(job, "dfrs"))
		return ESLURM_JOB_NOT_PENDING;
	if (dfrs_too_early(job, now))
		return EAGAIN;
	return SLURM_SUCCESS;
}

void dfrs_jobs_gate(const uint32_t *job_ids, uint32_t count, int *results)
{
	if (!job_ids || !results || !count)
		return;
	dfrs_lock_write();
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			dfrs_next_piece_write();
		results[i] = dfrs_job_eligible(dfrs_find_job(job_ids[i]), time(NULL));
	}
	dfrs_unlock_write();
}
