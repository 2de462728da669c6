/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld.h - what programs of the fake slurmctld share.
 */
#ifndef FAKE_SLURMCTLD_H
#define FAKE_SLURMCTLD_H

#include "slurm_headers.h"

#include <pthread.h>

/* Ids are below. */
#define MAX_JOBS 100000

/* name: a constant; also called by the stubs. */
void count_call(const char *name);
unsigned calls_of(const char *name);
void print_counts(void);

/* One lock for all that lock_slurmctld() stands for. */
extern pthread_mutex_t the_lock;

/* Called for each job that the gate comes to; NULL: nothing. */
extern void (*on_gate)(void);
/* Called after each line of the log; NULL: nothing. */
extern void (*on_log)(const char *line);

void add_job(job_record_t *job, uint32_t job_id);
/* Gives a job another id. */
void rename_job(job_record_t *job, uint32_t job_id);
/* Takes it out of the list; the caller frees it. */
void remove_job(job_record_t *job);

/* configured.c: sets what a file of this directory says. */
void configure(const char *directory, const char *name);

#endif
