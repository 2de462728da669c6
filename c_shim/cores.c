/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cores.c - which cores a job has in name. None is its own, and CPU time is shared out by dfrsd; but slurmd
 * counts them for SLURM_CPUS_ON_NODE of steps (_get_ncpus(), in 22.05 _check_job_credential()), srun gives
 * them to steps, and scontrol shows them.
 */
#include "internal.h"

/* Where the next job's begin on each node, so that jobs name different ones as long as there are any: where
 * Slurm binds tasks after all, not all of them are to be on the same. Under the write lock. */
static uint32_t *begins;
static int begin_count;

static uint32_t *begin_on(int node_index)
{
	int count = MAX(node_record_count, node_index + 1);

	if (count > begin_count) {
		xrecalloc(begins, count, sizeof(*begins));
		begin_count = count;
	}
	return &begins[node_index];
}

/* Cores that hold so many CPUs. */
static uint32_t cores_of(const node_record_t *node, uint32_t cpus, uint32_t count)
{
	uint32_t threads = MAX(node->cpus / count, 1);

	/* Slurm counts all of a node that is a job's own, whatever is kept for the system. */
	if (cpus >= node->cpus_efctv)
		return count;
	return MIN(MAX((cpus + threads - 1) / threads, 1), count);
}

/* CpuSpecList, CoreSpecCount. */
static bool is_for_jobs(const node_record_t *node, uint32_t core)
{
	const bitstr_t *usable = node->node_spec_bitmap;

	return !usable || (core >= bit_size((bitstr_t *) usable)) || bit_test((bitstr_t *) usable, core);
}

void dfrs_name_cores(bitstr_t *cores, uint32_t first, uint32_t count, const node_record_t *node,
		     uint32_t cpus)
{
	uint32_t wanted, *begin, tried = 0;

	if (!count || (first + count > bit_size(cores)))
		return;
	wanted = cores_of(node, cpus, count);
	if (wanted == count) {
		bit_nset(cores, first, first + count - 1);
		return;
	}
	begin = begin_on(node->index);
	bit_nclear(cores, first, first + count - 1);
	/* The second time round those that are kept for the system, too: never fewer than wanted. */
	while (wanted && (tried < 2 * count)) {
		uint32_t core = (*begin + tried) % count;

		if (((tried >= count) || is_for_jobs(node, core)) && !bit_test(cores, first + core)) {
			bit_set(cores, first + core);
			wanted--;
		}
		tried++;
	}
	*begin = (*begin + tried) % count;
}
