"""The table of measured steps: one row a setting, in the columns that suite.yaml maps."""

import csv
import os
from pathlib import Path

# How a row was set, then what was measured.
SETTING = ["model", "layers", "gpu", "nodes", "gpus_per_node", "sharding", "bucket_mib", "micro_batch",
           "accumulation", "sequence", "precision", "attention", "recompute", "compiled",
           "channels_last"]
MEASURED = ["step_ms", "step_p10_ms", "step_p90_ms", "steps", "peak_gib", "gpu_name", "torch", "cuda"]
COLUMNS = SETTING + MEASURED

# CUDA's names of GPUs that stepsim has a cluster of (stepsim list clusters), the more special first.
GPUS = [("H200", "h200"), ("H100", "h100"), ("B200", "b200"), ("A100-SXM4-40GB", "a100-40"),
        ("A100", "a100-80"), ("V100", "v100")]


class WrongTable(Exception):
    """The table is not one of this program's; the text says why."""


def profile_of(gpu_name):
    """stepsim's name of a GPU, or CUDA's, for which suite.yaml then needs a cluster."""
    for part, name in GPUS:
        if part in gpu_name:
            return name
    return gpu_name


def quantile(values, share):
    """Between the two nearest, as numpy's default."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def summary(milliseconds):
    return {"step_ms": f"{quantile(milliseconds, 0.5):.6g}",
            "step_p10_ms": f"{quantile(milliseconds, 0.1):.6g}",
            "step_p90_ms": f"{quantile(milliseconds, 0.9):.6g}", "steps": str(len(milliseconds))}


def text_of(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def read_rows(path):
    """None where there is no table yet."""
    path = Path(path)
    if not path.exists() or path.stat().st_size == 0:
        return []
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise WrongTable(f"{path} has other columns than {', '.join(COLUMNS)}")
        return list(rows)


def key_of(row):
    return tuple(text_of(row[column]) for column in SETTING)


def add_row(path, row):
    """Replaces the row of the same setting. The table is written anew and renamed, never half."""
    path = Path(path)
    new = {column: text_of(row[column]) for column in COLUMNS}
    rows = [old for old in read_rows(path) if key_of(old) != key_of(new)] + [new]
    part = path.with_name(path.name + f".{os.getpid()}.part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)
