/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * embedded_backfill.c - Slurm's backfill.c, unchanged, and what has to reach into it.
 */
#include "src/plugins/sched/backfill/backfill.c"

void dfrs_backfill_arm(void);

/* Slurm sets this once and never clears it: it counts on the library being unloaded in between. Ours may
 * have to stay (dfrs_keep_loaded()), and slurmctld starts it again when a backup controller takes over
 * twice, or when it could not reconfigure (24.11). */
void dfrs_backfill_arm(void)
{
	stop_backfill = false;
}
