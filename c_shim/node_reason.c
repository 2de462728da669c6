/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_reason.c - the reason of a node, as administrators see it: how many parked jobs live there. To
 * Slurm these are suspended, and a node that is to be empty looks so and is not.
 */
#include "internal.h"

/* Whether an administrator waits for the node to be empty. Not so if it is down. */
static bool is_to_be_empty(const node_record_t *node)
{
	return !IS_NODE_DOWN(node) &&
	       (IS_NODE_DRAIN(node) || IS_NODE_FAIL(node) || IS_NODE_REBOOT_REQUESTED(node));
}

/* What its reason is to be: to be freed; "": it is to have none. */
static char *wanted_reason(const node_record_t *node, uint32_t parked)
{
	char *reason = dfrs_without_note(node->reason, &dfrs_note_parked);
	char number[16];

	snprintf(number, sizeof(number), "%u", parked);
	if (parked && is_to_be_empty(node))
		dfrs_add_note(&reason, &dfrs_note_parked, number);
	else if (!*reason && node->reason && IS_NODE_DOWN(node) && IS_NODE_NO_RESPOND(node))
		/* What Slurm would have written had it found no reason: by it ReturnToService=1 knows the
		 * node. */
		xstrcat(reason, "Not responding");
	return reason;
}

static bool has_reason(const node_record_t *node, const char *reason)
{
	return !strcmp(node->reason ? node->reason : "", reason);
}

/* Whether there is something to change. */
static bool reason_differs(const node_record_t *node, uint32_t parked)
{
	char *reason;
	bool differs;

	if (!node || (!parked && (!node->reason || !strstr(node->reason, dfrs_note_parked.before))))
		return false;
	reason = wanted_reason(node, parked);
	differs = !has_reason(node, reason);
	xfree(reason);
	return differs;
}

/* The user and the time of a reason stay with it. */
static void set_reason(node_record_t *node, uint32_t parked)
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

typedef struct {
	const char *const *names;
	const uint32_t *parked;
} updates_t;

static bool update_one(const void *what, uint32_t position, bool may_write)
{
	const updates_t *updates = what;
	node_record_t *node = find_node_record((char *) updates->names[position]);
	bool differs = reason_differs(node, updates->parked[position]);

	if (differs && may_write)
		set_reason(node, updates->parked[position]);
	return differs;
}

void dfrs_nodes_set_parked(const char *const *names, const uint32_t *parked, uint32_t count)
{
	const updates_t updates = { names, parked };

	if (names && parked)
		dfrs_change_differing(count, update_one, &updates);
}
