/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.c - the records in which select/cons_tres counts what is in use.
 *
 * DFRS shares CPUs among more tasks than there are cores, so cores must be no constraint in its
 * partitions while memory stays one. OverSubscribe=FORCE:<n> would do it with one row of cores per
 * n, but then every job that ends has all rows rebuilt, under the job write lock. FORCE:1 has one
 * row and a short cut; DFRS's jobs are put into that row without any core ("hidden").
 *
 * The plugin is loaded privately, so its records are found with dlsym(). The names and meanings used
 * here are those of select/cons_common in 22.05 and of select/cons_tres since.
 */
#include "internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef struct {
	node_use_record_t **nodes;
	part_res_record_t **parts;
	dfrs_add_job_t add_job;
	dfrs_rm_job_t rm_job;
} cons_tres_t;

/* What dlsym() finds is what the headers declare. */
#define SAME_TYPE(type, declared) \
	_Static_assert(__builtin_types_compatible_p(type, __typeof__(&declared)), #declared)
SAME_TYPE(node_use_record_t **, select_node_usage);
SAME_TYPE(part_res_record_t **, select_part_record);
SAME_TYPE(dfrs_rm_job_t, job_res_rm_job);
SAME_TYPE(dfrs_add_job_t, job_res_add_job);

static cons_tres_t cons_tres;
static pthread_once_t bind_once = PTHREAD_ONCE_INIT;

/* Looks for the library that slurmctld has loaded, in the directories it loads plugins from. */
static void *loaded_library(void)
{
	const char *directory = slurm_conf.plugindir;

	while (directory && *directory) {
		size_t length = strcspn(directory, ":");
		char path[4096];
		void *library;

		if ((size_t) snprintf(path, sizeof(path), "%.*s/select_cons_tres.so", (int) length,
				      directory) < sizeof(path)) {
			library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
			if (library)
				return library;
		}
		directory += length;
		directory += (*directory == ':');
	}
	return NULL;
}

static void bind_library(void)
{
	void *library = loaded_library();
	cons_tres_t found;

	if (!library)
		return;
	found.nodes = dlsym(library, "select_node_usage");
	found.parts = dlsym(library, "select_part_record");
	found.add_job = dlsym(library, "job_res_add_job");
	found.rm_job = dlsym(library, "job_res_rm_job");
	if (found.nodes && found.parts && found.add_job && found.rm_job)
		cons_tres = found;
}

bool dfrs_select_ready(void)
{
	pthread_once(&bind_once, bind_library);
	return cons_tres.nodes && *cons_tres.nodes && *cons_tres.parts;
}

uint64_t dfrs_select_memory(int node_index)
{
	return (*cons_tres.nodes)[node_index].alloc_memory;
}

void dfrs_select_add_memory(int node_index, uint64_t memory)
{
	(*cons_tres.nodes)[node_index].alloc_memory += memory;
}

void dfrs_select_take_memory(int node_index, uint64_t memory)
{
	uint64_t *allocated = &(*cons_tres.nodes)[node_index].alloc_memory;

	*allocated -= MIN(*allocated, memory);
}

static void remove_job(job_record_t *job, job_res_job_action_t action)
{
	(void) DFRS_RM_JOB(cons_tres.rm_job, *cons_tres.parts, *cons_tres.nodes, job, action);
}

/* Adds the job as one that uses no core. whole_node would stand for all cores of its nodes. */
static void add_job_hidden(job_record_t *job, job_res_job_action_t action)
{
	job_resources_t *resources = job->job_resrcs;
	bitstr_t *cores = resources->core_bitmap;
	uint8_t whole_node = resources->whole_node;

	resources->core_bitmap = bit_alloc(bit_size(cores));
	resources->whole_node = 0;
	(void) cons_tres.add_job(job, action);
	FREE_NULL_BITMAP(resources->core_bitmap);
	resources->core_bitmap = cores;
	resources->whole_node = whole_node;
}

void dfrs_select_remove(job_record_t *job)
{
	remove_job(job, JOB_RES_ACTION_NORMAL);
}

void dfrs_select_add_hidden(job_record_t *job)
{
	add_job_hidden(job, JOB_RES_ACTION_NORMAL);
}

static part_res_record_t *find_part(const part_record_t *partition)
{
	part_res_record_t *part = *cons_tres.parts;

	while (part && (part->part_ptr != partition))
		part = part->next;
	return part;
}

/* How often the job is in the rows. More than once: an operator resumed a job that was suspended
 * twice, by DFRS and by an operator. */
static uint32_t times_in_rows(const job_record_t *job)
{
	part_res_record_t *part = find_part(job->part_ptr);
	uint32_t times = 0;

	for (int row = 0; part && part->row && (row < part->num_rows); row++)
		for (uint32_t i = 0; i < part->row[row].num_jobs; i++)
			times += (part->row[row].job_list[i] == job->job_resrcs);
	return times;
}

void dfrs_select_hide(job_record_t *job)
{
	/* RESUME stands for "cores only", in both directions. */
	for (uint32_t times = times_in_rows(job); times > 0; times--)
		remove_job(job, JOB_RES_ACTION_RESUME);
	add_job_hidden(job, JOB_RES_ACTION_RESUME);
}

bool dfrs_select_visible(part_record_t *partition, uint32_t jobs)
{
	part_res_record_t *part = find_part(partition);
	uint32_t in_rows = 0;

	if (!part || !part->row)
		return jobs > 0;
	for (int row = 0; row < part->num_rows; row++) {
		in_rows += part->row[row].num_jobs;
		if (!part->row[row].row_bitmap || !partition->node_bitmap)
			continue;
		for (int i = 0; next_node(&i); i++) {
			bitstr_t *cores = part->row[row].row_bitmap[i];

			if (cores && bit_test(partition->node_bitmap, i) && (bit_ffs(cores) != -1))
				return true;
		}
	}
	return in_rows < jobs;
}

/* --- hiding all -------------------------------------------------------------------------------- */

/* About 20 microseconds each: a slice holds the lock for a few milliseconds. */
#define HIDE_SLICE 200

typedef struct {
	const char *partitions;
	uint32_t *job_ids;
	uint32_t count, room;
	bool no_memory;
} hide_t;

/* Jobs that an operator has suspended (priority 0) are not in the rows, those of DFRS are. */
static bool holds_cores(const job_record_t *job, const char *partitions)
{
	return (IS_JOB_RUNNING(job) || (IS_JOB_SUSPENDED(job) && job->priority)) &&
	       !IS_JOB_COMPLETING(job) && job->job_resrcs &&
	       job->job_resrcs->core_bitmap && job->part_ptr &&
	       dfrs_listed(partitions, job->part_ptr->name);
}

static int collect_job(void *record, void *argument)
{
	job_record_t *job = record;
	hide_t *hide = argument;

	if (!dfrs_is_job(job) || !holds_cores(job, hide->partitions))
		return 0;
	if (hide->count == hide->room) {
		uint32_t room = hide->room ? 2 * hide->room : 256;
		uint32_t *larger = realloc(hide->job_ids, room * sizeof(*larger));

		if (!larger) {
			hide->no_memory = true;
			return -1;
		}
		hide->job_ids = larger;
		hide->room = room;
	}
	hide->job_ids[hide->count++] = job->job_id;
	return 0;
}

static uint32_t jobs_in(const hide_t *hide, const part_record_t *partition)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < hide->count; i++) {
		job_record_t *job = dfrs_find_job(hide->job_ids[i]);

		count += (job && (job->part_ptr == partition));
	}
	return count;
}

typedef struct {
	hide_t *hide;
	bool visible;
} visible_t;

static int look_at_partition(void *record, void *argument)
{
	part_record_t *partition = record;
	visible_t *look = argument;

	if (dfrs_listed(look->hide->partitions, partition->name) &&
	    dfrs_select_visible(partition, jobs_in(look->hide, partition)))
		look->visible = true;
	return look->visible ? -1 : 0;
}

int dfrs_hide_cores(const char *partitions)
{
	hide_t hide = { .partitions = partitions };
	visible_t look = { .hide = &hide };
	int hidden = 0;

	dfrs_lock_read();
	if (dfrs_select_ready() && job_list && part_list) {
		(void) list_for_each_ro(job_list, collect_job, &hide);
		(void) list_for_each_ro(part_list, look_at_partition, &look);
	}
	dfrs_unlock_read();

	for (uint32_t next = 0; look.visible && (next < hide.count);) {
		uint32_t end = MIN(hide.count, next + HIDE_SLICE);

		dfrs_lock_write();
		for (; next < end; next++) {
			job_record_t *job = dfrs_find_job(hide.job_ids[next]);

			if (job && dfrs_select_ready() && holds_cores(job, partitions)) {
				dfrs_select_hide(job);
				hidden++;
			}
		}
		dfrs_unlock_write();
	}
	free(hide.job_ids);
	return hidden;
}
