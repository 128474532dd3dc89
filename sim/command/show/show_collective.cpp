// The candidates of one collective, as a table or as JSON.
#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/command/show.hpp"
#include "sim/core/registry.hpp"
#include "sim/core/suggest.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/group/lone_collective.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "sim/plan/nccl/refusal.hpp"
#include "sim/plan/nccl/thresholds.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using nlohmann::ordered_json;

std::string dashed(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

CollectiveOp op_named(const std::string& name) {
  for (const auto& [known, op] : kNames<CollectiveOp>)
    if (name == known) return op;
  throw UserError(fmt::format("--op: '{}' is not a collective, {}", name,
                              did_you_mean(name, names_of<CollectiveOp>())));
}

Bytes size_of(const std::string& text) {
  try {
    const auto number = leading_number(text);
    Bytes bytes;
    if (!number || number->value > 0) read_scalar(text, bytes);
    if (bytes > Bytes{}) return bytes;
  } catch (const Mistake& mistake) {
    throw UserError(fmt::format("--bytes: {}{}{}", mistake.message,
                                mistake.proposal.empty() ? "" : ", ", mistake.proposal));
  }
  throw UserError(fmt::format("--bytes: '{}' must be greater than 0", text));
}

/// "data-gather"; all pairs of stages are "pipeline".
std::string name_of_group(Channel channel) {
  return dashed(is_transfer(channel) ? name_of(axis_of(channel)) : name_of(channel));
}

/// The first group of that name.
int group_named(const Plan& plan, const std::string& name, CollectiveOp op) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const Channel channel = plan.groups[i].channel;
    const std::string its_name = name_of_group(channel);
    if (its_name == name) {
      if (is_transfer(channel) && op != CollectiveOp::shift)
        throw UserError("--op: stages of a pipeline send and receive, use shift");
      return static_cast<int>(i);
    }
    if (std::ranges::find(names, its_name) == names.end()) names.push_back(its_name);
  }
  if (names.empty()) throw UserError("no two ranks of this scenario share a collective");
  throw UserError(fmt::format("--group: no group '{}' of several ranks, this scenario has: {}",
                              name, fmt::join(names, ", ")));
}

/// A line of the answer.
struct Row {
  std::string algorithm;
  Protocol protocol = Protocol::simple;
  std::string refusal;
  int channels = 0;
  Seconds latency;           ///< NCCL's
  BytesPerSecond bandwidth;  ///< NCCL's
  Seconds cost;              ///< NCCL's; 0: it has no model of it
  Seconds simulated;         ///< on the empty network
  bool chosen = false;

  std::string title() const { return fmt::format("{} {}", algorithm, nccl::name_of(protocol)); }
};

class Answer {
 public:
  Answer(const Scenario& scenario, const CollectiveQuestion& question)
      : scenario_(scenario),
        request_{op_named(question.op), size_of(question.bytes)},
        plan_(make_plan(scenario, build(scenario))),
        group_(group_for(plan_, group_named(plan_, question.group, request_.op), request_.op)),
        decision_(decide(request_, group_.shape, scenario.cluster, scenario.collectives)) {
    simulated_ = simulated(decision_);
    add_nccl();
    add_others();
  }

  std::string text() const;
  std::string json() const;

 private:
  Seconds simulated(const Decision& decision) const {
    const Phases phases =
        phases_of(decision, request_, group_.shape, scenario_.cluster, scenario_.collectives);
    return Seconds{simulate(lone_collective(plan_, group_, phases)).timeline.step_ends[0]};
  }

  bool is_chosen(const CollectiveAlgorithm& algorithm, Protocol protocol) const {
    return decision_.algorithm == &algorithm && decision_.protocol == protocol;
  }

  void add_nccl() {
    if (!nccl::is_tuned(request_.op)) return;
    const auto communicator =
        communicator_of(group_.shape, scenario_.cluster, scenario_.collectives.nccl);
    for (const nccl::Candidate& one : candidates(communicator, request_.op, request_.bytes)) {
      const auto* algorithm = Registry<CollectiveAlgorithm>::find(name_of(one.algorithm));
      Row row{.algorithm = name_of(one.algorithm), .protocol = one.protocol};
      if (one.refusal.empty()) {
        row.channels = one.channels;
        if (communicator.version != NcclVersion::v2_4) {
          row.latency = one.latency;
          row.bandwidth = one.bandwidth;
          row.cost = one.time(request_.bytes);
        }
        row.simulated = simulated({algorithm, one.protocol, ""});
        row.chosen = is_chosen(*algorithm, one.protocol);
      } else {
        // What has the same against all protocols gets one line; the protocols that it has not get
        // none.
        row.refusal = nccl::refusal(communicator, request_.op, one.algorithm);
        if (row.refusal.empty() || one.protocol != Protocol::simple) continue;
      }
      rows_.push_back(row);
    }
  }

  /// What NCCL has no model of, or never chooses.
  void add_others() {
    for (const CollectiveAlgorithm* algorithm : Registry<CollectiveAlgorithm>::all()) {
      if (algorithm->nccl || !algorithm->makes(request_.op)) continue;
      const Protocol protocol =
          decision_.algorithm == algorithm ? decision_.protocol : Protocol::simple;
      Row row{.algorithm = std::string(algorithm->name), .protocol = protocol};
      if (algorithm->refusal != nullptr)
        row.refusal = algorithm->refusal(
            {request_, group_.shape, scenario_.cluster, scenario_.collectives.nccl, protocol, {}});
      if (row.refusal.empty()) row.simulated = simulated({algorithm, protocol, ""});
      row.chosen = decision_.algorithm == algorithm;
      rows_.push_back(row);
    }
  }

  const Row& chosen() const { return *std::ranges::find_if(rows_, &Row::chosen); }
  std::string reason() const;
  std::string by_size() const;

  const Scenario& scenario_;
  CollectiveRequest request_;
  Plan plan_;
  Group group_;
  Decision decision_;
  std::vector<Row> rows_;
  Seconds simulated_;
};

/// What follows the winner where NCCL has no costs.
std::string Answer::by_size() const {
  const Bytes most = nccl::thresholds::of_tree(
      communicator_of(group_.shape, scenario_.cluster, scenario_.collectives.nccl));
  std::string trees = "trees are for all-reduces between nodes";
  if (request_.op == CollectiveOp::all_reduce && most > Bytes{0})
    trees = std::isinf(most.bytes()) ? "here trees for all"
                                     : "here trees up to " + humanise(most).text();
  return fmt::format(": NCCL 2.4 expects nothing and goes by size, {}", trees);
}

std::string Answer::reason() const {
  const Row& winner = chosen();
  const CollectiveChoice& choice = choice_for(request_.op, scenario_.collectives);
  if (choice.algorithm != "auto" && decision_.refusal.empty())
    return fmt::format("{}: the scenario states {}", winner.title(), choice.algorithm);
  const std::string instead =
      choice.algorithm == "auto"
          ? ""
          : fmt::format("{}, which the scenario states, {}. ", choice.algorithm, decision_.refusal);
  if (scenario_.collectives.nccl == NcclVersion::v2_4 && nccl::is_tuned(request_.op))
    return instead + winner.title() + by_size();
  if (winner.cost == Seconds{})
    return fmt::format(
        "{}{}: NCCL has no other way{}", instead, winner.title(),
        request_.op == CollectiveOp::shift ? "" : "; up to 16 KiB to a peer go by LL");
  const Row* second = nullptr;
  for (const Row& row : rows_) {
    if (row.chosen || row.cost == Seconds{}) continue;
    if (second == nullptr || row.cost < second->cost) second = &row;
  }
  const std::string cost = humanise(winner.cost).text();
  if (second == nullptr || second->cost < winner.cost)
    return fmt::format("{}{}: what is left to choose from costs NCCL {}", instead, winner.title(),
                       cost);
  return fmt::format("{}{}: NCCL expects {}, the next best is {} with {}", instead, winner.title(),
                     cost, second->title(), humanise(second->cost).text());
}

std::string Answer::text() const {
  const GroupShape& shape = group_.shape;
  std::string text =
      fmt::format("{} of {} in group {}: {} ranks on {} node{}", name_of(request_.op),
                  humanise(request_.bytes).text(), name_of_group(group_.channel), shape.ranks,
                  shape.nodes, shape.nodes == 1 ? "" : "s");
  if (shape.nodes > 1)
    text += fmt::format(", {} NIC{} of each", shape.nics, shape.nics == 1 ? "" : "s");
  text += fmt::format("; NCCL {} on {}\n\n", name_of(scenario_.collectives.nccl),
                      scenario_.cluster.gpu.name);
  text += fmt::format("{:<24}{:<9}{:>9}{:>12}{:>13}{:>11}{:>12}\n", "algorithm", "protocol",
                      "channels", "latency", "bandwidth", "cost", "simulated");
  for (const Row& row : rows_) {
    if (!row.refusal.empty()) {
      text += fmt::format("{:<24}{}\n", row.algorithm, row.refusal);
      continue;
    }
    text += fmt::format("{:<24}{:<9}", row.algorithm, nccl::name_of(row.protocol));
    if (row.cost > Seconds{}) {
      text += fmt::format("{:>9}{:>12}{:>13}{:>11}", row.channels, humanise(row.latency).text(),
                          three_digits(row.bandwidth.base() / 1e9) + " GB/s",
                          humanise(row.cost).text());
    } else {
      text += fmt::format("{:>9}{:>36}", row.channels > 0 ? std::to_string(row.channels) : "",
                          "not priced by NCCL");
    }
    text += fmt::format("{:>12}{}\n", humanise(row.simulated).text(), row.chosen ? "  chosen" : "");
  }
  text += fmt::format("\n{}\n", reason());
  text += fmt::format("simulated on the empty network: {}\n", humanise(simulated_).text());
  return text;
}

std::string Answer::json() const {
  const GroupShape& shape = group_.shape;
  ordered_json answer{{"op", name_of(request_.op)},
                      {"bytes", request_.bytes.bytes()},
                      {"group", name_of_group(group_.channel)},
                      {"ranks", shape.ranks},
                      {"nodes", shape.nodes},
                      {"nics", shape.nics},
                      {"nccl", name_of(scenario_.collectives.nccl)}};
  ordered_json& list = answer["candidates"] = ordered_json::array();
  for (const Row& row : rows_) {
    ordered_json one{{"algorithm", row.algorithm}};
    if (!row.refusal.empty()) {
      one["refusal"] = row.refusal;
    } else {
      one["protocol"] = name_of(row.protocol);
      if (row.channels > 0) one["channels"] = row.channels;
      if (row.cost > Seconds{}) {
        one["latency_s"] = row.latency.seconds();
        one["bandwidth_bytes_per_s"] = row.bandwidth.base();
        one["cost_s"] = row.cost.seconds();
      }
      one["simulated_s"] = row.simulated.seconds();
      one["chosen"] = row.chosen;
    }
    list.push_back(std::move(one));
  }
  answer["reason"] = reason();
  answer["simulated_s"] = simulated_.seconds();
  return answer.dump(2) + "\n";
}

}  // namespace

void show_collective(const Scenario& scenario, const CollectiveQuestion& question,
                     std::ostream& out) {
  const Answer answer(scenario, question);
  out << (question.format == "json" ? answer.json() : answer.text());
}

}  // namespace stepsim
