#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Huge pages do not count for a job, and do not go to swap.
exec python3 "$HOSTILE/memory.py" huge $((MEMORY / 2))
