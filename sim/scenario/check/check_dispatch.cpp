// The sentences about dispatchers.
#include <optional>
#include <string>
#include <utility>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/expert_nodes.hpp"

namespace stepsim {
namespace {

class DispatchRules {
 public:
  DispatchRules(const Scenario& scenario, const Experts& experts, const KeyReports& keys)
      : s_(scenario), e_(scenario.parallelism.expert), experts_(experts), keys_(keys) {}

  void check() const {
    if (e_.degree == 1) {
      check_alone();
    } else {
      check_dispatcher();
    }
  }

 private:
  /// Where each rank has all experts no token is sent anywhere.
  void check_alone() const {
    const std::pair<const char*, bool> idle[] = {{"dispatcher", e_.dispatcher != Dispatcher{}},
                                                 {"nodes", e_.nodes.has_value()},
                                                 {"fp8_dispatch", e_.fp8_dispatch},
                                                 {"sms", e_.sms.has_value()}};
    for (const auto& [key, is_stated] : idle) {
      if (is_stated)
        keys_.report({std::string("parallelism.expert.") + key, "leave it out"},
                     "{} is about exchanges of tokens, but with expert degree 1 there are none",
                     key);
    }
  }

  void check_dispatcher() const {
    const int sms = s_.cluster.gpu.sms;
    if (e_.sms && *e_.sms >= sms)
      keys_.report({"parallelism.expert.sms"},
                   "sms {} are set aside for exchanges, but the GPU has {}: none are "
                   "left for kernels",
                   *e_.sms, sms);
    if (e_.dispatcher == Dispatcher::all_to_all) {
      if (e_.nodes)
        keys_.report({"parallelism.expert.nodes", "state dispatcher: deepep"},
                     "a token's experts are on {} nodes at most, but all_to_all "
                     "sends it once for each of them",
                     *e_.nodes);
      return;
    }
    const int shares = e_.tensor.value_or(s_.parallelism.tensor);
    if (shares > 1)
      keys_.report({"parallelism.expert.dispatcher", "state expert.tensor: 1, or leave it out"},
                   "deepep with experts that {} tensor ranks share: their tokens go by all_to_all "
                   "alone",
                   shares);
    if (e_.capacity)
      keys_.report({"parallelism.expert.capacity"},
                   "capacity {}, but deepep drops and pads no tokens", *e_.capacity);
    if (e_.nodes && shares == 1) check_nodes(*e_.nodes);
  }

  /// A limit counts nodes that have equally many experts each, of which it leaves enough.
  void check_nodes(int limit) const {
    const std::optional<int> nodes = nodes_of_experts(s_);
    if (!nodes) {
      return keys_.report({"parallelism.expert.nodes", "leave it out"},
                          "a token's experts are on {} nodes at most, but the {} ranks that "
                          "share the experts lie unevenly on nodes of {} GPUs",
                          limit, e_.degree, s_.cluster.gpus_per_node);
    }
    const auto each = experts_.count / *nodes;
    if (limit * each >= experts_.top_k || limit >= *nodes) return;
    keys_.report({"parallelism.expert.nodes"},
                 "a token's experts are on {} nodes at most, which have {} of {} "
                 "experts, but a token goes to {}",
                 limit, limit * each, experts_.count, experts_.top_k);
  }

  const Scenario& s_;
  const ExpertParallel& e_;
  const Experts& experts_;
  const KeyReports& keys_;
};

}  // namespace

void check_dispatch(const Scenario& scenario, const Experts& experts, const KeyReports& keys) {
  DispatchRules(scenario, experts, keys).check();
}

}  // namespace stepsim
