"""What an operator takes of the host with its launch, among the calls of a layer beside a GPU.

Layers too small to keep a GPU busy, forward and backward, less what their other calls take of this
CPU, over their operators. What the layers' parts leave of Python between them is in it. Tensors
that are made without a kernel count as operators, since they take the host alike.
"""

import statistics
import time

import torch

from costs import layer_time
from counts import count
from layers import FUNCTIONS, LAYERS
from mixture import CHAIN
from parts import clear_gradients

WITH_KERNELS = ("elementwise", "norm", "product")


def moved(layer, device):
    layer.to(device)
    for module in layer.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor):
                setattr(module, name, value.to(device))
    return layer


def whole(layers, shape, repetitions, device):
    """Microseconds of one layer forward and backward, by the wall, to the end of the GPU's work."""
    x = torch.randn(*shape, device=device, requires_grad=True)
    times = []
    for _ in range(repetitions + 5):
        torch.cuda.synchronize(device)
        begin = time.perf_counter_ns()
        y = x
        for layer in layers:
            y = layer(y)
        y.sum().backward()
        torch.cuda.synchronize(device)
        times.append((time.perf_counter_ns() - begin) / 1e3 / len(layers))
        x.grad = None
        for layer in layers:
            layer.zero_grad(set_to_none=True)
    return statistics.median(times[5:])


def operators_of(counts):
    return sum(number for way in ("forward", "backward")
               for (kind, _), number in counts[way].items() if kind in WITH_KERNELS)


def launch(costs, repetitions, device="cuda"):
    """Microseconds of an operator; `costs`: of this CPU's calls, by kind."""
    of_calls = costs | {kind: [0.0, 0.0, 0.0] for kind in WITH_KERNELS}
    taken = operators = 0
    for make, shape, written in LAYERS.values():
        counts = count(make(), torch.randn(*shape, requires_grad=True), FUNCTIONS, written)
        clear_gradients()
        layers = [moved(make(), device) for _ in range(CHAIN)]
        taken += whole(layers, shape, repetitions, device) - sum(layer_time(of_calls, counts))
        operators += operators_of(counts)
    return taken / operators
