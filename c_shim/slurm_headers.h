/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_headers.h - every Slurm header the shim needs, and every difference between Slurm versions.
 *
 * "#if SLURM_VERSION_NUMBER" belongs here and nowhere else: the other files call the dfrs_* names
 * below, which mean the same for all versions. 22.05.8 and 24.11.5 were compiled and run. With the
 * sources of 25.05.9, 25.11.8 and 26.05.4 it compiles too, but none of these was run.
 */
#ifndef DFRS_SLURM_HEADERS_H
#define DFRS_SLURM_HEADERS_H

#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"

#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/agent.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/proc_req.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
#include "src/common/job_features.h"
#include "src/common/node_features.h"
#include "src/interfaces/accounting_storage.h"
#include "src/interfaces/select.h"
#include "src/plugins/select/cons_tres/node_data.h"
#include "src/plugins/select/cons_tres/part_data.h"
#include "src/plugins/select/cons_tres/job_resources.h" /* needs both above */
#include "src/stepmgr/srun_comm.h"
typedef job_details_t dfrs_details_t;
#else
#include "src/common/select.h"
#include "src/common/slurm_accounting_storage.h"
#include "src/plugins/select/cons_common/cons_common.h"
#include "src/plugins/select/cons_common/job_resources.h"
#include "src/plugins/select/cons_common/node_data.h"
#include "src/plugins/select/cons_common/part_data.h"
#include "src/slurmctld/srun_comm.h"
typedef struct job_details dfrs_details_t;
#endif

/* Slurm's lists, under a name that no version has. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
typedef list_t *dfrs_list_t;
typedef hostlist_t *dfrs_hostlist_t;
#else
typedef List dfrs_list_t;
typedef hostlist_t dfrs_hostlist_t;
#endif

/* --- locks ---------------------------------------------------------------------------------- */

/* The levels that Slurm's backfill takes. From 26.05 on the select plugin's records have their own. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define DFRS_SELECT_LOCK(level) , .select_node = (level)
#else
#define DFRS_SELECT_LOCK(level)
#endif

#define DFRS_WRITE_LOCKS \
	{ .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = READ_LOCK, \
	  .fed = READ_LOCK DFRS_SELECT_LOCK(WRITE_LOCK) }
#define DFRS_READ_LOCKS \
	{ .conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK \
	  DFRS_SELECT_LOCK(READ_LOCK) }

/* --- a job's state -------------------------------------------------------------------------- */

static inline void dfrs_state_set(job_record_t *job, uint32_t state)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	job_state_set(job, state);
#else
	job->job_state = state;
#endif
}

static inline void dfrs_state_set_flag(job_record_t *job, uint32_t flag)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	job_state_set_flag(job, flag);
#else
	job->job_state |= flag;
#endif
}

static inline void dfrs_state_unset_flag(job_record_t *job, uint32_t flag)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	job_state_unset_flag(job, flag);
#else
	job->job_state &= ~flag;
#endif
}

/* --- slurmctld's calls ---------------------------------------------------------------------- */

static inline int dfrs_select_nodes(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	job_node_select_t selection = { .job_ptr = job };

	return select_nodes(&selection, false, false, SLURMDB_JOB_FLAG_BACKFILL);
#else
	return select_nodes(job, false, NULL, NULL, false, SLURMDB_JOB_FLAG_BACKFILL);
#endif
}

/* op: SUSPEND_JOB or RESUME_JOB; "soft", as gang scheduling does it: cores and priority stay. */
static inline int dfrs_suspend_operation(uint32_t job_id, uint16_t op)
{
	suspend_msg_t message = { .op = op };

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	message.step_id.job_id = job_id;
	message.step_id.step_id = NO_VAL;
	message.step_id.step_het_comp = NO_VAL;
#else
	message.job_id = job_id;
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	return job_suspend(NULL, &message, slurm_conf.slurm_user_id, false, NO_VAL16);
#else
	return job_suspend(&message, slurm_conf.slurm_user_id, -1, false, NO_VAL16);
#endif
}

static inline int dfrs_requeue_operation(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	return job_requeue_internal(slurm_conf.slurm_user_id, job, false, 0);
#else
	return job_requeue(slurm_conf.slurm_user_id, job->job_id, NULL, false, 0);
#endif
}

/* Gives the array task in job->array_task_id its own record (job); the rest of the array moves to
 * the record that is returned. */
static inline job_record_t *dfrs_split_record(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	return job_array_split(job, true);
#else
	return job_array_split(job);
#endif
}

/* As above for an array whose last task it is. */
static inline job_record_t *dfrs_split_last_record(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	return job_array_post_sched(job, true);
#else
	return job_array_post_sched(job);
#endif
}

static inline void dfrs_limits_begin(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	acct_policy_job_begin(job, false);
#else
	acct_policy_job_begin(job);
#endif
}

static inline void dfrs_limits_end(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	acct_policy_job_fini(job, false);
#else
	acct_policy_job_fini(job);
#endif
}

static inline int dfrs_partition_allows_qos(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	return part_policy_valid_qos(job->part_ptr, job->qos_ptr, job->user_id, job);
#else
	return part_policy_valid_qos(job->part_ptr, job->qos_ptr, job);
#endif
}

/* After an interactive job's nodes were chosen. */
static inline void dfrs_tell_client(job_record_t *job)
{
	srun_allocate(job);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	if (job->het_job_id)
		launch_het_job_leader(job);
#endif
}

/* Whether the whole of each node was asked for (--exclusive; not =user, =mcs). */
static inline bool dfrs_whole_nodes(uint8_t whole_node)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	return whole_node & WHOLE_NODE_REQUIRED;
#else
	return whole_node == WHOLE_NODE_REQUIRED;
#endif
}

/* Whether the expression groups this feature with others ("(a|b)&c", "[a*2|b*2]"). */
static inline bool dfrs_feature_grouped(const job_feature_t *feature)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	if (feature->bracket)
		return true;
#endif
	return feature->paren || feature->count ||
	       ((feature->op_code != FEATURE_OP_AND) && (feature->op_code != FEATURE_OP_OR) &&
		(feature->op_code != FEATURE_OP_END));
}

/* SelectTypeParameters. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define DFRS_SELECTS_MEMORY SELECT_MEMORY
#define DFRS_SELECTS_CORES_OR_CPUS (SELECT_CORE | SELECT_CPU)
#else
#define DFRS_SELECTS_MEMORY CR_MEMORY
#define DFRS_SELECTS_CORES_OR_CPUS (CR_CORE | CR_CPU)
#endif

/* --- the inside of select/cons_tres ---------------------------------------------------------- */

typedef int (*dfrs_add_job_t)(job_record_t *, job_res_job_action_t);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
typedef int (*dfrs_rm_job_t)(part_res_record_t *, node_use_record_t *, list_t *, job_record_t *,
			     job_res_job_action_t, bitstr_t *);
#define DFRS_RM_JOB(function, parts, nodes, job, action) \
	(function)((parts), (nodes), NULL, (job), (action), NULL)
#else
typedef int (*dfrs_rm_job_t)(part_res_record_t *, node_use_record_t *, job_record_t *,
			     job_res_job_action_t, bool, bitstr_t *);
#define DFRS_RM_JOB(function, parts, nodes, job, action) \
	(function)((parts), (nodes), (job), (action), false, NULL)
#endif

#endif
