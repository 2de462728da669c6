# SPDX-License-Identifier: GPL-2.0-or-later
"""The node of the machine: Slurm's jobs, messages to dfrsd, what the kernel says. For what is checked there."""

import ctypes
import glob
import json
import os
import pwd
import subprocess
import sys
import time

SCOPE = "/sys/fs/cgroup/system.slice/n1_slurmstepd.scope"
RUN = "/run/dfrs/n1"
MEASUREMENTS = "/tmp/measurements"
# Of Debian's packages, and of a Slurm from its source.
LIBRARIES = ("/usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so", "/usr/lib/slurm/libslurmfull.so")
LIBRARY = next(filter(os.path.exists, LIBRARIES))
# Memory that Slurm has for jobs, as the orders say: less than RealMemory in slurm.conf, of which some is given away
# twice on purpose.
SLURM_MEMORY = 900 << 20
# What a parked job may use, in cores, as parking.rs says.
PARKED_CORES = 0.05

failures = 0
generation = int(time.time() * 1000)


def check(holds, text):
    global failures
    failures += not holds
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    return holds


# Seconds to wait for a condition: no promise of dfrsd's, but more than a busy host needs.
TIMEOUT = 300


def wait_for(condition):
    """Seconds until the condition held, or None."""
    start = time.monotonic()
    while time.monotonic() - start < TIMEOUT:
        if condition():
            return time.monotonic() - start
        time.sleep(0.02)
    return None


def seconds(took):
    return "never" if took is None else f"{took:.2f} s"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def keyed(path, key):
    return next(int(line.split()[1]) for line in read(path).splitlines() if line.split()[0] == key)


# --- Slurm's own way to the nodes ---------------------------------------------------------------


def forward(message, name="dfrsd.sock", user="slurm"):
    """slurm_forward_data() as `user`, in a process of its own; its return code."""
    child = os.fork()
    if child == 0:
        os.setgid(pwd.getpwnam(user).pw_gid)
        os.setuid(pwd.getpwnam(user).pw_uid)
        # Slurm's plugins look for their symbols among the program's.
        library = ctypes.CDLL(LIBRARY, ctypes.RTLD_GLOBAL)
        library.slurm_init(None)
        library.slurm_xstrdup.restype = ctypes.c_void_p
        nodes = ctypes.c_void_p(library.slurm_xstrdup(b"n1"))
        data = json.dumps(message).encode()
        address = ctypes.create_string_buffer(f"/run/dfrs/%n/{name}".encode())
        code = library.slurm_forward_data(ctypes.byref(nodes), address, len(data), data)
        os._exit(0 if code == 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def push(jobs, time_to_live=600):
    global generation
    generation += 1
    entries = [{"id": id, "share": share, "frozen": frozen} for id, share, frozen in jobs]
    nodes = {"n1": {"cpus": 4, "memory": SLURM_MEMORY, "jobs": entries}}
    code = forward({"v": 1, "generation": generation, "time_to_live": time_to_live, "nodes": nodes})
    if code != 0:
        sys.exit(f"a message of SlurmUser was not delivered (return code {code}): {read('/tmp/dfrsd.log')}")


def probe(name):
    """Does the fact hold, as the plugin finds out?"""
    return forward({"v": 1, "probe": True}, name) == 0


# --- jobs ---------------------------------------------------------------------------------------


# Of each job.
directories = {}


def directory_name(job):
    """Slurm 26.05 and later name a job's directory by its SLUID."""
    version = run("scontrol", "--version").split()[1].split(".")
    if (int(version[0]), int(version[1])) < (26, 5):
        return f"job_{job}"
    return run("squeue", "--noheader", "--Format=SLUID:20", f"--jobs={job}")


def submit(command, memory, user="root", options=()):
    """A batch job; a command of several lines is its script."""
    script = command if command.startswith("#!") else f"#!/bin/sh\n{command}\n"
    arguments = ["sbatch", "--parsable", "-o", "/tmp/%j.out", "-D", "/tmp", f"--mem={memory}", *options]
    if user != "root":
        arguments = ["runuser", "-u", user, "--", *arguments]
    done = subprocess.run(arguments, input=script, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sbatch: {done.stderr.strip()}")
    job = int(done.stdout)
    directories[job] = f"{SCOPE}/{directory_name(job)}"
    if wait_for(lambda: os.path.isdir(job_file(job, "step_batch/user/task_0"))) is None:
        say_what_is_left()
        sys.exit(f"job {job} did not start: {run('scontrol', 'show', 'job', str(job))}")
    return job


def job_file(job, name):
    return f"{directories[job]}/{name}"


def cpu_max(job):
    """The cap in microseconds of each 100 ms, whatever its period."""
    quota, period = read(job_file(job, "cpu.max")).split()
    return quota if quota == "max" else str(round(int(quota) * 100_000 / int(period)))


def cpu_used(job):
    return keyed(job_file(job, "cpu.stat"), "usage_usec") / 1e6


def status():
    return json.loads(run("dfrsd", "status", "--node", "n1", "--json"))


def start_dfrsd():
    log = open("/tmp/dfrsd.log", "a", encoding="utf-8")
    arguments = ["--node", "n1", "--controller-user", "slurm", "--measurements", MEASUREMENTS]
    daemon = subprocess.Popen(["dfrsd", *arguments, "--measure-interval", "2"], stderr=log)
    if wait_for(lambda: os.path.exists(f"{RUN}/dfrsd.sock")) is None:
        sys.exit("dfrsd did not start")
    return daemon


def is_frozen(job):
    return keyed(job_file(job, "step_batch/user/cgroup.events"), "frozen") == 1


def is_held_to_little(job):
    """Its memory limit is what may stay of it in RAM, at most."""
    return read(job_file(job, "memory.max")) != "max" and int(read(job_file(job, "memory.max"))) <= 32 << 20


def is_killable(job):
    processes = subprocess.run(["cat", *glob.glob(job_file(job, "step_batch/user/task_*/cgroup.procs"))], capture_output=True)
    return all(read(f"/proc/{process}/oom_score_adj") == "0" for process in processes.stdout.decode().split())


# --- what does not end --------------------------------------------------------------------------

MEMORY = ("memory.max", "memory.current", "memory.swap.current", "memory.events")
FREEZER = ("cgroup.freeze", "cgroup.events")
# Of /proc/PID/status.
STATUS = ("State", "VmLck", "VmRSS", "VmSwap", "SigPnd", "ShdPnd")


def say_what_is_left():
    """All jobs, with what the kernel says of their directories and processes, and what the daemons said last."""
    say_output("squeue", "--format=%i %T %r %M")
    for directory in sorted(glob.glob(f"{SCOPE}/**/", recursive=True)):
        print(f"--- {os.path.relpath(directory, SCOPE)}")
        files = [name for name in MEMORY + FREEZER if os.path.exists(directory + name)]
        print(*(f"{name}: {' '.join(lines(directory + name))}" for name in files), sep="\n")
        for process in lines(directory + "cgroup.procs"):
            say_process(f"/proc/{process}")
    say_output("ps", "-A", "-o", "pid,ppid,user,stat,rss,wchan:20,args")
    say_output("free", "-m")
    say_output("dmesg")
    for log in [*glob.glob("/var/log/slurm/*.log"), "/tmp/dfrsd.log"]:
        say_output("cat", log)


def say_process(path):
    status = [line.replace("\t", " ") for line in lines(f"{path}/status") if line.split(":")[0] in STATUS]
    print(f"process {path}:", *lines(f"{path}/cmdline"), *status, sep=" | ")
    for thread in sorted(glob.glob(f"{path}/task/*")):
        print(f"  {thread}:", *lines(f"{thread}/wchan"), *lines(f"{thread}/stack"), sep=" | ")


def lines(path):
    """Of a file; or what is wrong with it, as what is looked at may end meanwhile."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().replace("\0", " ").splitlines()
    except OSError as error:
        return [error.strerror]


def say_output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"--- {' '.join(command)}", *done.stdout.splitlines()[-40:], sep="\n", flush=True)


def conclude():
    """Says how many checks failed; the exit status."""
    print(f"{failures} checks failed" if failures else "all checks passed")
    return 1 if failures else 0
