#!/usr/bin/python3
"""What one weight more costs Python in the function of a grouped linear layer.

The layer keeps rows of each expert apart, refers to weights weakly, hands each weight's gradient
buffer back to it, and returns an empty gradient for each, as Transformer Engine's does
(NVIDIA/TransformerEngine@d0067d0 transformer_engine/pytorch/module/grouped_linear.py). Products are
left out. Prints microseconds a weight, forward and backward, the latter less what accumulating a
gradient takes (measured/host.csv, parameter). Run it on a core of its own: taskset -c 1.
"""

import statistics
import time
import weakref

import torch

FEW, MANY = 1, 32  # weights
ROUNDS, WARM = 300, 30
PARAMETER = 1.732  # us
NOTHING = torch.Tensor()
SPARE = {}  # empty gradients by shape


class Grouped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, rows, *weights_and_biases):
        weights = weights_and_biases[:len(rows)]
        parts = torch.split(x, rows)
        operands = [w if w.dtype == x.dtype else w.to(x.dtype) for w in weights]
        ctx.save_for_backward(*parts, *operands)
        ctx.rows = rows
        ctx.weights = [weakref.ref(w) for w in weights]
        ctx.buffers = [lambda i=i: weights[i].main_grad for i in range(len(rows))]
        return torch.empty(x.shape[0], weights[0].shape[0])

    @staticmethod
    def backward(ctx, gradient):
        count = len(ctx.rows)
        parts = ctx.saved_tensors[:count]
        weights = [weight() for weight in ctx.weights]
        for weight, buffer in zip(weights, ctx.buffers):
            weight.main_grad = buffer()
        torch.split(gradient, ctx.rows)
        result = torch.empty(gradient.shape[0], weights[0].shape[1])
        for part in parts:
            part.data = NOTHING
        spare = []
        for weight in weights:
            weight.grad_added_to_main_grad = True
            key = (tuple(weight.shape), weight.dtype)
            if key not in SPARE:
                SPARE[key] = torch.empty(weight.shape, dtype=weight.dtype)
            spare.append(SPARE[key].detach())
        return (result, None, *spare, *([None] * count))


def microseconds(count):
    """Forward and backward of a layer of so many weights, in the median of its rounds."""
    weights = [torch.nn.Parameter(torch.ones(4, 4)) for _ in range(count)]
    for weight in weights:
        weight.main_grad = torch.zeros(4, 4)
    biases = [torch.Tensor()] * count
    x = torch.ones(count, 4, requires_grad=True)
    others = [torch.ones(3) for _ in range(40)]  # calls in between, as in a layer
    times = []
    for _ in range(WARM + ROUNDS):
        for weight in weights:
            weight.grad = None
        for other in others:
            other.add_(1).view(1, 3)
        begin = time.perf_counter()
        y = Grouped.apply(x, [1] * count, *weights, *biases)
        forward = time.perf_counter()
        gradient = torch.ones_like(y)
        middle = time.perf_counter()
        torch.autograd.backward(y, gradient)
        times.append((forward - begin, time.perf_counter() - middle))
    return [statistics.median(pass_[WARM:]) * 1e6 for pass_ in map(list, zip(*times))]


def main():
    torch.set_num_threads(1)
    few, many = microseconds(FEW), microseconds(MANY)
    forward, backward = ((b - a) / (MANY - FEW) for a, b in zip(few, many))
    print(f"forward {forward:.1f} us, backward {backward - PARAMETER:.1f} us a weight")


if __name__ == "__main__":
    main()
