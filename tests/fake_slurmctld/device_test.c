/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_test.c - what the shim makes of jobs that ask for devices.
 *
 * usage: device_test SCENARIO
 *
 * numbers: devices for the whole job and for each task. fewest: the same on an open number of nodes. sockets: for each
 * socket. cpus: with each device. defaults: where the job says nothing of them. tasks: for each device. start: what Slurm is asked for at a start, and what the
 * record says after it. ending: a start where a job that had devices is ending. Prints what was found; a test looks at it.
 */
#include "mutations.h"

#include "internal.h"

#include <stdio.h>

#define PARTITIONS "dfrs,dfrs2"

/* --- jobs and nodes ---------------------------------------------------------------------------------------- */

/* Four nodes; a pending job of so many tasks on so many nodes that asks for devices of this name. */
static gres_job_state_t *ask_for(const char *name, uint32_t tasks, uint32_t min_nodes, uint32_t max_nodes)
{
	gres_job_state_t *asked = xmalloc(sizeof(*asked));
	job_record_t *job = find_job_record(1);

	if (!job) {
		make_nodes(4);
		job = new_job(1);
	}
	FREE_NULL_LIST(job->gres_list_req);
	job->gres_list_req = add_devices(NULL, name, asked);
	job->bit_flags = JOB_NTASKS_SET;
	job->details->num_tasks = tasks;
	job->details->min_nodes = min_nodes;
	job->details->max_nodes = max_nodes;
	job->details->ntasks_per_node = 0;
	job->details->cpus_per_task = 1;
	job->details->orig_cpus_per_task = NO_VAL16;
	asked->ntasks_per_gres = NO_VAL16;
	return asked;
}

static void print_job(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot;
	const dfrs_job_t *job;

	if (dfrs_snapshot(view, PARTITIONS, &snapshot) || !snapshot.job_count)
		_exit(5);
	job = &snapshot.jobs[0];
	printf("%s: ", what);
	if (job->unsupported)
		printf("%s", dfrs_unsupported_text(job->unsupported));
	else
		printf("%u*%u on %u-%u memory %" PRIu64, job->tasks, job->cpus_per_task, job->min_nodes, job->max_nodes,
		       job->memory);
	for (uint32_t i = 0; !job->unsupported && (i < job->device_count); i++) {
		const dfrs_device_t *devices = &snapshot.devices[job->device_offset + i];

		printf(" %s:%" PRIu64, snapshot.strings + devices->kind, devices->count);
	}
	printf("\n");
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

/* --- numbers ------------------------------------------------------------------------------------------------ */

static void numbers_of_all_nodes(void)
{
	ask_for("gpu", 4, 2, 2)->gres_per_job = 6;
	print_job("6 on two nodes");
	ask_for("gpu", 4, 2, 2)->gres_per_job = 5;
	print_job("5 on two nodes");
	ask_for("gpu", 4, 1, 0)->gres_per_job = 4;
	print_job("4 on any nodes");
	ask_for("gpu", 4, 1, 0)->gres_per_job = 1;
	print_job("1 for four tasks");
	ask_for("gpu", 3, 3, 0)->gres_per_job = 6;
	print_job("6 for a task on each of three nodes");
	ask_for("gpu", 4, 1, 0)->gres_per_job = 4;
	find_job_record(1)->details->ntasks_per_node = 2;
	print_job("4 for two tasks on each node");
}

static void numbers_of_tasks(void)
{
	gres_job_state_t *asked;

	ask_for("gpu", 4, 2, 2)->gres_per_task = 3;
	print_job("3 for each of two on two nodes");
	ask_for("gpu", 3, 2, 2)->gres_per_task = 1;
	print_job("1 for each of three on two nodes");
	ask_for("gpu", 4, 1, 1)->gres_per_task = 1;
	print_job("1 for each of four on one node");
	ask_for("gpu", 2, 1, 0)->gres_per_task = 1;
	print_job("1 for each on any nodes");
	ask_for("gpu", 0, 1, 3)->gres_per_task = 2;
	find_job_record(1)->bit_flags = 0;
	find_job_record(1)->details->ntasks_per_node = 2;
	print_job("2 for each where nodes make tasks");
	asked = ask_for("gpu", 8, 1, 1);
	asked->gres_per_task = 1;
	asked->gres_per_job = 8;
	find_job_record(1)->details->overcommit = 1;
	print_job("1 for each of eight that share CPUs");
	find_job_record(1)->details->overcommit = 0;
}

static void numbers(void)
{
	numbers_of_all_nodes();
	numbers_of_tasks();
}

/* --- sockets ------------------------------------------------------------------------------------------------ */

/* A node has devices, near one of its cores or of none. */
static void add_devices_to_node(const char *name, bool near_core)
{
	gres_node_state_t *has = xmalloc(sizeof(*has));

	has->gres_cnt_avail = 2;
	has->topo_cnt = 1;
	has->topo_core_bitmap = xcalloc(1, sizeof(bitstr_t *));
	if (near_core)
		has->topo_core_bitmap[0] = bit_alloc(2);
	node_record_table_ptr[1]->gres_list = add_devices(node_record_table_ptr[1]->gres_list, name, has);
}

/* --- the fewest nodes --------------------------------------------------------------------------------------- */

/* Nodes have four GPUs each, of them two a100. */
static void add_gpus(void)
{
	static char *types[] = { "a100" };
	static uint64_t counts[] = { 2 };

	for (int i = 0; i < node_record_count; i++) {
		gres_node_state_t *has = xmalloc(sizeof(*has));

		has->gres_cnt_avail = 4;
		has->type_cnt = 1;
		has->type_name = types;
		has->type_cnt_avail = has->type_cnt_alloc = counts;
		node_record_table_ptr[i]->gres_list = add_devices(NULL, "gpu", has);
	}
}

static void fewest(void)
{
	gres_job_state_t *asked = ask_for("gpu", 4, 1, 0);

	add_gpus();
	asked->gres_per_job = 4;
	print_job("4 for four tasks");
	ask_for("gpu", 8, 1, 0)->gres_per_task = 1;
	print_job("1 for each of eight");
	ask_for("gpu", 6, 1, 0)->gres_per_task = 1;
	print_job("1 for each of six");
	ask_for("gpu", 5, 1, 0)->gres_per_task = 1;
	print_job("1 for each of five");
	ask_for("gpu", 4, 2, 3)->gres_per_task = 1;
	print_job("1 for each of four on two or three");
	asked = ask_for("gpu", 4, 1, 0);
	asked->gres_per_job = 4;
	asked->type_name = "a100";
	print_job("4 of a type of which nodes have two");
	ask_for("gpu", 4, 1, 0)->gres_per_job = 20;
	print_job("more than there are");
	ask_for("gpu", 4, 1, 0)->gres_per_job = 4;
	find_job_record(1)->details->pn_min_memory = 50000 | MEM_PER_CPU;
	print_job("4 with much memory");
	find_job_record(1)->details->pn_min_memory = 1000;
	ask_for("gpu", 64, 1, 0)->gres_per_job = 4;
	print_job("4 for more tasks than a node has CPUs");
	ask_for("gpu", 4, 1, 0)->gres_per_job = 4;
	bit_clear_all(avail_node_bitmap);
	print_job("4 while all nodes are down");
	bit_set_all(avail_node_bitmap);
	find_job_record(1)->details->exc_node_bitmap = bit_alloc(node_record_count);
	print_job("4 without some nodes");
	FREE_NULL_BITMAP(find_job_record(1)->details->exc_node_bitmap);
	find_job_record(1)->details->feature_list = list_create(NULL);
	print_job("4 on nodes with a feature");
	FREE_NULL_LIST(find_job_record(1)->details->feature_list);
}

static void sockets(void)
{
	gres_job_state_t *asked = ask_for("gpu", 4, 2, 2);
	multi_core_data_t parts = { .sockets_per_node = 2 };

	find_job_record(1)->details->mc_ptr = &parts;
	asked->gres_per_socket = 3;
	add_devices_to_node("gpu", false);
	add_devices_to_node("nic", true);
	print_job("3 for each of two sockets");
	parts.sockets_per_node = NO_VAL16;
	print_job("3 for each of any");
	parts.sockets_per_node = 2;
	asked->gres_per_job = 12;
	print_job("and for the whole job");
	asked->gres_per_job = 0;
	add_devices_to_node("gpu", true);
	print_job("near cores");
	find_job_record(1)->details->mc_ptr = NULL;
}

/* --- CPUs --------------------------------------------------------------------------------------------------- */

static void cpus(void)
{
	gres_job_state_t *asked = ask_for("gpu", 1, 1, 0);
	job_record_t *job = find_job_record(1);

	asked->gres_per_node = 2;
	asked->cpus_per_gres = 4;
	print_job("4 with each of 2 for one task");
	asked = ask_for("gpu", 6, 2, 2);
	asked->gres_per_node = 2;
	asked->cpus_per_gres = 4;
	print_job("4 with each of 2 for three tasks");
	job->details->cpus_per_task = 5;
	print_job("-c asks for more");
	asked = ask_for("gpu", 3, 1, 0);
	asked->gres_per_node = 2;
	asked->cpus_per_gres = 4;
	print_job("tasks on any nodes");
	asked = ask_for("gpu", 4, 2, 2);
	asked->gres_per_task = 2;
	asked->cpus_per_gres = 3;
	print_job("3 with each of 2 for each task");
	asked = ask_for("gpu", 0, 1, 1);
	job->bit_flags = 0;
	job->details->min_cpus = 8;
	asked->gres_per_job = 2;
	asked->cpus_per_gres = 4;
	print_job("without a number of tasks");
}

/* --- defaults ----------------------------------------------------------------------------------------------- */

static void add_default(dfrs_list_t *list, uint16_t type, uint64_t value)
{
	job_defaults_t *added = xmalloc(sizeof(*added));

	added->type = type;
	added->value = value;
	if (!*list)
		*list = list_create(xfree_ptr);
	list_append(*list, added);
}

/* slurm.conf has defaults for the cluster, and the partition one of its own. */
static gres_job_state_t *ask_with_defaults(void)
{
	gres_job_state_t *asked = ask_for("gpu", 4, 2, 2);
	job_record_t *job = find_job_record(1);

	if (!slurm_conf.job_defaults_list) {
		add_default(&slurm_conf.job_defaults_list, JOB_DEF_CPU_PER_GPU, 2);
		add_default(&slurm_conf.job_defaults_list, JOB_DEF_MEM_PER_GPU, 700);
		add_default(&job->part_ptr->job_defaults_list, JOB_DEF_CPU_PER_GPU, 3);
	}
	asked->gres_per_node = 2;
	return asked;
}

static void print_places(const char *what)
{
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot;

	if (dfrs_snapshot(view, PARTITIONS, &snapshot) || !snapshot.job_count)
		_exit(5);
	printf("%s: %u CPUs a task", what, snapshot.jobs[0].cpus_per_task);
	for (uint32_t i = 0; i < snapshot.place_count; i++)
		printf(", %u tasks", snapshot.places[i].tasks);
	printf("\n");
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void defaults(void)
{
	gres_job_state_t *asked = ask_with_defaults();
	job_record_t *job = find_job_record(1);

	print_job("defaults");
	job->bit_flags |= JOB_MEM_SET;
	print_job("with --mem");
	job->bit_flags &= ~JOB_MEM_SET;
	job->details->orig_cpus_per_task = job->details->cpus_per_task = 2;
	print_job("with -c");
	asked = ask_with_defaults();
	asked->cpus_per_gres = 1;
	asked->mem_per_gres = 100;
	print_job("with its own");
	ask_for("nic", 4, 2, 2)->gres_per_node = 2;
	print_job("no GPUs");
	ask_for("gpu", 3, 1, 0)->gres_per_node = 2;
	print_job("tasks on any nodes");
	ask_with_defaults();
	run_job(job, 0, 2);
	job->job_resrcs->cpus[0] = job->job_resrcs->cpus[1] = 12;
	print_places("started with others");
}

/* --- tasks --------------------------------------------------------------------------------------------------- */

/* Slurm itself makes tasks of the GPUs (gres_job_state_validate() of 22.05 to 26.05). */
static void tasks(void)
{
	job_record_t *job;

	ask_for("gpu", 8, 2, 2)->gres_per_job = 4;
	job = find_job_record(1);
	job->details->ntasks_per_tres = 2;
	print_job("2 for each of 4 on two nodes");
	ask_for("gpu", 8, 1, 0)->gres_per_node = 2;
	print_job("2 for each of 2 on each node");
	ask_for("gpu", 8, 1, 0)->gres_per_job = 4;
	print_job("2 for each of 4 on any nodes");
	ask_for("gpu", 6, 2, 2)->gres_per_job = 4;
	print_job("of other numbers");
	job->details->ntasks_per_tres = NO_VAL16;
	print_job("without");
}

/* --- starts -------------------------------------------------------------------------------------------------- */

static void print_asked(const char *what, const job_record_t *job)
{
	gres_state_t *state = job->gres_list_req ? list_peek(job->gres_list_req) : NULL;
	const gres_job_state_t *asked = state ? state->gres_data : NULL;

	if (asked)
		printf("%s: node %" PRIu64 " job %" PRIu64 " task %" PRIu64 " socket %" PRIu64
		       " memory %" PRIu64 " CPUs %u tasks %u\n",
		       what, asked->gres_per_node, asked->gres_per_job, asked->gres_per_task, asked->gres_per_socket,
		       asked->mem_per_gres, asked->cpus_per_gres, asked->ntasks_per_gres);
}

/* Whether the job has another list of devices then, as one that gets whole nodes. */
static bool replaces_list;

/* In place of Slurm's, which finds no room. */
static int find_no_room(job_record_t *job)
{
	if (replaces_list)
		job->gres_list_req = add_devices(NULL, "gpu", xmalloc(sizeof(gres_job_state_t)));
	print_asked("asked of Slurm", job);
	if (job->details->orig_cpus_per_task == NO_VAL16)
		printf("Slurm would add DefCpuPerGPU\n");
	if (job->details->ntasks_per_tres)
		printf("Slurm would add tasks for each GPU\n");
	return ESLURM_NODES_BUSY;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
int select_nodes(job_node_select_t *selection, bool test_only, bool submission, uint32_t flags)
{
	return find_no_room(selection->job_ptr);
}
#else
int select_nodes(job_record_t *job, bool test_only, bitstr_t **nodes, char **error, bool submission, uint32_t flags)
{
	return find_no_room(job);
}
#endif

/* Without it no job comes as far as its start. */
bool job_array_start_test(job_record_t *job)
{
	return true;
}

static void print_start(const char *what, const dfrs_place_t *places, uint32_t count)
{
	int rc = dfrs_job_start(1, places, count, false);

	printf("%s: %s\n", what,
	       (rc == ESLURM_NODES_BUSY)     ? "busy" :
	       (rc == ESLURM_BAD_TASK_COUNT) ? "other tasks" :
					       "other error");
	print_asked("afterwards", find_job_record(1));
}

static void make_ready(void)
{
	if (!cg_node_bitmap)
		cg_node_bitmap = bit_alloc(4);
	find_job_record(1)->part_ptr->state_up = PARTITION_UP;
	dfrs_remember_partitions(PARTITIONS);
}

static void start(void)
{
	dfrs_place_t places[] = { { .node = 0, .tasks = 2 }, { .node = 1, .tasks = 2 }, { .node = 2, .tasks = 0 } };
	gres_job_state_t *asked = ask_for("gpu", 4, 2, 2);

	make_ready();
	asked->gres_per_task = 3;
	asked->gres_per_job = 12;
	asked->mem_per_gres = 10;
	asked->cpus_per_gres = 2;
	find_job_record(1)->details->ntasks_per_tres = NO_VAL16;
	print_start("as counted", places, 2);
	places[0].tasks = 3;
	places[1].tasks = 1;
	print_start("unevenly", places, 2);
	places[0].tasks = 4;
	print_start("on one node", places, 1);
	places[0].tasks = places[1].tasks = 2;
	(void) ask_with_defaults();
	find_job_record(1)->bit_flags |= JOB_MEM_SET;
	print_start("with defaults", places, 2);
	asked = ask_for("gpu", 4, 2, 2);
	asked->gres_per_task = 3;
	asked->gres_per_job = 12;
	replaces_list = true;
	print_start("on whole nodes", places, 2);
	printf("the list before: node %" PRIu64 " task %" PRIu64 "\n", asked->gres_per_node, asked->gres_per_task);
}

/* Another job has ended on the second node since the last look. */
static job_record_t *end_other(const char *kind)
{
	job_record_t *other = new_job(2);

	run_job(other, 1, 1);
	other->gres_list_alloc = add_devices(NULL, kind, xmalloc(sizeof(gres_job_state_t)));
	other->job_state = JOB_COMPLETE | JOB_COMPLETING;
	other->node_bitmap_cg = bit_copy(other->job_resrcs->node_bitmap);
	bit_set(cg_node_bitmap, 1);
	return other;
}

static void ending(void)
{
	dfrs_place_t places[] = { { .node = 0, .tasks = 2 }, { .node = 1, .tasks = 2 } };
	dfrs_place_t elsewhere[] = { { .node = 0, .tasks = 2 }, { .node = 2, .tasks = 2 } };
	gres_job_state_t *asked = ask_for("gpu", 4, 2, 2), *held;
	job_record_t *other;

	make_ready();
	asked->gres_per_node = 1;
	other = end_other("gpu");
	held = ((gres_state_t *) list_peek(other->gres_list_alloc))->gres_data;
	print_start("where GPUs are in use", places, 2);
	print_start("elsewhere", elsewhere, 2);
	asked->type_id = 1;
	held->type_id = 2;
	print_start("of another type", places, 2);
	held->type_id = 1;
	print_start("of its type", places, 2);
	ask_for("nic", 4, 2, 2)->gres_per_node = 1;
	print_start("of another kind", places, 2);
	FREE_NULL_LIST(find_job_record(1)->gres_list_req);
	print_start("without devices", places, 2);
	find_job_record(1)->details->whole_node = 1;
	print_start("on whole nodes", places, 2);
}

int main(int argc, char **argv)
{
	const char *scenario = (argc == 2) ? argv[1] : "";

	if (!strcmp(scenario, "numbers"))
		numbers();
	else if (!strcmp(scenario, "fewest"))
		fewest();
	else if (!strcmp(scenario, "sockets"))
		sockets();
	else if (!strcmp(scenario, "cpus"))
		cpus();
	else if (!strcmp(scenario, "defaults"))
		defaults();
	else if (!strcmp(scenario, "tasks"))
		tasks();
	else if (!strcmp(scenario, "start"))
		start();
	else if (!strcmp(scenario, "ending"))
		ending();
	else
		return 2;
	return 0;
}
