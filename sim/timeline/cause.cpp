// The names of the causes: as JSON keys spell them and as a person reads them.
#include "sim/core/error.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {
namespace {

struct Words {
  const char* name = nullptr;
  const char* title = nullptr;
};

/// In the order of the enum.
constexpr std::array<Words, kCauses> kWords{{
    {"forward", "forward"},
    {"recompute", "recompute"},
    {"backward", "backward"},
    {"optimizer", "optimizer"},
    {"contention", "compute slowed by collectives"},
    {"stall", "stall of a slow GPU's host"},
    {"exposed_tensor", "exposed tensor-parallel communication"},
    {"exposed_context", "exposed context-parallel exchanges"},
    {"exposed_expert", "exposed expert-parallel exchanges"},
    {"exposed_tables", "exposed exchanges of embeddings"},
    {"exposed_data", "exposed data-parallel communication"},
    {"exposed_pipeline", "exposed pipeline communication"},
    {"pipeline_bubble", "pipeline bubble"},
    {"sync_wait", "waiting for other ranks to join"},
    {"batch_wait", "waiting for the input pipeline"},
    {"h2d", "waiting for the copy to the GPU"},
    {"cpu_work", "waiting for work of the CPU"},
    {"recompilation", "waiting for a recompilation"},
    {"garbage_collection", "waiting for garbage collection"},
    {"checkpoint", "waiting for a checkpoint"},
    {"launch_gap", "waiting for kernel launches"},
}};
static_assert(kWords.back().name != nullptr, "a cause has no name");

const Words& words_of(Cause cause) {
  const auto index = static_cast<std::size_t>(cause);
  if (index >= kCauses) throw InternalError("a cause outside the enum has no name");
  return kWords[index];
}

}  // namespace

const char* name_of(Cause cause) { return words_of(cause).name; }
const char* title_of(Cause cause) { return words_of(cause).title; }

}  // namespace stepsim
