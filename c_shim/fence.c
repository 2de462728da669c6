/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fence.c - keeps threads that fini() could not wait for away from slurmctld's records.
 */
#include "internal.h"

#include <stdatomic.h>
#include <unistd.h>

/* Which life of the plugin this is; one ends with each dfrs_fence_close(). */
static _Atomic uint64_t life = 1;
/* The life that the thread belongs to; 0: the fence is not for it. */
static __thread uint64_t mine;

void dfrs_fence_enter(void)
{
	mine = atomic_load(&life);
}

void dfrs_fence_close(void)
{
	(void) atomic_fetch_add(&life, 1);
}

bool dfrs_fenced_off(void)
{
	return mine && (mine != atomic_load(&life));
}

void dfrs_fence_pass(void)
{
	while (dfrs_fenced_off())
		(void) pause();
}
