/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client_view.c - what a caller of dfrs_snapshot() knows, as text.
 */
#include "client_view.h"

#include <stdio.h>

static void print_devices(FILE *out, const dfrs_snapshot_t *snapshot, uint32_t offset, uint32_t count)
{
	for (uint32_t i = offset; i < offset + count; i++) {
		const dfrs_device_t *devices = &snapshot->devices[i];

		fprintf(out, " %s %" PRIu64 "/%" PRIu64, snapshot->strings + devices->kind, devices->allocated,
			devices->count);
	}
}

/* All of an entry, so that no field is left out: what refers to another array was set to 0. */
static void print_words(FILE *out, const void *entry, size_t size)
{
	for (size_t at = 0; at + sizeof(uint32_t) <= size; at += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, (const char *) entry + at, sizeof(word));
		fprintf(out, " %x", word);
	}
}

static void print_set(FILE *out, const dfrs_snapshot_t *snapshot, const char *what, uint32_t number)
{
	const dfrs_node_set_t *set = &snapshot->sets[number - 1];

	if (!number)
		return;
	fprintf(out, "%s", what);
	for (uint32_t i = 0; i < set->count; i++)
		fprintf(out, " %u", snapshot->indexes[set->offset + i]);
}

static char *text_of_job(const dfrs_snapshot_t *snapshot, const dfrs_job_t *job)
{
	dfrs_job_t plain = *job;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	plain.unsupported_text = plain.partition = plain.comment = 0;
	plain.place_offset = plain.device_offset = plain.eligible = plain.preferred = 0;
	print_words(out, &plain, sizeof(plain));
	fprintf(out, " %s in %s, %s; at", snapshot->strings + job->unsupported_text,
		snapshot->strings + job->partition, snapshot->strings + job->comment);
	for (uint32_t i = 0; i < job->place_count; i++) {
		const dfrs_place_t *place = &snapshot->places[job->place_offset + i];

		fprintf(out, " %u:%u/%u/%" PRIu64, place->node, place->tasks, place->cpus,
			place->memory);
	}
	print_devices(out, snapshot, job->device_offset, job->device_count);
	print_set(out, snapshot, "; only", job->eligible);
	print_set(out, snapshot, "; prefers", job->preferred);
	fclose(out);
	return text;
}

static void replace(char **known, char *text)
{
	free(*known);
	*known = text;
}

static bool equal(const char *one, const char *other)
{
	return (!one || !other) ? (one == other) : !strcmp(one, other);
}

static void fail(const char *what, uint32_t number, const char *one, const char *other)
{
	printf("%s %u:\n %s\n %s\n", what, number, one ? one : "(none)", other ? other : "(none)");
	fflush(stdout);
	_exit(5);
}

static void take_in_nodes(known_t *known, const dfrs_snapshot_t *snapshot)
{
	for (uint32_t i = 0; snapshot->all_nodes && (i < MAX_NODES); i++)
		replace(&known->nodes[i], NULL);
	for (uint32_t i = 0; i < snapshot->node_count; i++) {
		const dfrs_node_t *node = &snapshot->nodes[i];
		dfrs_node_t plain = *node;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		plain.name = plain.leaf = plain.device_offset = 0;
		fprintf(out, "%s at %s:", snapshot->strings + node->name, snapshot->strings + node->leaf);
		print_words(out, &plain, sizeof(plain));
		print_devices(out, snapshot, node->device_offset, node->device_count);
		fclose(out);
		if (equal(known->nodes[node->index], text))
			fail("unchanged node", node->index, text, text);
		replace(&known->nodes[node->index], text);
	}
}

void take_in(known_t *known, const dfrs_snapshot_t *snapshot)
{
	for (uint32_t i = 0; snapshot->complete && (i < MAX_JOBS); i++)
		replace(&known->jobs[i], NULL);
	take_in_nodes(known, snapshot);
	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		const dfrs_job_t *job = &snapshot->jobs[i];
		char *text = text_of_job(snapshot, job);

		if (equal(known->jobs[job->job_id], text))
			fail("unchanged job", job->job_id, text, text);
		replace(&known->jobs[job->job_id], text);
	}
	for (uint32_t i = 0; i < snapshot->gone_count; i++) {
		if (!known->jobs[snapshot->gone[i]])
			fail("gone, and never there: job", snapshot->gone[i], NULL, NULL);
		replace(&known->jobs[snapshot->gone[i]], NULL);
	}
}

void compare(const known_t *delta, const known_t *full, const char *when)
{
	for (uint32_t i = 0; i < MAX_JOBS; i++)
		if (!equal(delta->jobs[i], full->jobs[i]))
			fail(when, i, delta->jobs[i], full->jobs[i]);
	for (uint32_t i = 0; i < MAX_NODES; i++)
		if (!equal(delta->nodes[i], full->nodes[i]))
			fail(when, i, delta->nodes[i], full->nodes[i]);
}
