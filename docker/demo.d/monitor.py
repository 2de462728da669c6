# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus beside the mini-Slurm: it scrapes an exporter of the plugin and one of each node."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

from cluster import DOCKER, NODES, Failure

PORT = 9817
TIMEOUT = 60


class Monitor:
    """Started for one run of DFRS; its data stay in target/demo/monitor."""

    def __init__(self, cluster, address="127.0.0.1:9090"):
        self.cluster = cluster
        self.address = address
        self.directory = DOCKER.parent / "target" / "demo" / "monitor"
        self.process = None

    def start(self):
        """Exporters in the containers, Prometheus on this machine."""
        for service in ("controller", *NODES):
            self._start_exporter(service)
        programs = subprocess.run([str(DOCKER / "prometheus")], capture_output=True, text=True)
        if programs.returncode:
            raise Failure(programs.stderr.strip())
        subprocess.run(["rm", "-rf", str(self.directory / "data")], check=True)
        self.directory.mkdir(parents=True, exist_ok=True)
        configuration = self.directory / "prometheus.yml"
        configuration.write_text(self._configuration())
        with (self.directory / "prometheus.log").open("w") as log:
            # The monitor outlives this program if the cluster does.
            self.process = subprocess.Popen(
                [f"{programs.stdout.strip()}/prometheus", f"--config.file={configuration}",
                 f"--storage.tsdb.path={self.directory}/data", f"--web.listen-address={self.address}"],
                stdout=log, stderr=log, start_new_session=True)
        self._wait_until_ready()

    def _start_exporter(self, service):
        about = [] if service == "controller" else [f"--node={service}"]
        command = ["dfrs", "exporter", *about, "--listen", f"0.0.0.0:{PORT}"]
        detached = ["docker", "exec", "--detach", self.cluster.container(service), *command]
        result = subprocess.run(detached, capture_output=True, text=True)
        if result.returncode:
            raise Failure(f"no exporter on {service}: {result.stderr.strip()}")

    def _address_of(self, service):
        template = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        command = ["docker", "inspect", "--format", template, self.cluster.container(service)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def _configuration(self):
        targets = "".join(
            f"      - targets: ['{self._address_of(service)}:{PORT}']\n"
            f"        labels: {{instance: {service}}}\n"
            for service in ("controller", *NODES))
        rules = DOCKER.parent / "monitoring" / "alerts.yml"
        return (f"global: {{scrape_interval: 2s, evaluation_interval: 5s}}\nrule_files: ['{rules}']\n"
                f"scrape_configs:\n  - job_name: dfrs\n    static_configs:\n{targets}")

    def _wait_until_ready(self):
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        self.stop()
        raise Failure(f"Prometheus does not answer at {self.address}; see {self.directory}/prometheus.log")

    def stop(self):
        if self.process and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
            self.process.wait()
