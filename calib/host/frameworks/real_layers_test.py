"""real_layers.py: options; kernels that are played have the shapes of real ones; shipped rows."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
sys.dont_write_bytecode = True

import measure_host  # noqa: E402
import real_layers  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def run(*arguments):
    """Exit code, and standard error."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        try:
            code = real_layers.main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    return code, errors.getvalue()


class Options(unittest.TestCase):
    def test_a_folder_that_is_no_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            code, error = run("--megatron", folder)
            self.assertEqual(code, 2)
            self.assertIn(f"{folder} has no folder megatron", error)
            Path(folder, "megatron").mkdir()
            code, error = run("--megatron", folder, "--engine", folder)
            self.assertEqual(code, 2)
            self.assertIn("has no folder transformer_engine", error)
            code, error = run("--megatron", folder, "--rounds", "0")
            self.assertEqual((code, "1 or more" in error), (2, True))

    def test_without_pytorch_it_says_so(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules,
                                                                      {"torch": None}):
            Path(folder, "megatron").mkdir()
            code, error = run("--megatron", folder)
            self.assertEqual(code, 1)
            self.assertIn("PyTorch is not installed", error)


class Arithmetic(unittest.TestCase):
    def test_a_layer_is_what_many_take_more_than_few(self):
        self.assertEqual(real_layers.per_layer((100.0, 20.0), (180.0, 60.0)), [10.0, 5.0])

    def test_rows(self):
        rows = real_layers.rows_of("a", [(1, 2, 3), (3, 2, 4), (2, 2, 8)], (0.5, 0, 0))
        self.assertEqual(rows[0], ["a", "2.0", "2.0", "4.0", "2.5"])
        self.assertEqual(rows[1], ["operators of a", "0.5", "0.0", "0.0", "0.0"])


class Shipped(unittest.TestCase):
    def test_operators_are_less_than_their_layer(self):
        for table in ("host_megatron.csv", "host_megatron_core.csv"):
            rows = measure_host.read_table(HERE.parents[1] / "measured" / table)
            parts = [name for name in rows if name.startswith("operators of ")]
            self.assertTrue(parts)
            for name in parts:
                for operators, whole in zip(rows[name], rows[name.removeprefix("operators of ")]):
                    self.assertLess(0, operators)
                    self.assertLess(operators, whole)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Kernels(unittest.TestCase):
    def test_a_product_has_the_shape_of_its_operands(self):
        import kernels

        weight, x = torch.ones(6, 4), torch.ones(2, 3, 4)
        rest = (None, None, None, None, None, False, None)
        forward = kernels.generic_gemm(weight, True, x, False, *rest[:3], None, *rest[3:5], None,
                                       False)[0]
        self.assertEqual(forward.shape, (2, 3, 6))
        gradient = torch.ones(6, 6)
        of_weight, of_bias, *_ = kernels.generic_gemm(
            torch.ones(6, 4), False, gradient, True, None, None, None, torch.ones(6), None, False,
            None, True)
        self.assertEqual((of_weight.shape, of_bias.shape), ((6, 4), (6,)))

    def test_a_kernel_is_counted(self):
        import kernels

        before = kernels.calls
        kernels.counted(kernels.fused_rope_forward)(torch.ones(2))
        kernels.TritonKernel()[(1,)]()
        self.assertEqual(kernels.calls - before, 2)


if __name__ == "__main__":
    unittest.main()
