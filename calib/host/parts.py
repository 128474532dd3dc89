"""What frameworks ask of the host: each part is a call that maps a tensor of 2 x 2 to another one.

The tensors are so small that kernels of the CPU take next to nothing. Parts of a kind share a cost
(costs.py says how).
"""

import contextlib
from typing import Callable, NamedTuple

import torch
import torch.nn.functional as F

SIDE = 2
# Sets of weights that a part takes turns with, so that gradients meet no earlier one in a pass.
WEIGHTS = 64


class Part(NamedTuple):
    name: str
    kind: str
    call: Callable


def tensor(*shape):
    return torch.randn(*shape)


def weight(*shape):
    return torch.nn.Parameter(tensor(*shape))


class Module(torch.nn.Module):
    """Reads its parameters as layers do, and computes nothing."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = weight(SIDE), weight(SIDE)
        self.width = SIDE

    def forward(self, x):
        if self.weight is None or self.bias is None or self.width < 1:
            raise ValueError("no weights")
        return x


class Through(torch.autograd.Function):
    """Hands on what it gets, as Megatron-LM's copy_to_tensor_model_parallel_region."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Keeping(torch.autograd.Function):
    """Keeps tensors and settings as a layer's function does, and computes nothing."""

    @staticmethod
    def forward(ctx, x, w, bias, flag):
        ctx.save_for_backward(x, w)
        ctx.use_bias = bias is not None
        ctx.flag = flag
        return x

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        if ctx.use_bias or ctx.flag or x is w:
            raise ValueError("not here")
        return gradient, None, None, None


# The executor that Megatron-LM's set_jit_fusion_options asks for: it compiles once.
torch._C._jit_set_profiling_executor(False)


@torch.jit.script
def scripted(x, y):
    return x * y


class Tracker:
    """Random states by name, one of which is in force within fork(), as in NVIDIA/Megatron-LM
    megatron/core/tensor_parallel/random.py. The CPU's state stands for the GPU's."""

    def __init__(self):
        self.states = {"model-parallel-rng": torch.get_rng_state()}

    def get_states(self):
        return {name: state for name, state in self.states.items()}

    @contextlib.contextmanager
    def fork(self, name="model-parallel-rng"):
        if name not in self.states:
            raise KeyError(name)
        before = torch.get_rng_state()
        torch.set_rng_state(self.states[name])
        try:
            yield
        finally:
            self.states[name] = torch.get_rng_state()
            torch.set_rng_state(before)


TRACKER = Tracker()


def forked(x):
    with TRACKER.fork():
        return x


class Checkpoint(torch.autograd.Function):
    """As CheckpointFunction of the same file: CPU, GPU and tracked states, there and back."""

    @staticmethod
    def forward(ctx, run, x):
        ctx.run = run
        ctx.states = torch.get_rng_state(), torch.get_rng_state(), TRACKER.get_states()
        with torch.no_grad():
            output = run(x)
        ctx.save_for_backward(x)
        return output

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        now = torch.get_rng_state(), torch.get_rng_state(), TRACKER.get_states()
        Checkpoint.put_back(ctx.states)
        detached = x.detach()
        detached.requires_grad = x.requires_grad
        with torch.enable_grad():
            output = ctx.run(detached)
        Checkpoint.put_back(now)
        torch.autograd.backward((output,), (gradient,))
        return None, detached.grad

    @staticmethod
    def put_back(states):
        torch.set_rng_state(states[0])
        torch.set_rng_state(states[1])
        TRACKER.states = states[2]


def nothing(x):
    return x.view_as(x)


PARAMETERS = []


def parameter(*shape):
    """A weight whose gradient is cleared after each pass."""
    w = weight(*shape)
    PARAMETERS.append(w)
    return w


def plain(unused):
    return None


def taking_turns(multiplied):
    """x times one of many parameters, each of which a pass meets once at most."""
    own = [parameter(SIDE, SIDE) for _ in range(WEIGHTS)]
    kept = [multiplied(w) for w in own]
    turn = [0]

    def call(x):
        turn[0] = (turn[0] + 1) % WEIGHTS
        return x * own[turn[0]]

    call.kept = kept
    return call


def hooked(w):
    """The hook on a gradient's accumulation that Megatron-LM's DDP has
    (megatron/core/distributed/distributed_data_parallel.py, _make_param_hook)."""
    accumulator = w.expand_as(w).grad_fn.next_functions[0][0]
    w.main_grad = torch.zeros(SIDE, SIDE)

    def hook(*unused):
        if w.grad is not None:
            w.main_grad.add_(w.grad)
            w.grad = None

    accumulator.register_hook(hook)
    return accumulator


def clear_gradients():
    for parameter in PARAMETERS:
        parameter.grad = None


def all_parts():
    y, w = tensor(SIDE, SIDE), tensor(SIDE, SIDE)
    scale, shift = tensor(SIDE), tensor(SIDE)
    return [
        Part("add", "node", lambda x: x + y),
        Part("multiply", "elementwise", lambda x: x * y),
        Part("tanh", "elementwise", torch.tanh),
        Part("layer norm", "norm", lambda x: F.layer_norm(x, (SIDE,), scale, shift)),
        Part("softmax", "norm", lambda x: F.softmax(x, -1)),
        Part("matmul", "product", lambda x: torch.mm(x, w)),
        Part("view", "view", lambda x: x.view(SIDE, SIDE)),
        Part("transpose", "view", lambda x: x.transpose(0, 1)),
        Part("expand", "view", lambda x: x.expand_as(y)),
        Part("module", "module", Module()),
        Part("function", "function", Through.apply),
        Part("function that keeps", "function", lambda x: Keeping.apply(x, y, None, False)),
        Part("scripted multiply", "scripted", lambda x: scripted(x, y)),
        Part("fork", "fork", forked),
        Part("checkpoint of a view", "checkpoint", lambda x: Checkpoint.apply(nothing, x)),
        Part("multiply by a parameter", "parameter", taking_turns(plain)),
        Part("multiply by a hooked one", "hook", taking_turns(hooked)),
    ]
