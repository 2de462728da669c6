/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaf.c - the leaf switches of nodes.
 *
 * All versions of Slurm show the network by the address of each node. That is made by going through all
 * switches, so that it is kept for a while.
 */
#include "look.h"

/* Seconds. Other switches come with a reconfiguration only, and no job depends on them at once. */
#define KEPT 60

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), rest = strlen(end);

	return (length >= rest) && !strcmp(text + length - rest, end);
}

/* The address of the leaf switch: the node's without its last part; NULL: the node is at none. Changes the
 * address. It is not cut further, as names of switches may have dots. */
static const char *leaf_in(char *address, const char *pattern, const char *node)
{
	size_t length = strlen(address), name = strlen(node);

	if (!ends_with(pattern, "switch.node") || (length <= name) || !ends_with(address, node) ||
	    (address[length - name - 1] != '.'))
		return NULL;
	address[length - name - 1] = '\0';
	return (!*address || ends_with(address, ".")) ? NULL : address;
}

/* "" if Slurm knows none; NULL: no memory. The caller frees it. */
static char *find_leaf(const node_record_t *node)
{
	char *address = NULL, *pattern = NULL, *found;
	const char *leaf = NULL;

	if (!dfrs_node_address(node->name, &address, &pattern) && address && pattern)
		leaf = leaf_in(address, pattern, node->name);
	found = strdup(leaf ? leaf : "");
	xfree(address);
	xfree(pattern);
	return found;
}

void dfrs_leaves_forget(dfrs_view_t *view)
{
	for (uint32_t i = 0; i < view->leaf_room; i++)
		free(view->leaves[i]);
	free(view->leaves);
	view->leaves = NULL;
	view->leaf_room = 0;
}

bool dfrs_leaves_keep(dfrs_view_t *view, uint32_t count, bool others, time_t now)
{
	bool is_old = (now < view->leaves_since) || (now - view->leaves_since >= KEPT);

	if (!others && !is_old && (view->leaf_room >= count))
		return true;
	dfrs_leaves_forget(view);
	view->leaves = calloc(MAX(count, 1), sizeof(*view->leaves));
	if (!view->leaves)
		return false;
	view->leaf_room = count;
	view->leaves_since = now;
	return true;
}

const char *dfrs_leaf_of(dfrs_view_t *view, const node_record_t *node, int index)
{
	char **leaf = &view->leaves[index];

	if (!*leaf)
		*leaf = find_leaf(node);
	return *leaf ? *leaf : "";
}
