"""Writes what PyTorch's profiler recorded as Kineto does, also where PyTorch has no Kineto.

Of a CPU all events are PyTorch's own; Kineto only writes them down. Debian's PyTorch has no Kineto,
and its own export_chrome_trace() has neither categories nor arguments. The form is that of Kineto
since May 2024: microseconds with three decimals behind baseTimeNanoseconds
(libkineto/src/output_json.cpp, torch/csrc/profiler/collection.cpp).
"""

import gzip
import json
import os

import torch

KINDS = {"TorchOp": "cpu_op", "PyCall": "python_function", "PyCCall": "python_function"}
USER_SCOPE = 7  # RecordScope::USER_SCOPE, at::record_function's: an annotation


def kind_of(event, is_user):
    return "user_annotation" if is_user else KINDS.get(str(event.tag).rpartition(".")[2])


def all_of(events):
    waiting = list(events)
    while waiting:
        event = waiting.pop()
        yield event
        waiting += event.children


def written(event, kind, flat, index):
    fields, arguments = event.extra_fields, {"Ev Idx": index}
    if kind != "python_function":
        arguments["External id"] = event.correlation_id
        if flat is not None and flat.shapes():
            arguments |= {"Input Dims": flat.shapes(), "Input type": flat.dtypes()}
        if fields.sequence_number >= 0:
            arguments["Sequence number"] = fields.sequence_number
            arguments["Fwd thread id"] = flat.fwd_thread_id() if flat else 0
    return arguments


def save(profiler, path, distributed=None):
    """path: ends in .json.gz; distributed: backend, rank and world_size where there are several."""
    if torch.profiler.kineto_available():
        return profiler.export_chrome_trace(path)
    results, pid = profiler.profiler.kineto_results, os.getpid()
    flat = {event.correlation_id(): event for event in results.events()}
    events = sorted(all_of(results.experimental_event_tree()),
                    key=lambda e: (e.start_time_ns, -e.end_time_ns))
    base = events[0].start_time_ns // 10**9 * 10**9
    rows = []
    for index, event in enumerate(events):
        of_kineto = flat.get(event.correlation_id) if str(event.tag).endswith("TorchOp") else None
        kind = kind_of(event, of_kineto is not None and of_kineto.scope() == USER_SCOPE)
        if kind is None or event.end_time_ns < event.start_time_ns:
            continue
        rows.append({"ph": "X", "cat": kind, "name": event.name, "pid": pid,
                     "tid": event.start_tid, "ts": round((event.start_time_ns - base) / 1e3, 3),
                     "dur": round(event.duration_time_ns / 1e3, 3),
                     "args": written(event, kind, of_kineto, index)})
    head = {"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": base,
            "displayTimeUnit": "ms", "with_stack": int(profiler.with_stack),
            "record_shapes": int(profiler.record_shapes)}
    if distributed:
        head["distributedInfo"] = distributed
    with gzip.open(path, "wt") as file:
        json.dump(head | {"traceEvents": rows}, file, separators=(",", ":"))
