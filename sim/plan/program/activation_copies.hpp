// Activations on their way to the host and back, on rows of their own beside what the GPU computes.
//
// A layer's leave when its forward pass is done. The layer after the next one waits for that, so
// that two of them are on the GPU at most. They come back when the layer before it begins its
// backward pass, one layer ahead (NVIDIA/TransformerEngine transformer_engine/pytorch/cpu_offload.py,
// AsyncDoubleBufferGroupOffloadHandler). Both directions go at the pinned rate of the GPU's link.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

class ActivationCopies {
 public:
  explicit ActivationCopies(RankRows& rows) : rows_(rows) {}

  /// What follows is a pass of that chunk and micro-batch.
  void begin(int chunk, int micro_batch) { pass_ = {chunk, micro_batch}; }
  /// A layer's forward pass is done.
  void leave(Bytes bytes);
  /// A layer's backward pass begins, which waits for them.
  void come_back(Bytes bytes);

 private:
  TaskIndex copy(std::uint16_t& row, const char* name, Bytes bytes,
                 const std::vector<TaskIndex>& after);

  RankRows& rows_;
  std::uint16_t out_ = 0, back_ = 0;  ///< rows; 0 (the host's): none yet
  std::pair<int, int> pass_;
  TaskIndex last_out_ = RankRows::kNoTask;
  std::vector<TaskIndex> layer_before_;  ///< what the layer before the current one had to wait for
  /// Copies of layers that wait on the host, in the order in which they left.
  std::map<std::pair<int, int>, std::vector<TaskIndex>> on_host_;
};

}  // namespace stepsim
