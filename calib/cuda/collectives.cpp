// Measures collectives by NCCL: every sample is the time of the GPU that took longest.
#include <algorithm>
#include <vector>

#include "calib/cuda/kernels.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/cuda/team.hpp"
#include "calib/harness/repetition.hpp"

namespace stepsim::calib::cuda {
namespace {

/// The samples of one GPU. All GPUs share `rough`, so that they agree on how many launches to run.
std::vector<double> samples_of(const CollectivePoint& point, const Member& member, Team& team,
                               std::vector<double>& rough) {
  constexpr int kFirst = 5, kMostInner = 200;
  const auto bytes = static_cast<std::size_t>(point.bytes);
  const DeviceBuffer send(bytes), receive(bytes);
  fill_random(send.data(), point.dtype, point.bytes / 2, static_cast<std::uint64_t>(member.rank),
              nullptr);
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  const Stream stream;
  const auto seconds_of = [&](int count) {
    const Event begin, end;
    team.meet();
    begin.record(stream);
    for (int i = 0; i < count; ++i)
      enqueue_collective(point.op, member, send, receive, point.bytes, stream);
    end.record(stream);
    stream.wait();
    return seconds_between(begin, end) / count;
  };
  (void)seconds_of(1);  // connects the ranks
  rough[static_cast<std::size_t>(member.rank)] = seconds_of(kFirst);
  team.meet();
  const Repetition repetition = repetition_for(*std::max_element(rough.begin(), rough.end()), 1);
  const int inner = std::min(repetition.inner, kMostInner);
  (void)seconds_of(inner);  // warms up
  std::vector<double> samples;
  for (int i = 0; i < repetition.repeats; ++i) samples.push_back(seconds_of(inner));
  return samples;
}

}  // namespace

Measured measure_collective(const CollectivePoint& point, Team& team) {
  std::vector<double> rough(static_cast<std::size_t>(point.gpus));
  const auto all = team.run(static_cast<int>(point.gpus), [&](const Member& member) {
    return samples_of(point, member, team, rough);
  });
  Measured measured;
  measured.timing = summarise(slowest(all));
  return measured;
}

}  // namespace stepsim::calib::cuda
