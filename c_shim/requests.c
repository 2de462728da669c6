/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.c - what a job requests.
 */
#include "internal.h"

uint32_t dfrs_cpus_given(const dfrs_details_t *details)
{
	uint16_t cpus = details->cpus_per_task;

	return ((cpus == 0) || (cpus == NO_VAL16) || (cpus == INFINITE16)) ? 1 : cpus;
}

static uint32_t cpus_asked(const job_record_t *job)
{
	return MAX(dfrs_cpus_given(job->details), dfrs_device_cpus(job));
}

/* --- threads ------------------------------------------------------------------------------------------ */

uint32_t dfrs_threads(const node_record_t *node)
{
	return (slurm_conf.select_type_param & DFRS_SELECTS_CORES) ? MAX(node->tpc, 1) : 1;
}

/* Of a number of a core, or of a socket, that users may leave open. */
static uint32_t asked_of_core(uint16_t number, uint32_t open)
{
	return (!number || (number == NO_VAL16) || (number == INFINITE16)) ? open : number;
}

/* How many threads of a core the job may use (job_mgr_determine_cpus_per_core() of 24.11, vpus_per_core() of
 * 22.05). */
static uint32_t usable_threads(const job_record_t *job, uint32_t threads)
{
	const multi_core_data_t *parts = job->details->mc_ptr;
	uint32_t usable = threads;

	if (!parts)
		return usable;
	usable = MIN(usable, asked_of_core(parts->ntasks_per_core, threads) * cpus_asked(job));
	return MIN(usable, asked_of_core(parts->threads_per_core, threads));
}

bool dfrs_constrains_cores(const dfrs_details_t *details)
{
	const multi_core_data_t *parts = details->mc_ptr;

	return parts && (asked_of_core(parts->ntasks_per_core, 0) ||
			 asked_of_core(parts->threads_per_core, 0));
}

uint32_t dfrs_cpus_per_task(const job_record_t *job, uint32_t threads)
{
	uint32_t cpus = cpus_asked(job), usable = usable_threads(job, threads);

	if ((threads <= 1) || !dfrs_constrains_cores(job->details))
		return cpus;
	if (job->details->mc_ptr->ntasks_per_core == 1)
		return (cpus + usable - 1) / usable * threads;
	return (cpus * threads + usable - 1) / usable;
}

uint32_t dfrs_cpus_of_tasks(const job_record_t *job, uint32_t threads, uint32_t tasks)
{
	uint32_t cpus = tasks * dfrs_cpus_per_task(job, threads);

	return dfrs_constrains_cores(job->details) ? (cpus + threads - 1) / threads * threads : cpus;
}

uint32_t dfrs_memory_cpus(const dfrs_details_t *details, uint32_t threads, uint32_t cpus)
{
	const multi_core_data_t *parts = details->mc_ptr;
	uint32_t paid = parts ? asked_of_core(parts->threads_per_core, threads) : threads;

	return (paid < threads) ? MAX((uint32_t) ((uint64_t) cpus * paid / threads), 1) : cpus;
}

/* --- tasks -------------------------------------------------------------------------------------------- */

uint32_t dfrs_tasks_per_node(const dfrs_details_t *details)
{
	uint16_t tasks = details->ntasks_per_node;

	return ((tasks == NO_VAL16) || (tasks == INFINITE16)) ? 0 : tasks;
}

uint32_t dfrs_tasks_per_socket(const dfrs_details_t *details)
{
	const multi_core_data_t *parts = details->mc_ptr;

	return parts ? asked_of_core(parts->ntasks_per_socket, 0) : 0;
}

bool dfrs_overcommits(const dfrs_details_t *details)
{
	return details->overcommit && (details->overcommit != NO_VAL8);
}

bool dfrs_sized_by_nodes(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;

	return details && !(job->bit_flags & JOB_NTASKS_SET) && (details->max_nodes < NO_VAL) &&
	       (details->max_nodes > details->min_nodes);
}

/* A number of tasks: a pending job may request more than 32 bits hold, and is to be refused for it,
 * not started with what is left over. */
static uint32_t many(uint64_t tasks)
{
	return (uint32_t) MIN(tasks, NO_VAL - 1);
}

bool dfrs_holds_nodes(const job_record_t *job)
{
	return IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job) || IS_JOB_COMPLETING(job);
}

uint32_t dfrs_time_limit(const job_record_t *job, const part_record_t *partition)
{
	if (job->time_limit != NO_VAL)
		return job->time_limit;
	return (partition->default_time != NO_VAL) ? partition->default_time : partition->max_time;
}

uint32_t dfrs_tasks(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;
	uint32_t nodes = MAX(details->min_nodes, 1);
	uint32_t cpus_per_task = dfrs_cpus_given(details);
	uint64_t on_each = MAX(dfrs_tasks_per_node(details), 1);
	uint64_t tasks = details->num_tasks;

	/* On as many nodes as it was started on whole; what an earlier run had does not count. */
	if (dfrs_sized_by_nodes(job) && dfrs_holds_nodes(job) && dfrs_whole_nodes(details->whole_node) &&
	    job->job_resrcs && job->job_resrcs->nhosts)
		nodes = job->job_resrcs->nhosts;
	/* With --overcommit Slurm sees to it that one task, or --ntasks-per-node, have their CPUs on each node
	 * (can_job_run_on_node() of 22.05 and 24.11), and all tasks there share these. */
	if (dfrs_sized_by_nodes(job) || dfrs_overcommits(details))
		return many(nodes * on_each);
	if ((tasks == 0) || (tasks == NO_VAL)) {
		/* No -n: as many as the requested nodes and CPUs make room for. */
		tasks = nodes * on_each;
		/* Of 24.11 these count what devices bring, too (gres_job_state_validate()). */
		if ((details->min_cpus != NO_VAL) && !dfrs_asks_for_device_cpus(job))
			tasks = MAX(tasks, ((uint64_t) details->min_cpus + cpus_per_task - 1) / cpus_per_task);
	}
	return many(MAX(tasks, nodes));
}

uint32_t dfrs_fixed_nodes(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;
	uint32_t nodes = MAX(details->min_nodes, 1), tasks = dfrs_tasks(job);
	uint32_t on_each = dfrs_tasks_per_node(details);

	if (dfrs_sized_by_nodes(job))
		return 0;
	if ((tasks == 1) || (details->max_nodes == 1))
		return 1;
	if (details->req_node_bitmap)
		return (uint32_t) bit_set_count(details->req_node_bitmap);
	if ((details->max_nodes == nodes) || (tasks == nodes) || (job->bit_flags & USE_MIN_NODES))
		return nodes;
	/* As few as have room for them. */
	return (on_each && !(tasks % on_each) && (tasks / on_each >= nodes)) ? tasks / on_each : 0;
}

uint32_t dfrs_tasks_on_each(const job_record_t *job, uint32_t nodes)
{
	uint32_t tasks = dfrs_tasks(job);

	if (dfrs_sized_by_nodes(job) || dfrs_overcommits(job->details))
		return MAX(dfrs_tasks_per_node(job->details), 1);
	return (nodes && !(tasks % nodes)) ? tasks / nodes : 0;
}

bool dfrs_single_record(const job_record_t *job)
{
	return !job->array_recs || !job->array_recs->task_id_bitmap ||
	       (job->array_task_id != NO_VAL);
}

static int is_grouped(void *record, void *argument)
{
	return dfrs_feature_grouped(record);
}

bool dfrs_plain_features(dfrs_list_t features)
{
	return !features || !list_find_first_ro(features, is_grouped, NULL);
}

uint64_t dfrs_node_memory(const node_record_t *node)
{
	return node->real_memory - MIN(node->real_memory, node->mem_spec_limit);
}

uint64_t dfrs_memory_request(const job_record_t *job, const node_record_t *node, uint32_t cpus)
{
	uint64_t memory = dfrs_memory_asked(job);

	if (memory & MEM_PER_CPU)
		return (memory & ~MEM_PER_CPU) *
		       dfrs_memory_cpus(job->details, dfrs_threads(node), cpus);
	/* Slurm's rule where memory is a resource: none given, no default set = all of it. */
	return memory ? memory : dfrs_node_memory(node);
}

bool dfrs_is_changing(const job_record_t *job)
{
	return IS_JOB_CONFIGURING(job) || dfrs_memory_changes(job);
}

bool dfrs_too_early(const job_record_t *job, time_t now)
{
	/* A requeue that is through sets the submission to its own second, and slurmd refuses
	 * launches of that second: they might be late ones of the run that it has just ended. */
	return job->restart_cnt && job->details && (now <= job->details->submit_time);
}
