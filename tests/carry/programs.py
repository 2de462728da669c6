# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of the zoo, and what each says of itself in its first lines."""

import dataclasses
import pathlib
import re

ZOO = pathlib.Path(__file__).resolve().parent / "zoo"
# Files beside them are read or compiled by a program.
SCRIPTS = (".sh", ".py", ".pl", ".js")
HEAD_LINES = 6
# Node memory is for several programs at once; --small leaves these out.
LARGE = {"pipeline", "java", "java-tmp", "r", "matrices"}


@dataclasses.dataclass(frozen=True)
class Program:
    """One program: its file, whether it can be carried, and if not, what the reason must match."""

    name: str
    path: pathlib.Path
    carried: bool
    reason: str
    shows: str


def read(path, debian):
    """The program in this file, as it is on that Debian. Raises ValueError if it does not say what is expected."""
    head = path.read_text().splitlines()[1:HEAD_LINES]
    # The language's mark of a comment, and what follows.
    lines = [re.sub(r"^(#|//) ?", "", line) for line in head if re.match(r"(#|//) ", line)]
    expected = {}
    shows = ""
    for line in lines:
        found = re.fullmatch(r"expect(?:-(\d+))?: (carried|refused (\S.*))", line)
        if found:
            expected[found.group(1)] = found
        elif not line.startswith("SPDX"):
            shows = shows or line
    found = expected.get(str(debian)) or expected.get(None)
    if not found or not shows:
        raise ValueError(f"{path}: its head says not what it shows and 'expect: carried' or 'expect: refused REASON'")
    return Program(path.stem, path, found.group(2) == "carried", found.group(3) or "", shows)


def chosen(names, debian, small=False, directory=ZOO):
    """The programs of these names, or all. Raises ValueError for a name that there is not."""
    every = {path.stem: path for path in sorted(directory.iterdir()) if path.suffix in SCRIPTS}
    unknown = [name for name in names if name not in every]
    if unknown:
        raise ValueError(f"no program '{unknown[0]}' in {directory}; there are: {' '.join(every)}")
    found = [read(every[name], debian) for name in names or every]
    return [program for program in found if not (small and program.name in LARGE)]
