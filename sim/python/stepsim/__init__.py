"""Runs the program `stepsim`: scenarios go in, results and tables come out.

A scenario is the path of a YAML file, or what would stand in one as a dict. Other words are options
of the program: `require_fit=True` is --require-fit, `jobs=4` is --jobs 4, a list is an option for
each item. `set={"cluster.nodes": 64}` changes keys of the scenario, as --set does.
"""
from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from .record import Record
from .result_keys import ResultKeys

if TYPE_CHECKING:
    import pandas

__all__ = ["Record", "Result", "Scenario", "ScenarioError", "call", "run", "sweep"]

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class ScenarioError(Exception):
    """What the program says against it; `exit_code` is 2 for bad input (docs/commands.md)."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message, exit_code)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return str(self.args[0])


class Result(ResultKeys):
    """The answer to a scenario: the JSON of `stepsim run`, units in the names of its keys."""

    @property
    def holds(self) -> bool:
        """Whether all that the scenario expects is so; `expect` has each entry."""
        return all(entry.holds for entry in self.expect)

    def __repr__(self) -> str:
        return f"<{self.scenario}: step_time_s={self.step_time_s:.4g}, mfu={self.mfu:.3g}>"


def run(scenario: Scenario, set: Mapping[str, Any] | None = None, **options: Any) -> Result:
    """Simulates a scenario. An expectation that does not hold is no error: `holds` tells."""
    return Result(_parsed(_output("run", scenario, set=set, **options, format="json")))


def sweep(scenario: Scenario, vary: Mapping[str | tuple[str, ...], Any] | None = None,
          set: Mapping[str, Any] | None = None, **options: Any) -> pandas.DataFrame:
    """Simulates a scenario along axes: a row for each point, with the columns of --format csv.

    sweep(scenario, vary={"training.micro_batch": [1, 2, 4], "cluster.nodes": "1..64*2",
                          ("parallelism.tensor", "parallelism.context.degree"): [(1, 2), (2, 1)]})
    Results are kept where `db="file.db"` says so; with `resume=True` as well a sweep goes on where
    it was stopped.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("stepsim.sweep makes a pandas.DataFrame: pip install pandas") from error
    axes = [_axis(keys, values) for keys, values in (vary or {}).items()]
    with tempfile.TemporaryDirectory() as folder:
        if not {"db", "resume", "restart"} & options.keys():
            options["db"] = os.path.join(folder, "sweep.db")
        table = _output("sweep", scenario, vary=axes, set=set, **options, format="csv")
    return pandas.read_csv(io.StringIO(table), float_precision="round_trip")


def call(command: str, *files: Scenario, **options: Any) -> Any:
    """The JSON of any command: call("compare", scenario, vs={"parallelism.tensor": 4})."""
    return _parsed(_output(command, *files, **options, format="json"))


def _parsed(text: str) -> Any:
    return json.loads(text, object_hook=Record)


def _output(command: str, *files: Scenario, **options: Any) -> str:
    """What the program prints."""
    words, document = [_program(), command], None
    for file in files:
        if isinstance(file, Mapping):
            if document:
                raise ValueError("two scenarios are dicts; one has to be a file")
            file, document = "-", json.dumps(file, default=_plain, ensure_ascii=False, indent=1)
        words.append(os.fspath(file))
    for name, value in options.items():
        words += _option("--" + name.replace("_", "-"), value)
    ended = subprocess.run(words, input=document or "", capture_output=True, encoding="utf-8")
    notes = ended.stderr.strip()
    if ended.returncode not in (0, 1) or not ended.stdout:
        raise ScenarioError(notes or f"stepsim {command} ended without a word", ended.returncode)
    if notes:
        warnings.warn(notes, stacklevel=3)
    return ended.stdout


def _program() -> str:
    stated = os.environ.get("STEPSIM")
    program = shutil.which(stated or "stepsim")
    if program is None:
        raise FileNotFoundError(
            f"STEPSIM is {stated!r}, which is no program that can run" if stated else
            "no program 'stepsim' on PATH: build it (./dev build), and set STEPSIM to its path")
    return program


def _option(name: str, value: Any) -> list[str]:
    """Its words on the command line; none where it is not stated."""
    if value is None or value is False or value == {}:
        return []
    if value is True:
        return [name]
    if isinstance(value, Mapping):
        return [name, *(f"{key}={_text(item)}" for key, item in value.items())]
    if isinstance(value, (list, tuple)):
        return [word for item in value for word in _option(name, item)]
    return [name, _text(value)]


def _axis(keys: str | tuple[str, ...], values: Any) -> str:
    """An axis in the words of --vary. Keys that move together have their values in pairs."""
    if isinstance(values, str):
        texts = [values]
    elif isinstance(keys, tuple):
        texts = [":".join(map(_value, each)) for each in values]
    else:
        texts = [_value(value) for value in values]
    return f"{','.join(keys) if isinstance(keys, tuple) else keys}={','.join(texts)}"


def _value(value: Any) -> str:
    """One value of an axis, in quotes where it would be taken for several or for a range."""
    text = _text(value)
    plain = text and text == text.strip() and not set(text) & set(",:'\"") and ".." not in text
    return text if plain or not isinstance(value, str) else "'" + text.replace("'", "''") + "'"


def _text(value: Any) -> str:
    """A value as YAML has it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """What JSON has no word for: paths, and numbers and arrays of NumPy."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value.tolist()
