// Chooses the NVTX ranges that are steps, by their names and by what is launched in them.
#include "sim/recording/nsys/step_ranges.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

/// Names of steps: of torch.profiler (ProfilerStep), Lightning (run_training_batch), Transformers
/// and of what people write (step_5, Iteration 12, iter_3).
constexpr std::array<std::string_view, 4> kStepWords{"step", "iter", "training_batch",
                                                     "train_batch"};

/// Names of parts of a step, and of what is between steps.
constexpr std::array<std::string_view, 9> kNoSteps{"optim", "sched",   "adam",     "sgd",  "valid",
                                                   "eval",  "substep", "timestep", "micro"};
/// Names of what else has a running number.
constexpr std::array<std::string_view, 9> kNumbered{"layer", "block", "stage",  "bucket", "chunk",
                                                    "epoch", "rank",  "expert", "head"};

/// Ranges of a kind have to hold these shares of the launches from the first to the last of them,
/// and of all.
struct Shares {
  double between, of_all;
};
constexpr Shares kOfNamed{0.5, 0.1}, kOfOthers{0.9, 0.5};
constexpr std::size_t kFewestOthers = 3;

using Numbers = std::vector<std::uint64_t>;

struct NumberedName {
  std::string pattern;  ///< the name with `#` for each number
  Numbers numbers;
};

NumberedName numbered(const std::string& name) {
  NumberedName result;
  for (const char* at = name.data(); at < name.data() + name.size();) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(at, name.data() + name.size(), number);
    if (end == at) {
      result.pattern += *at++;
      continue;
    }
    result.pattern += '#';
    result.numbers.push_back(error == std::errc() ? number : 0);
    at = end;
  }
  return result;
}

bool has_any(const std::string& name, const auto& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

/// Ranges of a thread that are alike.
struct Family {
  std::vector<const HostEvent*> ranges;  ///< in order of their start
  Numbers last;                          ///< numbers in the last name
  bool is_a_row = true;                  ///< no two overlap, and numbers rise

  void add(const HostEvent& range, const Numbers& numbers) {
    if (!ranges.empty()) {
      is_a_row &= ranges.back()->time.end <= range.time.start;
      is_a_row &= numbers.empty() || numbers > last;
    }
    last = numbers;
    ranges.push_back(&range);
  }
};

std::vector<Nanoseconds> launches_of(const Recording& recording) {
  std::vector<Nanoseconds> starts;
  for (const GpuActivity& activity : recording.activities) {
    if (activity.launch) starts.push_back(recording.at(*activity.launch).time.start);
  }
  std::ranges::sort(starts);
  return starts;
}

std::size_t count_within(const std::vector<Nanoseconds>& launches, Interval window) {
  const auto from = std::ranges::lower_bound(launches, window.start);
  return static_cast<std::size_t>(std::lower_bound(from, launches.end(), window.end) - from);
}

class Chooser {
 public:
  explicit Chooser(const Recording& recording)
      : recording_(recording), launches_(launches_of(recording)) {}

  std::vector<RecordedStep> choose() {
    for (const RecordedThread& thread : recording_.threads) {
      std::map<std::string, Family> families;
      for (const HostEvent& event : thread.events) {
        if (event.work != HostWork::annotation || event.time.length() == 0) continue;
        const NumberedName& name = numbered_name(event.name);
        families[name.pattern].add(event, name.numbers);
      }
      for (const auto& [pattern, family] : families) weigh(in_lower_case(pattern), family);
    }
    return std::move(best_);
  }

 private:
  const NumberedName& numbered_name(std::uint32_t name) {
    const auto known = names_.find(name);
    if (known != names_.end()) return known->second;
    return names_.emplace(name, numbered(recording_.names[name])).first->second;
  }

  void weigh(const std::string& pattern, const Family& family) {
    if (!family.is_a_row || has_any(pattern, kNoSteps)) return;
    const bool is_named = has_any(pattern, kStepWords);
    if (!is_named && (family.ranges.size() < kFewestOthers || has_any(pattern, kNumbered))) return;
    const Interval all{family.ranges.front()->time.start, family.ranges.back()->time.end};
    std::size_t within = 0;
    Nanoseconds time = 0;
    for (const HostEvent* range : family.ranges) {
      within += count_within(launches_, range->time);
      time += range->time.length();
    }
    const auto share_of = [&](std::size_t launches) {
      return launches == 0 ? 0 : static_cast<double>(within) / static_cast<double>(launches);
    };
    const Shares& least = is_named ? kOfNamed : kOfOthers;
    if (share_of(count_within(launches_, all)) < least.between ||
        share_of(launches_.size()) < least.of_all)
      return;
    const std::tuple weight{is_named, within, time};
    if (weight <= weight_) return;
    weight_ = weight;
    take(family);
  }

  void take(const Family& family) {
    best_.clear();
    for (const HostEvent* range : family.ranges) {
      const std::string& name = recording_.name_of(*range);
      best_.push_back({family.last.empty() ? fmt::format("{} #{}", name, best_.size() + 1) : name,
                       range->time});
    }
  }

  const Recording& recording_;
  std::vector<Nanoseconds> launches_;
  std::map<std::uint32_t, NumberedName> names_;
  std::tuple<bool, std::size_t, Nanoseconds> weight_{};
  std::vector<RecordedStep> best_;
};

}  // namespace

std::vector<RecordedStep> step_ranges(const Recording& recording) {
  return Chooser(recording).choose();
}

}  // namespace stepsim
