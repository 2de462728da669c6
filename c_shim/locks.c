/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.c - slurmctld's locks, in the two sets that the shim uses.
 */
#include "internal.h"

static const slurmctld_lock_t read_locks = DFRS_READ_LOCKS;
static const slurmctld_lock_t write_locks = DFRS_WRITE_LOCKS;

void dfrs_lock_read(void)
{
	lock_slurmctld(read_locks);
}

void dfrs_unlock_read(void)
{
	unlock_slurmctld(read_locks);
}

void dfrs_lock_write(void)
{
	lock_slurmctld(write_locks);
}

void dfrs_unlock_write(void)
{
	unlock_slurmctld(write_locks);
}
