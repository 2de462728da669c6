# SPDX-License-Identifier: GPL-2.0-or-later
"""What hostile jobs do with memory.

usage: memory.py KIND MEGABYTES [PATH]

hold      anonymous memory, touched once
touch     the same, touched in a loop
lock      the same, locked in RAM
share     fills the file PATH, which is in a tmpfs, and keeps it mapped; others may read it
read      maps PATH and touches all of it in a loop
pin       maps PATH and locks it in RAM
huge      the same as hold, in huge pages
"""

import ctypes
import mmap
import os
import sys
import time

PAGE = 4096
HUGE = 0x40000  # MAP_HUGETLB
libc = ctypes.CDLL(None, use_errno=True)


def lock(memory):
    """Waits for what the kernel refuses: a limit may be in the way for a while."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    while libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(len(memory))):
        print("mlock:", os.strerror(ctypes.get_errno()), flush=True)
        time.sleep(1)
    print("locked", flush=True)


def fill(memory):
    for page in range(0, len(memory), PAGE):
        memory[page : page + 8] = page.to_bytes(8, "little")


def touch_for_ever(memory):
    total = 0
    while True:
        for page in range(0, len(memory), PAGE):
            total += memory[page]


def of_file(path, size, write):
    flags = os.O_RDWR | os.O_CREAT if write else os.O_RDWR
    file = os.open(path, flags, 0o666)
    if write:
        os.fchmod(file, 0o666)
        os.ftruncate(file, size)
    return mmap.mmap(file, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)


def main():
    kind, size = sys.argv[1], int(sys.argv[2]) << 20
    if kind in ("share", "read", "pin"):
        memory = of_file(sys.argv[3], size, kind == "share")
    else:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (HUGE if kind == "huge" else 0)
        memory = mmap.mmap(-1, size, flags)
    if kind not in ("read", "pin"):
        fill(memory)
    print("filled", flush=True)
    if kind in ("lock", "pin"):
        lock(memory)
    if kind in ("touch", "read"):
        touch_for_ever(memory)
    while True:
        time.sleep(60)


main()
