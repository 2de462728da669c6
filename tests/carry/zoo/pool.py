#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# multiprocessing: a pool of forked processes, a queue, a lock and a shared value.

import hashlib
import multiprocessing
import time

multiprocessing.set_start_method("fork")
total = multiprocessing.Value("i", 0)
queue = multiprocessing.Queue()


def work(number):
    digest = b"%d" % number
    for _ in range(2000):
        digest = hashlib.md5(digest).digest()
    time.sleep(0.5)
    with total.get_lock():
        total.value += number
    queue.put(number)
    return number, digest.hex()


if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        for number, digest in pool.imap(work, range(72), chunksize=1):
            print(number, digest)
        print(total.value, sorted(queue.get() for _ in range(72)) == list(range(72)))
