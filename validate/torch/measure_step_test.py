"""measure_step.py: options, models, tables, the grid, stepsim's suite; networks where PyTorch is there.

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
from dataclasses import replace
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
SUITE = HERE.parent / "suites" / "torch.yaml"
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import measure_step  # noqa: E402
import model_file  # noqa: E402
import table  # noqa: E402
from grid import single_gpu_grid  # noqa: E402

try:
    import torch as real_torch
    TORCH_LACKS = ("" if measure_step.version_of(real_torch) >= measure_step.OLDEST_TORCH
                   else f"PyTorch {real_torch.__version__} is too old")
except ImportError as error:
    TORCH_LACKS = f"networks are not built: {error}"

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


def torch_of(version):
    """PyTorch without a GPU."""
    torch = mock.MagicMock()
    torch.__version__ = version
    torch.cuda.is_available.return_value = False
    return torch


def row_of(line, gpu, milliseconds, gpus=1):
    options = measure_step.parse(line)
    model = measure_step.checked(options, gpus)
    return (measure_step.setting_of(options, model, gpu, 1, gpus) | table.summary(milliseconds)
            | {"peak_gib": "1", "gpu_name": "made up", "torch": "0", "cuda": "0"}
            | measure_step.host_of(options))


class Models(unittest.TestCase):
    def test_parameters_are_as_many_as_published(self):
        for name in ["gpt2", "gpt2-xl", "llama2-7b", "llama3-8b", "qwen2.5-7b",
                     "resnet50", "resnet152", "vit-b-16", "vit-l-16", "vit-h-14"]:
            text = (model_file.MODELS / f"{name}.yaml").read_text()
            published = model_file.keys_of(text, name)["published_parameters"]
            with self.subTest(name):
                self.assertEqual(model_file.parameters_of(model_file.load_model(name)), published)

    def test_what_cannot_be_built_is_refused_by_name(self):
        for name, word in [("mixtral-8x7b", "experts"), ("bert-large", "masked"),
                           ("qwen3-0.6b", "qk_norm"), ("mistral-7b", "window"), ("mlp-20x4096", "width"),
                           ("no-such", "no model")]:
            with self.subTest(name), self.assertRaisesRegex(model_file.WrongModel, word):
                model_file.load_model(name)

    def test_another_name_is_proposed(self):
        with self.assertRaisesRegex(model_file.WrongModel, "did you mean 'gpt2-medium'"):
            model_file.load_model("gpt2-medum")

    def test_fewer_layers(self):
        whole, two = model_file.load_model("gpt2"), model_file.load_model("gpt2", 2)
        layer = (model_file.parameters_of(whole) - model_file.parameters_of(two)) / 10
        self.assertEqual(layer, 12 * 768 * 768 + 13 * 768)


class Programs(unittest.TestCase):
    def test_what_needs_pytorch_is_python_at_least(self):
        for path in HERE.glob("*.py"):
            with self.subTest(path.name):
                compile(path.read_text(), path.name, "exec")

    @unittest.skipIf(TORCH_LACKS, TORCH_LACKS)
    def test_each_kind_of_network_runs_a_step_and_has_its_parameters(self):
        import networks

        small = {"layers": 2, "hidden": 64, "heads": 4, "head_dim": 16, "ffn": 96, "vocabulary": 50}
        load = model_file.load_model
        vision = replace(load("vit-b-16").vision, image=32)
        models = {
            "gpt2": replace(load("gpt2"), kv_heads=4, **small),
            "llama2-7b": replace(load("llama2-7b"), kv_heads=4, **small),
            "llama3-8b": replace(load("llama3-8b"), kv_heads=2, **small),
            "qwen2.5-7b": replace(load("qwen2.5-7b"), kv_heads=2, **small),
            "vit-b-16": replace(load("vit-b-16"), kv_heads=4, vision=vision, positions=vision.tokens(),
                                **small),
            "resnet50": replace(load("resnet50"), image=64),
        }
        for name, model in models.items():
            for recompute in (False, True):
                with self.subTest(name, recompute=recompute):
                    network = networks.build(model, "unfused", recompute)
                    built = sum(p.numel() for p in network.parameters())
                    self.assertEqual(built, model_file.parameters_of(model))
                    network(*networks.samples(model, 2, 8, "cpu")).backward()
                    real_torch.optim.AdamW(network.parameters()).step()
                    for parameter_name, parameter in network.named_parameters():
                        self.assertIsNotNone(parameter.grad, parameter_name)
                        self.assertTrue(parameter.isfinite().all(), parameter_name)


class Stepper(unittest.TestCase):
    """What is asked of PyTorch, of which there is none here."""

    def stepped(self, *line):
        options = measure_step.parse(["--model", "resnet50", *line])
        model = measure_step.checked(options)
        torch, networks, network = mock.MagicMock(), mock.MagicMock(), mock.MagicMock()
        networks.build.return_value.to.return_value = network
        networks.samples.return_value = mock.Mock(), mock.Mock()
        network.parameters.side_effect = lambda: [
            mock.Mock(numel=lambda: model_file.parameters_of(model))]
        with mock.patch.dict(sys.modules, {"networks": networks}):
            measure_step.stepper(torch, options, model, mock.Mock(size=1, rank=0))()
        return torch, network

    def test_only_fp16_scales_its_loss(self):
        for precision in ("bf16", "fp16", "tf32", "fp32"):
            with self.subTest(precision):
                torch, network = self.stepped("--precision", precision)
                torch.amp.GradScaler.assert_called_once_with("cuda", enabled=precision == "fp16")
                scaler = torch.amp.GradScaler.return_value
                scaler.scale.assert_called_once_with(network.return_value / 1)
                scaler.scale.return_value.backward.assert_called_once_with()
                scaler.step.assert_called_once_with(torch.optim.AdamW.return_value)
                scaler.update.assert_called_once_with()

    def test_ddps_gradients_are_views_of_buckets_as_the_suite_says(self):
        torch, options = mock.MagicMock(), measure_step.parse(["--model", "resnet50"])
        measure_step.wrapped(torch, mock.Mock(), mock.Mock(), options, mock.Mock(size=2))
        call = torch.nn.parallel.DistributedDataParallel.call_args
        self.assertTrue(call.kwargs["gradient_as_bucket_view"])
        self.assertIn("parallelism.data.bucket_views: 'sharding == \"ddp\" ? \"true\" : \"\"'",
                      SUITE.read_text())


class Measuring(unittest.TestCase):
    """measure() around a step that takes no time."""

    def measured(self, *line):
        torch = torch_of("2.6.0")
        torch.cuda.is_available.return_value = True
        torch.cuda.get_device_name.return_value = "NVIDIA H100 80GB HBM3"
        torch.version.cuda = "12.4"
        world = mock.Mock(size=1, rank=0, gpus_per_node=1, largest=lambda values: values)
        torch.cuda.max_memory_allocated.return_value = 2**30
        with mock.patch.dict(sys.modules, {"torch": torch}), \
                mock.patch.object(measure_step, "World", return_value=world), \
                mock.patch.object(measure_step, "stepper"), \
                mock.patch.object(measure_step, "timed_steps", return_value=[3.0]), \
                mock.patch.object(measure_step, "write_trace", side_effect=OSError("disk full")):
            return run("--model", "resnet50", *line)

    def test_the_row_is_in_the_table_before_a_trace_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            name = str(Path(folder) / "mine.csv")
            code, out, err = self.measured("--table", name, "--trace", "step.json")
            rows = table.read_rows(name)
        self.assertEqual((code, err), (4, "measure_step.py: disk full\n"))
        self.assertIn("3 ms a step", out)
        self.assertEqual([(row["gpu"], row["step_ms"]) for row in rows], [("h100", "3")])

    def test_a_table_that_cannot_take_the_row_is_refused_before_pytorch_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder, without_torch():
            name = Path(folder) / "mine.csv"
            name.write_text("a,b\n1,2\n")
            for what in (["--model", "resnet50"], ["--grid"]):
                code, _, err = run(*what, "--table", str(name))
                self.assertEqual(code, 2)
                self.assertIn("other columns", err)
                code, _, err = run(*what, "--table", str(Path(folder) / "no" / "mine.csv"))
                self.assertEqual(code, 4)
                self.assertIn("there is no folder", err)


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
        with mock.patch.dict(sys.modules, {"torch": torch_of("2.10.0+cu124")}):
            code, _, err = run("--model", "resnet50")
        self.assertEqual(code, 3)
        self.assertIn("PyTorch finds no GPU", err)

    def test_an_old_pytorch_is_said_with_the_one_that_is_needed(self):
        fsdp = ["--model", "gpt2", "--sequence", "8", "--sharding", "fsdp"]
        for version, line, text in [
                ("2.4.1", ["--model", "resnet50"], "PyTorch 2.4.1 is too old, 2.5 is needed"),
                ("2.4.1", ["--grid"], "PyTorch 2.4.1 is too old, 2.5 is needed"),
                ("2.5.1+cu124", fsdp,
                 "PyTorch 2.5.1+cu124 is too old, 2.6 is needed for --sharding fsdp"),
                ("2.5.1+cu124", ["--model", "resnet50"], "PyTorch finds no GPU"),
                ("2.6.0", fsdp, "PyTorch finds no GPU")]:
            with self.subTest(version, line=line), \
                    mock.patch.dict(sys.modules, {"torch": torch_of(version)}), \
                    mock.patch.dict(os.environ, {"WORLD_SIZE": "8"}):
                code, _, err = run(*line)
                self.assertEqual(code, 3)
                self.assertIn(text, err)

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
        self.expect(2, "--channels-last: gpt2 reads text", "--model", "gpt2", "--sequence", "8",
                    "--channels-last")

    def test_what_the_grid_would_not_heed_is_refused(self):
        for name, *value in (["--precision", "bf16"], ["--compile"], ["--layers", "2"],
                             ["--trace", "a.json"], ["--sharding", "ddp"], ["--micro-batch", "1"]):
            self.expect(2, f"{name}: only with --model", "--grid", name, *value)
        self.expect(2, "--layers, --sequence: only", "--grid", "--sequence", "8", "--layers", "2",
                    "--dry-run")
        self.expect(0, "--model resnet50", "--grid", "--dry-run", "--steps", "3", "--warmup", "1",
                    "--table", "a.csv")

    def test_what_fsdp_cannot_do_is_refused(self):
        fsdp = ["--sharding", "fsdp", "--dry-run"]
        text = ["--model", "gpt2", "--sequence", "8"]
        with mock.patch.dict(os.environ, {"WORLD_SIZE": "8"}):
            self.expect(2, "--bucket-mib: only with --sharding ddp", *text, *fsdp, "--bucket-mib",
                        "25")
            self.expect(2, "--accumulation: only", *text, *fsdp, "--accumulation", "2")
            self.expect(2, "resnet50's BatchNorm to bf16", "--model", "resnet50", *fsdp)
            self.expect(2, "resnet50's BatchNorm to fp16", "--model", "resnet50", *fsdp,
                        "--precision", "fp16")
            self.expect(0, "sharding       fsdp", "--model", "resnet50", *fsdp, "--precision",
                        "tf32")
            self.expect(0, "bucket_mib     7", *text, "--dry-run", "--bucket-mib", "7")

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
                 "NVIDIA GB200": "gb200", "NVIDIA A100-SXM4-40GB": "a100-40",
                 "A100-SXM4-40GB": "a100-40", "NVIDIA A100-SXM4-80GB": "a100-80",
                 "Tesla V100-SXM2-32GB": "v100"}
        for cuda, ours in names.items():
            self.assertEqual(table.profile_of(cuda), ours)
            self.assertEqual(table.profile_of(cuda, 8), ours)

    def test_gpus_that_only_sound_alike_keep_cudas_names(self):
        for cuda in ("NVIDIA GH200 480GB", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H200 NVL",
                     "NVIDIA B200 MIG 1g.23gb", "Tesla V100-PCIE-16GB", "NVIDIA L4",
                     "NVIDIA A100-SXM4-40GB MIG 1g.5gb"):
            self.assertEqual(table.profile_of(cuda), cuda)

    def test_an_a100_card_is_like_the_module_only_where_it_is_alone(self):
        for cuda, ours in {"NVIDIA A100-PCIE-40GB": "a100-40",
                           "NVIDIA A100 80GB PCIe": "a100-80"}.items():
            self.assertEqual(table.profile_of(cuda), ours)
            self.assertEqual(table.profile_of(cuda, 2), cuda)


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
            options = measure_step.parse(["--grid", "--table", name])
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

    def test_the_grid_passes_on_what_was_said_of_the_host(self):
        with tempfile.TemporaryDirectory() as folder:
            options = measure_step.parse(["--grid", "--table", str(Path(folder) / "t.csv"),
                                          "--host-speed", "0.4"])
        command = measure_step.own_command(single_gpu_grid()[0], options)
        self.assertEqual(command[-2:], ["--host-speed", "0.4"])
        self.assertEqual(measure_step.host_of(measure_step.parse(command[2:])),
                         {"host_speed": "0.4", "host_launch_us": "-"})


@unittest.skipUnless(PROGRAM, "no stepsim was named")
class Suite(unittest.TestCase):
    def predicted(self, rows, changed=lambda suite: suite):
        """Answer of stepsim, and its rows."""
        with tempfile.TemporaryDirectory() as folder:
            suite, name = Path(folder) / "suite.yaml", Path(folder) / "mine.csv"
            suite.write_text(changed(SUITE.read_text()))
            for row in rows:
                table.add_row(name, row)
            answer = subprocess.run(
                [PROGRAM, "validate", str(suite), "--table", str(name), "--format", "csv", "--rows"],
                capture_output=True, text=True, check=False)
        return answer, list(csv.DictReader(io.StringIO(answer.stdout)))

    def seconds(self, row, changed=lambda suite: suite):
        answer, rows = self.predicted([row], changed)
        self.assertEqual(answer.returncode, 0, answer.stderr + answer.stdout)
        return float(rows[0]["predicted_s"])

    def test_gradients_are_not_copied_to_buckets_and_back(self):
        def copied(suite):
            self.assertIn("bucket_views: 'sharding", suite)
            return suite.replace("bucket_views: 'sharding == \"ddp\" ? \"true\"",
                                 "bucket_views: 'sharding == \"ddp\" ? \"false\"")

        for gpus in (1, 8):
            row = row_of(["--model", "gpt2", "--sequence", "1024"], "h100", [100], gpus)
            self.assertLess(self.seconds(row), self.seconds(row, copied))

    def test_unfused_attention_copies_heads(self):
        row = row_of(["--model", "gpt2", "--micro-batch", "8", "--sequence", "1024", "--precision",
                      "tf32"], "h100", [100])
        self.assertGreater(self.seconds(row), self.seconds(
            row, lambda suite: suite.replace('"unfused" ? "eager"', '"unfused" ? "unfused"')))

    def test_gb200s_of_several_trays_are_in_one_rack(self):
        line = ["--model", "gpt2", "--sequence", "1024", "--precision", "tf32"]
        trays = row_of(line, "gb200", [100], 4) | {"nodes": 2}
        self.assertEqual(self.seconds(trays), self.seconds(row_of(line, "gb200", [100], 8)))
        answer, rows = self.predicted([trays | {"nodes": 19}])
        self.assertEqual((answer.returncode, rows[0]["predicted_s"]), (1, ""))
        self.assertIn("several NVL72 racks", answer.stdout)

    def test_residual_networks_of_all_depths(self):
        for channels in ([], ["--channels-last"]):
            self.assertGreater(self.seconds(row_of(["--model", "resnet152", *channels], "h100",
                                                   [100])),
                               self.seconds(row_of(["--model", "resnet50", *channels], "h100",
                                                   [100])))

    def test_a_gpu_without_a_cluster_is_listed(self):
        answer, _ = self.predicted([row_of(["--model", "vit-b-16"], "NVIDIA GH200 480GB", [100])])
        self.assertEqual(answer.returncode, 1)
        self.assertIn("its values do not have 'NVIDIA GH200 480GB'", answer.stdout + answer.stderr)

    def test_stepsim_predicts_every_setting_of_the_grid(self):
        with tempfile.TemporaryDirectory() as folder:
            name = Path(folder) / "mine.csv"
            for line in single_gpu_grid():
                table.add_row(name, row_of(line, "h100", [100]))
            answer = subprocess.run(
                [PROGRAM, "validate", str(SUITE), "--table", str(name), "--format",
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
                options = measure_step.parse(
                    ["--model", "llama3-8b", "--layers", "4", "--sequence", "4096", "--sharding",
                     sharding])
                model = measure_step.checked(options, 8)
                table.add_row(name, measure_step.setting_of(options, model, "h100", 1, 8)
                              | table.summary([100]) | {"peak_gib": "1", "gpu_name": "made up",
                                                        "torch": "0", "cuda": "0"}
                              | measure_step.host_of(options))
            answer = subprocess.run(
                [PROGRAM, "validate", str(SUITE), "--table", str(name)],
                capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr + answer.stdout)
        self.assertNotIn("Not predicted", answer.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what is skipped, and why
