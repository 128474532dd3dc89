"""What each part takes among others.

A loop over one call has it in the caches and its branches foretold, which a training step has not.
So programs of a few dozen calls, of some parts each, are timed whole, forward with a graph, without
one, and backward; and the times of the parts are those whose sums come closest (least squares).
"""

import random
import statistics
import time

import torch

from parts import SIDE, clear_gradients

CALLS, CHOSEN = 40, 12  # calls of a program, and parts that it has
CHAIN = 8  # layers in a row


def timed(program):
    """Microseconds of a program's three passes."""
    x = torch.ones(SIDE, SIDE, requires_grad=True)
    gradient = torch.ones(SIDE, SIDE)
    begin = time.thread_time_ns()
    y = x
    for call in program:
        y = call(y)
    forward = time.thread_time_ns()
    y.backward(gradient)
    backward = time.thread_time_ns()
    with torch.no_grad():
        y = x
        for call in program:
            y = call(y)
    end = time.thread_time_ns()
    clear_gradients()
    return [(forward - begin) / 1e3, (end - backward) / 1e3, (backward - forward) / 1e3]


def median_of(program, repetitions):
    """Of repetitions behind a few that warm up."""
    rows = [timed(program) for _ in range(repetitions + 3)][3:]
    return [statistics.median(column) for column in zip(*rows)]


def random_program(rng, parts):
    chosen = rng.sample(range(len(parts)), CHOSEN)
    numbers = [rng.choice(chosen) for _ in range(CALLS)]
    counts = [float(numbers.count(i)) for i in range(len(parts))]
    return counts, [parts[i].call for i in numbers]


def fitted(counts, times):
    """Least squares, the last place being what a pass takes besides its calls."""
    ones = torch.ones(len(counts), 1, dtype=torch.float64)
    a = torch.cat([torch.tensor(counts, dtype=torch.float64), ones], 1)
    b = torch.tensor(times, dtype=torch.float64)
    return torch.linalg.lstsq(a, b).solution[:-1].tolist()


def measure(parts, programs, repetitions, seed=1):
    """Microseconds of each part by pass."""
    rng = random.Random(seed)
    counts, times = [], []
    for _ in range(programs):
        of_each, program = random_program(rng, parts)
        counts.append(of_each)
        times.append(median_of(program, repetitions))
    return fitted(counts, times)


def layer_times(layer, shape, repetitions):
    """Microseconds of a layer forward and backward, in a chain of some."""
    rows = []
    for _ in range(2 * repetitions + 5):
        x = torch.randn(*shape, requires_grad=True)
        begin = time.thread_time_ns()
        y = x
        for _ in range(CHAIN):
            y = layer(y)
        gradient = torch.ones_like(y)
        forward = time.thread_time_ns()
        y.backward(gradient)
        backward = time.thread_time_ns()
        clear_gradients()
        rows.append([(forward - begin) / 1e3 / CHAIN, (backward - forward) / 1e3 / CHAIN])
    return [statistics.median(column) for column in zip(*rows[5:])]
