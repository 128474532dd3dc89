// YAML of the cluster and of the scenario, with the rates at which pictures are loaded.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/calibrate/fit/line.hpp"
#include "sim/calibrate/profile/cpu_profile.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

/// The picture whose decoding the scenario has, and about its bytes as a JPEG of quality 90.
constexpr std::int64_t kPictureWidth = 320, kPictureHeight = 240;
constexpr const char* kPictureBytes = "32 KiB";

/// For a comment.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

struct Reading {
  Seconds latency;
  std::optional<BytesPerSecond> rate;
};

/// Files that were read before; nothing where too few were.
std::optional<Reading> warm_reads(const Records& records) {
  std::vector<fit::Message> messages;
  for_each_point<FileReadPoint>(records, [&](const auto& point, const auto& measured) {
    if (point.cache == PageCache::warm)
      messages.push_back(
          {Bytes{static_cast<double>(point.bytes)}, Seconds{measured.timing.seconds}});
  });
  if (messages.size() < 2) return {};
  const fit::Line line = fit::line_through(messages);
  if (line.seconds_per_byte <= 0) return Reading{line.latency, {}};
  return Reading{line.latency, BytesPerSecond{1 / line.seconds_per_byte}};
}

std::optional<Seconds> decoding(const Records& records) {
  std::optional<Seconds> seconds;
  for_each_point<DecodePoint>(records, [&](const auto& point, const auto& measured) {
    if (point.width == kPictureWidth && point.height == kPictureHeight)
      seconds = Seconds{measured.timing.seconds};
  });
  return seconds;
}

/// "{latency: 3 us, bandwidth: 8 GB/s}"; what the fit has none of is left out.
std::string storage_text(const Reading& reading) {
  std::vector<std::string> parts;
  if (reading.latency > Seconds{})
    parts.push_back(fmt::format("latency: {:.4g} us", reading.latency.seconds() * 1e6));
  if (reading.rate)
    parts.push_back(fmt::format("bandwidth: {:.4g} GB/s", reading.rate->bytes_per_second() / 1e9));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

/// What loads pictures of this machine's disk, once they are in the page cache; "" where it was not
/// measured.
std::string data_text(const Records& records) {
  const auto decode = decoding(records);
  const auto reading = warm_reads(records);
  if (!decode || !reading) return "";
  return fmt::format(
      "# JPEG files of {}x{} pixels in the page cache, as measured; their size: judgement, quality "
      "90.\n"
      "data:\n"
      "  sample_size: {}\n"
      "  storage: {}\n"
      "  decode: {:.4g} us\n"
      "  workers: 1\n"
      "  prefetch: 2\n"
      "  pinned: false\n",
      kPictureWidth, kPictureHeight, kPictureBytes, storage_text(*reading),
      decode->seconds() * 1e6);
}

}  // namespace

std::string cpu_cluster_text(const std::string& name, std::int64_t ranks, bool linked,
                             const ProfileOrigin& origin) {
  std::string text = fmt::format(
      "# Cores of this machine as devices, by stepsim calibrate cpu.\n"
      "# Measured with as many of them at work: {}, {}.\n"
      "name: {}\ngpu: {}\nnodes: 1\ngpus_per_node: {}\n",
      one_line(origin.device), origin.date, write_scalar(name), write_scalar(name), ranks);
  if (linked) text += fmt::format("intra_node: {}\n", write_scalar(name));
  return text;
}

std::string cpu_scenario_text(const std::string& name, std::int64_t measured, int cores,
                              const Records& records) {
  const std::int64_t ranks = std::clamp<std::int64_t>(cores - 1, 1, measured);
  return fmt::format(
      "# A training to start from on this machine, by stepsim calibrate cpu.\n"
      "model: {{name: mlp, kind: mlp, layers: 8, width: 1024, bias: false}}\n"
      "cluster: {{base: {}, gpus_per_node: {}}}\n"
      "training: {{global_batch: {}, micro_batch: 64, precision: fp32, gradient_clipping: false}}\n"
      "parallelism:\n"
      "  data: {{sharding: ddp, bucket: 4 MiB}}\n"
      "# Kernels are calls: nothing is launched.\n"
      "host: {{launch: 0 us, cores: {}, threads: 1}}\n"
      "{}",
      write_scalar(name), ranks, 64 * ranks, cores, cores > ranks ? data_text(records) : "");
}

}  // namespace stepsim
