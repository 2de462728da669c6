/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * burst_buffer_dfrs.c - a plugin of its own, BurstBufferType=burst_buffer/dfrs, which keeps Slurm's
 * own schedulers from starting jobs of DFRS partitions, and leaves them alone with all other jobs. It
 * also has slurmctld refuse jobs that could start nowhere.
 *
 * The plugin has no burst buffer. But before any of Slurm's schedulers gives a job nodes, slurmctld
 * calls the burst buffer plugin to find out whether the job's data is there, and a job whose data
 * is not simply waits: select_nodes(), in all versions. sched_dfrs knows which jobs are to wait.
 */
#include "loaded.h"
#include "withhold.h"

const char plugin_name[] = "Leaves jobs of DFRS partitions to sched/dfrs";
const char plugin_type[] = "burst_buffer/dfrs";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* What bb_p_job_test_stage_in() answers. */
enum { NOT_READY = 0, READY = 1 };

/* sched_dfrs knows a moment after slurmctld has begun. It may also be broken: then jobs go on as they
 * would without it. */
#define SECONDS_TO_DECIDE 60

typedef int (*withhold_check_t)(const void *job);
typedef void (*end_hook_t)(void *job);
typedef int (*refusal_check_t)(const void *request, char **message);

/* Slurm makes one such call at a time (g_context_lock). */
static withhold_check_t question;
static end_hook_t end_hook;
static refusal_check_t refusal_check;
static time_t undecided_since;

static time_t uptime(void)
{
	struct timespec now = { 0 };

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + 1;
}

static void find_scheduler(void)
{
	/* Never given back: what these point to has to stay. */
	void *scheduler = question ? NULL : dfrs_loaded_library("sched_dfrs.so");

	if (!scheduler)
		return;
	question = (withhold_check_t) dlsym(scheduler, "dfrs_withholds");
	/* Older ones do not have these. */
	end_hook = (end_hook_t) dlsym(scheduler, "dfrs_ends");
	refusal_check = (refusal_check_t) dlsym(scheduler, "dfrs_refuses");
}

static bool is_scheduler(void)
{
	return slurm_conf.schedtype && !strcmp(slurm_conf.schedtype, "sched/dfrs");
}

static int check_withheld(const job_record_t *job)
{
	find_scheduler();
	return question ? question(job) : DFRS_WITHHOLDS_UNDECIDED;
}

static bool is_withheld(const job_record_t *job)
{
	int answer;

	if (!is_scheduler())
		return false;
	answer = check_withheld(job);
	if (answer != DFRS_WITHHOLDS_UNDECIDED) {
		undecided_since = 0;
		return answer == DFRS_WITHHOLDS_JOB;
	}
	if (!undecided_since)
		undecided_since = uptime();
	return uptime() - undecided_since < SECONDS_TO_DECIDE;
}

/* test_only: whether it could run at all, not now. */
extern int bb_p_job_test_stage_in(job_record_t *job, bool test_only)
{
	return (test_only || !is_withheld(job)) ? READY : NOT_READY;
}

/* A job has just ended (job_completion_logger()): its data would be copied now. */
extern int bb_p_job_start_stage_out(job_record_t *job)
{
	if (!is_scheduler())
		return SLURM_SUCCESS;
	find_scheduler();
	if (end_hook)
		end_hook(job);
	return SLURM_SUCCESS;
}

/* A job is being submitted (_job_create()): its partition is filled in, also if none was named. */
extern int bb_p_job_validate(job_desc_msg_t *request, uid_t user, char **message)
{
	if (!is_scheduler())
		return SLURM_SUCCESS;
	find_scheduler();
	return refusal_check ? refusal_check(request, message) : SLURM_SUCCESS;
}

/* --- what a plugin without a burst buffer returns ---------------------------------------------- */

#define RETURNS(declaration, result) \
	extern declaration { return result; }

RETURNS(int init(void), SLURM_SUCCESS)

extern void fini(void)
{
}

RETURNS(uint64_t bb_p_get_system_size(void), 0)
RETURNS(int bb_p_load_state(bool init_config), SLURM_SUCCESS)

/* Later versions pass more; nothing is looked at. */
RETURNS(char *bb_p_get_status(uint32_t count, char **arguments), NULL)
RETURNS(int bb_p_state_pack(uid_t user, buf_t *buffer, uint16_t protocol_version), SLURM_SUCCESS)
RETURNS(int bb_p_reconfig(void), SLURM_SUCCESS)

/* From 23.02 on; as without a plugin. */
RETURNS(char *bb_p_build_het_job_script(char *script, uint32_t component), xstrdup(script))
RETURNS(int bb_p_job_validate2(job_record_t *job, char **message), SLURM_SUCCESS)

extern void bb_p_job_set_tres_cnt(job_record_t *job, uint64_t *counts, bool locked)
{
}

RETURNS(time_t bb_p_job_get_est_start(job_record_t *job), time(NULL))
RETURNS(int bb_p_job_try_stage_in(dfrs_list_t jobs), SLURM_SUCCESS)
RETURNS(int bb_p_job_begin(job_record_t *job), SLURM_SUCCESS)
RETURNS(int bb_p_job_revoke_alloc(job_record_t *job), SLURM_SUCCESS)
RETURNS(int bb_p_job_test_post_run(job_record_t *job), READY)
RETURNS(int bb_p_job_test_stage_out(job_record_t *job), READY)
RETURNS(int bb_p_job_cancel(job_record_t *job), SLURM_SUCCESS)
RETURNS(int bb_p_run_script(char *function, uint32_t job_id, uint32_t count, char **arguments), SLURM_SUCCESS)
RETURNS(char *bb_p_xlate_bb_2_tres_str(char *burst_buffer), NULL)
