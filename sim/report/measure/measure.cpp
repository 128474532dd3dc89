// Measures steps, rates, breakdown, communication and memory of a run.
#include "sim/report/measure/measure.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/core/error.hpp"
#include "sim/core/version.hpp"
#include "sim/plan/pass/recompute.hpp"
#include "sim/text/humanise.hpp"
#include "sim/timeline/busy.hpp"
#include "sim/timeline/critical_path.hpp"
#include "sim/timeline/overlap.hpp"
#include "sim/timeline/partition.hpp"

namespace stepsim {
namespace {

constexpr std::array kWork = {Cause::forward, Cause::recompute, Cause::backward, Cause::optimizer,
                              Cause::contention};

double of(const CauseSeconds& causes, Cause cause) {
  return causes[static_cast<std::size_t>(cause)];
}

double work_in(const CauseSeconds& causes) {
  double sum = 0;
  for (const Cause cause : kWork) sum += of(causes, cause);
  return sum;
}

/// The time that a rank takes for itself, whatever the others do.
double pace_of(const CauseSeconds& causes) { return work_in(causes) + of(causes, Cause::stall); }

/// The measured window, in seconds of simulated time.
struct Window {
  double from, to;
  int steps;
  double mean(double total) const { return total / steps; }
};

Window window_of(const Timeline& timeline) {
  return {timeline.step_start(static_cast<std::size_t>(timeline.warmup)), timeline.step_ends.back(),
          timeline.measured_steps()};
}

/// What the measured steps of each rank were spent on, in order of the ranks.
std::vector<CauseSeconds> causes_by_rank(const Timeline& timeline, Window window) {
  std::vector<CauseSeconds> causes;
  for (const RankTimeline& rank : timeline.ranks)
    causes.push_back(partition(timeline, rank, window.from, window.to));
  return causes;
}

struct Slowest {
  const RankTimeline* rank = nullptr;
  CauseSeconds causes{};
};

Slowest slowest_rank(const Timeline& timeline, const std::vector<CauseSeconds>& by_rank,
                     Window window) {
  Slowest slowest;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    if (timeline.ranks[i].weight == 0) continue;
    if (slowest.rank == nullptr || pace_of(by_rank[i]) > pace_of(slowest.causes))
      slowest = {&timeline.ranks[i], by_rank[i]};
  }
  for (double& seconds : slowest.causes) seconds = window.mean(seconds);
  return slowest;
}

/// The time of kernels outside the range of the GPU's constants, by the side on which they left it.
std::vector<OutsideRange> outside_range(const Timeline& timeline, const RankTimeline& rank,
                                        Window window) {
  std::map<std::uint32_t, double> seconds;
  for (const Span& span : rank.spans) {
    if (span.start < window.from) continue;
    if (span.outside != kInRange) seconds[span.outside] += span.end - span.start - span.contention;
    const auto mix = static_cast<std::size_t>(span.mix);
    if (span.mix < 0 || mix >= timeline.outside.size()) continue;
    for (const OutsideSeconds& side : timeline.outside[mix])
      seconds[side.name] += side.seconds * span.pace;
  }
  std::vector<OutsideRange> sides;
  for (const auto& [name, time] : seconds)
    sides.push_back({timeline.names[name], Seconds{window.mean(time)}});
  std::ranges::stable_sort(sides, std::greater{}, &OutsideRange::time);
  return sides;
}

/// The causes of a mean rank.
CauseSeconds mean_causes(const Timeline& timeline, const std::vector<CauseSeconds>& by_rank,
                         Window window) {
  CauseSeconds mean{};
  double ranks = 0;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const double alike = timeline.ranks[rank].weight;
    for (std::size_t i = 0; i < kCauses; ++i) mean[i] += window.mean(by_rank[rank][i]) * alike;
    ranks += alike;
  }
  for (double& seconds : mean) seconds /= ranks;
  return mean;
}

/// The causes along the critical path of a mean step.
CauseSeconds critical_causes(const Timeline& timeline) {
  CauseSeconds mean{};
  for (auto step = static_cast<std::size_t>(timeline.warmup); step < timeline.step_ends.size();
       ++step) {
    const CauseSeconds causes = causes_of(critical_path(timeline, step));
    for (std::size_t i = 0; i < kCauses; ++i) mean[i] += causes[i] / timeline.measured_steps();
  }
  return mean;
}

/// The longest wait of a rank for its input. Ranks that do not load wait for it in other ways.
double worst_stall(const Timeline& timeline, const std::vector<CauseSeconds>& by_rank,
                   Window window) {
  double worst = 0;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    if (timeline.ranks[i].weight > 0)
      worst = std::max(worst, of(by_rank[i], Cause::batch_wait) + of(by_rank[i], Cause::h2d));
  }
  return window.mean(worst);
}

void add_rates(Metrics& m, const Scenario& s, const OpGraph& graph) {
  const double step = m.step_time.seconds();
  const double gpus = s.cluster.gpus();
  m.samples_per_s = static_cast<double>(s.training.global_batch) / step;
  const auto* transformer = std::get_if<Transformer>(&s.model.shape);
  m.has_tokens = transformer != nullptr && !transformer->vision;
  if (m.has_tokens) {
    m.tokens_per_s = m.samples_per_s * static_cast<double>(s.sequence_length() + s.target_length());
    m.tokens_per_s_per_gpu = m.tokens_per_s / gpus;
  }
  const bool images = std::holds_alternative<ResNet>(s.model.shape) ||
                      (transformer != nullptr && transformer->vision);
  if (images) m.samples = "images";
  const double peak =
      peak_rate(s.cluster.gpu, s.training.precision).flops_per_second() * gpus * step;
  m.mfu = graph.model_flops.flops() / peak;
  m.hfu = hardware_flops(s, graph).flops() / peak;
  m.model_tflops_per_gpu = graph.model_flops.flops() / step / gpus / 1e12;
  m.flop_convention = graph.flop_convention;
}

GroupCommunication communication_along(Axis axis, const Slowest& slowest, Window window) {
  GroupCommunication result{.axis = axis};
  for (const Span& span : slowest.rank->spans) {
    const bool handed_over = span.message == 0 || span.sends;
    const bool inside = span.start >= window.from && span.start < window.to;
    if (slowest.rank->rows[span.row].axis == axis && handed_over && inside)
      result.bytes += Bytes{span.bytes};
  }
  result.bytes = result.bytes / window.steps;
  result.busy = Seconds{window.mean(busy(*slowest.rank, axis, window.from, window.to))};
  result.hidden = Seconds{window.mean(hidden(*slowest.rank, axis, window.from, window.to))};
  result.exposed = Seconds{of(slowest.causes, exposed(axis))};
  return result;
}

void add_communication(Metrics& m, const Slowest& slowest, Window window) {
  for (const Axis axis : kAllAxes) {
    const GroupCommunication communication = communication_along(axis, slowest, window);
    if (communication.busy > Seconds{0}) m.communication.push_back(communication);
  }
  const double all = window.mean(busy(*slowest.rank, std::nullopt, window.from, window.to));
  const double under_compute =
      window.mean(hidden(*slowest.rank, std::nullopt, window.from, window.to));
  m.overlap_efficiency = overlap_efficiency(work_in(slowest.causes), all, under_compute);
}

/// The split as a text. Experts and shards are left out, because they are dealt over ranks that the
/// product counts already.
std::string split_of(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  std::string text = fmt::format("tensor {}", p.tensor);
  if (p.context.degree > 1) text += fmt::format(" x context {}", p.context.degree);
  text += fmt::format(" x pipeline {} x data {}", p.pipeline.stages, s.data_parallel());
  if (p.expert.degree > 1) text += fmt::format(", experts over {}", p.expert.degree);
  if (p.expert.tensor.value_or(p.tensor) != p.tensor)
    text += fmt::format(", each on {}", *p.expert.tensor);
  if (p.data.shard_degree) text += fmt::format(", shards over {}", *p.data.shard_degree);
  return text + fmt::format(", {} micro-batch{} of {}", s.micro_batches(),
                            s.micro_batches() == 1 ? "" : "es", s.training.micro_batch);
}

/// When a rank of the stage first holds the most in the first measured step, counted from the
/// step's begin.
Seconds peak_time(const Timeline& timeline, int stage) {
  const double start = timeline.step_start(static_cast<std::size_t>(timeline.warmup));
  for (const RankTimeline& rank : timeline.ranks) {
    if (rank.stage != stage) continue;
    MemoryPoint peak{start, 0};
    for (const MemoryPoint& point : rank.memory) {
      if (point.time >= start && point.bytes > peak.bytes * (1 + 1e-12)) peak = point;
    }
    return Seconds{peak.time - start};
  }
  return Seconds{};
}

void add_identity(Metrics& m, const Scenario& s) {
  m.scenario = s.name;
  m.model = s.model.name;
  m.gpu = s.cluster.gpu.name;
  m.gpus = s.cluster.gpus();
  m.nodes = s.cluster.nodes;
  m.split = split_of(s);
  if (std::holds_alternative<Transformer>(s.model.shape)) m.attention = s.training.attention;
  m.provenance.version = kVersion;
  m.provenance.hashes = {{"scenario", s.hash}, {"gpu " + s.cluster.gpu.name, s.cluster.gpu.hash}};
  if (!s.cluster.intra_node.hash.empty()) {
    m.provenance.hashes.emplace_back("link " + s.cluster.intra_node.name,
                                     s.cluster.intra_node.hash);
  }
}

/// A figure for which a scenario may state an expectation.
struct Figured {
  std::string_view key;
  double (*value)(const Metrics& m);
  std::string (*shown)(double value);
};

std::string as_share(double value) { return fmt::format("{:.1f} %", value * 100); }
std::string as_rate(double value) { return fmt::format("{:.6g}", value); }

constexpr std::array kFigured = {
    Figured{"step_time", [](const Metrics& m) { return m.step_time.seconds(); },
            [](double value) { return humanise(Seconds{value}).text(); }},
    Figured{"mfu", [](const Metrics& m) { return m.mfu; }, as_share},
    Figured{"hfu", [](const Metrics& m) { return m.hfu; }, as_share},
    Figured{"tokens_per_s", [](const Metrics& m) { return m.tokens_per_s; }, as_rate},
    Figured{"samples_per_s", [](const Metrics& m) { return m.samples_per_s; }, as_rate},
    Figured{"peak_memory", [](const Metrics& m) { return m.memory.worst().total().bytes(); },
            [](double value) { return humanise(Bytes{value}).text(); }},
    Figured{"bubble_fraction", [](const Metrics& m) { return m.bubble_fraction; }, as_share},
    Figured{"data_stall_fraction", [](const Metrics& m) { return m.data_stall_fraction; },
            as_share},
    Figured{"overlap_efficiency", [](const Metrics& m) { return m.overlap_efficiency; }, as_share},
    Figured{"goodput", [](const Metrics& m) { return m.long_run->shares.useful; }, as_share},
    Figured{"fits", [](const Metrics& m) { return m.memory.fits() ? 1.0 : 0.0; },
            [](double value) -> std::string { return value > 0 ? "true" : "false"; }},
};

const Figured& figured(const std::string& key) {
  for (const Figured& figure : kFigured) {
    if (figure.key == key) return figure;
  }
  throw InternalError("an expectation on '" + key + "', which is not measured");
}

bool holds(double value, const std::string& comparison, double limit) {
  if (comparison == "<=") return value <= limit;
  if (comparison == ">=") return value >= limit;
  if (comparison == "<") return value < limit;
  if (comparison == ">") return value > limit;
  return value == limit;
}

}  // namespace

std::vector<Seconds> step_times(const Timeline& timeline) {
  std::vector<Seconds> times;
  for (auto step = static_cast<std::size_t>(timeline.warmup); step < timeline.step_ends.size();
       ++step)
    times.emplace_back(timeline.step_ends[step] - timeline.step_start(step));
  return times;
}

Seconds mean_step(const Timeline& timeline) {
  const Window window = window_of(timeline);
  return Seconds{window.mean(window.to - window.from)};
}

Metrics measure(const Scenario& scenario, const OpGraph& graph, const Simulation& simulation) {
  const Timeline& timeline = simulation.timeline;
  const Window window = window_of(timeline);
  Metrics m;
  add_identity(m, scenario);
  m.step_time = mean_step(timeline);
  m.steps = step_times(timeline);
  add_rates(m, scenario, graph);
  const std::vector<CauseSeconds> by_rank = causes_by_rank(timeline, window);
  const Slowest slowest = slowest_rank(timeline, by_rank, window);
  m.slowest_stage = slowest.rank->stage;
  m.breakdown = slowest.causes;
  m.outside_range = outside_range(timeline, *slowest.rank, window);
  m.all_ranks = mean_causes(timeline, by_rank, window);
  m.critical = critical_causes(timeline);
  const double step = m.step_time.seconds();
  m.bubble_fraction = of(m.breakdown, Cause::pipeline_bubble) / step;
  m.data_stall_fraction = worst_stall(timeline, by_rank, window) / step;
  add_communication(m, slowest, window);
  m.memory = {memory_by_stage(scenario, graph), scenario.cluster.gpu.memory, Seconds{},
              scenario.parallelism.pipeline.chunks, scenario.run.memory_margin};
  m.memory.peak_time = peak_time(timeline, m.memory.worst().stage);
  m.engine = simulation.stats;
  m.energy = energy_of(scenario, m.all_ranks);
  if (scenario.cost) {
    m.cost = cost_of(scenario.cost->price, m.gpus, step, step - work_in(m.all_ranks),
                     m.samples_per_s, m.tokens_per_s);
  }
  return m;
}

std::vector<ExpectationOutcome> judge(const Scenario& scenario, const Metrics& metrics) {
  std::vector<ExpectationOutcome> outcomes;
  for (const Expectation& e : scenario.expect) {
    const Figured& figure = figured(e.key);
    const double value = figure.value(metrics);
    outcomes.push_back({e.text, figure.shown(value), holds(value, e.comparison, e.value)});
  }
  return outcomes;
}

}  // namespace stepsim
