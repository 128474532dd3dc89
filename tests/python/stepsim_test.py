"""The package from outside, as it is installed. Usage: python.sh PROGRAM, which sets STEPSIM."""
import contextlib
import csv
import difflib
import doctest
import importlib.metadata
import io
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import numpy
import pandas

import notebook
import result_keys
import stepsim

ROOT = result_keys.ROOT
PROGRAM = os.environ["STEPSIM"]
UPDATE = "STEPSIM_UPDATE" in os.environ
RENEW = "To renew: STEPSIM_UPDATE=1 tests/python/python.sh build/stepsim"
SMALL = ROOT / "scenarios/mlp-buckets-8xv100.yaml"
SCENARIO = {"model": "llama2-13b", "cluster": {"base": "dgx-h100", "nodes": 4},
            "training": {"sequence_length": 4096, "global_batch": 256},
            "parallelism": {"tensor": 2, "data": {"sharding": "zero1"}}}


def printed(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, encoding="utf-8").stdout


def lives(group):
    """Whether a process of that group has not ended."""
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = file.read_text().rsplit(")", 1)[1].split()[:3]
            if state not in "ZX" and int(its_group) == group:
                return True
    return False


class Run(unittest.TestCase):
    def test_a_result_is_the_json_of_the_program(self):
        result = stepsim.run(SMALL, set={"training.global_batch": 4096})
        text = printed("run", SMALL, "--set", "training.global_batch=4096", "--format", "json")
        self.assertEqual(result, json.loads(text))
        self.assertEqual(result.memory.stages[0].categories_bytes["gradients"],
                         result["memory"]["stages"][0]["categories_bytes"]["gradients"])
        self.assertIn("step_time_s", dir(result))
        self.assertRegex(repr(result), r"^<mlp-buckets-8xv100: step_time_s=0\.\d+, mfu=0\.\d+>$")
        with self.assertRaisesRegex(AttributeError, "no 'step_time' here, did .* 'step_time_s'?"):
            result.step_time
        self.assertEqual(pickle.loads(pickle.dumps(result)).mfu, result.mfu)

    def test_a_dict_is_a_scenario_whose_paths_begin_here(self):
        scenario = {**SCENARIO, "name": "größer"}
        pathlib.Path("of-file.yaml").write_text(json.dumps(scenario))
        of_file = stepsim.run(pathlib.Path("of-file.yaml"))
        self.assertEqual(stepsim.run(scenario), of_file)
        model = (ROOT / "models/llama2-13b.yaml").read_text().replace("llama2-13b", "mine")
        pathlib.Path("mine.yaml").write_text(model)
        of_path = stepsim.run({**scenario, "model": "./mine.yaml"})
        self.assertEqual(of_path.step_time_s, of_file.step_time_s)

    def test_values_are_those_of_yaml(self):
        result = stepsim.run(SCENARIO, set={
            "parallelism": {"tensor": 4, "data": {"sharding": "zero1"}},
            "parallelism.sequence": True,
            "training.micro_batch": numpy.int64(2),
        })
        self.assertIn("  micro_batch: 2\n", result.provenance.scenario)
        self.assertIn("  tensor: 4\n  sequence: true\n", result.provenance.scenario)

    def test_an_expectation_that_fails_is_no_error(self):
        result = stepsim.run(SMALL, set={"expect.mfu": ">= 90 %"})
        self.assertFalse(result.holds)
        self.assertEqual([entry.holds for entry in result.expect if "mfu" in entry.text], [False])
        self.assertTrue(stepsim.run(SMALL).holds)

    def test_notes_are_warnings(self):
        with self.assertWarnsRegex(UserWarning, "^note: .*autoencoder is not simulated"):
            stepsim.run(ROOT / "scenarios/dit-xl-2-8xh100.yaml")

    def test_other_commands_have_json_too(self):
        others = [{"parallelism.tensor": 4}, {"parallelism.tensor": 1, "cluster.nodes": 8}]
        comparison = stepsim.call("compare", SCENARIO, vs=others)
        self.assertEqual(len(comparison.runs), 3)
        with self.assertRaisesRegex(ValueError, "two scenarios are dicts"):
            stepsim.call("compare", SCENARIO, SCENARIO)


class Errors(unittest.TestCase):
    def test_a_wrong_scenario_has_the_message_of_the_program(self):
        with self.assertRaises(stepsim.ScenarioError) as caught:
            stepsim.run({**SCENARIO, "clustr": 1})
        self.assertIn("unknown key 'clustr' in the scenario, did you mean", str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 2)
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(again), again.exit_code), (str(caught.exception), 2))

    def test_a_file_that_is_not_there(self):
        with self.assertRaises(stepsim.ScenarioError) as caught:
            stepsim.run("absent.yaml")
        self.assertEqual(caught.exception.exit_code, 4)

    def test_no_program(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": "/absent", "STEPSIM": "/absent/it"}):
            with self.assertRaisesRegex(FileNotFoundError, "STEPSIM is '/absent/it', which is no"):
                stepsim.run(SMALL)
            del os.environ["STEPSIM"]
            with self.assertRaisesRegex(FileNotFoundError, "no program .stepsim. on PATH"):
                stepsim.run(SMALL)

    def test_a_sweep_without_pandas_says_what_to_install(self):
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}), \
                self.assertRaisesRegex(ImportError, "pip install pandas"):
            stepsim.sweep(SMALL, {"training.micro_batch": [128]})

    def test_ctrl_c_ends_the_program_too(self):
        with tempfile.TemporaryDirectory() as folder:
            # What begins in the background of a shell has been told to ignore Ctrl-C.
            code = """if True:
                import signal, stepsim, sys
                signal.signal(signal.SIGINT, signal.default_int_handler)
                stepsim.sweep(sys.argv[1], {"parallelism.data.bucket": "1..9000MiB"}, db="x.db")"""
            process = subprocess.Popen([sys.executable, "-c", code, SMALL], cwd=folder,
                                       stderr=subprocess.PIPE, encoding="utf-8",
                                       start_new_session=True)
            while not os.path.exists(f"{folder}/x.db") and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)  # as Ctrl-C in a shell does, but to Python alone
            self.assertIn("KeyboardInterrupt", process.communicate()[1])
            while lives(process.pid):
                time.sleep(0.02)


class Sweep(unittest.TestCase):
    def test_a_value_of_a_list_is_one_value(self):
        names = ["a,b", "c d", "1..3", "it's", 'q"x', "a:b"]
        swept = stepsim.sweep(SMALL, {"name": names}).name  # as they are written in YAML
        self.assertEqual([name.strip("'").replace("''", "'") for name in swept], names)

    def test_a_frame_is_the_csv_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            before = set(SMALL.parent.iterdir())
            frame = stepsim.sweep(SMALL, {"training.micro_batch": numpy.array([64, 100, 256]),
                                          ("parallelism.data.bucket", "training.precision"):
                                              [("1 MiB", "fp32"), ("25 MiB", "fp32")]})
            self.assertEqual(before, set(SMALL.parent.iterdir()))
            text = printed("sweep", SMALL, "--vary", "training.micro_batch=64,100,256", "--vary",
                           "parallelism.data.bucket,training.precision=1 MiB:fp32,25 MiB:fp32",
                           "--format", "csv", "--db", f"{folder}/x.db")
        pandas.testing.assert_frame_equal(frame, pandas.read_csv(io.StringIO(text)))
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(frame.columns), list(rows[0]))
        self.assertEqual(len(frame), 6)
        self.assertEqual(set(frame.state), {"ok", "refused"})
        for (_, row), of_csv in zip(frame.iterrows(), rows):
            for column, value in of_csv.items():
                if value == "":
                    self.assertTrue(pandas.isna(row[column]), column)
                else:
                    self.assertEqual(row[column], type(row[column])(value), column)

    def test_a_sweep_of_points_that_cannot_be_is_a_frame(self):
        frame = stepsim.sweep(SCENARIO, {"training.micro_batch": [3, 7]})
        self.assertEqual(list(frame.state), ["refused", "refused"])

    def test_results_are_kept_and_gone_on_with(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "kept.db"
            words = {"vary": {"training.micro_batch": "64..256*2"}, "where": "micro_batch > 64",
                     "db": kept}
            first = stepsim.sweep(SMALL, **words)
            self.assertEqual(list(first["training.micro_batch"]), [128, 256])
            with self.assertRaisesRegex(stepsim.ScenarioError, "--resume"):
                stepsim.sweep(SMALL, **{**words, "shard": "1/2"})
            pandas.testing.assert_frame_equal(first, stepsim.sweep(SMALL, **words, resume=True))


class Pages(unittest.TestCase):
    def same(self, what, saved, today):
        """Says which lines of a file are out of date."""
        diff = difflib.unified_diff(saved.splitlines(), today.splitlines(), "saved", "today", n=1,
                                    lineterm="")
        if saved != today:
            self.fail("\n".join([f"{what} is out of date. {RENEW}", *diff]))

    def test_the_types_are_those_of_results(self):
        today = result_keys.text(PROGRAM)
        if UPDATE:
            result_keys.FILE.write_text(today)
        self.same("sim/python/stepsim/result_keys.py", result_keys.FILE.read_text(), today)

    def test_the_version_is_that_of_the_program(self):
        self.assertEqual(importlib.metadata.version("stepsim"), printed("--version").split()[0])

    def test_the_notebook_shows_what_its_cells_say(self):
        path = ROOT / "docs/notebook/sweep.ipynb"
        saved = json.loads(path.read_text())
        today = notebook.run(saved)
        if UPDATE and notebook.text(saved) != notebook.text(today):
            path.write_text(json.dumps(today, indent=1, ensure_ascii=False) + "\n")
            saved = today
        self.same("docs/notebook/sweep.ipynb", notebook.text(saved), notebook.text(today))

    def test_the_page_shows_what_its_examples_print(self):
        page = (ROOT / "docs/python.md").read_text()
        unfenced = re.sub("^```.*$", "", page, flags=re.M)
        examples = doctest.DocTestParser().get_doctest(unfenced, {}, "python.md", "python.md", 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        failed, tried = runner.run(examples)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 5)


if __name__ == "__main__":
    unittest.main()
