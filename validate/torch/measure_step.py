#!/usr/bin/env python3
"""Measures training steps of GPT, Llama, ResNet-50 and ViT with PyTorch on GPUs.

  measure_step.py --model gpt2 --micro-batch 8 --sequence 1024 --table mine.csv
  measure_step.py --grid --table mine.csv
  torchrun --nproc_per_node 8 measure_step.py --model llama3-8b --sharding fsdp \\
    --micro-batch 1 --sequence 4096 --table mine.csv --trace step.json

Then: stepsim validate validate/suites/torch.yaml --table mine.csv

Exit codes: 0 measured; 2 wrong options, model or table; 3 PyTorch or a GPU is missing, or PyTorch
is too old; 4 a file cannot be read or written; 5 the setting does not fit in the GPU's memory.
"""

import argparse
import os
import re
import subprocess
import sys
from contextlib import nullcontext

import table
from grid import single_gpu_grid
from model_file import ResNet, WrongModel, load_model, parameters_of

OK, BAD_INPUT, NO_DEVICE, IO, NO_MEMORY = 0, 2, 3, 4, 5

# networks.py was written for 2.5; torch.distributed.fsdp.fully_shard is public since 2.6.
OLDEST_TORCH, OLDEST_FSDP = (2, 5), (2, 6)

# What --grid passes on or heeds; the grid says all else.
OF_GRID = {"grid", "table", "steps", "warmup", "dry_run", "host_speed", "host_launch_us"}


class NoDevice(Exception):
    """PyTorch or a GPU is missing, or PyTorch is too old; the text says which."""


class NoMemory(Exception):
    """The setting is too large for the GPU."""


def parser():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--model", help="a name in models/: GPT, Llama, ViT or ResNet")
    what.add_argument("--grid", action="store_true",
                      help="all settings of grid.py on one GPU, a process each; those that the table "
                           "has are not repeated")
    p.add_argument("--layers", type=positive, help="instead of the model's")
    p.add_argument("--micro-batch", type=positive, default=1, help="samples of a GPU and pass")
    p.add_argument("--accumulation", type=positive, default=1, help="passes of a step")
    p.add_argument("--sequence", type=positive, help="tokens; of text, and required there")
    p.add_argument("--precision", choices=["bf16", "fp16", "tf32", "fp32"], default="bf16",
                   help="bf16 and fp16: autocast over fp32 parameters")
    p.add_argument("--attention", choices=["flash2", "unfused"],
                   help="default: flash2 with bf16 and fp16")
    p.add_argument("--recompute", action="store_true", help="whole layers, by checkpoint()")
    p.add_argument("--compile", action="store_true", help="by torch.compile")
    p.add_argument("--channels-last", action="store_true", help="of images, NHWC")
    p.add_argument("--sharding", choices=["ddp", "fsdp"], default="ddp",
                   help="of several GPUs, under torchrun")
    p.add_argument("--bucket-mib", type=positive, default=25, help="DDP's bucket_cap_mb")
    p.add_argument("--steps", type=positive, default=30, help="that are measured")
    p.add_argument("--warmup", type=positive, default=10, help="steps before them")
    p.add_argument("--table", default="measured.csv", help="the row is added to it")
    p.add_argument("--host-speed", type=above_zero, help="of this machine, by calib/host/measure_host.py")
    p.add_argument("--host-launch-us", type=above_zero, help="the same: a launch with its operator")
    p.add_argument("--trace", help="a Chrome trace of two more steps by PyTorch's profiler")
    p.add_argument("--dry-run", action="store_true",
                   help="print the setting and the model's parameters; needs no PyTorch")
    return p


def parse(arguments):
    """Options, and as `given` the names of those that the command line has."""
    options = vars(parser().parse_args(arguments))
    unset = object()
    given = parser().parse_args(arguments, argparse.Namespace(**dict.fromkeys(options, unset)))
    names = {name for name, value in vars(given).items() if value is not unset}
    return argparse.Namespace(**options, given=names)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is below 1")
    return number


def above_zero(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0")
    return number


def flags(names):
    return ", ".join("--" + name.replace("_", "-") for name in sorted(names))


def check_grid(options):
    ignored = options.given - OF_GRID
    if ignored:
        raise WrongModel(f"{flags(ignored)}: only with --model; each setting of --grid has its own")


def check_fsdp(options, model, world):
    if world == 1:
        raise WrongModel("--sharding fsdp needs several GPUs: torchrun --nproc_per_node N ...")
    if options.accumulation > 1:
        raise WrongModel("--accumulation: only with --sharding ddp")
    if "bucket_mib" in options.given:
        raise WrongModel("--bucket-mib: only with --sharding ddp; FSDP's units are whole layers")
    if isinstance(model, ResNet) and options.precision in ("bf16", "fp16"):
        raise WrongModel(f"--sharding fsdp casts the weights of {options.model}'s BatchNorm to "
                         f"{options.precision}, but not its running means, and PyTorch then fails: "
                         "--precision tf32 or fp32, or --sharding ddp")


def checked(options, world=1):
    """Options that fit together, with what was left open. Gives the model, too."""
    model = load_model(options.model, options.layers)
    is_text = not isinstance(model, ResNet) and not model.vision
    if is_text and not options.sequence:
        raise WrongModel(f"{options.model} reads text: --sequence says how many tokens")
    if not is_text and options.sequence:
        raise WrongModel(f"--sequence: {options.model} reads images")
    if is_text and 0 < model.positions < options.sequence:
        raise WrongModel(f"--sequence {options.sequence}: {options.model} knows {model.positions} "
                         "positions")
    if isinstance(model, ResNet):
        if "attention" in options.given or options.recompute:
            raise WrongModel(f"--attention, --recompute: {options.model} has no layers with attention")
        options.attention = "none"
    elif not options.attention:
        options.attention = "flash2" if options.precision in ("bf16", "fp16") else "unfused"
    if options.attention == "flash2" and options.precision in ("tf32", "fp32"):
        raise WrongModel("--attention flash2 has 16-bit numbers only: --precision bf16 or fp16")
    if is_text and options.channels_last:
        raise WrongModel(f"--channels-last: {options.model} reads text, not images")
    if options.sharding == "fsdp":
        check_fsdp(options, model, world)
    return model


def setting_of(options, model, gpu, nodes, gpus_per_node):
    return {
        "model": options.model,
        "layers": 0 if isinstance(model, ResNet) else model.layers,
        "gpu": gpu,
        "nodes": nodes,
        "gpus_per_node": gpus_per_node,
        "sharding": options.sharding,
        "bucket_mib": options.bucket_mib if options.sharding == "ddp" else 0,
        "micro_batch": options.micro_batch,
        "accumulation": options.accumulation,
        "sequence": options.sequence or 0,
        "precision": options.precision,
        "attention": options.attention,
        "recompute": options.recompute,
        "compiled": options.compile,
        "channels_last": options.channels_last,
    }


def version_of(torch):
    """The first two numbers of '2.6.0+cu124'."""
    return tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])


def import_torch(oldest=OLDEST_TORCH):
    try:
        import torch
    except ImportError as error:
        raise NoDevice("PyTorch is not installed (python3 -m pip install torch), or cannot be loaded: "
                       f"{error}") from error
    if version_of(torch) < oldest:
        needed = ".".join(str(part) for part in oldest)
        what = " for --sharding fsdp" if oldest == OLDEST_FSDP else ""
        raise NoDevice(f"PyTorch {torch.__version__} is too old, {needed} is needed{what}")
    if not torch.cuda.is_available():
        raise NoDevice("PyTorch finds no GPU: torch.cuda.is_available() is False")
    return torch


class World:
    """The processes that torchrun started, or this one alone."""

    def __init__(self, torch):
        self.size = int(os.environ.get("WORLD_SIZE", 1))
        self.rank = int(os.environ.get("RANK", 0))
        local = int(os.environ.get("LOCAL_RANK", 0))
        self.gpus_per_node = int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        if local >= torch.cuda.device_count():
            raise NoDevice(f"there is no GPU {local}, this node has {torch.cuda.device_count()}: "
                           "torchrun --nproc_per_node as many")
        self.device = torch.device("cuda", local)
        torch.cuda.set_device(self.device)
        if self.size > 1:
            torch.distributed.init_process_group("nccl")
        self.torch = torch

    def largest(self, values):
        """Of all ranks, place by place."""
        if self.size == 1:
            return values
        numbers = self.torch.tensor(values, device=self.device, dtype=self.torch.float64)
        self.torch.distributed.all_reduce(numbers, self.torch.distributed.ReduceOp.MAX)
        return numbers.tolist()

    def close(self):
        if self.size > 1:
            self.torch.distributed.destroy_process_group()


def wrapped(torch, networks, network, options, world):
    """As DDP or FSDP2 has it."""
    if world.size == 1:
        return network
    if options.sharding == "ddp":
        return torch.nn.parallel.DistributedDataParallel(
            network, device_ids=[world.device.index], bucket_cap_mb=options.bucket_mib,
            gradient_as_bucket_view=True)
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(options.precision)
    policy = MixedPrecisionPolicy(param_dtype=half, reduce_dtype=torch.float32)
    for block in networks.blocks_of(network):
        fully_shard(block, mp_policy=policy)
    return fully_shard(network, mp_policy=policy)


def stepper(torch, options, model, world):
    """A function that runs one step."""
    import networks

    torch.manual_seed(1 + world.rank)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    network = networks.build(model, options.attention, options.recompute).to(world.device)
    built = sum(p.numel() for p in network.parameters())
    if built != parameters_of(model):
        raise RuntimeError(f"{options.model} was built with {built} parameters, not with "
                           f"{parameters_of(model)}")
    inputs, targets = networks.samples(model, options.micro_batch, options.sequence, world.device)
    if options.channels_last:
        network = network.to(memory_format=torch.channels_last)
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    network = wrapped(torch, networks, network, options, world)
    if options.compile:
        network = torch.compile(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, fused=True)
    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(options.precision)
    if options.sharding == "fsdp":
        half = None  # its policy casts
    autocast = torch.autocast("cuda", dtype=half) if half else nullcontext()
    # Passes everything through unless it is enabled.
    scaler = torch.amp.GradScaler("cuda", enabled=options.precision == "fp16")

    def step():
        for part in range(options.accumulation):
            last = part + 1 == options.accumulation
            wait = nullcontext() if last or world.size == 1 else network.no_sync()
            with wait:
                with autocast:
                    loss = network(inputs, targets)
                scaler.scale(loss / options.accumulation).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step


def timed_steps(torch, step, options, world):
    """Milliseconds of each step by the GPU's clock, of the slowest rank."""
    for _ in range(options.warmup):
        step()
    torch.cuda.synchronize()
    if world.size > 1:
        torch.distributed.barrier()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(options.steps + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    return world.largest([a.elapsed_time(b) for a, b in zip(events, events[1:])])


def write_trace(torch, step, path):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(2):
            step()
        torch.cuda.synchronize()
    if path:
        profiler.export_chrome_trace(path)


def measure(options):
    """Adds the row, on rank 0."""
    torch = import_torch(OLDEST_FSDP if options.sharding == "fsdp" else OLDEST_TORCH)
    world = World(torch)
    try:
        model = checked(options, world.size)
        torch.cuda.reset_peak_memory_stats()
        try:
            step = stepper(torch, options, model, world)
            times = timed_steps(torch, step, options, world)
        except torch.cuda.OutOfMemoryError as error:
            raise NoMemory(f"out of memory: {str(error).splitlines()[0]}") from error
        peak = world.largest([torch.cuda.max_memory_allocated()])[0]
        if world.rank == 0:
            name = torch.cuda.get_device_name()
            row = setting_of(options, model, table.profile_of(name, world.size),
                             world.size // world.gpus_per_node, world.gpus_per_node)
            row |= table.summary(times)
            row |= {"peak_gib": f"{peak / 2**30:.4g}", "gpu_name": name, "torch": torch.__version__,
                    "cuda": torch.version.cuda}
            row |= host_of(options)
            table.add_row(options.table, row)
            print(f"{row['step_ms']} ms a step ({row['step_p10_ms']} to {row['step_p90_ms']}), "
                  f"{row['peak_gib']} GiB: {options.table}")
        if options.trace:  # behind the row, which a trace that fails must not lose
            write_trace(torch, step, options.trace if world.rank == 0 else None)
    finally:
        world.close()


def host_of(options):
    """What was said of the host; a dash: nothing, so that it is the cluster's."""
    return {key: "-" if getattr(options, key) is None else f"{getattr(options, key):g}"
            for key in ("host_speed", "host_launch_us")}


def own_command(line, options):
    command = [sys.executable, os.path.abspath(__file__), *line, "--table", options.table,
               "--steps", str(options.steps), "--warmup", str(options.warmup)]
    for key, value in host_of(options).items():
        command += ["--" + key.replace("_", "-"), value] if value != "-" else []
    return command


def is_measured(line, rows, gpu):
    options = parse(line)
    model = checked(options)
    key = table.key_of(setting_of(options, model, gpu, 1, 1))
    return any(table.key_of(row) == key for row in rows)


def measure_grid(options, run=subprocess.call, gpu=None):
    """A process a setting, since one that ran out of memory leaves little of it to others."""
    table.check_place(options.table)
    if gpu is None:
        torch = import_torch()
        gpu = table.profile_of(torch.cuda.get_device_name())
    lines = single_gpu_grid()
    done = table.read_rows(options.table)
    for number, line in enumerate(lines, 1):
        print(f"{number}/{len(lines)} {' '.join(line)}", flush=True)
        if is_measured(line, done, gpu):
            print("  already in the table")
            continue
        code = run(own_command(line, options))
        if code not in (OK, NO_MEMORY):
            return code
    return OK


def print_setting(options, model):
    for column, value in setting_of(options, model, "-", 1, 1).items():
        print(f"{column:14} {table.text_of(value)}")
    print(f"{'parameters':14} {parameters_of(model)}")


def answer(options):
    if options.grid:
        check_grid(options)
        if not options.dry_run:
            return measure_grid(options)
        for line in single_gpu_grid():
            checked(parse(line))
            print(" ".join(line))
        return OK
    if options.dry_run:
        print_setting(options, checked(options, world=int(os.environ.get("WORLD_SIZE", 1))))
        return OK
    checked(options, world=int(os.environ.get("WORLD_SIZE", 1)))  # before PyTorch is waited for
    if int(os.environ.get("RANK", 0)) == 0:
        table.check_place(options.table)
    measure(options)
    return OK


def main(arguments):
    def fail(code, error):
        print(f"measure_step.py: {error}", file=sys.stderr)
        return code

    try:
        return answer(parse(arguments))
    except (WrongModel, table.WrongTable) as error:
        return fail(BAD_INPUT, error)
    except NoDevice as error:
        return fail(NO_DEVICE, error)
    except NoMemory as error:
        return fail(NO_MEMORY, error)
    except OSError as error:
        return fail(IO, error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
