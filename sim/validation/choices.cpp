// Gathers rows by their job, and ways by what is predicted of them.
#include "sim/validation/choices.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/validation/score.hpp"

namespace stepsim {
namespace {

/// One way to do a job, and the first of its rows.
struct Way {
  std::size_t row = 0;
  double predicted = 0, measured = 0;  ///< seconds of a step, the mean of the way's rows
};

/// The ways in which the rows of one job were done, in the order of their predictions.
std::vector<Way> ways_of(const std::vector<std::size_t>& members,
                         const std::vector<ValidationRow>& rows) {
  std::map<double, std::vector<std::size_t>> alike;
  for (const std::size_t i : members) alike[rows[i].predicted->step.seconds()].push_back(i);
  std::vector<Way> ways;
  for (const auto& [predicted, same] : alike) {
    double sum = 0;
    for (const std::size_t i : same) sum += rows[i].measured->seconds();
    ways.push_back({same.front(), predicted, sum / static_cast<double>(same.size())});
  }
  return ways;
}

void add_pairs(const std::vector<Way>& ways, Choices& choices) {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (std::size_t j = i + 1; j < ways.size(); ++j) {
      const auto [fast, slow] = std::minmax(ways[i].measured, ways[j].measured);
      const auto above = std::upper_bound(kPairsFrom.begin(), kPairsFrom.end(), slow / fast - 1);
      PairOrder& order = choices.pairs[static_cast<std::size_t>(above - kPairsFrom.begin() - 1)];
      ++order.pairs;
      if (ways[i].measured <= ways[j].measured) ++order.in_order;
    }
  }
}

void add_choice(const std::vector<Way>& ways, Choices& choices) {
  const Way& chosen = ways.front();
  const Way& best = *std::ranges::min_element(ways, {}, &Way::measured);
  const double loss = chosen.measured / best.measured - 1;
  double blind = 0;
  for (const Way& way : ways) blind += way.measured / best.measured - 1;
  if (choices.jobs == 0 || loss > choices.worst.loss) choices.worst = {chosen.row, best.row, loss};
  ++choices.jobs;
  choices.ways += static_cast<int>(ways.size());
  if (chosen.row == best.row) ++choices.fastest;
  choices.loss += loss;
  choices.blind_loss += blind / static_cast<double>(ways.size());
}

}  // namespace

Choices choices_of(const std::vector<ValidationRow>& rows, bool with_known) {
  std::map<std::array<std::string, 3>, std::vector<std::size_t>> jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ValidationRow& row = rows[i];
    if (row.predicted && (with_known || row.known.empty()))
      jobs[{row.suite, row.software(), row.job}].push_back(i);
  }
  Choices choices;
  for (const auto& [job, members] : jobs) {
    const std::vector<Way> ways = ways_of(members, rows);
    if (ways.size() < 2) continue;
    add_choice(ways, choices);
    add_pairs(ways, choices);
  }
  if (choices.jobs > 0) {
    choices.loss /= choices.jobs;
    choices.blind_loss /= choices.jobs;
  }
  return choices;
}

RecordedChoices recorded(const std::string& suite, bool with_known, const Choices& choices) {
  RecordedChoices record{.suite = suite,
                         .with_known = with_known,
                         .jobs = choices.jobs,
                         .ways = choices.ways,
                         .fastest = choices.fastest,
                         .loss = choices.loss,
                         .blind_loss = choices.blind_loss,
                         .largest_loss = choices.worst.loss};
  for (const PairOrder& order : choices.pairs) {
    record.pairs.push_back(order.pairs);
    record.in_order.push_back(order.in_order);
  }
  return record;
}

RecordedChoices sum_of(const std::vector<RecordedChoices>& choices) {
  RecordedChoices sum;
  sum.pairs.resize(kPairsFrom.size());
  sum.in_order.resize(kPairsFrom.size());
  for (const RecordedChoices& one : choices) {
    sum.jobs += one.jobs;
    sum.ways += one.ways;
    sum.fastest += one.fastest;
    sum.loss += one.jobs * one.loss;
    sum.blind_loss += one.jobs * one.blind_loss;
    sum.largest_loss = std::max(sum.largest_loss, one.largest_loss);
    for (std::size_t i = 0; i < kPairsFrom.size(); ++i) {
      sum.pairs[i] += one.pairs.at(i);
      sum.in_order[i] += one.in_order.at(i);
    }
  }
  if (sum.jobs > 0) {
    sum.loss /= sum.jobs;
    sum.blind_loss /= sum.jobs;
  }
  return sum;
}

}  // namespace stepsim
