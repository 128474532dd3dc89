// The keys of clusters, links and GPU profiles (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/gpu.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, GemmRange& r) {
  io.field("m", r.m, positive, "rows");
  io.field("n", r.n, positive,
           "columns; a GEMM may have them as its rows, and rows as its columns");
  io.field("k", r.k, positive, "length of the sums");
}

template <class Io>
void describe(Io& io, MemoryRange& r) {
  io.field("bytes", r.bytes, positive, "read and written by a kernel");
}

template <class Io>
void describe(Io& io, AttentionRange& r) {
  io.field("sequence", r.sequence, positive, "tokens of the keys");
}

template <class Io>
void describe(Io& io, ConvolutionProfile& c) {
  io.constant("forward", c.forward, any_ratio, "time over that of a GEMM of the same shape");
  io.constant("input_gradient", c.input_gradient, any_ratio, "as forward, for gradients of inputs");
  io.constant("weight_gradient", c.weight_gradient, any_ratio,
              "as forward, for gradients of weights");
  io.constant("winograd", c.winograd, ratio_or_none,
              "instead of these for 3x3 filters of stride 1; 0: Winograd's algorithm is not used");
  io.constant(
      "untuned", c.untuned, ratio_or_none,
      "time with the kernel that cuDNN takes untried, over that with the best of all; 0: not "
      "known");
}

template <class Io>
void describe(Io& io, GemmCorrection& c) {
  io.field("sizes", c.sizes, of_length(kCorrectionSizes, any_log_ratio), "by m, n and k");
  io.field("padding", c.padding, of_length(kCorrectionPadding, any_log_ratio),
           "by what is missing to a multiple of 256 rows, n and k");
  io.field("waves", c.waves, of_length(kCorrectionWaves, any_log_ratio),
           "by waves of each shape of tile");
  io.source("of the table");
}

template <class Io>
void describe(Io& io, TiledGemm& g) {
  io.constant("droop", g.droop, any_share, "share of the efficiency lost to power at large sizes");
  io.constant("droop_half", g.droop_half, non_negative, "size at which half of the droop has come");
  io.constant("prologue_k", g.prologue_k, any_extent,
              "start and end of a tile, as extra elements of k");
  io.constant("tile_edge", g.tile_edge, any_extent,
              "elements of a tile that a unit of its edges costs");
  io.constant("lone_tile", g.lone_tile, any_extent,
              "tile that fills an SM alone, in tiles of 128 x 128");
  io.constant("partial_waves", g.partial_waves, any_share,
              "0: whole waves of tiles only; 1: partial waves cost their share");
  io.constant("split_overhead", g.split_overhead, any_duration, "fixed cost of a split of k");
  io.constant("split_bandwidth", g.split_bandwidth, any_ratio,
              "rate at which a split's sums move, in memory bandwidths");
  io.section("correction", g.correction, GemmCorrection{},
             "logarithms of measured over modelled time, at knots");
}

template <class Io>
void describe(Io& io, SmoothGemm& g) {
  io.constant("half_m", g.half_m, any_extent, "rows at which half of the efficiency is reached");
  io.constant("half_n", g.half_n, any_extent, "columns at which half of it is reached");
  io.constant("half_k", g.half_k, any_extent,
              "summands of an element at which half of it is reached");
}

/// A model without constants.
inline decltype(GemmProfile::form) form_of(GemmModel model) {
  switch (model) {
    case GemmModel::tiled:
      return TiledGemm{};
    case GemmModel::smooth:
      return SmoothGemm{};
  }
  return {};
}

template <class Io>
void describe(Io& io, GemmProfile& g) {
  auto model = static_cast<GemmModel>(g.form.index());
  io.field("model", model, any,
           "tiled: tiles, waves and splits of GPUs; smooth: a rate that saturates in m, n and k");
  if (model != static_cast<GemmModel>(g.form.index())) g.form = form_of(model);
  io.constant("peak", g.peak, required(any_compute_rate), "datasheet, dense");
  io.constant("efficiency", g.efficiency, any_efficiency,
              "of peak, in the main loop of a short kernel");
  io.constant("memory_efficiency", g.memory_efficiency, any_efficiency,
              "of the datasheet memory bandwidth");
  io.constant("overhead", g.overhead, any_duration, "fixed cost of a kernel");
  io.constant("roundness", g.roundness, between(1, 100),
              "exponent that joins compute and memory time");
  std::visit([&](auto& form) { describe(io, form); }, g.form);
  io.constant("sustained", g.sustained, any_ratio,
              "time in a stream of training kernels over time in a short benchmark");
  io.constant("weight_gradient", g.weight_gradient, any_ratio,
              "time of a weight-gradient GEMM that accumulates, over a forward one");
  io.constant("block_scaling", g.block_scaling, any,
              "fp8: whether blocks of 32 elements may have scales of their own (MXFP8)");
  io.constant("blockwise", g.blockwise, ratio_or_none,
              "fp8: time of products whose tensors have a scale for each 128 elements, as "
              "DeepSeek-V3's, over those with one scale; 0: not known");
  io.constant("blockwise_weight_gradient", g.blockwise_weight_gradient, ratio_or_none,
              "as blockwise, for weight gradients");
  io.constant(
      "split_accumulator", g.split_accumulator, any_ratio,
      "fp8: time of products that move their sums to fp32 on the way, as those of gradients "
      "do, over that of those which do not, in a short benchmark");
  // The ratios of the A100 (calib/gpus/a100-80.yaml), for GPUs without measured grouped GEMMs.
  io.fallback(g.grouped, 1.12, "1.12");
  io.constant("grouped", g.grouped, any_ratio,
              "time of experts' grouped GEMMs over a batched GEMM of the same shapes");
  io.fallback(g.grouped_weight_gradient, 1.09, "1.09");
  io.constant("grouped_weight_gradient", g.grouped_weight_gradient, any_ratio,
              "as grouped, for the experts' weight gradients");
  // GPUs that nobody measured have the A100's constants.
  io.fallback(g.unaligned_even, 1.46, "1.46");
  io.constant("unaligned_even", g.unaligned_even, between(1, 100),
              "compute time of a GEMM of 16-bit elements whose rows are not multiples of 8, over "
              "that of one whose rows are; of even ones");
  io.fallback(g.unaligned_odd, 2.43, "2.43");
  io.constant("unaligned_odd", g.unaligned_odd, between(1, 100), "compute time where rows are odd");
  io.section("convolution", g.convolution, "convolutions against GEMMs of their shape");
  io.section("range", g.range, "shapes that were measured");
}

template <class Io>
void describe(Io& io, KeptRows& r) {
  io.constant("norm", r.norm, non_negative, "row of a norm that is read once; 0: any");
  io.constant("softmax", r.softmax, non_negative, "row of a softmax that is read once; 0: any");
}

template <class Io>
void describe(Io& io, MemoryProfile& m) {
  io.constant("latency", m.latency, any_duration, "fixed cost of a kernel");
  io.constant("elementwise", m.elementwise, required(any_rate), "rate of element-wise kernels");
  io.constant("norm", m.norm, required(any_rate), "rate of layer norms");
  io.constant("softmax", m.softmax, required(any_rate), "rate of softmax kernels");
  io.constant("dropout", m.dropout, required(any_rate), "rate of dropout kernels");
  io.constant("loss", m.loss, required(any_rate), "rate of the loss");
  io.constant("optimizer", m.optimizer, required(any_rate), "rate of the optimizer's update");
  // SimuMax's B200 tables: fused permutation 0.50 of the datasheet bandwidth, element-wise kernels
  // 0.666 (MooreThreads/SimuMax@e691807:configs/system/b200_bf16_ceperm.json).
  io.fallback(m.permute, m.elementwise * 0.75, "0.75 * elementwise");
  io.constant("permute", m.permute, any_rate, "rate of kernels that move tokens to their experts");
  io.section("kept_row", m.kept_row, KeptRows{},
             "longest rows that stay in the caches until they are read again");
  io.section("range", m.range, "sizes that were measured");
}

template <class Io>
void describe(Io& io, AttentionProfile& a) {
  io.field("kernel", a.kernel, required(), "flash1, flash2, flash3, ...");
  io.field("head_dim", a.head_dim, between(1, 1e4), "for which the constants hold");
  io.constant("plateau", a.plateau, required(any_compute_rate), "forward rate at long sequences");
  io.constant("half_sequence", a.half_sequence, any_extent,
              "tokens at which the rate is half of the plateau");
  // The FlashAttention README's charts of eight kernels on A100 and H100, 512 to 16384 tokens: full
  // over causal plateau 0.99 to 1.08, the tokens to half of it 0.1 to 0.4, 0.33 in the middle.
  io.constant("last_tile", a.last_tile, any_extent,
              "queries of the tile that ends a causal forward pass, against all keys on one SM");
  io.fallback(a.full_plateau, a.plateau, "as plateau");
  io.constant("full_plateau", a.full_plateau, any_compute_rate, "plateau without a causal mask");
  io.fallback(a.full_half_sequence, a.half_sequence / 3, "half_sequence / 3");
  io.constant("full_half_sequence", a.full_half_sequence, any_extent,
              "half_sequence without a causal mask");
  io.constant("backward_rate", a.backward_rate, any_ratio,
              "rate of the backward kernel over the forward one");
  io.constant("overhead", a.overhead, any_duration, "fixed cost of a kernel");
  io.section("range", a.range, "sequences that were measured");
}

template <class Io>
void describe(Io& io, GpuProfile& g) {
  io.fallback(g.name, g.name, "the file's name");
  io.field("name", g.name, any, "as the file");
  io.field("description", g.description, any, "one line about the GPU");
  io.sources("where the constants come from: a map of short names to texts");
  io.field("architecture", g.architecture, any, "NVIDIA's generation; NCCL's constants go by it");
  io.constant("sms", g.sms, required(between(1, 1e5)), "streaming multiprocessors");
  io.constant("memory", g.memory, required(positive), "capacity");
  io.constant("context", g.context, non_negative, "of CUDA, with the kernels that are loaded");
  io.constant("communicator", g.communicator, non_negative, "buffers of one NCCL communicator");
  io.constant("workspace", g.workspace, non_negative, "of cuBLAS, as frameworks allocate it");
  io.constant("memory_bandwidth", g.memory_bandwidth, required(any_rate), "datasheet");
  io.constant(
      "communication_share", g.communication_share, between(0, 1),
      "of a device that moves messages itself, as a CPU's core does: share of its time that "
      "a collective takes from kernels while it moves data");
  io.constant("copy_pinned", g.copy_pinned, required(any_rate), "host to device");
  io.constant("copy_pageable", g.copy_pageable, required(any_rate),
              "host to device, from pageable memory");
  io.constant("power_limit", g.power_limit, between(0, 1e5),
              "most that a board draws for long; 0: reports have no energy");
  io.constant(
      "spread", g.spread, between(0, 0.2),
      "of the speed of such GPUs under load: standard deviation over mean; a job runs at the "
      "pace of its slowest");
  io.constant("gemm_contention", g.gemm_contention, between(1, 4),
              "time of a GEMM beside a collective over what the SMs that the collective leaves "
              "explain: kernels with a block for each SM need a second wave");
  io.variants("gemm", g.gemm, &GemmProfile::precision, "precision",
              "one map per precision; `like: bf16` copies another");
  io.section("memory_kernels", g.memory_kernels, "kernels that only move bytes");
  io.list("attention", g.attention, "fused attention kernels");
}

template <class Io>
void describe(Io& io, CollectiveLine& l) {
  io.field("ranks", l.ranks, required(between(2, 1e6)), "GPUs that take part");
  io.field("algorithm", l.algorithm, required(), "a name of `stepsim list collectives`");
  io.field("protocol", l.protocol, required(), "of NCCL");
  io.field("latency", l.latency, required(non_negative), "of an empty message");
  io.field("bandwidth", l.bandwidth, required(positive), "of the algorithm; nccl-tests sizes");
  io.source("of the line");
}

template <class Io>
void describe(Io& io, MeasuredSize& s) {
  io.field("bytes", s.bytes, required(positive), "size as nccl-tests has it");
  io.field("time", s.time, required(positive), "what it took, of the whole collective");
}

template <class Io>
void describe(Io& io, FabricCurve& c) {
  io.field("op", c.op, required(), "the collective");
  io.field("nodes", c.nodes, required(between(2, 1e6)), "nodes that its GPUs lie on");
  io.field("ranks", c.ranks, required(between(2, 1e6)), "GPUs of all of them");
  io.list(
      "sizes", c.sizes,
      "in any order; between two of them times lie on a straight line, beyond all of them NCCL's "
      "formula holds, times measured over expected at the nearest");
}

template <class Io>
void describe(Io& io, LinkProfile& l) {
  if (io.is_profile()) {
    io.fallback(l.name, l.name, "the file's name");
    io.field("name", l.name, any, "as the file");
    io.note("description", "one line about the link");
    io.sources("where the constants come from: a map of short names to texts");
  }
  io.constant("bandwidth", l.bandwidth, required(positive), "per GPU and direction");
  io.constant("efficiency", l.efficiency, any_fraction,
              "payload that a transfer reaches, of bandwidth");
  io.constant("latency", l.latency, required(non_negative), "of one transfer or one ring step");
  if (io.is_profile()) {
    io.list("all_reduce", l.all_reduce,
            "measured, the least of a number of ranks, algorithm and protocol; none: from "
            "bandwidth and "
            "latency");
    io.list("all_gather", l.all_gather, "as all_reduce, for all-gathers");
    io.list("reduce_scatter", l.reduce_scatter, "as all_reduce, for reduce-scatters");
    io.list("all_to_all", l.all_to_all, "as all_reduce, for all-to-alls");
    io.constant("two_node_trees", l.two_node_trees, between(0.1, 2),
                "rate of an all-reduce by trees over two such nodes, of what NCCL expects of it");
  }
}

template <class Io>
void describe(Io& io, GraphLink& l) {
  io.field("from", l.from, required(), "\"leaf 0\", or many: \"node 0..15\"");
  io.field("to", l.to, required(), "as from; of many and many each with each");
  io.field("bandwidth", l.bandwidth, required(any_rate), "from `from` to `to`");
  io.fallback(l.back, l.back, "as bandwidth");
  io.field("back", l.back, any_rate, "from `to` to `from`");
}

template <class Io>
void describe(Io& io, NodeLayout& n) {
  io.field("kind", n.kind, any, "a name of `stepsim list node-topologies`");
  io.fallback(n.gpus_per_switch, n.gpus_per_switch, "2");
  io.field("gpus_per_switch", n.gpus_per_switch, between(1, 1024),
           "pcie: GPUs below one PCIe switch; 1: on the host bridge itself");
  io.fallback(n.sockets, n.sockets, "2, where there are two switches");
  io.field("sockets", n.sockets, between(1, 64), "pcie: CPUs, each with its share of switches");
  io.fallback(n.pcie_bandwidth, n.pcie_bandwidth, "pcie: intra_node's; hybrid_cube_mesh: 12 GB/s");
  io.field("pcie_bandwidth", n.pcie_bandwidth, any_rate,
           "pcie, hybrid_cube_mesh: payload of a slot and of a switch's up-link, per direction");
  io.fallback(n.socket_bandwidth, n.socket_bandwidth, "pcie: 22 GB/s; hybrid_cube_mesh: 6 GB/s");
  io.field("socket_bandwidth", n.socket_bandwidth, any_rate,
           "pcie, hybrid_cube_mesh: payload between two sockets, per direction");
  io.field("switches", n.switches, any, "custom: what else links may name: switches, CPUs");
  io.list("links", n.links, "custom: payload between `gpu 0..7`, `nic 0..3` and switches");
}

template <class Io>
void describe(Io& io, BackgroundLoad& b) {
  io.field("links", b.links, required(),
           "a name of `stepsim show cluster`; a * stands for any text: \"leaf * up\"");
  io.field("rate", b.rate, required(any_rate),
           "that others send over each of them, or what they get");
}

/// What only some topologies read.
template <class Io>
void describe_topology(Io& io, Fabric& f) {
  io.field("nodes_per_leaf", f.nodes_per_leaf, between(0, 1e6),
           "fat_tree: nodes below one leaf switch; rail: nodes of one pod; 0: all");
  io.field("leaves_per_pod", f.leaves_per_pod, any_count,
           "fat_tree: a third level joins pods of so many leaves");
  io.one_or_more(
      "oversubscription", f.oversubscription, between(1, 1000),
      "fat_tree, rail: bandwidth below a switch over that above it; a list goes level by "
      "level from the leaves");
  io.fallback(f.nodes_per_router, f.nodes_per_router, "1");
  io.field("nodes_per_router", f.nodes_per_router, any_count, "dragonfly: nodes of one router");
  io.field("routers_per_group", f.routers_per_group, any_count,
           "dragonfly: all joined to each other");
  io.fallback(f.global_links, f.global_links, "half of routers_per_group");
  io.field("global_links", f.global_links, any_count, "dragonfly: of each router to other groups");
  io.field("sizes", f.sizes, any_count, "torus: nodes along x, y and z: [4, 4, 8]");
  io.fallback(f.link_bandwidth, f.link_bandwidth, "as bandwidth");
  io.field("link_bandwidth", f.link_bandwidth, any_rate,
           "dragonfly, torus: of one link between two routers, per direction");
  io.fallback(f.global_bandwidth, f.global_bandwidth, "as link_bandwidth");
  io.field("global_bandwidth", f.global_bandwidth, any_rate, "dragonfly: of one global link");
  io.field("switches", f.switches, any, "custom: names, or many: \"leaf 0..3\"");
  io.list("links", f.links, "custom: cables between `node 0..15`, `node 0 nic 3` and switches");
}

template <class Io>
void describe(Io& io, Fabric& f) {
  io.field("topology", f.topology, any, "a name of `stepsim list topologies`");
  io.fallback(f.nics_per_node, f.nics_per_node, "one per GPU");
  io.field("nics_per_node", f.nics_per_node, between(1, 1024),
           "network adapters that carry the traffic of training");
  io.field("bandwidth", f.bandwidth, required(any_rate), "of one NIC, per direction");
  io.field("efficiency", f.efficiency, any_fraction,
           "payload that a large transfer reaches, of bandwidth");
  io.field("latency", f.latency, required(any_duration),
           "of one hop between two nodes, software included");
  io.field("peer_latency", f.peer_latency, any_duration,
           "of an all-to-all for each peer on another node, to which the host posts in turn");
  io.field("plugin_latency", f.plugin_latency, any_duration,
           "of a hop, as NCCL's network plugin reports it, for NCCL's choice alone: 75 us on EFA");
  io.field("sharp", f.sharp, any, "the switches reduce, which NCCL's CollNet and NVLS use");
  describe_topology(io, f);
  io.list("measured", f.measured,
          "what groups of so many GPUs on so many nodes take where NCCL chooses; groups that lie "
          "otherwise take what latency, bandwidth and NCCL say");
}

template <class Io>
void describe(Io& io, Cluster& c) {
  io.fallback(c.name, c.name, "the file's name");
  io.field("name", c.name, any, "of the cluster, in reports");
  io.part("gpu", c.gpu, "a name in calib/gpus/");
  io.field("nodes", c.nodes, between(1, 1e6), "machines");
  io.field("gpus_per_node", c.gpus_per_node, between(1, 1024), "GPUs of one machine");
  io.field("cpu_speed", c.cpu_speed, positive,
           "speed of a core of the nodes' CPUs over the one that calls were measured on "
           "(calib/measured/host.csv): the default of host.speed; absent: not known");
  io.part("intra_node", c.intra_node,
          "a name in calib/links/, or a map; needed for more than one GPU in a node");
  io.section("node_topology", "kind", c.node_topology, "how the GPUs of a node are joined");
  io.section("inter_node", c.inter_node, Fabric{.nics_per_node = c.gpus_per_node},
             "the network between nodes; needed for more than one node");
  io.list("background", c.background, "what other jobs send over links of the cluster");
}

}  // namespace stepsim
