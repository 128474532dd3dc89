"""What a framework asks of a GPU and of PyTorch 2, played on a CPU by PyTorch 1.13.

Streams, events, states of random numbers and collectives are there to be called, and do nothing.
Modules that are not installed have whatever name is asked of them. Sources are read as they are,
but for the names of devices, of which there is the CPU alone.
"""

import contextlib
import importlib.abc
import importlib.machinery
import inspect
import sys
import types
from pathlib import Path

import torch
import torch.cuda.memory
import torch.cuda.random
import torch.distributed
import torch.utils.checkpoint

PYTORCH = "2.4.0"  # what frameworks are told
ENGINE = "2.9.0"
# Modules that are looked for and that no layer needs.
ABSENT = ("torch.distributed.fsdp", "torch.distributed.tensor", "triton", "deep_ep", "einops",
          "pydantic", "fused_weight_gradient_mlp_cuda", "transformer_engine_torch",
          "transformer_engine.pytorch.onnx_extensions", "megatron.core.inference.unified_memory",
          "megatron.core.safe_globals", "tools", "regex")
DEVICES = (("device=\"cuda\"", "device=\"cpu\""), ("device='cuda'", "device='cpu'"),
           ("torch.device(\"cuda\")", "torch.device(\"cpu\")"), (".is_cuda", ".is_cpu"))


class Named(type):
    """A class that has every attribute, each a class of its own."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(cls, name, Named(f"{cls.__name__}.{name}", (Anything,), {}))
        return getattr(cls, name)


class Anything(metaclass=Named):
    def __init__(self, *_, **__):
        pass

    def __call__(self, *_, **__):
        return None

    def __init_subclass__(cls, **_):
        pass

    def __class_getitem__(cls, _):
        return cls


class Module(types.ModuleType):
    """A module in which every name is a class."""

    __path__, __version__ = (), "3.0.0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, Named(name, (Anything,), {}))
        return getattr(self, name)


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that are not installed."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path, target=None):
        if any(name == one or name.startswith(one + ".") for one in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


class OnCpu(importlib.machinery.SourceFileLoader):
    """Reads a source with the CPU for a device, and keeps nothing of it."""

    def path_stats(self, path):
        raise OSError("not kept")

    def get_data(self, path):
        text = super().get_data(path).decode()
        for gpu, cpu in DEVICES:
            text = text.replace(gpu, cpu)
        return text.encode()


class Sources(importlib.abc.MetaPathFinder):
    """Finds the packages of checkouts: a folder for each."""

    def __init__(self, folders):
        self.folders = folders

    def find_spec(self, name, path, target=None):
        package = name.split(".")[0]
        if package not in self.folders:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path or [self.folders[package]])
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            spec.loader = OnCpu(name, spec.origin)
        return spec


class Stream:
    def record_event(self, *_):
        return self

    def synchronize(self):
        pass

    wait_stream = wait_event = record = wait = lambda self, *_: None


class Device:
    """The context of a device, without its two calls of the driver."""

    def __init__(self, _):
        self.previous = -1

    def __enter__(self):
        self.previous = 0

    def __exit__(self, *_):
        return False


class Work:
    """A collective that is done."""

    def wait(self, *_):
        return True

    is_completed = wait


def as_decorator(function=None, *_, **__):
    return function if callable(function) else (lambda real: real)


def play_cuda():
    cuda, stream = torch.cuda, Stream()
    h100 = types.SimpleNamespace(major=9, minor=0, multi_processor_count=132, name="H100",
                                 total_memory=80 << 30)
    for name, value in {
            "current_device": lambda: "cpu", "device_count": lambda: 1,
            "is_available": lambda: True, "current_stream": lambda *_: stream,
            "Stream": lambda *_, **__: Stream(), "Event": lambda *_, **__: stream,
            "stream": lambda _: contextlib.nullcontext(), "device": Device,
            "get_device_properties": lambda *_: h100, "get_arch_list": lambda: ["sm_90"],
            "get_device_capability": lambda *_: (9, 0), "set_device": lambda *_: None,
            "synchronize": lambda *_: None, "is_current_stream_capturing": lambda: False,
            "initial_seed": lambda: 0, "manual_seed": torch.default_generator.manual_seed,
            "get_rng_state": lambda *_, **__: torch.get_rng_state(), "MemPool": Anything,
            "_lazy_init": lambda: None, "_lazy_call": lambda call: call()}.items():
        setattr(cuda, name, value)
    cuda.default_generators = Generators()
    cuda.random.get_rng_state = cuda.get_rng_state
    cuda.nvtx.range_push = cuda.nvtx.range_pop = lambda *_: None
    cuda.memory.CUDAPluggableAllocator = Anything
    torch.Tensor.record_stream = lambda *_: None
    torch.Tensor.cuda = lambda tensor, *_, **__: tensor
    torch.Tensor.untyped_storage = torch.Tensor._storage


class Generators:
    def __getitem__(self, _):
        return torch.default_generator


def play_distributed():
    distributed = torch.distributed
    done = Work()
    new_group, known = distributed.new_group, inspect.signature(distributed.new_group).parameters
    distributed.new_group = lambda *places, **named: new_group(*places, **{
        name: value for name, value in named.items() if name in known and value is not None})
    for name in ("all_reduce", "all_gather", "broadcast", "reduce_scatter_tensor",
                 "_reduce_scatter_base", "all_to_all_single"):
        setattr(distributed, name, lambda *_, **__: done)
    # Every rank counted as many tokens as this one: what is gathered is what was given.
    def gather(output, given, **_):
        if not given.is_floating_point():
            output.view(-1, given.numel()).copy_(given.view(1, -1))
        return done

    distributed.all_gather_into_tensor = distributed._all_gather_base = gather
    distributed._coalescing_manager = lambda *_, **__: contextlib.nullcontext(done)
    size, rank = distributed.get_world_size, distributed.get_rank
    distributed.get_world_size = lambda group=None: (
        group.ranks if isinstance(group, Ranks) else size())
    distributed.get_rank = lambda group=None: 0 if isinstance(group, Ranks) else rank()
    distributed.get_process_group_ranks = lambda group: (
        list(range(group.ranks)) if isinstance(group, Ranks) else [0])
    for name in ("checkpoint", "_tensor", "fsdp"):
        module = Module(f"torch.distributed.{name}")
        setattr(distributed, name, module)
        sys.modules[module.__name__] = module
    torch.ProcessGroup = torch._C._distributed_c10d.ProcessGroup


class Ranks:
    """A group of so many ranks, of which this is the first."""

    def __init__(self, ranks):
        self.ranks = ranks

    def size(self):
        return self.ranks

    def rank(self):
        return 0


class Float8:
    itemsize = 1


def play_new_pytorch():
    dynamo = Module("torch._dynamo")
    dynamo.disable = dynamo.config = as_decorator
    torch._dynamo = sys.modules["torch._dynamo"] = dynamo
    torch._disable_dynamo = torch.compile = as_decorator
    torch.get_device_module = lambda _: torch.cuda
    torch.float8_e4m3fn, torch.float8_e5m2 = Float8(), Float8()
    torch.utils.checkpoint.noop_context_fn = lambda: (contextlib.nullcontext(),) * 2
    for name in ("custom_op", "register_fake", "register_autograd", "triton_op"):
        setattr(torch.library, name, lambda *_, **__: as_decorator)


def play_engine(folder):
    """Transformer Engine's package, whose first file would look for libraries."""
    import importlib.metadata

    for name in ("transformer_engine", "transformer_engine.common"):
        module = types.ModuleType(name)
        module.__path__ = [str(Path(folder, *name.split(".")))]
        module.__version__ = ENGINE
        sys.modules[name] = module
    sys.modules["transformer_engine"].common = module
    module.load_framework_extension = lambda _: None
    version = importlib.metadata.version
    importlib.metadata.version = lambda name: (
        ENGINE if name.replace("-", "_") == "transformer_engine" else version(name))
    import dataclasses

    import pydantic.dataclasses

    pydantic.dataclasses.dataclass = dataclasses.dataclass


def play(megatron, engine):
    """To be called once, before a framework is imported. `engine`: None for a Megatron-LM whose
    layers are its own."""
    sys.dont_write_bytecode = True
    folders = {"megatron": str(megatron)} | ({"transformer_engine": str(engine)} if engine else {})
    absent = ABSENT if engine else ABSENT + ("transformer_engine", "apex", "amp_C",
                                             "fused_layer_norm_cuda")
    sys.meta_path[:0] = [Absent(absent), Sources(folders)]
    play_cuda()
    play_distributed()
    if engine:
        play_new_pytorch()
        torch.__version__ = PYTORCH
        play_engine(engine)
