#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# C with OpenMP: three threads and their barriers. Exit code 4.

OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive exec "$ZOO_BUILT/openmp"
