// Makes sentences from counts.

#include <fmt/format.h>

#include "sim/report/validation/validation_words.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/validation/choices.hpp"

namespace stepsim {
namespace {

std::string distance(std::size_t i) {
  const double from = 100 * kPairsFrom.at(i);
  if (i + 1 == kPairsFrom.size()) return fmt::format("{:.0f} % and more", from);
  return i == 0 ? fmt::format("up to {:.0f} %", 100 * kPairsFrom.at(1))
                : fmt::format("{:.0f} to {:.0f} %", from, 100 * kPairsFrom.at(i + 1));
}

std::string order_words(const RecordedChoices& choices) {
  std::string text;
  for (std::size_t i = kPairsFrom.size(); i-- > 0;) {
    if (choices.pairs.at(i) == 0) continue;
    text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", distance(i),
                        grouped(choices.in_order.at(i)), grouped(choices.pairs.at(i)));
  }
  return text;
}

std::string loss_words(const RecordedChoices& choices) {
  return fmt::format(
      "in {} of {} jobs; it takes {} longer than the fastest in the mean, at most {}, "
      "and one taken blindly {}",
      grouped(choices.fastest), grouped(choices.jobs), error_text(choices.loss),
      error_text(choices.largest_loss), error_text(choices.blind_loss));
}

}  // namespace

std::string choice_words(const RecordedChoices& expected, const RecordedChoices& all) {
  if (all.jobs == 0) return "";
  const bool has_known = expected.jobs < all.jobs || expected.ways < all.ways;
  const RecordedChoices& shown = expected.jobs > 0 ? expected : all;
  std::string text = fmt::format(
      "The same job on the same GPUs was measured in several ways (split, micro-batch, recompute), "
      "{} "
      "in all. The one that is predicted to be the fastest was it {}. Pairs in the predicted "
      "order, by "
      "how far apart they were measured: {}.",
      grouped(shown.ways), loss_words(shown), order_words(shown));
  if (has_known && expected.jobs > 0)
    text += fmt::format(" With rows that are known to be off: {}.", loss_words(all));
  return text;
}

}  // namespace stepsim
