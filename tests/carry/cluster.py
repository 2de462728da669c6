# SPDX-License-Identifier: GPL-2.0-or-later
"""The mini-Slurm of this run: commands in its containers, jobs, and the carry of one by hand."""

import dataclasses
import pathlib
import re
import subprocess
import time

USER = "alice"
COMMAND = pathlib.Path(__file__).resolve().parents[2] / "docker" / "command"
# Where the zoo and what its programs write lies: the same for all nodes.
SHARED = "/home/alice/zoo"
PLUGSTACK = "/etc/slurm/plugstack.conf"
# What a requeue, an end or a start may take before it counts as stuck.
STEP_SECONDS = 90
OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"}


class CarryError(Exception):
    """A step of a carry failed: `step` says which (inspect, dump, requeue, start or restore)."""

    def __init__(self, step, text):
        super().__init__(f"{step}: {text}")
        self.step = step
        self.text = text


@dataclasses.dataclass(frozen=True)
class Job:
    """What Slurm says of a job."""

    state: str
    reason: str
    node: str
    exit_code: str
    restarts: int
    priority: int


@dataclasses.dataclass(frozen=True)
class Carried:
    """What a carry took: MB of image; seconds for the dump, of standing still, and of the restore itself."""

    source: str
    target: str
    megabytes: float
    dump: float
    still: float
    restore: float


def parse_job(line):
    """A job from one line of scontrol show job --oneliner."""
    fields = dict(re.findall(r"(\w+)=(\S*)", line))
    node = fields.get("NodeList", "")
    return Job(fields.get("JobState", "GONE"), fields.get("Reason", ""), "" if node == "(null)" else node,
               fields.get("ExitCode", ""), int(fields.get("Restarts", "0")), int(fields.get("Priority", "1")))


def parse_plugstack(text):
    """The options of the carrying plugin's line, as in images=DIRECTORY. Raises ValueError without such a line."""
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] in ("required", "optional") and "spank_dfrs_carry.so" in words[1]:
            return dict(word.split("=", 1) for word in words[2:] if "=" in word)
    raise ValueError(f"{PLUGSTACK} has no spank_dfrs_carry.so: the cluster was not brought up with carrying")


class Cluster:
    """The containers of one Compose project."""

    def __init__(self, project):
        self.project = project
        self.containers = self._containers(project)
        if "controller" not in self.containers:
            raise ValueError(f"the cluster '{project}' is not up; start it without --no-build and --keep")
        self.nodes = sorted(name for name in self.containers if re.fullmatch(r"n\d+", name))
        options = parse_plugstack(self.run(self.nodes[0], "cat", PLUGSTACK))
        self.images = options["images"]
        self.criu = ["--criu", options["criu"]] if "criu" in options else []

    @staticmethod
    def _containers(project):
        form = '{{.Label "com.docker.compose.service"}} {{.ID}}'
        listed = subprocess.run(["docker", "ps", "--filter", f"label=com.docker.compose.project={project}", "--format",
                                 form], check=True, capture_output=True, text=True).stdout
        return dict(line.split() for line in listed.splitlines())

    def command(self, place, *words, user="root", cwd=None):
        """The words that run it in that container, without standard input."""
        if cwd:
            words = ("sh", "-c", 'cd "$0" && exec "$@"', cwd, *words)
        return [str(COMMAND), self.project, place, user, *words]

    def attempt(self, place, *words, user="root", cwd=None, seconds=STEP_SECONDS):
        """Runs it; what came of it, whatever the exit status. One that takes too long has status 124."""
        words = ("timeout", "--kill-after=5", str(seconds), *words)
        return subprocess.run(self.command(place, *words, user=user, cwd=cwd), capture_output=True, text=True,
                              errors="replace")

    def run(self, place, *words, **options):
        """Runs it; its output. Raises RuntimeError if it fails."""
        done = self.attempt(place, *words, **options)
        if done.returncode != 0:
            raise RuntimeError(f"{place}: {' '.join(words)}: status {done.returncode}: {last_line(done)}")
        return done.stdout

    def submit(self, script, directory, node, environment, memory=220, minutes=10):
        """Submits a batch job as an ordinary user; its number."""
        self.run("controller", "mkdir", "-p", directory, user=USER)
        export = ",".join(["ALL", *(f"{name}={value}" for name, value in environment.items())])
        return int(self.run("controller", "sbatch", "--parsable", "--requeue", "--open-mode=append", f"--nodelist={node}",
                            "--cpus-per-task=1", f"--mem={memory}", f"--time={minutes}", f"--export={export}",
                            "--output=out.txt", f"--job-name={script.rsplit('/', 1)[-1]}", script, user=USER, cwd=directory))

    def job(self, number):
        """What Slurm says of it; state GONE if it does not know it, or does not answer."""
        return parse_job(self.attempt("controller", "scontrol", "show", "job", "--oneliner", str(number)).stdout)

    def wait(self, number, condition, seconds=STEP_SECONDS):
        """Waits until the job satisfies it; the job, satisfying or not."""
        end = time.monotonic() + seconds
        while True:
            job = self.job(number)
            if condition(job) or time.monotonic() > end:
                return job
            time.sleep(0.3)

    def wait_over(self, number, seconds=240):
        return self.wait(number, lambda job: job.state in OVER, seconds)

    def output(self, directory):
        """What the job wrote; nothing if there is no such file yet."""
        return subprocess.run(self.command("controller", "cat", f"{directory}/out.txt"), capture_output=True).stdout

    def wait_begun(self, number, directory, seconds=STEP_SECONDS):
        """Waits until it has printed something."""
        script = f'for try in $(seq {seconds * 5}); do [ -s "$0/out.txt" ] && exit; sleep 0.2; done; exit 1'
        self.run("controller", "bash", "-c", script, directory, seconds=seconds + 10)

    def inspect(self, number):
        """Why it cannot be carried, a line each; none if it can."""
        node = self.job(number).node
        if not node:
            return ["it does not run"]
        done = self.attempt(node, "dfrsd", "inspect", "--job", str(number))
        if done.returncode == 0:
            return []
        lines = [line.strip() for line in (done.stdout or done.stderr).splitlines() if line.strip()]
        return lines or [f"dfrsd inspect: status {done.returncode}"]

    def dump(self, node, number, images=None):
        """Dumps it; its image is ready then. Raises CarryError; it goes on then."""
        done = self.attempt(node, "dfrsd", "dump", "--job", str(number), "--images", images or self.images, *self.criu)
        if done.returncode != 0:
            raise CarryError("dump", f"status {done.returncode}: {last_line(done)}")

    def has_image(self, number):
        """Whether there is an image of it that it has not gone on from."""
        return self._is_true('[ -e "$0/ready" ] && ! [ -e "$0/restored" ] && ! [ -e "$0/restoring" ]', number)

    def may_have_gone_on(self, number):
        """Whether there is an image of it that it has gone on from, or may have."""
        return self._is_true('[ -e "$0/restored" ] || [ -e "$0/restoring" ]', number)

    def restored_by(self, number):
        """How often it was requeued before the start that has gone on from its image; -1 if none has."""
        text = self.attempt(self.nodes[0], "cat", f"{self.images}/{number}/restored").stdout.strip()
        return int(text) if text.isdigit() else -1

    def _is_true(self, condition, number):
        return self.attempt(self.nodes[0], "sh", "-c", condition, f"{self.images}/{number}").returncode == 0

    def discard(self, node, number):
        """Frees the disk of a job that is over, as the daemon does when its time has come."""
        self.attempt(node, "dfrsd", "release", "--job", str(number), "--images", self.images, "--discard")

    def image_megabytes(self, number):
        listed = self.attempt(self.nodes[0], "du", "-sk", f"{self.images}/{number}").stdout.split()
        return int(listed[0]) / 1024 if listed else 0.0

    def requeue(self, number):
        """Has Slurm end it and put it back into the queue; waits for that. Raises CarryError."""
        # What was cancelled a moment ago Slurm would requeue, too.
        script = '[ "$(squeue -h -j "$0" -o %T)" = RUNNING ] || { echo "it does not run" >&2; exit 1; }; ' \
                 'scontrol requeue "$0" || exit; for try in $(seq 600); do ' \
                 '[ "$(squeue -h -j "$0" -o %T)" = PENDING ] && exit; sleep 0.1; done; echo "not PENDING" >&2; exit 1'
        done = self.attempt("controller", "bash", "-c", script, str(number))
        if done.returncode != 0:
            raise CarryError("requeue", last_line(done))

    def start(self, number, node):
        """Has it start on that node as soon as Slurm can. Raises CarryError."""
        # Slurm refuses an update while it still ends the job.
        script = 'for try in $(seq 50); do scontrol update "JobId=$0" "ReqNodeList=$1" StartTime=now && exit; sleep 0.2; ' \
                 'done; exit 1'
        done = self.attempt("controller", "bash", "-c", script, str(number), node)
        if done.returncode != 0:
            raise CarryError("start", last_line(done))

    def resume_nodes(self):
        """Takes back that slurmctld has drained nodes where it had forgotten starts ("Duplicate jobid"), or that it has
        set nodes down that were lost."""
        script = 'for node in $(sinfo -hN -t drain,down -o %N | sort -u); do scontrol update "nodename=$node" state=resume; done'
        self.attempt("controller", "bash", "-c", script)

    def wait_running(self, number):
        script = 'for try in $(seq 800); do case $(squeue -h -j "$0" -o %T) in RUNNING) exit ;; esac; sleep 0.1; done; exit 1'
        done = self.attempt("controller", "bash", "-c", script, str(number))
        if done.returncode != 0:
            raise CarryError("start", f"it does not run: {self.job(number)}")

    def wait_restored(self, number, node):
        """Until its image is marked, which is after a restore that succeeded. Raises CarryError."""
        script = 'for try in $(seq 600); do [ -e "$0/restored" ] && exit 0; sleep 0.05; done; exit 1'
        if self.attempt(node, "bash", "-c", script, f"{self.images}/{number}").returncode != 0:
            raise CarryError("restore", f"it has not gone on from its image: {self.job(number)}")

    def carry(self, number, target):
        """Carries a running job there, by hand. Raises CarryError."""
        source = self.job(number).node
        begin = time.monotonic()
        self.dump(source, number)
        dumped = time.monotonic()
        megabytes = self.image_megabytes(number)
        self.requeue(number)
        self.start(number, target)
        self.wait_running(number)
        runs = time.monotonic()
        self.wait_restored(number, target)
        end = time.monotonic()
        return Carried(source, target, megabytes, dumped - begin, end - begin, end - runs)

    def processes(self, number):
        """Those of the job's cgroups, as (node, PID, name)."""
        script = 'cd /proc && for p in $(grep -ls "job_$0/" [0-9]*/cgroup); do ' \
                 'p=${p%/cgroup}; read -r name <"$p/comm" && echo "$p $name"; done 2>/dev/null; true'
        found = []
        for node in self.nodes:
            for line in self.attempt(node, "bash", "-c", script, str(number)).stdout.splitlines():
                found.append((node, *line.split(None, 1)))
        return found

    def left_over(self, number, seconds=10):
        """What is left of a job that is over: processes and images, a line each; waits a little for them to go."""
        end = time.monotonic() + seconds
        while True:
            left = [f"process {pid} ({name}) on {node}" for node, pid, name in self.processes(number)]
            if self.has_image(number):
                left.append(f"the image {self.images}/{number}")
            if not left or time.monotonic() > end:
                return left
            time.sleep(1)


def last_line(done):
    """The last line that a command wrote, errors before output."""
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1] if lines else "no word"
