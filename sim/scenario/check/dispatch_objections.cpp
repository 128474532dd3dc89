// The sentences about dispatchers.
#include "sim/scenario/check/dispatch_objections.hpp"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/expert_nodes.hpp"

namespace stepsim {
namespace {

class DispatchObjections {
 public:
  DispatchObjections(const Scenario& scenario, const Experts& experts)
      : s_(scenario), e_(scenario.parallelism.expert), experts_(experts) {
    if (e_.degree == 1) {
      check_alone();
    } else {
      check_dispatcher();
    }
  }
  std::vector<Objection> all() && { return std::move(found_); }

 private:
  void object(const char* key, std::string message, std::string proposal = "") {
    found_.push_back(
        {std::string("parallelism.expert.") + key, std::move(message), std::move(proposal)});
  }

  /// Where each rank has all experts no token is sent anywhere.
  void check_alone() {
    const std::pair<const char*, bool> idle[] = {{"dispatcher", e_.dispatcher != Dispatcher{}},
                                                 {"nodes", e_.nodes.has_value()},
                                                 {"fp8_dispatch", e_.fp8_dispatch},
                                                 {"sms", e_.sms.has_value()}};
    for (const auto& [key, is_stated] : idle) {
      if (is_stated)
        object(key,
               fmt::format("{} is about exchanges of tokens, but with expert degree 1 there "
                           "are none",
                           key),
               "leave it out");
    }
  }

  void check_dispatcher() {
    const int sms = s_.cluster.gpu.sms;
    if (e_.sms && *e_.sms >= sms)
      object("sms", fmt::format("sms {} are set aside for exchanges, but the GPU has {}: none are "
                                "left for kernels",
                                *e_.sms, sms));
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

  /// A limit counts nodes that have equally many experts each, of which it leaves enough.
  void check_nodes(int limit) {
    const std::optional<int> nodes = nodes_of_experts(s_);
    if (!nodes) {
      return object("nodes",
                    fmt::format("a token's experts are on {} nodes at most, but the {} ranks that "
                                "share the experts lie unevenly on nodes of {} GPUs",
                                limit, e_.degree, s_.cluster.gpus_per_node),
                    "leave it out");
    }
    const auto each = experts_.count / *nodes;
    if (limit * each >= experts_.top_k || limit >= *nodes) return;
    object("nodes", fmt::format("a token's experts are on {} nodes at most, which have {} of {} "
                                "experts, but a token goes to {}",
                                limit, limit * each, experts_.count, experts_.top_k));
  }

  const Scenario& s_;
  const ExpertParallel& e_;
  const Experts& experts_;
  std::vector<Objection> found_;
};

}  // namespace

std::vector<Objection> dispatch_objections(const Scenario& scenario, const Experts& experts) {
  return DispatchObjections(scenario, experts).all();
}

}  // namespace stepsim
