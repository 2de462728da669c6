/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - what the files that make a snapshot share: scope.c (what is looked at), eligible.c (which
 * nodes a job may use), record.c (one job, one node), view.c (what was seen before), snapshot.c (the
 * walk).
 */
#ifndef DFRS_LOOK_H
#define DFRS_LOOK_H

#include "internal.h"

#include "digest.h"

/* --- scope.c: one look's partitions ---------------------------------------------------------------- */

typedef struct {
	slurmctld_resv_t **list; /* by ascending start */
	uint32_t count;
} dfrs_reservations_t;

typedef struct {
	part_record_t *record;
	uint64_t digest; /* of its name */
	uint32_t name; /* offset into strings; 0: not stored yet */
	uint32_t holders; /* jobs that hold cores */
	bool differs; /* of hide.c: cores are to be hidden, or shown */
	bool uncovered; /* one of them does so on another's node, of which Slurm does not know */
	bool whole; /* its jobs get whole nodes, whatever they request */
	bool partial; /* has not all of the scope's nodes */
	/* Reservations that keep its nodes from others now or later; and those that always begin so many
	 * seconds from now (TIME_FLOAT), which keep off only jobs that run for longer. */
	dfrs_reservations_t fixed, floating;
	dfrs_sizes_t sizes; /* of its nodes; no threads: not counted yet */
} dfrs_scoped_t;

/* What a node is configured with, or what a job requests of each of its nodes. */
typedef struct {
	uint32_t cpus, disk; /* disk: MB (TmpDisk, --tmp) */
	uint16_t sockets, cores, threads; /* cores of a socket, threads of a core */
} dfrs_equipment_t;

/* Valid under the locks under which it was opened. */
typedef struct {
	time_t now;
	dfrs_scoped_t *partitions;
	uint32_t count;
	bitstr_t *own; /* their nodes */
	bitstr_t *nodes; /* and those that their jobs hold besides */
	bool holds_others; /* there are such */
	dfrs_equipment_t least; /* that any node of the cluster is configured with */
	uint64_t digest; /* of what, besides the job, decides which nodes it may use */
} dfrs_scope_t;

/* partitions: comma-separated names. Needs read locks. */
void dfrs_scope_open(dfrs_scope_t *scope, const char *partitions, time_t now);
void dfrs_scope_close(dfrs_scope_t *scope);
/* Whether the node has left its partitions. */
bool dfrs_scope_is_others(const dfrs_scope_t *scope, int node);
/* CPUs of this node that jobs of other partitions have for themselves. */
uint32_t dfrs_scope_others_cpus(const dfrs_scope_t *scope, int node);
/* CPUs of this node that its partitions let jobs use (MaxCPUsPerNode); UINT32_MAX: all. */
uint32_t dfrs_scope_max_cpus(const dfrs_scope_t *scope, int node);
/* As dfrs_managed_partition(). */
dfrs_scoped_t *dfrs_scope_of(const dfrs_scope_t *scope, const job_record_t *job);

/* --- hide.c: what is to be hidden ------------------------------------------------------------------------ */

/* Notes the cores that a job of the partition holds. */
void dfrs_note_cores(const dfrs_scope_t *scope, dfrs_scoped_t *partition, const job_record_t *job);
/* Whether Slurm counts cores that it should not, or the other way round; all jobs have been noted. */
bool dfrs_cores_differ(const dfrs_scope_t *scope, const dfrs_scoped_t *partition);

/* --- eligible.c ---------------------------------------------------------------------------------------- */

/* What a node of this configuration has. */
dfrs_equipment_t dfrs_equipment_of(const config_record_t *configuration);
uint64_t dfrs_digest_equipment(uint64_t digest, const dfrs_equipment_t *equipment);

/* Whether the job may not use all of its partition; then jobs with the same key may use the same nodes,
 * as long as the scope's digest is the same. details must be there. */
bool dfrs_eligible_key(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
		       const job_record_t *job, uint64_t *key);
/* These nodes; the caller frees them. */
bitstr_t *dfrs_eligible_nodes(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			      const job_record_t *job);
/* Likewise, whether it prefers some nodes of its partition, and which. */
bool dfrs_preferred_key(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			const job_record_t *job, uint64_t *key);
bitstr_t *dfrs_preferred_nodes(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			       const job_record_t *job);

/* See dfrs_job_t.free_until. */
time_t dfrs_free_until(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
		       const job_record_t *job);

/* When the reservation ends that a job has its nodes in, and Slurm ends the job; 0: none, or that is past. */
time_t dfrs_reservation_end(const dfrs_scope_t *scope, const job_record_t *job);

/* --- record.c ------------------------------------------------------------------------------------------ */

/* Whether it was warned, and not just now by Slurm, because its end is near. */
bool dfrs_warned(const job_record_t *job, time_t now);
/* Whether such a job has just ended by itself, before anything followed from that. */
bool dfrs_ended_after_warning(const job_record_t *job);
/* Whether the job belongs into a snapshot. */
bool dfrs_record_wanted(const job_record_t *job);
/* Fills all of it but what refers to the snapshot's arrays. */
void dfrs_record_job(dfrs_job_t *entry, const job_record_t *job, dfrs_scoped_t *partition,
		     time_t now);
void dfrs_record_node(dfrs_node_t *entry, const node_record_t *node, int index);

/* A walk over the places of a job. */
typedef struct {
	const job_resources_t *resources; /* NULL: it has none */
	const bitstr_t *only; /* of its nodes; NULL: all */
	const job_record_t *constrained; /* a job that holds whole cores; NULL: cpus_per_task count */
	uint32_t cpus_per_task;
	int node, host;
} dfrs_places_t;

dfrs_places_t dfrs_places_of(const dfrs_job_t *entry, const job_record_t *job);
bool dfrs_next_place(dfrs_places_t *walk, dfrs_place_t *place);

/* --- view.c -------------------------------------------------------------------------------------------- */

/* Of one job. */
typedef struct {
	uint32_t job_id; /* 0: a free entry */
	uint32_t look; /* in which it was seen last */
	uint64_t digest;
} dfrs_stamp_t;

/* Of the jobs with one key of dfrs_eligible_key() or dfrs_preferred_key(). */
typedef struct {
	uint64_t key; /* 0: a free entry */
	uint64_t digest; /* of the nodes; 0: not known yet */
	uint32_t look, set; /* in this look, 1 + the position in its sets; 0: not in them yet */
} dfrs_class_t;

struct dfrs_view {
	uint32_t look; /* number of the present one */
	bool forgotten;
	uint64_t partitions; /* digest of the requested names */
	uint64_t scope; /* dfrs_scope_t.digest that the classes are of */
	dfrs_stamp_t *stamps;
	uint32_t stamp_room, stamp_count;
	dfrs_class_t *classes;
	uint32_t class_room, class_count;
	uint64_t *nodes; /* digests, by index; 0: not of the partitions */
	uint32_t node_room;
	uint64_t node_names; /* digest of which nodes there are */
	char **leaves; /* addresses of leaf switches, by index of the node; NULL: not looked up yet */
	uint32_t leaf_room;
	time_t leaves_since;
};

/* Begins a look; returns whether it has to be a complete one. */
bool dfrs_view_begin(dfrs_view_t *view, const char *partitions, const dfrs_scope_t *scope);
/* Notes that the job is there. Returns its stamp, whose digest is 0 if it is new; NULL: no memory. */
dfrs_stamp_t *dfrs_view_stamp(dfrs_view_t *view, uint32_t job_id);
/* Forgets a job that was not seen in this look, and returns its id. 0: there is none from *slot on,
 * which starts at 0. */
uint32_t dfrs_view_next_gone(dfrs_view_t *view, uint32_t *slot);
/* Room for so many more classes; false: no memory. Those that are known move. */
bool dfrs_view_reserve_classes(dfrs_view_t *view, uint32_t count);
/* The class with this key. There is room for it, and it stays where it is until room for others is made. */
dfrs_class_t *dfrs_view_class(dfrs_view_t *view, uint64_t key);
/* Room for the digests of so many nodes. */
bool dfrs_view_reserve_nodes(dfrs_view_t *view, uint32_t count);

/* --- leaf.c -------------------------------------------------------------------------------------------- */

/* Room for the leaf switches of so many nodes, which are looked up again if other nodes are there, or after a
 * while; false: no memory. */
bool dfrs_leaves_keep(dfrs_view_t *view, uint32_t count, bool others, time_t now);
/* The address of a node's leaf switch, with the switches above it; "" if Slurm knows none. The caller has a
 * node lock. */
const char *dfrs_leaf_of(dfrs_view_t *view, const node_record_t *node, int index);
void dfrs_leaves_forget(dfrs_view_t *view);

#endif
