# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks, run in the machine as root: prints what it measured, exits 0 if all hold."""

import json
import os
import pwd
import signal
import sys
import time

import node
from node import (
    MEASUREMENTS,
    PARKED_CORES,
    RUN,
    TIMEOUT,
    check,
    cpu_max,
    cpu_used,
    directories,
    forward,
    is_frozen,
    is_held_to_little,
    is_killable,
    job_file,
    probe,
    push,
    read,
    run,
    seconds,
    start_dfrsd,
    status,
    submit,
    wait_for,
)

MEASURED_SECONDS = 10
# The time to live of the last message before a silence: long enough to look at the caps meanwhile.
SILENCE = 6
TOLERANCE = 0.05
# Memory of the job that is parked, in MiB.
MEMORY_JOB = 200


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
        reported = sum(line["cpu_seconds"] for line in mine) / max(capacity, 1e-9)
        text = f"job {job}: dfrsd's own file says {reported:.3f} over {lasted:.1f} s in {len(mine)} intervals"
        check(lasted > MEASURED_SECONDS / 2 and abs(reported - used) <= TOLERANCE, text)


def only_slurm_user_is_obeyed():
    message = {"v": 1, "generation": node.generation + 10**6, "time_to_live": 60, "nodes": {"n1": {"cpus": 4, "jobs": []}}}
    code = forward(message, user="nobody")
    check(code != 0, f"a user's slurm_forward_data is refused (return code {code})")
    check(status()["generation"] == node.generation, "and changed nothing")


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
    check(is_held_to_little(job), f"its memory limit is {int(read(job_file(job, 'memory.max'))) / 2**20:.1f} MiB")
    check(not is_killable(job), "and the kernel ends no process of it for want of memory")
    check(cpu_max(job) == str(int(PARKED_CORES * 100_000)), f"its cap is {PARKED_CORES} cores")
    check(not probe("parked.999.sock"), "parked.999.sock is not")
    count = read(counter)
    time.sleep(3)  # Slurm's own suspend has frozen it too by now
    check(read(counter) == count, f"it is frozen at round {count}")
    return count


def resuming(job, busy, count):
    counter = f"/tmp/counter.{job}"
    push([*busy, (job, 0.4, False)])
    run("scontrol", "resume", str(job))
    check(wait_for(lambda: not os.path.islink(f"{RUN}/parked.{job}.sock")) is not None, "the link is gone")
    took = wait_for(lambda: int(read(counter)) > int(count) + 2)
    check(took is not None, f"job {job} goes on, memory unharmed, round {read(counter)} after {seconds(took)}")
    check(has_its_limit(job), "with the memory limit that it had")


def has_its_limit(job):
    """The memory limit is that of MEMORY_JOB, by Slurm, and its processes are as killable as others."""
    return read(job_file(job, "memory.max")) == str(MEMORY_JOB << 20) and is_killable(job)


def is_parked(job):
    return is_frozen(job) and os.path.islink(f"{RUN}/parked.{job}.sock")


def park(job, busy):
    push([*busy, (job, 0.4, True)])
    took = wait_for(lambda: is_parked(job))
    check(took is not None, f"job {job} is parked again after {seconds(took)}")


def killing_a_parked_job(job, busy):
    """dfrsd has received no message since the job was parked."""
    check(status()["failed_open"] and is_parked(job), f"job {job} is still parked, in silence")
    run("scancel", str(job))
    took = wait_for(lambda: not os.path.isdir(directories[job]))
    check(took is not None, f"scancel ends a parked job, in {seconds(took)}")
    check(wait_for(lambda: not os.path.islink(f"{RUN}/parked.{job}.sock")) is not None, "its link is gone")


def fail_open(job, busy):
    """Silence, after the last message that says that `job` shall be parked, as it is."""
    push([*busy, (job, 0.4, True)], time_to_live=SILENCE)
    check(cpu_max(busy[0][0]) == "15000", "capped while the last message holds")
    took = wait_for(lambda: all(cpu_max(other) == "max" for other, _, _ in busy))
    check(took is not None and took > 2, f"silence of {SILENCE} s lifts the caps, {seconds(took)} after the last message")
    check(status()["failed_open"], "dfrsd status says so")
    count = read(f"/tmp/counter.{job}")
    time.sleep(3)
    check(is_parked(job) and probe(f"parked.{job}.sock"), f"job {job} stays parked")
    check(read(f"/tmp/counter.{job}") == count, f"and is frozen at round {count}")
    check(is_held_to_little(job), "and is held to what may stay in RAM")


def failing_open(job, busy):
    """What thaws a parked job in silence, and what does not; it is parked, in silence, at the end."""
    counter = f"/tmp/counter.{job}"
    run("scontrol", "suspend", str(job))
    park(job, busy)
    fail_open(job, busy)
    count = int(read(counter))
    run("scontrol", "resume", str(job))
    took = wait_for(lambda: int(read(counter)) > count + 2)
    check(took is not None, f"scontrol resume thaws it, after {seconds(took)}, and it goes on")
    check(has_its_limit(job), "with the memory limit that it had")
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
    return daemon.wait(TIMEOUT)


def stopping_with_a_parked_job(daemon, job, busy):
    """A daemon, its successor; the job is parked, in silence, before and after."""
    code = stop(daemon)
    check(code == 0 and is_frozen(job), f"SIGTERM leaves job {job} frozen (exit status {code})")
    check(os.listdir(RUN) == [f"frozen.{job}"], f"and a note of it: {os.listdir(RUN)}")
    check(has_its_limit(job), "and gives its memory limit back")
    daemon = start_dfrsd()
    push([*busy, (job, 0.4, True)], time_to_live=SILENCE)
    took = wait_for(lambda: is_parked(job))
    check(took is not None, f"its successor parks it again, after {seconds(took)}")
    run("scontrol", "suspend", str(job))
    daemon.kill()
    daemon.wait()
    check(is_held_to_little(job), "a killed dfrsd leaves it its small limit")
    daemon = start_dfrsd()
    run("scontrol", "resume", str(job))
    took = wait_for(lambda: has_its_limit(job))
    check(took is not None, f"a successor without any message gives it back when Slurm resumes it, after {seconds(took)}")
    push([*busy, (job, 0.4, True)], time_to_live=SILENCE)
    took = wait_for(lambda: is_parked(job))
    check(took is not None, f"and parks it again, after {seconds(took)}")
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
    """A job that takes more than it requested is ended, and does not fill the swap."""
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
    third = submit("exec python3 /dfrs/memory_job.py /tmp/counter.$SLURM_JOB_ID", MEMORY_JOB)
    promised = (0.15, 0.3)
    busy = [(first, promised[0], False), (second, promised[1], False)]
    wait_for(lambda: os.path.exists(f"/tmp/counter.{third}"))
    measured = shares_are_kept((first, second), promised)
    measurements_agree((first, second), promised, *measured)
    check("user.slice" in read("/tmp/dfrsd.log"), "dfrsd's log names the user's scope")
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
    return node.conclude()


sys.exit(main())
