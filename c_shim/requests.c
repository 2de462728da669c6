/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.c - what a job asked for.
 */
#include "internal.h"

uint32_t dfrs_cpus_per_task(const dfrs_details_t *details)
{
	uint16_t cpus = details->cpus_per_task;

	return ((cpus == 0) || (cpus == NO_VAL16) || (cpus == INFINITE16)) ? 1 : cpus;
}

static uint32_t tasks_per_node(const dfrs_details_t *details)
{
	uint16_t tasks = details->ntasks_per_node;

	return ((tasks == NO_VAL16) || (tasks == INFINITE16)) ? 0 : tasks;
}

uint32_t dfrs_tasks(const dfrs_details_t *details)
{
	uint32_t nodes = MAX(details->min_nodes, 1);
	uint32_t cpus_per_task = dfrs_cpus_per_task(details);
	uint32_t tasks = details->num_tasks;

	if ((tasks == 0) || (tasks == NO_VAL)) {
		/* No -n: as many as the nodes and CPUs asked for make room for. */
		tasks = nodes * MAX(tasks_per_node(details), 1);
		if (details->min_cpus != NO_VAL)
			tasks = MAX(tasks, (details->min_cpus + cpus_per_task - 1) / cpus_per_task);
	}
	return MAX(tasks, nodes);
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

static bool plain_features(const dfrs_details_t *details)
{
	return !details->feature_list ||
	       !list_find_first_ro(details->feature_list, is_grouped, NULL);
}

bool dfrs_special(const job_record_t *job)
{
	const dfrs_details_t *details = job->details;

	if (job->gres_list_req && list_count(job->gres_list_req))
		return true;
	if (job->het_job_id || job->fed_details || job->burst_buffer || job->reboot ||
	    job->resv_list || job->req_switch)
		return true;
	if (details->contiguous || details->expanding_jobid ||
	    (details->core_spec && (details->core_spec != NO_VAL16)))
		return true;
	if ((details->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY)
		return true;
	if (details->req_node_bitmap &&
	    ((uint32_t) bit_set_count(details->req_node_bitmap) < details->min_nodes))
		return true; /* "these and some others" */
	return !plain_features(details);
}

typedef struct {
	const char *name;
	bitstr_t *nodes;
} feature_search_t;

static int is_named(void *record, void *argument)
{
	node_feature_t *feature = record;
	feature_search_t *search = argument;

	if (!feature->name || strcmp(feature->name, search->name))
		return 0;
	search->nodes = feature->node_bitmap;
	return -1;
}

typedef struct {
	bitstr_t *nodes;
	int operation; /* between the features so far and the next one */
} constraint_t;

static int apply_feature(void *record, void *argument)
{
	job_feature_t *feature = record;
	constraint_t *constraint = argument;
	feature_search_t search = { .name = feature->name };

	if (active_feature_list && feature->name)
		(void) list_for_each_ro(active_feature_list, is_named, &search);
	if (constraint->operation == FEATURE_OP_OR) {
		if (search.nodes)
			bit_or(constraint->nodes, search.nodes);
	} else if (search.nodes) {
		bit_and(constraint->nodes, search.nodes);
	} else {
		bit_clear_all(constraint->nodes);
	}
	constraint->operation = feature->op_code;
	return 0;
}

typedef struct {
	const job_record_t *job;
	bitstr_t *nodes;
	time_t from, until;
} reservations_t;

/* Takes the nodes of others' reservations away that begin before the job would end. */
static int avoid_reservation(void *record, void *argument)
{
	slurmctld_resv_t *reservation = record;
	reservations_t *avoid = argument;

	if ((reservation == avoid->job->resv_ptr) || !reservation->node_bitmap ||
	    (reservation->flags & RESERVE_FLAG_TIME_FLOAT) ||
	    (reservation->end_time <= avoid->from) || (reservation->start_time >= avoid->until))
		return 0;
	bit_and_not(avoid->nodes, reservation->node_bitmap);
	return 0;
}

static time_t latest_end(const job_record_t *job, const part_record_t *partition, time_t now)
{
	uint32_t minutes = job->time_limit;

	if (minutes == NO_VAL)
		minutes = (partition->default_time != NO_VAL) ? partition->default_time :
								partition->max_time;
	if ((minutes == INFINITE) || (minutes == NO_VAL))
		minutes = 365 * 24 * 60;
	return now + (time_t) minutes * 60;
}

bitstr_t *dfrs_eligible_nodes(const job_record_t *job, part_record_t *partition, time_t now)
{
	const dfrs_details_t *details = job->details;
	bool reserved = resv_list && list_count(resv_list);
	bitstr_t *nodes;

	if (!partition->node_bitmap ||
	    (!details->exc_node_bitmap && !details->req_node_bitmap && !details->feature_list &&
	     !reserved))
		return NULL;
	nodes = bit_copy(partition->node_bitmap);
	if (details->exc_node_bitmap)
		bit_and_not(nodes, details->exc_node_bitmap);
	if (details->req_node_bitmap)
		bit_and(nodes, details->req_node_bitmap);
	if (details->feature_list && plain_features(details)) {
		/* Evaluated from left to right, as Slurm does: a|b&c is (a|b)&c. */
		constraint_t constraint = { .nodes = bit_copy(nodes), .operation = FEATURE_OP_AND };

		(void) list_for_each_ro(details->feature_list, apply_feature, &constraint);
		bit_and(nodes, constraint.nodes);
		FREE_NULL_BITMAP(constraint.nodes);
	}
	if (reserved) {
		reservations_t avoid = { .job = job, .nodes = nodes, .from = now,
					 .until = latest_end(job, partition, now) };

		(void) list_for_each_ro(resv_list, avoid_reservation, &avoid);
		if (job->resv_ptr && job->resv_ptr->node_bitmap &&
		    !(job->resv_ptr->flags & RESERVE_FLAG_FLEX))
			bit_and(nodes, job->resv_ptr->node_bitmap);
	}
	return nodes;
}

uint64_t dfrs_node_memory(const node_record_t *node)
{
	return node->real_memory - MIN(node->real_memory, node->mem_spec_limit);
}

uint64_t dfrs_memory_request(const job_record_t *job, const node_record_t *node, uint32_t cpus)
{
	uint64_t memory = job->details->pn_min_memory;

	if (memory & MEM_PER_CPU)
		return (memory & ~MEM_PER_CPU) * cpus;
	/* Slurm's rule where memory is a resource: none given, no default set = all of it. */
	return memory ? memory : dfrs_node_memory(node);
}

bool dfrs_too_early(const job_record_t *job, time_t now)
{
	/* A requeue that is through sets the submission to its own second, and slurmd refuses
	 * launches of that second: they might be late ones of the run that it has just ended. */
	return job->restart_cnt && job->details && (now <= job->details->submit_time);
}
