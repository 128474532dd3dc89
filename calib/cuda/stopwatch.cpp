// Warms up, captures a graph and takes samples.
#include "calib/cuda/stopwatch.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "calib/cuda/handles.hpp"
#include "calib/harness/budget.hpp"
#include "calib/harness/repetition.hpp"

namespace stepsim::calib::cuda {
namespace {

/// A batch that one call launches as a whole.
class Graph {
 public:
  Graph(const Batch& batch, int count, cudaStream_t stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      batch(stream, count);
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiate");
  }
  ~Graph() { (void)cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// The rough seconds of a launch: the first launch loads code, and the three after it are timed.
double rough_seconds(const Batch& batch, const Stream& stream) {
  constexpr int kLaunches = 3;
  Event begin, end;
  batch(stream, 1);
  stream.wait();
  begin.record(stream);
  batch(stream, kLaunches);
  end.record(stream);
  stream.wait();
  return seconds_between(begin, end) / kLaunches;
}

void warm_up(const std::function<void()>& sample, const Stream& stream, double seconds) {
  const Budget budget(seconds, Budget::steady_clock());
  do {
    sample();
    stream.wait();
  } while (!budget.spent());
}

}  // namespace

Timing time_batch(const Batch& batch, const StopwatchSettings& settings) {
  Stream stream;
  const Repetition repetition = repetition_for(rough_seconds(batch, stream), settings.turns);
  std::unique_ptr<Graph> graph;
  if (settings.through == Through::graph)
    graph = std::make_unique<Graph>(batch, repetition.inner, stream);
  const auto sample = [&] {
    if (graph) {
      graph->launch(stream);
    } else {
      batch(stream, repetition.inner);
    }
  };
  warm_up(sample, stream, settings.warm_up_s);
  // All launches are enqueued before the first ends, so that the GPU has no time to rest between
  // them.
  std::vector<Event> events(static_cast<std::size_t>(repetition.repeats) + 1);
  events.front().record(stream);
  for (std::size_t i = 1; i < events.size(); ++i) {
    sample();
    events[i].record(stream);
  }
  stream.wait();
  std::vector<double> seconds;
  for (std::size_t i = 1; i < events.size(); ++i)
    seconds.push_back(seconds_between(events[i - 1], events[i]) / repetition.inner);
  return summarise(seconds);
}

}  // namespace stepsim::calib::cuda
