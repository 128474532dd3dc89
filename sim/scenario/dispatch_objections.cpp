// The sentences about dispatchers.
#include "sim/scenario/dispatch_objections.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/expert_nodes.hpp"

namespace stepsim {
namespace {

class DispatchObjections {
 public:
  explicit DispatchObjections(const Scenario& scenario)
      : s_(scenario), e_(scenario.parallelism.expert) {
    check_dispatcher();
  }
  std::vector<Objection> all() && { return std::move(found_); }

 private:
  void object(const char* key, std::string message, std::string proposal = "") {
    found_.push_back(
        {std::string("parallelism.expert.") + key, std::move(message), std::move(proposal)});
  }

  void check_dispatcher() {
    if (e_.dispatcher == Dispatcher::all_to_all) {
      if (e_.nodes)
        object("nodes",
               fmt::format("a token's experts are on {} nodes at most, but all_to_all "
                           "sends it once for each of them",
                           *e_.nodes),
               "state dispatcher: deepep");
      return;
    }
    if (s_.parallelism.tensor > 1)
      object("dispatcher",
             fmt::format("deepep with tensor {}: tokens of tensor ranks go by all_to_all alone",
                         s_.parallelism.tensor));
    if (e_.capacity)
      object("capacity",
             fmt::format("capacity {}, but deepep drops and pads no tokens", *e_.capacity));
    if (e_.nodes && s_.parallelism.tensor == 1) check_nodes(*e_.nodes);
  }

  /// A limit counts nodes that have equally many experts each.
  void check_nodes(int limit) {
    if (nodes_of_experts(s_)) return;
    object("nodes",
           fmt::format("a token's experts are on {} nodes at most, but the {} ranks that share the "
                       "experts lie unevenly on nodes of {} GPUs",
                       limit, e_.degree, s_.cluster.gpus_per_node),
           "leave it out");
  }

  const Scenario& s_;
  const ExpertParallel& e_;
  std::vector<Objection> found_;
};

}  // namespace

std::vector<Objection> dispatch_objections(const Scenario& scenario) {
  return DispatchObjections(scenario).all();
}

}  // namespace stepsim
