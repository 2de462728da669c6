# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of the harness that need no Slurm: python3 -B -m unittest discover --start-directory tests/scale"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "inside"))

import load  # noqa: E402
import measures  # noqa: E402
import probes  # noqa: E402
import prompts  # noqa: E402
import shapes  # noqa: E402
import status  # noqa: E402
import table  # noqa: E402
import tables  # noqa: E402


class Shapes(unittest.TestCase):
    def test_tasks_of_one_job_may_share_a_node(self):
        shape = shapes.Shape(4, 2, 1000)
        self.assertTrue(shape.fits([(8, 4000)]))
        self.assertTrue(shape.fits([(2, 1000)] * 4))
        self.assertFalse(shape.fits([(8, 3999)]))
        self.assertFalse(shape.fits([(7, 64000)]))

    def test_spread_parts_take_a_node_each(self):
        shape = shapes.Shape(2, 4, 1000, spread=True)
        self.assertFalse(shape.fits([(32, 64000)]))
        self.assertTrue(shape.fits([(32, 64000), (4, 1000)]))

    def test_a_node_takes_exactly_so_many_slots(self):
        for jobs in range(1, 9):
            slot = shapes.slot(jobs)
            self.assertTrue(shapes.Shape(jobs, slot.cpus, slot.megabytes).fits([(32, 64000)]))
            self.assertFalse(shapes.Shape(jobs + 1, slot.cpus, slot.megabytes).fits([(32, 64000)]), jobs)

    def test_a_tenth_of_shapes_gets_devices(self):
        options = [shape.options() for shape in shapes.with_devices([shapes.slot(3)] * 20)]
        self.assertEqual(sum("--gres=gpu:1" in words for words in options), 2)

    def test_shapes_of_others_only_name_their_partition(self):
        one = shapes.slot(3)
        self.assertEqual([shape.options() for shape in shapes.others([one])], [[*one.options(), "--partition=batch"]])

    def test_slots_may_leave_memory(self):
        half = shapes.slot(4, memory=0.5)
        self.assertEqual((half.cpus, half.megabytes), (8, 8000))
        self.assertTrue(shapes.Shape(8, 1, half.megabytes).fits([(32, 64000)]))

    def test_memory_for_each_cpu_adds_up_to_the_memory_of_the_part(self):
        for shape in (*shapes.MIXED, *shapes.slots(3)):
            self.assertTrue(shape.spread or shape.megabytes % shape.cpus == 0, shape)


class Measures(unittest.TestCase):
    def test_a_percentile_is_a_value_that_so_many_do_not_exceed(self):
        values = list(range(1, 101))
        self.assertEqual([measures.percentile(values, share) for share in (0.5, 0.95, 0.99, 1)], [50, 95, 99, 100])
        self.assertEqual(measures.percentile([7], 0.99), 7)
        self.assertEqual(measures.percentile([], 0.5), 0)

    def test_jobs_that_have_not_started_count_with_how_long_they_wait(self):
        seconds, never = probes.latencies({"1": 10.0, "2": 11.0}, {"1": 10.5}, 20.0)
        self.assertEqual((seconds, never), ([0.5, 9.0], 1))

    def test_the_slowest_of_a_thousand_is_seen(self):
        self.assertEqual(measures.percentile([0.1] * 998 + [5, 7], 0.999), 5)

    def test_users_who_gave_up_count_with_the_timeout(self):
        users = prompts.Prompts(1, [])
        users.seconds, users.given_up = [0.1, 0.2], 2
        self.assertEqual(users.waits(), [0.1, 0.2, prompts.TIMEOUT, prompts.TIMEOUT])

    def test_parts_of_a_load_add_up(self):
        self.assertEqual(load.shares(43, 20), [3, 3, 3] + [2] * 17)

    def test_only_jobs_of_shapes_that_fit_count_as_having_room(self):
        counts = {("small", "PENDING"): 3, ("large", "PENDING"): 2, ("small", "RUNNING"): 9}
        known = {"small": shapes.Shape(1, 1, 500), "large": shapes.Shape(1, 32, 64000)}
        self.assertEqual(tables.with_room(counts, known, [(1, 600)]), 3)
        self.assertEqual(tables.with_room(counts, known, [(1, 400)]), 0)


class Status(unittest.TestCase):
    BEFORE = {"buckets": [[7, 5], [103, 1]], "max": 100}
    AFTER = {"buckets": [[7, 5], [103, 99], [11263, 2]], "max": 10500}

    def test_what_was_counted_before_does_not_count(self):
        spread = status.Spread(self.BEFORE, self.AFTER)
        self.assertEqual((spread.count, spread.percentile(0.5), spread.percentile(1)), (100, 103e-6, 10500e-6))

    def test_without_a_file_before_all_counts(self):
        self.assertEqual(status.Spread(None, self.AFTER).count, 106)
        self.assertEqual(status.Spread(self.AFTER, self.AFTER).percentile(0.99), 0)

    def test_a_restarted_plugin_counts_from_its_start(self):
        def file(started, spread):
            return {"started": started, "passes": {"wall": spread, "cpu": spread, "parts": {"look": spread}},
                    "locks": dict.fromkeys(status.LOCKS, spread)}
        again = status.between(file(1.0, self.BEFORE), file(2.0, self.AFTER))
        self.assertEqual(again["pass, look"].count, 106)
        more = status.between(file(1.0, self.BEFORE), file(1.0, self.AFTER))
        self.assertEqual(more["lock for writing, held"].count, 100)


class Table(unittest.TestCase):
    RUNS = {
        "backfill": [{"phase": "filling", "measure": "sinfo p99", "value": 0.2, "unit": "s"},
                     {"phase": "filling", "timeline": [1, 2, 3, 4]}],
        "dfrs": [{"phase": "filling", "measure": "sinfo p99", "value": 0.1, "unit": "s"},
                 {"phase": "filling", "timeline": [1, 1, 1]}],
    }

    def test_starts_are_compared_as_far_as_both_have_come(self):
        rows = dict(table.rows_of_starts(self.RUNS, "filling"))
        self.assertEqual(rows["filling", "3 have started after"], {"backfill": (3, "s"), "dfrs": (1, "s")})
        self.assertNotIn(("filling", "4 have started after"), rows)

    def test_the_ratio_is_that_of_the_last_to_the_first(self):
        line = next(line for line in table.text(self.RUNS, details=False).splitlines() if "sinfo" in line)
        self.assertEqual([cell.strip() for cell in line.split("|")][3:6], ["200.0 ms", "100.0 ms", "0.50"])


if __name__ == "__main__":
    unittest.main()
