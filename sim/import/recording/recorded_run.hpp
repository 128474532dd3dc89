// What a recording shows of how its rank was run: types of numbers, optimizer, passes, loader.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/import/recording/step_counts.hpp"
#include "sim/recording/kernel_kinds.hpp"

namespace stepsim {

/// Who splits a step over data-parallel ranks, as PyTorch's annotations say.
enum class RecordedWrapper { none, ddp, fsdp1, fsdp2 };

enum class RecordedLoader { none, in_process, with_workers };

/// Empty and 0: the recording does not say.
struct RecordedRun {
  RecordedWrapper wrapper = RecordedWrapper::none;
  RecordedLoader loader = RecordedLoader::none;
  double loader_s = 0;             ///< that a batch takes where the loader is in the process
  int passes = 0;                  ///< forward passes of a step
  std::vector<std::string> marks;  ///< "2 x DistributedDataParallel.forward", what shows the passes
  bool marks_agree = true;
  std::string precision;          ///< of products: fp32, tf32, fp16, bf16, fp8
  std::string attention;          ///< a kernel of GPU profiles, or unfused
  std::string optimizer;          ///< its class: AdamW
  std::string optimizer_kernels;  ///< fused, foreach
  double recomputed = 0;          ///< share of forward passes that backward passes repeat
  bool is_compiled = false;       ///< by torch.compile
  bool replays_graphs = false;    ///< CUDA graphs
  bool has_operators = false;
  bool trains = false;  ///< backward passes or updates of parameters were seen
  bool has_convolutions = false;
};

RecordedRun run_in(const StepCounts& counts, const KernelKinds& kinds);

}  // namespace stepsim
