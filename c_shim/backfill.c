/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backfill.c - Slurm's own backfill, for the partitions that DFRS does not manage.
 *
 * The backfill.c of the very Slurm source this is built from is compiled into the plugin unchanged,
 * with build_job_queue renamed to dfrs_build_job_queue. That is the one place where it learns which
 * jobs there are.
 */
#include "internal.h"

#include <pthread.h>

static pthread_mutex_t backfill_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool running;
static pthread_mutex_t hidden_lock = PTHREAD_MUTEX_INITIALIZER;
static char *hidden;

extern dfrs_list_t dfrs_build_job_queue(bool clear_start, bool backfill);
extern void dfrs_backfill_arm(void); /* embedded_backfill.c */

static int is_hidden(void *record, void *argument)
{
	job_queue_rec_t *entry = record;

	return entry->part_ptr && dfrs_listed(hidden, entry->part_ptr->name);
}

dfrs_list_t dfrs_build_job_queue(bool clear_start, bool backfill)
{
	dfrs_list_t queue;
	int count;

	if (dfrs_jobs_wrong()) {
		static bool said;

		if (!said)
			error("dfrs: backfill sees no jobs: their records are of another version of Slurm");
		said = true;
		return list_create(xfree_ptr);
	}
	queue = build_job_queue(clear_start, backfill);
	pthread_mutex_lock(&hidden_lock);
	count = list_delete_all(queue, is_hidden, NULL);
	pthread_mutex_unlock(&hidden_lock);
	debug2("dfrs: %d of %d queue records are none of backfill's", count,
	       count + list_count(queue));
	return queue;
}

static void set_hidden(const char *partitions)
{
	pthread_mutex_lock(&hidden_lock);
	free(hidden);
	hidden = partitions ? strdup(partitions) : NULL;
	pthread_mutex_unlock(&hidden_lock);
}

int dfrs_backfill_start(const char *hidden_partitions)
{
	int rc = SLURM_SUCCESS;

	set_hidden(hidden_partitions);
	pthread_mutex_lock(&backfill_lock);
	if (!running) {
		dfrs_backfill_arm();
		rc = pthread_create(&thread, NULL, backfill_agent, NULL);
		running = !rc;
	}
	pthread_mutex_unlock(&backfill_lock);
	return rc;
}

void dfrs_backfill_stop(void)
{
	pthread_mutex_lock(&backfill_lock);
	if (running) {
		stop_backfill_agent();
		pthread_join(thread, NULL);
		running = false;
	}
	pthread_mutex_unlock(&backfill_lock);
}

void dfrs_backfill_reconfigure(const char *hidden_partitions)
{
	set_hidden(hidden_partitions);
	pthread_mutex_lock(&backfill_lock);
	if (running)
		backfill_reconfig();
	pthread_mutex_unlock(&backfill_lock);
}
