/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_reason.c - the reason of a node, as administrators see it: how many parked jobs live there. To
 * Slurm these are suspended, and a node that is to be empty looks so and is not.
 */
#include "internal.h"

#include <ctype.h>

static const char opening[] = "[DFRS: ";
static const char closing[] = " parked]";

/* Where the note that begins here ends; NULL: none begins here. */
static const char *end_of_note(const char *text)
{
	if (strncmp(text, opening, sizeof(opening) - 1))
		return NULL;
	text += sizeof(opening) - 1;
	if (!isdigit((unsigned char) *text))
		return NULL;
	while (isdigit((unsigned char) *text))
		text++;
	return strncmp(text, closing, sizeof(closing) - 1) ? NULL : text + sizeof(closing) - 1;
}

/* What others say, which may have gone on after a note: to be freed. */
static char *without_notes(const char *reason)
{
	char *rest = xstrdup(reason ? reason : ""), *to = rest;

	for (const char *from = rest; *from;) {
		const char *end = end_of_note(from);

		if (!end) {
			*to++ = *from++;
			continue;
		}
		from = end;
		if ((to > rest) && (to[-1] == ' '))
			to--;
	}
	*to = '\0';
	return rest;
}

/* Whether an administrator waits for it to be empty. One that is down waits for nobody. */
static bool is_to_be_empty(const node_record_t *node)
{
	return !IS_NODE_DOWN(node) &&
	       (IS_NODE_DRAIN(node) || IS_NODE_FAIL(node) || IS_NODE_REBOOT_REQUESTED(node));
}

/* What its reason is to be: to be freed; "": it is to have none. */
static char *wanted_reason(const node_record_t *node, uint32_t parked)
{
	char *reason = without_notes(node->reason);

	if (parked && is_to_be_empty(node))
		xstrfmtcat(reason, "%s%s%u%s", *reason ? " " : "", opening, parked, closing);
	else if (!*reason && node->reason && IS_NODE_DOWN(node) && IS_NODE_NO_RESPOND(node))
		/* What Slurm would have said had it found no reason: by it ReturnToService=1 knows
		 * the node. */
		xstrcat(reason, "Not responding");
	return reason;
}

static bool says(const node_record_t *node, const char *reason)
{
	return !strcmp(node->reason ? node->reason : "", reason);
}

/* Whether there is something to change. */
static bool is_to_say(const node_record_t *node, uint32_t parked)
{
	char *reason;
	bool differs;

	if (!node || (!parked && (!node->reason || !strstr(node->reason, opening))))
		return false;
	reason = wanted_reason(node, parked);
	differs = !says(node, reason);
	xfree(reason);
	return differs;
}

/* Who gave a reason, and when, stays with it. */
static void say(node_record_t *node, uint32_t parked)
{
	time_t now = time(NULL);
	char *reason = wanted_reason(node, parked);

	if (!node->reason) {
		node->reason_time = now;
		node->reason_uid = slurm_conf.slurm_user_id;
	}
	xfree(node->reason);
	if (*reason) {
		node->reason = reason;
	} else {
		xfree(reason);
		node->reason_time = 0;
		node->reason_uid = NO_VAL;
	}
	last_node_update = now;
}

/* Fills positions with those of the nodes whose reasons are to change; returns how many these are. */
static uint32_t find_others(const char *const *names, const uint32_t *parked, uint32_t count,
			    uint32_t *positions)
{
	uint32_t others = 0;

	dfrs_lock_read();
	for (uint32_t i = 0; i < count; i++) {
		if (is_to_say(find_node_record((char *) names[i]), parked[i]))
			positions[others++] = i;
		dfrs_next_piece_read();
	}
	dfrs_unlock_read();
	return others;
}

void dfrs_nodes_set_parked(const char *const *names, const uint32_t *parked, uint32_t count)
{
	uint32_t *positions = (names && parked && count) ? calloc(count, sizeof(*positions)) : NULL;
	uint32_t others = positions ? find_others(names, parked, count, positions) : 0;

	if (others)
		dfrs_lock_write();
	for (uint32_t i = 0; i < others; i++) {
		uint32_t position = positions[i];
		node_record_t *node = find_node_record((char *) names[position]);

		if (is_to_say(node, parked[position]))
			say(node, parked[position]);
		dfrs_next_piece_write();
	}
	if (others)
		dfrs_unlock_write();
	free(positions);
}
