/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutations.h - a cluster of any size, and changes of it.
 */
#ifndef FAKE_MUTATIONS_H
#define FAKE_MUTATIONS_H

#include "slurmctld.h"

#include "slurm_headers.h"

/* What time() and CLOCK_MONOTONIC say, and what the select plugin counts. */
extern time_t wall_clock;
extern int64_t monotonic_nanoseconds;
extern bool cores_are_visible;
extern uint64_t allocated_memory[4096];
/* Whether MCS labels keep others off nodes. */
extern bool labels_select;
/* The network is a tree: a switch for two nodes each. */
extern bool has_switches;

uint32_t below(uint32_t end);
/* Nodes n0 on, partitions dfrs, dfrs2 (every second node) and other. */
void make_nodes(int count);
job_record_t *new_job(uint32_t job_id);
/* What it is to have, or prefers: a feature, now and then in brackets. */
void set_features(char **text, dfrs_list_t *list);
/* Runs it on `hosts` nodes from `first` on. */
void run_job(job_record_t *job, int first, int hosts);
/* Adds devices of this name, of a job or a node, to a list (NULL: a new one), which frees the data. */
dfrs_list_t add_devices(dfrs_list_t list, const char *name, void *data);
void exclude_node(job_record_t *job, int node);
/* Changes something. */
void mutate_anything(uint32_t max_jobs);

#endif
