/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cons_tres.c - what the files of select/cons_tres that keep its records need of its others.
 */
#include "slurm_headers.h"

const char plugin_type[] = "select/cons_tres";
/* 22.05 */
bool is_cons_tres = true;
int core_array_size;

bool preempt_by_qos;
