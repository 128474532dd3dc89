#!/usr/bin/env python3
"""Fits the lines of calib/links/ to tables of nccl-tests, and says how far off they are.

  calib/fit_collectives.py --stepsim build/stepsim --gpu h100 --link nvlink4 TABLE.csv...

A table has the columns collective, gpus, dtype, size_bytes and time_us; rows of half precision
count. For each kind of collective and number of GPUs the sizes fall into regimes, one for each
algorithm and protocol that NCCL chooses there (`stepsim show collective` says which). Each regime
gets the line latency + size / bandwidth with the least squared relative error, or two where that
takes a third of the error away and larger messages have the larger bandwidth (of two lines the
lesser time holds). No line is faster than the link. A regime of a single size is NCCL's own
formula, times what was measured over what it expects.

Sizes of 4 KiB and more that are even powers of two are fitted; odd ones from 64 KiB on are held
out, and their errors are printed on standard error.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

OPS = {"all_reduce": "all_reduce", "all_gather": "all_gather",
       "reduce_scatter": "reduce_scatter", "alltoall": "all_to_all"}
LEAST_FITTED, LEAST_SCORED = 4 << 10, 64 << 10
MOST_LEFT = 0.6  # of the error, for a second line to be worth it


def bus_factor(op, gpus):
    return (2 if op == "all_reduce" else 1) * (gpus - 1) / gpus


def busiest(op, gpus, algorithm):
    """Bytes on a GPU's link over the message's."""
    if algorithm == "nvls":
        return 1 + 1 / gpus if op == "all_reduce" else 1
    return bus_factor(op, gpus)


def line(points, floor):
    """Latency and time a byte; `floor`: the least time a byte."""
    weights = [1 / time ** 2 for _, time in points]
    w = sum(weights)
    ws = sum(a * s for a, (s, _) in zip(weights, points))
    wss = sum(a * s * s for a, (s, _) in zip(weights, points))
    wt = sum(a * t for a, (_, t) in zip(weights, points))
    wst = sum(a * s * t for a, (s, t) in zip(weights, points))
    determinant = w * wss - ws * ws
    slope = (w * wst - ws * wt) / determinant if determinant > 1e-9 * w * wss else floor
    slope = max(slope, floor)
    return (wt - slope * ws) / w, slope


def time_on(lines, size):
    return min(latency + slope * size for latency, slope in lines)


def error(lines, points):
    return math.sqrt(sum((time_on(lines, s) / t - 1) ** 2 for s, t in points) / len(points))


def fit(points, floor, expected):
    sizes = sorted({size for size, _ in points})
    if len(sizes) == 1:
        latency, bandwidth = expected
        ratio = statistics.mean(t for _, t in points) / (latency + sizes[0] / bandwidth)
        return [(latency * ratio, max(ratio / bandwidth, floor))]
    one = [line(points, floor)]
    best, least = one, MOST_LEFT * error(one, points)
    for cut in sizes[2:-1]:
        low = line([p for p in points if p[0] < cut], floor)
        high = line([p for p in points if p[0] >= cut], floor)
        concave = high[1] < low[1] and high[0] > low[0] > 0
        if concave and error([low, high], points) < least:
            best, least = [low, high], error([low, high], points)
    return best


class Regimes:
    """What NCCL chooses, as stepsim has it."""

    def __init__(self, stepsim, gpu, link):
        self.stepsim, self.gpu, self.link = stepsim, gpu, link
        self.folder = tempfile.TemporaryDirectory()

    def scenario(self, gpus):
        path = pathlib.Path(self.folder.name) / f"{gpus}.yaml"
        path.write_text(
            f"model: {{name: m, kind: mlp, layers: 1, width: 8}}\n"
            f"cluster: {{gpu: {self.gpu}, gpus_per_node: {gpus}, intra_node: {self.link}}}\n"
            f"training: {{global_batch: {gpus}}}\n")
        return path

    def of(self, op, gpus, size):
        """Algorithm, protocol, and NCCL's latency in us and bandwidth in bytes a us, if it has."""
        text = subprocess.run(
            [self.stepsim, "show", "collective", str(self.scenario(gpus)), "--op", op, "--bytes",
             f"{size} B", "--format", "json"], check=True, capture_output=True, text=True).stdout
        chosen = next(c for c in json.loads(text)["candidates"] if c.get("chosen"))
        expected = (chosen.get("latency_s", 0) * 1e6, chosen.get("bandwidth_bytes_per_s", 1) / 1e6)
        return chosen["algorithm"], chosen["protocol"].lower(), expected


def link_rate(link):
    """Bytes a us."""
    root = pathlib.Path(__file__).parent
    text = (root / "links" / f"{link}.yaml").read_text()
    bandwidth = re.search(r"^bandwidth: \{value: ([\d.]+) GB/s", text, re.M).group(1)
    efficiency = re.search(r"^efficiency: \{value: ([\d.]+)", text, re.M).group(1)
    return float(bandwidth) * float(efficiency) * 1e3


def read(tables):
    rows = {}
    for table in tables:
        with open(table, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["dtype"] != "half" or row["collective"] not in OPS:
                    continue
                key = (OPS[row["collective"]], int(row["gpus"]))
                rows.setdefault(key, []).append((int(row["size_bytes"]), float(row["time_us"])))
    return rows


def summary(title, errors):
    errors = sorted(errors)
    print(f"{title}: {len(errors)} held out, median {statistics.median(errors):.1%}, mean "
          f"{statistics.mean(errors):.1%}, 90th percentile {errors[int(0.9 * len(errors))]:.1%}, "
          f"largest {errors[-1]:.1%}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stepsim", default="build/stepsim")
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--link", required=True)
    parser.add_argument("tables", nargs="+")
    options = parser.parse_args()
    regimes = Regimes(options.stepsim, options.gpu, options.link)
    rate, rows, all_errors = link_rate(options.link), read(options.tables), []
    for op in OPS.values():
        print(f"{op}:")
        errors = []
        for gpus in sorted(g for o, g in rows if o == op):
            fitted, held_out, expected = {}, [], {}
            for size, time in rows[op, gpus]:
                even = size.bit_length() % 2 == 1
                if size < LEAST_FITTED or (not even and size < LEAST_SCORED):
                    continue
                algorithm, protocol, nccl = regimes.of(op, gpus, size)
                regime = (algorithm, protocol)
                if even:
                    fitted.setdefault(regime, []).append((size, time))
                    expected[regime] = nccl
                else:
                    held_out.append((regime, size, time))
            lines = {}
            for regime, points in fitted.items():
                floor = busiest(op, gpus, regime[0]) / rate
                lines[regime] = fit(points, floor, expected[regime])
                for latency, slope in lines[regime]:
                    print(f"  - {{ranks: {gpus}, algorithm: {regime[0]}, protocol: {regime[1]}, "
                          f"latency: {latency:.1f} us, bandwidth: {1e-3 / slope:.1f} GB/s, "
                          f"source: nccl-tests}}")
            errors += [abs(time_on(lines[regime], size) / time - 1)
                       for regime, size, time in held_out if regime in lines]
        summary(op, errors)
        all_errors += errors
    summary("all", all_errors)


if __name__ == "__main__":
    main()
