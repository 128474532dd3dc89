#!/usr/bin/env python3
"""Measures how much longer eager PyTorch's host takes while its profiler records. No GPU is needed.

  taskset -c 1 measure_recorders.py --table mine.csv

Forward and backward passes of 24 transformer layers on tensors of a few numbers, so that operators
alone take time, with and without a recording of them. A row is what the profiler records besides
operators, and how many times as long a step takes then.

Exit codes: 0 measured; 2 wrong options; 3 PyTorch is missing; 4 a file cannot be written.
"""

import argparse
import itertools
import statistics
import sys
import time

OK, BAD_INPUT, NO_TORCH, IO = 0, 2, 3, 4
WIDTH, LAYERS = 4, 24
RECORDERS = ["record_shapes", "profile_memory", "with_stack"]


def layers(torch):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH) for _ in range(2))
            self.linears = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(6))

        def forward(self, x):
            query, key, value, out, up, down = self.linears
            y = self.norms[0](x)
            scores = torch.softmax(query(y) @ key(y).transpose(-1, -2) * 0.5, -1)
            x = x + out(scores @ value(y))
            return x + down(torch.nn.functional.gelu(up(self.norms[1](x))))

    return torch.nn.Sequential(*(Layer() for _ in range(LAYERS)))


def measure(torch, rounds, steps):
    """Times as long, by the recorders that are on: medians over rounds."""
    torch.set_num_threads(1)
    model, x = layers(torch), torch.randn(1, WIDTH, WIDTH)

    def step_time():
        times = []
        for _ in range(steps):
            begin = time.process_time()
            model.zero_grad(set_to_none=True)
            model(x).sum().backward()
            times.append(time.process_time() - begin)
        return statistics.median(times)

    choices = list(itertools.product([False, True], repeat=len(RECORDERS)))
    ratios = {choice: [] for choice in choices}
    step_time()
    for _ in range(rounds):
        for choice in choices:
            alone = step_time()
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], **dict(zip(RECORDERS, choice))
            ):
                recorded = step_time()
            ratios[choice].append(recorded / min(alone, step_time()))
    return {choice: statistics.median(found) for choice, found in ratios.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="times that all is measured")
    parser.add_argument("--steps", type=int, default=5, help="steps in a recording")
    parser.add_argument("--table", help="file to write; default: standard output")
    options = parser.parse_args()
    if min(options.rounds, options.steps) < 1:
        parser.error("--rounds and --steps are at least 1")
    try:
        import torch
    except ImportError:
        print("measure_recorders.py: PyTorch is missing: pip install torch", file=sys.stderr)
        return NO_TORCH
    rows = [",".join(RECORDERS) + ",times_as_long"]
    for choice, ratio in measure(torch, options.rounds, options.steps).items():
        rows.append(",".join("yes" if on else "no" for on in choice) + f",{ratio:.2f}")
    text = "\n".join(rows) + "\n"
    if not options.table:
        sys.stdout.write(text)
        return OK
    try:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"measure_recorders.py: {options.table}: {error.strerror}", file=sys.stderr)
        return IO
    return OK


if __name__ == "__main__":
    sys.exit(main())
