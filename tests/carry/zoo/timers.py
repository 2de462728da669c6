#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Timers: setitimer, alarm within a child, timerfd; signals that come every half second, and handlers that count.

import ctypes
import os
import select
import signal
import time

alarms = []
signal.signal(signal.SIGALRM, lambda *_: alarms.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
child = os.fork()
if child == 0:
    # Timers are not inherited: this alarm is the child's first, and ends it.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(10)
    while True:
        signal.pause()
# Python has timerfd since 3.13 only: first after four seconds, then every two; seconds and nanoseconds of each.
libc = ctypes.CDLL(None)
timer = libc.timerfd_create(time.CLOCK_MONOTONIC, 0)
libc.timerfd_settime(timer, 0, (ctypes.c_long * 4)(2, 0, 4, 0), None)
print("begin")
begin = time.monotonic()
ticks = 0
while ticks < 5:
    ticks += int.from_bytes(os.read(timer, 8), "little")
    print("tick", ticks)
print("alarm ended the child:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGALRM)
print("12 seconds:", 11.9 < time.monotonic() - begin < 16)
print("signals all the time:", 20 <= len(alarms) <= 33)
signal.setitimer(signal.ITIMER_REAL, 0)
begin = time.monotonic()
print("nothing more:", select.select([timer], [], [], 1)[0] == [], time.monotonic() - begin > 0.99)
