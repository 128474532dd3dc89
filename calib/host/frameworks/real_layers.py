#!/usr/bin/python3
"""What Python of a layer takes, of a checkout of Megatron-LM as it is.

Its Python runs whole, with Transformer Engine's where `--engine` names a checkout, and without a
GPU: kernels, collectives and states of random numbers of a GPU are played by calls that do nothing
(stand_ins.py, kernels.py). A layer is what ten take more than two, by eight. Rows are microseconds
of the CPU whose calls ../../measured/host.csv has: the copy of a layer (../layers.py) is timed in
between. "operators of" is what PyTorch's own kernels and those played take, by the same table: what
is left is Python's, and calls that launch nothing.

Measured: NVIDIA/Megatron-LM@b35d061 alone, and core_v0.15.0 with NVIDIA/TransformerEngine v2.9.
Run it on a core of its own: taskset -c 1.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

OK, NO_TORCH, BAD_INPUT = 0, 1, 2
FEW, MANY, WARM = 2, 10, 5  # layers; steps before those that count


def parser():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--megatron", required=True, metavar="DIR", help="a checkout of Megatron-LM")
    p.add_argument("--engine", metavar="DIR", help="a checkout of Transformer Engine")
    p.add_argument("--table", metavar="FILE", help="write the rows there")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--steps", type=int, default=40, help="of a round, for its median")
    return p


def step(model):
    """Seconds of this thread: forward, without a graph, backward."""
    import torch

    model.clear()
    begin = time.thread_time()
    output = model.forward()
    forward = time.thread_time()
    model.backward(output)
    backward = time.thread_time()
    model.finish()
    with torch.no_grad():
        again = time.thread_time()
        model.forward()
        end = time.thread_time()
    return forward - begin, end - again, backward - forward


def medians(steps):
    return [statistics.median(column) * 1e6 for column in zip(*steps)]


def reference_layer():
    """Microseconds of the copy of a layer, forward and backward."""
    from layers import BATCH, HIDDEN, TOKENS, MegatronLayer
    from mixture import layer_times
    from parts import clear_gradients

    times = layer_times(MegatronLayer(), (TOKENS, BATCH, HIDDEN), 40)
    clear_gradients()
    return sum(times)


def per_layer(few, many):
    return [(b - a) / (MANY - FEW) for a, b in zip(few, many)]


def watched(run, costs, column):
    """What operators that launch kernels take, and kernels that are played."""
    import kernels
    from counts import Watch

    played = kernels.calls
    with Watch(lambda: "") as seen:
        result = run()
    played = kernels.calls - played
    took = sum(costs[kind][column] * number for (kind, _), number in seen.counts.items()
               if kind not in ("view", "empty"))
    return result, took + played * costs["elementwise"][1]


def operators(model, costs):
    """Microseconds of a model's operators: forward, without a graph, backward."""
    import torch

    model.clear()
    output, forward = watched(model.forward, costs, 0)
    _, backward = watched(lambda: model.backward(output), costs, 2)
    model.finish()
    with torch.no_grad():
        _, no_graph = watched(model.forward, costs, 1)
    return forward, no_graph, backward


def measured(make, costs, options):
    """Of one kind of layer: the rounds' microseconds, and its operators'."""
    many, few = make(MANY), make(FEW)
    # The larger model comes first: Megatron-LM's first step settles how many layers have a loss.
    for _ in range(WARM):
        step(many), step(few)
    known = sum(costs["Megatron-LM layer"])
    rounds = []
    for _ in range(options.rounds):
        before = reference_layer()
        pairs = [(step(few), step(many)) for _ in range(options.steps)]
        speed = 2 * known / (before + reference_layer())
        times = per_layer(*(medians(column) for column in zip(*pairs)))
        rounds.append([time * speed for time in times])
    return rounds, per_layer(operators(few, costs), operators(many, costs))


def rows_of(name, rounds, kernels):
    columns = list(zip(*rounds))
    spread = max((max(column) - min(column)) / 2 for column in columns)
    middle = [f"{statistics.median(column):.1f}" for column in columns]
    return [[name, *middle, f"{spread:.1f}"],
            [f"operators of {name}", *(f"{time:.1f}" for time in kernels), "0.0"]]


def module_rows(costs, options):
    """Linear modules in a loop, forward, without a graph, backward."""
    import torch
    import transformer_engine.pytorch as engine

    kind = torch.bfloat16
    x = torch.ones(4, 8, dtype=kind, requires_grad=True)
    gradient = torch.ones(4, 8, dtype=kind)

    def looped(call):
        begin = time.thread_time()
        for _ in range(300):
            call()
        return (time.thread_time() - begin) / 300 * 1e6

    def times(module):
        def without():
            with torch.no_grad():
                module(x)

        both = looped(lambda: module(x).backward(gradient))
        forward = looped(lambda: module(x))
        return forward, looped(without), both - forward

    rows = []
    for name, module in {
            "torch.nn.Linear": torch.nn.Linear(8, 8, bias=False).to(kind),
            "te.Linear": engine.Linear(8, 8, bias=False, params_dtype=kind, device="cpu"),
            "te.LayerNormLinear": engine.LayerNormLinear(8, 8, bias=False, params_dtype=kind,
                                                         device="cpu")}.items():
        rounds = []
        times(module)
        for _ in range(options.rounds):
            speed = sum(costs["Megatron-LM layer"]) / reference_layer()
            rounds.append([time * speed for time in times(module)])
        rows.append(rows_of(f"{name} in a loop", rounds, (0, 0, 0))[0])
    return rows


def kinds(engine):
    from layers_of import Core, Legacy

    if not engine:
        return {"legacy layer": Legacy}
    return {
        "layer of GPT": lambda layers: Core(layers, gpt=True),
        "layer of Llama": Core,
        "layer with latent attention": lambda layers: Core(layers, latent=True),
        "layer with 1 expert by all-to-all": lambda layers: Core(layers, 1),
        "layer with 8 experts by all-to-all": lambda layers: Core(layers, 8),
        "layer with 1 expert by DeepEP": lambda layers: Core(layers, 1, deepep=True),
        "layer with 8 experts by DeepEP": lambda layers: Core(layers, 8, deepep=True),
    }


def main(arguments):
    def fail(code, error):
        print(f"real_layers.py: {error}", file=sys.stderr)
        return code

    options = parser().parse_args(arguments)
    for folder, inside in ((options.megatron, "megatron"), (options.engine, "transformer_engine")):
        if folder and not Path(folder, inside).is_dir():
            return fail(BAD_INPUT, f"{folder} has no folder {inside}")
    if min(options.rounds, options.steps) < 1:
        return fail(BAD_INPUT, "rounds and steps have to be 1 or more")
    try:
        import torch
    except ImportError as error:
        return fail(NO_TORCH, f"PyTorch is not installed, or cannot be loaded: {error}")
    import logging
    import warnings

    import measure_host
    from layers_of import begin

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    head = measure_host.head()
    costs = measure_host.read_table(HERE.parents[1] / "measured" / "host.csv")
    begin(Path(options.megatron).resolve(), options.engine and Path(options.engine).resolve())
    rows = []

    def add(more):
        for row in more:
            print("  ".join(text.rjust(11) if i else text.ljust(48) for i, text in enumerate(row)),
                  flush=True)
        rows.extend(more)

    add([measure_host.COLUMNS])
    if options.engine:
        add(module_rows(costs, options))
    for name, make in kinds(options.engine).items():
        add(rows_of(name, *measured(make, costs, options)))
    if options.table:
        head[-1] = "# Microseconds a layer by calib/host/frameworks/real_layers.py; spread: half " \
                   "of what rounds differ by, at most"
        measure_host.write_table(options.table, head, rows[1:])
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
