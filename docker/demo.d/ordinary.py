# SPDX-License-Identifier: GPL-2.0-or-later
"""Ordinary programs of tests/carry/zoo among the demo's jobs: each must write what it writes undisturbed."""

import importlib.util
import io
import subprocess
import tarfile

from cluster import DOCKER

CARRY = DOCKER.parent / "tests" / "carry"
# Each takes a dozen seconds, most of them asleep.
PROGRAMS = ("awk.sh", "locks.py", "state.py", "tail.sh")
DIRECTORY = "/home/alice/ordinary"
RUN = 'mkdir -p "$0" && cd "$0" && exec "$1" >out.txt 2>&1'


def load_compare():
    """How the zoo compares outputs."""
    spec = importlib.util.spec_from_file_location("compare", CARRY / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Ordinary:
    """The programs on a cluster. They run once on the controller, beside the others, to show what they write."""

    def __init__(self, cluster):
        self.cluster = cluster
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as packed:
            for program in PROGRAMS:
                packed.add(CARRY / "zoo" / program, program)
        unpack = f"install -d -o alice {DIRECTORY} && tar --extract --no-same-owner --directory {DIRECTORY}"
        subprocess.run(cluster.command("controller", "sh", "-c", unpack), input=archive.getvalue(), check=True)
        self.undisturbed = [
            subprocess.Popen(cluster.command("controller", "bash", "-c", RUN, f"{DIRECTORY}/expected/{program}",
                                             f"{DIRECTORY}/{program}", user="alice"))
            for program in PROGRAMS
        ]

    def submit(self):
        for program in PROGRAMS:
            directory = f"{DIRECTORY}/runs/{program}"
            self.cluster.output("controller", "install", "-d", "-o", "alice", f"{DIRECTORY}/runs", directory)
            self.cluster.output(
                "controller", "runuser", "-u", "alice", "--", "sbatch", "--ntasks=1", "--mem=60", "--time=2",
                f"--job-name={program}", "--comment=dfrs:carry", "--requeue", "--open-mode=append",
                f"--chdir={directory}", "--output=out.txt", f"{DIRECTORY}/{program}")

    def problems(self):
        """A line for each that wrote something else."""
        compare = load_compare()
        failed = [program for program, run in zip(PROGRAMS, self.undisturbed) if run.wait()]
        files = self.cluster.files("controller", DIRECTORY)
        found = ((program, compare.difference(*(files.get(f"{place}/{program}/out.txt", "").encode()
                                                for place in ("expected", "runs")))) for program in PROGRAMS)
        return [*(f"{program}: fails on the controller, too" for program in failed),
                *(f"{program}: {difference}" for program, difference in found if difference)]
