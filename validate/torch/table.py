"""The table of measured steps: one row a setting, in the columns that suites/torch.yaml maps."""

import csv
import os
from pathlib import Path

# How a row was set, then what was measured.
SETTING = ["model", "layers", "gpu", "nodes", "gpus_per_node", "sharding", "bucket_mib", "micro_batch",
           "accumulation", "sequence", "precision", "attention", "recompute", "compiled",
           "channels_last"]
MEASURED = ["step_ms", "step_p10_ms", "step_p90_ms", "steps", "peak_gib", "gpu_name", "torch", "cuda",
            "host_speed", "host_launch_us"]
COLUMNS = SETTING + MEASURED

# CUDA's whole names, without the maker's, of GPUs that torch.yaml has a cluster of. Cards are
# other chips than modules, or slower ones: H100 PCIe and NVL, H200 NVL and V100 PCIe are not among them.
GPUS = {"V100-SXM2-16GB": "v100", "V100-SXM2-32GB": "v100", "A100-SXM4-40GB": "a100-40",
        "A100-SXM4-80GB": "a100-80", "H100 80GB HBM3": "h100", "H200": "h200", "B200": "b200",
        "GB200": "gb200"}

# Cards with the chip of a module, but without its NVLink: alike on one GPU alone.
CARDS = {"A100-PCIE-40GB": "a100-40", "A100 80GB PCIe": "a100-80"}


class WrongTable(Exception):
    """The table is not one of this program's; the text says why."""


def profile_of(gpu_name, gpus=1):
    """stepsim's name of a GPU, or CUDA's, of which torch.yaml then says that it knows none."""
    known = GPUS | CARDS if gpus == 1 else GPUS
    return known.get(gpu_name.removeprefix("NVIDIA ").removeprefix("Tesla "), gpu_name)


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
    """Those of the table; an empty list where there is none yet."""
    path = Path(path)
    if not path.exists() or path.stat().st_size == 0:
        return []
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise WrongTable(f"{path} has other columns than {', '.join(COLUMNS)}")
        return list(rows)


def check_place(path):
    """An error now, rather than behind a measurement, if no row could be added."""
    read_rows(path)
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path}: nothing can be written in {folder}")


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
