// Measures one thing beside another: a row of each runs on a stream of its own. The row that is not
// timed begins first and ends last.
#include <algorithm>
#include <cmath>
#include <vector>

#include "calib/cuda/handles.hpp"
#include "calib/cuda/matmul.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/cuda/team.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {
namespace {

constexpr int kSamples = 10;
/// The sets of operands of the GEMM: several, so that it does not find its operands in the cache.
constexpr int kTurns = 4;

/// What the timed thing and the one beside it need on one GPU.
class Bench {
 public:
  Bench(const OverlapPoint& point, const Member& member)
      : point_(point),
        member_(member),
        bytes_(static_cast<std::size_t>(point.bytes)),
        matmul_({point.dtype, Transpose::TN, point.m, point.n, point.k}, kTurns),
        here_(bytes_),
        there_(bytes_),
        host_(bytes_) {}

  void enqueue(Activity activity, cudaStream_t stream, int count) const {
    for (int i = 0; i < count; ++i) {
      switch (activity) {
        case Activity::gemm:
          matmul_.enqueue(stream, i % kTurns);
          break;
        case Activity::h2d:
          copy(here_.data(), host_.data(), cudaMemcpyHostToDevice, stream);
          break;
        case Activity::d2h:
          copy(host_.data(), here_.data(), cudaMemcpyDeviceToHost, stream);
          break;
        case Activity::d2d:
          copy(there_.data(), here_.data(), cudaMemcpyDeviceToDevice, stream);
          break;
        case Activity::all_reduce:
          enqueue_collective(CollectiveOp::all_reduce, member_, here_, there_, point_.bytes,
                             stream);
          break;
      }
    }
  }

 private:
  void copy(void* to, const void* from, cudaMemcpyKind kind, cudaStream_t stream) const {
    check(cudaMemcpyAsync(to, from, bytes_, kind, stream), "cudaMemcpyAsync");
  }

  OverlapPoint point_;
  Member member_;
  std::size_t bytes_;
  Matmul matmul_;
  DeviceBuffer here_, there_;
  PinnedBuffer host_;
};

/// Rough times of all GPUs, from which they agree on the slowest one's.
struct Rough {
  std::vector<double> timed, beside;
};

class Experiment {
 public:
  Experiment(const OverlapPoint& point, const Member& member, Team& team)
      : point_(point), team_(team), bench_(point, member) {}

  /// Takes samples of the timed thing alone, then as many beside the other.
  std::vector<double> samples(Rough& rough, int rank) {
    constexpr int kFirst = 3;
    constexpr double kRow = 5e-3, kCover = 3;
    (void)alone(point_.timed, 1);
    (void)alone(point_.beside, 1);
    rough.timed[static_cast<std::size_t>(rank)] = alone(point_.timed, kFirst);
    rough.beside[static_cast<std::size_t>(rank)] = alone(point_.beside, kFirst);
    team_.meet();
    const double timed = *std::max_element(rough.timed.begin(), rough.timed.end());
    const double beside = *std::min_element(rough.beside.begin(), rough.beside.end());
    const int row = static_cast<int>(std::clamp(std::ceil(kRow / timed), 2.0, 200.0));
    // The row beside lasts three times as long as the timed row takes alone, because the timed row
    // becomes slower.
    const int cover = static_cast<int>(std::ceil(kCover * row * timed / beside)) + 2;
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) samples.push_back(alone(point_.timed, row));
    for (int i = 0; i < kSamples; ++i) samples.push_back(together(row, cover));
    return samples;
  }

 private:
  double alone(Activity activity, int count) {
    team_.meet();
    first_.record(timed_);
    bench_.enqueue(activity, timed_, count);
    last_.record(timed_);
    timed_.wait();
    return seconds_between(first_, last_) / count;
  }

  double together(int row, int cover) {
    team_.meet();
    begin_.record(beside_);
    bench_.enqueue(point_.beside, beside_, cover);
    end_.record(beside_);
    wait_for(timed_, begin_);
    first_.record(timed_);
    bench_.enqueue(point_.timed, timed_, row);
    last_.record(timed_);
    timed_.wait();
    beside_.wait();
    if (seconds_between(last_, end_) < 0) throw NotOffered("what was to run beside it ended first");
    return seconds_between(first_, last_) / row;
  }

  OverlapPoint point_;
  Team& team_;
  Bench bench_;
  Stream timed_, beside_;
  Event begin_, end_, first_, last_;
};

}  // namespace

Measured measure_overlap(const OverlapPoint& point, Team& team) {
  const auto size = static_cast<std::size_t>(point.gpus);
  Rough rough{std::vector<double>(size), std::vector<double>(size)};
  const auto all = team.run(static_cast<int>(point.gpus), [&](const Member& member) {
    return Experiment(point, member, team).samples(rough, member.rank);
  });
  const std::vector<double> samples = slowest(all);
  Measured measured;
  measured.alone_seconds = quantile({samples.begin(), samples.begin() + kSamples}, 0.5);
  measured.timing = summarise({samples.begin() + kSamples, samples.end()});
  return measured;
}

}  // namespace stepsim::calib::cuda
