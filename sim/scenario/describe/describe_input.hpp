// The keys of data (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/storage_tier.hpp"

namespace stepsim {

/// Limits of what loaders read from; 0 is none.
template <class Io>
void describe_limits(Io& io, Storage& s, const Storage& preset) {
  const std::string_view known = "the tier's, else none";
  io.fallback(s.bandwidth, preset.bandwidth, known);
  io.field("bandwidth", s.bandwidth, non_negative,
           "of one node, shared by its loader workers; 0 GB/s: reads move no bytes");
  io.fallback(s.shared_bandwidth, preset.shared_bandwidth, known);
  io.field("shared_bandwidth", s.shared_bandwidth, non_negative,
           "of all nodes together; 0 GB/s: no limit");
  io.fallback(s.stream_bandwidth, preset.stream_bandwidth, known);
  io.field("stream_bandwidth", s.stream_bandwidth, non_negative,
           "of one read: a connection, a file; 0 GB/s: no limit");
  io.fallback(s.latency, preset.latency, known);
  io.field("latency", s.latency, non_negative, "of one read");
  io.fallback(s.iops, preset.iops, known);
  io.field("iops", s.iops, between(0, 1e12), "reads a second of one node; 0: no limit");
  io.fallback(s.shared_iops, preset.shared_iops, known);
  io.field("shared_iops", s.shared_iops, between(0, 1e12), "of all nodes together; 0: no limit");
}

template <class Io>
void describe(Io& io, Storage& s) {
  io.field("tier", s.tier, any, "whose numbers hold where nothing is stated below");
  const Storage preset = storage_of(s.tier);
  describe_limits(io, s, preset);
  io.field("samples_per_read", s.samples_per_read, between(1e-6, 1e12),
           "1: a file each; more: shards; less: large files in parts");
  io.field("through", s.through, any,
           "fabric: reads come through the NICs that collectives use, too");
  io.field("page_cache", s.page_cache, non_negative,
           "memory of a node that keeps what was read in earlier epochs");
  io.fallback(s.page_cache_bandwidth, preset.page_cache_bandwidth,
              "a third of the memory bandwidth of a DGX A100");
  io.field("page_cache_bandwidth", s.page_cache_bandwidth, any_rate,
           "at which a node's loaders read that again");
  io.field("cache_policy", s.cache_policy, any,
           "lru: what was read last stays; keep: what was read first, for good");
}

template <class Io>
void describe(Io& io, Variation& v) {
  io.field("distribution", v.distribution, any, "a name of `stepsim list distributions`");
  io.field("mean", v.spread.mean, positive, "of the factors");
  io.field("sigma", v.spread.sigma, between(0, 10), "standard deviation, in units of the mean");
  io.field("values", v.spread.values, positive, "empirical: what was measured, in any unit");
}

/// What each sample costs, and where.
template <class Io>
void describe_cost(Io& io, Input& d) {
  io.field("decode_on", d.decode_on, any,
           "gpu: decoding takes time of the GPU, and encoded samples are copied to it");
  SampleTime decode{d.decode}, transform{d.transform};
  io.field("decode", decode, any_duration, "time per sample of a worker, or of the GPU");
  d.decode = decode.time;
  io.field("decode_rate", d.decode_rate, any_rate,
           "besides: bytes of sample_size that one worker, or the GPU, decodes in a second");
  io.field("transform", transform, any_duration, "CPU time per sample in a worker, besides");
  d.transform = transform.time;
  io.field("transform_rate", d.transform_rate, any_rate,
           "besides: bytes of sample_size that one worker transforms in a second");
  io.section("variation", d.variation, Variation{},
             "the CPU time of each sample is multiplied by a draw from run.seed");
}

template <class Io>
void describe_workers(Io& io, Input& d) {
  io.field("workers", d.workers, between(0, 1024),
           "loader processes per loading GPU; 0: in the main process");
  io.field("prefetch", d.prefetch, between(1, 1024), "batches in flight per worker");
  io.field("persistent_workers", d.persistent_workers, any,
           "workers live on from epoch to epoch; queues run empty at its end all the same");
  io.field("worker_start", d.worker_start, any_duration,
           "until a new worker takes its first batch: process, imports, data set");
  io.field("worker_memory", d.worker_memory, non_negative, "of one worker, without its batches");
  io.field("host_memory", d.host_memory, positive,
           "of a node, for loaders and their batches; absent: not checked");
}

template <class Io>
void describe(Io& io, Input& d) {
  io.section("storage", "tier", d.storage, "where samples are read from; a word is its tier");
  io.field("sample_size", d.sample_size, required(positive), "read per sequence or sample");
  describe_cost(io, d);
  const bool encoded = d.decode_on == Decoder::gpu || d.device_bytes.bytes() == 0;
  io.fallback(
      d.device_bytes, encoded ? d.sample_size : d.device_bytes,
      "8 B a token or index, 4 B a dense feature or channel of a pixel, 2 B a number of latents or "
      "of their text; else sample_size");
  io.field("device_bytes", d.device_bytes, positive, "copied to the GPU per sequence or sample");
  io.field("samples", d.samples, between(0, 1e15),
           "of the data set, whose end is an epoch's; 0: it never comes");
  io.field("first_epoch", d.first_epoch, between(0, 1e6),
           "the epoch that the run starts in; 0: nothing is in the page cache");
  describe_workers(io, d);
  io.field("pinned", d.pinned, any,
           "copies to the GPU come from page-locked memory and run beside compute");
  io.field("non_blocking", d.non_blocking, any,
           "false: the host waits for copies from page-locked memory, too");
  io.field("pin_bandwidth", d.pin_bandwidth, any_rate,
           "of the one thread that copies batches to page-locked memory; absent: it takes no time");
  io.field("h2d_bandwidth", d.h2d_bandwidth, any_rate,
           "of copies to the GPU, instead of the GPU profile's");
}

/// What is copied to the GPU per sequence, image or sample: token ids and table indices as int64,
/// pixels (torchvision.transforms.ToTensor) and dense features as fp32, latents and embedded text,
/// which were made before, in 16 bits.
inline Input input_defaults(const Scenario& s) {
  Input input;
  if (const auto* d = std::get_if<Dlrm>(&s.model.shape)) {
    const double indices = d->pooling * static_cast<double>(d->tables.size());
    input.device_bytes = 4_B * static_cast<double>(d->dense_features) + 8_B * indices;
    return input;
  }
  if (const auto* r = std::get_if<ResNet>(&s.model.shape)) {
    input.device_bytes = 4_B * static_cast<double>(r->channels * r->image * r->image);
    return input;
  }
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr && t->vision) {
    const Vision& v = *t->vision;
    input.device_bytes = 4_B * static_cast<double>(v.channels * v.image * v.image);
    return input;
  }
  if (t != nullptr && t->diffusion) {
    const Diffusion& d = *t->diffusion;
    const std::int64_t text = d.text ? d.text->tokens * d.text->width + d.pooled : 0;
    input.device_bytes = 2_B * static_cast<double>(s.sequence_length() * d.patch_values() + text);
    return input;
  }
  input.device_bytes = 8_B * static_cast<double>(s.sequence_length() + s.target_length());
  if (t != nullptr && t->tower && s.training.images) {
    const ImageTokens image(*t->tower, *s.training.images);
    const std::int64_t values = image.patches * t->tower->patch_values();
    input.device_bytes += 4_B * static_cast<double>(s.training.images->per_sequence * values);
  }
  return input;
}

}  // namespace stepsim
