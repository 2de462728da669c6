/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.c - lines in slurmctld's log, and the names of its errors.
 */
#include "internal.h"

void dfrs_log(int level, const char *message)
{
	if (!message)
		return;
	switch (level) {
	case DFRS_LOG_ERROR:
		error("dfrs: %s", message);
		break;
	case DFRS_LOG_INFO:
		info("dfrs: %s", message);
		break;
	case DFRS_LOG_VERBOSE:
		verbose("dfrs: %s", message);
		break;
	default:
		debug("dfrs: %s", message);
		break;
	}
}

const char *dfrs_strerror(int rc)
{
	return slurm_strerror(rc);
}
