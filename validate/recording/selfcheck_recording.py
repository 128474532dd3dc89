#!/usr/bin/env python3
"""Trains with PyTorch on this machine's cores, and asks of stepsim what it says of it.

  selfcheck_recording.py PROGRAM [--rounds 3] [--keep FOLDER]

PROGRAM is stepsim. A small GPT is predicted, run, recorded, explained, compared, learnt from in one
split, and predicted in other ones before and after. Then four faults are planted in it or in a
residual net, and what `explain` says that each costs stands beside what steps without it save.

Exit codes: 0 the second predictions are nearer than the first, and claims are near what mending
gives; 1 they are not; 70 a program failed; 77 skipped: there is no PyTorch, or others use the
cores.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OK, WORSE, FAILED, SKIPPED = 0, 1, 70, 77

# What predictions of a machine that nobody has measured start from: the data sheet of its cores.
FLOPS_A_CYCLE = {"avx512f": 64, "avx2": 32}  # fp32, two units that multiply and add
MEMORY = 25.6  # GB/s of a channel of DDR4-3200
LOOPBACK = 10  # GB/s, judgement: what a copy in the kernel takes

# Options of train.py, and the settings of the scenario that say the same.
LEARNT = ("two ranks, buckets of 4 MB", "--ranks 2 --bucket 4", [])
OTHERS = [
    ("batch 16", "--ranks 2 --bucket 4 --batch 16",
     ["training.global_batch=32", "training.micro_batch=16"]),
    ("one bucket", "--ranks 2 --bucket 25", ["parallelism.data.bucket=25 MB"]),
    ("two workers a rank", "--ranks 2 --bucket 4 --workers 2", ["data.workers=2"]),
    ("a loader that is late", "--ranks 2 --bucket 4 --fault loader --size 100",
     ["data.storage={latency: 100 ms, bandwidth: 25 GB/s}"]),
]
# Faults with their options. A recorder lengthens what has many short operators, as this GPT has: so
# the residual net has the faults whose cost is operators.
FAULTS = [
    ("item", "--model resnet --batch 16 --fault item --size 24"),
    ("loader", "--fault loader --size 120"),
    ("gc", "--fault gc --size 4"),
    ("rank", "--model resnet --batch 16 --ranks 2 --bucket 4 --fault rank --size 32"),
]

SCENARIO = """\
model: {name: small GPT, layers: 4, hidden: 256, heads: 4, vocabulary: 1000, positions: 128,
        tied_embeddings: false, dropout: false}
cluster: {gpu: datasheet, nodes: 1, gpus_per_node: 2, intra_node: datasheet}
training: {sequence_length: 128, global_batch: 16, micro_batch: 8, precision: fp32,
           gradient_clipping: false, attention: unfused, fusion: none,
           optimizer_kernels: per_tensor, used_gradients: clear_tensors, fused_accumulation: false}
parallelism: {data: {sharding: ddp, bucket: 4 MB}}
# Kernels are calls: nothing is launched. Judgement: a rank and its loader share a core by halves.
host: {launch: 0 us, cores: %d, threads: 0.5}
data: {sample_size: 32 KiB, storage: page_cache, decode: 2 ms, workers: 1, prefetch: 2,
       pinned: false}
"""

CORE = """\
name: datasheet
description: a core of this machine by its data sheet
sources: {datasheet: "%s"}
sms: {value: 1, source: datasheet}
memory: {value: 8 GiB, source: datasheet}
memory_bandwidth: {value: %g GB/s, source: datasheet}
copy_pinned: {value: %g GB/s, source: datasheet}
copy_pageable: {value: %g GB/s, source: datasheet}
gemm:
  fp32:
    model: smooth
    peak: {value: %g GFLOP/s, source: datasheet}
memory_kernels:
"""
LINK = """\
name: datasheet
sources: {judgement: "a copy in the kernel"}
bandwidth: {value: %g GB/s, source: judgement}
latency: {value: 10 us, source: judgement}
"""


class Failed(Exception):
    """A program did not do what it was asked for."""


def cores():
    return len(os.sched_getaffinity(0))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_datasheet(folder):
    """The profiles that somebody would write who has measured nothing."""
    info = Path("/proc/cpuinfo").read_text()
    clock = float(re.search(r"cpu MHz\s*: ([0-9.]+)", info)[1]) / 1e3
    unit = next((unit for unit in FLOPS_A_CYCLE if f" {unit} " in info), None)
    peak = clock * FLOPS_A_CYCLE.get(unit, 16)
    source = (f"derived: {clock:.3g} GHz, {FLOPS_A_CYCLE.get(unit, 16)} FLOPs a cycle, "
              "one channel of DDR4-3200")
    core = CORE % (source, MEMORY, MEMORY / 2, MEMORY / 2, peak)
    for rate in ("elementwise", "norm", "softmax", "dropout", "loss", "optimizer"):
        core += f"  {rate}: {{value: {MEMORY} GB/s, source: datasheet}}\n"
    write(folder / "calib/gpus/datasheet.yaml", core)
    write(folder / "calib/links/datasheet.yaml", LINK % LOOPBACK)
    write(folder / "models/README", "Profiles are looked for beside models.\n")
    write(folder / "scenario.yaml", SCENARIO % cores())


def called(command, **settings):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
    if done.returncode != 0:
        name = " ".join(map(str, command))
        raise Failed(f"{name}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def stepsim_json(program, *arguments, library=None):
    environment = {**os.environ, **({"STEPSIM_LIBRARY": library} if library else {})}
    return json.loads(called([program, *arguments, "--format", "json"], env=environment))


def settings_of_libraries():
    """A thread a rank, for ranks and loaders share few cores. On Sapphire Rapids a step took 0.28 s
    with OpenBLAS's kernels for SkylakeX, and 0.8 to 1.0 s with those that OpenBLAS 0.3.21 chose."""
    core = "SkylakeX" if " avx512f " in Path("/proc/cpuinfo").read_text() else "Haswell"
    return {"OPENBLAS_CORETYPE": core, **os.environ, "OMP_NUM_THREADS": "1"}


def train(python, options, record=None, steps=8):
    """Seconds of the steps of each rank: on the clock, and without waiting for a core."""
    command = [python, HERE / "train.py", "--steps", str(steps), *options.split()]
    if record:
        command += ["--record", record]
    line = called(command, env=settings_of_libraries()).splitlines()[-1]
    ranks = json.loads(line)["ranks"]
    calm = [[a - b for a, b in zip(r["seconds"], r["waited_for_a_core"])] for r in ranks]
    return {"wall": [max(step) for step in zip(*(r["seconds"] for r in ranks))],
            "calm": [max(step) for step in zip(*calm)]}


class Load:
    """What share of the cores others use, but for this process and those that it starts."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        fields = [int(x) for x in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
        own = os.times()
        ticks = (own.user + own.system + own.children_user + own.children_system) * os.sysconf(2)
        return sum(fields[:8]), fields[3] + fields[4], ticks

    def share(self):
        total, idle, own = (b - a for a, b in zip(self.start, self.now()))
        return max(0.0, (total - idle - own) / max(1, total))


def measured(program, python, folder, rounds):
    """The steps of each split, one split after the other, again and again; and of as many
    recordings of the first one that in which the machine was neither fast nor slow."""
    steps, recordings = {}, []
    for number in range(rounds):
        for name, options, _ in [LEARNT, *OTHERS]:
            steps.setdefault(name, []).append(train(python, options))
        recording = folder / f"traces/learnt{number}"
        train(python, LEARNT[1], record=recording, steps=12)
        recordings.append((stepsim_json(program, "explain", recording)["step_time_s"], recording))
    return steps, sorted(recordings)[len(recordings) // 2][1]


def step_of(runs, is_waiting):
    """A step that waits for its loader is measured on the clock, for nobody waits for a core then,
    and on average, for a batch that comes early shortens one step and lengthens another."""
    if is_waiting:
        return statistics.median(statistics.mean(run["wall"]) for run in runs)
    return statistics.median(step for run in runs for step in run["calm"])


def predicted(program, scenario, settings, library=None):
    changes = [word for setting in settings for word in ("--set", setting)]
    return stepsim_json(program, "run", scenario, *changes, library=library)["step_time_s"]


def splits(program, python, folder, rounds):
    """Whether second predictions of the other splits are nearer; prints the table."""
    scenario = folder / "scenario.yaml"
    steps, recording = measured(program, python, folder, rounds)
    learnt = stepsim_json(program, "calibrate", "trace", recording, "--scenario", scenario,
                          "-o", folder / "mine", "--name", "mine")
    compared = stepsim_json(program, "compare", scenario, recording)
    listed = sum(one["difference_s"] for one in compared["differences"])
    print(f"compare: the list sums to {listed * 1e3:+.1f} ms "
          f"of {compared['difference_s'] * 1e3:+.1f} ms")
    mine = [f"cluster.gpu={learnt['name']}"]
    if any("links" in file for file in learnt["files"]):
        mine.append(f"cluster.intra_node={learnt['name']}")
    print(f"{'':32}{'measured':>10}{'first':>10}{'':>9}{'second':>10}")
    firsts, seconds = [], []
    for name, options, settings in [LEARNT, *OTHERS]:
        taken = step_of(steps[name], "loader" in options)
        first = predicted(program, scenario, settings)
        second = predicted(program, scenario, settings + mine, str(folder / "mine"))
        errors = [value / taken - 1 for value in (first, second)]
        print(f"{name:32}{taken * 1e3:7.1f} ms{first * 1e3:7.1f} ms{errors[0]:+8.1%}"
              f"{second * 1e3:8.1f} ms{errors[1]:+8.1%}")
        if name != LEARNT[0]:
            firsts.append(abs(errors[0]))
            seconds.append(abs(errors[1]))
    print(f"mean error of the other splits: first {statistics.mean(firsts):.1%}, "
          f"second {statistics.mean(seconds):.1%}")
    return statistics.mean(seconds) < statistics.mean(firsts)


# How far a claim may be from what mending gives, over that. Judgement: the machine's pace changes
# by a sixth from run to run.
MOST_OFF = 0.3

# What mends each fault, by the name that explain has for it.
MENDED = {"item": ("wait in aten::item", "reads"), "loader": ("loader",),
          "gc": ("garbage_collection",), "rank": ("straggler",)}


def claim(fault, job):
    """What explain says that a step gains where the fault is mended."""
    return max((one["gain_s"] for one in job["what_if"] if one["name"] in MENDED[fault]),
               default=0.0)


def gain_of_mending(python, fault, options):
    """Seconds of a step that the fault costs, of runs that record nothing."""
    # Queues, and ranks that wait for each other, carry a fault over to later steps.
    if fault in ("loader", "rank"):
        mended = options.split("--fault")[0]
        return (statistics.median(train(python, options)["wall"])
                - statistics.median(train(python, mended)["wall"]))
    # Every second step has the fault, so that what others do meets both alike.
    steps = train(python, f"{options} --every 2 --warmup 4", steps=12)["wall"]
    return statistics.median(steps[::2]) - statistics.median(steps[1::2])


def faults(program, python, folder, rounds):
    """What explain claims beside what mending gives, in turns, for the machine changes its pace.
    Whether all claims are near; prints the table."""
    print(f"\n{'planted':10}{'explain says':>14}{'mending gave':>14}{'':>8}  (medians of {rounds}, "
          "of a step)  where it looks")
    are_near = True
    for fault, options in FAULTS:
        claims, gains = [], []
        for _ in range(rounds):
            gains.append(gain_of_mending(python, fault, options))
            train(python, options, record=folder / "traces" / fault, steps=8)
            job = stepsim_json(program, "explain", folder / "traces" / fault)
            claims.append(claim(fault, job))
        said, gave = statistics.median(claims), statistics.median(gains)
        are_near = are_near and abs(said - gave) <= MOST_OFF * gave
        off = f"{said / gave - 1:+8.0%}" if gave > 0 else f"{'-':>8}"
        print(f"{fault:10}{said * 1e3:11.1f} ms{gave * 1e3:11.1f} ms{off}  "
              f"{job['verdict']['sentence'][:80]}", flush=True)
    return are_near


def with_torch():
    """The Python that trains: this one or the system's, whichever has PyTorch; None: neither."""
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", "import torch.profiler"], check=False,
                              capture_output=True)
        if done.returncode == 0:
            return python
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="stepsim")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each split and fault")
    parser.add_argument("--keep", type=Path, help="folder for recordings and profiles")
    options = parser.parse_args()
    python = with_torch()
    if python is None:
        print("skipped: no Python here has PyTorch with torch.profiler (python3-torch)")
        return SKIPPED
    load, start = Load(), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        write_datasheet(folder)
        try:
            is_nearer = splits(options.program, python, folder, options.rounds)
            are_near = faults(options.program, python, folder, options.rounds)
        except Failed as error:
            print(f"failed: {error}")
            return FAILED
    share = load.share()
    print(f"\nothers used {share:.0%} of {cores()} cores in {time.monotonic() - start:.0f} s")
    if is_nearer and are_near:
        print("passed")
        return OK
    if share > 0.03:
        print("skipped: others use the cores, try again when nothing else runs")
        return SKIPPED
    print("failed: " + ("a claim is far from what mending gives" if is_nearer
                        else "the second predictions are no nearer"))
    return WORSE


if __name__ == "__main__":
    sys.exit(main())
