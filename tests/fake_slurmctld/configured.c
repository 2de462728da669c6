/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * configured.c - puts a file of tests/configurations into slurmctld's records, as slurmctld does with slurm.conf
 * and cgroup.conf. Keys that no record of the fake slurmctld has are passed over.
 */
#include "slurmctld.h"

#include <stdio.h>

extern cgroup_conf_t slurm_cgroup_conf;

static bool is(const char *word, const char *other)
{
	return !strcasecmp(word, other);
}

static void set_text(char **text, const char *value)
{
	xfree(*text);
	*text = xstrdup(value);
}

static uint32_t seconds(const char *value)
{
	return is(value, "INFINITE") ? INFINITE : (uint32_t) strtoul(value, NULL, 10);
}

/* A text of slurm.conf or cgroup.conf by its key; NULL: it is none. */
static char **text_of(const char *key)
{
	const struct {
		const char *key;
		char **text;
	} texts[] = {
		{ "SchedulerParameters", &slurm_conf.sched_params },
		{ "SelectType", &slurm_conf.select_type },
		{ "ProctrackType", &slurm_conf.proctrack_type },
		{ "TaskPlugin", &slurm_conf.task_plugin },
		{ "JobAcctGatherType", &slurm_conf.job_acct_gather_type },
		{ "PreemptType", &slurm_conf.preempt_type },
		{ "SuspendProgram", &slurm_conf.suspend_program },
		{ "ResumeProgram", &slurm_conf.resume_program },
		{ "SuspendExcNodes", &slurm_conf.suspend_exc_nodes },
		{ "SuspendExcParts", &slurm_conf.suspend_exc_parts },
		{ "CgroupPlugin", &slurm_cgroup_conf.cgroup_plugin },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (is(key, texts[i].key))
			return texts[i].text;
	return NULL;
}

static void set(const char *key, const char *value)
{
	char **text = text_of(key);

	if (text)
		set_text(text, value);
	else if (is(key, "SelectTypeParameters"))
		slurm_conf.select_type_param =
			DFRS_SELECTS_CORES |
			(strstr(value, "MEMORY") ? DFRS_SELECTS_MEMORY : 0);
	else if (is(key, "PreemptMode"))
		slurm_conf.preempt_mode = strstr(value, "GANG") ?
						  PREEMPT_MODE_GANG | PREEMPT_MODE_SUSPEND :
						  PREEMPT_MODE_REQUEUE;
	else if (is(key, "SuspendTime"))
		slurm_conf.suspend_time = seconds(value);
	else if (is(key, "ConstrainSwapSpace"))
		slurm_cgroup_conf.constrain_swap_space = is(value, "yes");
}

static part_record_t *partition_of(const char *name)
{
	part_record_t *partition = find_part_record((char *) name);

	if (partition)
		return partition;
	partition = xmalloc(sizeof(*partition));
	partition->magic = PART_MAGIC;
	partition->name = xstrdup(name);
	partition->node_bitmap = bit_alloc(node_record_count);
	partition->max_nodes = partition->max_time = INFINITE;
	list_append(part_list, partition);
	return partition;
}

static void set_flag(part_record_t *partition, const char *key)
{
#ifdef PART_FLAG_PDOI
	if (is(key, "PowerDownOnIdle")) {
		partition->flags |= PART_FLAG_PDOI;
		return;
	}
#endif
#ifdef PART_FLAG_EXCLUSIVE_TOPO
	if (is(key, "ExclusiveTopo")) {
		partition->flags |= PART_FLAG_EXCLUSIVE_TOPO;
		return;
	}
#endif
	if (is(key, "PowerDownOnIdle") || is(key, "ExclusiveTopo"))
		printf("not in this Slurm: %s\n", key);
}

static void set_of_partition(part_record_t *partition, const char *key, const char *value)
{
	unsigned first, last;

	if (is(key, "Nodes") && (sscanf(value, "n[%u-%u]", &first, &last) == 2))
		bit_nset(partition->node_bitmap, first - 1, last - 1);
	else if (is(key, "OverSubscribe"))
		partition->max_share = (sscanf(value, "FORCE:%u", &first) == 1) ? (SHARED_FORCE | first) : 1;
	else if (is(key, "State"))
		partition->state_up = is(value, "UP") ? PARTITION_UP : PARTITION_DOWN;
	else if (is(key, "SuspendTime"))
		partition->suspend_time = seconds(value);
	else
		set_flag(partition, key);
}

/* The rest of a line PartitionName=... */
static void set_partition(const char *name, char **rest)
{
	part_record_t *partition = partition_of(name);
	char *word;

	bit_clear_all(partition->node_bitmap);
	partition->suspend_time = NO_VAL;
	partition->flags = 0;
	while ((word = strtok_r(NULL, " \n", rest))) {
		char *value = strchr(word, '=');

		if (value) {
			*value = '\0';
			set_of_partition(partition, word, value + 1);
		}
	}
}

void configure(const char *directory, const char *name)
{
	char path[4096], line[4096];
	bool is_slurms = true;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	if (!file)
		exit(2);
	while (fgets(line, sizeof(line), file)) {
		char *rest = NULL;
		char *key = strtok_r(line, "=\n", &rest);
		char *value = key ? strtok_r(NULL, " \n", &rest) : NULL;

		if (line[0] == '[')
			is_slurms = strncmp(line, "[dfrs.conf]", 11);
		else if (!is_slurms || !value || (line[0] == '#'))
			continue;
		else if (is(key, "PartitionName"))
			set_partition(value, &rest);
		else
			set(key, value);
	}
	fclose(file);
}
