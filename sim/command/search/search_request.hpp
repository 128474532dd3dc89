// What a search is asked for: numbers of GPUs, the length of the training, a deadline.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/command/search/search.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/text/output.hpp"

namespace stepsim {

/// The numbers of GPUs, rising; without --gpus those of the scenario. "64..4096" doubles. All of
/// these functions throw UserError for what is not understood.
std::vector<int> sizes_of(const SearchOptions& options, const Cluster& cluster);

/// The steps of the training: those of --tokens, or of run.horizon; nothing where neither is known.
std::optional<std::int64_t> steps_of(const SearchOptions& options, const Scenario& scenario);

/// The deadline of the training, whose length has to be known.
std::optional<Seconds> deadline_of(const SearchOptions& options,
                                   const std::optional<std::int64_t>& steps);

/// With the setting that --max-memory stands for.
SearchOptions resolved(SearchOptions options);

/// Which of several sizes is best, where nobody says.
std::string default_objective(const SearchOptions& options);

/// Who writes the scenario of -o.
inline constexpr const char* kSearchCommand = "stepsim search";
/// The scenario with the best strategy.
Output scenario_output(const SearchOptions& options);

/// The kinds of pages that searches write.
inline const std::vector<std::string> kSearchPages{"search", "capacity", "clusters"};

struct SearchPage {
  std::string kind, scenario, json;
};
/// Writes the page that `--html` asks for, if it does.
void write_page(const SearchOptions& options, const SearchPage& page, std::ostream& notes);
/// Each axis is restricted once: a second time would replace the first.
void check_only(const SearchOptions& options);
void check_for_one_size(const SearchOptions& options);

}  // namespace stepsim
