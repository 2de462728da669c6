# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of docker/demo that need no Slurm: python3 -B -m unittest discover --start-directory tests/demo"""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
DOCKER = pathlib.Path(__file__).resolve().parent.parent.parent / "docker"
sys.path.insert(0, str(DOCKER / "demo.d"))

import figures  # noqa: E402
import model  # noqa: E402
import schedulers  # noqa: E402
import table  # noqa: E402
import workload  # noqa: E402
from records import Outcome  # noqa: E402


def outcome(name, flow, work=2, submitted=100.0):
    return Outcome(name, submitted, submitted, submitted + flow, work, 1, 0, 0.0)


def run(*flows):
    """The figures of a run with a job for each of these times in the system."""
    row = workload.Row("w01", 0, "alice", 2, 70, "park", "-n 1 -c 2 --mem=100")
    outcomes = [outcome(f"w{number:02}", flow) for number, flow in enumerate(flows)]
    return figures.of_run(outcomes, {done.name: row for done in outcomes}, [], "", [])


class Model(unittest.TestCase):
    def trace(self, days):
        """Sixty jobs from 8:00 on, on each of these days; the last is long."""
        lines = ["id,submit,tasks,cpu,mem,runtime", "0,0,1,0.25,0.1,1"]
        for day in days:
            for number in range(60):
                at = 3600 * (24 * (day - 1) + 8) + 60 * number
                lines.append(f"{day}-{number},{at},2,1,0.4,{30000 if number == 59 else 20}")
        return "\n".join([*lines, "9,999999,1,0.25,0.1,1"]) + "\n"

    def test_the_first_day_with_enough_jobs_is_taken(self):
        self.assertEqual(model.working_hours(model.read(self.trace([3, 4])))[0], 3)
        with self.assertRaises(ValueError):
            model.working_hours(model.read(self.trace([])))

    def test_what_is_made_is_read_again_and_has_the_load(self):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "workload"
        path.write_text(model.table(self.trace([1])))
        rows = workload.read(path)
        self.assertEqual([row.work for row in rows], [3] * 59 + [75])
        self.assertEqual({(row.tasks, row.cpus, row.task_memory, row.memory) for row in rows}, {(1, 4, 400, 370)})
        self.assertAlmostEqual(load(rows), model.LOAD, delta=0.01)

    def test_mobilities_have_their_shares(self):
        drawn = model.mobilities(10_000)
        for kind, share in model.MOBILITIES:
            self.assertAlmostEqual(drawn.count(kind) / len(drawn), share, delta=0.02)


def load(rows):
    work = sum(row.tasks * row.cpus * row.work for row in rows)
    return work / (rows[-1].at * model.NODES * workload.NODE_CPUS)


class Committed(unittest.TestCase):
    def test_every_job_fits_on_whole_nodes(self):
        for row in workload.read(DOCKER / "workload"):
            # Slurm counts memory by CPU for all CPUs of a node that a job has for itself.
            memory = max(row.option("--mem", 0), row.option("--mem-per-cpu", 0) * workload.NODE_CPUS)
            self.assertLessEqual(memory, workload.NODE_MEMORY, row)

    def test_the_workload_is_as_its_header_says(self):
        rows = workload.read(DOCKER / "workload")
        self.assertTrue(model.JOBS[0] <= len(rows) <= model.JOBS[1])
        self.assertAlmostEqual(load(rows), model.LOAD, delta=0.01)
        self.assertEqual({row.mobility for row in rows}, {kind for kind, _ in model.MOBILITIES})
        self.assertGreaterEqual(max(row.work for row in rows), 10 * min(row.work for row in rows))


class Opponents(unittest.TestCase):
    def test_short_jobs_have_a_partition_of_their_own(self):
        rows = workload.read(DOCKER / "workload")
        short = [row for row in rows if schedulers.options("backfill-suspend", row)]
        # A limit of twice as much is an hour of the model at most.
        self.assertEqual(short, [row for row in rows if row.work <= 4])
        for name in (*schedulers.DEFAULT, "backfill-force4"):
            self.assertFalse(any(schedulers.options(name, row) for row in rows), name)

    def test_each_has_a_configuration(self):
        for name in schedulers.OPPONENTS:
            self.assertTrue((DOCKER / "conf" / f"{name}.conf").is_file(), name)


class Figures(unittest.TestCase):
    def test_stretch_is_bounded_and_slowdown_is_not(self):
        figure = run(4, 6, 20)
        self.assertEqual([figure[f"{which}_stretch"] for which in ("mean", "median", "max")], [4 / 3, 1, 2])
        self.assertEqual([figure[f"{which}_slowdown"] for which in ("mean", "median", "max")], [5, 3, 10])

    def test_utilization_counts_the_cpus_of_all_tasks(self):
        self.assertEqual(run(8)["utilization"], 2 * 2 / (8 * 16))

    def test_without_jobs_there_is_nothing_to_measure(self):
        figure = run()
        self.assertEqual((figure["finished"], figure["max_stretch"], figure["makespan"]), (0, None, None))

    def test_a_second_is_neither_sooner_nor_later(self):
        figure = figures.beside(run(10, 10, 10, 10), run(11, 9, 12.5, 4))
        self.assertEqual((figure["sooner_jobs"], figure["max_sooner"]), (1, 2.5))
        self.assertEqual((figure["later_jobs"], figure["median_later"]), (1, 6))

    def test_a_job_that_did_not_finish_is_not_compared(self):
        self.assertEqual(figures.beside(run(10, 20), run(30))["sooner_jobs"], 1)


class Table(unittest.TestCase):
    def test_several_runs_show_median_and_range(self):
        self.assertEqual(table.cell([3.0, 1.234, 20.06]), "3 (1.23-20.1)")
        self.assertEqual(table.cell([7, 7]), "7")
        self.assertEqual(table.cell([None]), "-")

    def test_runs_are_compared_with_those_of_the_same_round(self):
        results = {"backfill-shared": [run(4), run(10)], "dfrs": [run(8), run(10)]}
        later = [line for line in table.text(results).splitlines() if "ended later" in line]
        self.assertEqual(later[0].split()[-3:], ["-", "0.50", "(0-1)"])

    def test_rows_without_values_are_left_out(self):
        lines = table.text({"backfill-shared": [run(4)]}).splitlines()
        self.assertTrue(any("largest" in line for line in lines))
        self.assertFalse(any("pauses" in line or line.startswith(("what DFRS", "against")) for line in lines))

    def test_it_fits_eighty_columns(self):
        results = {name: [run(1234.56), run(123.456)] for name in ("backfill-whole", "backfill-shared", "dfrs")}
        self.assertLessEqual(max(map(len, table.text(results).splitlines())), 80)


if __name__ == "__main__":
    unittest.main()
