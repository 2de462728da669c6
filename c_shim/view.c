/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.c - what a caller has seen of slurmctld: two tables of digests, by job and by kind of
 * restriction, with open addressing, and one digest for each node.
 */
#include "look.h"

#define MIN_ROOM 1024

/* --- a view's life ------------------------------------------------------------------------------------- */

dfrs_view_t *dfrs_view_create(void)
{
	dfrs_view_t *view = calloc(1, sizeof(*view));

	if (view)
		view->forgotten = true;
	return view;
}

void dfrs_view_destroy(dfrs_view_t *view)
{
	if (!view)
		return;
	free(view->stamps);
	free(view->classes);
	free(view->nodes);
	dfrs_leaves_forget(view);
	free(view);
}

void dfrs_view_forget(dfrs_view_t *view)
{
	if (view)
		view->forgotten = true;
}

static void clear_stamps(dfrs_view_t *view)
{
	if (view->stamps)
		memset(view->stamps, 0, view->stamp_room * sizeof(*view->stamps));
	view->stamp_count = 0;
}

static void clear_classes(dfrs_view_t *view)
{
	if (view->classes)
		memset(view->classes, 0, view->class_room * sizeof(*view->classes));
	view->class_count = 0;
}

bool dfrs_view_begin(dfrs_view_t *view, const char *partitions, const dfrs_scope_t *scope)
{
	uint64_t names = dfrs_digest_text(DFRS_DIGEST_START, partitions);
	bool complete = view->forgotten || (view->partitions != names);

	view->look++;
	view->partitions = names;
	if (complete) {
		clear_stamps(view);
		view->node_names = 0;
	}
	/* Of jobs that are gone, too: no more than there are jobs, and as many again. */
	if (complete || (view->scope != scope->digest) ||
	    (view->class_count > 2 * view->stamp_count + MIN_ROOM))
		clear_classes(view);
	view->scope = scope->digest;
	/* Until the look has come to its end. */
	view->forgotten = true;
	return complete;
}

/* --- stamps ---------------------------------------------------------------------------------------------- */

/* Ids come in sequence: eight consecutive ones are adjacent in memory, and share cache lines. */
static uint32_t stamp_slot(const dfrs_view_t *view, uint32_t job_id)
{
	uint32_t block = (job_id / 8) * UINT32_C(0x9e3779b1);

	block ^= block >> 15;
	return (block * 8 + job_id % 8) & (view->stamp_room - 1);
}

static uint32_t find_stamp(const dfrs_view_t *view, uint32_t job_id)
{
	uint32_t slot = stamp_slot(view, job_id);

	while (view->stamps[slot].job_id && (view->stamps[slot].job_id != job_id))
		slot = (slot + 1) & (view->stamp_room - 1);
	return slot;
}

static bool grow_stamps(dfrs_view_t *view)
{
	dfrs_view_t larger = *view;

	larger.stamp_room = MAX(MIN_ROOM, 2 * view->stamp_room);
	larger.stamps = calloc(larger.stamp_room, sizeof(*larger.stamps));
	if (!larger.stamps)
		return false;
	for (uint32_t i = 0; i < view->stamp_room; i++)
		if (view->stamps[i].job_id)
			larger.stamps[find_stamp(&larger, view->stamps[i].job_id)] =
				view->stamps[i];
	free(view->stamps);
	view->stamps = larger.stamps;
	view->stamp_room = larger.stamp_room;
	return true;
}

dfrs_stamp_t *dfrs_view_stamp(dfrs_view_t *view, uint32_t job_id)
{
	dfrs_stamp_t *stamp;

	if ((2 * (view->stamp_count + 1) > view->stamp_room) && !grow_stamps(view))
		return NULL;
	stamp = &view->stamps[find_stamp(view, job_id)];
	if (!stamp->job_id) {
		*stamp = (dfrs_stamp_t) { .job_id = job_id };
		view->stamp_count++;
	}
	stamp->look = view->look;
	return stamp;
}

/* Moves those behind it up that were put there because this place was taken. */
static void remove_stamp(dfrs_view_t *view, uint32_t slot)
{
	uint32_t mask = view->stamp_room - 1;

	for (uint32_t next = (slot + 1) & mask; view->stamps[next].job_id; next = (next + 1) & mask) {
		uint32_t wanted = stamp_slot(view, view->stamps[next].job_id);

		if (((next - wanted) & mask) >= ((next - slot) & mask)) {
			view->stamps[slot] = view->stamps[next];
			slot = next;
		}
	}
	view->stamps[slot].job_id = 0;
	view->stamp_count--;
}

uint32_t dfrs_view_next_gone(dfrs_view_t *view, uint32_t *slot)
{
	for (; *slot < view->stamp_room; (*slot)++) {
		const dfrs_stamp_t *stamp = &view->stamps[*slot];
		uint32_t job_id = stamp->job_id;

		if (!job_id || (stamp->look == view->look))
			continue;
		remove_stamp(view, *slot); /* another one may be here now: look again */
		return job_id;
	}
	return 0;
}

/* --- classes --------------------------------------------------------------------------------------------- */

static uint32_t find_class(const dfrs_view_t *view, uint64_t key)
{
	uint32_t slot = (uint32_t) key & (view->class_room - 1);

	while (view->classes[slot].key && (view->classes[slot].key != key))
		slot = (slot + 1) & (view->class_room - 1);
	return slot;
}

static bool grow_classes(dfrs_view_t *view)
{
	dfrs_view_t larger = *view;

	larger.class_room = view->class_room ? 2 * view->class_room : MIN_ROOM / 16;
	larger.classes = calloc(larger.class_room, sizeof(*larger.classes));
	if (!larger.classes)
		return false;
	for (uint32_t i = 0; i < view->class_room; i++)
		if (view->classes[i].key)
			larger.classes[find_class(&larger, view->classes[i].key)] =
				view->classes[i];
	free(view->classes);
	view->classes = larger.classes;
	view->class_room = larger.class_room;
	return true;
}

bool dfrs_view_reserve_classes(dfrs_view_t *view, uint32_t count)
{
	while (2 * (view->class_count + count) > view->class_room)
		if (!grow_classes(view))
			return false;
	return true;
}

dfrs_class_t *dfrs_view_class(dfrs_view_t *view, uint64_t key)
{
	dfrs_class_t *class = &view->classes[find_class(view, key)];

	if (!class->key) {
		*class = (dfrs_class_t) { .key = key };
		view->class_count++;
	}
	if (class->look != view->look) {
		class->look = view->look;
		class->set = 0;
	}
	return class;
}

/* --- nodes ------------------------------------------------------------------------------------------------- */

bool dfrs_view_reserve_nodes(dfrs_view_t *view, uint32_t count)
{
	uint64_t *larger;

	if (count <= view->node_room)
		return true;
	larger = realloc(view->nodes, count * sizeof(*larger));
	if (!larger)
		return false;
	memset(larger + view->node_room, 0, (count - view->node_room) * sizeof(*larger));
	view->nodes = larger;
	view->node_room = count;
	return true;
}
