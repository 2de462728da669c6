#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused step
# A job that computes in a step all the time.

# shellcheck disable=SC2016 # variables of inner shells
srun -n1 sh -c 'for step in $(seq 26); do echo "$step"; sleep 0.5; done'
echo "srun ended with $?"
