# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong while a job is carried: each fault is one act at one step of the carry."""

import dataclasses
import time
import typing

import cluster as clusters

# slurmctld writes its state so many seconds after a change at the latest. What it has not written when it is killed,
# it never did: a job that was requeued runs on its old node again, for it. That is no matter of carrying.
STATE_SECONDS = 7
FULL = "/run/carry-full"

# By name and by the job's number, which dfrsd's and criu's command lines hold: other jobs are carried meanwhile.
KILL = r"""
import os, signal, sys, time
name, number, pause = sys.argv[1], sys.argv[2].encode(), float(sys.argv[3])
end = time.monotonic() + 20
while time.monotonic() < end:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as file:
                if file.read().strip() != name:
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if number not in file.read().replace(b"/", b"\0").split(b"\0"):
                    continue
            time.sleep(pause)
            os.kill(int(pid), signal.SIGKILL)
            sys.exit(0)
        except OSError:
            continue
    time.sleep(0.005)
sys.exit(1)
"""

# The middle byte of the largest file: memory of the job. Twice is as before.
FLIP = r"""
import os, sys
directory = sys.argv[1]
path = max((os.path.join(directory, name) for name in os.listdir(directory)), key=os.path.getsize)
with open(path, "r+b") as file:
    file.seek(os.path.getsize(path) // 2)
    byte = file.read(1)
    file.seek(-1, os.SEEK_CUR)
    file.write(bytes([byte[0] ^ 1]))
"""


# What a node that loses its power loses, and its start after that.
LOSE = r"""
import os, signal, subprocess, sys, time
NAMES = {"slurmd", "slurmstepd", "dfrsd", "criu", "dfrs-carrier"}
for _ in range(3):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as file:
                name = file.read().strip()
            if name in NAMES or os.stat(f"/proc/{pid}").st_uid == int(sys.argv[1]):
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue
time.sleep(float(sys.argv[2]))
sys.exit(subprocess.run(["/usr/sbin/slurmd", "-b", "-N", os.uname().nodename]).returncode)
"""


@dataclasses.dataclass(frozen=True)
class Carry:
    """The carry that a fault meets."""

    cluster: typing.Any
    number: int
    source: str
    target: str
    rng: typing.Any


@dataclasses.dataclass(frozen=True)
class Fault:
    """`act` runs beside the carry's step (dump, requeue or start); or before it, if `first`.

    `ends` are the ways in which a job may come out of it (kills.py): any, if there are none.
    `mend` undoes it, before the job's fate is settled further.
    `shared` is the part of a carry (controller, source or target) all of whose jobs it meets: only such carries are there
    meanwhile. Else it meets one job."""

    name: str
    step: str
    act: typing.Callable
    first: bool = False
    ends: tuple = ()
    mend: typing.Callable = None
    shared: str = ""

    def met_by(self, carry):
        """Equal for carries that one act meets."""
        return getattr(carry, self.shared, self.shared) if self.shared else carry.number


def kill_program(name, place):
    """Kills that program of this carry, at a random moment of its life."""
    def act(carry):
        node = getattr(carry, place)
        pause = f"{carry.rng.uniform(0, 0.15):.3f}"
        return carry.cluster.attempt(node, "python3", "-c", KILL, name, str(carry.number), pause).returncode == 0
    return act


def end_daemon(name, place, how="kill", within=1.5):
    """Ends a daemon within so many seconds, by SIGKILL or (stop) by SIGTERM, and starts it again some seconds later."""
    def act(carry):
        node = place if place == "controller" else getattr(carry, place)
        time.sleep(carry.rng.uniform(0, within))
        carry.cluster.attempt(node, "/opt/cluster/service", name, how)
        time.sleep(carry.rng.uniform(0.5, 6))
        return carry.cluster.attempt(node, "/opt/cluster/service", name, "start").returncode == 0
    return act


def lose_node(place):
    """The node stops at once, and is there again some seconds later."""
    def act(carry):
        node = getattr(carry, place)
        user = carry.cluster.run(node, "id", "-u", clusters.USER).strip()
        time.sleep(carry.rng.uniform(0, 2))
        pause = f"{carry.rng.uniform(1, 6):.3f}"
        return carry.cluster.attempt(node, "python3", "-c", LOSE, user, pause).returncode == 0
    return act


def flip(carry):
    """Damages the image, or mends it."""
    directory = f"{carry.cluster.images}/{carry.number}"
    return carry.cluster.attempt(carry.target, "python3", "-c", FLIP, directory).returncode == 0


def cancel(carry):
    time.sleep(carry.rng.uniform(0, 3))
    return carry.cluster.attempt("controller", "scancel", str(carry.number)).returncode == 0


def fill(carry):
    """A small file system where the image is to be, with less room than any job needs."""
    directory = f"{FULL}-{carry.number}"
    script = 'mkdir -m 700 "$0" && mount -t tmpfs -o size=200k,mode=700 carry-full "$0" && touch "$0/lock"'
    return carry.cluster.attempt(carry.source, "bash", "-c", script, directory).returncode == 0


def unfill(carry):
    """Removes it. Returns whether nothing of the image was left there."""
    script = '[ -z "$(find "$0" -mindepth 1 ! -name lock)" ]; empty=$?; umount "$0"; rmdir "$0"; exit $empty'
    return carry.cluster.attempt(carry.source, "bash", "-c", script, f"{FULL}-{carry.number}").returncode == 0


FAULTS = [
    Fault("criu killed in the dump", "dump", kill_program("criu", "source")),
    Fault("dfrsd killed in the dump", "dump", kill_program("dfrsd", "source")),
    Fault("image directory full", "dump", fill, first=True, ends=("in place",), mend=unfill),
    Fault("slurmd killed in the dump", "dump", end_daemon("slurmd", "source"), shared="source"),
    Fault("slurmd killed at the requeue", "requeue", end_daemon("slurmd", "source"), shared="source"),
    Fault("slurmctld killed in the dump", "dump", end_daemon("slurmctld", "controller", within=0.2), shared="controller"),
    Fault("slurmctld stopped at the requeue", "requeue", end_daemon("slurmctld", "controller", "stop"), shared="controller"),
    Fault("slurmctld stopped at the start", "start", end_daemon("slurmctld", "controller", "stop"), shared="controller"),
    # It may forget the start, and then makes it again.
    Fault("slurmctld killed at the start", "start", end_daemon("slurmctld", "controller", within=3), shared="controller"),
    Fault("slurmd killed at the start", "start", end_daemon("slurmd", "target"), shared="target"),
    Fault("criu killed in the restore", "start", kill_program("criu", "target")),
    Fault("dfrsd killed in the restore", "start", kill_program("dfrsd", "target")),
    Fault("node lost at the requeue", "requeue", lose_node("source"), shared="source"),
    Fault("node lost at the start", "start", lose_node("target"), shared="target"),
    Fault("image damaged", "requeue", flip, first=True, ends=("held",), mend=flip),
    Fault("cancelled in the dump", "dump", cancel, ends=("cancelled",)),
    Fault("cancelled at the requeue", "requeue", cancel, ends=("cancelled",)),
    Fault("cancelled at the start", "start", cancel, ends=("cancelled",)),
]
