/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * park.c - suspends a job, gives its memory back to Slurm's accounting, and takes both back.
 *
 * The memory of a job that is parked counts as 0 in its job_resources_t, which Slurm saves and
 * loads: a slurmctld that restarts finds the job parked. Slurm has no place for the former amounts;
 * the caller keeps them.
 */
#include "bits.h"
#include "internal.h"

#include <errno.h>

/* Slurm counts a resumed job's time limit from now on, whatever its deadline is (_job_suspend_op() of 22.05 and
 * 24.11). */
static void end_by_deadline(job_record_t *job)
{
	if (dfrs_has_deadline(job) && (job->end_time > job->deadline))
		job->end_time = job->end_time_exp = job->deadline;
}

static int change_suspension(job_record_t *job, uint16_t operation)
{
	if (dfrs_is_changing(job))
		return ESLURM_TRANSITION_STATE_NO_UPDATE;
	return dfrs_suspend_operation(job->job_id, operation);
}

static int suspend_job(job_record_t *job, void *context)
{
	return change_suspension(job, SUSPEND_JOB);
}

static int resume_job(job_record_t *job, void *context)
{
	int rc;

	if (IS_JOB_SUSPENDED(job))
		dfrs_preemption_forget(job);
	rc = change_suspension(job, RESUME_JOB);
	if (rc)
		return rc;
	end_by_deadline(job);
	/* Slurm has given it its priority again: it is on hold no longer, and a later suspension is an operator's. */
	if (job->priority && dfrs_reason_is_hold(job))
		job->state_reason = WAIT_NO_REASON;
	return SLURM_SUCCESS;
}

int dfrs_job_suspend(uint32_t job_id)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_SAVED, suspend_job, NULL);
}

int dfrs_job_resume(uint32_t job_id)
{
	return dfrs_change_job(job_id, DFRS_CHANGES_SAVED, resume_job, NULL);
}

/* What job_suspend() has slurmctld send when a job is resumed. Sent once, even if a node does not
 * answer: a message that is kept for later might arrive after another suspension. */
static void send_resumption(const job_record_t *job)
{
	agent_arg_t *request = xmalloc(sizeof(*request));

	request->msg_type = REQUEST_SUSPEND_INT;
	request->msg_args = dfrs_resumption_of(job);
	request->hostlist = hostlist_create(job->nodes);
	request->node_count = (uint32_t) hostlist_count(request->hostlist);
	request->protocol_version = SLURM_PROTOCOL_VERSION;
	DFRS_FOR_EACH_BIT(index, job->node_bitmap) {
		const node_record_t *node = node_record_table_ptr[index];

		if (node)
			dfrs_suit_node(request, node);
	}
	set_agent_arg_r_uid(request, SLURM_AUTH_UID_ANY);
	agent_queue_request(request);
}

static int repeat_resumption(const job_record_t *job)
{
	if (!job)
		return ESLURM_INVALID_JOB_ID;
	if (!IS_JOB_RUNNING(job) || IS_JOB_COMPLETING(job) || !job->nodes || !job->node_bitmap)
		return ESLURM_JOB_NOT_RUNNING;
	send_resumption(job);
	return SLURM_SUCCESS;
}

int dfrs_job_repeat_resumption(uint32_t job_id)
{
	int rc;

	dfrs_lock_read();
	rc = repeat_resumption(dfrs_find_job(job_id));
	dfrs_unlock_read();
	return rc;
}

/* One host of a job: node `node` of the cluster, number `host` in its job_resources_t. */
typedef struct {
	int node;
	uint32_t host;
} host_t;

/* The hosts of a job in ascending order, without those that resizing took away; as in the
 * snapshot. *count: out. NULL if there is no room for them. */
static host_t *hosts_of(const job_resources_t *resources, uint32_t *count)
{
	host_t *hosts = calloc(MAX(resources->nhosts, 1), sizeof(*hosts));
	uint32_t host = 0;

	*count = 0;
	for (int i = 0; hosts && next_node(&i) && (host < resources->nhosts); i++) {
		if (!bit_test(resources->node_bitmap, i))
			continue;
		if (resources->cpus[host])
			hosts[(*count)++] = (host_t) { .node = i, .host = host };
		host++;
	}
	return hosts;
}

static int check_parkable(const job_record_t *job, bool may_run)
{
	if (!IS_JOB_SUSPENDED(job) && !(may_run && IS_JOB_RUNNING(job)))
		return ESLURM_JOB_NOT_SUSPENDED;
	if (!job->job_resrcs || !job->job_resrcs->node_bitmap || !job->job_resrcs->cpus ||
	    !job->job_resrcs->memory_allocated || !dfrs_select_ready())
		return ESLURM_NOT_SUPPORTED;
	return SLURM_SUCCESS;
}

/* Room for the memory of a job's hosts, and how much room that is; then how many hosts there are. */
typedef struct {
	uint64_t *memory;
	uint32_t *count;
} released_t;

static int release(job_record_t *job, const released_t *out)
{
	uint32_t used;
	host_t *hosts = hosts_of(job->job_resrcs, &used);
	int rc = SLURM_SUCCESS;

	if (!hosts) {
		rc = ENOMEM;
	} else if (used > *out->count) {
		rc = ERANGE;
	} else {
		for (uint32_t i = 0; i < used; i++) {
			uint64_t *allocated = &job->job_resrcs->memory_allocated[hosts[i].host];

			dfrs_select_take_memory(hosts[i].node, *allocated);
			out->memory[i] = *allocated;
			*allocated = 0;
		}
	}
	*out->count = used;
	free(hosts);
	return rc;
}

static int release_memory(job_record_t *job, void *context)
{
	int rc = check_parkable(job, false);

	if (!rc)
		rc = release(job, context);
	if (rc)
		return rc;
	if (job->preempt_time)
		queue_job_scheduler(); /* its memory is free for the job that preempts it */
	dfrs_preemption_keep_off(job);
	return SLURM_SUCCESS;
}

int dfrs_job_release_memory(uint32_t job_id, uint64_t *memory, uint32_t *count)
{
	released_t released = { .memory = memory, .count = count };

	if (!memory || !count)
		return EINVAL;
	return dfrs_change_job(job_id, DFRS_CHANGES_MEMORY, release_memory, &released);
}

/* Memory of a host after it was given back: no more than the node has, whose RealMemory may have
 * been lowered since. */
static uint64_t claimed(host_t host, uint64_t memory)
{
	return MIN(memory, dfrs_node_memory(node_record_table_ptr[host.node]));
}

static bool fits(const job_resources_t *resources, const host_t *hosts, const uint64_t *memory,
		 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t held = resources->memory_allocated[hosts[i].host];
		uint64_t wanted = claimed(hosts[i], memory[i]);
		uint64_t more = wanted - MIN(wanted, held);

		if (more && (dfrs_select_memory(hosts[i].node) + more >
			     dfrs_node_memory(node_record_table_ptr[hosts[i].node])))
			return false;
	}
	return true;
}

/* What a job's hosts are to get. */
typedef struct {
	const uint64_t *memory;
	uint32_t count;
} claim_t;

static int claim(job_record_t *job, const claim_t *wanted)
{
	job_resources_t *resources = job->job_resrcs;
	const uint64_t *memory = wanted->memory;
	uint32_t used;
	host_t *hosts = hosts_of(resources, &used);
	int rc = SLURM_SUCCESS;

	if (!hosts) {
		rc = ENOMEM;
	} else if (used != wanted->count) {
		rc = ESLURM_INVALID_NODE_COUNT;
	} else if (!fits(resources, hosts, memory, used)) {
		rc = ESLURM_NODES_BUSY;
	} else {
		for (uint32_t i = 0; i < used; i++) {
			uint64_t *allocated = &resources->memory_allocated[hosts[i].host];

			dfrs_select_take_memory(hosts[i].node, *allocated);
			dfrs_select_add_memory(hosts[i].node, claimed(hosts[i], memory[i]));
			*allocated = claimed(hosts[i], memory[i]);
		}
	}
	free(hosts);
	return rc;
}

static int claim_memory(job_record_t *job, void *context)
{
	int rc = check_parkable(job, true);

	return rc ? rc : claim(job, context);
}

int dfrs_job_claim_memory(uint32_t job_id, const uint64_t *memory, uint32_t count)
{
	claim_t wanted = { .memory = memory, .count = count };

	if (!memory)
		return EINVAL;
	return dfrs_change_job(job_id, DFRS_CHANGES_MEMORY, claim_memory, &wanted);
}
