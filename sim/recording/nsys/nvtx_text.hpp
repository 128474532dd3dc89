// What the text of an NVTX range names: an operator of PyTorch, or something that a program named.
#pragma once

#include <string_view>

#include "sim/recording/recording.hpp"

namespace stepsim {

struct NvtxName {
  std::string_view name;
  HostWork work = HostWork::annotation;
  bool is_of_pytorch = false;  ///< of emit_nvtx, which makes a range of every operator
  bool has_shapes = false;
};

/// `aten::mm, seq = 7, op_id = 12, sizes = [[2, 3]]`, as torch.autograd.profiler.emit_nvtx writes
/// it, is the operator `aten::mm`; `Optimizer.step#SGD.step, op_id = 3` is an annotation, because
/// torch.profiler calls it so. The name is a part of the text; it is empty for what only DLProf and
/// PyProf read (call stacks and arguments as dictionaries).
NvtxName name_in_nvtx(std::string_view text);

}  // namespace stepsim
