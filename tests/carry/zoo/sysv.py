#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# System V: shared memory between two processes, a semaphore, a queue with a message.

import ctypes
import os
import time

IPC_CREAT, IPC_RMID, GETVAL, SETVAL = 0o1000, 0, 12, 16
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p


def check(result):
    if result in (-1, None):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Message(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 16)]


memory = check(libc.shmget(0, 1 << 20, IPC_CREAT | 0o600))
address = check(libc.shmat(memory, None, 0))
semaphore = check(libc.semget(0, 1, IPC_CREAT | 0o600))
check(libc.semctl(semaphore, 0, SETVAL, 5))
queue = check(libc.msgget(0, IPC_CREAT | 0o600))
check(libc.msgsnd(queue, ctypes.byref(Message(3, b"waiting")), 16, 0))
child = os.fork()
for step in range(26):
    if child == 0:
        ctypes.memset(address + step, 65 + step, 1)
    else:
        print(step, check(libc.semctl(semaphore, 0, GETVAL)))
    time.sleep(0.5)
if child == 0:
    os._exit(0)
print("the child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
received = Message()
check(libc.msgrcv(queue, ctypes.byref(received), 16, 0, 0))
print(ctypes.string_at(address, 26).decode(), received.kind, received.text.decode())
check(libc.shmctl(memory, IPC_RMID, None))
check(libc.semctl(semaphore, 0, IPC_RMID))
check(libc.msgctl(queue, IPC_RMID, None))
