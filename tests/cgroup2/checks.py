# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks, run in the machine as root: prints what it measured, exits 0 if all hold."""

import ctypes
import json
import os
import pwd
import signal
import subprocess
import sys
import time

SCOPE = "/sys/fs/cgroup/system.slice/n1_slurmstepd.scope"
RUN = "/run/dfrs/n1"
MEASUREMENTS = "/tmp/measurements"
# Of Debian's packages, and of a Slurm from its source.
LIBRARIES = ("/usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so", "/usr/lib/slurm/libslurmfull.so")
LIBRARY = next(filter(os.path.exists, LIBRARIES))
MEASURED_SECONDS = 10
# The time to live of a message after which nothing more is heard: long enough to look at the caps meanwhile.
SILENCE = 6
TOLERANCE = 0.05

failures = 0
generation = int(time.time() * 1000)


def check(holds, text):
    global failures
    failures += not holds
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    return holds


# How long to wait for what must come true: no promise of dfrsd's, but more than a busy host needs.
PATIENCE = 120


def wait_for(condition):
    """Seconds until the condition held, or None."""
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE:
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
    nodes = {"n1": {"cpus": 4, "jobs": entries}}
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


def submit(command, memory):
    job = int(run("sbatch", "--parsable", "-o", "/tmp/%j.out", "-D", "/tmp", f"--mem={memory}", "--wrap", command))
    directories[job] = f"{SCOPE}/{directory_name(job)}"
    if wait_for(lambda: os.path.isdir(job_file(job, "step_batch/user"))) is None:
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


# --- the checks, in order -----------------------------------------------------------------------


def start_dfrsd():
    log = open("/tmp/dfrsd.log", "a", encoding="utf-8")
    arguments = ["--node", "n1", "--controller-user", "slurm", "--measurements", MEASUREMENTS]
    daemon = subprocess.Popen(["dfrsd", *arguments, "--measure-interval", "2"], stderr=log)
    if wait_for(lambda: os.path.exists(f"{RUN}/dfrsd.sock")) is None:
        sys.exit("dfrsd did not start")
    return daemon


def measure(jobs):
    """Shares of the node that the jobs use over a while, by the kernel; and when that was."""
    begin, clock, before = time.time(), time.monotonic(), [cpu_used(job) for job in jobs]
    time.sleep(MEASURED_SECONDS)
    lasted = time.monotonic() - clock
    shares = [(cpu_used(job) - used) / lasted for job, used in zip(jobs, before)]
    return shares, begin, begin + lasted


def shares_are_kept(jobs, promised):
    """Too much is wrong at once. Too little may be the host's doing, which runs this machine as one
    process among others: then it is measured again, at most twice."""
    push([(job, share, False) for job, share in zip(jobs, promised)])
    wanted = [str(int(share * 100_000)) for share in promised]
    took = wait_for(lambda: [cpu_max(job) for job in jobs] == wanted)
    check(took is not None, f"caps in the kernel: {seconds(took)} later: {' '.join(wanted)}")
    time.sleep(1)
    for _ in range(3):
        measured, begin, end = measure(jobs)
        if not any(used < share - TOLERANCE for used, share in zip(measured, promised)):
            break
        print(f"        the host left too little: {measured}", flush=True)
    for job, share, used in zip(jobs, promised, measured):
        text = f"job {job}: promised {share:.3f}, measured {used:.3f} of the node over {end - begin:.1f} s"
        check(abs(used - share) <= TOLERANCE, text)
    return measured, begin, end


def measurements_agree(jobs, promised, measured, begin, end):
    """dfrsd's own file says of the same time what the kernel said."""
    lines = [json.loads(line) for line in read(MEASUREMENTS).splitlines()]
    for job, share, used in zip(jobs, promised, measured):
        mine = [line for line in lines if line["job"] == job and line["share"] == share]
        mine = [line for line in mine if line["start"] >= begin and line["end"] <= end]
        lasted = sum(line["end"] - line["start"] for line in mine)
        capacity = sum((line["end"] - line["start"]) * line["capacity_cores"] for line in mine)
        told = sum(line["cpu_seconds"] for line in mine) / max(capacity, 1e-9)
        text = f"job {job}: dfrsd's own file says {told:.3f} over {lasted:.1f} s in {len(mine)} intervals"
        check(lasted > MEASURED_SECONDS / 2 and abs(told - used) <= TOLERANCE, text)


def only_slurm_user_is_obeyed():
    message = {"v": 1, "generation": generation + 10**6, "time_to_live": 60, "nodes": {"n1": {"cpus": 4, "jobs": []}}}
    code = forward(message, user="nobody")
    check(code != 0, f"a user's slurm_forward_data is refused (return code {code})")
    check(status()["generation"] == generation, "and changed nothing")


def parking(job, busy):
    counter = f"/tmp/counter.{job}"
    check(probe("swap.sock"), "swap.sock: the node says that it can park")
    before = int(read(job_file(job, "memory.current")))
    run("scontrol", "suspend", str(job))
    push([*busy, (job, 0.2, True)])
    took = wait_for(lambda: os.path.islink(f"{RUN}/parked.{job}.sock"))
    resident, swapped = (int(read(job_file(job, name))) for name in ("memory.current", "memory.swap.current"))
    text = f"job {job}: {before / 2**20:.1f} MiB in RAM before parking, {resident / 2**20:.1f} after, {swapped / 2**20:.1f} in swap"
    check(took is not None and resident < 32 << 20 and swapped > 90 << 20, f"{text}, {seconds(took)}")
    check(probe(f"parked.{job}.sock"), f"parked.{job}.sock is there")
    check(not probe("parked.999.sock"), "parked.999.sock is not")
    count = read(counter)
    time.sleep(3)  # Slurm's own suspend has frozen it too by now
    check(read(counter) == count, f"it stands still at round {count}")
    return count


def resuming(job, busy, count):
    counter = f"/tmp/counter.{job}"
    push([*busy, (job, 0.4, False)])
    run("scontrol", "resume", str(job))
    check(wait_for(lambda: not os.path.islink(f"{RUN}/parked.{job}.sock")) is not None, "the link is gone")
    took = wait_for(lambda: int(read(counter)) > int(count) + 2)
    check(took is not None, f"job {job} goes on, memory unharmed, round {read(counter)} after {seconds(took)}")


def is_frozen(job):
    return keyed(job_file(job, "step_batch/user/cgroup.events"), "frozen") == 1


def is_parked(job):
    return is_frozen(job) and os.path.islink(f"{RUN}/parked.{job}.sock")


def park(job, busy):
    push([*busy, (job, 0.4, True)])
    took = wait_for(lambda: is_parked(job))
    check(took is not None, f"job {job} is parked again after {seconds(took)}")


def killing_a_parked_job(job, busy):
    """Nothing was heard since the job was parked."""
    check(status()["failed_open"] and is_parked(job), f"job {job} is still parked, in silence")
    run("scancel", str(job))
    took = wait_for(lambda: not os.path.isdir(directories[job]))
    check(took is not None, f"scancel ends a parked job, in {seconds(took)}")
    check(wait_for(lambda: not os.path.islink(f"{RUN}/parked.{job}.sock")) is not None, "its link is gone")


def fail_open(job, busy):
    """Silence, after the last message that says that `job` shall be parked, as it is."""
    push([*busy, (job, 0.4, True)], time_to_live=SILENCE)
    check(cpu_max(busy[0][0]) == "15000", "capped while it is told so")
    took = wait_for(lambda: all(cpu_max(other) == "max" for other, _, _ in busy))
    check(took is not None and took > 2, f"silence of {SILENCE} s lifts the caps, {seconds(took)} after the last message")
    check(status()["failed_open"], "dfrsd status says so")
    count = read(f"/tmp/counter.{job}")
    time.sleep(3)
    check(is_parked(job) and probe(f"parked.{job}.sock"), f"job {job} stays parked")
    check(read(f"/tmp/counter.{job}") == count, f"and stands still at round {count}")


def failing_open(job, busy):
    """What wakes a parked job in silence, and what does not; it is parked, in silence, at the end."""
    counter = f"/tmp/counter.{job}"
    run("scontrol", "suspend", str(job))
    park(job, busy)
    fail_open(job, busy)
    count = int(read(counter))
    run("scontrol", "resume", str(job))
    took = wait_for(lambda: int(read(counter)) > count + 2)
    check(took is not None, f"scontrol resume wakes it, after {seconds(took)}, and it goes on")
    check(not os.path.islink(f"{RUN}/parked.{job}.sock") and not is_frozen(job), "the link is gone")
    push(busy)
    took = wait_for(lambda: cpu_max(busy[0][0]) == "15000")
    check(took is not None, f"the next message caps again, after {seconds(took)}")
    park(job, busy)
    fail_open(job, busy)
    push([])
    took = wait_for(lambda: not is_frozen(job))
    check(took is not None, f"an empty state thaws what dfrsd froze, after {seconds(took)}")
    park(job, busy)
    fail_open(job, busy)


def stop(daemon):
    daemon.send_signal(signal.SIGTERM)
    return daemon.wait(PATIENCE)


def stopping_with_a_parked_job(daemon, job, busy):
    """A daemon, its successor; the job is parked, in silence, before and after."""
    code = stop(daemon)
    check(code == 0 and is_frozen(job), f"SIGTERM leaves job {job} frozen (exit status {code})")
    check(os.listdir(RUN) == [f"frozen.{job}"], f"and a note of it: {os.listdir(RUN)}")
    daemon = start_dfrsd()
    push([*busy, (job, 0.4, True)], time_to_live=SILENCE)
    took = wait_for(lambda: is_parked(job))
    check(took is not None, f"its successor parks it again, after {seconds(took)}")
    wait_for(lambda: status()["failed_open"])
    return daemon


def crash_and_stop(daemon, busy):
    push(busy)
    wait_for(lambda: cpu_max(busy[0][0]) == "15000")
    daemon.kill()
    daemon.wait()
    check(cpu_max(busy[0][0]) == "15000", "a killed dfrsd leaves the caps")
    daemon = start_dfrsd()
    push([busy[1]])
    took = wait_for(lambda: (cpu_max(busy[0][0]), cpu_max(busy[1][0])) == ("max", "30000"))
    check(took is not None, f"its successor lifts what the first message does not name, after {seconds(took)}")
    code = stop(daemon)
    check(code == 0 and cpu_max(busy[1][0]) == "max", f"SIGTERM lifts the caps (exit status {code})")
    check(os.listdir(RUN) == [], f"and leaves nothing behind: {os.listdir(RUN)}")


def beyond_its_memory():
    """A job that takes more than it asked for is ended, and does not fill the swap."""
    job = submit("sleep 3; exec python3 -c 'held = bytearray(200 << 20); import time; time.sleep(600)'", 60)
    push([(job, 0.4, False)])
    took = wait_for(lambda: read(job_file(job, "memory.swap.max")) == "0")
    check(took is not None, f"job {job}: kept out of swap, after {seconds(took)}")
    def state():
        return run("scontrol", "show", "job", str(job)).split("JobState=")[1].split()[0]

    took = wait_for(lambda: state() not in ("RUNNING", "COMPLETING"))
    check(state() == "OUT_OF_MEMORY", f"job {job}: 200 MiB of 60 end it as {state()}, after {seconds(took)}")


def a_users_scope():
    """Made before dfrsd comes, of the very name: it is not taken for Slurm's."""
    user = pwd.getpwnam("nobody")
    path = "/sys/fs/cgroup/user.slice/user@65534.service"
    os.makedirs(path)
    os.chown(path, user.pw_uid, user.pw_gid)
    child = os.fork()
    if child == 0:
        os.setuid(user.pw_uid)
        os.makedirs(f"{path}/n1_slurmstepd.scope/job_1/step_0/user")
        os._exit(0)
    check(os.waitpid(child, 0)[1] == 0, "a user makes a scope of Slurm's name")


def main():
    a_users_scope()
    daemon = start_dfrsd()
    first, second = (submit("while :; do :; done", 20) for _ in range(2))
    third = submit("exec python3 /dfrs/memory_job.py /tmp/counter.$SLURM_JOB_ID", 200)
    promised = (0.15, 0.3)
    busy = [(first, promised[0], False), (second, promised[1], False)]
    wait_for(lambda: os.path.exists(f"/tmp/counter.{third}"))
    measured = shares_are_kept((first, second), promised)
    measurements_agree((first, second), promised, *measured)
    check("user.slice" in read("/tmp/dfrsd.log"), "dfrsd's log tells of the user's scope")
    only_slurm_user_is_obeyed()
    beyond_its_memory()
    count = parking(third, busy)
    print(run("dfrsd", "status", "--node", "n1"))
    resuming(third, busy, count)
    failing_open(third, busy)
    daemon = stopping_with_a_parked_job(daemon, third, busy)
    killing_a_parked_job(third, busy)
    crash_and_stop(daemon, busy)
    print("--- dfrsd's log", read("/tmp/dfrsd.log"), sep="\n")
    print(f"{failures} checks failed" if failures else "all checks passed")
    return 1 if failures else 0


sys.exit(main())
