"""measure_kernels.py: options, points, tables; stepsim reads what it writes.

Usage: measure_kernels_test.py [PROGRAM], where PROGRAM is stepsim.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import measure_kernels  # noqa: E402
import points  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None


def run(*arguments):
    """Exit code, standard output and error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = measure_kernels.main(list(arguments))
        except SystemExit as exit:
            code = exit.code
    return code, out.getvalue(), err.getvalue()


class Options(unittest.TestCase):
    def test_without_pytorch_it_says_so(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            code, _, err = run("--only", "memory")
        self.assertEqual(code, 3)
        self.assertIn("PyTorch is not installed", err)

    def test_an_unknown_family_is_refused(self):
        code, _, err = run("--only", "attention,gemms")
        self.assertEqual(code, 2)
        self.assertIn("no family 'gemms', there are attention, ", err)

    def test_no_time_is_refused(self):
        for text in ("0", "nan", "inf", "-1"):
            self.assertEqual(run("--list", "--seconds", text)[0], 2, text)

    def test_a_folder_that_cannot_be_made_is_found_before_measuring(self):
        with tempfile.NamedTemporaryFile() as file:
            code, _, err = run("--folder", file.name + "/below")
        self.assertEqual(code, 4)
        self.assertIn("measure_kernels.py: ", err)


class Points(unittest.TestCase):
    def test_each_is_there_once_and_has_the_columns_of_its_family(self):
        for family in points.FAMILIES:
            all_of = points.of(family)
            self.assertEqual(len({tuple(p.values()) for p in all_of}), len(all_of), family)
            for point in all_of:
                self.assertEqual(list(point), points.columns(family))

    def test_they_are_listed_without_pytorch(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            code, out, _ = run("--list", "--only", "experts")
        self.assertEqual(code, 0)
        self.assertEqual(len(out.splitlines()), len(points.of("experts")))

    def test_a_residual_net_has_23_kinds_of_convolutions(self):
        self.assertEqual(len(points.resnet50_layers()), 23)


@unittest.skipUnless(PROGRAM, "no stepsim was named")
class Tables(unittest.TestCase):
    def test_stepsim_fits_attention_and_convolutions(self):
        torch = mock.Mock(__version__="2.11.0")
        torch.version.cuda = "13.0"
        torch.cuda.get_device_properties.return_value = mock.Mock(multi_processor_count=132)
        torch.cuda.get_device_properties.return_value.name = "NVIDIA H100 80GB HBM3"
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for family in points.SCHEMA:
                # Times of a GPU that is slower than any of Hopper.
                rows = []
                for p in points.of(family):
                    if family == "attention":
                        flops = 2.0 * p["batch"] * p["heads"] * p["sequence"] ** 2 * p["head_dim"]
                    else:
                        flops = (2.0 * p["batch"] * p["channels"] * p["filters"]
                                 * (p["height"] // p["stride"] * p["filter_height"]) ** 2)
                    rows.append([*p.values(), f"{5 + flops / 1e8:.6g}"])
                names.append(str(Path(folder) / f"{family}.csv"))
                measure_kernels.write_table(names[-1], measure_kernels.head_of(torch, family),
                                            [*points.columns(family), "time_us"], rows)
            answer = subprocess.run(
                [PROGRAM, "calibrate", "fit", *names, "-o", str(Path(folder) / "mine.yaml")],
                capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr + answer.stdout)
        for family in ("attention cudnn, head 64", "attention flash2, head 128",
                       "convolution fp16 weights"):
            self.assertIn(family, answer.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what is skipped, and why
