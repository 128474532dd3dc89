"""What is measured alone: a collective, an optimizer's care for a tensor, a linear layer."""

import os
import statistics
import tempfile
import time

import torch

from parts import SIDE, weight

CALLS = 100


def median_of(run, repetitions):
    return statistics.median(run() for _ in range(repetitions + 3))


def collective(repetitions):
    """Of the thread that asks c10d for an all-reduce, to which gloo stands for NCCL: Python, the
    group's bookkeeping and the work object; no kernel and no message."""
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group(
            "gloo", init_method="file://" + os.path.join(folder, "store"), rank=0, world_size=1)
        x = torch.ones(SIDE, SIDE)

        def run():
            begin = time.thread_time_ns()
            works = [torch.distributed.all_reduce(x, async_op=True) for _ in range(CALLS)]
            end = time.thread_time_ns()
            for work in works:
                work.wait()
            return (end - begin) / 1e3 / CALLS

        try:
            return median_of(run, repetitions)
        finally:
            torch.distributed.destroy_process_group()


def linear_alone(repetitions):
    """A linear layer's module called in a loop, as benchmarks of one module do."""
    module = torch.nn.Linear(SIDE, SIDE)
    x = torch.ones(SIDE, SIDE)

    def run():
        begin = time.thread_time_ns()
        for _ in range(CALLS):
            module(x)
        return (time.thread_time_ns() - begin) / 1e3 / CALLS

    return median_of(run, repetitions)


def gathered(groups, state):
    """The lists that an optimizer makes of its tensors before its kernels, as that of
    torch/optim/adam.py does."""
    parameters, gradients, first, second, steps = [], [], [], [], []
    for group in groups:
        for p in group["params"]:
            if p.grad is None:
                continue
            parameters.append(p)
            if p.grad.is_sparse:
                raise ValueError("not here")
            gradients.append(p.grad)
            of = state[p]
            first.append(of["exp_avg"])
            second.append(of["exp_avg_sq"])
            steps.append(of["step"])
    return parameters, gradients, first, second, steps


def optimizer_tensor(repetitions):
    own = [weight(SIDE, SIDE) for _ in range(CALLS)]
    for p in own:
        p.grad = torch.ones(SIDE, SIDE)
    state = {p: {"exp_avg": p.grad, "exp_avg_sq": p.grad, "step": 1} for p in own}

    def run():
        begin = time.thread_time_ns()
        gathered([{"params": own}], state)
        for p in own:  # zero_grad(set_to_none=True)
            if p.grad is not None:
                kept, p.grad = p.grad, None
                p.grad = kept
        return (time.thread_time_ns() - begin) / 1e3 / CALLS

    return median_of(run, repetitions)
