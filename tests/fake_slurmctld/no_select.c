/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_select.c - in place of the shim's select.c, where there is no select plugin: what it would say of
 * records that are changed at will.
 */
#include "mutations.h"

#include "internal.h"

bool dfrs_select_ready(void)
{
	return true;
}

uint32_t dfrs_select_others_cpus(int node, dfrs_is_ours_t is_ours, const void *context)
{
	return 0;
}

dfrs_list_t dfrs_select_devices(int node)
{
	return node_record_table_ptr[node]->gres_list;
}

uint64_t dfrs_select_memory(int node)
{
	return allocated_memory[node];
}

bool dfrs_select_visible(const part_record_t *partition, const bitstr_t *managed, uint32_t holders)
{
	return cores_are_visible;
}

bool dfrs_select_uncovered(const job_record_t *job, const bitstr_t *managed)
{
	return false;
}
