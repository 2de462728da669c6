#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Locks of files: flock, fcntl and those of an open file; another process tries each of them at every step.

import fcntl
import os
import struct
import time

F_OFD_SETLK = 37
WHOLE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 10, 0)


def take_flock(file):
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def take_record(file):
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)


def take_open_file(file):
    fcntl.fcntl(file, F_OFD_SETLK, WHOLE)


KINDS = {"flock": take_flock, "record": take_record, "open-file": take_open_file}


def is_held(name):
    child = os.fork()
    if child == 0:
        with open(name, "r+") as file:
            try:
                KINDS[name](file)
            except OSError:
                os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


held = {}
for name, take in KINDS.items():
    held[name] = open(name, "w")
    take(held[name])
for step in range(26):
    print(step, *(name for name in KINDS if is_held(name)))
    time.sleep(0.5)
for file in held.values():
    file.close()
print("held at the end:", *(name for name in KINDS if is_held(name)))
