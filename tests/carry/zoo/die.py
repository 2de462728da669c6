#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A program that dies of a signal of its own: the job's end must say so after a carry, too.

import os
import resource
import signal
import time

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for step in range(26):
    print(step)
    time.sleep(0.5)
os.kill(os.getpid(), signal.SIGSEGV)
