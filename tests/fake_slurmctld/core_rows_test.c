/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core_rows_test.c - the shim's calls on the records in which select/cons_tres counts what is in
 * use, which Slurm's own files keep.
 *
 * usage: rows SCENARIO
 *
 * before: jobs of before a partition was OverSubscribe=FORCE share no core, until they are hidden. given_away: nodes
 * with jobs of DFRS leave its partitions.
 * Prints what was found; a test looks at it.
 */
#include "mutations.h"

#include "internal.h"

#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#define PARTITIONS "dfrs,dfrs2"
#define NODES 4
#define CORES 32

extern bool select_state_initializing;
extern int core_array_size;

/* --- the records --------------------------------------------------------------------------------------- */

static void force_sharing(const char *name)
{
	find_part_record((char *) name)->max_share = SHARED_FORCE | 1;
}

static void make_records(void)
{
	static char path[4096];

	make_nodes(NODES);
	for (int i = 0; i < NODES; i++)
		node_record_table_ptr[i]->tot_cores = CORES;
	force_sharing("dfrs");
	force_sharing("dfrs2");
	find_part_record("other")->max_share = 1;
	core_array_size = NODES;
	select_node_usage = xcalloc(NODES, sizeof(*select_node_usage));
	part_data_create_array();
	select_state_initializing = false;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		_exit(2);
	slurm_conf.plugindir = dirname(path);
}

/* As select_p_reconfigure(): all is counted again. */
static int count_job(void *record, void *argument)
{
	job_record_t *job = record;

	if (IS_JOB_RUNNING(job))
		(void) job_res_add_job(job, JOB_RES_ACTION_NORMAL);
	return 0;
}

static void count_again(void)
{
	select_node_usage = xcalloc(NODES, sizeof(*select_node_usage));
	part_data_create_array();
	(void) list_for_each(job_list, count_job, NULL);
}

/* Runs on these nodes and the first so many cores of each. */
static job_record_t *start_job(uint32_t job_id, const char *partition, int first, int hosts,
			       int first_core, int cores, uint32_t node_req)
{
	job_record_t *job = new_job(job_id);

	job->part_ptr = find_part_record((char *) partition);
	run_job(job, first, hosts);
	for (int i = 0; i < hosts; i++)
		bit_nset(job->job_resrcs->core_bitmap, i * CORES + first_core,
			 i * CORES + first_core + cores - 1);
	job->job_resrcs->node_req = node_req;
	(void) job_res_add_job(job, JOB_RES_ACTION_NORMAL);
	return job;
}

static void end_job(job_record_t *job)
{
	(void) DFRS_RM_JOB(job_res_rm_job, select_part_record, select_node_usage, job,
			   JOB_RES_ACTION_NORMAL);
	remove_job(job);
}

/* --- what is said of them ------------------------------------------------------------------------------ */

/* Cores of a node that Slurm counts as used, by all partitions. */
static int cores_used(int node)
{
	int used = 0;

	for (part_res_record_t *part = select_part_record; part; part = part->next)
		if (part->row && part->row->row_bitmap && part->row->row_bitmap[node])
			used += bit_set_count(part->row->row_bitmap[node]);
	return used;
}

static void print_nodes(const char *what)
{
	static const char *states[] = { "up", "draining", "down" };
	dfrs_view_t *view = dfrs_view_create();
	dfrs_snapshot_t snapshot;

	if (dfrs_snapshot(view, PARTITIONS, &snapshot))
		_exit(5);
	printf("%s:", what);
	for (uint32_t i = 0; i < snapshot.node_count; i++) {
		const dfrs_node_t *node = &snapshot.nodes[i];

		printf(" %s %s %d %u", snapshot.strings + node->name, states[node->state],
		       cores_used(node->index), select_node_usage[node->index].node_state);
		if (node->others_cpus)
			printf(" others %u", node->others_cpus);
		printf(",");
	}
	printf(" visible %d\n", snapshot.cores_visible);
	dfrs_snapshot_free(&snapshot);
	dfrs_view_destroy(view);
}

static void hide(void)
{
	printf("hidden %d\n", dfrs_hide_cores(PARTITIONS));
}

/* --- before -------------------------------------------------------------------------------------------- */

static void before(void)
{
	job_record_t *one, *two, *three, *other;

	make_records();
	one = start_job(1, "dfrs", 0, 2, 0, 4, NODE_CR_ONE_ROW);
	three = start_job(3, "dfrs", 3, 1, 0, 32, NODE_CR_RESERVED);
	/* Started by DFRS while slurmctld had forgotten that the first is hidden: they overlap. */
	two = start_job(2, "dfrs", 0, 1, 2, 8, NODE_CR_ONE_ROW);
	other = start_job(4, "other", 1, 1, 8, 4, NODE_CR_ONE_ROW);
	print_nodes("counted");
	hide();
	print_nodes("hidden");
	hide();
	count_again();
	print_nodes("counted again");
	hide();
	print_nodes("hidden again");
	end_job(one);
	end_job(other);
	print_nodes("two have ended");
	end_job(two);
	end_job(three);
	print_nodes("all have ended");
}

/* --- given away ---------------------------------------------------------------------------------------- */

/* As scontrol update partition. */
static void give_nodes(const char *partition, const char *nodes)
{
	bitstr_t *bits = find_part_record((char *) partition)->node_bitmap;

	bit_clear_all(bits);
	for (const char *node = nodes; *node; node++)
		bit_set(bits, *node - '0');
	count_again();
}

static void give_away(void)
{
	job_record_t *one, *two, *three;

	make_records();
	one = start_job(1, "dfrs", 0, 2, 0, 4, NODE_CR_AVAILABLE);
	two = start_job(2, "dfrs", 1, 1, 2, 4, NODE_CR_AVAILABLE);
	three = start_job(3, "dfrs2", 2, 1, 0, 4, NODE_CR_AVAILABLE);
	hide();
	print_nodes("hidden");
	give_nodes("dfrs2", "3");
	give_nodes("dfrs", "03");
	print_nodes("given away");
	hide();
	print_nodes("shown");
	hide();
	end_job(one);
	print_nodes("one has ended");
	hide();
	print_nodes("shown again");
	give_nodes("dfrs", "0123");
	print_nodes("taken back");
	hide();
	print_nodes("hidden again");
	end_job(two);
	end_job(three);
	print_nodes("all have ended");
}

int main(int argc, char **argv)
{
	const char *scenario = (argc == 2) ? argv[1] : "";

	if (!strcmp(scenario, "before"))
		before();
	else if (!strcmp(scenario, "given_away"))
		give_away();
	else
		return 2;
	return 0;
}
