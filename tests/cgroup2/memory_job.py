# SPDX-License-Identifier: GPL-2.0-or-later
"""A job that holds memory with known content, and counts how often it found it unharmed."""

import os
import sys
import time

MEGABYTES = 100
PAGE = 4096

counter_file = sys.argv[1]
# Every page different, so that no page can be shared or compressed away.
memory = bytearray(MEGABYTES << 20)
for page in range(0, len(memory), PAGE):
    memory[page : page + 8] = page.to_bytes(8, "little")

round_number = 0
while True:
    for page in range(0, len(memory), PAGE):
        if memory[page : page + 8] != page.to_bytes(8, "little"):
            sys.exit(f"page {page // PAGE} is damaged")
    round_number += 1
    # In one step: the job may be frozen anywhere.
    with open(counter_file + ".new", "w", encoding="ascii") as out:
        out.write(str(round_number))
    os.replace(counter_file + ".new", counter_file)
    time.sleep(0.2)
