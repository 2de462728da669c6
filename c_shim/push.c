/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push.c - messages to the node daemons, through the slurmds.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>

/* Writes the names of a ranged list ("n[1-3,7]"), separated by commas. */
static bool expand(const char *ranged, char *out, size_t size)
{
	dfrs_hostlist_t list = hostlist_create(ranged);
	size_t used = 0;
	bool fits = list != NULL;
	char *name;

	while (fits && (name = hostlist_shift(list))) {
		int more = snprintf(out + used, size - used, "%s%s", used ? "," : "", name);

		free(name);
		fits = (more >= 0) && ((size_t) more < size - used);
		used += fits ? (size_t) more : 0;
	}
	if (list)
		hostlist_destroy(list);
	return fits;
}

int dfrs_push(const char *node_list, const char *address, const char *data, uint32_t length,
	      char *failed, size_t failed_size)
{
	char *nodes, *socket;
	int rc;

	if (failed && failed_size)
		failed[0] = '\0';
	if (!node_list || !*node_list || !address || !data || !length)
		return EINVAL;
	nodes = xstrdup(node_list);
	socket = xstrdup(address);
	rc = slurm_forward_data(&nodes, socket, length, data);
	/* With one node only, the list of failed ones is the list that was given. */
	if (rc && failed && failed_size && !expand(nodes ? nodes : node_list, failed, failed_size))
		snprintf(failed, failed_size, "%s", node_list);
	xfree(nodes);
	xfree(socket);
	return rc;
}
