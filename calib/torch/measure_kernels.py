#!/usr/bin/env python3
"""Measures kernels of PyTorch on a GPU under load: what stepsim-measure-cuda does not.

  measure_kernels.py --only attention,convolution --folder mine
  stepsim calibrate fit mine/attention.csv mine/convolution.csv -o my-gpu.yaml

Attention and convolutions are points that `stepsim calibrate fit` reads. Products, those of
experts, and kernels that move bytes are tables beside them. Calls follow each other without a
pause, so that the clock is that of a training; operands are normal random numbers.

Exit codes: 0 measured; 2 wrong options; 3 PyTorch or a GPU is missing; 4 a file cannot be written.
"""

import argparse
import csv
import os
import statistics
import sys

import points

OK, BAD_INPUT, NO_DEVICE, IO = 0, 2, 3, 4

SHORTER = 10  # how many times less long the families of points.SHORT are timed


class NoDevice(Exception):
    """PyTorch or a GPU is missing; the text says which."""


def parser():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default=",".join(points.FAMILIES),
                   help=f"of {', '.join(points.FAMILIES)}; default: all")
    p.add_argument("--folder", default=".", help="where a table of each family is written")
    p.add_argument("--seconds", type=above_zero, default=0.2,
                   help="each point is timed for as long, after half of it that warms up; a tenth of "
                        "it for convolutions, which a profile has at the highest clock")
    p.add_argument("--list", action="store_true", help="print the points; needs no PyTorch")
    return p


def above_zero(text):
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0")
    return number


def families_of(options):
    names = list(dict.fromkeys(options.only.split(",")))
    unknown = [name for name in names if name not in points.FAMILIES]
    if unknown:
        raise ValueError(f"--only: no family '{unknown[0]}', there are {', '.join(points.FAMILIES)}")
    return names


def make_folder(folder):
    """Where tables are written; now, rather than after a measurement."""
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder}: nothing can be written there")


def import_torch():
    try:
        import torch
    except ImportError as error:
        raise NoDevice(f"PyTorch is not installed, or cannot be loaded: {error}") from error
    if not torch.cuda.is_available():
        raise NoDevice("PyTorch finds no GPU: torch.cuda.is_available() is False")
    try:
        import kernels  # noqa: F401
    except (ImportError, AttributeError) as error:
        raise NoDevice(f"PyTorch {torch.__version__} is too old: {error}") from error
    return torch


def microseconds_of(torch, run, seconds):
    """The median of eight samples, each as many calls as take an eighth of the time."""
    def events(count):
        return [torch.cuda.Event(enable_timing=True) for _ in range(count)]

    run()
    begin, end = events(2)
    begin.record()
    for _ in range(3):
        run()
    end.record()
    torch.cuda.synchronize()
    once = max(begin.elapsed_time(end) / 3e3, 1e-6)
    for _ in range(max(1, int(seconds / 2 / once))):
        run()
    calls = max(1, int(seconds / 8 / once))
    marks = events(9)
    marks[0].record()
    for mark in marks[1:]:
        for _ in range(calls):
            run()
        mark.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) * 1e3 / calls for a, b in zip(marks, marks[1:]))


def in_graph(torch, run):
    """The call as a CUDA graph, so that many small kernels do not wait for the host."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def head_of(torch, family):
    properties = torch.cuda.get_device_properties(0)
    lines = [f"# device.name={properties.name}", f"# device.sms={properties.multi_processor_count}",
             f"# software.torch={torch.__version__}", f"# software.cuda_runtime={torch.version.cuda}"]
    if family in points.SCHEMA:
        lines = ["# schema=stepsim.measurements/1", *lines, f"# kind={family}"]
    return lines


def measure(torch, family, options):
    """Rows of a family's table. A point that this PyTorch or GPU cannot run is left out, and named."""
    import kernels

    rows = []
    seconds = options.seconds / SHORTER if family in points.SHORT else options.seconds
    for point in points.of(family):
        try:
            run, graph = getattr(kernels, family)(point)
            run = in_graph(torch, run) if graph else run
            rows.append([*point.values(), f"{microseconds_of(torch, run, seconds):.6g}"])
        except (RuntimeError, NotImplementedError, AttributeError, TypeError, ValueError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            print(f"left out: {family} {point}: {why}", file=sys.stderr)
        torch.cuda.empty_cache()
    return rows


def write_table(path, lines, columns, rows):
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    os.replace(temporary, path)


def main(arguments):
    def fail(code, error):
        print(f"measure_kernels.py: {error}", file=sys.stderr)
        return code

    options = parser().parse_args(arguments)
    try:
        names = families_of(options)
        if options.list:
            for family in names:
                for point in points.of(family):
                    print(family, *(f"{key}={value}" for key, value in point.items()))
            return OK
        make_folder(options.folder)
        torch = import_torch()
        torch.manual_seed(1)
        torch.backends.cudnn.benchmark = True
        for family in names:
            path = os.path.join(options.folder, family + ".csv")
            rows = measure(torch, family, options)
            write_table(path, head_of(torch, family), [*points.columns(family), "time_us"], rows)
            print(f"{path}: {len(rows)} points")
    except ValueError as error:
        return fail(BAD_INPUT, error)
    except NoDevice as error:
        return fail(NO_DEVICE, error)
    except OSError as error:
        return fail(IO, error)
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
