#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fills a file in shared memory that others can read. The kernel charges its pages to this job, also when another one
# brings them back from swap.
exec python3 "$HOSTILE/memory.py" share $((MEMORY - 40)) "$SHARED"
