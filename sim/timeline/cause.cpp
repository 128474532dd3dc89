// The names of the causes: as JSON keys spell them and as a person reads them.
#include <iterator>

#include "sim/core/error.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {
namespace {

struct CauseWords {
  Cause cause;
  const char *name, *title;
};

/// Causes but for waiting along an axis, which stand in kAxisWords.
constexpr CauseWords kWords[] = {
    {Cause::forward, "forward", "forward"},
    {Cause::recompute, "recompute", "recompute"},
    {Cause::backward, "backward", "backward"},
    {Cause::optimizer, "optimizer", "optimizer"},
    {Cause::contention, "contention", "compute slowed by collectives"},
    {Cause::stall, "stall", "stall of a slow GPU's host"},
    {Cause::pipeline_bubble, "pipeline_bubble", "pipeline bubble"},
    {Cause::sync_wait, "sync_wait", "waiting for other ranks to join"},
    {Cause::batch_wait, "batch_wait", "waiting for the input pipeline"},
    {Cause::h2d, "h2d", "waiting for the copy to the GPU"},
    {Cause::cpu_work, "cpu_work", "waiting for work of the CPU"},
    {Cause::recompilation, "recompilation", "waiting for a recompilation"},
    {Cause::garbage_collection, "garbage_collection", "waiting for garbage collection"},
    {Cause::offload, "offload", "waiting for offloaded activations"},
    {Cause::checkpoint, "checkpoint", "waiting for a checkpoint"},
    {Cause::launch_gap, "launch_gap", "waiting for kernel launches"},
};
static_assert(std::size(kWords) + kAxes == kCauses, "a cause has no name");

CauseWords words_of(Cause cause) {
  for (const CauseWords& words : kWords) {
    if (words.cause == cause) return words;
  }
  for (const Axis axis : kAllAxes) {
    if (exposed(axis) == cause) return {cause, words_of(axis).cause, words_of(axis).title};
  }
  throw InternalError("a cause outside the enum has no name");
}

}  // namespace

const char* name_of(Cause cause) { return words_of(cause).name; }
const char* title_of(Cause cause) { return words_of(cause).title; }

}  // namespace stepsim
