/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * withhold.h - what sched_dfrs.so (dfrs_withholds()) answers burst_buffer_dfrs.so. Both are built for the
 * same slurmctld, but they may be installed one after the other: never give a number another meaning.
 */
#ifndef DFRS_WITHHOLD_H
#define DFRS_WITHHOLD_H

enum {
	DFRS_WITHHOLDS_UNDECIDED = -1, /* which partitions are DFRS's is not known yet */
	DFRS_WITHHOLDS_NOTHING = 0,
	DFRS_WITHHOLDS_JOB = 1, /* it is for DFRS alone to start it */
};

#endif
