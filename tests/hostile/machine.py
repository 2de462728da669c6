# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile jobs on a node with cgroup v2, and what they may not do to the others there.

Run by tests/cgroup2/run --hostile in its machine, as root. This program takes the place of slurmctld's plugin: it
says which job is frozen, and starts another in the memory of one that dfrsd says is parked. slurm.conf
has more memory than there is, so that memory that comes back to RAM gets other jobs killed.
"""

import os
import subprocess
import sys
import time

import node
from node import RUN, check, cpu_used, directories, job_file, keyed, push, read, run, seconds, start_dfrsd, submit, wait_for

HERE = os.path.dirname(os.path.realpath(__file__))
WORK = "/tmp/hostile"
SHARED = "/dev/shm/shared.dfrs"
# MiB. All three together are more than the machine has.
ATTACKER, BESIDE, LATER = 250, 100, 250
# What Slurm is said to have for jobs, so that something is left for what parked jobs keep.
node.SLURM_MEMORY = 500 << 20
# What a parked job may have in RAM at most, in bytes.
KEPT = 32 << 20
OBSERVED_SECONDS = 12
# The longest pause of a job that runs: this machine has one slow CPU.
LONGEST_PAUSE = 30.0


# --- the others ---------------------------------------------------------------------------------


class Victim:
    """An honest job of bob's."""

    def __init__(self, memory):
        self.job = submit(f"exec python3 {HERE}/victim.py {WORK}/report.$SLURM_JOB_ID {memory - 40}", memory, "bob")
        self.report = f"{WORK}/report.{self.job}"
        took = wait_for(lambda: os.path.exists(self.report))
        check(took is not None, f"job {self.job}: an honest one of {memory} MiB runs, after {seconds(took)}")

    def progress(self):
        rounds, longest = read(self.report).split()
        return int(rounds), float(longest)

    def is_unharmed(self, since):
        """It has gone on since, all its memory is what it was, and nothing of it was ended."""
        rounds, longest = self.progress()
        killed = keyed(job_file(self.job, "memory.events"), "oom_kill")
        is_running = state(self.job) == "RUNNING"
        text = f"job {self.job}: {rounds - since} rounds, longest pause {longest:.1f} s, {killed} processes ended"
        return check(rounds > since and longest < LONGEST_PAUSE and killed == 0 and is_running, text)


def state(job):
    return run("scontrol", "show", "job", str(job)).split("JobState=")[1].split()[0]


# --- the node -----------------------------------------------------------------------------------


class Scene:
    """A hostile job beside an honest one, and a later one that gets the memory of the hostile one."""

    def __init__(self, attack, memory=ATTACKER, **variables):
        subprocess.run(["rm", "-rf", WORK], check=True)
        os.makedirs(WORK, mode=0o777)
        os.chmod(WORK, 0o777)
        self.memory = memory
        self.running, self.frozen = {}, set()
        self.beside = Victim(BESIDE)
        self.running[self.beside.job] = 0.3
        self.attacker = self.start(attack, memory, **variables)
        self.later = None

    def start(self, attack, memory, **variables):
        """A job of alice's with the script of that name."""
        script = read(f"{HERE}/attacks/{attack}.sh")
        values = {"HOSTILE": HERE, "WORK": WORK, "SHARED": SHARED, "MEMORY": memory, **variables}
        exports = ",".join(f"{name}={value}" for name, value in values.items())
        job = submit(script, memory, "alice", ["--ntasks=2", "--overcommit", f"--export=ALL,{exports}"])
        print(f"--- {attack}: job {job} of {memory} MiB", flush=True)
        self.running[job] = 0.4
        self.push()
        return job

    def start_other(self, user, kind):
        """A job that uses what the parked one has shared."""
        command = f"exec python3 {HERE}/memory.py {kind} {self.memory - 40} {SHARED}"
        job = submit(command, 80, user)
        self.running[job] = 0.4
        self.push()
        return job

    def push(self):
        push([(job, share, job in self.frozen) for job, share in self.running.items()])

    def fills(self, least):
        took = wait_for(lambda: int(read(job_file(self.attacker, "memory.current"))) >= least << 20)
        check(took is not None, f"it has {least} MiB, after {seconds(took)}")

    def freeze(self):
        run("scontrol", "suspend", str(self.attacker))
        self.frozen.add(self.attacker)
        self.push()

    def park(self):
        """Freezes the attacker, and starts another in its memory when dfrsd says that it is parked."""
        self.freeze()
        took = wait_for(self.is_parked)
        check(took is not None, f"it is parked, after {seconds(took)}")
        if took is None:
            print(read("/tmp/dfrsd.log"))
            print(run("dfrsd", "status", "--node", "n1"))
        self.later = Victim(LATER)
        self.running[self.later.job] = 0.3
        self.push()

    def is_parked(self):
        return os.path.islink(f"{RUN}/parked.{self.attacker}.sock")

    def is_stuck(self):
        return os.path.islink(f"{RUN}/stuck.{self.attacker}.sock")

    def attacker_memory(self):
        return int(read(job_file(self.attacker, "memory.current")))

    def observe(self, act=lambda: None):
        """The others go on while `act` and some time pass; the attacker, if it is parked, has and does next to nothing."""
        victims = [victim for victim in (self.beside, self.later) if victim]
        before = [victim.progress()[0] for victim in victims]
        used, begin = cpu_used(self.attacker), time.monotonic()
        act()
        most = 0
        while time.monotonic() - begin < OBSERVED_SECONDS:
            most = max(most, self.attacker_memory())
            time.sleep(0.05)
        cores = (cpu_used(self.attacker) - used) / (time.monotonic() - begin)
        for victim, rounds in zip(victims, before):
            wait_for(lambda victim=victim, rounds=rounds: victim.progress()[0] > rounds)
            victim.is_unharmed(rounds)
        if self.later:
            text = f"the hostile one had {most / 2**20:.1f} MiB in RAM at most, and used {cores:.3f} cores"
            check(most <= KEPT and cores <= 1.5 * node.PARKED_CORES, text)

    def end(self):
        for job in list(self.running):
            subprocess.run(["scancel", str(job)], check=True)
        self.running, self.frozen = {}, set()
        push([])
        took = wait_for(lambda: not run("squeue", "--noheader"))
        if not check(took is not None, f"all end, after {seconds(took)}"):
            node.say_what_is_left()
        gone = wait_for(lambda: not any(os.path.isdir(path) for path in directories.values()))
        check(gone is not None, f"and leave no directory behind, after {seconds(gone)}")
        if os.path.exists(SHARED):
            os.remove(SHARED)
        check(not [name for name in os.listdir(RUN) if name.startswith(("parked", "limit", "frozen", "stuck"))], "nor a note")
        check(run("sinfo", "--noheader", "--format=%T") in ("idle", "completing"), f"the node is well: {run('sinfo', '-h', '-o', '%T %E')}")


# --- the attacks --------------------------------------------------------------------------------


def epilog_burns():
    """A process that a task's epilog left behind computes on."""
    scene = Scene("epilog", KIND="burn")
    wait_for(lambda: outside(scene.attacker) > 1)
    check(outside(scene.attacker) > 1, "a process of the user runs beside slurmstepd")
    scene.park()
    scene.observe()
    scene.end()


def epilog_locks():
    """A process that a task's epilog left behind locks all memory that the job requested."""
    scene = Scene("epilog", KIND="lock")
    scene.fills(ATTACKER - 80)
    check_has_locked(f"{WORK}/epilog.{scene.attacker}.out")
    scene.freeze()
    took = wait_for(scene.is_stuck)
    check(took is not None and not scene.is_parked(), f"it is stuck and not parked, after {seconds(took)}")
    scene.observe()
    scene.end()


def check_has_locked(output):
    """The program that writes to this file has locked its memory."""
    took = wait_for(lambda: os.path.exists(output) and "locked" in read(output).split("\n"))
    check(took is not None, f"it has locked it, after {seconds(took)}")


def outside(job):
    """Processes beside the steps of a job, `slurmstepd` among them."""
    lists = [f"{directories[job]}/{step}/slurm/cgroup.procs" for step in os.listdir(directories[job]) if step.startswith("step_")]
    return max((len(read(path).split()) for path in lists if os.path.exists(path)), default=0)


def shared_pages_of_another_job():
    """A second job locks pages that were charged to the first, which is parked."""
    scene = Scene("share")
    scene.fills(ATTACKER - 60)
    scene.park()
    other = scene.start_other("alice", "pin")
    scene.observe()
    check(state(other) == "RUNNING", "the job that locks them still runs")
    check(state(scene.attacker) != "OUT_OF_MEMORY", "and the parked one was not ended")
    scene.end()


def shared_pages_of_another_user():
    """Another user touches, and locks, what the parked job lets others read: that one is not ended for it."""
    scene = Scene("share")
    scene.fills(ATTACKER - 60)
    scene.park()
    for kind in ("read", "pin"):
        other = scene.start_other("bob", kind)
        scene.observe()
        killed = keyed(job_file(scene.attacker, "memory.events"), "oom_kill")
        check(killed == 0, f"{kind}: nothing of the parked job was ended")
        run("scancel", "--full", str(other))
        del scene.running[other]
    scene.push()
    check_resumes(scene)
    scene.end()


def check_resumes(scene):
    """The parked job comes back when the later one is gone."""
    run("scancel", str(scene.later.job))
    wait_for(lambda: not os.path.isdir(directories[scene.later.job]))
    del scene.running[scene.later.job]
    scene.later = None
    scene.frozen.clear()
    scene.push()
    run("scontrol", "resume", str(scene.attacker))
    limit = str(scene.memory << 20)
    took = wait_for(lambda: read(job_file(scene.attacker, "memory.max")) == limit)
    check(took is not None and state(scene.attacker) == "RUNNING", f"it comes back with its own limit, after {seconds(took)}")
    took = wait_for(lambda: read(job_file(scene.attacker, "step_batch/user/task_0/memory.max")) == "max")
    check(took is not None, f"and its task has none, after {seconds(took)}")


def late_step():
    """A step that was made before the job was parked is launched afterwards."""
    scene = Scene("late-step")
    stopped = f"{WORK}/stopped.{scene.attacker}"
    took = wait_for(lambda: os.path.exists(stopped))
    check(took is not None, f"srun is stopped before it launches its step, after {seconds(took)}")
    # Out of the job, as a user's srun on the login node is: it goes on while the job is frozen.
    for process in read(job_file(scene.attacker, "step_batch/user/task_0/cgroup.procs")).split():
        if "srun" in program_of(process):
            with open("/sys/fs/cgroup/cgroup.procs", "w", encoding="ascii") as out:
                out.write(process)
    scene.park()
    scene.observe(lambda: subprocess.run(["pkill", "-CONT", "-x", "srun"], check=True))
    scene.end()


def program_of(process):
    """The name of the program that it runs; empty if it has ended since it was listed."""
    try:
        return read(f"/proc/{process}/comm")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def fork_bomb():
    """Thousands of processes: the caps, freezes and thaws of others come in time."""
    scene = Scene("fork-bomb", PROCESSES=1500)
    # All that the job beside it leaves: a fork takes tens of milliseconds on a slow host.
    scene.running[scene.attacker] = 0.7
    scene.push()
    took = wait_for(lambda: len(read(job_file(scene.attacker, "step_batch/user/task_0/cgroup.procs")).split()) > 1000)
    check(took is not None, f"a thousand processes, after {seconds(took)}")
    scene.running[scene.beside.job] = 0.2
    scene.push()
    took = wait_for(lambda: node.cpu_max(scene.beside.job) == "20000")
    check(took is not None and took < 5, f"another job's cap is changed, after {seconds(took)}")
    # What the kernel holds for processes does not leave RAM: it is parked if that is little.
    scene.freeze()
    took = wait_for(lambda: scene.is_parked() or scene.is_stuck())
    check(took is not None, f"it is parked, or known to stay in RAM, after {seconds(took)}")
    scene.observe()
    scene.end()


def tmpfs_without_a_process():
    """Files in a tmpfs count for the job, and go to swap with it."""
    scene = Scene("orphan-tmpfs")
    scene.fills(ATTACKER - 80)
    scene.park()
    scene.observe()
    scene.end()


def touched_in_a_loop():
    """Memory that is always in use."""
    scene = Scene("touch")
    scene.fills(ATTACKER - 60)
    scene.park()
    scene.observe()
    check_resumes(scene)
    scene.end()


def locked_memory():
    """A job that cannot leave RAM is not parked, and another can be."""
    scene = Scene("lock")
    # Filled is not locked yet.
    check_has_locked(f"/tmp/{scene.attacker}.out")
    scene.freeze()
    took = wait_for(scene.is_stuck)
    check(took is not None and not scene.is_parked(), f"it is stuck and not parked, after {seconds(took)}")
    scene.frozen = {scene.beside.job}
    scene.push()
    took = wait_for(lambda: os.path.islink(f"{RUN}/parked.{scene.beside.job}.sock"))
    check(took is not None, f"the other one is parked in its place, after {seconds(took)}")
    scene.frozen = set()
    scene.push()
    scene.observe()
    scene.end()


ATTACKS = [
    epilog_burns,
    epilog_locks,
    shared_pages_of_another_job,
    shared_pages_of_another_user,
    late_step,
    fork_bomb,
    tmpfs_without_a_process,
    touched_in_a_loop,
    locked_memory,
]


def main():
    names = read(f"{HERE}/attacks.txt").split()
    known = {attack.__name__: attack for attack in ATTACKS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no attack {unknown[0]}; there are {' '.join(known)}")
    start_dfrsd()
    for attack in [known[name] for name in names] or ATTACKS:
        print(f"=== {attack.__name__}: {attack.__doc__}", flush=True)
        attack()
    print("--- dfrsd's log", read("/tmp/dfrsd.log"), sep="\n")
    return node.conclude()


sys.exit(main())
