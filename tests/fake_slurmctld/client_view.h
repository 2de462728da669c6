/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client_view.h - what a caller of dfrs_snapshot() knows, as text.
 */
#ifndef FAKE_CLIENT_VIEW_H
#define FAKE_CLIENT_VIEW_H

#include "slurmctld.h"

#include "dfrs_shim.h"

#define MAX_NODES 4096

typedef struct {
	char *jobs[MAX_JOBS], *nodes[MAX_NODES];
} known_t;

/* Takes a snapshot in; ends the program if it says of a job that it has changed which has not. */
void take_in(known_t *known, const dfrs_snapshot_t *snapshot);
/* Ends the program if they differ. */
void compare(const known_t *delta, const known_t *full, const char *when);

#endif
