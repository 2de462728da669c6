/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot.c - copies what has changed of what DFRS needs to know out of slurmctld, under read locks.
 *
 * A record is made of every job, on the stack, and its digest compared with that of the last one that
 * the caller was given: nothing that is in a record can change unseen, and only what is new is copied.
 */
#include "look.h"

#include <errno.h>
#include <stdio.h>

/* The arrays of dfrs_snapshot_t while they grow. */
typedef struct {
	dfrs_snapshot_t *out;
	dfrs_view_t *view;
	dfrs_scope_t scope;
	uint32_t job_room, gone_room, node_room, place_room, device_room, set_room, index_room, string_room;
	bool no_memory, wrong_layout;
	/* The last unsupported request whose text was stored, and where: jobs in a row have mostly the same. */
	uint32_t unsupported, unsupported_text;
} builder_t;

/* Makes room for `more` elements behind the first `used`. */
static bool reserve(builder_t *builder, void **array, uint32_t used, uint32_t more, uint32_t *room,
		    size_t element)
{
	uint64_t wanted = (uint64_t) used + more;
	uint64_t larger = *room ? *room : 64;
	void *grown;

	if (wanted <= *room)
		return true;
	while (larger < wanted)
		larger *= 2;
	grown = (larger <= UINT32_MAX) ? realloc(*array, larger * element) : NULL;
	if (!grown) {
		builder->no_memory = true;
		return false;
	}
	*array = grown;
	*room = (uint32_t) larger;
	return true;
}

#define RESERVE(builder, array, used, more, room) \
	reserve((builder), (void **) &(array), (used), (more), &(room), sizeof(*(array)))

/* No more of a comment is read: users cannot give longer ones (validate_job_create_req() of 22.05 and 24.11),
 * and what others put there (a job_submit plugin) shall not lengthen each look. */
#define MAX_COMMENT 1024

/* Of all comments. NULL is as "". */
static size_t comment_length(const job_record_t *job)
{
	return job->comment ? strnlen(job->comment, MAX_COMMENT) : 0;
}

/* Stores so many bytes as a string; returns its offset. "" is at offset 0. */
static uint32_t store_bytes(builder_t *builder, const char *text, size_t length)
{
	dfrs_snapshot_t *out = builder->out;
	uint32_t offset = out->string_bytes;

	if (!length || (length >= UINT32_MAX / 2) ||
	    !RESERVE(builder, out->strings, out->string_bytes, (uint32_t) length + 1,
		     builder->string_room))
		return 0;
	memcpy(out->strings + offset, text, length);
	out->strings[offset + length] = '\0';
	out->string_bytes += (uint32_t) length + 1;
	return offset;
}

/* Stores a string; returns its offset. NULL and "" are at offset 0. */
static uint32_t store(builder_t *builder, const char *text)
{
	return store_bytes(builder, text, text ? strlen(text) : 0);
}

/* The offset of the text of an unsupported request. */
static uint32_t store_unsupported(builder_t *builder, uint32_t number)
{
	if (builder->unsupported != number) {
		builder->unsupported_text = store(builder, dfrs_unsupported_text(number));
		builder->unsupported = number;
	}
	return builder->unsupported_text;
}

/* --- devices ----------------------------------------------------------------------------------- */

static void digest_device(const dfrs_counted_t *counted, void *context)
{
	uint64_t *digest = context;

	*digest = dfrs_digest_text(*digest, counted->name);
	*digest = dfrs_digest_text(*digest, counted->type);
	*digest = dfrs_digest(*digest, counted->count);
	*digest = dfrs_digest(*digest, counted->allocated);
}

/* Longer names are cut: Slurm's own are no longer than a file's. */
#define MAX_KIND 256

static void add_device(const dfrs_counted_t *counted, void *context)
{
	builder_t *builder = context;
	dfrs_snapshot_t *out = builder->out;
	char kind[MAX_KIND];

	if (!counted->name ||
	    !RESERVE(builder, out->devices, out->device_count, 1, builder->device_room))
		return;
	snprintf(kind, sizeof(kind), "%s%s%s", counted->name, counted->type ? ":" : "",
		 counted->type ? counted->type : "");
	out->devices[out->device_count++] = (dfrs_device_t) {
		.kind = store(builder, kind),
		.count = counted->count,
		.allocated = counted->allocated,
	};
}

/* --- nodes ------------------------------------------------------------------------------------- */

static void add_node(builder_t *builder, dfrs_node_t *node, const char *name, const char *leaf)
{
	dfrs_snapshot_t *out = builder->out;

	node->name = store(builder, name);
	node->leaf = store(builder, leaf);
	node->device_offset = out->device_count;
	dfrs_devices_of_node((int) node->index, add_device, builder);
	node->device_count = out->device_count - node->device_offset;
	if (RESERVE(builder, out->nodes, out->node_count, 1, builder->node_room))
		out->nodes[out->node_count++] = *node;
}

/* Which nodes there are, by index and name. */
static uint64_t node_names(const builder_t *builder)
{
	uint64_t digest = DFRS_DIGEST_START;

	DFRS_FOR_EACH_BIT(index, builder->scope.nodes) {
		const node_record_t *node = node_record_table_ptr[index];

		digest = dfrs_digest(digest, (uint64_t) index);
		digest = dfrs_digest_text(digest, node ? node->name : NULL);
	}
	return digest;
}

static void add_nodes(builder_t *builder)
{
	dfrs_view_t *view = builder->view;
	uint64_t names = node_names(builder);
	bool all = view->node_names != names;
	uint32_t count = dfrs_words(builder->scope.nodes) * 64;

	if (!dfrs_view_reserve_nodes(view, count) ||
	    !dfrs_leaves_keep(view, count, all, builder->scope.now)) {
		builder->no_memory = true;
		return;
	}
	DFRS_FOR_EACH_BIT(index, builder->scope.nodes) {
		const node_record_t *node = node_record_table_ptr[index];
		const char *leaf;
		dfrs_node_t entry;
		uint64_t digest;

		if (!node)
			continue;
		leaf = dfrs_leaf_of(view, node, index);
		dfrs_record_node(&entry, node, index);
		entry.cpus = MIN(entry.cpus, dfrs_scope_max_cpus(&builder->scope, index));
		entry.others_cpus = dfrs_scope_others_cpus(&builder->scope, index);
		/* What is there stays, nothing new comes. */
		if ((entry.state == DFRS_NODE_UP) && dfrs_scope_is_others(&builder->scope, index))
			entry.state = DFRS_NODE_DRAINING;
		digest = dfrs_digest_bytes(DFRS_DIGEST_START, &entry, sizeof(entry));
		digest = dfrs_digest_text(digest, leaf);
		dfrs_devices_of_node(index, digest_device, &digest);
		if (all || (view->nodes[index] != digest))
			add_node(builder, &entry, node->name, leaf);
		view->nodes[index] = digest;
	}
	view->node_names = names;
	builder->out->all_nodes = all;
}

/* --- a job's nodes ---------------------------------------------------------------------------------- */

static uint64_t digest_of_places(uint64_t digest, const dfrs_job_t *entry, const job_record_t *job)
{
	dfrs_places_t walk = dfrs_places_of(entry, job);
	dfrs_place_t place;

	while (dfrs_next_place(&walk, &place)) {
		digest = dfrs_digest(digest, ((uint64_t) place.node << 32) | place.cpus);
		digest = dfrs_digest(digest, place.memory);
		digest = dfrs_digest(digest, place.tasks);
	}
	return digest;
}

static void add_places(builder_t *builder, dfrs_job_t *entry, const job_record_t *job)
{
	dfrs_snapshot_t *out = builder->out;
	dfrs_places_t walk = dfrs_places_of(entry, job);
	dfrs_place_t place;

	entry->place_offset = out->place_count;
	while (dfrs_next_place(&walk, &place)) {
		if (!RESERVE(builder, out->places, out->place_count, 1, builder->place_room))
			return;
		out->places[out->place_count++] = place;
		entry->place_count++;
	}
}

/* Stores the nodes as a set of the snapshot. */
static void add_set(builder_t *builder, dfrs_class_t *class, const bitstr_t *nodes)
{
	dfrs_snapshot_t *out = builder->out;
	dfrs_node_set_t set = { .digest = class->digest, .offset = out->index_count };

	DFRS_FOR_EACH_BIT(index, nodes) {
		if (!RESERVE(builder, out->indexes, out->index_count, 1, builder->index_room))
			return;
		out->indexes[out->index_count++] = (uint32_t) index;
		set.count++;
	}
	if (!RESERVE(builder, out->sets, out->set_count, 1, builder->set_room))
		return;
	out->sets[out->set_count++] = set;
	class->set = out->set_count;
}

/* Some nodes of its partition that matter to a job. */
typedef struct {
	/* False: all. Jobs with one key have the same ones. */
	bool (*key)(const dfrs_scope_t *scope, const dfrs_scoped_t *partition, const job_record_t *job,
		    uint64_t *key);
	/* The caller frees them. */
	bitstr_t *(*nodes)(const dfrs_scope_t *scope, const dfrs_scoped_t *partition,
			   const job_record_t *job);
} choice_t;

static const choice_t eligible = { dfrs_eligible_key, dfrs_eligible_nodes };
static const choice_t preferred = { dfrs_preferred_key, dfrs_preferred_nodes };

/* NULL: all of its partition. Jobs with one key have one class. */
static dfrs_class_t *class_of(builder_t *builder, const choice_t *choice,
			      const dfrs_scoped_t *partition, const job_record_t *job)
{
	dfrs_class_t *class;
	bitstr_t *nodes;
	uint64_t key;

	if (!job->details || !choice->key(&builder->scope, partition, job, &key))
		return NULL;
	class = dfrs_view_class(builder->view, key);
	if (!class->digest) {
		nodes = choice->nodes(&builder->scope, partition, job);
		class->digest = dfrs_digest_bits(DFRS_DIGEST_START, nodes) | 1;
		FREE_NULL_BITMAP(nodes);
	}
	return class;
}

/* The position of their set in the snapshot, and 1; 0: there is no class. */
static uint32_t set_of(builder_t *builder, const choice_t *choice, const dfrs_scoped_t *partition,
		       const job_record_t *job, dfrs_class_t *class)
{
	bitstr_t *nodes;

	if (!class)
		return 0;
	if (!class->set) {
		nodes = choice->nodes(&builder->scope, partition, job);
		add_set(builder, class, nodes);
		FREE_NULL_BITMAP(nodes);
	}
	return class->set;
}

/* --- jobs -------------------------------------------------------------------------------------- */

static void add_job(builder_t *builder, dfrs_job_t *entry, dfrs_scoped_t *partition,
		    const job_record_t *job, dfrs_class_t *may, dfrs_class_t *prefers)
{
	dfrs_snapshot_t *out = builder->out;

	if (!partition->name)
		partition->name = store(builder, partition->record->name);
	entry->partition = partition->name;
	entry->unsupported_text = store_unsupported(builder, entry->unsupported);
	entry->comment = store_bytes(builder, job->comment, comment_length(job));
	add_places(builder, entry, job);
	entry->device_offset = out->device_count;
	dfrs_devices_asked(job, add_device, builder);
	entry->device_count = out->device_count - entry->device_offset;
	entry->eligible = set_of(builder, &eligible, partition, job, may);
	entry->preferred = set_of(builder, &preferred, partition, job, prefers);
	if (RESERVE(builder, out->jobs, out->job_count, 1, builder->job_room))
		out->jobs[out->job_count++] = *entry;
}

static void look_at_job(builder_t *builder, const job_record_t *job)
{
	dfrs_scoped_t *partition = NULL;
	dfrs_class_t *may = NULL, *prefers = NULL;
	dfrs_stamp_t *stamp;
	dfrs_job_t entry;
	uint64_t digest;

	if (dfrs_record_wanted(job))
		partition = dfrs_scope_of(&builder->scope, job);
	if (!partition)
		return;
	dfrs_note_cores(&builder->scope, partition, job);
	dfrs_record_job(&entry, job, partition, builder->scope.now);
	entry.free_until = dfrs_free_until(&builder->scope, partition, job);
	entry.reservation_end = dfrs_reservation_end(&builder->scope, job);
	if (!dfrs_view_reserve_classes(builder->view, 2)) {
		builder->no_memory = true;
	} else if (entry.state != DFRS_JOB_ENDED) {
		may = class_of(builder, &eligible, partition, job);
		prefers = class_of(builder, &preferred, partition, job);
	}
	digest = dfrs_digest_bytes(partition->digest, &entry, sizeof(entry));
	digest = dfrs_digest_bytes(digest, job->comment ? job->comment : "", comment_length(job));
	digest = digest_of_places(digest, &entry, job);
	dfrs_devices_asked(job, digest_device, &digest);
	digest = dfrs_digest(digest, may ? may->digest : 0);
	digest = dfrs_digest(digest, prefers ? prefers->digest : 0) | 1;
	builder->out->jobs_seen++;
	stamp = dfrs_view_stamp(builder->view, job->job_id);
	if (!stamp)
		builder->no_memory = true;
	else if (stamp->digest != digest)
		add_job(builder, &entry, partition, job, may, prefers);
	if (stamp)
		stamp->digest = digest;
}

static int look_at_record(void *record, void *argument)
{
	builder_t *builder = argument;

	builder->wrong_layout = !dfrs_is_job(record);
	if (!builder->wrong_layout)
		look_at_job(builder, record);
	return (builder->wrong_layout || builder->no_memory) ? -1 : 0;
}

/* Jobs that were seen before and not now. */
static void add_gone(builder_t *builder)
{
	dfrs_snapshot_t *out = builder->out;
	dfrs_view_t *view = builder->view;
	uint32_t slot = 0;

	while (view->stamp_count > out->jobs_seen) {
		uint32_t job_id = dfrs_view_next_gone(view, &slot);

		if (!job_id || !RESERVE(builder, out->gone, out->gone_count, 1, builder->gone_room))
			return;
		out->gone[out->gone_count++] = job_id;
	}
}

/* --- the whole ----------------------------------------------------------------------------------- */

static bool cores_visible(const builder_t *builder)
{
	const dfrs_scope_t *scope = &builder->scope;

	for (uint32_t i = 0; i < scope->count; i++)
		if (dfrs_cores_differ(scope, &scope->partitions[i]))
			return true;
	return false;
}

static void look(builder_t *builder, const char *partitions)
{
	dfrs_snapshot_t *out = builder->out;

	dfrs_lock_read();
	out->now = time(NULL);
	dfrs_scope_open(&builder->scope, partitions, out->now);
	out->complete = dfrs_view_begin(builder->view, partitions, &builder->scope);
	add_nodes(builder);
	if (job_list)
		(void) list_for_each_ro(job_list, look_at_record, builder);
	out->cores_visible = !builder->wrong_layout && cores_visible(builder);
	dfrs_scope_close(&builder->scope);
	dfrs_unlock_read();
	if (!builder->wrong_layout && !builder->no_memory)
		add_gone(builder);
}

int dfrs_snapshot(dfrs_view_t *view, const char *partitions, dfrs_snapshot_t *out)
{
	builder_t builder = { .out = out, .view = view };

	if (!view || !partitions || !out)
		return EINVAL;
	memset(out, 0, sizeof(*out));
	dfrs_remember_partitions(partitions);
	if (!RESERVE(&builder, out->strings, 0, 1, builder.string_room))
		return ENOMEM;
	out->strings[0] = '\0';
	out->string_bytes = 1;
	look(&builder, partitions);
	view->forgotten = builder.no_memory || builder.wrong_layout;
	if (!view->forgotten)
		return SLURM_SUCCESS;
	dfrs_snapshot_free(out);
	return builder.wrong_layout ? ESLURM_NOT_SUPPORTED : ENOMEM;
}

void dfrs_snapshot_free(dfrs_snapshot_t *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->jobs);
	free(snapshot->gone);
	free(snapshot->nodes);
	free(snapshot->places);
	free(snapshot->devices);
	free(snapshot->sets);
	free(snapshot->indexes);
	free(snapshot->strings);
	memset(snapshot, 0, sizeof(*snapshot));
}
