# SPDX-License-Identifier: GPL-2.0-or-later
"""An honest job beside a hostile one: holds memory with known content and counts the rounds in which it was unharmed.

usage: victim.py REPORT MEGABYTES

REPORT holds `ROUND LONGEST`: how many rounds there were, and the longest pause between two of them in seconds. A damaged page
ends it with a message, and so does the kernel if it is short of memory.
"""

import os
import sys
import time

PAGE = 4096


def mark(page):
    return page.to_bytes(8, "little")


def main():
    report, megabytes = sys.argv[1], int(sys.argv[2])
    # Every page is different, so that none can be shared.
    memory = bytearray(megabytes << 20)
    for page in range(0, len(memory), PAGE):
        memory[page : page + 8] = mark(page)
    rounds, longest, last = 0, 0.0, time.monotonic()
    while True:
        for page in range(0, len(memory), PAGE):
            if memory[page : page + 8] != mark(page):
                sys.exit(f"page {page // PAGE} is damaged")
        rounds += 1
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        # In one step: it may be frozen anywhere.
        with open(report + ".new", "w", encoding="ascii") as out:
            out.write(f"{rounds} {longest:.2f}")
        os.replace(report + ".new", report)
        time.sleep(0.1)


main()
