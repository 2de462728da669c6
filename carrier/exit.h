/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm holds a job that ends with this (RequeueExitHold); `dfrs doctor` looks for it. */
#define EXIT_HELD 125
