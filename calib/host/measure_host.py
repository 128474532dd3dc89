#!/usr/bin/env python3
"""Measures what eager PyTorch asks of the host: CPU time by kind of call. It needs no GPU.

  taskset -c 1 measure_host.py --table mine.csv

Prints `host.speed` of a scenario for this machine: how fast it is over the one behind stepsim's
costs (../measured/host.csv). What an operator takes with its launch comes on top, by `host.launch`,
which is measured and printed where there is a GPU.

Exit codes: 0 measured; 2 wrong options or table; 3 PyTorch is missing; 4 a file cannot be read or
written.
"""

import argparse
import csv
import datetime
import math
import os
import platform
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

OK, BAD_INPUT, NO_TORCH, IO = 0, 2, 3, 4
REFERENCE = HERE.parent / "measured" / "host.csv"
COLUMNS = ["call", "forward_us", "no_graph_us", "backward_us", "spread_us"]


class WrongTable(Exception):
    """The table has not what is asked of it; the text says what."""


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is below 1")
    return number


def parser():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--table", help="is written; default: only printed")
    p.add_argument("--rounds", type=positive, default=9,
                   help="all is measured so many times; their medians count")
    p.add_argument("--programs", type=positive, default=400, help="random programs of a round")
    p.add_argument("--repetitions", type=positive, default=21, help="of each program")
    p.add_argument("--reference", default=str(REFERENCE), help="a table to be compared with")
    return p


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def layer_rows(costs, repetitions):
    """Of each whole layer: what it takes, and what its parts add up to."""
    import torch

    from costs import layer_time
    from counts import count
    from layers import FUNCTIONS, LAYERS
    from mixture import layer_times
    from parts import clear_gradients

    rows = {}
    for name, (make, shape, written) in LAYERS.items():
        layer = make()
        whole = layer_times(layer, shape, repetitions)
        counts = count(layer, torch.randn(*shape, requires_grad=True), FUNCTIONS, written)
        clear_gradients()
        rows[name] = [whole[0], 0.0, whole[1]]
        parts = layer_time(costs, counts)
        rows["parts of " + name] = [parts[0], 0.0, parts[1]]
    return rows


def one_round(options, seed):
    """Microseconds by call and pass."""
    from costs import costs_of
    from mixture import measure
    from others import collective, linear_alone, optimizer_tensor
    from parts import all_parts

    parts = all_parts()
    costs = costs_of(parts, measure(parts, options.programs, options.repetitions, seed))
    issue = collective(options.repetitions)
    costs["collective"] = [issue, issue, issue]
    costs["optimizer tensor"] = [0.0, optimizer_tensor(options.repetitions), 0.0]
    costs["linear module alone"] = [linear_alone(options.repetitions), 0.0, 0.0]
    return costs | layer_rows(costs, options.repetitions)


def measured(options):
    """Rows of the table."""
    rounds = [one_round(options, seed) for seed in range(1, options.rounds + 1)]
    rows = []
    for call in rounds[0]:
        columns = list(zip(*(of[call] for of in rounds)))
        spread = max((max(column) - min(column)) / 2 for column in columns)
        rows.append([call] + [f"{median(column):.3f}" for column in columns] + [f"{spread:.3f}"])
    return rows


def head():
    import torch

    day = datetime.date.today().isoformat()
    return [f"# cpu={cpu_name()}",
            f"# python={platform.python_version()}, torch={torch.__version__}, date={day}",
            "# Microseconds of the CPU by calib/host/measure_host.py; spread: half of what rounds "
            "differ by, at most"]


def write_table(path, lines, rows):
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    os.replace(temporary, path)


def read_table(path):
    """Microseconds by call."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        if reader.fieldnames != COLUMNS:
            raise WrongTable(f"{path}: columns are {reader.fieldnames}, not {COLUMNS}")
        return {row["call"]: [float(row[column]) for column in COLUMNS[1:4]] for row in reader}


def speed(rows, reference):
    """Over the reference, by the whole layers: what a step has most of."""
    ratios = []
    for row in rows:
        known = reference.get(row[0])
        if row[0].endswith("layer") and not row[0].startswith("parts") and known:
            ratios.append((known[0] + known[2]) / (float(row[1]) + float(row[3])))
    if not ratios:
        raise WrongTable("the reference has none of the layers")
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def main(arguments):
    def fail(code, error):
        print(f"measure_host.py: {error}", file=sys.stderr)
        return code

    options = parser().parse_args(arguments)
    try:
        import torch
    except ImportError as error:
        return fail(NO_TORCH, f"PyTorch is not installed, or cannot be loaded: {error}")
    torch.set_num_threads(1)
    try:
        reference = read_table(options.reference) if Path(options.reference).exists() else None
        rows = measured(options)
        for row in [COLUMNS, *rows]:
            print("  ".join(text.rjust(11) if i else text.ljust(28) for i, text in enumerate(row)))
        if options.table:
            write_table(options.table, head(), rows)
        if reference:
            print(f"host.speed: {speed(rows, reference):.2f}")
        if torch.cuda.is_available():
            from beside_gpu import launch

            costs = {row[0]: [float(number) for number in row[1:4]] for row in rows}
            print(f"host.launch: {launch(costs, options.repetitions):.1f} us")
    except WrongTable as error:
        return fail(BAD_INPUT, error)
    except OSError as error:
        return fail(IO, error)
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
