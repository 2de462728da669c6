#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory that cannot leave RAM: the job cannot be parked.
exec python3 "$HOSTILE/memory.py" lock $((MEMORY / 2))
