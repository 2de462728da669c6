#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All memory that it may have, touched in a loop: what goes to swap comes back as soon as it may.
exec python3 "$HOSTILE/memory.py" touch $((MEMORY - 40))
