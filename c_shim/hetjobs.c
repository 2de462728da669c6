/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hetjobs.c - heterogeneous jobs. Slurm's backfill starts all components of one in the same instant, and ours has that
 * backfill in it; DFRS starts none. So they run wherever no component has to be in a partition of DFRS's.
 */
#include "internal.h"

/* --- slurmctld accepts them ---------------------------------------------------------------------------- */

/* A plugin with an unknown variable is not loaded. */
#pragma weak slurmctld_rpcs

static slurmctld_rpc_t *find_handler(uint16_t type)
{
	slurmctld_rpc_t *handler = dfrs_table_wrong() ? NULL : slurmctld_rpcs;

	while (handler && handler->msg_type && (handler->msg_type != type))
		handler++;
	return (handler && handler->msg_type && handler->func) ? handler : NULL;
}

/* Whether this is the first init() of the process, with the configuration write-locked: jobs are loaded after that
 * (read_slurm_conf() of 22.05 to 26.05). Another one, after a failed reconfiguration (24.11) or when a backup
 * controller takes over once more, would be seen by requests that come in, and decides nothing. */
static bool is_first(void)
{
	return !job_list || list_is_empty(job_list);
}

void dfrs_accept_hetjobs(void)
{
	static char backfill[] = "sched/backfill";
	slurmctld_rpc_t *handler = find_handler(REQUEST_HET_JOB_ALLOCATION);
	char *configured = slurm_conf.schedtype;
	slurm_msg_t request;
	dfrs_sink_t sink;

	/* The handler looks first whether submissions are disabled: only a federation does that, and later. */
	if (!is_first() || !handler || slurmctld_config.submissions_disabled)
		return;
	slurm_msg_t_init(&request);
	request.msg_type = REQUEST_HET_JOB_ALLOCATION;
	request.auth_uid = slurm_conf.slurm_user_id;
	if (!dfrs_sink_open(&sink, &request)) {
		info("dfrs: heterogeneous jobs stay refused: the request that enables them cannot be made (TLSType=%s)",
		     dfrs_tls_type());
		return;
	}
	info("dfrs: heterogeneous jobs are accepted from here on; the next two lines (REQUEST_HET_JOB_ALLOCATION) come "
	     "from this and are harmless");
	slurm_conf.schedtype = backfill;
	handler->func(&request);
	slurm_conf.schedtype = configured;
	dfrs_sink_close(&sink, &request);
}

/* --- and refuses those with components in DFRS's partitions --------------------------------------------- */

/* Whether each of the names in the first list is in the second. */
static bool all_listed(const char *names, const char *partitions)
{
	char *copy = xstrdup(names), *rest = NULL;
	bool any = false, all = true;

	for (char *name = strtok_r(copy, ",", &rest); name && all;
	     name = strtok_r(NULL, ",", &rest)) {
		any = true;
		all = dfrs_listed(partitions, name);
	}
	xfree(copy);
	return any && all;
}

int dfrs_check_hetjob(const job_desc_msg_t *request, const char *partitions, char **message)
{
	if ((request->het_job_offset == NO_VAL) || !request->partition ||
	    !all_listed(request->partition, partitions))
		return SLURM_SUCCESS;
	info("dfrs: heterogeneous job from uid=%u refused: component %u is for partition %s",
	     request->user_id, request->het_job_offset, request->partition);
	if (message) {
		xfree(*message);
		*message = xstrdup_printf(
			"DFRS: heterogeneous jobs do not run in partition %s, which component %u is for: name another one for it",
			request->partition, request->het_job_offset);
	}
	return ESLURM_NOT_SUPPORTED;
}

/* --- and leaves those alone that wait all the same ------------------------------------------------------- */

typedef struct {
	const char *partitions;
	const job_record_t *found;
	const part_record_t *partition; /* of those */
} component_search_t;

/* A pending one that may run in these partitions only. */
static int find_confined(void *record, void *argument)
{
	component_search_t *search = argument;
	const job_record_t *component = record;

	if (!dfrs_is_job(component) || !IS_JOB_PENDING(component))
		return 0;
	search->partition = dfrs_managed_partition(component, search->partitions);
	if (!search->partition)
		return 0;
	search->found = component;
	return -1; /* ends the walk */
}

static component_search_t confined_component(const job_record_t *job, const char *partitions)
{
	const job_record_t *leader = dfrs_find_job(job->het_job_id);
	component_search_t search = { .partitions = partitions };

	if (leader && leader->het_job_list)
		(void) list_for_each_ro(leader->het_job_list, find_confined, &search);
	return search;
}

bool dfrs_hetjob_cannot_start(job_record_t *job, const char *partitions)
{
	component_search_t confined;
	char *text;

	if (!job->het_job_id)
		return false;
	confined = confined_component(job, partitions);
	if (!confined.found) {
		dfrs_show_reason(job, NULL);
		return false;
	}
	/* The confined ones have their own reason, from the pass. */
	if (!dfrs_managed_partition(job, partitions)) {
		text = xstrdup_printf(
			"DFRS: waits for component %u+%u, which does not start in partition %s",
			confined.found->het_job_id, confined.found->het_job_offset,
			confined.partition->name);
		dfrs_show_reason(job, text);
		xfree(text);
	}
	return true;
}
