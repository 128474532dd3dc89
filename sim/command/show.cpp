// stepsim show: the values between the scenario and the answer, as text.
#include "sim/command/show.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "sim/cluster/input_links.hpp"
#include "sim/command/page/step_timeline.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/report/run/memory_text.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

std::string describe(const Gemm& g) {
  return fmt::format("GEMM {}x{}x{}{}{}", g.m, g.n, g.k,
                     g.batch > 1 ? fmt::format(" x{}", g.batch) : "",
                     g.pieces > 1 ? fmt::format(", 1 of {} parts", g.pieces) : "");
}
/// What narrows the attention to fewer tokens.
std::string narrowed_by(const FusedAttention& a) {
  return (a.document > 0 ? fmt::format(" in documents of {:.0f}", a.document) : "") +
         (a.window > 0 ? fmt::format(" in windows of {}", a.window) : "");
}
std::string describe(const FusedAttention& a) {
  return fmt::format("{} {} heads of {}, {} tokens{}", a.kernel, a.heads, a.head_dim, a.sequence,
                     narrowed_by(a));
}
std::string describe(const Convolution& c) {
  return fmt::format("{}x{} convolution /{} of {} x {}x{}x{} to {} channels", c.filter, c.filter,
                     c.stride, c.batch, c.image, c.image, c.in_channels, c.out_channels);
}
std::string describe(const MemoryBound& m) {
  const std::string slower = m.slower == 1 ? "" : fmt::format(", {} times as long", m.slower);
  const std::string chain =
      m.chain > Seconds{} ? fmt::format(", at least {}", humanise(m.chain).text()) : "";
  return fmt::format("{:.2f} MB{}{}", m.bytes.bytes() / 1e6, slower, chain);
}

struct ItemText {
  std::string operator()(const Launch& launch) const {
    return fmt::format("{:<32} {}", launch.name,
                       std::visit([](const auto& work) { return describe(work); }, launch.work));
  }
  std::string operator()(const StartCollective& c) const {
    return fmt::format("start {:<26} {:.2f} MB",
                       fmt::format("{} {}", name_of(c.axis), name_of(c.op)), c.bytes.bytes() / 1e6);
  }
  std::string operator()(const Join&) const { return "wait for it"; }
  std::string operator()(const HostRead&) const { return "the host reads"; }
  std::string operator()(const GradientReady& g) const {
    return fmt::format("gradient of {:.0f} elements ready", g.elements);
  }
};

void show_items(std::ostream& out, const char* direction, const Items& items) {
  for (const Item& item : items)
    out << fmt::format("    {:<9}{}\n", direction, std::visit(ItemText{}, item));
}

void show_ops(const Scenario& scenario, std::ostream& out) {
  const OpGraph graph = build(scenario);
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const Block& block = graph.blocks[i];
    const auto times = std::ranges::count(graph.chain, i);
    const auto on_first = std::ranges::count(graph.first_chain, i);
    if (times + on_first == 0) continue;
    const double frozen = block.frozen_parameters();
    out << fmt::format("{} x{}{}: {:.0f} parameters{} a rank, keeps {:.2f} MiB a micro-batch\n",
                       block.name, std::max(times, on_first), times > 0 ? "" : " on rank 0 alone",
                       block.parameters(),
                       frozen > 0 ? fmt::format(" and {:.0f} frozen ones", frozen) : "",
                       block.saved(scenario.training.recompute).bytes() / 0x1p20);
    for (const Op* op : block.order()) {
      out << "  " << op->name << '\n';
      show_items(out, "forward", op->forward);
      show_items(out, "backward", op->backward);
    }
  }
}

std::string describe(const Plan& plan, const Task& task) {
  switch (task.kind) {
    case TaskKind::chain: {
      const Chain& chain = plan.chains[task.work];
      return fmt::format("{} kernels, {:.3f} ms", chain.kernels.size(), chain.compute * 1e3);
    }
    case TaskKind::communicate: {
      const Operation& operation = plan.operations[task.work];
      return fmt::format("{}, {:.2f} MB", name_of(task.channel), operation.bytes.bytes() / 1e6);
    }
    case TaskKind::host_wait:
      return "the host waits";
    case TaskKind::timer:
      return fmt::format("{:.3f} ms", task.amount * 1e3);
    case TaskKind::read:
      if (task.work % kLanes == static_cast<std::uint32_t>(Lane::cores))
        return fmt::format("{:.3f} ms of a core", task.amount / kCoreSecond * 1e3);
      return fmt::format("{:.2f} MB", task.amount / 1e6);
  }
  return "";
}

/// Prints the first step of every program; further steps repeat it.
void show_plan(const Scenario& scenario, std::ostream& out) {
  const Plan plan = make_plan(scenario, build(scenario), {.folds = true});
  for (std::size_t p = 0; p < plan.programs.size(); ++p) {
    const Program& program = plan.programs[p];
    const auto ranks = std::ranges::count(plan.program_of, static_cast<int>(p));
    out << fmt::format("program {}: stage {}, {} ranks, {} tasks, {} edges\n", p, program.stage,
                       ranks, program.tasks.size(), program.successors.size());
    for (TaskIndex i = 0; i < program.tasks.size() && program.tasks[i].step == 0; ++i) {
      const Task& task = program.tasks[i];
      out << fmt::format("  {:>6} {:<16} {:<28} {:<32}", i, program.rows[task.row].name,
                         plan.names[task.name], describe(plan, task));
      out << (task.micro_batch < 0 ? std::string() : fmt::format(" mb {:<4}", task.micro_batch))
          << " ->";
      for (std::uint32_t s = task.first_successor; s < program.end_of_successors(i); ++s)
        out << ' ' << program.successors[s];
      out << '\n';
    }
  }
}

/// Each stage at its peak.
void show_memory(const Scenario& scenario, std::ostream& out) {
  const GpuProfile& gpu = scenario.cluster.gpu;
  for (const StageMemory& stage : memory_by_stage(scenario, build(scenario))) {
    out << fmt::format(
        "stage {}: {} of {} in {} ({})\n  PyTorch has {} in tensors and reserves {}\n", stage.stage,
        humanise(stage.total()).text(), humanise(gpu.memory).text(),
        moment_of(stage.peak, scenario.parallelism.pipeline.chunks > 1), place_of(stage.peak),
        humanise(stage.allocated()).text(), humanise(stage.reserved()).text());
    for (const MemoryCategory& category : stage.categories) {
      if (category.bytes > Bytes{})
        out << fmt::format("  {:<14} {:>10.3f} GiB{}\n", category.name, category.bytes.gibibytes(),
                           category.varies ? "  while that pass runs" : "");
    }
  }
}

std::string describe(const Timeline& timeline, const RankTimeline& rank, const Span& span) {
  std::string text =
      fmt::format("{:>14.6f} {:>14.6f} ms  {:<16} {:<28} {:<8}{}", span.start * 1e3, span.end * 1e3,
                  rank.rows[span.row].name, timeline.names[span.name],
                  span.micro_batch < 0 ? std::string() : fmt::format("mb {}", span.micro_batch),
                  name_of(span.cause));
  if (span.blocker == kNoSpan) return text;
  const Span& blocker = rank.spans[static_cast<std::size_t>(span.blocker)];
  return text + fmt::format(", after {}", timeline.names[blocker.name]);
}

/// The first measured step of every simulated rank.
void show_timeline(const Scenario& scenario, std::ostream& out) {
  const Simulation simulation = simulate(make_plan(scenario, build(scenario), {.folds = true}));
  const Timeline& timeline = simulation.timeline;
  for (const RankTimeline& rank : timeline.ranks) {
    out << fmt::format("rank {} (stage {}, stands for {})\n", rank.rank, rank.stage,
                       rank.multiplicity);
    for (const Span& span : rank.spans) {
      if (span.step == timeline.warmup) out << "  " << describe(timeline, rank, span) << '\n';
    }
  }
}

void show_cluster(const Scenario& scenario, bool dot, std::ostream& out) {
  const std::string& name = scenario.cluster.name;
  const std::string& title = name.empty() || name == "inline" ? scenario.name : name;
  Network network(scenario.cluster);
  add_input_links(network, scenario);
  (dot ? draw_links : show_links)(title, network, out);
}

}  // namespace

ExitCode show(const ShowOptions& options, std::ostream& out) {
  if (options.dot && options.what != "cluster") throw UserError("--dot draws clusters alone");
  if (options.what == "model") {
    show_model(options.scenario, options.collective.format, out);
    return ExitCode::ok;
  }
  const Scenario scenario = load(options.scenario);
  if (options.what == "scenario") out << to_yaml(scenario);
  if (options.what == "cluster") show_cluster(scenario, options.dot, out);
  if (options.what == "ops") show_ops(scenario, out);
  if (options.what == "plan") show_plan(scenario, out);
  if (options.what == "memory") show_memory(scenario, out);
  if (options.what == "timeline" && options.collective.format == "json")
    out << step_timeline_json(scenario);
  else if (options.what == "timeline")
    show_timeline(scenario, out);
  if (options.what == "collective") show_collective(scenario, options.collective, out);
  return ExitCode::ok;
}

}  // namespace stepsim
