/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backfill.c - Slurm's own backfill, for the partitions that DFRS does not manage; and what keeps Slurm's
 * other schedulers from the jobs of those that it does.
 *
 * The backfill.c of the very Slurm source this is built from is compiled into the plugin unchanged,
 * with build_job_queue renamed to dfrs_build_job_queue. That is the one place where it learns which
 * jobs there are.
 */
#include "internal.h"

#include "look.h"
#include "withhold.h"

#include <pthread.h>

static pthread_mutex_t backfill_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool running;
static pthread_mutex_t hidden_lock = PTHREAD_MUTEX_INITIALIZER;
static char *hidden;
static bool decided; /* what is hidden */

extern dfrs_list_t dfrs_build_job_queue(bool clear_start, bool backfill);
extern void dfrs_backfill_arm(void); /* embedded_backfill.c */

static int is_hidden(void *record, void *argument)
{
	job_queue_rec_t *entry = record;

	return (entry->part_ptr && dfrs_listed(hidden, entry->part_ptr->name)) ||
	       dfrs_hetjob_cannot_start(entry->job_ptr, hidden);
}

dfrs_list_t dfrs_build_job_queue(bool clear_start, bool backfill)
{
	dfrs_list_t queue;
	int count;

	if (dfrs_jobs_wrong()) {
		static bool said;

		if (!said)
			error("dfrs: backfill schedules nothing: job records are not those of the Slurm that this plugin was "
			      "built for; rebuild it");
		said = true;
		return list_create(xfree_ptr);
	}
	dfrs_requeue_saved();
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
	decided = true;
	pthread_mutex_unlock(&hidden_lock);
}

int dfrs_job_withheld(const void *record)
{
	const job_record_t *job = record;
	int answer = DFRS_WITHHOLDS_NOTHING;

	if (dfrs_is_starting())
		return answer;
	pthread_mutex_lock(&hidden_lock);
	if (!decided)
		answer = DFRS_WITHHOLDS_UNDECIDED;
	else if (dfrs_is_job(job) && job->part_ptr && dfrs_listed(hidden, job->part_ptr->name))
		answer = DFRS_WITHHOLDS_JOB;
	pthread_mutex_unlock(&hidden_lock);
	return answer;
}

int dfrs_job_refused(const void *request, char **message)
{
	int rc;

	pthread_mutex_lock(&hidden_lock);
	rc = dfrs_check_hetjob(request, hidden, message);
	pthread_mutex_unlock(&hidden_lock);
	return rc;
}

void dfrs_job_ends(void *record)
{
	job_record_t *job = record;

	if ((dfrs_job_withheld(job) == DFRS_WITHHOLDS_JOB) && dfrs_ended_after_warning(job) &&
	    dfrs_continues_when_requeued(job))
		dfrs_state_set_flag(job, JOB_REQUEUE);
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
	pthread_mutex_lock(&hidden_lock);
	decided = false;
	pthread_mutex_unlock(&hidden_lock);
}

void dfrs_backfill_reconfigure(const char *hidden_partitions)
{
	set_hidden(hidden_partitions);
	pthread_mutex_lock(&backfill_lock);
	if (running)
		backfill_reconfig();
	pthread_mutex_unlock(&backfill_lock);
}
