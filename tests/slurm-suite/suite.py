# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests of Slurm's test suite: which there are, and which are left out."""

import pathlib
import re
import sys

from cluster import Failure

HERE = pathlib.Path(__file__).resolve().parent
LEFT_OUT = HERE / "left-out.txt"
OF_DEVICES = HERE / "devices.txt"
CONTAINS = "contains "


class Suite:
    def __init__(self, tree, devices=False):
        """tree: Slurm's sources, of the release that the mini-Slurm has; devices: whether its nodes have some."""
        self.devices = devices
        self.directory = tree.resolve() / "testsuite"
        expect = {path.name.removeprefix("test"): path for path in self.directory.glob("expect/test*")
                  if re.fullmatch(r"test\d+\.\d+", path.name)}
        tests = self.directory / "python/tests"
        python = {python_name(path.relative_to(tests)): path for path in tests.rglob("test_*.py")}
        self.files = {**expect, **python}
        if not expect:
            raise Failure(f"there is no testsuite/expect in '{tree}'; name a directory of Slurm's sources")

    def python_options(self):
        """The suite's own options for pytest: the cluster is as it is, and output is to be read by programs."""
        known = (self.directory / "python/conftest.py").read_text()
        return [option for option in ("--local-config", "--no-color") if f'"{option}"' in known]

    @property
    def tree(self):
        return self.directory.parent

    def left_out(self):
        """Name -> reason."""
        found = {} if self.devices else dict.fromkeys(self._of_devices(), "it is run with --devices")
        for rule in lines_of(LEFT_OUT):
            pattern, reason = re.split(r"\s{2,}", rule, maxsplit=1)
            for name in self.files:
                if self._matches(name, pattern):
                    found.setdefault(name, reason)
        return found

    def _of_devices(self):
        return [name for name in self.files if any(self._matches(name, pattern) for pattern in lines_of(OF_DEVICES))]

    def _matches(self, name, pattern):
        if pattern.startswith(CONTAINS):
            return pattern.removeprefix(CONTAINS) in self.files[name].read_text(errors="replace")
        return re.fullmatch(pattern, name) is not None

    def chosen(self, wanted):
        """The names to run, in order. wanted: a regular expression, a file with a name a line, or None for all, with
        devices those of devices."""
        left_out = self.left_out()
        candidates = self._of_devices() if self.devices and wanted is None else self.files
        names = sorted((name for name in candidates if name not in left_out), key=order)
        if wanted is None:
            return names
        if pathlib.Path(wanted).is_file():
            listed = pathlib.Path(wanted).read_text().split()
            unknown = [name for name in listed if name not in self.files]
            if unknown:
                raise Failure(f"{wanted}: there is no test '{unknown[0]}' in {self.directory}")
            return [name for name in dict.fromkeys(listed) if name not in left_out]
        chosen = [name for name in names if re.fullmatch(wanted, name)]
        if not chosen:
            raise Failure(f"no test's whole name is like '{wanted}'; names are like 1.31, 116_40 and commands/sbatch/wrap")
        return chosen


def lines_of(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def python_name(path):
    """What a file of testsuite/python/tests is called here: 116_40, and in 22.05 a/b/c for a/b/test_c.py."""
    return str(path.with_name(path.stem.removeprefix("test_")))


def python_file(name):
    """The other way round."""
    path = pathlib.PurePath(name)
    return str(path.with_name(f"test_{path.name}.py"))


def order(name):
    """A key by which 1.2 comes before 1.10, and tests with numbers before those with names."""
    if re.fullmatch(r"\d+[._]\d+", name):
        return [int(part) for part in re.split(r"[._]", name)], ""
    return [sys.maxsize], name


def is_python(name):
    return not re.fullmatch(r"\d+\.\d+", name)
