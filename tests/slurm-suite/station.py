# SPDX-License-Identifier: GPL-2.0-or-later
"""A mini-Slurm on which tests of Slurm's test suite are run, one after the other."""

import os
import pathlib
import re
import subprocess
import time

from cluster import Cluster, Failure
from suite import is_python, python_file

HOME = "/home/slurm"
TREE = f"{HOME}/tree"
TIDY = (pathlib.Path(__file__).resolve().parent / "tidy").read_text()
# The suite looks here for Slurm. Nothing is built inside: tests which need config.h fail or skip everywhere.
SETTINGS = f"SlurmSourceDir={TREE}\nSlurmBuildDir={TREE}\nSlurmInstallDir=/usr\nSlurmConfigDir=/etc/slurm\n"
# What `dfrs status` says first of the state.
EXPECTED = {"backfill": "", "off": "nothing is scheduled by DFRS", "full": "works", "beside": "works"}
# Under these heterogeneous jobs run as under sched/backfill, and the tests of them ask for that by its name.
WITH_HETJOBS = ("off", "beside")
ASKS_FOR_BACKFILL = 's/"SchedulerType"\\] ne "sched\\/backfill"/"SchedulerType"] ne "sched\\/dfrs"/'
HETJOBS = f"{TREE}/testsuite/expect/test38.* {TREE}/testsuite/expect/test39.22"
# For tests of devices: GPUs and two sockets for every node, lines of slurm.conf.
DEVICES = ("GresTypes=gpu",
           "NodeName={} CPUs=4 Sockets=2 CoresPerSocket=2 RealMemory=1000 Gres=gpu:4 State=UNKNOWN")
# What of Slurm's sources the tests use.
PARTS = ("META", "slurm", "testsuite")


class Station:
    def __init__(self, configuration, number, given, logs):
        """number: which of the configuration's clusters; logs: directory for what tests print."""
        self.configuration = configuration
        self.logs = logs / configuration
        self.seconds = given.seconds
        self.devices = given.devices
        self.python_options = []  # known when it comes up
        project = os.environ.get("DFRS_PROJECT", "dfrs-suite")
        self.cluster = Cluster(f"{project}-{configuration}{number}", given.debian)
        # Tests count seconds; with the demo's fraction of a core they would measure that.
        self.cluster.environment["DFRS_NODE_CPUS"] = "1"

    def up(self, suite, *options):
        self.python_options = suite.python_options()
        self.logs.mkdir(parents=True, exist_ok=True)
        self.cluster.up(f"suite-{self.configuration}", *options)
        if self.devices:
            nodes = self._inside(["sh", "-c", "echo n[1-$DFRS_NODES]"]).strip()
            self.cluster.script("devices", *(line.format(nodes) for line in DEVICES))
        pack = subprocess.Popen(["tar", "--create", "--directory", str(suite.tree), *PARTS], stdout=subprocess.PIPE)
        self._inside(["sh", "-c", f"mkdir -p {TREE} && tar --extract --directory {TREE}"], stdin=pack.stdout)
        if pack.wait():
            raise Failure(f"cannot pack {suite.tree}")
        if self.configuration in WITH_HETJOBS:
            self._inside(["sh", "-c", f"sed --in-place '{ASKS_FOR_BACKFILL}' {HETJOBS}"])
        self._inside(["sh", "-c", f"cat >{TREE}/testsuite/testsuite.conf && chown -R slurm: {HOME}"], text=SETTINGS)

    def down(self):
        try:
            self.cluster.keep_logs(self.logs / "daemons")
        except Failure:
            pass  # it never came up
        self.cluster.down()

    def _inside(self, command, text=None, **options):
        if text is not None:
            options["input"] = text.encode()
        done = subprocess.run(self.cluster.command("controller", *command), capture_output=True, **options)
        if done.returncode:
            raise Failure(f"'{' '.join(command)}' failed in {self.cluster.project}: {done.stderr.decode().strip()}")
        return done.stdout.decode(errors="replace")

    def run(self, name):
        """Runs a test and ends what it left: {"result": pass, skip, fail or time, "seconds": ...}."""
        begin = time.monotonic()
        if is_python(name):
            where, program = "python", ["python3", "-m", "pytest", "-p", "no:cacheprovider",
                                        *self.python_options, f"tests/{python_file(name)}"]
        else:
            where, program = "expect", [f"./test{name}"]
        # Jobs on all nodes read the python tests' files, which pytest would put below /tmp.
        inside = self.cluster.command("controller", "env", "--chdir", f"{TREE}/testsuite/{where}", f"HOME={HOME}",
                                      f"PYTEST_DEBUG_TEMPROOT={HOME}", "SHELL=/bin/bash", "USER=slurm",
                                      "timeout", "--kill-after=5", str(self.seconds), *program, user="slurm")
        done = subprocess.run(inside, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seconds = round(time.monotonic() - begin, 1)
        output = done.stdout.decode(errors="replace")
        (self.logs / f"{name.replace('/', '-')}.log").write_text(output)
        result = {"result": judge(name, done.returncode, output), "seconds": seconds}
        # A daemon that ends is never all right, whatever the test thinks.
        trouble = self._inside(["env", f"EXPECTED={EXPECTED[self.configuration]}", "bash", "-s"], text=TIDY).strip()
        if trouble:
            result["trouble"] = trouble
        return result


def judge(name, code, output):
    """What a test's exit code, and for python its last line, say."""
    if code in (124, 137):
        return "time"
    if not is_python(name):
        return "pass" if code == 0 else "skip" if code > 127 else "fail"
    if code not in (0, 5):
        return "fail"
    last = output.strip().splitlines()[-1] if output.strip() else ""
    return "pass" if re.search(r"\b\d+ (passed|xfailed)", last) else "skip"
