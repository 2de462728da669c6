/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eligible.c - which nodes of its partition a job may use: --exclude, --nodelist, plain --constraint,
 * what each node has to have, reservations. Which it prefers: --prefer.
 */
#include "look.h"

/* --- features ------------------------------------------------------------------------------------------ */

typedef struct {
	const char *name;
	bitstr_t *nodes;
} feature_search_t;

static int is_named(void *record, void *argument)
{
	node_feature_t *feature = record;
	feature_search_t *search = argument;

	if (!feature->name || strcmp(feature->name, search->name))
		return 0;
	search->nodes = feature->node_bitmap;
	return -1;
}

typedef struct {
	bitstr_t *nodes;
	int operation; /* between the features so far and the next one */
} constraint_t;

static int apply_feature(void *record, void *argument)
{
	job_feature_t *feature = record;
	constraint_t *constraint = argument;
	feature_search_t search = { .name = feature->name };

	if (active_feature_list && feature->name)
		(void) list_for_each_ro(active_feature_list, is_named, &search);
	if (constraint->operation == FEATURE_OP_OR) {
		if (search.nodes)
			bit_or(constraint->nodes, search.nodes);
	} else if (search.nodes) {
		bit_and(constraint->nodes, search.nodes);
	} else {
		bit_clear_all(constraint->nodes);
	}
	constraint->operation = feature->op_code;
	return 0;
}

/* Evaluated from left to right, as Slurm does: a|b&c is (a|b)&c. */
static void keep_features(bitstr_t *nodes, dfrs_list_t features)
{
	constraint_t constraint = { .nodes = bit_copy(nodes), .operation = FEATURE_OP_AND };

	(void) list_for_each_ro(features, apply_feature, &constraint);
	bit_and(nodes, constraint.nodes);
	FREE_NULL_BITMAP(constraint.nodes);
}

/* --- equipment ----------------------------------------------------------------------------------------- */

/* Slurm goes by what a node is configured with, not by what it has registered with
 * (_build_node_list() of 22.05 and 24.11). */
dfrs_equipment_t dfrs_equipment_of(const config_record_t *configuration)
{
	return (dfrs_equipment_t) {
		.cpus = configuration->cpus,
		.disk = configuration->tmp_disk,
		.sockets = configuration->tot_sockets,
		.cores = configuration->cores,
		.threads = configuration->threads,
	};
}

uint64_t dfrs_digest_equipment(uint64_t digest, const dfrs_equipment_t *equipment)
{
	digest = dfrs_digest(digest, ((uint64_t) equipment->cpus << 32) | equipment->disk);
	return dfrs_digest(digest, ((uint64_t) equipment->sockets << 32) |
				   ((uint64_t) equipment->cores << 16) | equipment->threads);
}

static uint16_t asked(uint16_t number)
{
	return (number == NO_VAL16) ? 0 : number;
}

/* --mincpus, --tmp, --sockets-per-node, --cores-per-socket, --threads-per-core (-B is the last three). */
static dfrs_equipment_t asked_of_nodes(const dfrs_details_t *details)
{
	const multi_core_data_t *parts = details->mc_ptr;
	dfrs_equipment_t wanted = {
		.cpus = details->pn_min_cpus,
		.disk = details->pn_min_tmp_disk,
	};

	if (parts) {
		wanted.sockets = asked(parts->sockets_per_node);
		wanted.cores = asked(parts->cores_per_socket);
		wanted.threads = asked(parts->threads_per_core);
	}
	return wanted;
}

static bool has_all(const dfrs_equipment_t *has, const dfrs_equipment_t *wanted)
{
	return (has->cpus >= wanted->cpus) && (has->disk >= wanted->disk) &&
	       (has->sockets >= wanted->sockets) && (has->cores >= wanted->cores) &&
	       (has->threads >= wanted->threads);
}

typedef struct {
	dfrs_equipment_t wanted;
	bitstr_t *nodes;
} fitting_t;

static int take_out_unfit(void *record, void *argument)
{
	const config_record_t *configuration = record;
	dfrs_equipment_t has = dfrs_equipment_of(configuration);
	fitting_t *fitting = argument;

	if (configuration->node_bitmap && !has_all(&has, &fitting->wanted))
		bit_and_not(fitting->nodes, configuration->node_bitmap);
	return 0;
}

static void keep_equipped(bitstr_t *nodes, const dfrs_details_t *details)
{
	fitting_t fitting = { .wanted = asked_of_nodes(details), .nodes = nodes };

	if (config_list)
		(void) list_for_each_ro(config_list, take_out_unfit, &fitting);
}

/* --- reservations ---------------------------------------------------------------------------------------- */

static time_t latest_end(const job_record_t *job, const part_record_t *partition, time_t now)
{
	uint32_t minutes = dfrs_time_limit(job, partition);

	if ((minutes == INFINITE) || (minutes == NO_VAL))
		minutes = 365 * 24 * 60;
	return now + (time_t) minutes * 60;
}

static uint32_t starting_before(const dfrs_reservations_t *reservations, time_t until)
{
	uint32_t count = 0;

	while ((count < reservations->count) && (reservations->list[count]->start_time < until))
		count++;
	return count;
}

/* How many of the partition's reservations begin before the job would end if it started now. */
typedef struct {
	uint32_t fixed, floating;
} obstacles_t;

static obstacles_t in_the_way(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			      const job_record_t *job)
{
	time_t until;

	if (!partition->fixed.count && !partition->floating.count)
		return (obstacles_t) { 0 };
	until = latest_end(job, partition->record, scope->now);
	return (obstacles_t) {
		.fixed = starting_before(&partition->fixed, until),
		.floating = starting_before(&partition->floating, until - scope->now),
	};
}

/* Whether it is of some cores or devices of its nodes, and not of whole ones. */
static bool is_of_parts(const slurmctld_resv_t *reservation)
{
	return !(reservation->ctld_flags & RESV_CTLD_FULL_NODE) &&
	       !(reservation->flags &
		 (RESERVE_FLAG_ALL_NODES | RESERVE_FLAG_PART_NODES | RESERVE_FLAG_MAINT));
}

/* Whether it gets all CPUs or all memory of its nodes. */
static bool needs_whole_nodes(const dfrs_scoped_t *partition, const job_record_t *job)
{
	const dfrs_details_t *details = job->details;

	return partition->whole || (details && (dfrs_whole_nodes(details->whole_node) ||
						!(dfrs_memory_asked(job) & ~MEM_PER_CPU)));
}

/* Whether the reservation lets the job onto its nodes, as far as cores are left (job_test_resv() of 22.05 and
 * 24.11). own: the job's; NULL: it has none. */
static bool lets_in(const slurmctld_resv_t *reservation, const dfrs_scoped_t *partition,
		    const job_record_t *job, const slurmctld_resv_t *own)
{
	if (!own)
		return is_of_parts(reservation) && !needs_whole_nodes(partition, job);
	return (reservation == own) || is_of_parts(reservation) ||
	       (own->flags & RESERVE_FLAG_MAINT) ||
	       ((own->flags & RESERVE_FLAG_OVERLAP) && !(reservation->flags & RESERVE_FLAG_MAINT));
}

/* Whether the reservation keeps others from nodes that this job has, or waits for. */
static bool concerns(const slurmctld_resv_t *reservation, const dfrs_scoped_t *partition,
		     const job_record_t *job, const slurmctld_resv_t *own)
{
	const bitstr_t *nodes = job->node_bitmap;

	if (lets_in(reservation, partition, job, own))
		return false;
	if (IS_JOB_PENDING(job))
		nodes = job->details ? job->details->req_node_bitmap : NULL;
	return !nodes || bit_overlap_any((bitstr_t *) nodes, reservation->node_bitmap);
}

/* The first of so many that concerns the job; NULL: none. */
static const slurmctld_resv_t *first_of(const dfrs_reservations_t *reservations, uint32_t count,
					const dfrs_scoped_t *partition, const job_record_t *job,
					const slurmctld_resv_t *own)
{
	for (uint32_t i = 0; i < count; i++)
		if (concerns(reservations->list[i], partition, job, own))
			return reservations->list[i];
	return NULL;
}

time_t dfrs_free_until(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
		       const job_record_t *job)
{
	bool holds = IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job);
	obstacles_t count = { .fixed = partition->fixed.count };
	const slurmctld_resv_t *reservation, *own;

	if (!holds && (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job)))
		return 0;
	if (!holds)
		count = in_the_way(scope, partition, job);
	own = dfrs_reservation(job, scope->now);
	reservation = first_of(&partition->fixed, count.fixed, partition, job, own);
	if (reservation)
		return reservation->start_time;
	return first_of(&partition->floating, count.floating, partition, job, own) ? 1 : 0;
}

/* As job_time_limit() of 22.05 ends it, without what slurm.conf lets it overrun. */
time_t dfrs_reservation_end(const dfrs_scope_t *scope, const job_record_t *job)
{
	const slurmctld_resv_t *own = job->resv_ptr;

	if (!own || !(IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) ||
	    (own->flags & (RESERVE_FLAG_FLEX | RESERVE_FLAG_TIME_FLOAT)) ||
	    (slurm_conf.resv_over_run == INFINITE16) || (own->end_time <= scope->now))
		return 0;
	return own->end_time;
}

/* --- all of it --------------------------------------------------------------------------------------------- */

bool dfrs_eligible_key(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
		       const job_record_t *job, uint64_t *key)
{
	const dfrs_details_t *details = job->details;
	obstacles_t obstacles = in_the_way(scope, partition, job);
	dfrs_equipment_t wanted = asked_of_nodes(details);
	const slurmctld_resv_t *own = dfrs_reservation(job, scope->now);
	bool any_will_do = has_all(&scope->least, &wanted);
	uint64_t digest = partition->digest;

	if (!partition->record->node_bitmap ||
	    (!partition->partial && !details->exc_node_bitmap && !details->req_node_bitmap &&
	     !details->feature_list && any_will_do && !obstacles.fixed && !obstacles.floating &&
	     !own))
		return false;
	digest = dfrs_digest(digest, ((uint64_t) obstacles.floating << 32) | obstacles.fixed);
	digest = dfrs_digest(digest, own ? own->resv_id + 1ULL : 0);
	if (obstacles.fixed || obstacles.floating)
		digest = dfrs_digest(digest, ((uint64_t) needs_whole_nodes(partition, job) << 32) |
					     dfrs_cpus_per_task(job, 1));
	digest = dfrs_digest_bits(digest, details->exc_node_bitmap);
	digest = dfrs_digest_bits(digest, details->req_node_bitmap);
	digest = dfrs_digest_text(digest, details->feature_list ? details->features : NULL);
	if (!any_will_do)
		digest = dfrs_digest_equipment(digest, &wanted);
	*key = digest ? digest : 1;
	return true;
}

/* Takes nodes away, and adds the cores that are reserved on others to *cores: NULL at first. */
static void leave_out_reserved(bitstr_t *nodes, bitstr_t **cores,
			       const dfrs_reservations_t *reservations, uint32_t count,
			       const dfrs_scoped_t *partition, const job_record_t *job,
			       const slurmctld_resv_t *own)
{
	for (uint32_t i = 0; i < count; i++) {
		const slurmctld_resv_t *reservation = reservations->list[i];

		if (!lets_in(reservation, partition, job, own))
			bit_and_not(nodes, reservation->node_bitmap);
		else if (own || !reservation->core_bitmap)
			continue;
		else if (!*cores)
			*cores = bit_copy(reservation->core_bitmap);
		else if (bit_size(*cores) == bit_size(reservation->core_bitmap))
			bit_or(*cores, reservation->core_bitmap);
	}
}

/* How many of these are not among the reserved ones. */
static uint32_t count_free(bitstr_t *cores, uint32_t first, uint32_t count)
{
	uint32_t free = 0;

	for (uint32_t core = first; core < first + count; core++)
		free += (core >= bit_size(cores)) || !bit_test(cores, core);
	return free;
}

/* Slurm starts nothing on cores that are reserved. DFRS has it start a job on one core of each node, and lays it out on
 * all afterwards: a node is left out if what is not reserved of it is too little for one of the job's tasks.
 * Cores are numbered throughout all nodes. */
static void leave_out_full(bitstr_t *nodes, bitstr_t *cores, const job_record_t *job)
{
	uint32_t least = dfrs_cpus_per_task(job, 1), first = 0;

	for (int i = 0; i < node_record_count; i++) {
		const node_record_t *node = node_record_table_ptr[i];

		if (!node)
			continue;
		if (bit_test(nodes, i) &&
		    (count_free(cores, first, node->tot_cores) * MAX(node->tpc, 1) < least))
			bit_clear(nodes, i);
		first += node->tot_cores;
	}
}

bitstr_t *dfrs_eligible_nodes(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			      const job_record_t *job)
{
	const dfrs_details_t *details = job->details;
	obstacles_t obstacles = in_the_way(scope, partition, job);
	const slurmctld_resv_t *own = dfrs_reservation(job, scope->now);
	bitstr_t *nodes = bit_copy(partition->record->node_bitmap);
	bitstr_t *cores = NULL; /* that are reserved */

	if (details->exc_node_bitmap)
		bit_and_not(nodes, details->exc_node_bitmap);
	if (details->req_node_bitmap)
		bit_and(nodes, details->req_node_bitmap);
	if (details->feature_list && dfrs_plain_features(details->feature_list))
		keep_features(nodes, details->feature_list);
	keep_equipped(nodes, details);
	leave_out_reserved(nodes, &cores, &partition->fixed, obstacles.fixed, partition, job, own);
	leave_out_reserved(nodes, &cores, &partition->floating, obstacles.floating, partition, job, own);
	if (cores)
		leave_out_full(nodes, cores, job);
	FREE_NULL_BITMAP(cores);
	if (own && own->node_bitmap && !(own->flags & RESERVE_FLAG_FLEX))
		bit_and(nodes, own->node_bitmap);
	return nodes;
}

/* --- preference ------------------------------------------------------------------------------------------- */

#define PREFERRED 0x70726566

bool dfrs_preferred_key(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			const job_record_t *job, uint64_t *key)
{
	const dfrs_details_t *details = job->details;
	uint64_t digest;

	if (!partition->record->node_bitmap || !details->prefer_list ||
	    !dfrs_plain_features(details->prefer_list))
		return false;
	/* Not the key of what some job may use. */
	digest = dfrs_digest(partition->digest, PREFERRED);
	digest = dfrs_digest_text(digest, details->prefer);
	*key = digest ? digest : 1;
	return true;
}

bitstr_t *dfrs_preferred_nodes(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			       const job_record_t *job)
{
	bitstr_t *nodes = bit_copy(partition->record->node_bitmap);

	keep_features(nodes, job->details->prefer_list);
	return nodes;
}
