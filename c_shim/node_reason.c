/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_reason.c - the reason of a node, as administrators see it: how many parked jobs live there. To
 * Slurm these are suspended, and a node that is to be empty looks so and is not.
 */
#include "internal.h"

/* Whether an administrator waits for it to be empty. One that is down waits for nobody. */
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

	if (!node || (!parked && (!node->reason || !strstr(node->reason, dfrs_note_parked.before))))
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

typedef struct {
	const char *const *names;
	const uint32_t *parked;
} news_t;

static bool say_one(const void *what, uint32_t position, bool may_write)
{
	const news_t *news = what;
	node_record_t *node = find_node_record((char *) news->names[position]);
	bool differs = is_to_say(node, news->parked[position]);

	if (differs && may_write)
		say(node, news->parked[position]);
	return differs;
}

void dfrs_nodes_set_parked(const char *const *names, const uint32_t *parked, uint32_t count)
{
	const news_t news = { names, parked };

	if (names && parked)
		dfrs_change_those_that_differ(count, say_one, &news);
}
