# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld: its configuration, its life, and what the kernel knows of it."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import shapes
from commands import Unanswered, run

SOURCES = pathlib.Path("/opt/scale/conf")
SITE = pathlib.Path("/opt/slurm-conf")
SLURM = pathlib.Path("/etc/slurm")
STATE = pathlib.Path("/var/lib/slurm/slurmctld")
LOGS = pathlib.Path("/var/log/slurm")
KEPT = pathlib.Path("/var/log/scale")
EVENTS = LOGS / "events"
JOURNAL = LOGS / "dfrs-journal.jsonl"
LOG = LOGS / "slurmctld.log"
# Of nodes: no connection is ever made, and this is known at once. One that is refused is tried again for ten seconds
# (slurmctld's agents, which are then all in use: nothing else is sent, not even the answer that salloc waits for).
UNREACHABLE = "255.255.255.255"
NO_DFRSD = "dfrsd not responding"


def dfrs_conf(mobility, policy):
    """dfrs.conf for jobs of this mobility, under a policy if one is named."""
    text = (SOURCES / "dfrs.conf").read_text().replace("Mobility=never", f"Mobility={mobility}")
    return re.sub(r"^Policy=.*", f"Policy={policy}", text, flags=re.MULTILINE) if policy else text


# Of a second partition on the same nodes, and of nodes with devices.
MIXED = "GresTypes=gpu\nPartitionName=batch Nodes=ALL OverSubscribe=NO PriorityTier=2 State=UP\n"


def configure(scheduler, nodes, mobility, policy, mixed):
    """Writes all of /etc/slurm."""
    shutil.copy(SOURCES / "slurm.conf", SLURM)
    (SLURM / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    if scheduler == "dfrs":
        parts = [SITE / "slurm-dfrs.conf", SOURCES / "dfrs-partition.conf"]
        (SLURM / "dfrs.conf").write_text(dfrs_conf(mobility, policy))
    else:
        parts = [SOURCES / f"{scheduler}.conf"]
    (SLURM / "scheduler.conf").write_text("".join(part.read_text() for part in parts) + (MIXED if mixed else ""))
    plugins = pathlib.Path(next(pathlib.Path("/usr/lib").glob("*/slurm-wlm/sched_backfill.so"))).parent
    (SLURM / "nodes.conf").write_text(
        f"PluginDir={plugins}:/opt/dfrs\n"
        f"NodeName=e[1-{nodes}] NodeAddr={UNREACHABLE} CPUs={shapes.NODE_CPUS}"
        f" RealMemory={shapes.NODE_MEGABYTES} State=UNKNOWN{' Gres=gpu:4' if mixed else ''}\n")


def start_munge():
    subprocess.run(["bash", "-ec", ". /opt/cluster/setup.sh; make_munge_key; /opt/cluster/service munged start"],
                   check=True)


class Controller:
    """A slurmctld that starts with no job."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.process = None

    def start(self):
        """Starts it and waits until all nodes are there."""
        for directory in (STATE, LOGS):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            shutil.chown(directory, "slurm", "slurm")
        self.process = subprocess.Popen(["/usr/sbin/slurmctld", "-D"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        env={**os.environ, "SCALE_EVENTS": str(EVENTS)})
        deadline = time.monotonic() + 60
        while not self._ready():
            if time.monotonic() > deadline or not self.alive():
                raise Unanswered(f"slurmctld has not {self.nodes} idle nodes after its start: {self.last_line()}")
            time.sleep(0.2)

    def _ready(self):
        try:
            words = run("sinfo", "--noheader", "--states=idle", "--format=%D", limit=20).split()
        except Unanswered:
            return False
        return sum(int(word) for word in words) == self.nodes

    def last_line(self):
        lines = LOG.read_text(errors="replace").splitlines() if LOG.exists() else []
        return lines[-1] if lines else "its log is empty"

    @staticmethod
    def status_path():
        """Where DFRS says how it is."""
        return STATE / "dfrs_status.json"

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends it, by force if need be."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def keep_logs(self, scene):
        """Puts its log, the events, the journal and the status file where the next one's do not take their place."""
        shutil.copytree(LOGS, KEPT / scene, dirs_exist_ok=True)
        if self.status_path().exists():
            shutil.copy(self.status_path(), KEPT / scene)

    def cpu_seconds(self):
        """All threads', those that have ended included."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def thread_seconds(self):
        """CPU seconds of living threads, by name."""
        seconds = {}
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name = (thread / "comm").read_text().strip()
                nanoseconds = int((thread / "schedstat").read_text().split()[0])
            except OSError:
                continue
            seconds[name] = seconds.get(name, 0) + nanoseconds / 1e9
        return seconds

    def resident_megabytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0

    def error_lines(self):
        """Lines of errors in its log; those of DFRS apart. That no node answers DFRS is as it is meant
        to be here."""
        errors = [line for line in LOG.read_text(errors="replace").splitlines()
                  if re.search(" (error|fatal): ", line) and NO_DFRSD not in line]
        own = [line for line in errors if "dfrs" in line]
        return own, [line for line in errors if "dfrs" not in line]
