/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.c - slurmctld's locks, in the two sets that the shim uses: for how long they are held and
 * waited for, and pauses between long holds, or many short ones in a row, in which all other
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

/* As dfrs_lock_counts_t. */
typedef struct {
	_Atomic uint64_t count, held, waited, longest, longest_lately, longest_wait;
	_Atomic uint64_t holds[DFRS_LOCK_BUCKETS], waits[DFRS_LOCK_BUCKETS];
} counts_t;

static counts_t reads, writes;
static _Atomic uint64_t turns;
/* A thread holds one of the sets at a time. */
static __thread int64_t taken;
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

/* --- statistics ------------------------------------------------------------------------------------ */

/* The bucket is the length's first four binary digits, and how many more it has. */
static uint32_t bucket(uint64_t microseconds)
{
	uint32_t bits = microseconds ? 64 - __builtin_clzll(microseconds) : 0;
	uint32_t shift = (bits > 4) ? bits - 4 : 0;
	uint64_t index = 8 * shift + (microseconds >> shift);

	return (uint32_t) MIN(index, DFRS_LOCK_BUCKETS - 1);
}

static void raise_to(_Atomic uint64_t *max, uint64_t value)
{
	uint64_t seen = atomic_load_explicit(max, memory_order_relaxed);

	while ((seen < value) &&
	       !atomic_compare_exchange_weak_explicit(max, &seen, value, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

static void add(_Atomic uint64_t *sum, uint64_t value)
{
	atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
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

static void take(const slurmctld_lock_t *levels, counts_t *counts)
{
	int64_t asked;
	uint64_t wait;

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
	wait = microseconds_between(asked, taken);
	add(&turns, 1);
	add(&counts->count, 1);
	add(&counts->waited, wait);
	add(&counts->waits[bucket(wait)], 1);
	raise_to(&counts->longest_wait, wait);
}

static void give_back(const slurmctld_lock_t *levels, counts_t *counts)
{
	uint64_t hold;

	unlock_slurmctld(*levels);
	given_back = monotonic();
	held_in_a_row += given_back - taken;
	hold = microseconds_between(taken, given_back);
	add(&counts->held, hold);
	add(&counts->holds[bucket(hold)], 1);
	raise_to(&counts->longest, hold);
	raise_to(&counts->longest_lately, hold);
}

static dfrs_lock_counts_t copy_counts(counts_t *counts)
{
	dfrs_lock_counts_t copy = {
		.count = counts->count,
		.held = counts->held,
		.waited = counts->waited,
		.longest = counts->longest,
		.longest_lately = atomic_exchange(&counts->longest_lately, 0),
		.longest_wait = counts->longest_wait,
	};

	for (int i = 0; i < DFRS_LOCK_BUCKETS; i++) {
		copy.holds[i] = counts->holds[i];
		copy.waits[i] = counts->waits[i];
	}
	return copy;
}

void dfrs_lock_statistics(dfrs_lock_statistics_t *out)
{
	if (!out)
		return;
	out->reads = copy_counts(&reads);
	out->writes = copy_counts(&writes);
}

/* --- the two sets ------------------------------------------------------------------------------------ */

void dfrs_lock_read(void)
{
	take(&read_locks, &reads);
}

void dfrs_unlock_read(void)
{
	give_back(&read_locks, &reads);
}

void dfrs_lock_write(void)
{
	take(&write_locks, &writes);
}

void dfrs_unlock_write(void)
{
	give_back(&write_locks, &writes);
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
