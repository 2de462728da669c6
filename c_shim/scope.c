/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.c - what one look covers: the requested partitions, their nodes, the reservations, features
 * and equipment that decide which of these a job may use.
 *
 * Whether any of that has changed is seen from a digest of it, not from Slurm's update times: these are
 * whole seconds, and not all that changes moves them. It costs microseconds.
 */
#include "look.h"

typedef struct {
	dfrs_scope_t *scope;
	const char *names;
} opening_t;

/* --- partitions -------------------------------------------------------------------------------------- */

static int add_partition(void *record, void *argument)
{
	part_record_t *partition = record;
	opening_t *opening = argument;
	dfrs_scope_t *scope = opening->scope;

	if (!dfrs_listed(opening->names, partition->name))
		return 0;
	scope->partitions[scope->count++] = (dfrs_scoped_t) {
		.record = partition,
		.whole = dfrs_gives_whole_nodes(partition),
		.digest = dfrs_digest_text(DFRS_DIGEST_START, partition->name),
	};
	if (partition->node_bitmap)
		bit_or(scope->own, partition->node_bitmap);
	scope->digest = dfrs_digest_text(scope->digest, partition->name);
	scope->digest = dfrs_digest_bits(scope->digest, partition->node_bitmap);
	scope->digest = dfrs_digest(scope->digest, dfrs_gives_whole_nodes(partition));
	return 0;
}

/* --- reservations ------------------------------------------------------------------------------------ */

static bool floats(const slurmctld_resv_t *reservation)
{
	return reservation->flags & RESERVE_FLAG_TIME_FLOAT;
}

/* A floating reservation may have a length in place of an end (_get_rel_start_end() of 22.05 and
 * 24.11). */
static bool keeps_from_others(const slurmctld_resv_t *reservation, const dfrs_scope_t *scope)
{
	bool has_length = reservation->duration && (reservation->duration != NO_VAL);

	return reservation->node_bitmap && ((floats(reservation) && has_length) ||
					    (reservation->end_time > scope->now));
}

static void add_sorted(dfrs_reservations_t *reservations, slurmctld_resv_t *reservation)
{
	slurmctld_resv_t **list = reservations->list;
	uint32_t place = reservations->count;

	if (!list)
		list = reservations->list = xcalloc(list_count(resv_list), sizeof(reservation));
	for (; place && (list[place - 1]->start_time > reservation->start_time); place--)
		list[place] = list[place - 1];
	list[place] = reservation;
	reservations->count++;
}

static void add_to_partition(dfrs_scoped_t *partition, slurmctld_resv_t *reservation)
{
	if (!partition->record->node_bitmap ||
	    !bit_overlap_any(partition->record->node_bitmap, reservation->node_bitmap))
		return;
	add_sorted(floats(reservation) ? &partition->floating : &partition->fixed, reservation);
}

/* Of a reservation of some cores: which, and of how many. */
static uint64_t digest_cores(uint64_t digest, const slurmctld_resv_t *reservation)
{
	digest = dfrs_digest_bits(digest, reservation->core_bitmap);
	for (int i = 0; reservation->core_bitmap && (i < node_record_count); i++)
		if (node_record_table_ptr[i])
			digest = dfrs_digest(digest,
					     ((uint64_t) node_record_table_ptr[i]->tot_cores << 32) |
						     node_record_table_ptr[i]->tpc);
	return digest;
}

static int add_reservation(void *record, void *argument)
{
	slurmctld_resv_t *reservation = record;
	opening_t *opening = argument;
	dfrs_scope_t *scope = opening->scope;
	bool keeps = keeps_from_others(reservation, scope);

	scope->digest = dfrs_digest(scope->digest, reservation->resv_id);
	scope->digest = dfrs_digest(scope->digest, (uint64_t) reservation->flags);
	scope->digest = dfrs_digest(scope->digest, (uint64_t) reservation->start_time);
	scope->digest = dfrs_digest(scope->digest, keeps);
	scope->digest = dfrs_digest(scope->digest, reservation->ctld_flags);
	scope->digest = dfrs_digest_bits(scope->digest, reservation->node_bitmap);
	scope->digest = digest_cores(scope->digest, reservation);
	for (uint32_t i = 0; keeps && (i < scope->count); i++)
		add_to_partition(&scope->partitions[i], reservation);
	return 0;
}

/* --- features ------------------------------------------------------------------------------------------ */

static int add_feature(void *record, void *argument)
{
	node_feature_t *feature = record;
	opening_t *opening = argument;
	uint64_t digest = dfrs_digest_text(opening->scope->digest, feature->name);

	opening->scope->digest = dfrs_digest_bits(digest, feature->node_bitmap);
	return 0;
}

/* --- equipment ----------------------------------------------------------------------------------------- */

static int add_configuration(void *record, void *argument)
{
	const config_record_t *configuration = record;
	opening_t *opening = argument;
	dfrs_equipment_t has = dfrs_equipment_of(configuration);
	dfrs_equipment_t *least = &opening->scope->least;
	uint64_t digest = dfrs_digest_bits(opening->scope->digest, configuration->node_bitmap);

	opening->scope->digest = dfrs_digest_equipment(digest, &has);
	least->cpus = MIN(least->cpus, has.cpus);
	least->disk = MIN(least->disk, has.disk);
	least->sockets = MIN(least->sockets, has.sockets);
	least->cores = MIN(least->cores, has.cores);
	least->threads = MIN(least->threads, has.threads);
	return 0;
}

/* --- nodes that have left their partition ---------------------------------------------------------------- */

static int add_held_nodes(void *record, void *argument)
{
	const job_record_t *job = record;
	opening_t *opening = argument;
	const job_resources_t *resources = dfrs_is_job(record) ? job->job_resrcs : NULL;
	bool holds = resources && resources->node_bitmap && dfrs_holds_nodes(job);

	if (!holds || !dfrs_scope_of(opening->scope, job))
		return 0;
	bit_or(opening->scope->nodes, resources->node_bitmap);
	return 0;
}

static void add_all_held_nodes(opening_t *opening)
{
	dfrs_scope_t *scope = opening->scope;

	bit_or(scope->nodes, scope->own);
	if (job_list)
		(void) list_for_each_ro(job_list, add_held_nodes, opening);
	scope->holds_others = !bit_equal(scope->nodes, scope->own);
	for (uint32_t i = 0; i < scope->count; i++) {
		const bitstr_t *nodes = scope->partitions[i].record->node_bitmap;

		scope->partitions[i].partial =
			nodes && !bit_equal((bitstr_t *) nodes, scope->nodes);
	}
}

/* --- the whole ------------------------------------------------------------------------------------------ */

void dfrs_scope_open(dfrs_scope_t *scope, const char *partitions, time_t now)
{
	opening_t opening = { .scope = scope, .names = partitions };

	*scope = (dfrs_scope_t) {
		.now = now,
		.digest = DFRS_DIGEST_START,
		.least = { UINT32_MAX, UINT32_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX },
	};
	scope->own = bit_alloc(MAX(node_record_count, 1));
	scope->nodes = bit_alloc(MAX(node_record_count, 1));
	if (!part_list)
		return;
	scope->partitions = xcalloc(MAX(list_count(part_list), 1), sizeof(*scope->partitions));
	(void) list_for_each_ro(part_list, add_partition, &opening);
	add_all_held_nodes(&opening);
	if (resv_list)
		(void) list_for_each_ro(resv_list, add_reservation, &opening);
	if (active_feature_list)
		(void) list_for_each_ro(active_feature_list, add_feature, &opening);
	if (config_list)
		(void) list_for_each_ro(config_list, add_configuration, &opening);
}

void dfrs_scope_close(dfrs_scope_t *scope)
{
	for (uint32_t i = 0; i < scope->count; i++) {
		xfree(scope->partitions[i].fixed.list);
		xfree(scope->partitions[i].floating.list);
	}
	xfree(scope->partitions);
	FREE_NULL_BITMAP(scope->own);
	FREE_NULL_BITMAP(scope->nodes);
}

/* --- a node's partitions --------------------------------------------------------------------------------- */

static dfrs_scoped_t *find_scoped(const dfrs_scope_t *scope, const part_record_t *record)
{
	for (uint32_t i = 0; i < scope->count; i++)
		if (scope->partitions[i].record == record)
			return &scope->partitions[i];
	return NULL;
}

static bool is_scoped(const part_record_t *partition, const void *scope)
{
	return find_scoped(scope, partition) != NULL;
}

bool dfrs_scope_is_others(const dfrs_scope_t *scope, int node)
{
	return !bit_test(scope->own, node);
}

uint32_t dfrs_scope_others_cpus(const dfrs_scope_t *scope, int node)
{
	/* Where the node has left, the jobs that are still there count as theirs (dfrs_select_hide()). */
	bool counts = !dfrs_scope_is_others(scope, node) && dfrs_select_ready();

	return counts ? dfrs_select_others_cpus(node, is_scoped, scope) : 0;
}

uint32_t dfrs_scope_max_cpus(const dfrs_scope_t *scope, int node)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < scope->count; i++) {
		const part_record_t *partition = scope->partitions[i].record;
		uint32_t cpus = partition->max_cpus_per_node;

		if (!partition->node_bitmap || !bit_test(partition->node_bitmap, node))
			continue;
		if (!cpus || (cpus == INFINITE))
			return UINT32_MAX;
		max = MAX(max, cpus);
	}
	return max ? max : UINT32_MAX;
}

/* --- a job's partition ------------------------------------------------------------------------------------ */

dfrs_scoped_t *dfrs_scope_of(const dfrs_scope_t *scope, const job_record_t *job)
{
	return find_scoped(scope, dfrs_choose_partition(job, is_scoped, scope));
}
