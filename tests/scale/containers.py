# SPDX-License-Identifier: GPL-2.0-or-later
"""One container for each scheduler, gone at the end whatever happens."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LABEL = "dfrs-scale"


class Failure(Exception):
    """One line for the user: what failed and what to do."""


def build(debian):
    """Builds what is mounted; the directory."""
    done = subprocess.run([str(HERE / "build"), debian], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Failure(f"tests/scale/build {debian} failed, see above")
    return pathlib.Path(done.stdout.splitlines()[-1])


def remove(name):
    subprocess.run(["docker", "rm", "--force", "--volumes", name], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)


def command(name, debian, built, options):
    mounts = {built: "/opt/dfrs", HERE: "/opt/scale", ROOT / "slurm-conf": "/opt/slurm-conf"}
    return ["docker", "run", "--init", "--name", name, "--label", LABEL,
            "--env", "PYTHONDONTWRITEBYTECODE=1",
            *(f"--volume={source}:{target}:ro" for source, target in mounts.items()),
            "--entrypoint", "python3", f"dfrs-slurm:{debian}", "/opt/scale/inside/main.py", json.dumps(options)]


def run(debian, built, options, limit, logs):
    """The records that the scheduler's run prints. After `limit` seconds the container is removed and
    the run counts as failed. Its logs are copied to a directory."""
    name = f"{LABEL}-{os.getpid()}-{options['scheduler']}"
    records = []
    process = subprocess.Popen(command(name, debian, built, options), stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(limit, remove, [name])
    watchdog.start()
    try:
        for line in process.stdout:
            records.append(json.loads(line))
            show_progress(options["scheduler"], records)
        status = process.wait()
        copy_logs(name, logs)
    finally:
        watchdog.cancel()
        remove(name)
        process.wait()
    if status:
        records.append({"phase": "all", "check": "the run ends in time and without an error", "passed": False,
                        "evidence": f"exit code {status}, at most {limit} s; its logs are in {logs}"})
    return records


def show_progress(scheduler, records):
    """A line on standard error when a phase begins to report."""
    phases = [record["phase"] for record in records[-2:]]
    if len(set(phases)) == len(phases):
        print(f"scale: {scheduler}: {phases[-1]}", file=sys.stderr)


def copy_logs(name, logs):
    shutil.rmtree(logs, ignore_errors=True)
    logs.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["docker", "cp", "--quiet", f"{name}:/var/log/scale", str(logs)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
