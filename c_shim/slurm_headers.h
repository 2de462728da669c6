/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_headers.h - every Slurm header the shim needs, and every difference between Slurm versions.
 *
 * "#if SLURM_VERSION_NUMBER" belongs here and nowhere else: the other files call the dfrs_* names
 * below, which mean the same for all versions. Each condition names the first release series that
 * has the newer form. 22.05.8 and 24.11.5 are what the tests run on; see docs/install.md for others.
 */
#ifndef DFRS_SLURM_HEADERS_H
#define DFRS_SLURM_HEADERS_H

#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#include "src/common/job_features.h"
#include "src/interfaces/accounting_storage.h"
#include "src/interfaces/cgroup.h"
#include "src/interfaces/select.h"
typedef job_details_t dfrs_details_t;
#else
#include "src/common/cgroup.h"
#include "src/common/select.h"
#include "src/common/slurm_accounting_storage.h"
typedef struct job_details dfrs_details_t;
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
#include "src/common/node_features.h"
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
#include "src/interfaces/conn.h"
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#include "src/interfaces/mcs.h"
#else
#include "src/common/slurm_mcs.h"
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#include "src/interfaces/topology.h"
#else
#include "src/common/slurm_topology.h"
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
#include "src/stepmgr/srun_comm.h"
#else
#include "src/slurmctld/srun_comm.h"
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
#include "src/plugins/select/cons_tres/node_data.h"
#include "src/plugins/select/cons_tres/part_data.h"
#include "src/plugins/select/cons_tres/job_resources.h" /* needs both above */
#else
#include "src/plugins/select/cons_common/cons_common.h"
#include "src/plugins/select/cons_common/job_resources.h"
#include "src/plugins/select/cons_common/node_data.h"
#include "src/plugins/select/cons_common/part_data.h"
#endif

/* Slurm's lists, under a name that no version has. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
typedef list_t *dfrs_list_t;
#else
typedef List dfrs_list_t;
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
typedef hostlist_t *dfrs_hostlist_t;
#else
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
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	job_state_set(job, state);
#else
	job->job_state = state;
#endif
}

static inline void dfrs_state_set_flag(job_record_t *job, uint32_t flag)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	job_state_set_flag(job, flag);
#else
	job->job_state |= flag;
#endif
}

static inline void dfrs_state_unset_flag(job_record_t *job, uint32_t flag)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
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

/* The message that a job goes on; freed by its sender. */
static inline suspend_int_msg_t *dfrs_resumption_of(const job_record_t *job)
{
	suspend_int_msg_t *message = xmalloc(sizeof(*message));

	message->op = RESUME_JOB;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	message->step_id = STEP_ID_FROM_JOB_RECORD(job);
#else
	message->job_id = job->job_id;
#endif
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
	message->job_core_spec = job->details ? job->details->core_spec : NO_VAL16;
#endif
	return message;
}

/* Has a request to several nodes understood by this one, and find it. */
static inline void dfrs_suit_node(agent_arg_t *request, const node_record_t *node)
{
	if (node->protocol_version)
		request->protocol_version = MIN(request->protocol_version, node->protocol_version);
#ifdef PACK_FANOUT_ADDRS
	if (PACK_FANOUT_ADDRS(node))
		request->msg_flags |= SLURM_PACK_ADDRS;
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

/* As dfrs_split_record(), for an array whose last task it is. */
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
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	acct_policy_job_begin(job, false);
#else
	acct_policy_job_begin(job);
#endif
}

static inline void dfrs_limits_end(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	acct_policy_job_fini(job, false);
#else
	acct_policy_job_fini(job);
#endif
}

static inline int dfrs_partition_allows_qos(job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
	return part_policy_valid_qos(job->part_ptr, job->qos_ptr, job->user_id, job);
#else
	return part_policy_valid_qos(job->part_ptr, job->qos_ptr, job);
#endif
}

/* Ends what this node still runs of the job. Sent once, even if the node does not answer:
 * abort_job_on_nodes() would send it again every minute. */
static inline void dfrs_abort_job_on_node(job_record_t *job, node_record_t *node)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	kill_job_msg_t *message = create_kill_job_msg(job, node->protocol_version);
	agent_arg_t *request = xmalloc(sizeof(*request));

	message->nodes = xstrdup(node->name);
	request->node_count = 1;
	request->hostlist = hostlist_create(node->name);
	request->protocol_version = node->protocol_version;
	request->msg_type = REQUEST_ABORT_JOB;
	request->msg_args = message;
	set_agent_arg_r_uid(request, SLURM_AUTH_UID_ANY);
	agent_queue_request(request);
#else
	abort_job_on_node(job->job_id, job, node->name);
#endif
}

/* After an interactive job's nodes were chosen. */
static inline void dfrs_notify_client(job_record_t *job)
{
	srun_allocate(job);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	if (job->het_job_id)
		launch_het_job_leader(job);
#endif
}

/* Whether the whole of each node was requested (--exclusive; not =user, =mcs). */
static inline bool dfrs_whole_nodes(uint8_t whole_node)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	return whole_node & WHOLE_NODE_REQUIRED;
#else
	return whole_node == WHOLE_NODE_REQUIRED;
#endif
}

/* From now on the whole of each node is requested: as Slurm notes it where a partition's jobs get
 * no other nodes (_resolve_shared_status() of 22.05 and 24.11, OverSubscribe=EXCLUSIVE). */
static inline void dfrs_want_whole_nodes(uint8_t *whole_node)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	*whole_node |= WHOLE_NODE_REQUIRED;
#else
	*whole_node = WHOLE_NODE_REQUIRED;
#endif
}

/* Whether no other user's job may be on its nodes (--exclusive=user, ExclusiveUser=YES). */
static inline bool dfrs_is_exclusive_user(const job_record_t *job)
{
	if (job->part_ptr && (job->part_ptr->flags & PART_FLAG_EXCLUSIVE_USER))
		return true;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	return job->details->whole_node & WHOLE_NODE_USER;
#else
	return job->details->whole_node == WHOLE_NODE_USER;
#endif
}

/* Whether the expression groups this feature with others ("(a|b)&c", "[a*2|b*2]"). */
static inline bool dfrs_feature_grouped(const job_feature_t *feature)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
	if (feature->bracket)
		return true;
#endif
	return feature->paren || feature->count ||
	       ((feature->op_code != FEATURE_OP_AND) && (feature->op_code != FEATURE_OP_OR) &&
		(feature->op_code != FEATURE_OP_END));
}

/* --- what only newer versions have; it is not used with older ones
 * ------------------------------ */

/* --segment */
static inline bool dfrs_wants_segments(const dfrs_details_t *details)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	return details->segment_size;
#else
	return false;
#endif
}

/* --resv-ports of the job, not of a step. Not given is NO_VAL16, and 0 in state files of before. */
static inline bool dfrs_wants_ports(const job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	return job->resv_port_cnt && (job->resv_port_cnt != NO_VAL16);
#else
	return false;
#endif
}

/* --qos with several names, of which each scheduler tries one after the other. */
static inline bool dfrs_wants_one_of_several_qos(const job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	return job->qos_list && (list_count(job->qos_list) > 1);
#else
	return false;
#endif
}

/* --licenses with a hierarchical resource (resources.yaml), which depends on the nodes. */
static inline bool dfrs_is_hierarchical(const licenses_t *license)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
	return license->id.hres_id != NO_VAL16;
#else
	return false;
#endif
}

/* --mem-update: its memory is made smaller while it runs. */
static inline bool dfrs_wants_memory_updates(const dfrs_details_t *details)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	return details->mem_update_delay;
#else
	return false;
#endif
}

/* Whether its nodes are just getting a smaller amount of memory (scontrol update). */
static inline bool dfrs_memory_changes(const job_record_t *job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	return job->node_bitmap_rs;
#else
	return false;
#endif
}

/* Where the node is in the network, as "switch.switch.node", and what each part is; the caller frees both. */
static inline int dfrs_node_address(char *node, char **address, char **pattern)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	return topology_g_get_node_addr(node, address, pattern);
#else
	return slurm_topo_get_node_addr(node, address, pattern);
#endif
}

/* Whether all that a job runs on (a switch, a block) is its own in this partition. */
static inline bool dfrs_topology_exclusive(const part_record_t *partition)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
	return partition->flags & PART_FLAG_EXCLUSIVE_TOPO;
#else
	return false;
#endif
}

/* Whether its nodes are powered down as soon as they are idle, whatever SuspendExcParts is. */
static inline bool dfrs_powers_down_on_idle(const part_record_t *partition)
{
#ifdef PART_FLAG_PDOI
	return partition->flags & PART_FLAG_PDOI;
#else
	return false;
#endif
}

/* cgroup.conf as slurmctld has read it; NULL: this Slurm does not show it. A plugin with an unknown
 * variable is not loaded, so the symbol is weak. */
#pragma weak slurm_cgroup_conf
static inline const cgroup_conf_t *dfrs_cgroup_conf(void)
{
	return &slurm_cgroup_conf;
}

/* Whether this is the reason for which a job's former run ended: it stays on a job that was requeued. */
static inline bool dfrs_is_of_former_run(uint32_t reason)
{
	switch (reason) {
	case FAIL_DOWN_NODE:
	case FAIL_EXIT_CODE:
	case FAIL_INACTIVE_LIMIT:
	case FAIL_LAUNCH:
	case FAIL_OOM:
	case FAIL_SYSTEM:
	case FAIL_TIMEOUT:
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	case FAIL_SIGNAL:
#endif
		return true;
	default:
		return false;
	}
}

/* --- messages to the nodes -------------------------------------------------------------------- */

/* Whether slurmd reports of a message whether it found its socket. In 23.11 a child of slurmd
 * connects, and slurmd answers with its own errno, which is 0 (_rpc_forward_data(), to
 * 23.11.11). */
static inline bool dfrs_delivery_is_reported(void)
{
	return (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)) ||
	       (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0));
}

/* SelectTypeParameters. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define DFRS_SELECTS_MEMORY SELECT_MEMORY
#define DFRS_SELECTS_CORES SELECT_CORE
#define DFRS_SELECTS_CORES_OR_CPUS (SELECT_CORE | SELECT_CPU)
#else
#define DFRS_SELECTS_MEMORY CR_MEMORY
#define DFRS_SELECTS_CORES CR_CORE
#define DFRS_SELECTS_CORES_OR_CPUS (CR_CORE | CR_CPU)
#endif

/* --- a request of the plugin's own to slurmctld ------------------------------------------------- */

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define DFRS_CONNECTION conn
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
#define DFRS_CONNECTION tls_conn
#endif

/* Takes the answer to a request that no one has sent. To 24.11 there is none without a connection
 * (slurm_send_rc_msg()); from 25.05 on slurm_send_node_msg() expects one: 25.05.0 reads from a null pointer, later
 * ones wait for MessageTimeout. */
typedef struct {
	int ends[2]; /* of a socket */
} dfrs_sink_t;

/* False: no connection like that is possible, since it would have to be encrypted. */
static inline bool dfrs_sink_open(dfrs_sink_t *sink, slurm_msg_t *request)
{
#ifdef DFRS_CONNECTION
	conn_args_t connection = { 0 };

	if (!slurm_conf.tls_type || strcmp(slurm_conf.tls_type, "tls/none") ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sink->ends))
		return false;
	connection.input_fd = connection.output_fd = sink->ends[0];
	request->DFRS_CONNECTION = conn_g_create(&connection);
	if (request->DFRS_CONNECTION)
		return true;
	(void) close(sink->ends[0]);
	(void) close(sink->ends[1]);
	return false;
#else
	return true;
#endif
}

/* For the log, where the sink could not be opened. */
static inline const char *dfrs_tls_type(void)
{
#ifdef DFRS_CONNECTION
	return slurm_conf.tls_type ? slurm_conf.tls_type : "(null)";
#else
	return "none";
#endif
}

static inline void dfrs_sink_close(const dfrs_sink_t *sink, const slurm_msg_t *request)
{
#ifdef DFRS_CONNECTION
	conn_g_destroy(request->DFRS_CONNECTION, true); /* with its end of the socket */
	(void) close(sink->ends[1]);
#endif
}

/* --- the inside of select/cons_tres ---------------------------------------------------------- */

typedef int (*dfrs_add_job_t)(job_record_t *, job_res_job_action_t);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
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

/* Of a job whose GraceTime has begun; 0: this Slurm does not say so. */
#ifdef GRACE_PREEMPT
#define DFRS_GRACE_PREEMPT GRACE_PREEMPT
#else
#define DFRS_GRACE_PREEMPT 0
#endif

/* Where a job's --extra is; NULL: this Slurm has none. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define dfrs_extra(job) (&(job)->extra)
#else
#define dfrs_extra(job) ((void) (job), (char **) NULL)
#endif

/* Whether jobs have one. */
static inline bool dfrs_knows_extra(void)
{
	return SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0);
}

#endif
