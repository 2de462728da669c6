/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statistics.c - DFRS's cycles in the counters that sdiag and the exporters read.
 */
#include "internal.h"

void dfrs_count_cycle(uint32_t microseconds, uint32_t queue_length, uint32_t depth,
		      uint32_t started)
{
	diag_stats_t *stats = &slurmctld_diag_stats;

	stats->bf_cycle_counter++;
	stats->bf_cycle_last = microseconds;
	stats->bf_cycle_max = MAX(stats->bf_cycle_max, microseconds);
	stats->bf_cycle_sum += microseconds;
	stats->bf_last_depth = depth;
	stats->bf_depth_sum += depth;
	stats->bf_last_depth_try = depth;
	stats->bf_depth_try_sum += depth;
	stats->bf_queue_len = queue_length;
	stats->bf_queue_len_sum += queue_length;
	stats->bf_when_last_cycle = time(NULL);
	stats->last_backfilled_jobs = started;
}
