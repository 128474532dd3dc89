"""A small GPT or residual net that trains on CPUs, is recorded, and is made slow in four ways.

    python3 train.py --model gpt --ranks 2 --record traces/gpt --fault rank --size 4

prints one line of JSON: what was run, and of every rank the seconds of each step, with what the
training thread waited for a core that others had (Linux's own account) beside them.
"""

import argparse
import concurrent.futures
import contextlib
import gc
import json
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

import kineto_json


class Block(nn.Module):
    """Pre-norm causal attention and an MLP of four times the width."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, tokens, width = x.shape
        shape = (batch, tokens, self.heads, width // self.heads)
        q, k, v = (t.reshape(shape).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(2, 3) / shape[3] ** 0.5
        future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.tokens = nn.Embedding(o.vocab, o.width)
        self.positions = nn.Embedding(o.tokens, o.width)
        self.blocks = nn.Sequential(*(Block(o.width, o.heads) for _ in range(o.layers)))
        self.norm, self.head = nn.LayerNorm(o.width), nn.Linear(o.width, o.vocab, bias=False)

    def forward(self, x, target):
        h = self.tokens(x) + self.positions.weight[: x.shape[1]]
        return F.cross_entropy(self.head(self.norm(self.blocks(h))).flatten(0, 1), target.flatten())


class Bottleneck(nn.Module):
    """1x1, 3x3 with the stride, 1x1, as in ResNet-50 v1.5."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        sizes = [(inputs, width, 1, 1), (width, width, 3, stride), (width, 4 * width, 1, 1)]
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, k, s, k // 2, bias=False)
                                          for a, b, k, s in sizes)
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for _, b, _, _ in sizes)
        self.skip = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False),
                                  nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = x
        for number, (convolution, norm) in enumerate(zip(self.convolutions, self.norms)):
            y = norm(convolution(y if number == 0 else F.relu(y)))
        return F.relu(y + self.skip(x))


class ResNet(nn.Module):
    """One block a stage, else as ResNet-50."""

    def __init__(self, o):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64),
                                  nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        widths = [64, 128, 256, 512]
        self.stages = nn.Sequential(*(Bottleneck(a, w, 1 if w == 64 else 2)
                                      for a, w in zip([64] + [4 * w for w in widths], widths)))
        self.head = nn.Linear(4 * widths[-1], o.vocab)

    def forward(self, x, target):
        return F.cross_entropy(self.head(self.stages(self.stem(x)).mean((2, 3))), target)


class Samples(Dataset):
    """Made-up sentences or pictures, whose preparation is real work of a millisecond or two."""

    def __init__(self, o, rank, slow_ms):
        self.o, self.rank, self.slow_ms = o, rank, slow_ms

    def __len__(self):
        return self.o.batch * (self.o.warmup + self.o.steps + 2)

    def __getitem__(self, index):
        random = torch.Generator().manual_seed(self.o.seed + index * 1000 + self.rank)
        time.sleep(self.slow_ms / 1e3)
        if self.o.model == "gpt":
            text = torch.randint(self.o.vocab, (64 * self.o.tokens,), generator=random)
            chosen = torch.randint(len(text), (self.o.tokens + 1,), generator=random)
            token = text.sort().values[chosen]
            return token[:-1], token[1:]
        picture = torch.randint(256, (1, 3, 96, 96), generator=random).float()
        picture = F.interpolate(picture, size=(self.o.pixels,) * 2, mode="bilinear",
                                align_corners=False)
        return (picture[0] - 128) / 64, torch.randint(self.o.vocab, (), generator=random)


class Later(torch.Tensor):
    """A number that another process works out. Who reads it waits, as with a tensor of a GPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, future):
        value = torch.Tensor._make_wrapper_subclass(cls, (), dtype=torch.float32)
        value.future = future
        return value

    @classmethod
    def __torch_dispatch__(cls, operator, types, args=(), kwargs=None):
        known = (torch.tensor(a.future.result()[0]) if isinstance(a, cls) else a for a in args)
        return operator(*known, **(kwargs or {}))


class HeldOut:
    """Some samples, of which a process of its own works out the loss."""

    def __init__(self, o, samples):
        torch.set_num_threads(1)
        self.model = {"gpt": Gpt, "resnet": ResNet}[o.model](o)
        fours = [[samples[start + i] for i in range(4)] for start in range(0, int(o.size), 4)]
        self.batches = [[torch.stack(tensors) for tensors in zip(*four)] for four in fours]

    def loss(self):
        """With the seconds that the process waited for a core."""
        start = waited_for_a_core()
        with torch.no_grad():
            total = sum(self.model(*batch) for batch in self.batches)
        return total.item(), waited_for_a_core() - start


def make_held_out(o, samples):
    global held_out
    held_out = HeldOut(o, samples)


def held_out_loss():
    return held_out.loss()


class Evaluation:
    """The loss of held-out samples every step, beside the training as a GPU works: in a process,
    for two threads would take turns in one interpreter."""

    def __init__(self, o, samples):
        self.worker = concurrent.futures.ProcessPoolExecutor(
            1, torch.multiprocessing.get_context("spawn"), make_held_out, (o, samples))
        self.worker.submit(held_out_loss).result()
        self.before, self.read = None, []

    def step(self, at_once):
        """The seconds that the training waited because the other process waited for a core."""
        now = Later(self.worker.submit(held_out_loss))
        if at_once:
            self.read.append(now.item())
            return now.future.result()[1]
        if self.before is not None:
            self.read.append(self.before.item())
        self.before = now
        return 0.0


def collect_garbage():
    gc.collect()


def waited_for_a_core():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def garbage_spans():
    """Makes garbage collections visible in a recording, which PyTorch leaves to users."""
    spans = []

    def seen(phase, info):
        if phase == "start":
            spans.append(record_function(f"garbage collection of generation {info['generation']}"))
            spans[-1].__enter__()
        elif spans:
            spans.pop().__exit__(None, None, None)

    return seen


def recorder(o, rank):
    if not o.record:
        return contextlib.nullcontext()
    os.makedirs(o.record, exist_ok=True)
    path = f"{o.record}/rank{rank}.pt.trace.json.gz"
    group = {"backend": "gloo", "rank": rank, "world_size": o.ranks} if o.ranks > 1 else None
    return profile(activities=[ProfilerActivity.CPU], with_stack=o.stack, record_shapes=o.shapes,
                   schedule=schedule(wait=o.warmup - 1, warmup=1, active=o.steps, repeat=1),
                   on_trace_ready=lambda profiler: kineto_json.save(profiler, path, group))


def train(rank, o, meeting):
    torch.set_num_threads(1)
    torch.manual_seed(o.seed + rank)
    if o.ranks > 1:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank,
                                world_size=o.ranks)
    bare = {"gpt": Gpt, "resnet": ResNet}[o.model](o)
    model = DistributedDataParallel(bare, bucket_cap_mb=o.bucket) if o.ranks > 1 else bare
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    samples = Samples(o, rank, o.size if o.fault == "loader" else 0)
    batches = iter(DataLoader(samples, o.batch, num_workers=o.workers))
    evaluation = Evaluation(o, samples) if o.fault == "item" else None
    hoard = [[] for _ in range(int(o.size * 1e6))] if o.fault == "gc" else None
    gc.collect()
    if hoard is not None:
        gc.disable()
    if o.record:
        gc.callbacks.append(garbage_spans())
    seconds, waited, worked = [], [], []
    with recorder(o, rank) as profiler:
        for step in range(o.warmup + o.steps):
            start, core, work = time.perf_counter(), waited_for_a_core(), time.thread_time()
            is_faulty = step % o.every == 0
            x, target = next(batches)
            loss = model(x, target)
            if evaluation:
                core -= evaluation.step(is_faulty)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            if o.fault == "rank" and rank == o.ranks - 1 and is_faulty:
                with torch.no_grad():
                    for first in range(0, int(o.size), o.batch):
                        rest = int(o.size) - first
                        bare(x[:rest], target[:rest])
            optimizer.step()
            if o.fault == "gc" and is_faulty:
                collect_garbage()
            seconds.append(time.perf_counter() - start)
            waited.append(waited_for_a_core() - core)
            worked.append(time.thread_time() - work)
            if profiler:
                profiler.step()
    mine = {"seconds": seconds[o.warmup:], "waited_for_a_core": waited[o.warmup:],
            "cpu_seconds": worked[o.warmup:], "loss": loss.item()}
    ranks = [mine]
    if o.ranks > 1:
        ranks = [None] * o.ranks
        dist.all_gather_object(ranks, mine)
    if rank == 0:
        parameters = sum(p.numel() for p in bare.parameters())
        print(json.dumps({"options": vars(o), "parameters": parameters, "ranks": ranks}))


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["gpt", "resnet"], default="gpt")
    parser.add_argument("--fault", default="none",
                        choices=["none", "item", "loader", "rank", "gc"])
    parser.add_argument("--size", type=float, default=0,
                        help="item: samples of an evaluation, in fours; loader: ms a sample; "
                             "rank: samples more; gc: million objects")
    for name, value in dict(layers=4, width=256, heads=4, tokens=128, vocab=1000, pixels=64,
                            batch=8, workers=1, ranks=1, bucket=25, steps=8, warmup=3, seed=1,
                            every=1).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--record", help="a folder for the recordings, one file a rank")
    parser.add_argument("--stack", action="store_true", help="record Python functions, too")
    parser.add_argument("--shapes", action="store_true", help="record shapes, too")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    with tempfile.TemporaryDirectory() as folder:
        arguments = (chosen, folder + "/meeting")
        if chosen.ranks == 1:
            train(0, *arguments)
        else:
            torch.multiprocessing.spawn(train, arguments, nprocs=chosen.ranks)
