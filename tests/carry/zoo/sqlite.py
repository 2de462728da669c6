#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A writer of an SQLite data base: write-ahead log, mapped index, a transaction open most of the time.

import sqlite3
import time

base = sqlite3.connect("base.db", isolation_level=None)
base.execute("pragma journal_mode=wal")
base.execute("create table numbers (number integer, word text)")
for step in range(26):
    if not base.in_transaction:
        base.execute("begin")
    base.executemany("insert into numbers values (?, ?)", ((step * 100 + n, "w%d" % (step * n)) for n in range(100)))
    print(step, base.execute("select count(*), sum(number), sum(length(word)) from numbers").fetchone())
    time.sleep(0.5)
    if step % 4 == 3:
        base.execute("commit")
base.execute("commit")
print(base.execute("pragma integrity_check").fetchone())
other = sqlite3.connect("base.db")
print(other.execute("select count(*), sum(number) from numbers").fetchone())
