// The keys of host (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// How often: as often as anything that a run of a few days does.
inline constexpr Rules every_so_often = between(1, 1e6);

template <class Io>
void describe(Io& io, Sync& s) {
  io.field("every", s.every, every_so_often,
           "steps, micro-batches, or passes of a step, between two reads");
  io.field("per", s.per, any,
           "step: all ranks read at its end; micro_batch: those with the loss, after its backward "
           "pass; pass: all ranks, after each pass of a stage");
  // 5 to 7 us for a copy of next to nothing by cudaMemcpyAsync: Wu et al. 2026, arXiv 2602.21548,
  // section 5.2.
  io.fallback(s.time, 6_us, "6 us");
  io.field("time", s.time, any_duration, "of one read, once the GPU is done");
}

template <class Io>
void describe(Io& io, CpuWork& w) {
  io.field("name", w.name, any, "of its spans in a trace");
  io.field("after", w.after, any,
           "batch: before forward passes of the model's first and last part, which take one; "
           "input: before all forward passes; forward: on ranks with the loss; backward, step: on "
           "all of them");
  io.field("time", w.time, required(any_duration), "CPU time, once its input is there");
  io.fallback(w.per, w.after == HostAfter::step ? Per::step : Per::micro_batch,
              "micro_batch; step where after is step");
  io.field("per", w.per, any, "what `every` counts; step: after the last such pass of a step");
  io.field("every", w.every, every_so_often, "micro-batches, or steps");
  io.field("waits", w.waits, any,
           "the host waits for what the GPU has computed; false: it only launches later");
  io.field("to_host", w.to_host, non_negative, "copied from the GPU before it");
  io.field("to_gpu", w.to_gpu, non_negative, "copied to the GPU after it");
}

template <class Io>
void describe(Io& io, Recompilation& r) {
  io.field("time", r.time, required(any_duration), "of one compilation, or capture of a graph");
  io.field("pass", r.pass, any, "what is compiled, before the step's first such pass is launched");
  io.field("when", r.when, any,
           "steps: every so many; last_batch: the last step of each epoch of data.samples, whose "
           "batch is short");
  io.field("every", r.every, every_so_often, "steps");
}

template <class Io>
void describe(Io& io, GarbageCollection& g) {
  io.field("pause", g.pause, required(any_duration), "at the start of a step, before any launch");
  io.field("every", g.every, every_so_often, "steps");
  io.field("aligned", g.aligned, any,
           "all ranks in the same step, as Megatron-LM's --manual-gc; false: each GPU of "
           "neighbouring ones a step later");
}

template <class Io>
void describe(Io& io, Host& h) {
  io.field("mode", h.mode, any,
           "blocking: as CUDA_LAUNCH_BLOCKING=1; compiled: launches from compiled code; graph: a "
           "whole pass is one launch");
  io.field(
      "graphs", h.graphs, any,
      "modules of layers whose kernels are one launch in each pass (Megatron-LM's "
      "--cuda-graph-modules with --cuda-graph-impl); a layer whose attention stands beside the "
      "MLP is attn");
  io.fallback(h.pace, default_pace(io.framework(), h.mode), "launches, or the framework's");
  io.field("pace", h.pace, any,
           "launches: nothing else takes time; calls: what eager PyTorch calls besides operators "
           "with kernels takes what it was measured to take");
  io.field("anomaly_detection", h.anomaly_detection, any,
           "torch.autograd.set_detect_anomaly: each forward operator keeps a stack trace, the host "
           "looks for NaN in what each backward kernel has written, and waits for that");
  io.fallback(h.speed, h.speed, "the cluster's cpu_speed, else 0.64");
  io.field("speed", h.speed, positive,
           "pace calls, or compiled by PyTorch: of a core, over the one that was measured "
           "(calib/measured/host.csv)");
  io.fallback(h.launch, default_launch(io.framework(), h.mode, h.pace, h.speed),
              "16 us, pace calls: 10 us / speed; compiled: 3 us, PyTorch's: 8.6 us / speed; graph: "
              "5 us");
  io.field("launch", h.launch, any_duration,
           "CPU time to launch one kernel, with the operator that does");
  io.field("queue_depth", h.queue_depth, between(1, 1e6),
           "kernels that are launched ahead of the GPU at most, about 1,000 with CUDA; absent: no "
           "limit");
  io.section("sync", h.sync, Sync{},
             "when the loop reads a value back; absent: it waits for each step's end, for free");
  io.list("cpu_work", h.cpu_work, "loss or metrics on the CPU");
  io.section("recompilation", h.recompilation, Recompilation{},
             "of passes that meet a new shape; compiled and graph only");
  io.section("garbage_collection", h.garbage_collection, GarbageCollection{},
             "pauses of the Python process");
  io.field("cores", h.cores, positive,
           "of a node's CPUs: threads, and loader workers, that are more share them; absent: never "
           "too few");
  io.field("threads", h.threads, between(0, 1024),
           "of the process of each GPU that keep a core busy, loader workers apart");
  // CPU Adam of ZeRO-Offload: 10 billion parameters in 2.57 s on two Xeon 8168 (Ren et al. 2021,
  // arXiv 2101.06840, table 4), 28 B of fp32 state and gradients and 2 B of weights each.
  io.fallback(h.optimizer_rate, 117_GBps, "117 GB/s");
  io.field("optimizer_rate", h.optimizer_rate, any_rate,
           "bytes that a node's CPUs move in offloaded updates, shared by its ranks");
}

}  // namespace stepsim
