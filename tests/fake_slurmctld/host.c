/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.c - a program that looks like slurmctld to the plugin: loads it, has it run for a while,
 * unloads it.
 *
 * usage: host PLUGIN SCENARIO DIRECTORY
 *
 * DIRECTORY is where slurm.conf would be and where state is saved. On standard output come the lines
 * that the plugin logs ("log LEVEL ..."), what it returned, and at the end how often it called what
 * ("calls NAME COUNT").
 *
 * Scenarios: quiet (nodes, no jobs), disabled (as in `slurmctld -c` tests), layout (node records of
 * another size), globals (the plugin's view of a job is right but job records are of another size),
 * hostile (jobs with impossible requests), repartitioned (a partition is changed so that DFRS cannot schedule
 * it, and back), closed (submissions are disabled), deaf (slurmctld has no handler of requests for heterogeneous
 * jobs), configured (as the files base.txt and case.conf in DIRECTORY say), stuck (the plugin's thread hangs in a call, and is let go after
 * fini() and after the library was closed; then it is loaded again).
 */
#include "slurmctld.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define NODES 4
#define HOSTILE_JOBS 5

/* --- the cluster ------------------------------------------------------------------------------------- */

static bool scenario_is(const char *scenario, const char *name)
{
	return !strcmp(scenario, name);
}

static node_record_t *make_node(int index, size_t size)
{
	node_record_t *node = xmalloc(size);
	char name[16];

	snprintf(name, sizeof(name), "n%d", index + 1);
	node->magic = NODE_MAGIC;
	node->index = index;
	node->name = xstrdup(name);
	node->cpus = node->cpus_efctv = 4;
	node->real_memory = 4000;
	node->node_state = NODE_STATE_IDLE;
	return node;
}

static part_record_t *make_partition(const char *name)
{
	part_record_t *partition = xmalloc(sizeof(*partition));

	partition->magic = PART_MAGIC;
	partition->name = xstrdup(name);
	partition->max_share = SHARED_FORCE | 1;
	partition->state_up = PARTITION_UP;
	partition->node_bitmap = bit_alloc(NODES);
	bit_set_all(partition->node_bitmap);
	return partition;
}

/* Every number as large as it gets, every pointer that may be null, null. */
static job_record_t *make_hostile_job(uint32_t job_id, size_t size)
{
	job_record_t *job = xmalloc(size);

	job->magic = JOB_MAGIC;
	job->job_id = job_id;
	job->part_ptr = list_peek(part_list);
	job->priority = 1;
	job->array_task_id = NO_VAL;
	job->time_limit = (job_id % 2) ? INFINITE : 0;
	/* DFRS, which does not know them, lets those wait that have run before. */
	job->restart_cnt = (job_id == 1 || job_id == 4) ? UINT16_MAX : 0;
	job->job_state = JOB_PENDING;
	if (job_id == 1)
		return job; /* without details */
	job->tres_req_cnt = xcalloc(slurmctld_tres_cnt, sizeof(*job->tres_req_cnt));
	job->details = xmalloc(sizeof(*job->details));
	job->details->magic = DETAILS_MAGIC;
	job->details->min_cpus = job->details->max_cpus = UINT32_MAX - 2;
	job->details->num_tasks = (job_id == 2) ? 0 : UINT32_MAX - 2;
	job->details->min_nodes = (job_id == 3) ? 0 : UINT32_MAX - 2;
	job->details->max_nodes = 1;
	job->details->cpus_per_task = UINT16_MAX - 2;
	job->details->ntasks_per_node = UINT16_MAX - 2;
	job->details->pn_min_memory = (job_id == 4) ? UINT64_MAX : UINT64_MAX >> 1;
	if (job_id == 5) {
		/* Memory does not keep them from being laid out. */
		job->details->pn_min_memory = 1;
		job->details->cpus_per_task = job->details->min_nodes = 1;
		job->details->max_nodes = NO_VAL;
		job->details->ntasks_per_node = 0;
	}
	job->details->begin_time = job->details->submit_time = (job_id == 2) ? 0 : INT64_MAX;
	job->comment = xstrdup("dfrs:never \xff\xfe, dfrs:park");
	if (job_id == 4)
		job->job_state = JOB_RUNNING | JOB_COMPLETING; /* and no job_resrcs */
	return job;
}

static void make_cluster(const char *scenario, const char *directory)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/slurm.conf", directory);
	slurm_conf.slurm_conf = xstrdup(path);
	slurm_conf.state_save_location = xstrdup(directory);
	slurm_conf.plugindir = xstrdup(directory);
	slurm_conf.select_type = xstrdup("select/cons_tres");
	slurm_conf.select_type_param = DFRS_SELECTS_CORES_OR_CPUS | DFRS_SELECTS_MEMORY;
	slurm_conf.schedtype = xstrdup("sched/dfrs");
	slurm_conf.proctrack_type = xstrdup("proctrack/cgroup");
	slurm_conf.task_plugin = xstrdup("task/cgroup");
	slurm_conf.job_acct_gather_type = xstrdup("jobacct_gather/cgroup");
	slurm_conf.suspend_time = INFINITE;
	slurm_conf.max_tasks_per_node = 512;
	if (scenario_is(scenario, "withheld"))
		slurm_conf.bb_type = xstrdup("burst_buffer/dfrs");
	slurm_conf.sched_params = xstrdup(
		(slurm_conf.bb_type || scenario_is(scenario, "stock")) ?
			"bf_interval=1" : "sched_interval=-1,defer,bf_interval=1");
	slurmctld_config.scheduling_disabled = scenario_is(scenario, "disabled");
	slurmctld_config.submissions_disabled = scenario_is(scenario, "closed");
#ifdef DFRS_CONNECTION
	slurm_conf.tls_type = xstrdup(scenario_is(scenario, "encrypted") ? "tls/s2n" : "tls/none");
#endif
	if (scenario_is(scenario, "deaf"))
		slurmctld_rpcs[1] = slurmctld_rpcs[0];
	job_list = list_create(NULL);
	part_list = list_create(NULL);
	node_record_table_ptr = xcalloc(NODES, sizeof(*node_record_table_ptr));
	for (int i = 0; i < NODES; i++)
		node_record_table_ptr[i] = make_node(
			i, sizeof(node_record_t) + (scenario_is(scenario, "layout") ? 8 : 0));
	node_record_count = NODES;
	up_node_bitmap = bit_alloc(NODES);
	bit_set_all(up_node_bitmap);
	avail_node_bitmap = bit_copy(up_node_bitmap);
	cg_node_bitmap = bit_alloc(NODES);
	rs_node_bitmap = bit_alloc(NODES);
	bf_ignore_node_bitmap = bit_alloc(NODES);
	if (scenario_is(scenario, "configured")) {
		configure(directory, "base.txt");
		configure(directory, "case.conf");
	} else {
		list_append(part_list, make_partition("dfrs"));
	}
	if (scenario_is(scenario, "globals"))
		add_job(make_hostile_job(2, sizeof(job_record_t) + 8), 2);
	accounting_enforce = ACCOUNTING_ENFORCE_ASSOCS | ACCOUNTING_ENFORCE_LIMITS | ACCOUNTING_ENFORCE_QOS;
	if (scenario_is(scenario, "hostile"))
		for (uint32_t id = 1; id <= HOSTILE_JOBS; id++)
			add_job(make_hostile_job(id, sizeof(job_record_t)), id);
	last_job_update = last_node_update = last_part_update = time(NULL);
}

/* burst_buffer_dfrs.so, if the scenario has it. */
static void *burst_buffer;

static void load_burst_buffer(const char *directory)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/burst_buffer_dfrs.so", directory);
	burst_buffer = dlopen(path, RTLD_LAZY);
	if (!burst_buffer) {
		printf("dlopen: %s\n", dlerror());
		exit(2);
	}
}

/* --- the plugin's life -------------------------------------------------------------------------------- */

static int threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	int count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count - 2; /* . and .. */
}

/*
 * Threads that are left once the joined ones are gone. The kernel ends pthread_join() a little
 * before it takes the thread out of /proc, on a busy machine many milliseconds before.
 */
static int threads_left(void)
{
	for (int tries = 0; threads() > 1 && tries < 100; tries++)
		usleep(10000);
	return threads();
}

static void *symbol(void *plugin, const char *name)
{
	void *found = dlsym(plugin, name);

	if (!found) {
		printf("missing %s\n", name);
		exit(2);
	}
	return found;
}

static void touch(int seconds)
{
	for (int i = 0; i < seconds * 10; i++) {
		usleep(100000);
		last_job_update = time(NULL);
	}
}

/* What burst_buffer_dfrs.so says of a job of each partition; nothing without it. */
static void print_ready(const char *when)
{
	static const char *names[] = { "dfrs", "other" };
	int (*test_stage_in)(job_record_t *, bool);
	job_record_t *job;

	if (!burst_buffer)
		return;
	test_stage_in = symbol(burst_buffer, "bb_p_job_test_stage_in");
	job = xmalloc(sizeof(*job));
	job->magic = JOB_MAGIC;
	for (int i = 0; i < 2; i++) {
		job->part_ptr = make_partition(names[i]);
		printf("%s: %s ready %d, for a test %d\n", when, names[i], test_stage_in(job, false),
		       test_stage_in(job, true));
	}
}

/* What burst_buffer_dfrs.so says of a job that is being submitted. */
static void submit(const char *what, uint32_t component, const char *partition)
{
	int (*validate)(job_desc_msg_t *, uid_t, char **) = symbol(burst_buffer, "bb_p_job_validate");
	job_desc_msg_t *request = xmalloc(sizeof(*request));
	char *message = NULL;
	int rc;

	request->het_job_offset = component;
	request->partition = xstrdup(partition);
	rc = validate(request, 1000, &message);
	printf("submitted %s: %s, %s\n", what,
	       (rc == ESLURM_NOT_SUPPORTED) ? "refused" : rc ? "another error" : "accepted",
	       message ? message : "no message");
	xfree(message);
	xfree(request->partition);
	xfree(request);
}

static void submit_jobs(void)
{
	if (!burst_buffer)
		return;
	submit("job", NO_VAL, "dfrs");
	submit("first component", 0, "dfrs");
	submit("second component", 1, "dfrs");
	submit("component of another partition", 1, "other");
	submit("component of either partition", 1, "dfrs,other");
	submit("component of one partition twice", 1, "dfrs,dfrs");
	submit("component of a partition with a like name", 1, "dfrs2");
	submit("component of none", 1, NULL);
}

/* Whether a job that ended after a warning is to be queued again; end: seconds to the end of its time limit. */
static void end_warned(const char *what, const char *partition, uint32_t state, int end)
{
	int (*start_stage_out)(job_record_t *) = symbol(burst_buffer, "bb_p_job_start_stage_out");
	job_record_t *job = xmalloc(sizeof(*job));

	job->magic = JOB_MAGIC;
	job->part_ptr = make_partition(partition);
	job->details = xmalloc(sizeof(*job->details));
	job->details->magic = DETAILS_MAGIC;
	job->details->requeue = 1;
	job->batch_flag = 1;
	job->time_limit = 60;
	job->warn_time = 300;
	job->warn_flags = WARN_SENT;
	job->job_state = state;
	job->end_time = time(NULL);
	job->end_time_exp = job->end_time + end;
	printf("%s: %d", what, start_stage_out(job));
	printf(" requeued %d\n", !!(job->job_state & JOB_REQUEUE));
}

static void end_warned_jobs(void)
{
	if (!burst_buffer)
		return;
	end_warned("saved", "dfrs", JOB_COMPLETE | JOB_COMPLETING, 2000);
	end_warned("failed", "dfrs", JOB_FAILED | JOB_COMPLETING, 2000);
	end_warned("cancelled", "dfrs", JOB_CANCELLED | JOB_COMPLETING, 2000);
	end_warned("near its limit", "dfrs", JOB_COMPLETE | JOB_COMPLETING, 350);
	end_warned("of another partition", "other", JOB_COMPLETE | JOB_COMPLETING, 2000);
	end_warned("requeued by others", "dfrs", JOB_PENDING | JOB_COMPLETING, 2000);
}

/* As scontrol update partition, twice. */
static void repartition(void)
{
	part_record_t *partition = list_peek(part_list);

	for (int twice = 0; twice < 2; twice++) {
		pthread_mutex_lock(&the_lock);
		partition->max_share = twice ? (SHARED_FORCE | 1) : 1;
		last_part_update = time(NULL);
		pthread_mutex_unlock(&the_lock);
		printf("partition changed\n");
		touch(2);
	}
}

/* As an administrator does once the trial is over. */
static void switch_on(void)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/dfrs.conf", slurm_conf.state_save_location);
	file = fopen(path, "w");
	if (!file)
		exit(2);
	fputs("Mode=full\nPartition=dfrs\n", file);
	fclose(file);
	printf("switched on\n");
}

/* As long as it takes to say whether it works. */
static void start(void *plugin)
{
	int (*init)(void) = symbol(plugin, "init");
	void (*fini)(void) = symbol(plugin, "fini");

	printf("init %d\n", init());
	touch(1);
	fini();
}

static void live(void *plugin, const char *scenario)
{
	int (*init)(void) = symbol(plugin, "init");
	int (*reconfigure)(void) = symbol(plugin, "sched_p_reconfig");
	void (*fini)(void) = symbol(plugin, "fini");

	/* As slurmctld does: with its locks held, before there are jobs. */
	pthread_mutex_lock(&the_lock);
	printf("init %d\n", init());
	printf("SchedulerType=%s\n", slurm_conf.schedtype);
	printf("reconfigure %d\n", reconfigure());
	print_ready("at first");
	usleep(300000);
	pthread_mutex_unlock(&the_lock);
	touch(3);
	if (scenario_is(scenario, "repartitioned"))
		repartition();
	if (scenario_is(scenario, "stock"))
		switch_on();
	printf("threads while running %d\n", threads());
	print_ready("then");
	end_warned_jobs();
	submit_jobs();
	printf("reconfigure %d\n", reconfigure());
	touch(2);
	fini();
	printf("threads at the end %d\n", threads_left());
	print_ready("at last");
	fini(); /* must do no harm */
	print_counts();
}

static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;

/* Has the thread that says so wait. */
static void wait_at_line(const char *line)
{
	if (!strstr(line, "schedules partition(s)"))
		return;
	pthread_mutex_lock(&hold);
	pthread_mutex_unlock(&hold);
}

/* One life in which the plugin's thread hangs beyond its end. */
static void end_stuck(void *plugin)
{
	int (*init)(void) = symbol(plugin, "init");
	void (*fini)(void) = symbol(plugin, "fini");

	on_log = wait_at_line;
	pthread_mutex_lock(&hold);
	printf("init %d\n", init());
	fini();
	on_log = NULL;
	printf("threads after fini %d\n", threads());
	printf("dlclose %d\n", dlclose(plugin));
	pthread_mutex_unlock(&hold);
	usleep(500000);
	printf("threads left behind %d\n", threads());
}

int main(int argc, char **argv)
{
	void *plugin;

	if (argc != 4) {
		fprintf(stderr, "usage: %s PLUGIN SCENARIO DIRECTORY\n", argv[0]);
		return 2;
	}
	alarm(120); /* whatever hangs then is a defect */
	make_cluster(argv[2], argv[3]);
	plugin = dlopen(argv[1], RTLD_LAZY);
	if (!plugin) {
		printf("dlopen: %s\n", dlerror());
		return 2;
	}
	printf("plugin %s, %s, %x\n", (char *) symbol(plugin, "plugin_name"),
	       (char *) symbol(plugin, "plugin_type"),
	       *(uint32_t *) symbol(plugin, "plugin_version"));
	if (scenario_is(argv[2], "withheld"))
		load_burst_buffer(argv[3]);
	if (scenario_is(argv[2], "stuck")) {
		end_stuck(plugin);
		plugin = dlopen(argv[1], RTLD_LAZY);
	}
	if (scenario_is(argv[2], "configured"))
		start(plugin);
	else
		live(plugin, argv[2]);
	printf("alive\n");
	return 0;
}
