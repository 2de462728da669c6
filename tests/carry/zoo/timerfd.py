#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A timerfd that fires every second and is read late: it must go on firing after a carry in which it waits to be read.

import ctypes
import select
import time

libc = ctypes.CDLL(None)
timer = libc.timerfd_create(time.CLOCK_MONOTONIC, 0)
libc.timerfd_settime(timer, 0, (ctypes.c_long * 4)(1, 0, 1, 0), None)
for round in range(3):
    for step in range(8):
        print(round, step)
        time.sleep(0.5)
    for tick in range(2):
        fired = bool(select.select([timer], [], [], 5)[0])
        print("fired:", fired)
        if fired:
            libc.read(timer, ctypes.create_string_buffer(8), 8)
