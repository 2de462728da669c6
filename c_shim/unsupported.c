/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unsupported.c - requests that exact placement does not cover: a function and a line of the table
 * for each. A job with one of them is not started, and squeue shows its text.
 */

#include "internal.h"

typedef struct {
	const char *text;
	bool (*is_asked)(const job_record_t *job, const dfrs_details_t *details);
} form_t;

#define FORM(name) static bool name(const job_record_t *job, const dfrs_details_t *details)

/* --- by the job's record -------------------------------------------------------------------------------- */

static bool are_shared(const job_record_t *job, const gres_state_t *state)
{
	return gres_id_shared(state->config_flags);
}

FORM(shared_devices)
{
	return dfrs_devices_any(job, are_shared);
}

FORM(bound_devices)
{
	return job->bit_flags & GRES_ENFORCE_BIND;
}

/* Where no device is nearer to one socket than to another, Slurm gives each socket any of them. Without
 * --sockets-per-node it refuses such a job itself. */
static bool are_by_socket(const job_record_t *job, const gres_state_t *state)
{
	const gres_job_state_t *asked = state->gres_data;

	return asked->gres_per_socket && (asked->gres_per_job || dfrs_devices_near_cores(state));
}

FORM(devices_by_socket)
{
	return dfrs_devices_any(job, are_by_socket);
}

FORM(cpus_per_device)
{
	return dfrs_device_cpus_open(job);
}

FORM(tasks_per_device)
{
	return dfrs_device_tasks_open(job);
}

FORM(uneven_devices)
{
	return dfrs_devices_open(job);
}

FORM(heterogeneous)
{
	return job->het_job_id;
}

FORM(federation)
{
	return job->fed_details;
}

FORM(burst_buffer)
{
	return job->burst_buffer;
}

FORM(reboot)
{
	return job->reboot;
}

FORM(reserved_ports)
{
	return dfrs_wants_ports(job);
}

FORM(one_of_several_qos)
{
	return dfrs_wants_one_of_several_qos(job);
}

static int is_hierarchical(void *record, void *argument)
{
	return dfrs_is_hierarchical(record);
}

FORM(hierarchical_resources)
{
	return job->license_list && list_find_first_ro(job->license_list, is_hierarchical, NULL);
}

/* What follows it has details. */
FORM(incomplete)
{
	return !details;
}

/* --- by its details ------------------------------------------------------------------------------------- */

static bool is_distributed(const dfrs_details_t *details, uint32_t distribution)
{
	return (details->task_dist & SLURM_DIST_STATE_BASE) == distribution;
}

FORM(expansion)
{
	return details->expanding_jobid;
}

FORM(specialized_cores)
{
	return details->core_spec && (details->core_spec != NO_VAL16);
}

/* How many of its list the node with the fewest and that with the most have; false: nothing is listed. */
static bool count_listed(const dfrs_details_t *details, uint32_t *fewest, uint32_t *most)
{
	dfrs_hostlist_t list = details->req_nodes ? hostlist_create(details->req_nodes) : NULL;
	uint32_t *times = xcalloc(node_record_count, sizeof(*times));
	char *name;

	*fewest = UINT32_MAX;
	*most = 0;
	while (list && (name = hostlist_shift(list))) {
		const node_record_t *node = find_node_record(name);

		if (node)
			times[node->index]++;
		free(name);
	}
	if (list)
		hostlist_destroy(list);
	for (int i = 0; i < node_record_count; i++) {
		if (times[i])
			*fewest = MIN(*fewest, times[i]);
		*most = MAX(*most, times[i]);
	}
	xfree(times);
	return *most;
}

/* Its list says on which nodes its tasks are (SLURM_HOSTFILE). Each has as many: then --nodelist says all of it. The
 * order of the tasks is that of the step. Before 23.11 each node is in slurmctld's list once (_copy_nodelist_no_dup()). */
FORM(uneven_arbitrary)
{
	uint32_t fewest, most;

	if (!is_distributed(details, SLURM_DIST_ARBITRARY))
		return false;
	return !details->req_node_bitmap || !count_listed(details, &fewest, &most) || (fewest != most) ||
	       (details->num_tasks != most * (uint32_t) bit_set_count(details->req_node_bitmap));
}

/* On one node it has no effect. */
FORM(plane)
{
	return is_distributed(details, SLURM_DIST_PLANE) && (details->max_nodes != 1);
}

FORM(segments)
{
	return dfrs_wants_segments(details);
}

FORM(memory_updates)
{
	return dfrs_wants_memory_updates(details);
}

FORM(some_nodes)
{
	return details->req_node_bitmap &&
	       ((uint32_t) bit_set_count(details->req_node_bitmap) < details->min_nodes);
}

FORM(grouped_features)
{
	return !dfrs_plain_features(details->feature_list);
}

/* The first that applies is shown. */
static const form_t forms[] = {
	{ "parts of devices (--gres=shard, --gres=mps)", shared_devices },
	{ "devices near its cores (--gres-flags=enforce-binding)", bound_devices },
	{ "devices for each socket that has some of its own (--gpus-per-socket; --gpus-per-node can be)", devices_by_socket },
	{ "CPUs for each GPU and an open number of tasks there (--cpus-per-gpu, DefCpuPerGPU; -c, or with -N, can be)",
	  cpus_per_device },
	{ "tasks for each GPU and an open number of either on a node (--ntasks-per-gpu; with -N can be)",
	  tasks_per_device },
	{ "several components (a heterogeneous job)", heterogeneous },
	{ "one of several clusters (a federation)", federation },
	{ "a burst buffer (--bb)", burst_buffer },
	{ "a reboot of its nodes (--reboot)", reboot },
	{ "reserved ports (--resv-ports)", reserved_ports },
	{ "one of several QOS (--qos)", one_of_several_qos },
	{ "hierarchical resources (--licenses)", hierarchical_resources },
	{ "something that slurmctld has no details of", incomplete },
	{ "devices for all of its nodes together (--gpus, --gpus-per-task; with -N, evenly, or --gpus-per-node can be)",
	  uneven_devices },
	{ "to expand another job (--dependency=expand)", expansion },
	{ "specialized cores or threads (--core-spec, --thread-spec)", specialized_cores },
	{ "different numbers of tasks on its nodes (-m arbitrary; as many on each can be)", uneven_arbitrary },
	{ "tasks in blocks on several nodes (-m plane)", plane },
	{ "nodes in segments (--segment)", segments },
	{ "memory that shrinks while it runs (--mem-update)", memory_updates },
	{ "some nodes by name and more of any (--nodelist)", some_nodes },
	{ "counted or grouped features (--constraint)", grouped_features },
};

static const uint32_t form_count = sizeof(forms) / sizeof(forms[0]);

uint32_t dfrs_unsupported(const job_record_t *job)
{
	for (uint32_t i = 0; i < form_count; i++)
		if (forms[i].is_asked(job, job->details))
			return i + 1;
	return 0;
}

const char *dfrs_unsupported_text(uint32_t number)
{
	return (number && (number <= form_count)) ? forms[number - 1].text : NULL;
}
