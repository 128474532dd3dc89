"""selfcheck_recording.py, as far as it can be tried without PyTorch: its files, settings, claims.

Usage: selfcheck_recording_test.py PROGRAM, where PROGRAM is stepsim.
"""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import selfcheck_recording as check  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None


class Settings(unittest.TestCase):
    @unittest.skipIf(PROGRAM is None, "no program was named")
    def test_every_split_is_predicted_from_the_data_sheet(self):
        with tempfile.TemporaryDirectory() as folder:
            check.write_datasheet(Path(folder))
            scenario = Path(folder) / "scenario.yaml"
            steps = [check.predicted(PROGRAM, scenario, settings)
                     for _, _, settings in [check.LEARNT, *check.OTHERS]]
        self.assertTrue(all(step > 0 for step in steps), steps)
        self.assertGreater(steps[1], 1.5 * steps[0])  # twice the samples


class Claims(unittest.TestCase):
    JOB = {"what_if": [{"name": "loader", "gain_s": 0.4},
                       {"name": "garbage_collection", "gain_s": 0.2},
                       {"name": "straggler", "gain_s": 0.3},
                       {"name": "reads", "gain_s": 0.1},
                       {"name": "wait in aten::item", "gain_s": 0.5}]}

    def test_each_fault_has_its_figure(self):
        claims = [check.claim(fault, self.JOB) for fault, _ in check.FAULTS]
        self.assertEqual(claims, [0.5, 0.4, 0.2, 0.3])

    def test_what_is_not_found_costs_nothing(self):
        empty = {"what_if": []}
        self.assertEqual(check.claim("rank", empty), 0)
        self.assertEqual(check.claim("item", empty), 0)


class Steps(unittest.TestCase):
    def test_a_step_is_the_median_of_all_runs(self):
        runs = [{"wall": [9, 8], "calm": [3, 5]}, {"wall": [7, 6], "calm": [4, 1]}]
        self.assertEqual(check.step_of(runs, is_waiting=False), 3.5)
        self.assertEqual(check.step_of(runs, is_waiting=True), 7.5)

    def test_without_pytorch_it_is_skipped(self):
        with mock.patch.object(check, "with_torch", return_value=None), \
                mock.patch.object(sys, "argv", ["check", "stepsim"]), \
                mock.patch("builtins.print") as said:
            self.assertEqual(check.main(), check.SKIPPED)
        self.assertIn("PyTorch", said.call_args[0][0])


if __name__ == "__main__":
    unittest.main()
