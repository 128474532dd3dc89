"""measure_host.py: options, tables, the shipped sums; a short run where PyTorch is there."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import measure_host  # noqa: E402

try:
    import torch  # noqa: F401
    from torch.utils import _python_dispatch
    LACKS = "" if hasattr(_python_dispatch, "TorchDispatchMode") else "PyTorch is too old"
except ImportError as error:
    LACKS = f"nothing is measured: {error}"

SHORT = ["--rounds", "1", "--programs", "80", "--repetitions", "5"]


def run(*arguments):
    """Exit code, standard output and error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = measure_host.main(list(arguments))
        except SystemExit as exit:
            code = exit.code
    return code, out.getvalue(), err.getvalue()


class Options(unittest.TestCase):
    def test_without_pytorch_it_says_so(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            code, _, err = run()
        self.assertEqual(code, 3)
        self.assertIn("PyTorch is not installed", err)

    def test_a_number_of_rounds_is_positive(self):
        code, _, err = run("--rounds", "0")
        self.assertEqual(code, 2)
        self.assertIn("'0' is below 1", err)


class Tables(unittest.TestCase):
    def test_what_is_written_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            measure_host.write_table(path, ["# cpu=x"], [["view", "1.5", "1.25", "0.5", "0.1"]])
            self.assertEqual(measure_host.read_table(path), {"view": [1.5, 1.25, 0.5]})

    def test_other_columns_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("call,us\nview,1\n")
            with self.assertRaisesRegex(measure_host.WrongTable, "columns are"):
                measure_host.read_table(path)

    def test_a_host_that_takes_twice_as_long_has_half_the_speed(self):
        known = {"BERT layer": [100.0, 0.0, 200.0]}
        rows = [["BERT layer", "200", "0", "400", "1"], ["view", "9", "9", "9", "1"]]
        self.assertAlmostEqual(measure_host.speed(rows, known), 0.5)

    def test_the_shipped_layers_are_the_sum_of_their_parts(self):
        shipped = measure_host.read_table(measure_host.REFERENCE)
        for name in ("Megatron-LM layer", "BERT layer", "ResNet bottleneck"):
            forward, _, backward = shipped[name]
            of_parts = shipped["parts of " + name]
            whole, parts = forward + backward, of_parts[0] + of_parts[2]
            self.assertLess(abs(parts / whole - 1), 0.2, name)


@unittest.skipIf(LACKS, LACKS)
class Measured(unittest.TestCase):
    def test_a_short_run_has_all_calls_and_a_speed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            code, out, err = run(*SHORT, "--table", str(path))
            self.assertEqual(code, 0, err)
            self.assertRegex(out, r"host\.speed: \d")
            rows = measure_host.read_table(path)
            self.assertEqual(set(rows), set(measure_host.read_table(measure_host.REFERENCE)))
            for name in ("function", "checkpoint", "Megatron-LM layer", "BERT layer"):
                self.assertGreater(rows[name][0], 0, name)
                self.assertGreater(rows[name][2], 0, name)

    def test_calls_of_a_layer_are_counted(self):
        import torch

        from counts import count
        from layers import FUNCTIONS, LAYERS

        make, shape, written = LAYERS["Megatron-LM layer"]
        counts = count(make(), torch.randn(*shape, requires_grad=True), FUNCTIONS, written)
        self.assertEqual(counts["module"], 12)
        self.assertEqual(counts["function"], 12)
        self.assertEqual(counts["parameter"], 12)
        self.assertEqual(counts["forward"]["product", False], 4)
        self.assertEqual(counts["forward"]["product", True], 2)
        self.assertEqual(counts["forward"]["view", True], 18)


if __name__ == "__main__":
    unittest.main()
