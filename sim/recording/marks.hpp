// Names that PyTorch gives to what it marks on the host, whatever the format.
#pragma once

#include <string_view>

namespace stepsim {

/// A step of torch.profiler: ProfilerStep#5.
inline bool marks_step(std::string_view name) { return name.starts_with("ProfilerStep#"); }

/// The DataLoader hands over a batch:
/// enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__.
inline bool marks_loader(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)");
}

}  // namespace stepsim
