// Writes searches on several clusters as a table.
#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/run/long_run_text.hpp"
#include "sim/report/search/clusters_report.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kTime = 11, kShare = 9, kSize = 11, kSpan = 12, kHours = 11, kCost = 16, kEnergy = 11;
constexpr int kNarrowest = 100, kWidest = 160;

class ClustersPage : Page {
 public:
  ClustersPage(const ClustersReport& report, Screen screen)
      : Page(screen, kNarrowest, kWidest), r_(report) {
    for (const ClusterSearch& one : r_.clusters) {
      name_ = std::max(name_, static_cast<int>(one.cluster.size()));
      has_run_ |= one.gpu_hours().has_value();
      has_price_ |= one.dollars().has_value();
      has_energy_ |= one.kwh().has_value();
    }
  }

  std::string text() {
    heading(fmt::format("{}: {} on {} GPUs, {} samples a step{}", r_.scenario, r_.model,
                        grouped(r_.gpus), grouped(r_.global_batch), tokens()));
    line();
    std::string head = fmt::format("{:{}}", "", name_) + pad_left("step", kTime) +
                       pad_left("MFU", kShare) + pad_left("memory", kSize);
    if (has_run_) head += pad_left("training", kSpan) + pad_left("GPU hours", kHours);
    if (has_price_) head += pad_left("cost", kCost);
    if (has_energy_) head += pad_left("energy", kEnergy) + pad_left("CO2e", kEnergy);
    line(bold(head));
    for (const ClusterSearch& one : r_.clusters) row(one);
    line();
    notes();
    return out_;
  }

 private:
  std::string tokens() const {
    for (const ClusterSearch& one : r_.clusters)
      if (one.search && one.search->run && one.search->run->tokens > 0)
        return ", " + humanise(one.search->run->tokens, "tokens").text();
    return "";
  }

  void row(const ClusterSearch& one) {
    const std::string name = fmt::format("{:{}}", one.cluster, name_);
    const TriedStrategy* best = one.best();
    if (best == nullptr) return beside(name + "  ", name_ + 2, why_not(one));
    std::string text = name + in_column(humanise(best->outcome.step).text(), kTime) +
                       in_column(percent(best->outcome.mfu), kShare) +
                       in_column(humanise(best->outcome.peak).text(), kSize);
    if (one.gpu_hours())
      text += in_column(span_text(one.search->run->wall), kSpan) +
              in_column(grouped(std::llround(*one.gpu_hours())), kHours);
    if (has_price_)
      text += in_column(one.dollars() ? stepsim::dollars(*one.dollars()) : "-", kCost);
    if (has_energy_) {
      text += in_column(one.kwh() ? energy_text(*one.kwh()) : "-", kEnergy) +
              in_column(one.kwh() ? carbon_text(*one.kg_of_co2e()) : "-", kEnergy);
    }
    line(text);
    for (const std::string& part : wrap(strategy_text(best->strategy), screen_.width - 2))
      line("  " + dim(part));
  }

  static std::string why_not(const ClusterSearch& one) {
    if (!one.search) return one.reason;
    const SearchReport& search = *one.search;
    const bool all = search.outcome.counts.left == 0 && search.outcome.is_whole;
    if (!all || !search.outcome.smallest) return "nothing found";
    return "nothing fits: " + closest_text(search.outcome, search.capacity);
  }

  void notes() {
    std::vector<std::string> unproven;
    for (const ClusterSearch& one : r_.clusters) {
      if (one.best() == nullptr) continue;
      const SearchOutcome& o = one.search->outcome;
      const double gain = o.counts.left > 0 ? 1 - o.least_left / o.ranked.front().outcome.step : 0;
      if (!o.proven())
        unproven.push_back(gain > 0 && o.is_whole
                               ? fmt::format("{} (at most {})", one.cluster, percent(gain))
                               : one.cluster);
      if (!one.search->no_run.empty()) paragraph("Training", one.search->no_run);
    }
    deadlines();
    for (const ClusterSearch& one : r_.clusters) {
      if (one.best() == nullptr) continue;
      labelled("Run", shell_lines(one.search->commands.front(), screen_.width - kLabel));
    }
    const bool has_any = std::ranges::any_of(
        r_.clusters, [](const ClusterSearch& one) { return one.best() != nullptr; });
    if (!has_any) return;
    cheapest();
    if (unproven.empty())
      paragraph("Proven", "on each cluster no other strategy is faster by more than 1 %");
    else
      paragraph("Not proven",
                fmt::format("faster ones may be left for {}", fmt::join(unproven, ", ")));
  }

  void deadlines() {
    for (const ClusterSearch& one : r_.clusters) {
      if (one.best() == nullptr || !one.search->run || !one.search->deadline) continue;
      paragraph("Deadline",
                one.cluster + ": " + in_time_text(one.search->run->wall, *one.search->deadline));
    }
  }

  /// What of the energies was assumed; hosts are in proportion to boards.
  void assumed() {
    for (const ClusterSearch& one : r_.clusters) {
      if (!one.kwh()) continue;
      const std::string text = assumed_energy_text(*one.search->run->energy);
      if (!text.empty()) paragraph("Energy", one.cluster + ": " + text);
    }
  }

  /// Which is fastest and which costs least, where several can.
  void cheapest() {
    const ClusterSearch *fastest = nullptr, *least = nullptr;
    for (const ClusterSearch& one : r_.clusters) {
      if (one.best() == nullptr) continue;
      const Seconds step = one.best()->outcome.step;
      if (fastest == nullptr || step < fastest->best()->outcome.step) fastest = &one;
      if (one.dollars() && (least == nullptr || *one.dollars() < *least->dollars())) least = &one;
    }
    paragraph("Fastest", fastest->cluster);
    if (least != nullptr)
      paragraph("Cheapest", least->cluster +
                                "; a few per cent are within the error of predictions, which "
                                "stepsim run states for each");
    assumed();
    line();
  }

  const ClustersReport& r_;
  int name_ = 8;
  bool has_run_ = false, has_price_ = false, has_energy_ = false;
};

}  // namespace

std::optional<double> ClusterSearch::gpu_hours() const {
  if (best() == nullptr || !search->run) return std::nullopt;
  return search->run->wall.seconds() / 3600 * search->gpus;
}

std::optional<double> ClusterSearch::dollars() const {
  const auto hours = gpu_hours();
  if (!hours || !search->dollars_per_hour) return std::nullopt;
  return *hours * *search->dollars_per_hour;
}

std::optional<double> ClusterSearch::kwh() const {
  if (best() == nullptr || !search->run || !search->run->energy) return std::nullopt;
  return search->run->kwh();
}

std::optional<double> ClusterSearch::kg_of_co2e() const {
  const auto energy = kwh();
  if (!energy) return std::nullopt;
  return search->run->energy->kg_of_co2e(*energy);
}

std::string clusters_text(const ClustersReport& report, const Screen& screen) {
  return ClustersPage(report, screen).text();
}

}  // namespace stepsim
