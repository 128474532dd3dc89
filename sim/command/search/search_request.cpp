// Reads what a search is asked for, and refuses what does not fit together.
#include "sim/command/search/search_request.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/core/duration.hpp"
#include "sim/page/page.hpp"
#include "sim/scenario/read/number.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/sweep/axis_values.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

constexpr double kMostGpus = 1e6;
constexpr double kMostTokens = 1e18;

/// "92%" or "0.92" as the setting that it stands for.
std::string margin_setting(const std::string& most) {
  double share = 0;
  try {
    read_scalar(most, share);
  } catch (const Mistake& mistake) {
    throw UserError(fmt::format("--max-memory {}: {}", most, mistake.message));
  }
  if (share < 0.1 || share > 1)
    throw UserError(fmt::format("--max-memory {}: not between 10% and 100%", most));
  return fmt::format("run.memory_margin={:.6g}%", 100 - 100 * share);
}

}  // namespace

/// "64..4096" doubles; everything else is as in the axes of a sweep.
std::vector<int> sizes_of(const SearchOptions& options, const Cluster& cluster) {
  if (options.gpus.empty()) return {cluster.gpus()};
  Problems problems;
  SweepAxis axis{.paths = {"gpus"}, .values = {}, .place = {}};
  const auto source =
      std::make_shared<Source>(Source{"--gpus " + options.gpus, "", options.gpus, true});
  add_values(options.gpus, {source, 0, 0}, axis, problems, UsualStep::doubles);
  problems.throw_if_any();
  std::vector<int> sizes;
  for (const AxisValue& value : axis.values) {
    const double gpus = value.number.value_or(0);
    if (gpus > kMostGpus)
      throw UserError(fmt::format("--gpus {}: more than {} GPUs are not simulated", options.gpus,
                                  grouped(static_cast<std::int64_t>(kMostGpus))));
    if (gpus < 1 || gpus != std::floor(gpus))
      throw UserError(
          fmt::format("--gpus {}: '{}' is not a number of GPUs", options.gpus, text_of(value)));
    const int each = cluster.gpus_per_node, count = static_cast<int>(gpus);
    if (count % each != 0) {
      const int below = count / each * each;
      throw UserError(fmt::format("--gpus {}: {} GPUs are no whole nodes of {}, {}", options.gpus,
                                  count, each,
                                  below > 0 ? fmt::format("but {} and {} are", below, below + each)
                                            : fmt::format("but {} are", each)));
    }
    sizes.push_back(count);
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// The steps of the training: those of --tokens, or of run.horizon.
std::optional<std::int64_t> steps_of(const SearchOptions& options, const Scenario& s) {
  if (options.tokens.empty()) {
    const bool has = s.run.horizon && s.run.horizon->steps > 0;
    return has ? std::optional(s.run.horizon->steps) : std::nullopt;
  }
  const std::optional<double> tokens = token_count(options.tokens);
  if (!tokens || !(*tokens >= 1) || *tokens > kMostTokens)
    throw UserError(fmt::format(
        "--tokens {}: a number of tokens between 1 and {:g} is wanted, as in 300e9 or 300B",
        options.tokens, kMostTokens));
  if (s.tokens_per_step() == 0)
    throw UserError(fmt::format("--tokens {}: '{}' has none; state run.horizon in steps",
                                options.tokens, s.model.name));
  return static_cast<std::int64_t>(std::ceil(*tokens / s.tokens_per_step()));
}

/// The deadline of the training, whose length has to be known.
std::optional<Seconds> deadline_of(const SearchOptions& options,
                                   const std::optional<std::int64_t>& steps) {
  if (options.deadline.empty()) return std::nullopt;
  if (!steps)
    throw UserError(
        fmt::format("--deadline {}: of what training? --tokens 300e9 says how long it is, or "
                    "run.horizon in steps",
                    options.deadline));
  return Seconds{duration_of("--deadline", options.deadline)};
}

/// With the setting of --max-memory among the others.
SearchOptions resolved(SearchOptions options) {
  if (!options.max_memory.empty())
    options.scenario.overrides.push_back(margin_setting(options.max_memory));
  return options;
}

/// Which of several sizes is best, where nobody says.
std::string default_objective(const SearchOptions& options) {
  return options.deadline.empty() ? "step_time" : "gpus";
}

Output scenario_output(const SearchOptions& options) {
  return {"-o", options.output, sealed_by(kSearchCommand), options.force};
}

void write_page(const SearchOptions& options, const SearchPage& page, std::ostream& notes) {
  if (options.html.empty()) return;
  save_page(html_output(options.html, options.force, kSearchPages),
            {.kind = page.kind,
             .title = page.scenario + ": a search",
             .documents = {{"result", page.json}}},
            notes);
}

/// The second would replace the first.
void check_only(const SearchOptions& options) {
  std::map<std::string, std::string> seen;
  for (const std::string& only : options.only) {
    const std::size_t equals = std::min(only.find('='), only.size());
    const auto [first, is_new] = seen.emplace(only.substr(0, equals), only);
    if (is_new) continue;
    throw UserError(fmt::format(
        "--only {}: --only {} restricts '{}' already, give all its values at once: --only {},{}",
        only, first->second, first->first, first->second,
        only.substr(std::min(equals + 1, only.size()))));
  }
}

void check_for_one_size(const SearchOptions& options) {
  if (!options.objective.empty())
    throw UserError(
        fmt::format("--objective {}: it chooses among several numbers of GPUs (--gpus 64..1024); "
                    "the strategies of one are compared by their step time",
                    options.objective));
}

}  // namespace stepsim
