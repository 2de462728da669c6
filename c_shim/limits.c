/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits.c - the limits of associations and QOS: whether a job is within them, and what it counts
 * towards them.
 */
#include "internal.h"

#include "bits.h"

bool dfrs_within_limits(job_record_t *job, const dfrs_amounts_t *amounts)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK };
	uint64_t *request;
	bool within;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) || !job->tres_req_cnt)
		return true;
	request = xcalloc(slurmctld_tres_cnt, sizeof(*request));
	memcpy(request, job->tres_req_cnt, slurmctld_tres_cnt * sizeof(*request));
	request[TRES_ARRAY_CPU] = amounts->cpus;
	if (amounts->memory)
		request[TRES_ARRAY_MEM] = amounts->memory;
	request[TRES_ARRAY_NODE] = amounts->nodes;
	assoc_mgr_lock(&locks);
	request[TRES_ARRAY_BILLING] = assoc_mgr_tres_weighted(
		request, job->part_ptr->billing_weights, slurm_conf.priority_flags, true);
	within = acct_policy_job_runnable_post_select(job, request, true);
	assoc_mgr_unlock(&locks);
	xfree(request);
	return within;
}

bool dfrs_minimum_within_limits(job_record_t *job)
{
	const dfrs_details_t *details = job->details;
	uint64_t memory = dfrs_memory_asked(job);
	dfrs_amounts_t least = { .nodes = MAX(details->min_nodes, 1) };
	dfrs_sizes_t sizes;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return true;
	sizes = dfrs_node_sizes(job->part_ptr);
	least.cpus = (uint64_t) dfrs_tasks(job) *
		     dfrs_cpus_per_task(job, sizes.min_threads);
	if (dfrs_whole_nodes(details->whole_node))
		least.cpus = MAX(least.cpus, least.nodes * sizes.min_cpus);
	least.memory = (memory & MEM_PER_CPU) ?
			       (memory & ~MEM_PER_CPU) *
				       dfrs_memory_cpus(details, sizes.min_threads, least.cpus) :
			       memory * least.nodes;
	return dfrs_within_limits(job, &least);
}

uint16_t *dfrs_limits_lift(job_record_t *job)
{
	uint16_t *limits = job->limit_set.tres;

	job->limit_set.tres = xcalloc(slurmctld_tres_cnt, sizeof(*limits));
	for (int i = 0; i < slurmctld_tres_cnt; i++)
		job->limit_set.tres[i] = ADMIN_SET_LIMIT;
	return limits;
}

void dfrs_limits_restore(job_record_t *job, uint16_t *limits)
{
	xfree(job->limit_set.tres);
	job->limit_set.tres = limits;
}

void dfrs_limits_count_again(job_record_t *job)
{
	dfrs_list_t partitions = job->part_ptr_list;

	/* As when Slurm changes a job's size: with this flag all of the job's time limit is taken off,
	 * not only the time that has passed. */
	dfrs_state_set_flag(job, JOB_RESIZING);
	dfrs_limits_end(job);
	dfrs_state_unset_flag(job, JOB_RESIZING);
	/* priority/multifactor has noted here that the job is over; its real end would not count. */
	job->end_time_exp = job->end_time;
	job->billable_tres = (double) NO_VAL; /* else what was computed first is kept */
	job_set_alloc_tres(job, false);
	/* A start takes the job off the counts of the other partitions that it waited in: once. */
	job->part_ptr_list = NULL;
	dfrs_limits_begin(job);
	job->part_ptr_list = partitions;
}
