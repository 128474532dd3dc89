"""What a layer calls, counted while it runs: operators by kind, nodes of its graph, modules.

Operators within Python functions of autograd are called from Python and make no nodes.
"""

import contextlib
from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode

VIEWS = {"view", "_unsafe_view", "_reshape_alias", "t", "transpose", "permute", "expand", "split",
         "unsqueeze", "lift_fresh"}
PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "convolution", "convolution_backward"}
NORMS = {"native_layer_norm", "native_layer_norm_backward", "_softmax", "_softmax_backward_data",
         "native_batch_norm", "native_batch_norm_backward"}


def kind_of(operator):
    name = str(operator).split(".")[1]
    if name.startswith("empty") or name == "new_empty":
        return "empty"
    if name in VIEWS:
        return "view"
    if name in PRODUCTS:
        return "product"
    return "norm" if name in NORMS else "elementwise"


class Watch(TorchDispatchMode):
    """Counts operators by kind and by what `of` says of the moment."""

    def __init__(self, of):
        super().__init__()
        self.of = of
        self.counts = Counter()

    def __torch_dispatch__(self, operator, types, arguments=(), named=None):
        # A check of the first gradient alone; and what accumulating a gradient takes is a part.
        if str(operator).split(".")[1] not in ("is_same_size", "detach"):
            self.counts[kind_of(operator), self.of()] += 1
        return operator(*arguments, **(named or {}))


def nodes_of(output):
    """Names of a graph's nodes."""
    names, seen, open_nodes = Counter(), set(), [output.grad_fn]
    while open_nodes:
        node = open_nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names[node.name()] += 1
        open_nodes.extend(following for following, _ in node.next_functions)
    return names


@contextlib.contextmanager
def noting(functions, inside):
    """`inside` is not empty while the backward pass of one of these functions runs."""
    kept = {function: function.backward for function in functions}

    def noted(backward):
        def run(*arguments):
            inside.append(1)
            try:
                return backward(*arguments)
            finally:
                inside.pop()
        return staticmethod(run)

    for function, backward in kept.items():
        function.backward = noted(backward)
    try:
        yield
    finally:
        for function, backward in kept.items():
            function.backward = staticmethod(backward)


def count(layer, x, functions, written):
    """Calls of a pass forward and backward. `functions`: Python functions of autograd that it may
    call; `written`: what cannot be seen from outside: scripted functions, forks."""
    modules, inside = [], []
    hooks = [m.register_forward_pre_hook(lambda *_: modules.append(1)) for m in layer.modules()]
    with Watch(torch.is_grad_enabled) as forward:
        output = layer(x)
    for hook in hooks:
        hook.remove()
    nodes = nodes_of(output)
    called = sum(nodes[function.__name__ + "Backward"] for function in functions)
    accumulated = nodes["torch::autograd::AccumulateGrad"] - 1  # one node is that of x itself
    gradient = torch.ones_like(output)
    with noting(functions, inside), Watch(lambda: bool(inside)) as backward:
        output.backward(gradient)
    counts = dict.fromkeys(("scripted", "fork"), 0) | written
    return counts | {
        "forward": forward.counts,
        "backward": backward.counts,
        "module": len(modules),
        "function": called,
        "parameter": accumulated,
        "node": sum(nodes.values()) - called - accumulated,
    }
