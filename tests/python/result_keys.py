"""Writes sim/python/stepsim/result_keys.py: keys of a result and their types, read off results."""
import itertools
import json
import keyword
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "sim/python/stepsim/result_keys.py"

HEAD = '''"""The keys of a result and their types, for editors and type checkers.

While a program runs each of these is a Record. tests/python/result_keys.py has made this file; to
renew it: STEPSIM_UPDATE=1 tests/python/python.sh build/stepsim
"""
from __future__ import annotations

from typing import Any

from .record import Record
'''

# What golden results lack: provenance, long runs without tokens, without a price.
OTHERS = [
    ["scenarios/mlp-buckets-8xv100.yaml", "--set", "run.horizon=10 steps", "cost.price=2 $/gpu/h"],
    ["scenarios/gpt-launches-8xh100.yaml", "--set", "run.horizon=10 steps"],
]
# What no scenario at hand has: steps that a breath changes, a GPU without a power limit, no record.
SELDOM = {"chaos": {"least_s": 1.5, "most_s": 1.5, "runs": 8},
          "energy": None, "expected_error": None}


def results(program):
    for path in sorted((ROOT / "tests/golden").glob("*.json")):
        # Provenance was cut off behind a comma.
        yield json.loads(re.sub(r",\s*}\s*$", "}", path.read_text()))
    for words in OTHERS:
        command = [program, "run", *words, "--format", "json"]
        yield json.loads(subprocess.check_output(command, cwd=ROOT))


class Classes:
    """Classes that were found so far, each before those that use it."""

    def __init__(self):
        self.fields_of = {}

    def type_of(self, key, values):
        """The type that has all these values, which are those of a key."""
        kinds = {type(value) for value in values}
        some = [value for value in values if value is not None]
        if not some:
            return "Any"
        if kinds >= {int, float}:
            name = "float"
        elif dict in kinds:
            name = self.map_type(key, some)
        elif list in kinds:
            name = f"list[{self.type_of(re.sub('s$', '', key), list(itertools.chain(*some)))}]"
        else:
            name, = {kind.__name__ for kind in kinds - {type(None)}}
        return name + (" | None" if type(None) in kinds else "")

    def map_type(self, key, maps):
        """A class where all have the same keys, else a dict."""
        if len({tuple(each) for each in maps}) > 1:
            values = [value for each in maps for value in each.values()]
            return f"dict[str, {self.type_of(key, values)}]"
        fields = {name: self.type_of(name, [each[name] for each in maps]) for name in maps[0]}
        return self.named("".join(map(str.title, re.sub("_s$", "", key).split("_"))), fields)

    def named(self, name, fields):
        for known, others in self.fields_of.items():
            if fields == others:
                return known
        methods = [field for field in fields if hasattr(dict, field)]
        assert not methods, f"{name}: a dict has methods of these names: {methods}"
        assert name not in self.fields_of, f"two maps with different keys would be {name}"
        self.fields_of[name] = fields
        return name


def text(program):
    found = list(results(program))
    found.append({**found[0], **SELDOM})
    classes = Classes()
    values_of = {key: [each[key] for each in found if key in each]
                 for key in itertools.chain(*found)}
    classes.named("ResultKeys", {key: classes.type_of(key, values_of[key]) for key in values_of})
    lines = [HEAD]
    for name, fields in classes.fields_of.items():
        lines.append(f"\nclass {name}(Record):")
        # A word of Python can be no attribute.
        lines += [f'    # ["{key}"]: {kind}' if keyword.iskeyword(key) else f"    {key}: {kind}"
                  for key, kind in fields.items()]
        lines.append("")
    return "\n".join(lines)
