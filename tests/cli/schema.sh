#!/bin/bash
# Checks `stepsim schema` with a validator: every file of the library is valid, values of a wrong
# type and unknown keys are not. Usage: schema.sh PROGRAM
set -euo pipefail
program=$1
library=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Debian's Python has Debian's packages, which another one first in the path has not.
for python in python3 /usr/bin/python3 ""; do
  [[ -z $python ]] || ! "$python" -c 'import jsonschema, yaml' 2>/dev/null || break
done
[[ -n $python ]] || { echo "no python3-jsonschema or python3-yaml"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for what in scenario model cluster gpu link suite sweep; do
  "$program" schema "$what" >"$folder/$what.json"
done
[[ $("$program" schema) == "$(cat "$folder/scenario.json")" ]] || { echo "no schema of a scenario by default"; exit 1; }
"$python" - "$folder" "$library" <<'END'
import glob, json, os, re, sys
import jsonschema, yaml

folder, library = sys.argv[1:]
validators = {}
for what in ("scenario", "model", "cluster", "gpu", "link", "suite", "sweep"):
    schema = json.load(open(f"{folder}/{what}.json"))
    jsonschema.Draft7Validator.check_schema(schema)
    validators[what] = jsonschema.Draft7Validator(schema)
offences = seen = 0

def mistakes(what, document):
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}"
            for e in validators[what].iter_errors(document)]

def expect(title, what, document, valid):
    global offences, seen
    seen += 1
    found = mistakes(what, document)
    if bool(found) == valid:
        offences += 1
        print(f"{title}: {'; '.join(found[:3]) if valid else 'is valid'}")

for what, pattern in {"scenario": "scenarios/*.yaml", "model": "models/*.yaml",
                      "cluster": "scenarios/clusters/*.yaml", "gpu": "calib/gpus/*.yaml",
                      "link": "calib/links/*.yaml", "suite": "validate/suites/*.yaml"}.items():
    files = glob.glob(os.path.join(library, pattern))
    assert files, pattern
    for path in sorted(files):
        expect(path, what, yaml.safe_load(open(path)), True)

good = {"model": "gpt-22b", "cluster": {"base": "dgx-a100-80", "nodes": 2},
        "training": {"sequence_length": 2048, "global_batch": 64, "recompute": "full"},
        "collectives": {"nccl": 2.27}, "expect": {"step_time": "<= 4.6 s"}}
expect("a scenario", "scenario", good, True)
wrong = {
    "an unknown key": {"trainig": {}},
    "a text for a number": {"training": {"sequence_length": "long", "global_batch": 64}},
    "a number beyond its range": {"training": {"sequence_length": 2048, "global_batch": 0}},
    "half a micro-batch": {"training": {"sequence_length": 2048, "global_batch": 1.5}},
    "a size without a unit": {"parallelism": {"data": {"bucket": 25}}},
    "another unit": {"parallelism": {"data": {"bucket": "25 GB/s"}}},
    "a word that is none": {"training": {"sequence_length": 2048, "global_batch": 64, "precision": "fp17"}},
    "a text for a switch": {"parallelism": {"sequence": "on"}},
    "a list for a map": {"parallelism": [1, 2]},
    "a map for a number": {"parallelism": {"tensor": {"degree": 8}}},
    "a key that is missing": {"training": {"sequence_length": 2048}},
    "an unknown sharding": {"parallelism": {"data": {"sharding": "zero4"}}},
}
for title, change in wrong.items():
    expect(title, "scenario", {**good, **change}, False)
# Type errors of tests/errors, by what the program says about them.
type_error = re.compile(
    "expected an? |unknown key|has no unit|is not a unit|missing key|is out of range|is not true or false"
    "|is not an? (number|integer|size|time|rate|power|price|fraction|share)|must be an? (map|list)")
of_types = 0
for path in sorted(glob.glob(os.path.join(library, "tests/errors/scenario/**/*.yaml"), recursive=True)):
    said = os.path.splitext(path)[0] + ".expected"
    if not os.path.exists(said):
        continue
    said = [line for line in open(said) if not line.startswith("--set")]
    if not any(type_error.search(line) for line in said):
        continue
    try:
        document = yaml.safe_load(open(path))
    except yaml.YAMLError:
        continue  # no document to validate
    of_types += 1
    expect(path, "scenario", document, False)
assert of_types >= 25, of_types

expect("a constant without a source", "link", {"bandwidth": "300 GB/s", "latency": "3 us"}, False)
sys.exit(1 if offences or seen < 100 else 0)
END
