# SPDX-License-Identifier: GPL-2.0-or-later
"""The mini-Slurm as the demo sees it: up, down, commands inside, files out of it."""

import io
import os
import pathlib
import signal
import subprocess
import tarfile

from workload import NODE_CPUS

DOCKER = pathlib.Path(__file__).resolve().parent.parent
NODES = ("n1", "n2", "n3", "n4")
# What one of Slurm's CPUs is in cores: a node's 0.44 of a core less the 0.12 that dfrsd reserves,
# over its four CPUs (docker/compose.yaml).
CORE_PER_CPU = 0.08


class Failure(Exception):
    """One line for the user: what failed and what to do."""


def build(debian, source=None, *kinds):
    """Makes all that a cluster is of: what scripts need, the image (kinds: options of docker/image), and the programs
    and the plugin."""
    tree = ["--source", str(source)] if source else []
    for command in (["provide"], ["image", debian, *tree, *kinds], ["build", *(tree or [debian])]):
        result = subprocess.run([str(DOCKER / command[0]), *command[1:]], stdout=subprocess.DEVNULL)
        if result.returncode:
            raise Failure(f"docker/{' '.join(command)} failed, see above")


class Cluster:
    def __init__(self, project, debian, source=None, nodes=len(NODES)):
        """debian: "12" or "13"; source: a Slurm source tree in place of that Debian's Slurm; nodes: how many, four
        at least."""
        self.slurm = ["--debian", debian, *(["--source", str(source)] if source else [])]
        # For names of files.
        self.label = source.resolve().name if source else f"debian{debian}"
        self.environment = {**os.environ, "DFRS_PROJECT": project}
        self.project = project
        self.nodes = tuple(f"n{number + 1}" for number in range(nodes))

    def script(self, *arguments):
        """Runs a script of docker/ on this cluster; Failure if it fails."""
        # A session of its own, so that Ctrl-C reaches only the demo, which ends the script in order.
        command = [str(DOCKER / arguments[0]), *arguments[1:]]
        script = subprocess.Popen(command, env=self.environment, start_new_session=True)
        try:
            failed = script.wait()
        except KeyboardInterrupt:
            os.killpg(script.pid, signal.SIGTERM)
            script.wait()
            raise
        if failed:
            raise Failure(f"docker/{' '.join(arguments)} failed, see above")

    def up(self, scheduler, *options):
        """Brings it up afresh: what an interrupted run left would be taken for this one's."""
        self.down()
        self.script("up", "--scheduler", scheduler, *self.slurm, "--nodes", str(len(self.nodes)), *options)

    def down(self):
        """Takes it down, whatever happens: a second Ctrl-C must not leave half a cluster."""
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.script("down")
        finally:
            signal.signal(signal.SIGINT, before)

    def container(self, service):
        """The id of a service's container."""
        labels = [
            f"label=com.docker.compose.project={self.project}",
            f"label=com.docker.compose.service={service}",
        ]
        filters = [part for label in labels for part in ("--filter", label)]
        result = subprocess.run(["docker", "ps", "--all", "--quiet", *filters], capture_output=True, text=True)
        identity = result.stdout.strip()
        if not identity:
            raise Failure(f"there is no container '{service}'; see: docker ps --all")
        return identity

    def command(self, service, *command, user="root"):
        return ["docker", "exec", "--interactive", "--user", user, self.container(service), *command]

    def output(self, service, *command):
        """What a command in a container prints; Failure if it fails."""
        result = subprocess.run(self.command(service, *command), capture_output=True)
        if result.returncode:
            reason = result.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise Failure(f"'{' '.join(command)}' failed on {service}: {reason[-1]}")
        return result.stdout.decode(errors="replace")

    def cores(self):
        """What all CPUs of the nodes are together, in cores."""
        return NODE_CPUS * len(self.nodes) * CORE_PER_CPU

    def cpu_seconds(self):
        """CPU time that the nodes' containers have used (cgroup v1 or v2)."""
        show = ("cat /sys/fs/cgroup/cpuacct/cpuacct.usage 2>/dev/null || "
                "awk '/usage_usec/ { print $2 * 1000 }' /sys/fs/cgroup/cpu.stat")
        return sum(int(self.output(node, "sh", "-c", show).split()[0]) for node in self.nodes) / 1e9

    def files(self, service, directory, *patterns):
        """The plain files of a directory in a container, or those that match: name -> text."""
        pack = 'cd "$0" && tar --create -- $(ls -d $* 2>/dev/null)'
        command = self.command(service, "sh", "-c", pack, directory, *(patterns or ["."]))
        result = subprocess.run(command, capture_output=True)
        if result.returncode:
            raise Failure(f"cannot read {directory} on {service}")
        with tarfile.open(fileobj=io.BytesIO(result.stdout)) as archive:
            members = [member for member in archive.getmembers() if member.isfile()]
            return {
                member.name.removeprefix("./"): archive.extractfile(member).read().decode(errors="replace")
                for member in members
            }

    def keep_logs(self, target):
        """Puts the daemons' logs where the user can read them afterwards, a directory a container."""
        for service in ("controller", *self.nodes):
            self.keep(target / service, self.files(service, "/var/log", "slurm", "dfrs*"))

    @staticmethod
    def keep(target, files):
        for name, text in files.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def power(self, node, act):
        """act: stop (all of the node's processes are killed) or start."""
        result = subprocess.run(["docker", act, self.container(node)], capture_output=True, text=True)
        if result.returncode:
            raise Failure(f"docker {act} {node}: {result.stderr.strip()}")
