// Words and sums that the page and the JSON of recordings share.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/report/recording/recording_report.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {

const char* words_of(OwnWork reason) {
  switch (reason) {
    case OwnWork::kernels:
      return "its kernels take longer";
    case OwnWork::copies:
      return "its copies take longer";
    case OwnWork::loader:
      return "it waits for its loader";
    case OwnWork::sync:
      return "its host waits in synchronising calls";
    case OwnWork::host:
      return "its host launches late";
    case OwnWork::not_known:
    case OwnWork::count_:
      break;
  }
  return "the recording does not show why";
}

std::string reason_of(const LateRank& late) {
  if (late.has_more_work())
    return fmt::format("it has more to do: {} kernels, and a median other rank {}",
                       grouped(std::llround(late.kernels)),
                       grouped(std::llround(late.kernels_of_others)));
  if (late.reason_s <= 0) return words_of(late.reason);
  return fmt::format("{}, by {}", words_of(late.reason), humanise(Seconds{late.reason_s}).text());
}

std::string sentence_of(const LateRank& late) {
  const bool is_older = late.before_s > late.late_s / 2;
  return (is_older ? "it was late already when the recording began" : reason_of(late)) +
         (late.is_stable ? "" : "; in some steps only");
}

namespace {

double share_known(const Products& products) {
  const double all = products.known_s() + products.unknown_s;
  return all > 0 ? products.known_s() / all : 0;
}

}  // namespace

ComparedProducts compared_products(const Products& products) {
  ComparedProducts sum;
  for (const ProductTime& time : products.times) {
    if (!time.attainable) continue;
    sum.seconds += time.seconds;
    sum.flops += time.flops;
    sum.attainable += *time.attainable;
  }
  if (sum.seconds > 0) sum.share = sum.seconds / (products.known_s() + products.unknown_s);
  return sum;
}

std::optional<double> hardware_flops_utilisation(const Products& products, double window_s) {
  if (!products.at_peak || share_known(products) < kMostlyKnown) return std::nullopt;
  return products.at_peak->seconds() / window_s;
}

std::string products_sentence(const Products& products, double window_s, bool is_of_core) {
  std::string text = fmt::format("over the whole window they come to {:.3g} TFLOP/s",
                                 1e-12 * products.flops.flops() / window_s);
  const double known = share_known(products);
  const auto utilisation = hardware_flops_utilisation(products, window_s);
  if (utilisation)
    text += fmt::format(
        ", {} of the peak of {} (HFU: what is computed again counts, and attention as without a "
        "mask); attainable is what its profile has for the size",
        percent(*utilisation), products.profile);
  if (known < 0.995)
    text += fmt::format("; of {} of the time of kernels that multiply no size is known",
                        percent(1 - known));
  if (products.profile.empty() && !is_of_core) text += "; no GPU profile is of this GPU";
  return text;
}

CauseSeconds mean_step_causes(const Observation& seen) {
  const double steps = static_cast<double>(std::max<std::size_t>(1, seen.steps.size()));
  CauseSeconds causes{};
  for (std::size_t i = 0; i < kCauses; ++i)
    causes[i] = seconds_of(seen.breakdown.causes[i]) / steps;
  return causes;
}

std::vector<std::string> all_not_known(const RecordedJob& job) {
  std::vector<std::string> all = job.not_known;
  if (job.ranks.size() == 1) {
    const auto& own = job.ranks.front().not_known;
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }
  std::vector<std::string> order;
  std::map<std::string, std::size_t> said;
  for (const Observation& rank : job.ranks) {
    for (const std::string& sentence : rank.not_known) {
      if (++said[sentence] == 1) order.push_back(sentence);
    }
  }
  for (const std::string& sentence : order) {
    const std::size_t ranks = said[sentence];
    if (ranks == job.ranks.size()) {
      all.push_back(sentence);
      continue;
    }
    const auto first = std::ranges::find_if(job.ranks, [&](const Observation& rank) {
      return std::ranges::find(rank.not_known, sentence) != rank.not_known.end();
    });
    all.push_back(ranks == 1 ? fmt::format("Rank {}: {}", first->rank.value_or(0), sentence)
                             : fmt::format("{} ranks: {}", ranks, sentence));
  }
  return all;
}

}  // namespace stepsim
