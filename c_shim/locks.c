/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.c - slurmctld's locks, in the two sets that the shim uses, and pauses between long holds, or many short ones in a row, in which all other
 * threads get in.
 */
#include "internal.h"

#include <stdatomic.h>

/* A slice is over after this; what looks at the clock now and then overshoots it a little. */
#define SLICE_NANOSECONDS (4 * 1000000LL)
/* A pause takes at least so long: a thread that waits for the lock is woken and takes it. Slurm's
 * locks are not fair to waiting threads when they are given back and taken again at once: a writer
 * that comes just then is let in before the writer that waits. */
#define MIN_PAUSE_NANOSECONDS (500 * 1000LL)
/* A pause is so many times shorter than the holds before it. */
#define HOLDS_A_PAUSE 4
/* One look at the clock for so many pieces of work. */
#define PIECES_A_LOOK 8

static const slurmctld_lock_t read_locks = DFRS_READ_LOCKS;
static const slurmctld_lock_t write_locks = DFRS_WRITE_LOCKS;

static _Atomic(dfrs_lock_observer_t) observer;
static _Atomic uint64_t turns;
/* A thread holds one of the sets at a time. */
static __thread int64_t asked, taken;
static __thread uint32_t pieces;
/* When this thread gave a set back, and for how long it held them since another thread could last
 * get in. */
static __thread int64_t given_back, held_in_a_row;

static int64_t monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static uint64_t microseconds_between(int64_t from, int64_t to)
{
	return (to > from) ? (uint64_t) (to - from) / 1000 : 0;
}

/* --- pauses ------------------------------------------------------------------------------------------- */

static void pause_for(int64_t nanoseconds)
{
	struct timespec time = { .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000 };

	(void) nanosleep(&time, NULL);
}

/* Lets all other threads in when this thread has held the locks for a slice with nothing in
 * between, as one hold or as many, such as the starts of many jobs. */
static void pause_if_due(void)
{
	if (monotonic() - given_back >= MIN_PAUSE_NANOSECONDS) {
		held_in_a_row = 0;
	} else if (held_in_a_row >= SLICE_NANOSECONDS) {
		int64_t fair = MIN(held_in_a_row, 4 * SLICE_NANOSECONDS) / HOLDS_A_PAUSE;

		held_in_a_row = 0;
		pause_for(MAX(fair, MIN_PAUSE_NANOSECONDS));
	}
}

/* --- taking and giving back ------------------------------------------------------------------------------ */

static void take(const slurmctld_lock_t *levels)
{
	pause_if_due();
	asked = monotonic();
	dfrs_fence_pass();
	lock_slurmctld(*levels);
	if (dfrs_fenced_off()) {
		unlock_slurmctld(*levels);
		dfrs_fence_pass(); /* does not return */
	}
	taken = monotonic();
	pieces = 0;
	atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
}

static void give_back(const slurmctld_lock_t *levels)
{
	dfrs_lock_observer_t observe = observer;

	unlock_slurmctld(*levels);
	given_back = monotonic();
	held_in_a_row += given_back - taken;
	if (observe)
		observe(levels == &write_locks, microseconds_between(asked, taken),
			microseconds_between(taken, given_back));
}

void dfrs_observe_locks(dfrs_lock_observer_t on_lock)
{
	observer = on_lock;
}

/* --- the two sets ------------------------------------------------------------------------------------ */

void dfrs_lock_read(void)
{
	take(&read_locks);
}

void dfrs_unlock_read(void)
{
	give_back(&read_locks);
}

void dfrs_lock_write(void)
{
	take(&write_locks);
}

void dfrs_unlock_write(void)
{
	give_back(&write_locks);
}

uint64_t dfrs_lock_generation(void)
{
	return atomic_load_explicit(&turns, memory_order_relaxed);
}

/* --- a change of one job --------------------------------------------------------------------------------- */

int dfrs_change_job(uint32_t job_id, dfrs_changes_t changes, dfrs_job_change_t change, void *context)
{
	job_record_t *job;
	int rc = ESLURM_INVALID_JOB_ID;

	dfrs_lock_write();
	job = dfrs_find_job(job_id);
	if (job && job->details)
		rc = change(job, context);
	if (!rc && (changes >= DFRS_CHANGES_JOB))
		last_job_update = time(NULL);
	if (!rc && (changes >= DFRS_CHANGES_MEMORY))
		last_node_update = time(NULL);
	dfrs_unlock_write();
	if (!rc && (changes >= DFRS_CHANGES_SAVED))
		schedule_job_save();
	return rc;
}

/* --- slices -------------------------------------------------------------------------------------------- */

static bool slice_over(void)
{
	return !(++pieces % PIECES_A_LOOK) && (monotonic() - taken >= SLICE_NANOSECONDS);
}

void dfrs_next_piece_write(void)
{
	if (!slice_over())
		return;
	dfrs_unlock_write();
	dfrs_lock_write();
}

void dfrs_next_piece_read(void)
{
	if (!slice_over())
		return;
	dfrs_unlock_read();
	dfrs_lock_read();
}

/* Fills positions with those of the things that are to be changed; returns how many these are. */
static uint32_t find_differing(uint32_t count, dfrs_change_t change, const void *what, uint32_t *positions)
{
	uint32_t others = 0;

	dfrs_lock_read();
	for (uint32_t i = 0; i < count; i++) {
		if (change(what, i, false))
			positions[others++] = i;
		dfrs_next_piece_read();
	}
	dfrs_unlock_read();
	return others;
}

void dfrs_change_differing(uint32_t count, dfrs_change_t change, const void *what)
{
	uint32_t *positions = count ? calloc(count, sizeof(*positions)) : NULL;
	uint32_t others = positions ? find_differing(count, change, what, positions) : 0;

	if (others)
		dfrs_lock_write();
	for (uint32_t i = 0; i < others; i++) {
		change(what, positions[i], true);
		dfrs_next_piece_write();
	}
	if (others)
		dfrs_unlock_write();
	free(positions);
}
