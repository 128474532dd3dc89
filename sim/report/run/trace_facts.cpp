// Counts the kernels of each name in a pass, and looks in the graph for the one of that number.
#include "sim/report/run/trace_facts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <variant>

#include <fmt/format.h>

#include "sim/plan/collective.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "sim/plan/pass/recompute.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/names.hpp"
#include "sim/text/digits.hpp"
#include "sim/text/ranges.hpp"

namespace stepsim {
namespace {

std::string shape_of(const Gemm& g) {
  return fmt::format("{}x{}x{}{}", g.m, g.n, g.k, g.batch > 1 ? fmt::format(" x{}", g.batch) : "");
}
/// What narrows the attention to fewer tokens.
std::string narrowed_by(const FusedAttention& a) {
  return (a.document > 0 ? fmt::format(" in documents of {:.0f}", a.document) : "") +
         (a.window > 0 ? fmt::format(" in windows of {}", a.window) : "");
}
std::string shape_of(const FusedAttention& a) {
  return fmt::format("{} x {} heads of {}, {} tokens{}", a.batch, a.heads, a.head_dim, a.sequence,
                     narrowed_by(a));
}
std::string shape_of(const Convolution& c) {
  return fmt::format("{}x{} /{} of {}x{}x{}x{} to {} channels", c.filter, c.filter, c.stride,
                     c.batch, c.image, c.image, c.in_channels, c.out_channels);
}

/// Shape and FLOPs of a kernel; nothing where its time is that of its bytes.
template <class Kind>
std::string arguments_of(const Kind& work) {
  if constexpr (std::is_same_v<Kind, MemoryBound>) {
    return {};
  } else {
    return fmt::format(R"(,"shape":"{}","flops":{})", shape_of(work), digits(work.flops().flops()));
  }
}

std::optional<Channel> channel_named(std::string_view name) {
  for (std::size_t i = 0; i < kChannels; ++i) {
    if (name == name_of(static_cast<Channel>(i))) return static_cast<Channel>(i);
  }
  return std::nullopt;
}

std::optional<CollectiveOp> op_named(std::string_view name) {
  for (const auto& [known, op] : kNames<CollectiveOp>) {
    if (name == known) return op;
  }
  return std::nullopt;
}

}  // namespace

struct TraceFacts::Place {
  const Work* work = nullptr;
  int layer = -1;
};

/// Kernels of one direction by their names, in the order in which they run.
struct TraceFacts::Pass {
  std::unordered_map<std::string_view, std::vector<Place>> named;

  void add(const Items& items, int layer) {
    for (const Item& item : items) {
      if (const auto* launch = std::get_if<Launch>(&item))
        named[launch->name].push_back({&launch->work, layer});
    }
  }
  void add_forward(const Block& block, int layer) {
    for (const Op* op : block.order()) add(op->forward, layer);
  }
  void add_backward(const Block& block, int layer) {
    const auto order = block.order();
    for (auto op = order.rbegin(); op != order.rend(); ++op) add((*op)->backward, layer);
  }
};

class TraceFacts::Kernels {
 public:
  Kernels(const Scenario& scenario, const OpGraph& graph, int stage) {
    const int chunks = scenario.parallelism.pipeline.chunks;
    for (int chunk = 0; chunk < chunks; ++chunk) add_forward(scenario, graph, stage, chunk);
    for (int chunk = chunks; chunk-- > 0;) add_backward(scenario, graph, stage, chunk);
  }

  /// The kernels of that name in the pass; nullptr where the cause is none, or has no such kernel.
  const std::vector<Place>* find(Cause cause, const std::string& name) const {
    if (cause > Cause::backward) return nullptr;
    const auto& named = passes_[static_cast<std::size_t>(cause)].named;
    const auto found = named.find(name);
    return found == named.end() ? nullptr : &found->second;
  }

 private:
  Pass& pass(Cause cause) { return passes_[static_cast<std::size_t>(cause)]; }

  /// The blocks of a chunk with the numbers of their layers.
  static std::vector<std::pair<const Block*, int>> layers_of(
      const Scenario& scenario, const OpGraph& graph, int part,
      const std::vector<std::size_t>& blocks) {
    int layer = 0;
    for (int before = 0; before < part; ++before) layer += layers_in(scenario, graph, before);
    std::vector<std::pair<const Block*, int>> layers;
    for (const std::size_t index : blocks) {
      const Block& block = graph.blocks[index];
      layers.emplace_back(&block, block.is_layer() ? layer++ : -1);
    }
    return layers;
  }

  static int layers_in(const Scenario& scenario, const OpGraph& graph, int part) {
    const auto& stated = scenario.parallelism.pipeline.layers;
    if (!stated.empty()) return static_cast<int>(stated[static_cast<std::size_t>(part)]);
    int layers = 0;
    for (const std::size_t block : graph.chain) layers += graph.blocks[block].is_layer() ? 1 : 0;
    return layers / placement_of(scenario).parts();
  }

  void add_forward(const Scenario& scenario, const OpGraph& graph, int stage, int chunk) {
    const int part = placement_of(scenario).part({stage, chunk});
    const auto blocks = blocks_of(scenario, graph, stage, chunk);
    for (const auto& [block, layer] : layers_of(scenario, graph, part, blocks))
      pass(Cause::forward).add_forward(*block, layer);
  }

  /// Adds both directions of a backward pass. Layers that are recomputed as one run in forward
  /// order.
  void add_backward(const Scenario& scenario, const OpGraph& graph, int stage, int chunk) {
    const int part = placement_of(scenario).part({stage, chunk});
    const auto blocks = blocks_of(scenario, graph, stage, chunk);
    const auto layers = layers_of(scenario, graph, part, blocks);
    const auto spans = recompute_spans(scenario.training.recompute, graph, blocks);
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
      for (std::size_t i = span->begin; i < span->end; ++i)
        pass(Cause::recompute).add_forward(*layers[i].first, layers[i].second);
    }
    for (auto block = layers.rbegin(); block != layers.rend(); ++block)
      pass(Cause::backward).add_backward(*block->first, block->second);
  }

  std::array<Pass, 3> passes_;  // forward, recompute, backward
};

namespace {

/// Numbers the kernels of a name within a pass.
class Numbers {
 public:
  explicit Numbers(const RankTimeline& rank) {
    for (const Span& span : rank.spans) ++counts_[key(span)].all;
  }
  struct Count {
    std::uint32_t all = 0, passed = 0;
  };
  /// How many kernels of its name the span's pass has, and how many were asked for before.
  Count next(const Span& span) {
    Count& count = counts_[key(span)];
    ++count.passed;
    return {count.all, count.passed - 1};
  }

 private:
  /// A name, a cause, a step and a micro-batch, which are fewer than these bits hold.
  static std::uint64_t key(const Span& span) {
    return (static_cast<std::uint64_t>(span.name) << 44) ^
           (static_cast<std::uint64_t>(span.cause) << 38) ^
           (static_cast<std::uint64_t>(span.step) << 22) ^
           static_cast<std::uint64_t>(span.micro_batch + 1);
  }
  std::unordered_map<std::uint64_t, Count> counts_;
};

}  // namespace

bool TraceFacts::are_alike(const std::vector<Place>& places) {
  return std::ranges::all_of(places,
                             [&](const Place& place) { return place.work == places.front().work; });
}

TraceFacts::TraceFacts(const Scenario& scenario, const OpGraph& graph, const Plan& plan)
    : scenario_(scenario), graph_(graph), plan_(plan) {
  if (!graph.first_chain.empty()) first_ = graph_of_first(graph);
}

RankFacts TraceFacts::of_rank(const Timeline& timeline, const RankTimeline& rank) {
  const bool is_first = rank.rank == 0 && !first_.chain.empty();
  const Kernels kernels(scenario_, is_first ? first_ : graph_, rank.stage);
  Numbers numbers(rank);
  RankFacts facts{std::vector<std::int32_t>(rank.spans.size(), -1),
                  std::vector<std::string_view>(rank.spans.size())};
  for (std::size_t i = 0; i < rank.spans.size(); ++i) {
    const Span& span = rank.spans[i];
    const std::string& name = timeline.names[span.name];
    if (rank.rows[span.row].kind == RowKind::communication)
      facts.arguments[i] = of_collective(rank, span, name);
    if (rank.rows[span.row].kind != RowKind::compute || span.mix >= 0) continue;
    const std::vector<Place>* places = kernels.find(span.cause, name);
    if (places == nullptr) continue;
    const Numbers::Count count = numbers.next(span);
    if (count.all == places->size()) {
      facts.layers[i] = (*places)[count.passed].layer;
      facts.arguments[i] = of_work(*(*places)[count.passed].work);
    } else if (are_alike(*places)) {
      facts.arguments[i] = of_work(*places->front().work);
    }
  }
  return facts;
}

std::string TraceFacts::of_row(int rank, const std::string& row) const {
  const Group* group = group_of(rank, row);
  if (group == nullptr || group->ranks.size() < 2) return {};
  std::vector<int> ranks = group->ranks;
  std::ranges::sort(ranks);
  return fmt::format(R"(,"group":"{}")", ranges_text(ranks));
}

const Group* TraceFacts::group_of(int rank, std::string_view row) const {
  const auto channel = channel_named(row);
  if (!channel || plan_.group_of.size() <= plan_.blocks.index_of(rank)) return nullptr;
  const int index = plan_.groups_of(rank)[static_cast<std::size_t>(*channel)];
  return index < 0 ? nullptr : &plan_.groups[static_cast<std::size_t>(index)];
}

/// The algorithm, as the planner decides it. Kernels that exchange tokens by themselves have none.
std::string_view TraceFacts::of_collective(const RankTimeline& rank, const Span& span,
                                           const std::string& name) {
  const Row& row = rank.rows[span.row];
  const Group* group = group_of(rank.rank, row.name);
  const auto op = op_named(name);
  const bool is_own =
      row.axis == Axis::expert && sends_once(scenario_.parallelism.expert.dispatcher);
  if (group == nullptr || !op || group->shape.ranks < 2 || is_own) return {};
  const auto [known, is_new] = collectives_.try_emplace({group, name, span.bytes});
  if (!is_new) return known->second;
  const Decision decision =
      decide({*op, Bytes{span.bytes}}, group->shape, scenario_.cluster, scenario_.collectives);
  if (decision.algorithm == nullptr) return {};
  known->second = fmt::format(R"(,"algorithm":"{}")", decision.algorithm->name);
  if (decision.algorithm->nccl)
    known->second += fmt::format(R"(,"protocol":"{}")", nccl::name_of(decision.protocol));
  return known->second;
}

std::string_view TraceFacts::of_work(const Work& work) {
  const auto [known, is_new] = works_.try_emplace(&work);
  if (is_new) known->second = std::visit([](const auto& kind) { return arguments_of(kind); }, work);
  return known->second;
}

}  // namespace stepsim
