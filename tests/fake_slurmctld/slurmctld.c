/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld.c - what the shim needs of slurmctld: its variables, locks, logs and look-ups. Lists, bit
 * strings, strings and memory are Slurm's own; what is not defined here counts its calls and returns 0
 * (stubs made by the test).
 */
#include "slurmctld.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* --- slurmctld's variables ------------------------------------------------------------------------ */

bitstr_t *avail_node_bitmap, *bf_ignore_node_bitmap, *cg_node_bitmap, *rs_node_bitmap;
bitstr_t *up_node_bitmap;
diag_stats_t slurmctld_diag_stats;
int slurmctld_tres_cnt = TRES_ARRAY_TOTAL_CNT;
node_record_t **node_record_table_ptr;
int node_record_count;
pthread_mutex_t check_bf_running_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t check_bf_running_cond = PTHREAD_COND_INITIALIZER; /* from 25.11 on */
cgroup_conf_t slurm_cgroup_conf;
slurm_conf_t slurm_conf;
slurmctld_config_t slurmctld_config;
time_t last_job_update, last_node_update, last_part_update, last_resv_update;
uint16_t accounting_enforce;
uint32_t g_qos_count;
void *acct_db_conn;
dfrs_list_t active_feature_list, assoc_mgr_qos_list, config_list, job_list, part_list, resv_list;

/* --- counting ------------------------------------------------------------------------------------- */

#define MAX_NAMES 512

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *names[MAX_NAMES];
static unsigned counts[MAX_NAMES];

/* name: a constant; also called by the stubs. */
void count_call(const char *name)
{
	int i = 0;

	pthread_mutex_lock(&count_lock);
	while ((i < MAX_NAMES - 1) && names[i] && strcmp(names[i], name))
		i++;
	names[i] = name;
	counts[i]++;
	pthread_mutex_unlock(&count_lock);
}

unsigned calls_of(const char *name)
{
	for (int i = 0; (i < MAX_NAMES) && names[i]; i++)
		if (!strcmp(names[i], name))
			return counts[i];
	return 0;
}

void print_counts(void)
{
	for (int i = 0; (i < MAX_NAMES) && names[i]; i++)
		printf("calls %s %u\n", names[i], counts[i]);
}

/* --- slurmctld's handlers of requests ------------------------------------------------------------------ */

/* From 25.05 on an answer goes to the request's connection without a look whether there is one. */
#ifdef DFRS_CONNECTION
static int connection;

__typeof__(conn_g_create(NULL)) conn_g_create(const conn_args_t *arguments)
{
	connection = arguments->output_fd;
	return (void *) &connection;
}

void conn_g_destroy(__typeof__(conn_g_create(NULL)) of, bool close_ends)
{
	if (close_ends)
		close(*(int *) of);
}

static bool takes_answer(const slurm_msg_t *request)
{
	return request->DFRS_CONNECTION && (write(*(int *) request->DFRS_CONNECTION, "no", 2) == 2);
}
#else
static bool takes_answer(const slurm_msg_t *request)
{
	return true;
}
#endif

void slurm_msg_t_init(slurm_msg_t *message)
{
	memset(message, 0, sizeof(*message));
}

static void ignore(slurm_msg_t *request)
{
	count_call("another handler");
}

/* As _slurm_rpc_allocate_het_job(): it decides with the first request. */
static void allocate_hetjob(slurm_msg_t *request)
{
	static int accepts = -1;

	if (accepts < 0)
		accepts = !strcmp(slurm_conf.schedtype, "sched/backfill");
	printf("hetjob: %s, %s, answer %s\n", accepts ? "accepted" : "refused",
	       request->data ? "a job" : "empty", takes_answer(request) ? "taken" : "lost");
}

slurmctld_rpc_t slurmctld_rpcs[] = {
	{ .msg_type = REQUEST_RESOURCE_ALLOCATION, .func = ignore },
	{ .msg_type = REQUEST_HET_JOB_ALLOCATION, .func = allocate_hetjob },
	{ .msg_type = REQUEST_BUILD_INFO, .func = ignore },
	{ 0 }
};

/* --- slurmctld's functions -------------------------------------------------------------------------- */

/* From 23.11 on. */
void job_state_set_flag(job_record_t *job, uint32_t flag);
void job_state_unset_flag(job_record_t *job, uint32_t flag);

void job_state_set_flag(job_record_t *job, uint32_t flag)
{
	job->job_state |= flag;
}

void job_state_unset_flag(job_record_t *job, uint32_t flag)
{
	job->job_state &= ~flag;
}

void (*on_log)(const char *line);

static void print_log(log_level_t level, const char *format, va_list arguments)
{
	char text[4096];

	vsnprintf(text, sizeof(text), format, arguments);
	printf("log %d %s\n", (int) level, text);
	fflush(stdout);
	if (on_log)
		on_log(text);
}

void log_var(const log_level_t level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_log(level, format, arguments);
	va_end(arguments);
}

int error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_log(LOG_LEVEL_ERROR, format, arguments);
	va_end(arguments);
	return SLURM_ERROR;
}

#undef fatal
void fatal(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_log(LOG_LEVEL_FATAL, format, arguments);
	va_end(arguments);
	_exit(3);
}

int get_log_level(void)
{
	return LOG_LEVEL_DEBUG3;
}

/* One lock for all. A thread that takes it twice ends the program: slurmctld's would hang. */
pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool locked;

void lock_slurmctld(slurmctld_lock_t levels)
{
	count_call("lock_slurmctld");
	if (locked) {
		printf("deadlock: lock_slurmctld() by a thread that holds it\n");
		fflush(stdout);
		_exit(4);
	}
	pthread_mutex_lock(&the_lock);
	locked = true;
}

void unlock_slurmctld(slurmctld_lock_t levels)
{
	count_call("unlock_slurmctld");
	locked = false;
	pthread_mutex_unlock(&the_lock);
}

node_record_t *next_node(int *index)
{
	while ((*index < node_record_count) && !node_record_table_ptr[*index])
		(*index)++;
	return (*index < node_record_count) ? node_record_table_ptr[*index] : NULL;
}

/* Of newer versions. */
node_record_t *next_node_bitmap(bitstr_t *bitmap, int *index)
{
	while ((*index < node_record_count) && !bit_test(bitmap, *index))
		(*index)++;
	return (*index < node_record_count) ? node_record_table_ptr[*index] : NULL;
}

/* As in slurmctld, not through the list: callers may be walking it. */
static job_record_t *jobs[MAX_JOBS];

job_record_t *find_job_record(uint32_t job_id)
{
	return (job_id < MAX_JOBS) ? jobs[job_id] : NULL;
}

void add_job(job_record_t *job, uint32_t job_id)
{
	job->job_id = job_id;
	jobs[job_id] = job;
	list_append(job_list, job);
}

void rename_job(job_record_t *job, uint32_t job_id)
{
	if (jobs[job->job_id] == job)
		jobs[job->job_id] = NULL;
	job->job_id = job_id;
	jobs[job_id] = job;
}

void remove_job(job_record_t *job)
{
	jobs[job->job_id] = NULL;
	list_delete_ptr(job_list, job);
}

static int same_partition(void *record, void *key)
{
	return !strcmp(((part_record_t *) record)->name, key);
}

part_record_t *find_part_record(char *name)
{
	return list_find_first(part_list, same_partition, name);
}

char *slurm_strerror(int rc)
{
	return "an error of the fake slurmctld";
}

static node_record_t *find_node(const char *name)
{
	for (int i = 0; i < node_record_count; i++)
		if (!strcmp(node_record_table_ptr[i]->name, name))
			return node_record_table_ptr[i];
	return NULL;
}

node_record_t *find_node_record(char *name)
{
	return find_node(name);
}

/* Without these, backfill waits. */
bool avail_front_end(job_record_t *job)
{
	return true;
}

bool fed_mgr_sibs_synced(void)
{
	return true;
}

/* Without these, no job comes as far as its limits. */
void (*on_gate)(void);

bool job_independent(job_record_t *job)
{
	if (on_gate)
		on_gate();
	return true;
}

int validate_group(part_record_t *partition, uid_t user)
{
	return 1;
}

bool acct_policy_job_runnable_pre_select(job_record_t *job, bool locked)
{
	return true;
}

bool acct_policy_job_runnable_post_select(job_record_t *job, uint64_t *request, bool locked)
{
	count_call("acct_policy_job_runnable_post_select");
	return false;
}

dfrs_list_t build_job_queue(bool clear_start, bool backfill)
{
	count_call("build_job_queue");
	return list_create(xfree_ptr);
}
