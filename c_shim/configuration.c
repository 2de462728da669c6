/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * configuration.c - facts about this slurmctld, and what it is configured to do. Whether that is as DFRS needs
 * it is decided elsewhere (crates/dfrs-proto/src/slurm_conf.rs).
 */
#include "internal.h"

#include "bits.h"
#include "loaded.h"

#include <errno.h>

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
	return dfrs_delivery_is_reported();
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

/* --- slurm.conf and cgroup.conf ---------------------------------------------------------------------- */

/* Whether burst_buffer_dfrs.so is to keep Slurm's own schedulers from jobs of DFRS partitions. */
static bool is_to_withhold(void)
{
	return dfrs_listed(slurm_conf.bb_type, "burst_buffer/dfrs") || dfrs_listed(slurm_conf.bb_type, "dfrs");
}

/* Whether it does. 22.05 loads it a moment after it has read its configuration. */
static bool withholds(void)
{
	struct timespec moment = { .tv_nsec = 50 * 1000 * 1000 };

	for (int tries = is_to_withhold() ? 100 : 0; tries; tries--) {
		void *library = dfrs_loaded_library("burst_buffer_dfrs.so");

		if (library) {
			(void) dlclose(library);
			return true;
		}
		(void) nanosleep(&moment, NULL);
	}
	return false;
}

static uint32_t idle_of(uint32_t suspend_time)
{
	if (suspend_time == NO_VAL)
		return DFRS_IDLE_AS_ALL;
	return (suspend_time == INFINITE) ? DFRS_IDLE_STAYS_UP : DFRS_IDLE_GOES_DOWN;
}

static void look_at_daemon(dfrs_conf_t *conf)
{
	uint16_t resources = slurm_conf.select_type_param;

	conf->select_type = xstrdup(slurm_conf.select_type);
	conf->scheduler_parameters = xstrdup(slurm_conf.sched_params);
	conf->proctrack_type = xstrdup(slurm_conf.proctrack_type);
	conf->task_plugin = xstrdup(slurm_conf.task_plugin);
	conf->gather_type = xstrdup(slurm_conf.job_acct_gather_type);
	conf->excepted_nodes = xstrdup(slurm_conf.suspend_exc_nodes);
	conf->excepted_partitions = xstrdup(slurm_conf.suspend_exc_parts);
	conf->idle = idle_of(slurm_conf.suspend_time);
	if (resources & DFRS_SELECTS_MEMORY)
		conf->flags |= DFRS_CONF_COUNTS_MEMORY;
	if (resources & DFRS_SELECTS_CORES_OR_CPUS)
		conf->flags |= DFRS_CONF_COUNTS_CORES;
	if (slurm_conf.preempt_mode & PREEMPT_MODE_GANG)
		conf->flags |= DFRS_CONF_SLICES_TIME;
	if (slurm_conf.suspend_program && slurm_conf.resume_program)
		conf->flags |= DFRS_CONF_SAVES_POWER;
}

static void look_at_cgroups(dfrs_conf_t *conf)
{
	const cgroup_conf_t *cgroups = dfrs_cgroup_conf();

	if (!cgroups)
		return;
	conf->cgroup_plugin = xstrdup(cgroups->cgroup_plugin);
	if (cgroups->constrain_swap_space)
		conf->flags |= DFRS_CONF_CONSTRAINS_SWAP;
}

/* How many nodes all partitions have together. */
static int count_members(void *record, void *argument)
{
	const part_record_t *partition = record;
	dfrs_conf_t *conf = argument;

	conf->partition_count++;
	if (partition->node_bitmap)
		conf->member_count += bit_set_count(partition->node_bitmap);
	return 0;
}

static uint32_t flags_of(const part_record_t *partition)
{
	uint32_t flags = 0;

	if (partition->max_share == (SHARED_FORCE | 1))
		flags |= DFRS_PARTITION_FORCED_TO_ONE;
	if ((partition->max_share & ~SHARED_FORCE) == 1)
		flags |= DFRS_PARTITION_SHARES_NO_CORES;
	if (dfrs_topology_exclusive(partition))
		flags |= DFRS_PARTITION_EXCLUSIVE_TOPOLOGY;
	if (dfrs_powers_down_on_idle(partition))
		flags |= DFRS_PARTITION_POWERS_DOWN_ON_IDLE;
	if (partition->state_up & PARTITION_SCHED)
		flags |= DFRS_PARTITION_TAKES_JOBS;
	return flags;
}

/* The counts are those of what is filled in so far. */
static int look_at_partition(void *record, void *argument)
{
	const part_record_t *partition = record;
	dfrs_conf_t *conf = argument;
	dfrs_conf_partition_t *out = &conf->partitions[conf->partition_count++];

	out->name = xstrdup(partition->name);
	out->flags = flags_of(partition);
	out->idle = idle_of(partition->suspend_time);
	out->member_offset = conf->member_count;
	if (!partition->node_bitmap)
		return 0;
	DFRS_FOR_EACH_BIT(index, partition->node_bitmap)
		conf->members[conf->member_count++] = (uint32_t) index;
	out->member_count = conf->member_count - out->member_offset;
	return 0;
}

static void look_at_partitions(dfrs_conf_t *conf)
{
	if (!part_list)
		return;
	(void) list_for_each_ro(part_list, count_members, conf);
	conf->partitions = xcalloc(conf->partition_count + 1, sizeof(*conf->partitions));
	conf->members = xcalloc(conf->member_count + 1, sizeof(*conf->members));
	conf->partition_count = conf->member_count = 0;
	(void) list_for_each_ro(part_list, look_at_partition, conf);
}

static void look_at_nodes(dfrs_conf_t *conf)
{
	conf->node_count = (uint32_t) MAX(node_record_count, 0);
	conf->nodes = xcalloc(conf->node_count + 1, sizeof(*conf->nodes));
	for (uint32_t i = 0; i < conf->node_count; i++)
		if (node_record_table_ptr[i])
			conf->nodes[i] = xstrdup(node_record_table_ptr[i]->name);
}

dfrs_conf_t *dfrs_conf_look(const char *whole, bool starts)
{
	dfrs_conf_t *conf = xmalloc(sizeof(*conf));

	dfrs_remember_whole(whole ? whole : "");
	/* 22.05 loads it late, which is waited for only if jobs are to be started. */
	if (starts ? withholds() : is_to_withhold())
		conf->flags |= DFRS_CONF_WITHHELD;
	dfrs_lock_read();
	look_at_daemon(conf);
	look_at_cgroups(conf);
	look_at_partitions(conf);
	look_at_nodes(conf);
	dfrs_unlock_read();
	return conf;
}

void dfrs_conf_free(dfrs_conf_t *conf)
{
	if (!conf)
		return;
	for (uint32_t i = 0; i < conf->partition_count; i++)
		xfree(conf->partitions[i].name);
	for (uint32_t i = 0; i < conf->node_count; i++)
		xfree(conf->nodes[i]);
	xfree(conf->partitions);
	xfree(conf->members);
	xfree(conf->nodes);
	xfree(conf->select_type);
	xfree(conf->scheduler_parameters);
	xfree(conf->proctrack_type);
	xfree(conf->task_plugin);
	xfree(conf->gather_type);
	xfree(conf->excepted_nodes);
	xfree(conf->excepted_partitions);
	xfree(conf->cgroup_plugin);
	xfree(conf);
}
