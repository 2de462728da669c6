/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * configuration.c - facts about this slurmctld, and whether it is configured as DFRS needs it.
 */
#include "internal.h"

#include "loaded.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

bool dfrs_scheduling_enabled(void)
{
	return !slurmctld_config.scheduling_disabled;
}

bool dfrs_is_primary(void)
{
	/* A backup that took over has set the first one to false and runs as a primary does: it
	 * then has jobs and nodes. Before that, its job list does not exist. */
	return job_list && node_record_count && !slurmctld_config.shutdown_time &&
	       !slurmctld_config.resume_backup;
}

bool dfrs_delivery_known(void)
{
	return dfrs_delivery_is_told();
}

int64_t dfrs_last_partition_update(void)
{
	return (int64_t) last_part_update;
}

int64_t dfrs_last_update(void)
{
	return MAX(MAX(last_job_update, last_node_update), MAX(last_part_update, last_resv_update));
}

/* --- directories --------------------------------------------------------------------------------- */

static int copy_text(const char *text, size_t length, char *out, size_t size)
{
	if (!out || !size)
		return EINVAL;
	out[0] = '\0';
	if (!text || !length)
		return ENOENT;
	if (length >= size)
		return ENAMETOOLONG;
	memcpy(out, text, length);
	out[length] = '\0';
	return SLURM_SUCCESS;
}

int dfrs_conf_directory(char *out, size_t size)
{
	const char *path = slurm_conf.slurm_conf;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!slash)
		return copy_text(".", 1, out, size);
	return copy_text(path, (slash == path) ? 1 : (size_t) (slash - path), out, size);
}

int dfrs_state_directory(char *out, size_t size)
{
	const char *path = slurm_conf.state_save_location;

	return copy_text(path, path ? strlen(path) : 0, out, size);
}

/* --- slurm.conf ------------------------------------------------------------------------------------ */

/* What is wrong first, in one line. */
typedef struct {
	const char *partitions;
	const char *whole; /* those of them whose jobs get whole nodes */
	char *text;
	size_t size;
	uint32_t found; /* of the named partitions */
	bitstr_t *managed; /* nodes of these */
	const part_record_t *apart; /* one of `whole` */
} problem_t;

static void say(problem_t *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(problem_t *problem, const char *format, ...)
{
	va_list arguments;

	if (problem->text[0])
		return;
	va_start(arguments, format);
	vsnprintf(problem->text, problem->size, format, arguments);
	va_end(arguments);
}

/* Whether a comma-separated option list has this option, alone or with "=value". */
static bool has_option(const char *options, const char *wanted)
{
	size_t length = strlen(wanted);

	while (options && *options) {
		size_t part = strcspn(options, ",");

		if ((part == length) && !strncasecmp(options, wanted, length))
			return true;
		options += part;
		options += (*options == ',');
	}
	return false;
}

/* Whether burst_buffer_dfrs.so keeps Slurm's own schedulers from jobs of DFRS partitions. 22.05 loads it
 * a moment after it has read its configuration. */
static bool withholds(void)
{
	struct timespec moment = { .tv_nsec = 50 * 1000 * 1000 };

	if (!has_option(slurm_conf.bb_type, "burst_buffer/dfrs") &&
	    !has_option(slurm_conf.bb_type, "dfrs"))
		return false;
	for (int tries = 100; tries; tries--) {
		void *library = dfrs_loaded_library("burst_buffer_dfrs.so");

		if (library) {
			(void) dlclose(library);
			return true;
		}
		(void) nanosleep(&moment, NULL);
	}
	return false;
}

/* may_start: Slurm's own schedulers may look at jobs of these partitions: they are theirs, or withheld. */
static void check_daemon(problem_t *problem, bool may_start)
{
	const char *select = slurm_conf.select_type;
	uint16_t resources = slurm_conf.select_type_param;

	if (!select || strcmp(select, "select/cons_tres"))
		say(problem, "slurm.conf: SelectType=%s: DFRS needs SelectType=select/cons_tres",
		    select ? select : "(none)");
	if (!(resources & DFRS_SELECTS_MEMORY) || !(resources & DFRS_SELECTS_CORES_OR_CPUS))
		say(problem, "slurm.conf: SelectTypeParameters: DFRS needs SelectTypeParameters=CR_Core_Memory");
	if (!may_start && (!has_option(slurm_conf.sched_params, "sched_interval=-1") ||
			   !has_option(slurm_conf.sched_params, "defer")))
		say(problem, "slurm.conf: Slurm starts DFRS's jobs itself: set BurstBufferType=burst_buffer/dfrs and restart slurmctld, or add sched_interval=-1,defer,bf_interval=5,bf_max_time=30 to SchedulerParameters=%s",
		    slurm_conf.sched_params ? slurm_conf.sched_params : "");
	if (slurm_conf.preempt_mode & PREEMPT_MODE_GANG)
		say(problem, "slurm.conf: PreemptMode=GANG: its time slicer suspends and resumes jobs as DFRS does; take GANG out");
}

/* Whether Slurm powers the partition's nodes down when nothing runs there. PowerDownOnIdle (23.02 and later) asks no
 * list of exceptions. */
static bool powers_down(const part_record_t *partition)
{
	uint32_t idle = partition->suspend_time;

	if (!slurm_conf.suspend_program || !slurm_conf.resume_program)
		return false;
#ifdef PART_FLAG_PDOI
	if (partition->flags & PART_FLAG_PDOI)
		return true;
#endif
	if (idle == NO_VAL)
		idle = slurm_conf.suspend_time;
	return (idle != NO_VAL) && (idle != INFINITE) &&
	       !dfrs_listed(slurm_conf.suspend_exc_parts, partition->name);
}

static int check_managed(void *record, void *argument)
{
	part_record_t *partition = record;
	problem_t *problem = argument;

	if (!dfrs_listed(problem->partitions, partition->name))
		return 0;
	problem->found++;
	if (partition->max_share != (SHARED_FORCE | 1))
		say(problem, "slurm.conf: PartitionName=%s: DFRS needs OverSubscribe=FORCE:1 in its partitions",
		    partition->name);
	if (dfrs_topology_exclusive(partition))
		say(problem, "slurm.conf: PartitionName=%s: DFRS does not know which nodes a job of Exclusive=TOPO (ExclusiveTopo) keeps others from: take it out",
		    partition->name);
	if (powers_down(partition))
		say(problem, "slurm.conf: PartitionName=%s: DFRS does not wake nodes that power saving has put to sleep: add it to SuspendExcParts, without PowerDownOnIdle",
		    partition->name);
	if (partition->node_bitmap)
		bit_or(problem->managed, partition->node_bitmap);
	return 0;
}

/* Jobs of other partitions neither see those of DFRS on a node nor leave it them. */
static int check_other(void *record, void *argument)
{
	part_record_t *partition = record;
	problem_t *problem = argument;

	if (dfrs_listed(problem->partitions, partition->name) || !partition->node_bitmap ||
	    !(partition->state_up & PARTITION_SCHED))
		return 0;
	if (bit_overlap_any(partition->node_bitmap, problem->managed))
		say(problem, "slurm.conf: PartitionName=%s shares nodes with a DFRS partition: give it other nodes or State=DOWN",
		    partition->name);
	return 0;
}

static int check_apart(void *record, void *argument)
{
	part_record_t *partition = record;
	problem_t *problem = argument;
	const part_record_t *apart = problem->apart;

	if ((partition == apart) || !partition->node_bitmap || !apart->node_bitmap ||
	    !dfrs_listed(problem->partitions, partition->name))
		return 0;
	if (bit_overlap_any(partition->node_bitmap, apart->node_bitmap))
		say(problem, "slurm.conf: PartitionName=%s shares nodes with %s, which has Policy=DEMT in dfrs.conf: give it other nodes",
		    partition->name, apart->name);
	return 0;
}

/* Jobs that get whole nodes and others that share them would take them from each other for ever. */
static int check_whole(void *record, void *argument)
{
	part_record_t *partition = record;
	problem_t *problem = argument;

	if (!dfrs_listed(problem->whole, partition->name))
		return 0;
	problem->apart = partition;
	(void) list_for_each_ro(part_list, check_apart, problem);
	return 0;
}

static const char *first_missing(const char *partitions, char *name, size_t size)
{
	while (*partitions) {
		size_t length = strcspn(partitions, ",");

		if (length && (length < size)) {
			memcpy(name, partitions, length);
			name[length] = '\0';
			if (!find_part_record(name))
				return name;
		}
		partitions += length;
		partitions += (*partitions == ',');
	}
	return NULL;
}

void dfrs_conf_problem(const char *partitions, const char *whole, bool starts, char *out, size_t size)
{
	problem_t problem = { .partitions = partitions ? partitions : "", .whole = whole,
			      .text = out, .size = size };
	char name[256];
	const char *missing;
	bool may_start;

	if (!out || !size)
		return;
	out[0] = '\0';
	dfrs_remember_whole(whole ? whole : "");
	may_start = !starts || withholds();
	dfrs_lock_read();
	check_daemon(&problem, may_start);
	problem.managed = bit_alloc(MAX(node_record_count, 1));
	missing = first_missing(problem.partitions, name, sizeof(name));
	if (missing)
		say(&problem, "dfrs.conf: Partition=%s: slurm.conf has no such partition", missing);
	if (part_list) {
		(void) list_for_each_ro(part_list, check_managed, &problem);
		(void) list_for_each_ro(part_list, check_other, &problem);
		if (whole && *whole)
			(void) list_for_each_ro(part_list, check_whole, &problem);
	}
	if (!problem.found)
		say(&problem, "dfrs.conf: no Partition= line: DFRS has nothing to manage");
	FREE_NULL_BITMAP(problem.managed);
	dfrs_unlock_read();
}
