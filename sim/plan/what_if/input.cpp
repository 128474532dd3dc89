// The input pipeline: free, and with more of what it is made of.
#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

const Registered<Limit> input{{
    .name = "input",
    .bound = "data-bound",
    .waits = "for input",
    .world = "with an infinitely fast loader",
    .causes = {Cause::batch_wait, Cause::h2d},
    .applies = [](const Scenario& s) { return s.data.has_value(); },
    .plan = with_free_input,
    .next = [](const CauseSeconds&) -> std::string_view {
      return "more loader workers, faster decoding or faster storage";
    },
}};

std::vector<Change> changes(const Scenario& scenario) {
  if (!scenario.data) return {};
  const Input& data = *scenario.data;
  const int workers = data.workers == 0 ? 1 : 2 * data.workers;
  std::vector<Change> changes{{.settings = {fmt::format("data.workers={}", workers)}},
                              {.settings = {fmt::format("data.prefetch={}", 2 * data.prefetch)}}};
  if (!data.pinned) changes.push_back({.settings = {"data.pinned=true"}});
  if (data.storage_bandwidth > BytesPerSecond{0}) {
    changes.push_back({.title = "storage twice as fast", .scenario = [](Scenario& s) {
                         s.data->storage_bandwidth = s.data->storage_bandwidth * 2;
                       }});
  }
  return changes;
}

const Registered<Proposal> loader{{.name = "loader", .changes = changes}};

}  // namespace
}  // namespace stepsim
