"""measure_step.py without PyTorch: options, models, tables, the grid, and stepsim's suite.

Usage: measure_step_test.py [PROGRAM], where PROGRAM is stepsim.
"""

import contextlib
import csv
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import measure_step  # noqa: E402
import model_file  # noqa: E402
import table  # noqa: E402
from grid import single_gpu_grid  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None


def run(*arguments):
    """Exit code, standard output and error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = measure_step.main(list(arguments))
        except SystemExit as exit:
            code = exit.code
    return code, out.getvalue(), err.getvalue()


def without_torch():
    return mock.patch.dict(sys.modules, {"torch": None})


def row_of(line, gpu, milliseconds):
    options = measure_step.parser().parse_args(line)
    model = measure_step.checked(options)
    return (measure_step.setting_of(options, model, gpu, 1, 1) | table.summary(milliseconds)
            | {"peak_gib": "1", "gpu_name": "made up", "torch": "0", "cuda": "0"})


class Models(unittest.TestCase):
    def test_parameters_are_as_many_as_published(self):
        for name in ["gpt2", "gpt2-xl", "llama2-7b", "llama3-8b", "mistral-7b", "qwen2.5-7b",
                     "resnet50", "resnet152", "vit-b-16", "vit-l-16", "vit-h-14"]:
            text = (model_file.MODELS / f"{name}.yaml").read_text()
            published = model_file.keys_of(text, name)["published_parameters"]
            with self.subTest(name):
                self.assertEqual(model_file.parameters_of(model_file.load_model(name)), published)

    def test_what_cannot_be_built_is_refused_by_name(self):
        for name, word in [("mixtral-8x7b", "experts"), ("bert-large", "masked"),
                           ("qwen3-0.6b", "qk_norm"), ("mlp-20x4096", "width"),
                           ("no-such", "no model")]:
            with self.subTest(name), self.assertRaisesRegex(model_file.WrongModel, word):
                model_file.load_model(name)

    def test_fewer_layers(self):
        whole, two = model_file.load_model("gpt2"), model_file.load_model("gpt2", 2)
        layer = (model_file.parameters_of(whole) - model_file.parameters_of(two)) / 10
        self.assertEqual(layer, 12 * 768 * 768 + 13 * 768)


class Programs(unittest.TestCase):
    def test_what_needs_pytorch_is_python_at_least(self):
        for path in HERE.glob("*.py"):
            with self.subTest(path.name):
                compile(path.read_text(), path.name, "exec")


class Options(unittest.TestCase):
    def expect(self, code, text, *arguments):
        with without_torch():
            got, out, err = run(*arguments)
        self.assertEqual(got, code, err)
        self.assertIn(text, out + err)

    def test_without_pytorch_it_says_so_and_exits_with_3(self):
        self.expect(3, "PyTorch is not installed", "--model", "resnet50")
        self.expect(3, "PyTorch is not installed", "--grid")

    def test_without_a_gpu_it_says_so_and_exits_with_3(self):
        torch = mock.Mock()
        torch.cuda.is_available.return_value = False
        with mock.patch.dict(sys.modules, {"torch": torch}):
            code, _, err = run("--model", "resnet50")
        self.assertEqual(code, 3)
        self.assertIn("PyTorch finds no GPU", err)

    def test_wrong_options_are_refused_before_pytorch_is_loaded(self):
        self.expect(2, "--sequence says how many", "--model", "gpt2")
        self.expect(2, "reads images", "--model", "vit-b-16", "--sequence", "9")
        self.expect(2, "knows 1024 positions", "--model", "gpt2", "--sequence", "2048")
        self.expect(2, "has blocks, not layers", "--model", "resnet50", "--layers", "3")
        self.expect(2, "16-bit numbers only", "--model", "gpt2", "--sequence", "8", "--precision",
                    "fp32", "--attention", "flash2")
        self.expect(2, "needs several GPUs", "--model", "resnet50", "--sharding", "fsdp")
        self.expect(2, "has no layers with attention", "--model", "resnet50", "--recompute")
        self.expect(2, "is below 1", "--model", "gpt2", "--sequence", "0")
        self.expect(2, "not allowed with", "--model", "gpt2", "--grid")
        self.expect(2, "required", "--steps", "3")

    def test_a_dry_run_shows_the_setting(self):
        self.expect(0, "parameters     124439808", "--model", "gpt2", "--sequence", "1024",
                    "--dry-run")
        self.expect(0, "attention      unfused", "--model", "gpt2", "--sequence", "1024",
                    "--precision", "tf32", "--dry-run")


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.table = Path(folder.name) / "mine.csv"

    def test_a_row_is_added_and_the_same_setting_is_replaced(self):
        line = ["--model", "resnet50", "--micro-batch", "32"]
        table.add_row(self.table, row_of(line, "h100", [10, 30, 20]))
        table.add_row(self.table, row_of(line, "h200", [8]))
        table.add_row(self.table, row_of(line, "h100", [12]))
        rows = table.read_rows(self.table)
        self.assertEqual([(row["gpu"], row["step_ms"]) for row in rows],
                         [("h200", "8"), ("h100", "12")])
        self.assertEqual(os.listdir(self.table.parent), ["mine.csv"])

    def test_percentiles(self):
        got = table.summary([40.0, 10.0, 20.0, 30.0, 50.0])
        self.assertEqual(got, {"step_ms": "30", "step_p10_ms": "14", "step_p90_ms": "46",
                               "steps": "5"})

    def test_another_table_is_not_touched(self):
        self.table.write_text("a,b\n1,2\n")
        with self.assertRaisesRegex(table.WrongTable, "other columns"):
            table.add_row(self.table, row_of(["--model", "resnet50"], "h100", [1]))
        self.assertEqual(self.table.read_text(), "a,b\n1,2\n")

    def test_gpus_have_stepsims_names(self):
        names = {"NVIDIA H100 80GB HBM3": "h100", "NVIDIA H200": "h200", "NVIDIA B200": "b200",
                 "NVIDIA A100-SXM4-40GB": "a100-40", "NVIDIA A100-SXM4-80GB": "a100-80",
                 "Tesla V100-SXM2-32GB": "v100", "NVIDIA L4": "NVIDIA L4"}
        for cuda, ours in names.items():
            self.assertEqual(table.profile_of(cuda), ours)


class Grid(unittest.TestCase):
    def test_it_has_forty_settings_that_all_are_right_and_differ(self):
        lines = single_gpu_grid()
        self.assertGreaterEqual(len(lines), 40)
        keys = {table.key_of(row_of(line, "h100", [1])) for line in lines}
        self.assertEqual(len(keys), len(lines))

    def test_what_is_measured_is_skipped_and_what_does_not_fit_ends_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            name = str(Path(folder) / "mine.csv")
            table.add_row(name, row_of(single_gpu_grid()[0], "h100", [1]))
            options = measure_step.parser().parse_args(["--grid", "--table", name])
            calls = []

            def call(command, codes=iter([0, 5, 4])):
                calls.append(command)
                return next(codes)

            with contextlib.redirect_stdout(io.StringIO()):
                code = measure_step.measure_grid(options, call, "h100")
        self.assertEqual(code, 4)  # a table that cannot be written
        self.assertEqual(len(calls), 3)
        self.assertEqual(calls[0][2:4], single_gpu_grid()[1][:2])
        self.assertEqual(calls[0][-5], name)


@unittest.skipUnless(PROGRAM, "no stepsim was named")
class Suite(unittest.TestCase):
    def test_stepsim_predicts_every_setting_of_the_grid(self):
        with tempfile.TemporaryDirectory() as folder:
            name = Path(folder) / "mine.csv"
            for line in single_gpu_grid():
                table.add_row(name, row_of(line, "h100", [100]))
            answer = subprocess.run(
                [PROGRAM, "validate", str(HERE / "suite.yaml"), "--table", str(name), "--format",
                 "csv", "--rows"], capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr + answer.stdout)
        rows = list(csv.DictReader(io.StringIO(answer.stdout)))
        self.assertEqual(len(rows), len(single_gpu_grid()))
        for row in rows:
            self.assertGreater(float(row["predicted_s"]), 0, row)

    def test_several_gpus_with_ddp_and_fsdp(self):
        with tempfile.TemporaryDirectory() as folder:
            name = Path(folder) / "mine.csv"
            for sharding in ("ddp", "fsdp"):
                options = measure_step.parser().parse_args(
                    ["--model", "llama3-8b", "--layers", "4", "--sequence", "4096", "--sharding",
                     sharding])
                model = measure_step.checked(options, 8)
                table.add_row(name, measure_step.setting_of(options, model, "h100", 1, 8)
                              | table.summary([100]) | {"peak_gib": "1", "gpu_name": "made up",
                                                        "torch": "0", "cuda": "0"})
            answer = subprocess.run(
                [PROGRAM, "validate", str(HERE / "suite.yaml"), "--table", str(name)],
                capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr + answer.stdout)
        self.assertNotIn("Not predicted", answer.stdout)


if __name__ == "__main__":
    unittest.main()
